//! One JSON object per line, in which every character that could control a terminal is escaped, without loss.

use base::printable;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};
use std::borrow::Cow;
use std::io::{self, Write};

/// A value as one line of JSON that cannot control a terminal, with its line feed.
pub fn json_line(value: &impl Serialize) -> io::Result<String> {
    to_line(value).map_err(io::Error::other)
}

fn to_line(value: &impl Serialize) -> serde_json::Result<String> {
    let mut line = Vec::with_capacity(256);
    value.serialize(&mut Serializer::with_formatter(&mut line, Escaping))?;
    line.push(b'\n');
    String::from_utf8(line).map_err(|error| serde_json::Error::io(io::Error::other(error)))
}

struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if !needs_escape(fragment) {
            return CompactFormatter.write_string_fragment(writer, fragment);
        }
        fragment.chars().try_for_each(|c| write_char(writer, c))
    }
}

fn needs_escape(text: &str) -> bool {
    matches!(printable(text), Cow::Owned(_))
}

fn write_char<W: ?Sized + Write>(writer: &mut W, c: char) -> io::Result<()> {
    let mut utf8 = [0; 4];
    if !needs_escape(c.encode_utf8(&mut utf8)) {
        return write!(writer, "{c}");
    }
    let mut utf16 = [0; 2];
    c.encode_utf16(&mut utf16).iter().try_for_each(|unit| write!(writer, "\\u{unit:04x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaping_loses_nothing() {
        let text = "a\"\\\u{0}\u{7f}\u{9b}\u{2028}\u{e0041}\u{1f600}日本";
        let line = to_line(&text).unwrap();
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        assert!(!needs_escape(line.trim_end()), "{line}");
    }
}
