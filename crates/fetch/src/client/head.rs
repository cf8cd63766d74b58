//! The head of a response, and how it frames the body.
//!
//! The head is found by its empty line, so that a head that arrives byte by byte is parsed once and not once per byte;
//! then `httparse` parses it tolerantly: bytes, case and order stay as received, and a line that is not a field is
//! skipped.
//!
//! **Invariant:** the framing is derived once, here (RFC 9112 §6.3, H15):
//!
//! | the response | its body | the connection afterwards |
//! |---|---|---|
//! | to HEAD, or 1xx, 204, 304 | none, whatever the fields say | kept |
//! | `Transfer-Encoding` ending in `chunked` | chunked | kept; closed if there is a `Content-Length` too |
//! | any other `Transfer-Encoding` | until close | closed |
//! | one `Content-Length` | of that length | kept |
//! | several that agree | of that length | closed |
//! | one that is not a number, or several that differ | until close | closed |
//! | neither field | until close | closed |

use super::wire::{Got, Wire};
use super::{ExchangeLimits, Trouble};
use base::door::{Cause, Phase};
use base::http::{self, Framing};
use httparse::{EMPTY_HEADER, Error, Header, ParserConfig, Response, Status};
use std::borrow::Cow;

/// The head of a final response.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Every byte, including the empty line.
    pub(super) bytes: Vec<u8>,
    pub(super) status: u16,
    pub(super) framing: Framing,
    /// Whether the fields contradict each other, or are invalid, about the end of the body.
    pub(super) is_in_doubt: bool,
    /// Whether another request may follow, if the body ends as it should.
    pub(super) keeps_alive: bool,
}

/// Reads the final head, and the part of the body received with it. Interim responses before it are skipped.
pub(super) async fn read(
    wire: &mut Wire<'_>,
    head_only: bool,
    limits: &ExchangeLimits,
) -> Result<(Head, Vec<u8>), Trouble> {
    let mut buffer = Vec::new();
    for _ in 0..=limits.interim_answers_max {
        let bytes = match next(wire, &mut buffer, limits).await {
            Ok(bytes) => bytes,
            Err(trouble) => return Err(with_received(trouble, buffer, limits)),
        };
        let head = match parse(bytes, head_only, limits.head_fields_max) {
            Ok(head) => head,
            Err((what, bytes)) => {
                return Err(with_received(malformed(what), [bytes, buffer].concat(), limits));
            }
        };
        // 101 is not an interim response: another protocol follows, which was not requested.
        if !(100..200).contains(&head.status) || head.status == 101 {
            return Ok((head, buffer));
        }
    }
    Err(with_received(malformed("too many interim answers"), buffer, limits))
}

/// Bytes that are not a response are kept up to the maximum length of a head.
fn with_received(trouble: Trouble, mut received: Vec<u8>, limits: &ExchangeLimits) -> Trouble {
    received.truncate(limits.head_bytes_max);
    Trouble { received, ..trouble }
}

fn malformed(what: &'static str) -> Trouble {
    Trouble::new(Phase::Head, Cause::Malformed(what))
}

/// Takes the next head out of `buffer`, reading as much as needed.
async fn next(
    wire: &mut Wire<'_>,
    buffer: &mut Vec<u8>,
    limits: &ExchangeLimits,
) -> Result<Vec<u8>, Trouble> {
    let (mut searched, mut blank_bytes) = (0, 0);
    loop {
        blank_bytes += drop_blank_start(buffer);
        if !looks_like_http(buffer) {
            return Err(malformed("no status line"));
        }
        match end(buffer, searched) {
            Some(end) if end <= limits.head_bytes_max => {
                let rest = buffer.split_off(end);
                return Ok(std::mem::replace(buffer, rest));
            }
            None if blank_bytes + buffer.len() <= limits.head_bytes_max => {}
            _ => return Err(malformed("the head is too long")),
        }
        searched = buffer.len().saturating_sub(2);
        more(wire, buffer).await?;
    }
}

/// Reads the head at the start of `bytes` as [`read`] reads it from a connection, for the fuzz targets.
pub(super) fn read_bytes(bytes: &[u8], head_only: bool, limits: &ExchangeLimits) -> Option<Head> {
    let mut buffer = bytes.to_vec();
    drop_blank_start(&mut buffer);
    let end = end(&buffer, 0).filter(|end| *end <= limits.head_bytes_max && looks_like_http(&buffer))?;
    buffer.truncate(end);
    parse(buffer, head_only, limits.head_fields_max).ok()
}

async fn more(wire: &mut Wire<'_>, buffer: &mut Vec<u8>) -> Result<(), Trouble> {
    let cause = match wire.more(buffer, 0).await {
        Got::More => return Ok(()),
        Got::End => Cause::Broken("connection closed".to_owned()),
        Got::Broken(cause) => cause,
        Got::TimeOut(limit) => return Err(Trouble::new(Phase::Head, Cause::TimeOut(limit))),
    };
    Err(Trouble { lost: wire.is_untouched(), ..Trouble::new(Phase::Head, cause) })
}

/// Empty lines before a response are not part of it; their bytes count as if they were.
fn drop_blank_start(buffer: &mut Vec<u8>) -> usize {
    let blank = buffer.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    buffer.drain(..blank);
    blank
}

/// Whether this can still become a response: a server that uses another protocol is not waited for.
fn looks_like_http(buffer: &[u8]) -> bool {
    buffer.iter().zip(b"HTTP/1.").all(|(found, wanted)| found == wanted)
}

/// The end of the head: after the first empty line whose line break is at `from` or later.
fn end(buffer: &[u8], from: usize) -> Option<usize> {
    let rest = buffer.get(from..)?;
    memchr::memchr_iter(b'\n', rest).find_map(|at| match rest.get(at + 1..)? {
        [b'\n', ..] => Some(from + at + 2),
        [b'\r', b'\n', ..] => Some(from + at + 3),
        _ => None,
    })
}

/// Parses a complete head.
fn parse(bytes: Vec<u8>, head_only: bool, fields_max: usize) -> Result<Head, (&'static str, Vec<u8>)> {
    match read_fields(&bytes, head_only, fields_max) {
        Ok((status, framing, clarity, keeps_alive)) => {
            let is_in_doubt = clarity == Clarity::Doubt;
            let keeps_alive = keeps_alive && clarity == Clarity::Clear;
            Ok(Head { bytes, status, framing, is_in_doubt, keeps_alive })
        }
        Err(what) => Err((what, bytes)),
    }
}

/// Status, framing and its clarity, and whether the server would keep the connection.
fn read_fields(
    bytes: &[u8],
    head_only: bool,
    fields_max: usize,
) -> Result<(u16, Framing, Clarity, bool), &'static str> {
    let legible = legible(bytes);
    let mut fields = vec![EMPTY_HEADER; fields_max];
    let mut response = Response::new(&mut fields);
    match lenient().parse_response(&mut response, &legible) {
        Ok(Status::Complete(length)) if length == bytes.len() => {}
        Ok(_) => return Err("the head has no clear end"),
        Err(Error::TooManyHeaders) => return Err("the head has too many fields"),
        Err(Error::Status | Error::Version) => return Err("bad status line"),
        Err(_) => return Err("bad field"),
    }
    // No server means a status below 100, and nobody who reads the archive finds it.
    let status = response.code.filter(|status| *status >= 100).ok_or("bad status line")?;
    let (framing, clarity) = as_archived(framing(status, head_only, response.headers), bytes);
    let closes = tokens(response.headers, "connection").any(|token| token.eq_ignore_ascii_case("close"));
    let keeps_alive = response.version == Some(1) && !closes && status != 101;
    Ok((status, framing, clarity, keeps_alive))
}

/// How clearly a head frames its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clarity {
    /// Once and unambiguously.
    Clear,
    /// Not at all: the connection ends it.
    Close,
    /// In more than one way, or in an invalid one (H15).
    Doubt,
}

/// The head with each NUL and each carriage return inside a line replaced (RFC 9110 §5.5), for parsing only. A name
/// that contained one is then invalid and its line is skipped; a length or coding that contained one is unknown.
fn legible(bytes: &[u8]) -> Cow<'_, [u8]> {
    let follows = bytes.iter().skip(1).map(Some).chain([None]);
    let is_odd = |(byte, next): (&u8, Option<&u8>)| *byte == 0 || (*byte == b'\r' && next != Some(&b'\n'));
    if !bytes.iter().zip(follows.clone()).any(is_odd) {
        return Cow::Borrowed(bytes);
    }
    bytes.iter().zip(follows).map(|pair| if is_odd(pair) { b'?' } else { *pair.0 }).collect()
}

fn lenient() -> ParserConfig {
    let mut config = ParserConfig::default();
    config
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_multiple_spaces_in_response_status_delimiters(true)
        .allow_space_before_first_header_name(true)
        .ignore_invalid_headers_in_responses(true);
    config
}

/// How the body is framed, and how clearly.
fn framing(status: u16, head_only: bool, fields: &[Header<'_>]) -> (Framing, Clarity) {
    if head_only || matches!(status, 100..200 | 204 | 304) {
        return (Framing::None, Clarity::Clear);
    }
    let codings: Vec<&str> = tokens(fields, "transfer-encoding")
        .filter(|coding| !coding.eq_ignore_ascii_case("identity"))
        .collect();
    let lengths: Vec<&str> = tokens(fields, "content-length").collect();
    match codings.last() {
        Some(last) if last.eq_ignore_ascii_case("chunked") => {
            (Framing::Chunked, if lengths.is_empty() { Clarity::Clear } else { Clarity::Doubt })
        }
        Some(_) => (Framing::UntilClose, Clarity::Doubt),
        None => by_length(&lengths),
    }
}

/// The framing that whoever reads the archived head finds too. A line that was passed over because of a forbidden byte may
/// say otherwise; then nothing is clear (H15).
fn as_archived((framing, clarity): (Framing, Clarity), bytes: &[u8]) -> (Framing, Clarity) {
    match (framing, http::is_chunked(bytes)) {
        (Framing::Chunked, false) => (Framing::UntilClose, Clarity::Doubt),
        (Framing::Length(_) | Framing::UntilClose, true) => (Framing::Chunked, Clarity::Doubt),
        _ => (framing, clarity),
    }
}

fn by_length(lengths: &[&str]) -> (Framing, Clarity) {
    if lengths.is_empty() {
        return (Framing::UntilClose, Clarity::Close);
    }
    let clarity = if lengths.len() == 1 { Clarity::Clear } else { Clarity::Doubt };
    let agreed = match lengths {
        [first, rest @ ..] if rest.iter().all(|other| other == first) => length(first),
        _ => None,
    };
    agreed.map_or((Framing::UntilClose, Clarity::Doubt), |length| (Framing::Length(length), clarity))
}

/// Digits only: `+5`, `0x5` and `5 bytes` are not lengths.
fn length(text: &str) -> Option<u64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

/// The comma-separated values of all fields called `name`. A value that is not text counts as an unknown value.
fn tokens<'a>(fields: &'a [Header<'_>], name: &'a str) -> impl Iterator<Item = &'a str> {
    let named = fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name));
    named.flat_map(|field| std::str::from_utf8(field.value).unwrap_or("?").split(',').map(str::trim))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: &str, fields: &str, framing: Framing, keeps_alive: bool) {
        let head = parse(format!("HTTP/1.1 {status}\r\n{fields}\r\n").into_bytes(), false, 8).unwrap();
        assert_eq!((head.framing, head.keeps_alive), (framing, keeps_alive), "{status} {fields}");
    }

    #[test]
    fn survives_h15_every_way_to_frame_a_body() {
        use Framing::{Chunked, Length, None, UntilClose};
        check("200 OK", "Content-Length: 5\r\n", Length(5), true);
        check("200 OK", "content-length : 5\r\n", Length(5), true);
        check("200 OK", "Content-Length: 5\r\nConnection: x, Close\r\n", Length(5), false);
        let forbidden = "Transfer-Encoding: \u{2}, chunked\r\n";
        check("200 OK", &format!("Content-Length: 5\r\n{forbidden}"), Chunked, false);
        let forbidden = "Transfer-Encoding: chunked\r\nTransfer-Encoding: \u{2}\r\n";
        check("200 OK", forbidden, UntilClose, false);
        check("200 OK", "Content-Length: 5\r\nContent-Length: 5\r\n", Length(5), false);
        check("200 OK", "Content-Length: 5, 5\r\n", Length(5), false);
        check("200 OK", "Content-Length: 5\r\nContent-Length: 6\r\n", UntilClose, false);
        for wrong in ["+5", "-5", "0x5", "5 b", "", "99999999999999999999", "\u{e9}"] {
            check("200 OK", &format!("Content-Length: {wrong}\r\n"), UntilClose, false);
        }
        check("200 OK", "Transfer-Encoding: chunked\r\n", Chunked, true);
        check("200 OK", "Transfer-Encoding: gzip, Chunked\r\n", Chunked, true);
        check("200 OK", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", Chunked, true);
        check("200 OK", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", Chunked, false);
        check("200 OK", "Transfer-Encoding: chunked, gzip\r\n", UntilClose, false);
        check("200 OK", "Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n", UntilClose, false);
        check("200 OK", "Transfer-Encoding: identity\r\nContent-Length: 5\r\n", Length(5), true);
        check("200 OK", "", UntilClose, false);
        check("304 Not Modified", "Content-Length: 5\r\n", None, true);
        check("204 No Content", "Transfer-Encoding: chunked\r\n", None, true);
        check("200 OK", "Content-Length\0: 5\r\nContent-Length: 6\r\n", Length(6), true);
        check("200 OK", "Content-Length: 5\0\r\n", UntilClose, false);
        check("200 OK", "Content-Length: 5\rTransfer-Encoding: chunked\r\n", UntilClose, false);
        check("101 Switching Protocols", "", None, false);
    }

    #[test]
    fn odd_heads_are_read_and_kept_as_they_are() {
        for head in [
            "HTTP/1.1 200\r\n\r\n",
            "HTTP/1.1  200  OK\nA: b\n\n",
            "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno field\r\nA\0: b\r\nC: \0\r\nD: \rE\r\n\r\n",
            "HTTP/1.0 200 \u{e9}\r\n\r\n",
        ] {
            let parsed = parse(head.as_bytes().to_vec(), false, 8).expect(head);
            assert_eq!((parsed.status, parsed.bytes.as_slice()), (200, head.as_bytes()));
            assert_eq!(end(head.as_bytes(), 0), Some(head.len()));
        }
    }

    #[test]
    fn what_is_no_head_is_refused_by_name() {
        for (head, expected) in [
            ("HTTP/1.1 2x0 OK\r\n\r\n", "bad status line"),
            ("HTTP/1.7 200 OK\r\n\r\n", "bad status line"),
            ("HTTP/1.1 099 No\r\n\r\n", "bad status line"),
            ("HTTP/1.1 200 OK\r\nA:b\r\nA:b\r\nA:b\r\n\r\n", "the head has too many fields"),
        ] {
            let (what, kept) = parse(head.as_bytes().to_vec(), false, 2).unwrap_err();
            assert_eq!((what, kept.as_slice()), (expected, head.as_bytes()));
        }
        assert!(looks_like_http(b"") && looks_like_http(b"HTT") && looks_like_http(b"HTTP/1.1 200"));
        assert!(!looks_like_http(b"ICY 200 OK") && !looks_like_http(b"SSH-2.0"));
    }
}
