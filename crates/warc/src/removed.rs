//! The record that replaces a removed one.
//!
//! A takedown keeps every offset of its file (D13), so the replacement must be exactly as long as the removed bytes.
//! Its block is a sentence and blanks, and a field of its head fills the rest to the byte.
//!
//! * gzip: the member consists of stored blocks, so that every byte of the record is a byte of the file;
//! * zstd: a frame with the record, and a skippable frame after it;
//! * plain: the record itself.
//!
//! **Invariant:** the result has exactly the requested length, and reads as one record.

use crate::header::{Fields, name};
use crate::member::Compression;
use crate::member::zstandard::{Compress, SKIPPABLE_HEAD_BYTES, append_skippable};
use crate::write::{Draft, write_record};
use crate::{Kind, RecordId};
use base::Timestamp;
use libdeflater::Crc;

const SENTENCE: &str = "What was stored here has been removed.";
const CONTENT_TYPE: &str = "text/plain";
/// The field that makes a head longer.
const PADDING: &str = "Utsushi-Padding";
/// More room than this is filled by the block.
const PADDING_BYTES_MAX: usize = 64;

/// The bytes of a gzip header and trailer, of the head of a stored block, and the maximum that such a block holds.
const GZIP_BYTES: usize = 18;
const STORED_HEAD_BYTES: usize = 5;
const STORED_BYTES_MAX: usize = 0xffff;

/// A valid record of exactly `length` bytes for `offset` of `file` that states that something was removed.
///
/// `None` when `length` is less than [`removed_bytes_min`]: there is no room for a record.
#[must_use]
pub fn removed(
    file: &str,
    offset: u64,
    date: Timestamp,
    length: usize,
    compression: Compression,
) -> Option<Vec<u8>> {
    let place = Place { file, offset, date };
    match compression {
        Compression::Plain => place.record(length),
        Compression::Gzip(_) => place.gzip(length),
        Compression::Zstd(level) => place.zstd(length, Compress::new(level)),
    }
}

/// The minimum length that [`removed`] can fill there: about 200 bytes, most of them the record's id and date.
#[must_use]
pub fn removed_bytes_min(file: &str, offset: u64, date: Timestamp, compression: Compression) -> usize {
    let shortest = Place { file, offset, date }.bare(1);
    match compression {
        Compression::Plain => shortest.len(),
        Compression::Gzip(_) => shortest.len() + STORED_HEAD_BYTES + GZIP_BYTES,
        Compression::Zstd(level) => frame(&shortest, &mut Compress::new(level)).len() + SKIPPABLE_HEAD_BYTES,
    }
}

struct Place<'a> {
    file: &'a str,
    offset: u64,
    date: Timestamp,
}

impl Place<'_> {
    fn draft(&self, padding: usize) -> Draft {
        let id = RecordId::at(self.file, self.offset, self.date, &Kind::Metadata);
        Draft::new(&Kind::Metadata, &id, self.date).text(PADDING, &"-".repeat(padding))
    }
    /// A record without a block.
    fn bare(&self, padding: usize) -> Vec<u8> {
        written(&self.draft(padding).text(name::CONTENT_LENGTH, "0").into_fields(), &[])
    }
    /// A record whose block is the sentence and this many blanks.
    fn with_sentence(&self, padding: usize, blanks: usize) -> Vec<u8> {
        let blanks = vec![b' '; blanks];
        let block: [&[u8]; 2] = [SENTENCE.as_bytes(), &blanks];
        written(&self.draft(padding).with_block(CONTENT_TYPE, &block), &block)
    }

    /// A record of exactly `length` bytes.
    fn record(&self, length: usize) -> Option<Vec<u8>> {
        let missing = length.checked_sub(self.with_sentence(1, 0).len());
        let Some(missing) = missing else {
            let missing = length.checked_sub(self.bare(1).len())?;
            return Some(self.bare(1 + missing));
        };
        let blanks = if missing > PADDING_BYTES_MAX { missing - PADDING_BYTES_MAX / 2 } else { 0 };
        let missing = length - self.with_sentence(1, blanks).len();
        Some(self.with_sentence(1 + missing, blanks))
    }

    fn gzip(&self, length: usize) -> Option<Vec<u8>> {
        let room = length.checked_sub(GZIP_BYTES)?;
        let blocks = room.div_ceil(STORED_HEAD_BYTES + STORED_BYTES_MAX);
        let record = self.record(room.checked_sub(blocks * STORED_HEAD_BYTES)?)?;
        Some(stored(&record, blocks))
    }

    fn zstd(&self, length: usize, mut compress: Compress) -> Option<Vec<u8>> {
        let records = [self.with_sentence(1, 0), self.bare(1)];
        let mut frames = records.iter().map(|record| frame(record, &mut compress));
        let mut file = frames.find(|frame| frame.len() + SKIPPABLE_HEAD_BYTES <= length)?;
        append_skippable(length - file.len(), &mut file);
        Some(file)
    }
}

fn written(fields: &Fields, block: &[&[u8]]) -> Vec<u8> {
    let mut record = Vec::new();
    write_record(fields, block, &mut record);
    record
}

fn frame(record: &[u8], compress: &mut Compress) -> Vec<u8> {
    let mut frame = Vec::new();
    compress.append(record, &mut frame);
    frame
}

/// A gzip member that holds `content` uncompressed, in this many blocks.
fn stored(content: &[u8], blocks: usize) -> Vec<u8> {
    let mut member = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let mut pieces = content.chunks(STORED_BYTES_MAX);
    for left in (0..blocks).rev() {
        let piece = pieces.next().unwrap_or_default();
        let length = u16::try_from(piece.len()).unwrap_or(u16::MAX);
        member.push(u8::from(left == 0));
        member.extend_from_slice(&length.to_le_bytes());
        member.extend_from_slice(&(!length).to_le_bytes());
        member.extend_from_slice(piece);
    }
    let mut crc = Crc::new();
    crc.update(content);
    member.extend_from_slice(&crc.sum().to_le_bytes());
    let length = content.len() as u64 & u64::from(u32::MAX);
    member.extend_from_slice(&u32::try_from(length).unwrap_or_default().to_le_bytes());
    member
}
