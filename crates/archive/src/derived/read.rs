//! Reads the table while it is written (D1): no lock, and few journals in memory at a time.
//!
//! A journal is read when it is first needed, and again when a capture after its end is needed and it has grown. Look
//! up many captures in the order of their locations, so that each journal is read once.

use super::Facts;
use super::journal::{Journal, path_of};
use crate::capture::entry::{Entry, Location, Stored};
use crate::error::Error;
use base::disk::{Disk, Open};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of journals held at a time.
const JOURNALS_MAX: usize = 3;

/// Reads what is known about captures after their content was read.
#[derive(Debug)]
pub struct DerivedReader {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    /// The most recently used, the latest at the end.
    held: Mutex<VecDeque<Arc<Held>>>,
}

#[derive(Debug)]
struct Held {
    file: Arc<str>,
    journal: Journal,
    /// Every row, by its offset: where it begins in the journal.
    rows: Vec<(u64, u32)>,
    /// How long the journal was.
    bytes: u64,
}

impl DerivedReader {
    /// A reader of the table beside the archive files in `directory`. The table may not exist.
    pub fn open(disk: Arc<dyn Disk>, directory: &Path) -> Self {
        Self { disk, directory: directory.to_owned(), held: Mutex::default() }
    }

    /// What is known about the capture whose first record is there.
    pub fn get(&self, location: &Location) -> Result<Option<Facts>, Error> {
        let held = self.held(location)?;
        let found = held.rows.binary_search_by_key(&location.offset, |(offset, _)| *offset);
        Ok(found
            .ok()
            .and_then(|number| held.rows.get(number))
            .and_then(|(_, place)| held.journal.facts_at(*place)))
    }
    /// Whether the capture whose first record is there was read, whatever was found.
    pub fn is_read(&self, location: &Location) -> Result<bool, Error> {
        self.held(location).map(|held| location.offset < held.journal.covered)
    }

    /// What is known about the content of a capture, or about the content that a revisit refers to.
    pub fn of(&self, entry: &Entry, archive: &crate::Reader) -> Result<DerivedFacts, Error> {
        if matches!(entry.kind, Stored::Metadata | Stored::Other) {
            return Ok(DerivedFacts::Nothing);
        }
        let Some(location) = archive.body_of(entry)? else { return Ok(DerivedFacts::Nothing) };
        match self.get(&location)? {
            Some(facts) => Ok(DerivedFacts::Known(facts)),
            None if self.is_read(&location)? => Ok(DerivedFacts::Nothing),
            None => Ok(DerivedFacts::Unread),
        }
    }

    /// Whether there is a table at all.
    pub fn exists(&self) -> Result<bool, Error> {
        super::write::journals(&*self.disk, &self.directory).map(|files| !files.is_empty())
    }

    fn held(&self, location: &Location) -> Result<Arc<Held>, Error> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            held.iter().position(|held| held.file == location.file).and_then(|place| held.remove(place));
        let known = match known {
            Some(known) if location.offset < known.journal.covered || !self.has_grown(&known) => known,
            _ => Arc::new(self.read(&location.file)?),
        };
        if held.len() >= JOURNALS_MAX {
            held.pop_front();
        }
        held.push_back(Arc::clone(&known));
        Ok(known)
    }

    fn has_grown(&self, known: &Held) -> bool {
        let length =
            self.disk.open(&path_of(&self.directory, &known.file), Open::Read).and_then(|file| file.length());
        length.is_ok_and(|length| length != known.bytes)
    }

    fn read(&self, file: &Arc<str>) -> Result<Held, Error> {
        let mut journal = Journal::read(&*self.disk, &self.directory, file)?.unwrap_or_default();
        let rows = std::mem::take(&mut journal.frames).into_iter().flat_map(|frame| frame.rows).collect();
        let bytes = journal.bytes.len() as u64;
        Ok(Held { file: Arc::clone(file), journal, rows, bytes })
    }
}

impl crate::Reader {
    /// What is known of captures after their content was read.
    #[must_use]
    pub fn derived(&self) -> DerivedReader {
        DerivedReader::open(Arc::clone(&self.disk), &self.directory)
    }
}

/// What the table holds about a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DerivedFacts {
    /// These facts.
    Known(Facts),
    /// There is no content, or nothing is known about it.
    Nothing,
    /// Its content has not been read yet.
    Unread,
}
