//! Locates the bytes of many captures in disk order, for callers that pass them on unread (A5, P1).
//!
//! **Invariant:** a returned file is long enough. One file is open at a time, and its bytes are not held in memory. The
//! reader of the bytes compares them with their checksum.
//!
//! A takedown replaces a file by a new one. A caller that has the old one open still reads its old content.

use crate::capture::entry::{Entry, Location, Stored};
use crate::error::Error;
use crate::files::fetch_record::{self, RECORD_BYTES_MAX};
use crate::reading::reader::Reader;
use base::Sha1Digest;
use base::disk::DiskFile;
use rustix::fs::Advice;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes requested ahead of a sequential reader, so that a rotating disk reads them at once.
const AHEAD_BYTES: u64 = 8 * 1024 * 1024;
/// A record that begins at most this far after the previous one counts as sequential.
const NEAR_BYTES: u64 = 1024 * 1024;

/// Where the bytes of a capture are, and what is needed to return and check them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentSource {
    /// The record that holds the body.
    pub location: Location,
    /// The checksum of its compressed bytes, if it is known.
    pub sum: Option<u32>,
    /// The head of the answer, where it is not the one in that record.
    pub head: Option<Vec<u8>>,
    /// The digest that the payload must have, if there is no other check.
    pub payload: Option<Sha1Digest>,
}

impl Reader {
    /// The compressed bytes of the record at `location`, whatever they are.
    pub fn member_at(&self, location: &Location) -> Result<Vec<u8>, Error> {
        fetch_record::member(&*self.disk, &self.directory, location, None)
    }

    /// Where the bytes of a capture are. `None` when they are not in the archive, and for entries without content.
    pub fn source(&self, entry: &Entry) -> Result<Option<ContentSource>, Error> {
        match entry.kind {
            Stored::Response | Stored::Resource => {
                let (location, sum) = (entry.location.clone(), Some(entry.sum));
                Ok(Some(ContentSource { location, sum, head: None, payload: None }))
            }
            Stored::Revisit => {
                let Some(location) = self.body_of(entry)? else { return Ok(None) };
                let head = self.head_of(entry)?;
                Ok(Some(ContentSource { location, sum: None, head, payload: entry.payload }))
            }
            Stored::Metadata | Stored::Other => Ok(None),
        }
    }
}

/// Opens the files of records, each once for consecutive records in it.
#[derive(Debug)]
pub struct Sweep {
    reader: Reader,
    open: Option<Opened>,
}

#[derive(Debug)]
struct Opened {
    name: Arc<str>,
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    length: u64,
    ahead: Ahead,
}

impl Sweep {
    /// Reads from the archive that `reader` sees.
    #[must_use]
    pub fn new(reader: &Reader) -> Self {
        Self { reader: reader.clone(), open: None }
    }

    /// The file that holds the record at `location`. All of it exists and is requested from the disk.
    pub fn file(&mut self, location: &Location) -> Result<Arc<dyn DiskFile>, Error> {
        let path = self.reader.directory.join(&*location.file);
        let damaged = |what| Error::Damaged { path, offset: location.offset, what };
        let open = match self.open.take().filter(|open| open.name == location.file) {
            Some(open) => open,
            None => self.open_anew(&location.file)?,
        };
        let open = self.open.insert(open);
        let end = location.offset.saturating_add(location.length);
        if end > open.length {
            // It may have grown since it was opened.
            open.length = open.file.length().map_err(|source| Error::io("read", &open.path, source))?;
        }
        if end > open.length || location.length > RECORD_BYTES_MAX {
            return Err(damaged("the file ends before it does"));
        }
        if let Some((from, bytes)) = open.ahead.call(location.offset, location.length)
            && let Some(file) = open.file.as_file()
        {
            // A system that ignores the advice only reads later.
            let _ = rustix::fs::fadvise(file, from, NonZeroU64::new(bytes), Advice::WillNeed);
        }
        Ok(Arc::clone(&open.file))
    }

    fn open_anew(&self, name: &Arc<str>) -> Result<Opened, Error> {
        let (file, path) = fetch_record::open(&*self.reader.disk, &self.reader.directory, name)?;
        let length = file.length().map_err(|source| Error::io("read", &path, source))?;
        Ok(Opened { name: Arc::clone(name), file, path, length, ahead: Ahead::default() })
    }
}

/// The bytes requested ahead.
#[derive(Debug, Default)]
struct Ahead {
    /// Where the last record ended.
    read: u64,
    /// Where the requested bytes end.
    called: u64,
}

impl Ahead {
    /// The range to request when a record is about to be read: its start and length. Where records are far apart this
    /// is the record alone; where they are sequential it grows each time, so that a read is always in progress.
    fn call(&mut self, offset: u64, length: u64) -> Option<(u64, u64)> {
        let end = offset.saturating_add(length);
        let is_near = offset >= self.read && offset - self.read <= NEAR_BYTES;
        self.read = end;
        if !is_near {
            self.called = end;
            return Some((offset, length));
        }
        if end.saturating_add(AHEAD_BYTES / 2) <= self.called {
            return None;
        }
        let from = self.called.max(offset);
        self.called = end.saturating_add(AHEAD_BYTES);
        Some((from, self.called - from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequential_records_are_requested_once_and_distant_ones_alone() {
        let mut ahead = Ahead::default();
        assert_eq!(ahead.call(0, 10), Some((0, 10 + AHEAD_BYTES)));
        assert_eq!(ahead.call(10, 90), None);
        let middle = 10 + AHEAD_BYTES / 2;
        (100..middle - 10).step_by(10_000).for_each(|offset| assert_eq!(ahead.call(offset, 10), None));
        assert_eq!(ahead.call(middle, 10), Some((10 + AHEAD_BYTES, AHEAD_BYTES / 2 + 10)));
        assert_eq!(ahead.call(1 << 40, 10), Some((1 << 40, 10)), "far off");
        assert_eq!(ahead.call(0, 10), Some((0, 10)), "back");
        assert!(ahead.call(100, u64::MAX).is_some(), "an impossible length does not panic");
    }
}
