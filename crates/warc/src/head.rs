//! The head of a record in its buffer: which bytes are names, which are values.
//!
//! Reading a head allocates nothing once the list of positions has grown, so that a scan over millions of records costs
//! little more than decompressing them. To keep a head, take its [`Fields`].
//!
//! **Invariant:** a [`Head`] has at most [`FIELDS_MAX`] fields, each with a name of visible ASCII.

use crate::header::{FIELDS_MAX, Fields, name};
use crate::record::WarcVersion;
use memchr::memchr;

/// The position of a field: its name, the colon, and its value with folded lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    start: usize,
    colon: usize,
    end: usize,
}

/// Finds the fields of `lines` up to an empty line or the end.
pub(crate) fn find_fields(lines: &[u8], places: &mut Vec<Place>) -> Result<(), &'static str> {
    places.clear();
    let mut start = 0;
    while let Some(rest) = lines.get(start..).filter(|rest| !rest.is_empty()) {
        let length = memchr(b'\n', rest).map_or(rest.len(), |place| place + 1);
        let line = without_line_end(rest.get(..length).unwrap_or(rest));
        let end = start + line.len();
        let is_full = places.len() == FIELDS_MAX;
        match (line.first(), places.last_mut()) {
            (None, _) => return Ok(()),
            (Some(b' ' | b'\t'), Some(last)) => last.end = end,
            _ if is_full => return Err("it has too many fields"),
            _ => places.push(Place { start, colon: start + colon(line)?, end }),
        }
        start += length;
    }
    Ok(())
}

/// The names and values at `places` of `lines`.
pub(crate) fn fields_at<'a>(
    lines: &'a [u8],
    places: &'a [Place],
) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
    places.iter().map(move |place| {
        let name = lines.get(place.start..place.colon).unwrap_or_default();
        let value = lines.get(place.colon + 1..place.end).unwrap_or_default();
        (name.trim_ascii_end(), value.trim_ascii())
    })
}

/// Where the colon of a field is, after a name of visible ASCII.
fn colon(line: &[u8]) -> Result<usize, &'static str> {
    let colon = memchr(b':', line).ok_or("a field has no colon")?;
    let name = line.get(..colon).unwrap_or_default().trim_ascii_end();
    if name.is_empty() || !name.iter().all(u8::is_ascii_graphic) {
        return Err("a field has a name that is not text");
    }
    Ok(colon)
}

fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The head of a record, byte for byte: the line with the version, the fields, the empty line.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    raw: &'a [u8],
    lines: &'a [u8],
    places: &'a [Place],
}

impl<'a> Head<'a> {
    /// The head `raw`, whose fields were found at `places` after its first line.
    pub(crate) fn new(raw: &'a [u8], places: &'a [Place]) -> Self {
        Self { raw, lines: after_first_line(raw), places }
    }
    /// All bytes as in the file.
    #[must_use]
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }
    pub(crate) fn places(&self) -> &'a [Place] {
        self.places
    }
    /// The version that the first line names.
    #[must_use]
    pub fn version(&self) -> WarcVersion {
        WarcVersion::of_line(self.raw)
    }
    /// All fields in their order, names and values as in the file, without blanks around them. A folded value contains
    /// its line ends.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        fields_at(self.lines, self.places)
    }
    /// The first value called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.iter().find(|(found, _)| found.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
    }
    /// The first value called `name`, if it is text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&'a str> {
        std::str::from_utf8(self.get(name)?).ok()
    }
    /// The fields to keep: folded lines joined, what is not UTF-8 replaced.
    #[must_use]
    pub fn fields(&self) -> Fields {
        Fields::of(self.iter())
    }
    /// How long the block is, if the head says so.
    pub(crate) fn block_bytes(&self) -> Option<u64> {
        let digits = self.text(name::CONTENT_LENGTH)?;
        if digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok() } else { None }
    }
}

/// What follows the line with the version.
pub(crate) fn after_first_line(raw: &[u8]) -> &[u8] {
    let line = memchr(b'\n', raw).map_or(raw.len(), |place| place + 1);
    raw.get(line..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_keeps_its_bytes_their_order_and_repeated_fields() {
        let raw = b"WARC/1.0\r\nA: 1\r\na :\t2 \r\n  folded\r\nContent-Length: 7\r\n\r\n";
        let mut places = Vec::new();
        find_fields(after_first_line(raw), &mut places).unwrap();
        let head = Head::new(raw, &places);
        let found: Vec<_> = head.iter().collect();
        let expected: [(&[u8], &[u8]); 3] =
            [(b"A", b"1"), (b"a", b"2 \r\n  folded"), (b"Content-Length", b"7")];
        assert_eq!(found, expected);
        assert_eq!((head.raw(), head.version()), (&raw[..], WarcVersion::One0));
        assert_eq!((head.text("A"), head.block_bytes()), (Some("1"), Some(7)));
        let fields: Vec<_> = head.fields().iter().map(|(_, value)| value.to_owned()).collect();
        assert_eq!(fields, ["1", "2 folded", "7"]);
    }

    #[test]
    fn a_length_is_digits_and_nothing_else() {
        for (value, expected) in [("12", Some(12)), ("+12", None), ("-1", None), ("", None), ("1 2", None)] {
            let raw = format!("WARC/1.1\nContent-Length: {value}\n\n");
            let mut places = Vec::new();
            find_fields(after_first_line(raw.as_bytes()), &mut places).unwrap();
            assert_eq!(Head::new(raw.as_bytes(), &places).block_bytes(), expected, "{value}");
        }
    }
}
