//! What a client asks the guard for.
//!
//! **Invariant:** nothing that can be read in two ways is taken: one `Host`, one length, no user info, no port 0.

use base::ServerName;
use httparse::Header;
use std::net::IpAddr;

/// The longest head of a client.
pub(crate) const HEAD_BYTES_MAX: usize = 16 * 1024;
/// The most fields of a client.
const FIELDS_MAX: usize = 100;
/// The longest body that is passed on: no page is asked for with more.
pub(crate) const BODY_BYTES_MAX: usize = 16 * 1024;
/// The field in which a crawler says which server it means.
const SERVER_FIELD: &str = "utsushi-server";
/// Fields that concern one connection only (RFC 9110, 7.6.1), or the guard alone. `Host` is rewritten.
const OWN_FIELDS: [&str; 13] = [
    "connection",
    "proxy-connection",
    "keep-alive",
    "proxy-authorization",
    "proxy-authenticate",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "expect",
    "http2-settings",
    "host",
    SERVER_FIELD,
];

/// A wish of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A tunnel (`CONNECT`), and which server is meant if that was said.
    Tunnel { to: Authority, server: ServerName },
    /// One plain request (`GET http://…`): its head as it is passed on, and the length of its body.
    Single { to: Authority, head: Vec<u8>, body_bytes: usize },
    /// How the guard itself is.
    Status,
}

/// Host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Authority {
    /// The server that is meant, its port left out if it is 80 or 443.
    pub(crate) server: ServerName,
    /// The port to connect to.
    pub(crate) port: u16,
}

impl Authority {
    /// The address, if the host is one.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.server.address()
    }
}

/// Why a client is turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfit {
    pub(crate) status: u16,
    pub(crate) reason: &'static str,
}

fn unfit<T>(status: u16, reason: &'static str) -> Result<T, Unfit> {
    Err(Unfit { status, reason })
}

/// The wish at the beginning of `input` and its length; nothing while it is not there in full.
pub(crate) fn read(input: &[u8]) -> Result<Option<(Asked, usize)>, Unfit> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut head = httparse::Request::new(&mut fields);
    let bytes = match head.parse(input) {
        Ok(httparse::Status::Complete(bytes)) if bytes <= HEAD_BYTES_MAX => bytes,
        Ok(httparse::Status::Partial) if input.len() < HEAD_BYTES_MAX => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return unfit(431, "the request head is too large"),
        Err(_) => return unfit(400, "that is not HTTP/1.1"),
    };
    let (Some(method), Some(target)) = (head.method, head.path) else {
        return unfit(400, "the request line is incomplete");
    };
    let asked = match method {
        "CONNECT" => tunnel(target, head.headers)?,
        "GET" | "HEAD" if target.starts_with('/') => status(target)?,
        "GET" | "HEAD" => single(method, target, head.headers)?,
        _ => return unfit(405, "only GET, HEAD and CONNECT pass"),
    };
    Ok(Some((asked, bytes)))
}

fn status(target: &str) -> Result<Asked, Unfit> {
    match target {
        "/" | "/status" => Ok(Asked::Status),
        _ => unfit(404, "the guard has one page, `/status`; for any other, use it as a proxy"),
    }
}

fn tunnel(target: &str, fields: &[Header<'_>]) -> Result<Asked, Unfit> {
    let to = authority(target, None)?;
    let said = one_field(fields, SERVER_FIELD)?.map(server_of).transpose()?;
    let server = said.unwrap_or_else(|| to.server.clone());
    let differs = match (to.address(), server.address()) {
        (Some(address), Some(named)) => address != named,
        (None, _) => to.server.host() != server.host(),
        (Some(_), None) => false,
    };
    if differs {
        return unfit(400, "Utsushi-Server names another server than the one asked for");
    }
    Ok(Asked::Tunnel { to, server })
}

fn single(method: &str, target: &str, fields: &[Header<'_>]) -> Result<Asked, Unfit> {
    let Some((scheme, rest)) = target.split_once("://") else {
        return unfit(400, "the target is no path and no URL");
    };
    if !scheme.eq_ignore_ascii_case("http") {
        return unfit(400, "only http:// passes so; for https:// use CONNECT");
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let to = authority(host, Some(80))?;
    let path = path.split('#').next().unwrap_or_default();
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut head = format!("{method} {slash}{path} HTTP/1.1\r\nHost: {}\r\n", to.server).into_bytes();
    let listed: Vec<&str> = values(fields, "connection").flat_map(|value| value.split(',')).collect();
    for field in fields.iter().filter(|field| !is_own(field.name, &listed)) {
        head.extend_from_slice(field.name.as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(field.value);
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"Connection: close\r\n\r\n");
    Ok(Asked::Single { to, head, body_bytes: body_bytes(fields)? })
}

/// Whether a field goes no further than to the guard.
fn is_own(name: &str, listed: &[&str]) -> bool {
    let listed = listed.iter().map(|token| token.trim());
    let is_length = name.eq_ignore_ascii_case("content-length");
    OWN_FIELDS.into_iter().chain(listed).any(|own| own.eq_ignore_ascii_case(name)) && !is_length
}

fn body_bytes(fields: &[Header<'_>]) -> Result<usize, Unfit> {
    if values(fields, "transfer-encoding").next().is_some() {
        return unfit(411, "a body must say its length");
    }
    let Some(length) = one_field(fields, "content-length")? else { return Ok(0) };
    match length.parse() {
        Ok(bytes) if bytes <= BODY_BYTES_MAX && length.bytes().all(|b| b.is_ascii_digit()) => Ok(bytes),
        Ok(_) => unfit(413, "the body is too long"),
        Err(_) => unfit(400, "Content-Length is no length"),
    }
}

/// Reads `host:port`; the port may be left out if there is one to fall back on.
fn authority(text: &str, port_otherwise: Option<u16>) -> Result<Authority, Unfit> {
    if text.contains('@') {
        return unfit(400, "user info does not belong into a request");
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let port = match (port, port_otherwise) {
        (Some(port), _) if port.bytes().all(|b| b.is_ascii_digit()) => port.parse().unwrap_or(0),
        (None, Some(otherwise)) => otherwise,
        _ => 0,
    };
    if port == 0 {
        return unfit(400, "the port is missing, or none");
    }
    if host.contains(':') && !host.starts_with('[') {
        return unfit(400, "an address of IPv6 stands in brackets");
    }
    let name = if is_folded(port) { host.to_owned() } else { format!("{host}:{port}") };
    Ok(Authority { server: server_of(&name)?, port })
}

/// A server by its name; the default ports 80 and 443 are left out.
pub(crate) fn server_of(name: &str) -> Result<ServerName, Unfit> {
    let Ok(server) = ServerName::parse(name) else { return unfit(400, "the server is none") };
    if server.port().is_some_and(is_folded) {
        return server_of(server.host());
    }
    Ok(server)
}

fn is_folded(port: u16) -> bool {
    port == 80 || port == 443
}

/// The value of the one field called `name`.
pub(crate) fn one_field<'b>(fields: &[Header<'b>], name: &str) -> Result<Option<&'b str>, Unfit> {
    let mut found = values(fields, name);
    let first = found.next();
    if found.next().is_some() { unfit(400, "a field that may stand once stands twice") } else { Ok(first) }
}

/// The values of all fields called `name`; one that is no text is as good as a wrong one.
pub(crate) fn values<'b>(fields: &[Header<'b>], name: &str) -> impl Iterator<Item = &'b str> {
    let named = fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name));
    named.map(|field| std::str::from_utf8(field.value).unwrap_or("?").trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn tunnel(head: &str, server: &str, port: u16) {
        let (asked, bytes) = read(head.as_bytes()).unwrap().unwrap();
        let Asked::Tunnel { to, server: named } = asked else { panic!("{asked:?}") };
        assert_eq!((named.as_str(), to.port, bytes), (server, port, head.len()));
    }

    #[track_caller]
    fn refused(head: &str, status: u16) {
        assert_eq!(read(head.as_bytes()).unwrap_err().status, status, "{head}");
    }

    #[test]
    fn a_tunnel_says_where_to_and_which_server_is_meant() {
        tunnel(
            "CONNECT 203.0.113.9:443 HTTP/1.1\r\nUtsushi-Server: WWW.Example.jp\r\n\r\n",
            "www.example.jp",
            443,
        );
        tunnel("CONNECT 203.0.113.9:81 HTTP/1.1\r\nutsushi-server: a.jp:81\r\n\r\n", "a.jp:81", 81);
        tunnel("CONNECT 203.0.113.9:443 HTTP/1.1\r\nUtsushi-Server: a.jp:443\r\n\r\n", "a.jp", 443);
        tunnel("CONNECT [2001:db8::1]:443 HTTP/1.1\r\n\r\n", "[2001:db8::1]", 443);
        tunnel("CONNECT a.example.:443 HTTP/1.1\r\nHost: b\r\n\r\n", "a.example", 443);
        tunnel("CONNECT a.example:8080 HTTP/1.0\r\n\r\n", "a.example:8080", 8080);
        tunnel("CONNECT 0x7f.1:80 HTTP/1.1\r\n\r\n", "127.0.0.1", 80);
    }

    #[test]
    fn a_single_request_is_passed_on_without_what_concerned_the_guard() {
        let head = "GET HTTP://A.example:8080/x?y#z HTTP/1.1\r\nHost: other\r\nConnection: x-mine, Close\r\n\
                    X-Mine: 1\r\nProxy-Authorization: secret\r\nAccept: */*\r\nUtsushi-Server: b\r\n\r\n";
        let (asked, _) = read(head.as_bytes()).unwrap().unwrap();
        let Asked::Single { to, head, body_bytes } = asked else { panic!("{asked:?}") };
        assert_eq!((to.port, body_bytes), (8080, 0));
        let passed = "GET /x?y HTTP/1.1\r\nHost: a.example:8080\r\nAccept: */*\r\nConnection: close\r\n\r\n";
        assert_eq!(String::from_utf8(head).unwrap(), passed);
        let (asked, _) = read(b"HEAD http://a?q HTTP/1.1\r\nContent-Length: 5\r\n\r\n").unwrap().unwrap();
        assert!(
            matches!(asked, Asked::Single { head, body_bytes: 5, .. } if head.starts_with(b"HEAD /?q HTTP/1.1\r\nHost: a\r\n"))
        );
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for target in [
            "a",
            "a:0",
            "a:",
            "a:99999",
            "a:+80",
            "a:8o",
            "u@a:80",
            "u:p@a:80",
            ":80",
            "a b:80",
            "a/b:80",
            "[::1:80",
            "[fe80::1%lo]:80",
            "a:80:80",
        ] {
            refused(&format!("CONNECT {target} HTTP/1.1\r\n\r\n"), 400);
        }
        refused("CONNECT a:80 HTTP/1.1\r\nUtsushi-Server: b\r\n\r\n", 400);
        refused("CONNECT 127.0.0.1:80 HTTP/1.1\r\nUtsushi-Server: 127.0.0.2\r\n\r\n", 400);
        refused("CONNECT 127.0.0.1:80 HTTP/1.1\r\nUtsushi-Server: a\r\nUtsushi-Server: b\r\n\r\n", 400);
        refused("CONNECT 127.0.0.1:80 HTTP/1.1\r\nUtsushi-Server: \r\n\r\n", 400);
        refused("GET ftp://a/ HTTP/1.1\r\n\r\n", 400);
        refused("GET https://a/ HTTP/1.1\r\n\r\n", 400);
        refused("GET http://u:p@a/ HTTP/1.1\r\n\r\n", 400);
        refused("GET http:///x HTTP/1.1\r\n\r\n", 400);
        refused("GET http://a:0/ HTTP/1.1\r\n\r\n", 400);
        refused("GET * HTTP/1.1\r\n\r\n", 400);
        refused("GET /other HTTP/1.1\r\n\r\n", 404);
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"] {
            refused(&format!("{method} http://a/ HTTP/1.1\r\n\r\n"), 405);
        }
        refused("GET http://a/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400);
        refused("GET http://a/ HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400);
        refused("GET http://a/ HTTP/1.1\r\nContent-Length: 99999\r\n\r\n", 413);
        refused("GET http://a/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411);
        refused("\u{16}\u{3}\u{1}nonsense\r\n\r\n", 400);
        refused("GET http://a/ HTTP/2.0\r\n\r\n", 400);
    }

    #[test]
    fn a_head_has_a_limit() {
        refused(&format!("CONNECT a:80 HTTP/1.1\r\nX: {}", "x".repeat(HEAD_BYTES_MAX)), 431);
        refused(&format!("CONNECT a:80 HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(FIELDS_MAX + 1)), 431);
        assert_eq!(read(b"CONNECT a:80 HTTP/1.1\r\nX: y"), Ok(None));
        assert_eq!(read(b""), Ok(None));
    }
}
