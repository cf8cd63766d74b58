//! The writer of an archive: captures are appended to the file that grows, and made durable batch by batch.
//!
//! A file's life: created as `NAME.open`; with the first batch its content and then its name are synced; when it has
//! reached its size, or the archive is closed, everything is synced and it is renamed to `NAME`. From then on it
//! never changes.
//!
//! The index shows what the archive holds already: a stored body is not stored again, whichever server sent it.
//!
//! **Invariant:** nothing is acknowledged before it is durable (D2). After a failed sync, write or rename nothing more
//! is written (M3). A full disk is not such a failure; the call can be repeated (M4).

use crate::capture::describe::{self, ContentFact, Facts};
use crate::capture::entry::{ContentKey, Entry, Key, Location, Stored};
use crate::error::Error;
use crate::files::fetch_record;
use crate::files::name::Name;
use crate::index::row::{Place, Row};
use crate::index::{Index, MEMORY_ROWS_MAX};
use crate::tombstone::{self, Target, Tombstone};
use crate::writing::file::GrowingFile;
use crate::writing::records::{self, Appended, Original};
use crate::writing::recover;
use base::disk::Disk;
use base::door::Exchange;
use base::limits::{ARCHIVE_FILE_BYTES, DISK_FREE_BYTES_MIN};
use base::{Capture, Outcome, Timestamp};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warc::Compression;

/// Maximum bytes that wait in memory before they are committed automatically, plus one capture.
const PENDING_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// How an archive is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A file that has reached this length is finished and the next one started, so a file is longer by at most
    /// one capture.
    pub file_bytes_max: u64,
    /// Maximum number of captures in a file, which bounds the part of the index in memory.
    pub file_captures_max: u64,
    /// Whether index runs are merged on their own thread, so that no batch waits for it.
    pub merges_beside: bool,
    /// The software named in the files.
    pub software: String,
    /// How records are compressed.
    pub compression: Compression,
    /// Nothing is written that would leave less free space than this (M4).
    pub disk_free_bytes_min: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            file_bytes_max: ARCHIVE_FILE_BYTES,
            file_captures_max: MEMORY_ROWS_MAX,
            merges_beside: true,
            software: concat!("utsushi/", env!("CARGO_PKG_VERSION")).to_owned(),
            compression: Compression::default(),
            disk_free_bytes_min: DISK_FREE_BYTES_MIN,
        }
    }
}

/// The writer of an archive. The program ensures that there is only one.
#[derive(Debug)]
pub struct Archive {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) directory: PathBuf,
    settings: Settings,
    next_name: Name,
    file: Option<GrowingFile>,
    pub(crate) index: Index,
    /// What was taken down and must not come back.
    pub(crate) tombstones: Vec<Tombstone>,
    /// Finished files whose captures are in no run yet.
    unindexed: Vec<Arc<str>>,
    /// What was requested when, for the records of the file that grows, and for some of others.
    origins: HashMap<(Arc<str>, u64), (String, Timestamp)>,
    is_stopped: bool,
}

/// Maximum number of record origins in finished files that are remembered.
const ORIGINS_MAX: usize = 300_000;

impl Archive {
    /// The writer of an archive whose files and index agree.
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        directory: &Path,
        settings: Settings,
        next_name: Name,
        index: Index,
    ) -> Result<Self, Error> {
        let tombstones = tombstone::tombstones(&*disk, directory, &index)?;
        Ok(Self {
            disk,
            directory: directory.to_owned(),
            settings,
            next_name,
            file: None,
            index,
            tombstones,
            unindexed: Vec::new(),
            origins: HashMap::new(),
            is_stopped: false,
        })
    }

    /// Whether the page was taken down: it must not be visited again or imported.
    #[must_use]
    pub fn is_taken_down(&self, key: &Key) -> bool {
        self.tombstones.iter().any(|tombstone| tombstone.target.holds(key))
    }
    /// What was taken down and must not be visited again.
    pub fn taken_down(&self) -> impl Iterator<Item = &Target> {
        self.tombstones.iter().map(|tombstone| &tombstone.target)
    }

    /// Adds a capture to the batch. If its body is stored already, only a reference to it is written.
    ///
    /// When this fails because the disk is full, the capture is not in the batch, and it may be tried again.
    pub fn append(&mut self, capture: &Capture) -> Result<Appended, Error> {
        self.with_sound_index(|archive| archive.try_append(capture))
    }

    /// Runs an operation that queries the index before it writes anything. If the index turns out to be damaged, it is
    /// rebuilt (D1), and the operation is tried once more.
    pub(crate) fn with_sound_index<T>(
        &mut self,
        act: impl Fn(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let damage = match act(self) {
            Err(damage @ Error::IndexDamaged { .. }) => damage,
            result => return result,
        };
        tracing::error!(%damage, "the index is rebuilt");
        self.finish_file()?;
        self.index.clear()?;
        let disk = Arc::clone(&self.disk);
        recover::recover(&disk, &self.directory, &mut self.index, &mut |_, _| {})?;
        self.unindexed.clear();
        act(self)
    }

    fn try_append(&mut self, capture: &Capture) -> Result<Appended, Error> {
        self.check_running()?;
        if self.is_taken_down(&capture.url.key().into()) {
            return Err(Error::TakenDown { url: capture.url.as_str().to_owned() });
        }
        self.make_way()?;
        let seen = match &capture.exchange {
            Some(exchange) => {
                let url = capture.url.as_str();
                let body = exchange.body.read();
                let body = body.map_err(|source| Error::Body { url: url.to_owned(), source })?;
                let seen = self.look(capture, exchange, &body)?;
                Some((exchange, body, seen))
            }
            None => None,
        };
        let mut file = self.take_file(capture.at)?;
        let start = file.position();
        let entry = match seen {
            None => records::append_unanswered(capture, &mut file),
            Some((exchange, body, Seen { facts, flag, original })) => {
                let answer = records::Answer { capture, exchange, body: &body };
                records::append_answer(&answer, (&facts, flag), original.as_ref(), &mut file)
            }
        };
        let bytes_written = file.position() - start;
        self.add(&entry, &mut file);
        self.file = Some(file);
        Ok(Appended { entry, bytes_written })
    }

    /// The page's versions as the index has them, newest first, until `take` has enough.
    pub fn newest_first(&self, key: &Key, mut take: impl FnMut(Entry) -> bool) -> Result<(), Error> {
        self.index.newest_first(key, |row| take(row.entry(key.as_str(), self.index.files())))
    }

    /// Puts the entry of a capture whose records are in `file` into the index.
    pub(crate) fn add(&mut self, entry: &Entry, file: &mut GrowingFile) {
        let row = Row::of(entry, self.index.files_mut());
        file.note_capture(entry.key.as_str(), &row);
        self.index.add(entry.key.as_str(), row);
        if entry.kind == Stored::Response {
            let place = (Arc::clone(&entry.location.file), entry.location.offset);
            self.origins.insert(place, (entry.url.clone(), entry.at));
        }
    }

    /// What a visit saw, and whether its body is stored already.
    fn look(&mut self, capture: &Capture, exchange: &Exchange, body: &[u8]) -> Result<Seen, Error> {
        let url = capture.url.as_str();
        let known = match &capture.outcome {
            Outcome::Fetched { content, .. } => *content,
            _ => None,
        };
        let facts = Facts::of_known(url, &exchange.response_head, body, exchange.framing, known);
        let latest = self.latest(&capture.url.key().into(), capture.at)?;
        let flag = describe::judge(&facts, latest.content);
        let original = if exchange.status == 304 {
            latest.stored
        } else if exchange.truncated.is_none() && facts.has_payload {
            let place = self.index.find_body(facts.payload, facts.content)?;
            place.map(|place| (place, facts.payload, Some(facts.content)))
        } else {
            None
        };
        let original = match original {
            None => None,
            Some((place, payload, content)) => {
                let location = place.location(self.index.files());
                self.origin(&location)?.map(|(url, at)| Original { url, at, payload, content, location })
            }
        };
        Ok(Seen { facts, flag, original })
    }

    /// What is known of a page from its versions up to `at`.
    pub(crate) fn latest(&self, key: &Key, at: Timestamp) -> Result<Latest, Error> {
        let (mut latest, mut is_decided) = (Latest::default(), false);
        self.index.newest_first(key, |row| {
            if row.at > at {
                return false;
            }
            match describe::content_fact(row.kind, row.status, row.moves_within, row.content) {
                ContentFact::Content(content) if !is_decided => {
                    (latest.content, is_decided) = (content, true);
                }
                ContentFact::Gone => is_decided = true,
                _ => {}
            }
            // A 304 that is stored as a response has no body to refer to.
            let is_content = match (row.kind, row.status) {
                (Stored::Response, 200..=299) => !row.truncated,
                (Stored::Revisit, 200..=299 | 304) => true,
                _ => false,
            };
            if let Some(payload) = row.payload.filter(|_| is_content && latest.stored.is_none()) {
                let place = if row.kind == Stored::Response { Some(row.place) } else { row.body };
                latest.stored = place.map(|place| (place, payload, row.content));
            }
            is_decided && latest.stored.is_some()
        })?;
        Ok(latest)
    }

    /// What was requested, and when, when the record there was stored; `None` if it can no longer be read.
    pub(crate) fn origin(&mut self, location: &Location) -> Result<Option<(String, Timestamp)>, Error> {
        let place = (Arc::clone(&location.file), location.offset);
        if let Some(known) = self.origins.get(&place) {
            return Ok(Some(known.clone()));
        }
        let origin = match fetch_record::record(&*self.disk, &self.directory, location, None) {
            Ok(record) => describe::origin(&record),
            Err(Error::Damaged { .. }) => None,
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if self.origins.len() >= ORIGINS_MAX {
            let growing = self.file.as_ref().map(GrowingFile::name);
            self.origins.retain(|(file, _), _| Some(file) == growing.as_ref());
        }
        if let Some(origin) = &origin {
            self.origins.insert(place, origin.clone());
        }
        Ok(origin)
    }

    /// Drops the origins of records in other files: they may have been removed.
    pub(crate) fn forget_origins(&mut self) {
        self.origins.clear();
    }

    /// The growing file; a new one if there is none.
    pub(crate) fn take_file(&mut self, at: Timestamp) -> Result<GrowingFile, Error> {
        match self.file.take() {
            Some(file) => Ok(file),
            None => self.begin_file(at),
        }
    }
    pub(crate) fn give_file(&mut self, file: GrowingFile) {
        self.file = Some(file);
    }

    /// The bytes at a location, if they wait to be written.
    pub(crate) fn pending_bytes(&self, location: &Location) -> Option<Vec<u8>> {
        let file = self.file.as_ref().filter(|file| file.name() == location.file)?;
        file.pending_at(location.offset, location.length).map(<[u8]>::to_vec)
    }

    /// Makes everything that was appended durable.
    ///
    /// When this fails because the disk is full, the batch is kept, and the call can be repeated. After any other error
    /// the archive must be opened again, and does not contain the batch.
    pub fn commit(&mut self) -> Result<(), Error> {
        self.check_running()?;
        self.check_room()?;
        let disk = Arc::clone(&self.disk);
        let files = Arc::clone(self.index.files());
        let result = self.file.as_mut().map_or(Ok(()), |file| file.commit(&*disk, &files));
        self.stop_on_error(result)
    }

    /// Makes everything durable and gives the last file its final name.
    ///
    /// Uncommitted captures are lost if this fails; to wait for room, call [`Archive::commit`] first.
    pub fn close(mut self) -> Result<(), Error> {
        self.finish_file()?;
        self.update_index()?;
        self.index.take_merged(true)
    }

    /// Free bytes of the archive's disk, including the reserve.
    pub fn free_bytes(&self) -> Result<u64, Error> {
        self.disk.free_bytes(&self.directory).map_err(|source| Error::io("measure", &self.directory, source))
    }

    /// Finishes a file that is long enough, and commits a batch that is large enough.
    pub(crate) fn make_way(&mut self) -> Result<(), Error> {
        match &self.file {
            Some(file)
                if file.position() >= self.settings.file_bytes_max
                    || file.captures() >= self.settings.file_captures_max =>
            {
                self.finish_file()?;
            }
            Some(file) if file.pending_bytes() >= PENDING_BYTES_MAX => self.commit()?,
            _ => {}
        }
        self.update_index()
    }

    /// Makes a run of the captures of files that are finished.
    pub(crate) fn update_index(&mut self) -> Result<(), Error> {
        if self.unindexed.is_empty() || self.file.is_some() {
            return Ok(());
        }
        let flushed = self.index.flush(self.unindexed.clone());
        self.stop_on_error(flushed)?;
        self.unindexed.clear();
        Ok(())
    }

    fn begin_file(&mut self, at: Timestamp) -> Result<GrowingFile, Error> {
        loop {
            let name = self.next_name.clone();
            self.next_name = name.next();
            match GrowingFile::create(&*self.disk, &self.directory, &name, self.settings.compression) {
                Ok(Some(mut file)) => {
                    file.describe(at, &self.settings.software);
                    return Ok(file);
                }
                Ok(None) => {}
                Err(error) => return self.stop_on_error(Err(error)),
            }
        }
    }

    pub(crate) fn finish_file(&mut self) -> Result<(), Error> {
        self.commit()?;
        let finished = self.file.as_mut().map_or(Ok(()), |file| file.finish(&*self.disk));
        self.stop_on_error(finished)?;
        if let Some(file) = self.file.take() {
            self.unindexed.push(file.name());
            self.origins.retain(|(name, _), _| *name != file.name());
        }
        Ok(())
    }

    pub(crate) fn check_running(&self) -> Result<(), Error> {
        if self.is_stopped { Err(Error::Stopped { path: self.directory.clone() }) } else { Ok(()) }
    }

    /// Checks that the batch leaves enough of the disk free.
    fn check_room(&self) -> Result<(), Error> {
        let Some(file) = self.file.as_ref().filter(|file| file.pending_bytes() > 0) else { return Ok(()) };
        let needed_bytes = self.settings.disk_free_bytes_min.saturating_add(file.pending_bytes());
        let free_bytes = self.free_bytes()?;
        if free_bytes < needed_bytes {
            return Err(Error::DiskFull { path: file.path().to_owned(), free_bytes, needed_bytes });
        }
        Ok(())
    }

    pub(crate) fn stop_on_error<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        let can_go_on = |error: &Error| error.is_disk_full() || matches!(error, Error::IndexDamaged { .. });
        self.is_stopped |= result.as_ref().is_err_and(|error| !can_go_on(error));
        result
    }
}

/// What a visit saw, compared with what the archive holds.
struct Seen {
    facts: Facts,
    flag: crate::Flag,
    original: Option<Original>,
}

/// The latest content of a page.
#[derive(Debug, Default)]
pub(crate) struct Latest {
    /// Its current content; `None` if it is gone or was never there.
    pub(crate) content: Option<ContentKey>,
    /// Its last stored body.
    pub(crate) stored: Option<(Place, base::Sha1Digest, Option<ContentKey>)>,
}
