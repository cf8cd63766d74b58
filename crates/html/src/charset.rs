//! The encoding of a page: by byte order mark, header, meta element or XML declaration, in this order (H11).
//!
//! A page without a label is UTF-8 if it is valid UTF-8. Otherwise `chardetng` compares its bytes with the letter
//! frequencies of languages in each encoding; [`DetectedCharset::how`] says so.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};
use std::borrow::Cow;

/// The number of bytes compared: 16 KiB identify nearly all encodings, and comparing is slow.
const DETECTED_BYTES: usize = 64 * 1_024;
/// ASCII before the first other byte, which may be the start of its word.
const CONTEXT_BYTES: usize = 64;
/// Escape sequences switch the character sets of ISO-2022-JP.
const ESCAPE: u8 = 0x1b;
/// The bytes that are searched for a meta element, as in the HTML standard.
const PRESCAN_BYTES: usize = 1_024;

/// An encoding and how it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetectedCharset {
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
    /// A meta element, or the XML declaration, names it.
    Meta,
    /// There is no label, and the bytes are valid UTF-8.
    Valid,
    /// There is no label; detected from the bytes.
    Detected,
}

impl How {
    /// How it was found, in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mark => "mark",
            Self::Header => "header",
            Self::Meta => "meta",
            Self::Valid => "valid",
            Self::Detected => "detected",
        }
    }
}

/// The encoding of `bytes` received with this `Content-Type`.
#[must_use]
pub fn find(content_type: Option<&str>, bytes: &[u8]) -> DetectedCharset {
    find_from(None, content_type, bytes)
}

/// The same for bytes from a host under this top-level domain (`jp`), which decides between similar encodings.
#[must_use]
pub fn find_from(domain: Option<&str>, content_type: Option<&str>, bytes: &[u8]) -> DetectedCharset {
    let found = |encoding, how| DetectedCharset { encoding, how };
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return found(encoding, How::Mark);
    }
    if let Some(encoding) = content_type.and_then(label_in).and_then(Encoding::for_label) {
        return found(encoding, How::Header);
    }
    if let Some(encoding) = in_declaration(bytes).or_else(|| in_meta(bytes)) {
        return found(encoding, How::Meta);
    }
    // ISO-2022-JP is valid UTF-8 too, because it is ASCII with escapes.
    let has_escapes = memchr::memmem::find(bytes, b"\x1b$").is_some();
    if !has_escapes && is_utf8(bytes) {
        return found(UTF_8, How::Valid);
    }
    match detected(bytes, domain) {
        encoding if encoding == UTF_8 => found(UTF_8, How::Valid),
        encoding => found(encoding, How::Detected),
    }
}

/// Whether bytes are UTF-8, allowing an incomplete last character.
fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

/// The detected encoding of the bytes, from the first that is not ASCII.
fn detected(bytes: &[u8], domain: Option<&str>) -> &'static Encoding {
    let first = bytes.iter().position(|byte| !byte.is_ascii() || *byte == ESCAPE).unwrap_or(0);
    let rest = bytes.get(first.saturating_sub(CONTEXT_BYTES)..).unwrap_or_default();
    let looked_at = rest.get(..DETECTED_BYTES).unwrap_or(rest);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(looked_at, looked_at.len() == rest.len());
    // The detector panics on invalid domain names.
    let is_domain = |name: &&str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    detector.guess(domain.filter(is_domain).map(str::as_bytes), Utf8Detection::Allow)
}

/// The text of `bytes`, invalid parts replaced by U+FFFD.
#[must_use]
pub fn text(found: DetectedCharset, bytes: &[u8]) -> Cow<'_, str> {
    found.encoding.decode(bytes).0
}

/// The encoding that a meta element in the first bytes declares. UTF-16 there means UTF-8, as the standard says:
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

/// The encoding that `<?xml version="1.0" encoding="…"?>` declares; UTF-16 means UTF-8, as in a meta element.
fn in_declaration(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..PRESCAN_BYTES).unwrap_or(bytes);
    let declaration = start.trim_ascii_start().strip_prefix(b"<?xml")?;
    let end = memchr::memchr(b'>', declaration)?;
    let text = std::str::from_utf8(declaration.get(..end)?).ok()?;
    Encoding::for_label(label_behind(text, b"encoding")?).map(Encoding::output_encoding)
}

/// The label that follows `charset=`.
fn label_in(text: &str) -> Option<&[u8]> {
    label_behind(text, b"charset")
}

fn label_behind<'a>(text: &'a str, word: &[u8]) -> Option<&'a [u8]> {
    let at = find_ignoring_case(text.as_bytes(), word)?;
    let rest =
        text.as_bytes().get(at + word.len()..)?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let end =
        rest.iter().position(|b| b.is_ascii_whitespace() || b"\"';>/".contains(b)).unwrap_or(rest.len());
    rest.get(..end)
}

fn find_ignoring_case(text: &[u8], word: &[u8]) -> Option<usize> {
    let first = word.first()?;
    let is_here =
        |at: &usize| text.get(*at..*at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word));
    memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text).find(is_here)
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
        check(None, b"caf\xe9 cr\xe8me", "windows-1252", How::Detected);
        check(None, b"\xe3\x81\x82 and one cut off \xe3\x81", "UTF-8", How::Valid);
        check(None, b" <?xml version='1.0' encoding='EUC-JP'?><rss>", "EUC-JP", How::Meta);
        check(None, b"\x1b$B?^=q4[\x1b(B", "ISO-2022-JP", How::Detected);
        check(None, b"", "UTF-8", How::Valid);
        check(None, b"<meta charset", "UTF-8", How::Valid);
    }

    #[test]
    fn unlabelled_japanese_is_known_by_its_bytes() {
        let text = "図書館は朝の九時に開き、夕方の六時に閉まります。ただし、月曜日は休みです。";
        for encoding in [encoding_rs::SHIFT_JIS, encoding_rs::EUC_JP, encoding_rs::ISO_2022_JP] {
            check(None, &encoding.encode(text).0, encoding.name(), How::Detected);
        }
    }

    #[test]
    fn text_is_read_whatever_it_is() {
        let bytes = b"\x82\xa0\xff";
        assert_eq!(text(find(Some("x/y;charset=sjis"), bytes), bytes), "あ\u{fffd}");
    }
}
