//! Reads an archive file that its fixity file does not cover, and returns what it holds.

use super::copy::in_pieces;
use super::name;
use super::scan::{Scan, is_marked};
use super::sums::{Batch, Sum};
use crate::capture::describe::{self, Role};
use crate::capture::entry::{Entry, Key};
use crate::error::Error;
use crate::index::Files;
use crate::index::row::Row;
use base::Timestamp;
use base::disk::{Disk, DiskFile, Open};
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use warc::Record;

/// What a file holds, found by reading it.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) captures: u64,
    /// Where the last whole capture ends.
    pub(crate) kept_bytes: u64,
    /// Where the last batch begins.
    pub(crate) last_batch: u64,
    pub(crate) damaged_offsets: Vec<u64>,
    /// Its contents up to there, to be written as checksums.
    pub(crate) batches: Vec<Batch>,
    pub(crate) references: References,
}

/// The captures that revisits refer to, by the offsets of the revisits.
pub(crate) type References = HashMap<u64, (Key, Timestamp)>;

/// Maximum number of records that one frame covers.
const BATCH_RECORDS_MAX: usize = 4_096;

/// Reads the file from the position of `scan`.
pub(crate) fn survey(disk: &dyn Disk, scan: Scan, path: &Path, files: &mut Files) -> Result<Survey, Error> {
    let bytes = disk.open(path, Open::Read).map_err(|source| Error::io("open", path, source))?;
    let (name, from, file_bytes) = (scan.name(), scan.position(), scan.file_bytes());
    let is_open = name::is_open(path);
    let mut surveyor = Surveyor {
        path,
        bytes,
        name,
        files,
        survey: Survey { kept_bytes: from, last_batch: from, ..Survey::default() },
        batch: Batch { from, ..Batch::default() },
        position: from,
        group: None,
    };
    for record in scan {
        match record {
            Ok(record) => surveyor.take(&record)?,
            Err(Error::Damaged { offset, .. }) => surveyor.survey.damaged_offsets.push(offset),
            Err(error) => return Err(error),
        }
    }
    if !is_open {
        surveyor.cover_gap(file_bytes)?;
        surveyor.end_group();
        surveyor.survey.kept_bytes = file_bytes;
    }
    Ok(surveyor.finish())
}

struct Surveyor<'s> {
    path: &'s Path,
    bytes: Arc<dyn DiskFile>,
    name: Arc<str>,
    files: &'s mut Files,
    survey: Survey,
    /// What was read, up to `position`.
    batch: Batch,
    position: u64,
    /// The capture whose records are being read, and how many are missing.
    group: Option<(Entry, u64)>,
}

impl Surveyor<'_> {
    fn take(&mut self, record: &Record) -> Result<(), Error> {
        self.cover_gap(record.offset)?;
        if is_marked(record) {
            self.survey.last_batch = record.offset;
            self.survey.kept_bytes = self.survey.kept_bytes.max(record.offset);
        }
        let sum = self.cover(record.length)?;
        match describe::role(record, &self.name) {
            Role::Warcinfo | Role::Removed => {
                self.end_group();
                self.kept();
            }
            Role::First(records) => {
                self.end_group();
                let entry = describe::entry(record, &self.name).map(|entry| Entry { sum, ..entry });
                if let Some(reference) = describe::reference(record) {
                    self.survey.references.insert(record.offset, reference);
                }
                self.group = entry.map(|entry| (entry, records.saturating_sub(1)));
                self.end_whole_group();
            }
            Role::Companion => {
                if let Some((entry, left)) = &mut self.group {
                    entry.group_bytes += record.length;
                    *left = left.saturating_sub(1);
                    self.end_whole_group();
                } else {
                    self.kept();
                }
            }
        }
        Ok(())
    }

    fn end_whole_group(&mut self) {
        if self.group.as_ref().is_none_or(|(_, left)| *left == 0) {
            self.end_group();
            self.kept();
        }
    }
    /// Everything so far is whole.
    fn kept(&mut self) {
        self.survey.kept_bytes = self.position;
        if self.batch.records.len() >= BATCH_RECORDS_MAX {
            self.end_batch();
        }
    }
    fn end_group(&mut self) {
        if let Some((entry, _)) = self.group.take() {
            let row = Row::of(&entry, self.files);
            self.batch.captures.push((entry.key.as_str().into(), row));
            self.survey.captures += 1;
        }
    }
    fn end_batch(&mut self) {
        let next = Batch { from: self.batch.to(), ..Batch::default() };
        let batch = std::mem::replace(&mut self.batch, next);
        if !batch.records.is_empty() {
            self.survey.batches.push(batch);
        }
    }

    /// Covers the damaged bytes between two records, so that further changes to them are detected.
    fn cover_gap(&mut self, to: u64) -> Result<(), Error> {
        if to > self.position { self.cover(to - self.position).map(drop) } else { Ok(()) }
    }
    fn cover(&mut self, length: u64) -> Result<u32, Error> {
        let sum = sum_of(&*self.bytes, self.position, length)
            .map_err(|source| Error::io("read", self.path, source))?;
        self.batch.records.push(Sum { length, sum });
        self.position += length;
        Ok(sum)
    }

    /// What is not kept is not covered either.
    fn finish(mut self) -> Survey {
        while self.batch.to() > self.survey.kept_bytes && !self.batch.records.is_empty() {
            self.batch.records.pop();
        }
        self.end_batch();
        self.survey
    }
}

/// The CRC-32C of a part of a file.
fn sum_of(file: &dyn DiskFile, offset: u64, length: u64) -> io::Result<u32> {
    let mut sum = 0;
    in_pieces(file, offset, offset + length, |_, piece| {
        sum = crc32c::crc32c_append(sum, piece);
        Ok(())
    })?;
    Ok(sum)
}
