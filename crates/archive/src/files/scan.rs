//! The records of one file in order. Damage is distinguished from the end of a file that still grows.
//!
//! A crash can leave anything after the last sync: nothing, half a record, zeros, or a whole record after a hole. Bit
//! rot can damage a record anywhere. To tell them apart, the first record of every batch says how much of the file was
//! durable when it was written ([`SYNCED_BYTES`]). Damage before such a record was durable once and is reported; damage
//! without one after it is the end of an unfinished batch and is not reported.
//!
//! **Invariant:** after damage, only records whose id proves that they belong to their offset are returned; the body of
//! a damaged record may contain what looks like a record (H16).

use crate::capture::describe::field;
use crate::error::Error;
use crate::files::name;
use base::disk::{Disk, DiskFile, Open};
use base::limits::RECORD_BLOCK_BYTES_MAX;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warc::{Record, RecordId, WarcReader};

/// The field that says how many bytes of the file were durable when the record was written.
pub(crate) const SYNCED_BYTES: &str = "Utsushi-Synced-Bytes";

/// Maximum bytes read of a block: the longest that is written.
const BLOCK_BYTES_MAX: usize = RECORD_BLOCK_BYTES_MAX;

/// Reads a file from its beginning.
#[derive(Debug)]
pub(crate) struct Scan {
    path: PathBuf,
    name: Arc<str>,
    is_open: bool,
    cursor: Cursor,
    reader: WarcReader<Cursor>,
    /// Where reading began.
    from: u64,
    is_behind_damage: bool,
    /// Whether no record has been found since the last damage; further damage is then part of it.
    is_lost: bool,
}

impl Scan {
    /// Begins to read the file at `path` from `from`, where a record begins; a file finished meanwhile is read under
    /// its final name; `None` if it has vanished.
    pub(crate) fn open(disk: &dyn Disk, path: &Path, from: u64) -> Result<Option<Self>, Error> {
        let Some(name) = name::closed_name(path).map(Arc::from) else { return Ok(None) };
        let closed = path.with_file_name(&*name);
        for path in [path, &closed] {
            match disk.open(path, Open::Read).and_then(Cursor::new) {
                Ok(cursor) => return Ok(Some(Self::new(path, name, cursor, from))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("open", path, error)),
            }
        }
        Ok(None)
    }

    fn new(path: &Path, name: Arc<str>, cursor: Cursor, from: u64) -> Self {
        let reader =
            WarcReader::starting_at(Cursor { position: from, ..cursor.clone() }, from, BLOCK_BYTES_MAX);
        let (path, is_open) = (path.to_owned(), name::is_open(path));
        Self { path, name, is_open, cursor, reader, from, is_behind_damage: false, is_lost: false }
    }
    /// The name the file has when it is finished.
    pub(crate) fn name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }
    /// The file that is read.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
    /// Where reading began.
    pub(crate) fn position(&self) -> u64 {
        self.from
    }
    /// How long the file was when it was opened.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.cursor.length
    }

    /// The next record that is whole, or damage, or the end.
    fn advance(&mut self) -> Result<Option<Record>, Error> {
        loop {
            match self.reader.next() {
                None => return Ok(None),
                Some(Ok(record)) if self.is_behind_damage && !belongs(&record, &self.name) => {
                    self.resume()?;
                }
                Some(Ok(record)) if record.digest_holds() == Some(false) => {
                    return Err(self.damaged(record.offset, "its block does not match its digest"));
                }
                Some(Ok(record)) => {
                    self.is_lost = false;
                    return Ok(Some(record));
                }
                Some(Err(warc::Error::Damaged { .. } | warc::Error::Cut(_))) if self.is_lost => {
                    self.resume()?;
                }
                Some(Err(warc::Error::Damaged { offset, what })) => return self.step_over(offset, what),
                Some(Err(warc::Error::Cut(tail))) => {
                    return self.step_over(tail.good_bytes, "the file ends inside it");
                }
                Some(Err(error)) => return Err(self.unreadable(error)),
            }
        }
    }

    /// Reports damage and continues after it, unless it is the end of an unfinished batch.
    fn step_over(&mut self, offset: u64, what: &'static str) -> Result<Option<Record>, Error> {
        if self.is_open && !self.was_synced_after(offset)? {
            return Ok(None);
        }
        (self.is_behind_damage, self.is_lost) = (true, true);
        self.resume()?;
        Err(self.damaged(offset, what))
    }

    /// Whether a record after `offset` says that everything before it was durable.
    fn was_synced_after(&self, offset: u64) -> Result<bool, Error> {
        let mut reader = WarcReader::starting_at(self.cursor.clone(), offset, 0);
        let mut is_left = reader.resume().map_err(|error| self.unreadable(error))?;
        while is_left {
            match reader.next() {
                Some(Ok(record)) if belongs(&record, &self.name) => {
                    if is_marked(&record) {
                        return Ok(true);
                    }
                }
                Some(_) => is_left = reader.resume().map_err(|error| self.unreadable(error))?,
                None => is_left = false,
            }
        }
        Ok(false)
    }

    fn resume(&mut self) -> Result<(), Error> {
        self.reader.resume().map(drop).map_err(|error| self.unreadable(error))
    }
    fn damaged(&self, offset: u64, what: &'static str) -> Error {
        Error::Damaged { path: self.path.clone(), offset, what }
    }
    fn unreadable(&self, error: warc::Error) -> Error {
        Error::io("read", &self.path, io::Error::other(error))
    }
}

impl Iterator for Scan {
    type Item = Result<Record, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

/// Whether a record proves that it belongs to its location in `file`: by its id, or for an imported record by a field.
fn belongs(record: &Record, file: &str) -> bool {
    let expected = || Some(RecordId::at(file, record.offset, record.date()?, &record.kind()));
    let stated = record.fields.get(field::PLACE);
    record.belongs_to(file) || stated.is_some_and(|stated| expected().is_some_and(|id| id.as_str() == stated))
}

/// Whether the record says that everything before it was durable when it was written.
pub(crate) fn is_marked(record: &Record) -> bool {
    record.fields.get(SYNCED_BYTES).and_then(|value| value.parse().ok()) == Some(record.offset)
}

/// A position in a file; the end is that of the moment when the cursor was made.
#[derive(Clone, Debug)]
struct Cursor {
    file: Arc<dyn DiskFile>,
    length: u64,
    position: u64,
}

impl Cursor {
    fn new(file: Arc<dyn DiskFile>) -> io::Result<Self> {
        Ok(Self { length: file.length()?, file, position: 0 })
    }
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.length.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let (buffer, _) = buffer.split_at_mut(wanted);
        self.file.read_at(self.position, buffer)?;
        self.position += wanted as u64;
        Ok(wanted)
    }
}

impl Seek for Cursor {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
        };
        self.position = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
