//! One record from the bytes of its member: how an archive reads a record that its index refers to.

use super::layout::{NO_RECORD, find_record};
use super::{Error, WarcReader};
use crate::head::Head;
use crate::member::Form;
use crate::member::whole::{Tried, Whole};
use crate::member::zstandard::{Dictionary, Zstd, skippable_bytes};
use crate::record::{Record, RecordRef};

impl Record {
    /// Reads the record that `member` holds, which stands at `offset` of its file: exactly the bytes that
    /// [`Record::length`] counts, in any form. `dictionary` is that of its file, if it has one.
    ///
    /// At most `block_bytes_max` of the block are kept.
    pub fn from_member(
        member: &[u8],
        offset: u64,
        block_bytes_max: usize,
        dictionary: Option<&Dictionary>,
    ) -> Result<Self, Error> {
        let record = match from_whole(member, offset, block_bytes_max, dictionary) {
            Some(record) => record,
            None => from_stream(member, offset, block_bytes_max, dictionary)?,
        };
        if record.length == member.len() as u64 {
            return Ok(record);
        }
        let what = if record.is_alone { "its member is not at this offset" } else { SHARES };
        Err(Error::Damaged { offset, what })
    }
}

const SHARES: &str = "it shares its member with another record";

/// The record, if it is whole and can be held in memory.
fn from_whole(
    member: &[u8],
    offset: u64,
    block_bytes_max: usize,
    dictionary: Option<&Dictionary>,
) -> Option<Record> {
    let form = Form::beginning_with(*member.first()?)?;
    let (mut whole, mut zstd) = (Whole::for_member(form, member, block_bytes_max), Zstd::default());
    if let Some(dictionary) = dictionary {
        zstd.set_dictionary(dictionary.clone());
    }
    let (content, length) = match whole.unpack(form, member, &mut zstd) {
        _ if form == Form::Plain => (member, None),
        Tried::Taken(bytes) => {
            (whole.content(), Some(bytes + skippable_bytes(member.get(bytes..).unwrap_or_default())))
        }
        Tried::InputEnds | Tried::TooLarge => return None,
    };
    let mut places = Vec::new();
    let layout = find_record(content, 0, &mut places).ok()?;
    if length.is_some() && layout.end != content.len() {
        return None;
    }
    let block = content.get(layout.block.clone())?;
    let view = RecordRef {
        offset,
        length: length.unwrap_or(layout.end) as u64,
        is_alone: true,
        head: Head::new(content.get(layout.head)?, &places),
        block: block.get(..block_bytes_max).unwrap_or(block),
        block_bytes: block.len() as u64,
    };
    Some(view.to_record())
}

/// The record read piece by piece, or what is wrong with it.
fn from_stream(
    member: &[u8],
    offset: u64,
    block_bytes_max: usize,
    dictionary: Option<&Dictionary>,
) -> Result<Record, Error> {
    let mut reader = WarcReader::starting_at(member, offset, block_bytes_max);
    if let Some(dictionary) = dictionary {
        reader = reader.with_dictionary(dictionary.clone());
    }
    reader.next().unwrap_or(Err(Error::Damaged { offset, what: NO_RECORD }))
}
