//! Positions of the parts of a record in bytes that hold all of it.

use crate::head::{Head, Place, after_first_line, find_fields};
use crate::header::HEAD_BYTES_MAX;
use memchr::memchr_iter;
use std::ops::Range;

pub(super) const NO_RECORD: &str = "no record begins here";
pub(super) const HEAD_WITHOUT_END: &str = "its head does not end";
pub(super) const NO_LENGTH: &str = "it does not say how long it is";
pub(super) const ENDS_IN_HEAD: &str = "its member ends inside its head";
pub(super) const ENDS_IN_BLOCK: &str = "its member ends inside its block";
pub(super) const LONGER: &str = "it is longer than it says";
pub(super) const NO_LINE_END: &str = "no line end follows its block: its length is wrong";
/// Maximum number of line-end bytes that belong to a record: two lines.
pub(super) const LINE_END_BYTES_MAX: usize = 4;

/// The parts of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) head: Range<usize>,
    pub(super) block: Range<usize>,
    /// The end of the line ends after the block.
    pub(super) end: usize,
}

impl Layout {
    /// Whether a line end follows the block.
    pub(super) fn has_line_end(&self) -> bool {
        self.end > self.block.end
    }
    /// Whether more bytes could not make the record longer.
    pub(super) fn is_over(&self) -> bool {
        self.end - self.block.end == LINE_END_BYTES_MAX
    }
}

/// Why bytes are not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// They end too early.
    Short(&'static str),
    /// More bytes would not help.
    Damaged(&'static str),
}

/// Finds the record that begins at `from` of `content`, and the places of its fields.
pub(super) fn find_record(content: &[u8], from: usize, places: &mut Vec<Place>) -> Result<Layout, Wrong> {
    let record = content.get(from..).unwrap_or_default();
    let head = find_head(record)?;
    find_fields(after_first_line(head), places).map_err(Wrong::Damaged)?;
    let block_bytes = Head::new(head, places).block_bytes().ok_or(Wrong::Damaged(NO_LENGTH))?;
    let start = from + head.len();
    let end = usize::try_from(block_bytes).ok().and_then(|bytes| start.checked_add(bytes));
    let end = end.filter(|end| *end <= content.len()).ok_or(Wrong::Short(ENDS_IN_BLOCK))?;
    let behind = content.get(end..).unwrap_or_default();
    let line_ends = behind.iter().take(LINE_END_BYTES_MAX).take_while(|b| matches!(b, b'\r' | b'\n'));
    Ok(Layout { head: from..start, block: start..end, end: end + line_ends.count() })
}

/// The bytes up to the first empty line, which is included.
fn find_head(record: &[u8]) -> Result<&[u8], Wrong> {
    if !is_start(record) {
        return Err(Wrong::Damaged(NO_RECORD));
    }
    let searched = record.get(..HEAD_BYTES_MAX).unwrap_or(record);
    for place in memchr_iter(b'\n', searched) {
        let end = match searched.get(place + 1..) {
            Some([b'\n', ..]) => place + 2,
            Some([b'\r', b'\n', ..]) => place + 3,
            _ => continue,
        };
        return searched.get(..end).ok_or(Wrong::Damaged(NO_RECORD));
    }
    if record.len() >= HEAD_BYTES_MAX {
        return Err(Wrong::Damaged(HEAD_WITHOUT_END));
    }
    Err(Wrong::Short(ENDS_IN_HEAD))
}

/// The first word of every record. The standard's grammar lets it be written in letters of any case.
const MAGIC: &[u8] = b"WARC/";

/// Whether a record can begin with `bytes`, as far as they go.
pub(super) fn is_start(bytes: &[u8]) -> bool {
    let beginning = bytes.get(..MAGIC.len()).unwrap_or(bytes);
    MAGIC.get(..beginning.len()).is_some_and(|expected| beginning.eq_ignore_ascii_case(expected))
}
