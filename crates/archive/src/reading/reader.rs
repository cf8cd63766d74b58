//! Reads an archive while others may write to it (D1).
//!
//! A reader takes no lock. It reads the published generation of the index once, opens its runs, and adds what the
//! checksums of younger files say; after that it sees the archive as of that moment.
//!
//! **Invariant:** no byte is returned that does not match its checksum and its digest (M5).

use crate::capture::describe::{self, framing, split_answer, visit};
use crate::capture::entry::{ContentKey, Entry, Key, Location, Stored};
use crate::error::Error;
use crate::files::directory::{files, is_in_motion};
use crate::files::fetch_record;
use crate::files::name::closed_name;
use crate::files::scan::Scan;
use crate::files::sums;
use crate::files::survey::survey;
use crate::index::Files;
use crate::index::Run;
use crate::index::memory::Memory;
use crate::index::row::{Place, Row};
use crate::index::{self, DIRECTORY, PublishedRuns};
use crate::index::{KeyBounds, Origin, Walk};
use crate::tombstone::{self, Takedown, Target};
use base::disk::Disk;
use base::{RefusalKind, Sha1Digest, Timestamp, http};
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warc::Record;

/// An archive as of the moment it was opened. Clones see the same.
#[derive(Clone, Debug)]
pub struct Reader {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) directory: PathBuf,
    pub(crate) files: Arc<Files>,
    pub(crate) origins: Vec<Origin>,
    runs: Vec<Arc<Run>>,
    memory: Arc<Memory>,
    /// What is taken down and not yet removed.
    hidden: Arc<HashSet<(Arc<str>, u64)>>,
}

/// Maximum number of rows outside runs that are read into memory; a writer leaves much fewer.
const MEMORY_ROWS_READ_MAX: u64 = 8 * index::MEMORY_ROWS_MAX;

/// How often a reader starts again when the writer finishes files or merges runs meanwhile.
const ATTEMPTS_MAX: usize = 8;

impl Reader {
    /// Opens the archive in `directory`. A directory that does not exist is an empty archive.
    pub fn open(disk: Arc<dyn Disk>, directory: &Path) -> Result<Self, Error> {
        for _ in 1..ATTEMPTS_MAX {
            match Self::try_open(Arc::clone(&disk), directory) {
                Err(Error::Io { source, .. }) if is_in_motion(&source) => {}
                result => return result,
            }
        }
        Self::try_open(disk, directory)
    }

    fn try_open(disk: Arc<dyn Disk>, directory: &Path) -> Result<Self, Error> {
        let mut names = Files::default();
        let published = PublishedRuns::open(&*disk, &directory.join(DIRECTORY), &mut names)?;
        let mut memory = Memory::default();
        for path in files(&*disk, directory)? {
            let Some(file) = closed_name(&path) else { continue };
            if !published.covers(file) {
                load(&*disk, &path, file, &mut names, &mut memory)?;
                if memory.count() > MEMORY_ROWS_READ_MAX {
                    let what = "it covers too few of the archive files to be read";
                    return Err(Error::IndexDamaged { path: directory.join(DIRECTORY), what });
                }
            }
        }
        let runs = published.runs;
        let in_memory = (memory.count() > 0).then(|| Origin::Memory(Arc::new(memory.to_rows())));
        let origins = runs.iter().map(|run| Origin::Run(Arc::clone(run))).chain(in_memory).collect();
        let (files, memory) = (Arc::new(names), Arc::new(memory));
        let (directory, hidden) = (directory.to_owned(), Arc::default());
        let mut reader = Self { disk, directory, files, origins, runs, memory, hidden };
        reader.hide()?;
        Ok(reader)
    }

    /// What is taken down is hidden, even while the files are still being rewritten.
    fn hide(&mut self) -> Result<(), Error> {
        let notes = self.takedown_notes()?;
        self.hidden = Arc::new(tombstone::hidden(&*self.disk, &self.directory, &notes, &self.files)?);
        Ok(())
    }
    /// What was taken down, oldest first.
    pub fn takedowns(&self) -> Result<Vec<Takedown>, Error> {
        tombstone::listed_all(&*self.disk, &self.directory, &self.takedown_notes()?, &self.files)
    }
    /// What was taken down and must not be visited again.
    pub fn taken_down(&self) -> Result<Vec<Target>, Error> {
        Ok(self.takedowns()?.into_iter().map(|takedown| takedown.target).collect())
    }
    fn takedown_notes(&self) -> Result<Vec<(String, Row)>, Error> {
        let mut notes = Vec::new();
        let mut walk = Walk::new(&self.origins, &self.files, &tombstone::notes())?;
        while let Some((_, row)) = walk.current() {
            notes.push((walk.key_text().to_owned(), row.clone()));
            walk.step()?;
        }
        Ok(notes)
    }
    /// Whether a row is taken down.
    #[inline]
    pub(crate) fn is_hidden(hidden: &HashSet<(Arc<str>, u64)>, row: &Row, files: &Files) -> bool {
        !hidden.is_empty() && hidden.contains(&(Arc::clone(files.name(row.place.file)), row.place.offset))
    }
    pub(crate) fn hidden(&self) -> &Arc<HashSet<(Arc<str>, u64)>> {
        &self.hidden
    }

    /// Number of captures in the index.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.memory.count() + self.runs.iter().map(|run| run.entries()).sum::<u64>()
    }
    /// Bytes of the index runs.
    #[must_use]
    pub fn index_bytes(&self) -> u64 {
        self.runs.iter().map(|run| run.bytes()).sum()
    }

    /// The captures of a page, newest first.
    pub fn newest_first(
        &self,
        key: &Key,
    ) -> Result<impl Iterator<Item = Result<Entry, Error>> + use<>, Error> {
        let bytes = key.as_str().as_bytes();
        let may_hold = |origin: &&Origin| match origin {
            Origin::Run(run) => run.may_hold(bytes),
            Origin::Memory(_) => true,
        };
        let origins: Vec<Origin> = self.origins.iter().filter(may_hold).cloned().collect();
        self.walk(&origins, &KeyBounds::one(key.as_str().as_bytes()))
    }
    /// Every capture, in the reverse order of the index: by key, then by moment.
    pub fn all(&self) -> Result<impl Iterator<Item = Result<Entry, Error>> + use<>, Error> {
        self.walk(&self.origins, &KeyBounds::all())
    }
    /// Every capture whose key begins with `prefix`, in the reverse order of the index.
    pub fn with_prefix(
        &self,
        prefix: &str,
    ) -> Result<impl Iterator<Item = Result<Entry, Error>> + use<>, Error> {
        self.walk(&self.origins, &KeyBounds::prefix(prefix.as_bytes()))
    }

    fn walk(
        &self,
        origins: &[Origin],
        range: &KeyBounds,
    ) -> Result<impl Iterator<Item = Result<Entry, Error>> + use<>, Error> {
        let mut walk = Walk::new(origins, &self.files, range)?;
        let (files, hidden) = (Arc::clone(&self.files), Arc::clone(&self.hidden));
        let mut failed = false;
        Ok(std::iter::from_fn(move || {
            if failed {
                return None;
            }
            loop {
                let (is_hidden, entry) = {
                    let (_, row) = walk.current()?;
                    (Self::is_hidden(&hidden, row, &files), row.entry(walk.key_text(), &files))
                };
                if let Err(error) = walk.step() {
                    failed = true;
                    return Some(Err(error.into()));
                }
                if !is_hidden {
                    return Some(Ok(entry));
                }
            }
        }))
    }

    /// The compressed bytes of the first record of a capture.
    pub fn member(&self, entry: &Entry) -> Result<Vec<u8>, Error> {
        fetch_record::member(&*self.disk, &self.directory, &entry.location, Some(entry.sum))
    }
    /// The first record of a capture.
    pub fn record(&self, entry: &Entry) -> Result<Record, Error> {
        fetch_record::record(&*self.disk, &self.directory, &entry.location, Some(entry.sum))
    }
    /// Why a visit was not made; `None` if it was made.
    pub fn refusal(&self, entry: &Entry) -> Result<Option<RefusalKind>, Error> {
        if entry.kind != Stored::Metadata {
            return Ok(None);
        }
        let record = self.record(entry)?;
        let fields = warc::Fields::read(&record.block).ok();
        Ok(fields.and_then(|fields| RefusalKind::named(&fields.decoded(visit::REFUSAL)?)))
    }
    /// The record at a place.
    pub fn record_at(&self, location: &Location) -> Result<Record, Error> {
        fetch_record::record(&*self.disk, &self.directory, location, None)
    }
    /// The compressed bytes of all records of a capture.
    pub fn group(&self, entry: &Entry) -> Result<Vec<u8>, Error> {
        let whole = Location { length: entry.group_bytes, ..entry.location.clone() };
        let bytes = fetch_record::member(&*self.disk, &self.directory, &whole, None)?;
        self.check_group(entry, &bytes)?;
        Ok(bytes)
    }

    /// The first record must match its checksum. The others have none in the index; each of their blocks must match its
    /// digest.
    fn check_group(&self, entry: &Entry, bytes: &[u8]) -> Result<(), Error> {
        let path = || self.directory.join(&*entry.location.file);
        let damaged =
            |offset, what| Error::Damaged { path: path(), offset: entry.location.offset + offset, what };
        let first = usize::try_from(entry.location.length).unwrap_or(usize::MAX);
        let (first, companions) =
            bytes.split_at_checked(first).ok_or_else(|| damaged(0, "its group is too short"))?;
        if crc32c::crc32c(first) != entry.sum {
            return Err(damaged(0, "its bytes do not match the checksum they were stored with"));
        }
        let behind = entry.location.offset + entry.location.length;
        self.check_records(&Location { offset: behind, ..entry.location.clone() }, companions)
    }

    /// Checks that every record of `bytes`, which are at `location`, can be read and matches its block digest.
    fn check_records(&self, location: &Location, bytes: &[u8]) -> Result<(), Error> {
        let damaged = |offset, what| Error::Damaged {
            path: self.directory.join(&*location.file),
            offset: location.offset + offset,
            what,
        };
        for record in warc::WarcReader::new(bytes, usize::MAX) {
            match record {
                Ok(record) if record.digest_holds() != Some(false) => {}
                Ok(record) => {
                    return Err(damaged(record.offset, "its block does not match its digest"));
                }
                Err(_) => return Err(damaged(0, "it cannot be read")),
            }
        }
        Ok(())
    }

    /// The record that holds the bytes of a capture: its own, or the one that a revisit refers to. `None` if that is
    /// not in the archive.
    pub fn body_of(&self, entry: &Entry) -> Result<Option<Location>, Error> {
        match (entry.kind, &entry.body, entry.payload) {
            (Stored::Response | Stored::Resource, _, _) => Ok(Some(entry.location.clone())),
            (Stored::Revisit, Some(location), _) => Ok(Some(location.clone())),
            (Stored::Revisit, None, Some(payload)) => {
                let referred = match describe::reference(&self.record(entry)?) {
                    Some((key, at)) => self.find_capture(&key, at, entry)?,
                    None => None,
                };
                match referred {
                    Some(location) => Ok(Some(location)),
                    None => Ok(self
                        .find_payload(payload, entry.content)?
                        .map(|place| place.location(&self.files))),
                }
            }
            _ => Ok(None),
        }
    }

    /// The content of a capture, including the bytes of a revisit.
    pub fn document(&self, entry: &Entry) -> Result<Document, Error> {
        self.document_of(entry, self.record(entry)?)
    }

    /// The same when the first record of the capture was read already.
    pub(crate) fn document_of(&self, entry: &Entry, record: Record) -> Result<Document, Error> {
        if entry.kind != Stored::Revisit {
            return Ok(Document::of(entry.kind, record.block));
        }
        let lost = |what| Error::Damaged {
            path: self.directory.join(&*entry.location.file),
            offset: entry.location.offset,
            what,
        };
        let location =
            self.body_of(entry)?.ok_or_else(|| lost("the bytes it refers to are not in the archive"))?;
        let original = Document::of(Stored::Response, self.record_at(&location)?.block);
        let is_same = entry.payload.is_none_or(|payload| payload == Sha1Digest::of(&[&original.payload()]));
        if !is_same {
            return Err(lost("the bytes it refers to are not those it was stored for"));
        }
        let own = split_answer(&record.block).0;
        let head = if entry.status == Some(304) { self.head_before(entry)? } else { Some(own.to_vec()) };
        Ok(original.under(&head.unwrap_or_else(|| own.to_vec())))
    }

    /// The head that [`Reader::document`] chooses for a revisit, if it has its own.
    pub(crate) fn head_of(&self, entry: &Entry) -> Result<Option<Vec<u8>>, Error> {
        if entry.status == Some(304) {
            return self.head_before(entry);
        }
        let own = split_answer(&self.record(entry)?.block).0.to_vec();
        Ok(Some(own).filter(|own| http::status(own).is_some()))
    }

    /// Reads every block of the index once.
    pub(crate) fn verify_runs(&self) -> Result<(), Error> {
        Ok(self.runs.iter().try_for_each(|run| run.verify())?)
    }

    /// The head of an unchanged page's last full answer. The bytes may come from another page with another head.
    fn head_before(&self, entry: &Entry) -> Result<Option<Vec<u8>>, Error> {
        for before in self.newest_first(&entry.key)? {
            let before = before?;
            let is_answer = matches!(before.status, Some(200..=299)) && !before.truncated;
            // The server cannot have referred to captures that arrived later, however old.
            let is_before = before.order() < entry.order() && before.location < entry.location;
            let is_same = before.payload == entry.payload && before.content == entry.content;
            if !is_before || !is_answer || !is_same {
                continue;
            }
            match self.record(&before) {
                Ok(record) => return Ok(Some(split_answer(&record.block).0.to_vec())),
                Err(Error::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// The capture that a revisit refers to, if it holds the bytes.
    fn find_capture(&self, key: &Key, at: Timestamp, revisit: &Entry) -> Result<Option<Location>, Error> {
        for entry in self.newest_first(key)? {
            let entry = entry?;
            let is_whole =
                entry.kind == Stored::Response && !entry.truncated && entry.payload == revisit.payload;
            let is_same = revisit.content.is_none() || entry.content == revisit.content;
            if entry.at == at && is_whole && is_same {
                return Ok(Some(entry.location));
            }
            if entry.at < at {
                break;
            }
        }
        Ok(None)
    }

    /// Where a body with this digest is stored, if possible one with this content.
    fn find_payload(&self, payload: Sha1Digest, content: Option<ContentKey>) -> Result<Option<Place>, Error> {
        if let Some(content) = content {
            if let Some(body) = self.memory.find_body(payload, index::body::tag(content)) {
                return Ok(Some(body.place));
            }
            for run in self.runs.iter().rev() {
                if let Some(place) = index::body::find_body(run, payload, content)? {
                    return Ok(Some(place));
                }
            }
        }
        if let Some(body) = self.memory.find_payload(payload) {
            return Ok(Some(body.place));
        }
        for run in self.runs.iter().rev() {
            if let Some(place) = index::body::find_payload(run, payload)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }
}

/// Adds the captures of a file that no run covers. If a power cut or damage shortened the checksums, the rest of the
/// file itself is read.
fn load(
    disk: &dyn Disk,
    path: &Path,
    file: &str,
    names: &mut Files,
    memory: &mut Memory,
) -> Result<(), Error> {
    let sums = path.with_file_name(format!("{file}{}", sums::SUFFIX));
    let mut rows: Vec<(Box<str>, Row)> = Vec::new();
    let found = sums::read(disk, &sums, file, names, |batch, _| rows.extend(batch.captures))?;
    if found.is_none_or(|found| !found.is_finished) {
        let covered = found.map_or(0, |found| found.covered);
        if let Some(scan) = Scan::open(disk, path, covered)? {
            let survey = survey(disk, scan, path, names)?;
            rows.extend(survey.batches.into_iter().flat_map(|batch| batch.captures));
        }
    }
    rows.into_iter().for_each(|(key, row)| memory.add(&key, row, names));
    Ok(())
}

/// The content of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The head of the answer, with its empty line; empty when there was none. For a 304, the head of the previous
    /// answer.
    pub head: Vec<u8>,
    /// The head of the record that holds the body, by which the body is framed.
    framed_by: Vec<u8>,
    /// The body as received, its transfer coding included.
    pub body: Vec<u8>,
}

impl Document {
    fn of(kind: Stored, block: Vec<u8>) -> Self {
        if !matches!(kind, Stored::Response | Stored::Revisit) {
            return Self { head: Vec::new(), framed_by: Vec::new(), body: block };
        }
        let head = split_answer(&block).0.to_vec();
        let body = block.get(head.len()..).unwrap_or_default().to_vec();
        Self { framed_by: head.clone(), head, body }
    }
    /// The same body under the head of another answer. If that is empty, the original head stays.
    fn under(self, head: &[u8]) -> Self {
        let is_page = matches!(http::status(&self.head), Some(200..=299));
        let keeps_own = http::status(head).is_none_or(|status| status == 304 && is_page);
        if keeps_own { self } else { Self { head: head.to_vec(), ..self } }
    }
    /// The whole answer: the head, and the body framed as this head says.
    #[must_use]
    pub fn answer(&self) -> Vec<u8> {
        [&self.head[..], &describe::reframed(&self.body, &self.framed_by, &self.head)].concat()
    }
    /// The body without its transfer coding.
    #[must_use]
    pub fn payload(&self) -> Cow<'_, [u8]> {
        http::payload(&self.body, framing(&self.framed_by))
    }
    /// The body with every coding removed, as far as possible.
    #[must_use]
    pub fn content(&self) -> coding::Decoded<'_> {
        coding::content_of(&self.framed_by, self.payload())
    }
    /// The status of the answer.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        http::status(&self.head)
    }
}

/// Why there was no answer: the outcome, and the cause or the rule, from the record of the visit.
#[must_use]
pub fn why(record: &Record) -> Option<(String, Option<String>)> {
    let fields = warc::Fields::read(&record.block).ok().filter(|_| describe::is_visit(record))?;
    let cause = [visit::RULE, visit::CAUSE, visit::REFUSAL].into_iter().find_map(|name| fields.decoded(name));
    Some((fields.decoded(visit::OUTCOME)?, cause))
}
