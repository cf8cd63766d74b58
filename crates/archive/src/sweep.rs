//! Reads the compressed members of many captures in one sweep: in the order in which they lie on disk, from files that
//! stay open and through a window that is read in large pieces (A5, P1).
//!
//! **Invariant:** no member is handed out that does not match its sum, if that is known (M5). Memory is one window and
//! the member that is handed out.

use crate::entry::{Entry, Location, Stored};
use crate::error::Error;
use crate::fetch_record::{self, RECORD_BYTES_MAX};
use crate::reader::Reader;
use base::Sha1Digest;
use base::disk::DiskFile;
use bytes::{Bytes, BytesMut};
use rustix::fs::Advice;
use std::collections::VecDeque;
use std::io;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;

/// So much is read at once. Larger pieces are no faster from a disk that reads ahead, and take more cache.
const WINDOW_BYTES: usize = 1024 * 1024;

/// So much is called for ahead of who moves bytes: a disk that turns reads it in one go.
const AHEAD_BYTES: u64 = 8 * 1024 * 1024;

/// Where the bytes of a capture are, and what they have to be shown by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The record that holds the body.
    pub location: Location,
    /// The sum of its compressed bytes, if it is known.
    pub sum: Option<u32>,
    /// The head of the answer, where it is not the one in that record.
    pub head: Option<Vec<u8>>,
    /// The digest that the payload must have, where nothing else proves it.
    pub payload: Option<Sha1Digest>,
}

impl Reader {
    /// Where the bytes of a capture are. `None` when they are not in the archive, and for what has none.
    pub fn source(&self, entry: &Entry) -> Result<Option<Source>, Error> {
        match entry.kind {
            Stored::Response | Stored::Resource => {
                let (location, sum) = (entry.location.clone(), Some(entry.sum));
                Ok(Some(Source { location, sum, head: None, payload: None }))
            }
            Stored::Revisit => {
                let Some(location) = self.body_of(entry)? else { return Ok(None) };
                let head = self.head_of(entry)?;
                Ok(Some(Source { location, sum: None, head, payload: entry.payload }))
            }
            Stored::Metadata | Stored::Other => Ok(None),
        }
    }
}

/// The window into one file.
///
/// A member that is handed out is a part of the window, which lives as long as any of its parts.
#[derive(Debug)]
pub struct Sweep {
    reader: Reader,
    open: Option<Opened>,
    window: Bytes,
    from: u64,
    /// Windows that were used up, to be filled again when nobody holds a part of them any more.
    used: VecDeque<Bytes>,
}

/// So many used windows are kept.
const USED_MAX: usize = 16;

#[derive(Debug)]
struct Opened {
    name: Arc<str>,
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    length: u64,
    /// Up to here it was called for.
    called: u64,
}

impl Sweep {
    /// Reads from the archive that `reader` sees.
    #[must_use]
    pub fn new(reader: &Reader) -> Self {
        Self { reader: reader.clone(), open: None, window: Bytes::new(), from: 0, used: VecDeque::new() }
    }

    /// The compressed bytes of the record at `location`, which must have the sum `sum` if that is known.
    pub fn member(&mut self, location: &Location, sum: Option<u32>) -> Result<Bytes, Error> {
        let (from, to) = self.fill(location)?;
        let member = self.window.slice(from..to);
        if sum.is_some_and(|sum| sum != crc32c::crc32c(&member)) {
            return Err(self.damaged(location, "its bytes do not match the sum they were stored with"));
        }
        Ok(member)
    }

    /// The file that holds the record at `location`, for who moves its bytes without looking at them: they are all there,
    /// and on their way from the disk. Whether they match their sum is for whoever looks at them.
    pub fn file(&mut self, location: &Location) -> Result<Arc<dyn DiskFile>, Error> {
        self.open(&location.file)?;
        let end = location.offset.saturating_add(location.length);
        let damaged = self.damaged(location, "the file ends before it does");
        let Some(open) = self.open.as_mut() else { return Err(damaged) };
        if end > open.length {
            // It may have grown since it was opened.
            open.length = open.file.length().map_err(|source| Error::io("read", &open.path, source))?;
        }
        if end > open.length || location.length > RECORD_BYTES_MAX {
            return Err(damaged);
        }
        if end > open.called {
            let (from, more) = (open.called.max(location.offset), AHEAD_BYTES.max(location.length));
            open.called = from + more;
            if let Some(file) = open.file.as_file() {
                // A system that does not listen reads later, and nothing else.
                let _ = rustix::fs::fadvise(file, from, NonZeroU64::new(more), Advice::WillNeed);
            }
        }
        Ok(Arc::clone(&open.file))
    }

    /// Sees to it that the window holds the record, and says where.
    fn fill(&mut self, location: &Location) -> Result<(usize, usize), Error> {
        if location.length > RECORD_BYTES_MAX {
            return Err(self.damaged(location, "it is too long to be read"));
        }
        self.open(&location.file)?;
        let length = usize::try_from(location.length).unwrap_or(usize::MAX);
        let has = |window: &Bytes, from: u64| {
            let start = usize::try_from(location.offset.checked_sub(from)?).ok()?;
            let end = start.checked_add(length).filter(|end| *end <= window.len())?;
            Some((start, end))
        };
        if let Some(found) = has(&self.window, self.from) {
            return Ok(found);
        }
        self.read(location, length)?;
        has(&self.window, self.from).ok_or_else(|| self.damaged(location, "the file ends before it does"))
    }

    fn open(&mut self, name: &Arc<str>) -> Result<(), Error> {
        if self.open.as_ref().is_some_and(|open| open.name == *name) {
            return Ok(());
        }
        self.window = Bytes::new();
        let (file, path) = fetch_record::open(&*self.reader.disk, &self.reader.directory, name)?;
        let length = file.length().map_err(|source| Error::io("read", &path, source))?;
        self.open = Some(Opened { name: Arc::clone(name), file, path, length, called: 0 });
        Ok(())
    }

    fn read(&mut self, location: &Location, length: usize) -> Result<(), Error> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let wanted = location.offset.saturating_add(length.max(WINDOW_BYTES) as u64);
        if wanted > open.length {
            // It may have grown since it was opened.
            open.length = open.file.length().map_err(|source| Error::io("read", &open.path, source))?;
        }
        let bytes = wanted.min(open.length).saturating_sub(location.offset);
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let mut room = empty_window(&mut self.used, std::mem::take(&mut self.window), bytes);
        let read = open.file.read_at(location.offset, &mut room);
        match read {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => room.clear(),
            read => read.map_err(|source| Error::io("read", &open.path, source))?,
        }
        (self.window, self.from) = (room.freeze(), location.offset);
        Ok(())
    }

    fn damaged(&self, location: &Location, what: &'static str) -> Error {
        let path = self.reader.directory.join(&*location.file);
        Error::Damaged { path, offset: location.offset, what }
    }
}

/// Room for so many bytes: a window that nobody holds a part of, or a new one.
fn empty_window(used: &mut VecDeque<Bytes>, last: Bytes, bytes: usize) -> BytesMut {
    if last.len() == WINDOW_BYTES {
        used.push_back(last);
    }
    let free = used.iter().position(Bytes::is_unique).filter(|_| bytes <= WINDOW_BYTES);
    let free = free.and_then(|place| used.remove(place)).and_then(|window| window.try_into_mut().ok());
    if used.len() > USED_MAX {
        used.pop_front();
    }
    let mut room = free.unwrap_or_default();
    room.resize(bytes, 0);
    room
}
