//! Servers: host and port without scheme, the unit of politeness and load (D6).

use crate::PageUrl;
use crate::url::{Scheme, UrlError};
use std::fmt;
use std::net::IpAddr;

/// A server: its host, lower case and without a trailing dot, and its port unless that is the scheme's own.
///
/// **Invariant:** `http://h/` and `https://h/` are one server; `http://h:8080/` is another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerName {
    name: Box<str>,
    host_bytes: u16,
}

impl ServerName {
    /// The server `host` on `port` (none for the default ports). The host is as a URL parser returns it.
    pub(crate) fn new(host: &str, port: Option<u16>) -> Self {
        let host_bytes = u16::try_from(host.len()).expect("a host is shorter than a URL may be");
        let name = port.map_or_else(|| host.into(), |port| format!("{host}:{port}").into());
        Self { name, host_bytes }
    }
    /// Reads `host` or `host:port` as people write it.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let url = format!("http://{text}/");
        if text.contains(['/', '\\', '?', '#', '@']) {
            return Err(UrlError::malformed(&url, url::ParseError::InvalidDomainCharacter));
        }
        PageUrl::parse(&url).map(|page| page.server())
    }
    /// Host, and port if there is one: `www.example.jp` or `www.example.jp:8080`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.name
    }
    /// The host alone.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.name[..usize::from(self.host_bytes)]
    }
    /// The port, unless it is the scheme's own.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.name[usize::from(self.host_bytes)..].strip_prefix(':').and_then(|port| port.parse().ok())
    }
    /// The port to connect to.
    #[must_use]
    pub fn port_for(&self, scheme: Scheme) -> u16 {
        self.port().unwrap_or_else(|| scheme.default_port())
    }
    /// The address, if the host is one.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        address_of(self.host())
    }
    /// The registrable domain by the Public Suffix List; nothing for addresses and bare suffixes.
    #[must_use]
    pub fn registrable_domain(&self) -> Option<&str> {
        registrable_domain(self.host())
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The registrable domain of a host as a URL parser returns it: ASCII, lower case.
#[must_use]
pub fn registrable_domain(host: &str) -> Option<&str> {
    if address_of(host).is_some() || host.starts_with('.') {
        return None;
    }
    psl::domain_str(host)
}

/// The registrable domain of a host as people write it: any case, any script, as ASCII in lower case.
#[must_use]
pub fn registrable_domain_of_text(host: &str) -> Option<String> {
    // A leading dot means all hosts below a name; such a text is not a host.
    let host = url::Host::parse(host).ok().filter(|_| !host.starts_with('.'))?;
    registrable_domain(&host.to_string()).map(ToOwned::to_owned)
}

fn address_of(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
    bare.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, server: &str, port: Option<u16>, domain: Option<&str>) {
        let name = ServerName::parse(text).unwrap();
        assert_eq!((name.as_str(), name.port(), name.registrable_domain()), (server, port, domain));
    }

    #[test]
    fn one_server_has_one_name() {
        check("WWW.Example.CO.JP", "www.example.co.jp", None, Some("example.co.jp"));
        check("example.com.:80", "example.com", None, Some("example.com"));
        check("example.com:8080", "example.com:8080", Some(8080), Some("example.com"));
        check("日本語.jp", "xn--wgv71a119e.jp", None, Some("xn--wgv71a119e.jp"));
        check("127.0.0.1:81", "127.0.0.1:81", Some(81), None);
        check("0x7f.1", "127.0.0.1", None, None);
        check("[::1]:80", "[::1]", None, None);
        check("co.jp", "co.jp", None, None);
        check("localhost", "localhost", None, None);
    }

    #[test]
    fn other_texts_are_not_servers() {
        for text in ["", "a b", "exa<mple", "host:99999", "[::g]", "http://x", "a/b", "u:p@a", "a?", "."] {
            assert!(ServerName::parse(text).is_err(), "{text}");
        }
    }
}
