//! Which encoding a page is in: by byte order mark, header, meta element, in this order (H11).
//!
//! Not here: a guess from the bytes. An unlabelled page is read as UTF-8 when it is valid UTF-8, and otherwise as
//! windows-1252, as browsers do; [`Found::how`] says so.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use std::borrow::Cow;

/// The bytes in which a meta element is looked for, as in the HTML standard.
const PRESCAN_BYTES: usize = 1_024;

/// An encoding and how it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The encoding.
    pub encoding: &'static Encoding,
    /// How it was found.
    pub how: How,
}

/// How an encoding was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The page begins with a byte order mark.
    Mark,
    /// `Content-Type` names it.
    Header,
    /// A meta element names it.
    Meta,
    /// Nobody names it, and the bytes are valid UTF-8.
    Valid,
    /// Nobody names it: the web's old default.
    Default,
}

/// The encoding of `bytes` that came with this `Content-Type`.
#[must_use]
pub fn find(content_type: Option<&str>, bytes: &[u8]) -> Found {
    let found = |encoding, how| Found { encoding, how };
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return found(encoding, How::Mark);
    }
    if let Some(encoding) = content_type.and_then(label_in).and_then(Encoding::for_label) {
        return found(encoding, How::Header);
    }
    if let Some(encoding) = in_meta(bytes) {
        return found(encoding, How::Meta);
    }
    if std::str::from_utf8(bytes).is_ok() {
        found(UTF_8, How::Valid)
    } else {
        found(WINDOWS_1252, How::Default)
    }
}

/// The text of `bytes`, what cannot be read replaced by U+FFFD.
#[must_use]
pub fn text(found: Found, bytes: &[u8]) -> Cow<'_, str> {
    found.encoding.decode(bytes).0
}

/// The encoding that a meta element in the first bytes names. UTF-16 there means UTF-8, as the standard says:
/// the element could not have been read otherwise.
fn in_meta(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..PRESCAN_BYTES).unwrap_or(bytes);
    let mut rest = start;
    while let Some(at) = find_ignoring_case(rest, b"<meta") {
        let tag = rest.get(at..)?;
        let end = memchr::memchr(b'>', tag).unwrap_or(tag.len());
        let (element, after) = tag.split_at(end);
        let named = std::str::from_utf8(element).ok().and_then(label_in).and_then(Encoding::for_label);
        if let Some(encoding) = named {
            return Some(encoding.output_encoding());
        }
        rest = after;
    }
    None
}

/// The label that follows `charset=`.
fn label_in(text: &str) -> Option<&[u8]> {
    let at = find_ignoring_case(text.as_bytes(), b"charset")?;
    let rest = text.as_bytes().get(at + 7..)?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let end =
        rest.iter().position(|b| b.is_ascii_whitespace() || b"\"';>/".contains(b)).unwrap_or(rest.len());
    rest.get(..end)
}

fn find_ignoring_case(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|window| window.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(header: Option<&str>, bytes: &[u8], name: &str, how: How) {
        let found = find(header, bytes);
        assert_eq!((found.encoding.name(), found.how), (name, how));
    }

    #[test]
    fn mark_comes_before_header_before_meta_before_the_bytes() {
        let meta = b"<html><META http-equiv=x content='text/html; CharSet = euc-jp'>";
        check(Some("text/html; charset=utf-8"), b"\xff\xfex\0", "UTF-16LE", How::Mark);
        check(Some("text/html; charset=\"Shift_JIS\""), meta, "Shift_JIS", How::Header);
        check(Some("text/html; charset=nonsense"), meta, "EUC-JP", How::Meta);
        check(Some("text/html"), b"<meta charset=ISO-2022-JP>", "ISO-2022-JP", How::Meta);
        check(None, b"<meta name=a><meta charset=utf-16>", "UTF-8", How::Meta);
        check(None, "あ".as_bytes(), "UTF-8", How::Valid);
        check(None, b"caf\xe9", "windows-1252", How::Default);
        check(None, b"", "UTF-8", How::Valid);
        check(None, b"<meta charset", "UTF-8", How::Valid);
    }

    #[test]
    fn text_is_read_whatever_it_is() {
        let bytes = b"\x82\xa0\xff";
        assert_eq!(text(find(Some("x/y;charset=sjis"), bytes), bytes), "あ\u{fffd}");
    }
}
