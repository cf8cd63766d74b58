//! Parses a request head: target, host, and whether another request may follow.
//!
//! **Invariant:** a head has at most [`HEAD_BYTES_MAX`] bytes, names one host, and has no body; anything else is
//! refused with a status, so that a request has exactly one interpretation.

use crate::WebRequest;
use base::url::Scheme;
use std::borrow::Cow;

/// Maximum bytes of a request head.
pub(super) const HEAD_BYTES_MAX: usize = 64 * 1024;
const FIELDS_MAX: usize = 128;

/// One request.
#[derive(Debug)]
pub(super) struct Request<'b> {
    /// Number of bytes of the input that it uses.
    pub(super) bytes: usize,
    /// Whether another request may follow on the connection.
    pub(super) keep: bool,
    /// Whether the client understands chunks, which HTTP/1.0 does not have.
    pub(super) knows_chunks: bool,
    /// Whether it has the form for a proxy.
    pub(super) proxied: bool,
    /// The `User-Agent`, or nothing.
    pub(super) agent: &'b str,
    /// What it asks for.
    pub(super) wish: Wish,
    /// http or https.
    pub(super) scheme: Scheme,
    /// The host, lower case, without port.
    pub(super) host: Cow<'b, str>,
    /// Path and query; empty for a tunnel.
    pub(super) target: Cow<'b, str>,
    if_none_match: Option<&'b str>,
    if_modified_since: Option<&'b str>,
    accepts_gzip: bool,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// The page.
    Page,
    /// Only the response head.
    Head,
    /// A tunnel to this port of the host.
    Tunnel(u16),
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) status: u16,
    pub(super) reason: &'static str,
}

impl Request<'_> {
    /// The same for the simulated web.
    pub(super) fn to_web_request(&self) -> WebRequest<'_> {
        WebRequest {
            scheme: self.scheme,
            host: &self.host,
            target: &self.target,
            head_only: self.wish == Wish::Head,
            if_none_match: self.if_none_match,
            if_modified_since: self.if_modified_since,
            accepts_gzip: self.accepts_gzip,
        }
    }
}

/// The first request of `input`, which came on a connection of `scheme`; `None` while it is incomplete.
pub(super) fn read(input: &[u8], scheme: Scheme) -> Result<Option<Request<'_>>, Refused> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut head = httparse::Request::new(&mut fields);
    let bytes = match head.parse(input) {
        Ok(httparse::Status::Complete(bytes)) if bytes <= HEAD_BYTES_MAX => bytes,
        Ok(httparse::Status::Partial) if input.len() < HEAD_BYTES_MAX => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return refuse(431, "the request head is too large"),
        Err(_) => return refuse(400, "that is not HTTP/1.1"),
    };
    let (Some(method), Some(target), Some(version)) = (head.method, head.path, head.version) else {
        return refuse(400, "the request line is incomplete");
    };
    let notes = Notes::of(head.headers)?;
    let keep = version == 1 && !notes.close;
    let (place, proxied, wish) = match method {
        "GET" => (Place::of(target, scheme, notes.host)?, is_absolute(target), Wish::Page),
        "HEAD" => (Place::of(target, scheme, notes.host)?, is_absolute(target), Wish::Head),
        "CONNECT" => {
            let (place, port) = Place::of_tunnel(target)?;
            (place, true, Wish::Tunnel(port))
        }
        _ => return refuse(405, "only GET, HEAD and CONNECT are answered"),
    };
    let Place { scheme, host, target } = place;
    let Notes { agent, if_none_match, if_modified_since, accepts_gzip, .. } = notes;
    let request = Request {
        bytes,
        keep,
        knows_chunks: version == 1,
        proxied,
        agent,
        wish,
        scheme,
        host,
        target,
        if_none_match,
        if_modified_since,
        accepts_gzip,
    };
    Ok(Some(request))
}

fn refuse<T>(status: u16, reason: &'static str) -> Result<T, Refused> {
    Err(Refused { status, reason })
}

/// The fields that matter.
#[derive(Default)]
struct Notes<'b> {
    host: Option<&'b str>,
    agent: &'b str,
    close: bool,
    if_none_match: Option<&'b str>,
    if_modified_since: Option<&'b str>,
    accepts_gzip: bool,
}

impl<'b> Notes<'b> {
    fn of(fields: &[httparse::Header<'b>]) -> Result<Self, Refused> {
        let mut notes = Self::default();
        for field in fields {
            // A value that is not text is treated as absent.
            let value = std::str::from_utf8(field.value).unwrap_or_default().trim();
            notes.take(field.name, value)?;
        }
        Ok(notes)
    }
    fn take(&mut self, name: &str, value: &'b str) -> Result<(), Refused> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if is("host") {
            if self.host.replace(value).is_some() {
                return refuse(400, "there is more than one Host");
            }
        } else if is("user-agent") {
            self.agent = value;
        } else if is("connection") {
            self.close |= has_token(value, "close");
        } else if is("if-none-match") {
            self.if_none_match = Some(value);
        } else if is("if-modified-since") {
            self.if_modified_since = Some(value);
        } else if is("accept-encoding") {
            self.accepts_gzip |= accepts_gzip(value);
        } else if is("transfer-encoding") || (is("content-length") && value != "0") {
            return refuse(400, "requests with a body are not answered");
        }
        Ok(())
    }
}

fn has_token(value: &str, token: &str) -> bool {
    value.split(',').any(|part| part.trim().eq_ignore_ascii_case(token))
}

fn accepts_gzip(value: &str) -> bool {
    value.split(',').any(|part| {
        let (coding, weight) = part.split_once(';').unwrap_or((part, ""));
        let refused = matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000");
        coding.trim().eq_ignore_ascii_case("gzip") && !refused
    })
}

/// Scheme, host and target.
struct Place<'b> {
    scheme: Scheme,
    host: Cow<'b, str>,
    target: Cow<'b, str>,
}

impl<'b> Place<'b> {
    fn of(target: &'b str, scheme: Scheme, host: Option<&'b str>) -> Result<Self, Refused> {
        if target.starts_with('/') {
            let Some(host) = host else { return refuse(400, "there is no Host") };
            let (host, _) = split_port(host)?;
            return Ok(Self { scheme, host, target: without_fragment(target).into() });
        }
        let Some((scheme, rest)) = absolute(target) else {
            return refuse(400, "the target is no path and no URL");
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (host, _) = split_port(&rest[..end])?;
        let path = without_fragment(&rest[end..]);
        let target = if path.starts_with('/') { path.into() } else { format!("/{path}").into() };
        Ok(Self { scheme, host, target })
    }
    fn of_tunnel(target: &'b str) -> Result<(Self, u16), Refused> {
        let (host, port) = split_port(target)?;
        let Some(port) = port else { return refuse(400, "CONNECT needs host and port") };
        Ok((Self { scheme: Scheme::Https, host, target: "".into() }, port))
    }
}

fn is_absolute(target: &str) -> bool {
    absolute(target).is_some()
}

/// The scheme of a URL and what follows `//`.
fn absolute(target: &str) -> Option<(Scheme, &str)> {
    let (name, rest) = target.split_once("://")?;
    let scheme = [Scheme::Http, Scheme::Https].into_iter().find(|s| name.eq_ignore_ascii_case(s.as_str()))?;
    Some((scheme, rest))
}

fn without_fragment(target: &str) -> &str {
    target.split_once('#').map_or(target, |(before, _)| before)
}

/// Host, lower case and without its last dot, and port of an authority.
fn split_port(authority: &str) -> Result<(Cow<'_, str>, Option<u16>), Refused> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().ok()),
        _ => (authority, None),
    };
    let host = host.strip_suffix('.').unwrap_or(host);
    if host.is_empty() || host.contains(|c: char| c.is_control() || "@/?#\\ \"<>".contains(c)) {
        return refuse(400, "the host is no host");
    }
    let small = !host.bytes().any(|b| b.is_ascii_uppercase());
    Ok((if small { host.into() } else { host.to_ascii_lowercase().into() }, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &str, expected: (Scheme, &str, &str)) {
        let request = read(head.as_bytes(), Scheme::Http).unwrap().unwrap();
        assert_eq!((request.scheme, &*request.host, &*request.target), expected);
        assert_eq!(request.bytes, head.len());
    }

    #[track_caller]
    fn refused(head: &str, status: u16) {
        assert_eq!(read(head.as_bytes(), Scheme::Http).unwrap_err().status, status);
    }

    #[test]
    fn a_target_comes_in_three_forms() {
        check("GET /a?b#c HTTP/1.1\r\nHost: A.Example.:8080\r\n\r\n", (Scheme::Http, "a.example", "/a?b"));
        check("GET http://a.example/x HTTP/1.1\r\nHost: other\r\n\r\n", (Scheme::Http, "a.example", "/x"));
        check("GET HTTPS://a.example?q HTTP/1.1\r\n\r\n", (Scheme::Https, "a.example", "/?q"));
        check("CONNECT a.example:443 HTTP/1.1\r\n\r\n", (Scheme::Https, "a.example", ""));
        check("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", (Scheme::Http, "[::1]", "/"));
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        refused("GET / HTTP/1.1\r\n\r\n", 400);
        refused("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400);
        refused("GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", 400);
        refused("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n", 400);
        refused("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 400);
        refused("GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400);
        refused("POST / HTTP/1.1\r\nHost: a\r\n\r\n", 405);
        refused("CONNECT a HTTP/1.1\r\n\r\n", 400);
        refused("\u{16}\u{3}\u{1}nonsense\r\n\r\n", 400);
    }

    #[test]
    fn a_head_has_a_limit() {
        refused(&format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(HEAD_BYTES_MAX)), 431);
        refused(&format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(FIELDS_MAX + 1)), 431);
        assert!(read(b"GET / HTTP/1.1\r\nHost: a", Scheme::Http).unwrap().is_none());
    }

    #[test]
    fn fields_are_understood() {
        let head = b"HEAD / HTTP/1.1\r\nHost: a\r\nconnection: x, Close\r\nAccept-Encoding: br, GZIP;q=1\r\nUser-Agent: me\r\n\r\nnext";
        let request = read(head, Scheme::Https).unwrap().unwrap();
        assert!(!request.keep && request.to_web_request().accepts_gzip && request.to_web_request().head_only);
        assert_eq!((request.agent, request.bytes, request.scheme), ("me", head.len() - 4, Scheme::Https));
        assert!(!accepts_gzip("gzip;q=0, br"));
    }
}
