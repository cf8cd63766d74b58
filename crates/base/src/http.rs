//! The few rules of HTTP/1.1 messages that more than one crate needs: fields, framing and their removal.
//!
//! **Invariant:** nothing here changes a message; everything is derived from the bytes as received.

use crate::limits::SERVER_PAUSE_MAX;
use crate::{Interval, Timestamp};
use std::borrow::Cow;

/// How the end of a body is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// An answer of this kind has no body (304, 204, an answer to HEAD).
    None,
    /// `Content-Length`.
    Length(u64),
    /// `Transfer-Encoding: chunked`.
    Chunked,
    /// The body ends with the connection.
    UntilClose,
}

/// The status of a response head, if its first line is one.
#[must_use]
pub fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|b| *b == b'\n').next()?;
    let rest = line.strip_prefix(b"HTTP/")?;
    let code = rest.splitn(2, |b| *b == b' ').nth(1)?.trim_ascii_start().get(..3)?;
    std::str::from_utf8(code).ok()?.parse().ok().filter(|code| (100..1000).contains(code))
}

/// Whether a retry soon after an answer with this status may succeed.
#[must_use]
pub const fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..600)
}

/// The value of the first field called `name`, without the white space around it; `None` if it is not text.
#[must_use]
pub fn field<'a>(head: &'a [u8], name: &str) -> Option<&'a str> {
    fields(head, name).next()
}

/// The values of all fields called `name`, in order.
pub fn fields<'a>(head: &'a [u8], name: &str) -> impl Iterator<Item = &'a str> {
    head.split(|b| *b == b'\n').skip(1).filter_map(move |line| {
        let colon = line.iter().position(|b| *b == b':')?;
        let (found, value) = (line.get(..colon)?, line.get(colon + 1..)?);
        let same = found.trim_ascii_end().eq_ignore_ascii_case(name.as_bytes());
        if same { std::str::from_utf8(value.trim_ascii()).ok() } else { None }
    })
}

/// The value of the first field called `name` whatever its bytes: folded lines are joined by a blank, and what is not
/// UTF-8 is read as Latin-1, as in browsers.
#[must_use]
pub fn field_text<'a>(head: &'a [u8], name: &str) -> Option<Cow<'a, str>> {
    field_texts(head, name).next()
}

/// The values of all fields called `name`, read in the same way.
pub fn field_texts<'a>(head: &'a [u8], name: &str) -> impl Iterator<Item = Cow<'a, str>> {
    let mut lines = head.split(|b| *b == b'\n').skip(1).peekable();
    std::iter::from_fn(move || {
        let first = loop {
            let line = lines.next()?;
            let Some(colon) = line.iter().position(|b| *b == b':') else { continue };
            let (found, value) = line.split_at(colon);
            if !is_folded(line) && found.trim_ascii_end().eq_ignore_ascii_case(name.as_bytes()) {
                break value.get(1..)?.trim_ascii();
            }
        };
        let mut value = Cow::Borrowed(first);
        while let Some(more) = lines.next_if(|line| is_folded(line) && !line.trim_ascii().is_empty()) {
            let value = value.to_mut();
            value.push(b' ');
            value.extend_from_slice(more.trim_ascii());
        }
        Some(match value {
            Cow::Borrowed(bytes) => text(bytes),
            Cow::Owned(bytes) => Cow::Owned(text(&bytes).into_owned()),
        })
    })
}

/// Whether a line continues the field before it.
fn is_folded(line: &[u8]) -> bool {
    matches!(line.first(), Some(b' ' | b'\t'))
}

/// Whether the body after a response head is chunked: the last transfer coding that is one says so.
#[must_use]
pub fn is_chunked(head: &[u8]) -> bool {
    let mut last_is = false;
    for value in field_texts(head, "transfer-encoding") {
        for coding in
            value.split(',').map(str::trim).filter(|coding| !coding.eq_ignore_ascii_case("identity"))
        {
            last_is = coding.eq_ignore_ascii_case("chunked");
        }
    }
    last_is
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    let as_latin_1 = |_| Cow::Owned(bytes.iter().copied().map(char::from).collect());
    std::str::from_utf8(bytes).map_or_else(as_latin_1, Cow::Borrowed)
}

/// How long an answer asks us to wait, at most [`SERVER_PAUSE_MAX`]. A date is relative to the answer's own `Date`, so
/// the same answer always gives the same result.
#[must_use]
pub fn retry_after(head: &[u8]) -> Option<Interval> {
    let text = field(head, "retry-after")?;
    let asked = match text.parse() {
        Ok(seconds) => Interval::from_seconds(seconds),
        Err(_) => {
            let sent = field(head, "date").and_then(Timestamp::parse_http_date)?;
            Timestamp::parse_http_date(text)?.since(sent)
        }
    };
    Some(asked.min(SERVER_PAUSE_MAX))
}

/// A body with its chunk framing removed; other bodies unchanged.
///
/// Truncated or malformed framing gives the bytes before it; a body that is not chunked although its head says so is
/// unchanged.
#[must_use]
pub fn payload(body: &[u8], framing: Framing) -> Cow<'_, [u8]> {
    if framing != Framing::Chunked || (!body.is_empty() && next_chunk(body).is_none()) {
        return Cow::Borrowed(body);
    }
    let mut payload = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some((bytes, after)) = next_chunk(rest) {
        if bytes.is_empty() {
            break;
        }
        payload.extend_from_slice(bytes);
        rest = after;
    }
    Cow::Owned(payload)
}

/// The bytes of the first chunk and what follows it. A truncated chunk gives the bytes that are there.
fn next_chunk(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let line_end = body.iter().take(4_096).position(|b| *b == b'\n')?;
    let line = body.get(..line_end)?.split(|b| *b == b';').next()?;
    let digits = std::str::from_utf8(line.trim_ascii()).ok().filter(|digits| !digits.starts_with('+'))?;
    let size = usize::from_str_radix(digits, 16).ok()?;
    let data = body.get(line_end + 1..)?;
    let Some(bytes) = data.get(..size) else { return Some((data, &[])) };
    let after = data.get(size..)?;
    let after = after.strip_prefix(b"\r\n").or_else(|| after.strip_prefix(b"\n")).unwrap_or(after);
    Some((bytes, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-A : 1\r\nx-a:2\r\nBad\xff: x\r\n\r\n";

    #[test]
    fn fields_are_found_whatever_their_case() {
        assert_eq!(status(HEAD), Some(200));
        assert_eq!(field(HEAD, "content-type"), Some("text/html"));
        assert_eq!(fields(HEAD, "X-A").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(field(HEAD, "absent"), None);
        assert_eq!(status(b"HTTP/1.0 404\r\n\r\n"), Some(404));
        assert_eq!(status(b"HTTP/1.1  200 OK\r\n\r\n"), Some(200));
        assert_eq!(status(b"ICY 200 OK\r\n"), None);
    }

    #[test]
    fn a_field_is_text_whatever_its_bytes() {
        let head = b"HTTP/1.1 302 X\r\nA: b\r\n Location: c\r\nLocation : /caf\xe9\r\nX: \xe5\x86\x99\r\nY: one\r\n\ttwo\r\n\r\n";
        assert_eq!(field_text(head, "location").as_deref(), Some("/caf\u{e9}"));
        assert_eq!(field_text(head, "x").as_deref(), Some("写"));
        assert_eq!(field_text(head, "Y").as_deref(), Some("one two"));
        assert_eq!(field_text(head, "a").as_deref(), Some("b Location: c"));
        assert_eq!(field_text(head, "absent"), None);
        for (fields, expected) in [
            ("Transfer-Encoding: chunked", true),
            ("Transfer-Encoding: chunked, identity", true),
            ("Transfer-Encoding:\r\n chunked", true),
            ("Transfer-Encoding: gzip\r\ntransfer-encoding: Chunked", true),
            ("Transfer-Encoding: chunked, gzip", false),
            ("Content-Length: 4", false),
        ] {
            assert_eq!(
                is_chunked(format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n").as_bytes()),
                expected,
                "{fields}"
            );
        }
    }

    #[track_caller]
    fn check(body: &str, expected: &str) {
        assert_eq!(payload(body.as_bytes(), Framing::Chunked), expected.as_bytes());
    }

    #[test]
    fn chunk_framing_is_removed() {
        check("4\r\nWiki\r\n5;x=y\r\npedia\r\n0\r\n\r\n", "Wikipedia");
        check("4\nWiki\n0\n\n", "Wiki");
        check("A\r\nshort", "short");
        check("4\r\nWiki\r\nzz\r\npedia", "Wiki");
        check("<p>not chunked\n", "<p>not chunked\n");
        check("4\r\nWiki\r\n+5\r\npedia", "Wiki");
        check("", "");
        assert_eq!(payload(b"4\r\nWiki", Framing::UntilClose), &b"4\r\nWiki"[..]);
    }
}
