//! Joins records that were split.
//!
//! A writer may end a file inside a record and continue in the next file: the first part is a record of its own kind
//! with `WARC-Segment-Number: 1`, the others are continuations that name it. [`Joined`] returns one record for all
//! parts if they come in order, also across files. Otherwise it returns the parts, and says what is missing.
//!
//! **Invariant:** memory holds at most one split record, with its block cut to the given maximum. No record is lost or
//! returned twice.

use crate::header::name;
use crate::record::{Kind, Record};

/// A record as it was meant, put together from its parts if it had several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logical {
    /// The record. A joined one has the head, offset and length of its first part, and the block of all.
    pub record: Record,
    /// Whether it was joined.
    pub segments: Segments,
}

/// Whether a record is all there is of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segments {
    /// It was never split.
    Whole,
    /// It was joined from this many parts.
    Joined(u32),
    /// It is only some of its parts.
    Incomplete {
        /// How many, from the first; of a continuation that came alone: 1.
        parts: u32,
        /// Why the others are not there.
        why: &'static str,
    },
}

const NO_ORIGIN: &str = "the part before it did not come before it";
const NO_NEXT: &str = "the part after it is missing";
const NO_LAST: &str = "its last part did not come";
const OTHER_LENGTH: &str = "the total length of its parts is not the one stated in the last part";

/// Puts together the parts of split records.
#[derive(Debug)]
pub struct Joined<I> {
    records: I,
    block_bytes_max: usize,
    held: Option<Held>,
}

/// A split record whose first parts came.
#[derive(Debug)]
struct Held {
    record: Record,
    id: String,
    parts: u32,
}

impl<I> Joined<I> {
    /// The records of `records`, with at most `block_bytes_max` of the block of one that is put together.
    pub fn new(records: I, block_bytes_max: usize) -> Self {
        Self { records, block_bytes_max, held: None }
    }

    /// Takes in the next record; gives out one that is done.
    fn take(&mut self, record: Record) -> Option<Logical> {
        match (number_of(&record), record.kind() == Kind::Continuation) {
            (Some(1), false) => self.begin(record),
            (Some(number), true) => self.go_on(record, number),
            (_, true) => Some(incomplete(record, 1, NO_ORIGIN)),
            (_, false) => Some(Logical { record, segments: Segments::Whole }),
        }
    }

    fn begin(&mut self, record: Record) -> Option<Logical> {
        let id = record.fields.get(name::RECORD_ID).unwrap_or_default().to_owned();
        let before = self.held.replace(Held { record, id, parts: 1 });
        before.map(|held| held.unfinished(NO_NEXT))
    }

    fn go_on(&mut self, record: Record, number: u32) -> Option<Logical> {
        let origin = record.fields.get(name::SEGMENT_ORIGIN_ID).unwrap_or_default();
        let Some(held) = self.held.as_mut().filter(|held| held.id == origin && held.parts + 1 == number)
        else {
            return Some(incomplete(record, 1, NO_ORIGIN));
        };
        held.add(&record, self.block_bytes_max);
        let total: Option<u64> =
            record.fields.get(name::SEGMENT_TOTAL_LENGTH).and_then(|value| value.parse().ok());
        let held = total.and_then(|_| self.held.take())?;
        Some(held.finished(total))
    }
}

impl Held {
    fn add(&mut self, part: &Record, block_bytes_max: usize) {
        if self.record.is_whole() {
            let room = block_bytes_max.saturating_sub(self.record.block.len());
            self.record.block.extend_from_slice(part.block.get(..room).unwrap_or(&part.block));
        }
        self.record.block_bytes = self.record.block_bytes.saturating_add(part.block_bytes);
        self.parts += 1;
    }
    fn finished(self, total: Option<u64>) -> Logical {
        if total != Some(self.record.block_bytes) {
            return self.unfinished(OTHER_LENGTH);
        }
        Logical { record: self.record, segments: Segments::Joined(self.parts) }
    }
    fn unfinished(self, why: &'static str) -> Logical {
        incomplete(self.record, self.parts, why)
    }
}

fn incomplete(record: Record, parts: u32, why: &'static str) -> Logical {
    Logical { record, segments: Segments::Incomplete { parts, why } }
}

fn number_of(record: &Record) -> Option<u32> {
    record.fields.get(name::SEGMENT_NUMBER)?.parse().ok()
}

impl<I, E> Iterator for Joined<I>
where
    I: Iterator<Item = Result<Record, E>>,
{
    type Item = Result<Logical, E>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.records.next() {
                Some(Ok(record)) => {
                    if let Some(done) = self.take(record) {
                        return Some(Ok(done));
                    }
                }
                Some(Err(error)) => return Some(Err(error)),
                None => return self.held.take().map(|held| Ok(held.unfinished(NO_LAST))),
            }
        }
    }
}
