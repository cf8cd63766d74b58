//! Named fields, and the one encoder that every value passes.
//!
//! A field is a line, so a value with a line end forges a field, and with an empty line a whole record (H16). Two
//! encodings prevent that:
//!
//! * a **URI** ([`Fields::uri`]): every byte that is not visible ASCII becomes `%` and two hexadecimal digits. A
//!   URL that is valid already stays as it is.
//! * a **text** ([`Fields::text`]): control characters, line separators, `%` itself, and blanks at either end
//!   become the percent-escapes of their UTF-8 bytes; other characters stay. [`Fields::decoded`] is its inverse.
//!
//! **Invariant:** no value in [`Fields`] contains a control character, whether written or read; none is longer than
//! [`VALUE_BYTES_MAX`]; a longer one is cut and ends in `…`.

use crate::head::{fields_at, find_fields};
use std::borrow::Cow;
use std::fmt::Write as _;

/// The longest value in bytes: the longest URL, every byte of it escaped, with room to spare.
pub const VALUE_BYTES_MAX: usize = 8 * 1024;
/// Maximum number of fields of a record.
pub const FIELDS_MAX: usize = 256;
/// The longest head of a record that is read.
pub const HEAD_BYTES_MAX: usize = 256 * 1024;
const _: () =
    assert!(base::limits::URL_BYTES_MAX * 3 < VALUE_BYTES_MAX && VALUE_BYTES_MAX * 16 < HEAD_BYTES_MAX);

/// The names of the fields.
pub mod name {
    /// The kind of record.
    pub const TYPE: &str = "WARC-Type";
    /// The id of the record.
    pub const RECORD_ID: &str = "WARC-Record-ID";
    /// When the content was captured.
    pub const DATE: &str = "WARC-Date";
    /// What was requested.
    pub const TARGET_URI: &str = "WARC-Target-URI";
    /// The address that answered.
    pub const IP_ADDRESS: &str = "WARC-IP-Address";
    /// The record of the same exchange.
    pub const CONCURRENT_TO: &str = "WARC-Concurrent-To";
    /// The digest of the block.
    pub const BLOCK_DIGEST: &str = "WARC-Block-Digest";
    /// The digest of the body without its transfer coding.
    pub const PAYLOAD_DIGEST: &str = "WARC-Payload-Digest";
    /// Why the block is incomplete.
    pub const TRUNCATED: &str = "WARC-Truncated";
    /// The URL of the content that a revisit refers to.
    pub const REFERS_TO_TARGET_URI: &str = "WARC-Refers-To-Target-URI";
    /// The date of the content that a revisit refers to.
    pub const REFERS_TO_DATE: &str = "WARC-Refers-To-Date";
    /// Why a revisit holds no content.
    pub const PROFILE: &str = "WARC-Profile";
    /// The record that a revisit or a conversion refers to.
    pub const REFERS_TO: &str = "WARC-Refers-To";
    /// Which part of a record that was split this is, from 1.
    pub const SEGMENT_NUMBER: &str = "WARC-Segment-Number";
    /// The first part of a record that was split.
    pub const SEGMENT_ORIGIN_ID: &str = "WARC-Segment-Origin-ID";
    /// How long the blocks of all parts are, in the last part.
    pub const SEGMENT_TOTAL_LENGTH: &str = "WARC-Segment-Total-Length";
    /// The media type that the content was found to have.
    pub const IDENTIFIED_PAYLOAD_TYPE: &str = "WARC-Identified-Payload-Type";
    /// The record that describes the file.
    pub const WARCINFO_ID: &str = "WARC-Warcinfo-ID";
    /// The name of the file, in the record that describes it.
    pub const FILENAME: &str = "WARC-Filename";
    /// The media type of the block.
    pub const CONTENT_TYPE: &str = "Content-Type";
    /// The length of the block.
    pub const CONTENT_LENGTH: &str = "Content-Length";
}

/// Named fields in their order: the head of a record, or the content of one that holds `application/warc-fields`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(Vec<(Cow<'static, str>, String)>);

impl Fields {
    /// No fields yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// The same with a text value.
    #[must_use]
    pub fn text(self, name: &'static str, value: &str) -> Self {
        self.with(name, encode_text(value))
    }
    /// The same with a URI as value.
    #[must_use]
    pub fn uri(self, name: &'static str, value: &str) -> Self {
        self.with(name, encode_uri(value))
    }

    /// The same with another value of the field called `name`, as it stood in the head of another record.
    pub(crate) fn replaced(mut self, name: &str, value: &str) -> Self {
        let value = shortened(escape(value.trim_matches(' '), breaks_a_line));
        if let Some((_, old)) = self.0.iter_mut().find(|(found, _)| found.eq_ignore_ascii_case(name)) {
            *old = value;
        }
        self
    }

    fn with(mut self, name: &'static str, value: String) -> Self {
        let is_token = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
        assert!(!name.is_empty() && name.bytes().all(is_token), "`{name}` is not a field name");
        assert!(self.0.len() < FIELDS_MAX, "a record has at most {FIELDS_MAX} fields");
        self.0.push((Cow::Borrowed(name), shortened(value)));
        self
    }

    /// The same with a field as it stood in the head of another record. It is left out if it is invalid or there is no
    /// room.
    #[must_use]
    pub fn foreign(mut self, name: &str, value: &str) -> Self {
        let is_name =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        if is_name && self.0.len() < FIELDS_MAX {
            let value = shortened(escape(value.trim_matches(' '), breaks_a_line));
            self.0.push((Cow::Owned(name.to_owned()), value));
        }
        self
    }

    /// The first value called `name`, as it stands in the file.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
    /// The first value called `name` with the encoding of [`Fields::text`] undone.
    #[must_use]
    pub fn decoded(&self, name: &str) -> Option<String> {
        self.get(name).map(decode_text)
    }
    /// All values called `name`, in their order.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.iter().filter(move |(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
    /// All fields in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value.as_str()))
    }
    /// Writes one line a field.
    pub fn write_to(&self, bytes: &mut Vec<u8>) {
        for (name, value) in self.iter() {
            for piece in [name, ": ", value, "\r\n"] {
                bytes.extend_from_slice(piece.as_bytes());
            }
        }
    }

    /// Reads lines up to an empty one or the end. Folded lines are joined; what is not UTF-8 is replaced.
    pub fn read(bytes: &[u8]) -> Result<Self, &'static str> {
        let mut places = Vec::new();
        find_fields(bytes, &mut places)?;
        Ok(Self::of(fields_at(bytes, &places)))
    }

    /// Fields as they were found in a file.
    pub(crate) fn of<'a>(found: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Self {
        Self(found.map(|(name, value)| (read_name(name), shortened(read_value(value)))).collect())
    }
}

fn read_name(name: &[u8]) -> Cow<'static, str> {
    Cow::Owned(String::from_utf8_lossy(name).into_owned())
}

/// A value from a file: trimmed, folded lines joined, and with control characters escaped so that it can be written
/// again.
fn read_value(value: &[u8]) -> String {
    if value.iter().all(|b| matches!(b, b' '..=b'~')) {
        return String::from_utf8_lossy(value).into_owned();
    }
    let mut text = String::new();
    for (number, line) in value.split(|b| *b == b'\n').enumerate() {
        text.push_str(if number == 0 { "" } else { " " });
        text.push_str(&escape(&String::from_utf8_lossy(line.trim_ascii()), breaks_a_line));
    }
    text
}

fn encode_uri(value: &str) -> String {
    if value.bytes().all(|b| b.is_ascii_graphic()) {
        return value.to_owned();
    }
    escape(value, |c| !c.is_ascii_graphic())
}

fn encode_text(value: &str) -> String {
    // The fast path for nearly every value.
    let is_safe = value.bytes().all(|b| matches!(b, b' '..=b'~') && b != b'%');
    if is_safe && !value.starts_with(' ') && !value.ends_with(' ') {
        return value.to_owned();
    }
    let inner = escape(value, |c| c == '%' || breaks_a_line(c));
    let blank = |c: char| c == ' ';
    let (start, end) = (inner.trim_start_matches(blank), inner.trim_end_matches(blank));
    if start.is_empty() {
        return "%20".repeat(inner.len());
    }
    let (before, after) = (inner.len() - start.len(), inner.len() - end.len());
    format!("{}{}{}", "%20".repeat(before), inner.trim_matches(blank), "%20".repeat(after))
}

fn decode_text(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = if *first == b'%' { after.get(..2).and_then(hex_byte) } else { None };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Characters that some readers take for a line end: control characters, and the line and paragraph separators of
/// Unicode.
fn breaks_a_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// The text with the UTF-8 bytes of every character that `must` be escaped written as `%XX`.
fn escape(text: &str, must: impl Fn(char) -> bool) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if must(c) {
            let mut bytes = [0; 4];
            // Writing to a string cannot fail.
            c.encode_utf8(&mut bytes).bytes().for_each(|b| _ = write!(safe, "%{b:02X}"));
        } else {
            safe.push(c);
        }
    }
    safe
}

fn shortened(mut value: String) -> String {
    if value.len() > VALUE_BYTES_MAX {
        value.truncate(value.floor_char_boundary(VALUE_BYTES_MAX - '…'.len_utf8()));
        value.push('…');
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, as_text: &str, as_uri: &str) {
        let fields = Fields::new().text("T", value).uri("U", value);
        assert_eq!((fields.get("t"), fields.get("u")), (Some(as_text), Some(as_uri)));
        assert_eq!(fields.decoded("T").as_deref(), Some(value));
        let mut bytes = Vec::new();
        fields.write_to(&mut bytes);
        assert_eq!(Fields::read(&bytes), Ok(fields), "what is written is read");
    }

    #[test]
    fn a_value_cannot_end_its_line() {
        check("plain", "plain", "plain");
        check(
            "a\r\nWARC-Type: x\r\n\r\n",
            "a%0D%0AWARC-Type: x%0D%0A%0D%0A",
            "a%0D%0AWARC-Type:%20x%0D%0A%0D%0A",
        );
        check("\0\u{7f}\u{85}\u{2028}", "%00%7F%C2%85%E2%80%A8", "%00%7F%C2%85%E2%80%A8");
        check("日本", "日本", "%E6%97%A5%E6%9C%AC");
        check("50%0A", "50%250A", "50%0A");
        check("  a b ", "%20%20a b%20", "%20%20a%20b%20");
        check("  ", "%20%20", "%20%20");
        check("", "", "");
    }

    #[test]
    fn a_long_value_is_cut_and_says_so() {
        let fields = Fields::new().text("T", &"写".repeat(VALUE_BYTES_MAX));
        let value = fields.get("T").unwrap();
        assert!(value.len() <= VALUE_BYTES_MAX && value.ends_with("写…"), "{}", value.len());
    }

    #[test]
    fn foreign_heads_are_read() {
        let fields = Fields::read(b"a: 1\nB:2\r\n folded\r\nc : \xff\x00 \r\n\r\nnot: read").unwrap();
        let found: Vec<_> = fields.iter().collect();
        assert_eq!(found, [("a", "1"), ("B", "2 folded"), ("c", "\u{fffd}%00")]);
        for wrong in [&b"no colon"[..], b": x", b"\xff: x", b" folded: first", b"a b: x"] {
            assert!(Fields::read(wrong).is_err(), "{}", wrong.escape_ascii());
        }
        assert!(Fields::read("a:b\n".repeat(FIELDS_MAX + 1).as_bytes()).is_err());
    }

    #[test]
    #[should_panic(expected = "not a field name")]
    fn a_field_name_is_a_word() {
        let _ = Fields::new().text("a: b", "c");
    }
}
