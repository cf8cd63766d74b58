//! Records that are due, returned together.

use crate::record::{DueRecord, RECORD_BYTES_MAX};
use base::disk::AlignedBytes;

/// Some records that are due. It is refilled by each [`crate::Store::next_due`] and keeps its memory.
#[derive(Debug, Default)]
pub struct Batch {
    pub(crate) bytes: AlignedBytes,
    /// Offsets of the records in the bytes.
    pub(crate) offsets: Vec<u32>,
}

impl Batch {
    /// An empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// How many records it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len()
    }
    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }
    /// About how many bytes its records take.
    pub(crate) fn record_bytes(&self) -> usize {
        match (self.offsets.first(), self.offsets.last()) {
            (Some(first), Some(last)) => {
                last.abs_diff(*first) as usize + RECORD_BYTES_MAX.min(self.bytes.len())
            }
            _ => 0,
        }
    }
    /// The records.
    pub fn records(&self) -> impl ExactSizeIterator<Item = DueRecord<'_>> {
        self.offsets.iter().map(|offset| DueRecord::read(&self.bytes[*offset as usize..]))
    }
    /// The records from place `from` on, at most `count`.
    pub fn slice(&self, from: usize, count: usize) -> impl ExactSizeIterator<Item = DueRecord<'_>> {
        let end = from.saturating_add(count).min(self.offsets.len());
        self.offsets[from.min(end)..end].iter().map(|offset| DueRecord::read(&self.bytes[*offset as usize..]))
    }
}
