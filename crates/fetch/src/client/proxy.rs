//! A forward proxy between the door and the web, such as the egress guard (D12).
//!
//! The door resolves and judges the address as usual, then requests a tunnel to exactly that address from the proxy, for
//! http and https alike: the bytes of an exchange are the same as without a proxy. A header field names the server, so
//! that the guard can apply its limits per server.
//!
//! **Invariant:** bytes are sent through a tunnel only after the proxy opened it by a 2xx response with nothing after it.

use super::connect::cause;
use super::{Settings, Trouble, Visit};
use base::Interval;
use base::door::{Cause, Phase};
use base::http;
use base::limits::{PROXY_HEAD_BYTES_MAX, SERVER_PAUSE_MAX};
use std::fmt;
use std::io;
use std::str::FromStr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

/// Where the proxy listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    host: String,
    port: u16,
}

/// Why a text is not the URL of a proxy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no proxy; write `http://host:port`, without a user and without a path")]
pub struct ProxyError(String);

impl FromStr for Proxy {
    type Err = ProxyError;

    fn from_str(text: &str) -> Result<Self, ProxyError> {
        let refuse = || ProxyError(without_user(text));
        let rest = text.strip_prefix("http://").ok_or_else(refuse)?;
        let (host, port) = rest.strip_suffix('/').unwrap_or(rest).rsplit_once(':').ok_or_else(refuse)?;
        let port = port.parse().ok().filter(|port| *port > 0).ok_or_else(refuse)?;
        let host = host.strip_prefix('[').map_or(host, |bare| bare.strip_suffix(']').unwrap_or(host));
        let is_host =
            !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:".contains(&b));
        if is_host { Ok(Self { host: host.to_owned(), port }) } else { Err(refuse()) }
    }
}

/// The text without credentials, which must not be shown (H14).
fn without_user(text: &str) -> String {
    let shown = text.rsplit_once('@').map_or_else(|| text.to_owned(), |(_, host)| format!("…@{host}"));
    base::printable(&shown).into_owned()
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "http://[{}]:{}", self.host, self.port)
        } else {
            write!(f, "http://{}:{}", self.host, self.port)
        }
    }
}

impl Proxy {
    /// Connects to the proxy itself. Its address is not judged, because the operator configured it.
    pub(super) async fn connect(&self) -> io::Result<TcpStream> {
        TcpStream::connect((self.host.as_str(), self.port)).await
    }

    /// Requests a tunnel to the visit's address.
    pub(super) async fn open_tunnel(
        stream: &mut TcpStream,
        visit: &Visit<'_>,
        settings: &Settings,
    ) -> Result<(), Trouble> {
        let limit = settings.limits.proxy_time_max;
        let ends = (Instant::now() + limit).min(visit.ends);
        let talk = async {
            stream.write_all(&question(visit, settings)).await?;
            answer(stream).await
        };
        let head = match timeout_at(ends, talk).await {
            Ok(Ok(head)) => head,
            Ok(Err(error)) => return Err(Trouble::new(Phase::Proxy, cause(&error))),
            Err(_) => return Err(Trouble::new(Phase::Proxy, Cause::TimeOut(limit))),
        };
        if is_opened(&head) { Ok(()) } else { Err(refusal(&head)) }
    }
}

fn question(visit: &Visit<'_>, settings: &Settings) -> Vec<u8> {
    let (to, server) = (visit.key.0, &visit.key.1.server);
    let agent = settings.introduction();
    format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\nUtsushi-Server: {server}\r\nUser-Agent: {agent}\r\n\r\n")
        .into_bytes()
}

/// Reads the head of the proxy's response and the bytes received with it.
async fn answer(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(512);
    while !ends(&head) && head.len() < PROXY_HEAD_BYTES_MAX {
        if stream.read_buf(&mut head).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(head)
}

fn ends(head: &[u8]) -> bool {
    memchr::memmem::find(head, b"\r\n\r\n").is_some()
}

/// A 2xx with nothing after it: further bytes cannot be from the server, which has received no request yet.
fn is_opened(head: &[u8]) -> bool {
    matches!(http::status(head), Some(200..300))
        && memchr::memmem::find(head, b"\r\n\r\n") == head.len().checked_sub(4)
}

/// Why there is no tunnel: the server could not be reached (502, 504), or the proxy refuses.
fn refusal(head: &[u8]) -> Trouble {
    let status = http::status(head);
    let shown = status.map_or_else(|| "no HTTP".to_owned(), |status| status.to_string());
    let reason = http::field_text(head, "utsushi-reason")
        .map_or_else(|| format!("it answers {shown}"), |reason| base::printable(&reason).into_owned());
    if matches!(status, Some(502 | 504)) {
        return Trouble::new(Phase::Connect, Cause::Broken(format!("the proxy says: {reason}")));
    }
    let asked = http::field(head, "retry-after").and_then(|value| value.parse().ok());
    let retry_after = asked.map(|seconds| Interval::from_seconds(seconds).min(SERVER_PAUSE_MAX));
    Trouble::new(Phase::Proxy, Cause::Proxy { reason, retry_after })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_written_as_a_url_and_nothing_else() {
        for (text, shown) in [
            ("http://127.0.0.1:3129", "http://127.0.0.1:3129"),
            ("http://guard.example:80/", "http://guard.example:80"),
            ("http://[::1]:3129", "http://[::1]:3129"),
        ] {
            assert_eq!(text.parse::<Proxy>().unwrap().to_string(), shown);
        }
        for text in [
            "",
            "127.0.0.1:1",
            "https://a:1",
            "http://a",
            "http://a:0",
            "http://a:1/x",
            "http://:1",
            "http://a b:1",
        ] {
            assert!(text.parse::<Proxy>().is_err(), "{text}");
        }
        let told = "http://user:secret@a:1".parse::<Proxy>().unwrap_err().to_string();
        assert!(told.contains("…@a:1") && !told.contains("secret"), "{told}");
    }

    #[test]
    fn only_a_clear_yes_opens_a_tunnel() {
        assert!(is_opened(b"HTTP/1.1 200 Connection established\r\n\r\n"));
        for head in [
            &b"HTTP/1.1 200 OK\r\n\r\nX"[..],
            b"HTTP/1.1 200 OK\r\n\r\nX\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n",
            b"HTTP/1.1 403 No\r\n\r\n",
            b"SSH-2.0\r\n\r\n",
        ] {
            assert!(!is_opened(head));
        }
        let head = b"HTTP/1.1 429 X\r\nRetry-After: 7\r\nUtsushi-Reason: too soon\r\n\r\n";
        let retry_after = Some(Interval::from_seconds(7));
        assert_eq!(refusal(head).cause, Cause::Proxy { reason: "too soon".to_owned(), retry_after });
        let bare = Cause::Proxy { reason: "it answers 407".to_owned(), retry_after: None };
        assert_eq!(refusal(b"HTTP/1.1 407 Authenticate\r\n\r\n").cause, bare);
        let away = refusal(b"HTTP/1.1 502 Bad\r\nUtsushi-Reason: connection refused\r\n\r\n");
        assert_eq!(away.phase, Phase::Connect);
        assert_eq!(away.cause, Cause::Broken("the proxy says: connection refused".to_owned()));
    }
}
