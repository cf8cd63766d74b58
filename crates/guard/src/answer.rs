//! Responses of the guard itself.

use crate::request::Unfit;
use serde_json::Value;
use std::time::Duration;

/// A tunnel is open.
pub(crate) const TUNNEL_OPEN: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// Why a request is denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Denied {
    /// 400 not understood, 403 forbidden, 429 too soon or too much, 502 and 504 not reached, 503 the guard cannot work.
    pub(crate) status: u16,
    pub(crate) reason: String,
    /// When the client may retry.
    pub(crate) retry_after: Option<Duration>,
}

impl Denied {
    /// A denial without a retry time.
    pub(crate) fn new(status: u16, reason: impl Into<String>) -> Self {
        Self { status, reason: reason.into(), retry_after: None }
    }
    /// The log cannot be written.
    pub(crate) fn log_fails() -> Self {
        Self::new(503, "the guard cannot write its log, so nothing passes")
    }

    /// The answer as it is sent.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Only what may stand in a field.
        let fits = |c: char| if (' '..='~').contains(&c) { c } else { '?' };
        let reason: String = self.reason.chars().map(fits).collect();
        let retry = self.retry_after.map(|wait| format!("Retry-After: {}\r\n", seconds_up(wait)));
        let allow = if self.status == 405 { "Allow: GET, HEAD, CONNECT\r\n" } else { "" };
        let fields = format!("{}{allow}Utsushi-Reason: {reason}\r\n", retry.unwrap_or_default());
        message(self.status, &fields, "text/plain; charset=utf-8", &format!("{reason}\n"))
    }
}

/// Whole seconds, rounded up, at least one.
pub(crate) fn seconds_up(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0)).max(1)
}

impl From<Unfit> for Denied {
    fn from(unfit: Unfit) -> Self {
        Self::new(unfit.status, unfit.reason)
    }
}

/// The status of the guard.
pub(crate) fn status(value: &Value) -> Vec<u8> {
    message(200, "Cache-Control: no-store\r\n", "application/json", &format!("{value:#}\n"))
}

fn message(status: u16, fields: &str, media_type: &str, body: &str) -> Vec<u8> {
    let phrase = phrase(status);
    format!(
        "HTTP/1.1 {status} {phrase}\r\n{fields}Content-Type: {media_type}\r\nX-Content-Type-Options: nosniff\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        502 => "Bad Gateway",
        504 => "Gateway Timeout",
        _ => "Service Unavailable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_cannot_forge_a_field() {
        let denied =
            Denied { retry_after: Some(Duration::from_millis(1_200)), ..Denied::new(429, "a\r\nX: b\u{e9}") };
        let text = String::from_utf8(denied.to_bytes()).unwrap();
        assert!(
            text.starts_with(
                "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 2\r\nUtsushi-Reason: a??X: b?\r\n"
            ),
            "{text}"
        );
    }
}
