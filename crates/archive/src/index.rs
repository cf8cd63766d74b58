//! The ordered index on (key, valid-from): sorted runs on disk, and what is not in them yet in memory (A2).
//!
//! Everything here is derived from the archive files and their checksums. Rows are added in memory; when an archive
//! file is finished, they become a run; when there are several runs of a size, they are merged into one. Adding a
//! version touches no earlier row, because a version is valid until the next one of its page begins.
//!
//! **Invariant:** the runs of the published generation together with the checksums of the archive files it does not
//! cover are the whole index, at every moment and after any crash. The next writer removes anything else in the
//! directory.

pub(crate) mod body;
pub(crate) mod memory;
pub(crate) mod row;
#[cfg(test)]
mod tests;

use crate::capture::entry::{ContentKey, Key};
use crate::error::Error;
use base::disk::Disk;
use base::{Sha1Digest, Timestamp};
use body::Body;
use memory::Memory;
use row::{Place, Row, Rows};
use runs::{Keep, RunStore};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

pub(crate) use runs::{KeyBounds, Spot};

/// The names of archive files, each known by a number while a process runs.
pub(crate) type Files = runs::Names;
/// A run of the index.
pub(crate) type Run = runs::Run<Rows>;
/// Where rows come from: a run, or memory.
pub(crate) type Origin = runs::RowSource<Rows>;
/// Walks rows from the greatest to the least.
pub(crate) type Walk = runs::Walk<Rows>;
/// The runs of the index as a reader sees them.
pub(crate) type PublishedRuns = runs::PublishedRuns<Rows>;

/// The directory of the index, below that of the archive files.
pub(crate) const DIRECTORY: &str = "index";
/// The number of rows that are gathered before they become a run while many archive files are read at once.
pub(crate) const MEMORY_ROWS_MAX: u64 = 250_000;

/// The index as its writer has it.
#[derive(Debug)]
pub(crate) struct Index {
    store: RunStore<Rows>,
    memory: Memory,
}

impl Index {
    /// Opens the published index below the archive's directory. An unreadable one is reported and rebuilt.
    pub(crate) fn open(disk: Arc<dyn Disk>, archive: &Path) -> Result<(Self, Option<Error>), Error> {
        let (store, damage) = RunStore::open(disk, &archive.join(DIRECTORY))?;
        Ok((Self { store, memory: Memory::default() }, damage.map(Error::from)))
    }

    /// Sets whether runs are merged on their own thread.
    pub(crate) fn merge_beside(&mut self, is_wanted: bool) {
        self.store.merge_beside(is_wanted);
    }
    /// Whether the runs hold all captures of an archive file.
    pub(crate) fn covers(&self, file: &str) -> bool {
        self.store.covers(file)
    }
    /// The names of archive files, by their numbers.
    pub(crate) fn files(&self) -> &Arc<Files> {
        self.store.names()
    }
    /// The names of archive files, to add some.
    pub(crate) fn files_mut(&mut self) -> &mut Files {
        self.store.names_mut()
    }
    /// How many rows are in memory.
    pub(crate) fn pending(&self) -> u64 {
        self.memory.count()
    }
    /// Adds a row.
    pub(crate) fn add(&mut self, key: &str, row: Row) {
        self.memory.add(key, row, self.store.names());
    }
    /// Passes the rows of a page to `take`, newest first, until it returns false.
    pub(crate) fn newest_first(&self, key: &Key, mut take: impl FnMut(&Row) -> bool) -> Result<(), Error> {
        let holds = |run: &&Arc<Run>| run.may_hold(key.as_str().as_bytes());
        let origins: Vec<Origin> =
            self.store.runs().filter(holds).map(|run| Origin::Run(Arc::clone(run))).collect();
        let mut memory = self.memory.rows_of(key.as_str()).iter().rev().peekable();
        if origins.is_empty() {
            memory.all(|row| !take(row));
            return Ok(());
        }
        let files = self.files();
        let mut walk = Walk::new(&origins, files, &KeyBounds::one(key.as_str().as_bytes()))?;
        loop {
            let from_run = walk.current().map(|(_, row)| row);
            let from_memory = memory.peek();
            let is_enough = match (from_run, from_memory) {
                (None, None) => return Ok(()),
                (Some(run), Some(row)) if row.order(run, files).is_gt() => take(row),
                (Some(run), _) => {
                    let is_enough = take(run);
                    walk.step()?;
                    if is_enough {
                        return Ok(());
                    }
                    continue;
                }
                (None, Some(row)) => take(row),
            };
            memory.next();
            if is_enough {
                return Ok(());
            }
        }
    }
    /// Passes on the rows of a range of keys, from the last to the first, including those in memory.
    pub(crate) fn walk(&self, range: &KeyBounds, take: &mut dyn FnMut(&str, &Row)) -> Result<(), Error> {
        let runs = self.store.sources().into_iter();
        let memory = (self.memory.count() > 0).then(|| Origin::Memory(Arc::new(self.memory.to_rows())));
        let origins: Vec<Origin> = runs.chain(memory).collect();
        let mut walk = Walk::new(&origins, self.files(), range)?;
        while let Some((_, row)) = walk.current() {
            take(walk.key_text(), row);
            walk.step()?;
        }
        Ok(())
    }
    /// Where the bytes of a revisit are: in the capture that it refers to, or where the same body is stored.
    pub(crate) fn find_original(
        &self,
        revisit: &Row,
        reference: Option<&(Key, Timestamp)>,
    ) -> Result<Option<Place>, Error> {
        let Some(payload) = revisit.payload else { return Ok(None) };
        let (mut place, mut found) = (None, false);
        if let Some((key, at)) = reference {
            self.newest_first(key, |row| {
                // Of several at one moment, the latest that arrived before the revisit; else any.
                let arrived = |place: Place| (self.files().name(place.file), place.offset);
                let is_earlier = arrived(row.place) < arrived(revisit.place);
                if row.at == *at && row.holds_bytes_of(revisit) && !found && (is_earlier || place.is_none()) {
                    (place, found) = (Some(row.place), is_earlier);
                }
                row.at < *at
            })?;
        }
        match revisit.content {
            _ if place.is_some() => Ok(place),
            Some(content) => self.find_body(payload, content),
            None => self.find_payload(payload),
        }
    }
    /// Where a body with this digest and content is stored, if it is; the latest, because an older one may be damaged.
    pub(crate) fn find_body(&self, payload: Sha1Digest, content: ContentKey) -> Result<Option<Place>, Error> {
        if let Some(body) = self.memory.find_body(payload, body::tag(content)) {
            return Ok(Some(body.place));
        }
        for run in self.store.runs().rev() {
            if let Some(place) = body::find_body(run, payload, content)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }
    /// Where some body with this digest is stored, if one is.
    pub(crate) fn find_payload(&self, payload: Sha1Digest) -> Result<Option<Place>, Error> {
        if let Some(body) = self.memory.find_payload(payload) {
            return Ok(Some(body.place));
        }
        for run in self.store.runs().rev() {
            if let Some(place) = body::find_payload(run, payload)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Makes a run of the rows in memory, which are all captures of `files`, and publishes it.
    pub(crate) fn flush(&mut self, files: impl IntoIterator<Item = Arc<str>>) -> Result<(), Error> {
        let memory = &self.memory;
        if memory.count() > 0 {
            self.store.add_run(memory.key_count(), files, |writer, _| {
                memory.iter().try_for_each(|(key, row)| writer.push(key.as_bytes(), row))?;
                memory.bodies().try_for_each(|body| writer.push_secondary(body))
            })?;
        } else {
            self.store.cover(files)?;
        }
        self.memory = Memory::default();
        Ok(self.store.merge()?)
    }

    /// Replaces all runs by one, without the rows that `keep` rejects and their bodies. `keep` may change rows.
    pub(crate) fn rewrite(
        &mut self,
        keep: &mut dyn FnMut(&str, &mut Row, &mut Files) -> bool,
    ) -> Result<(), Error> {
        assert_eq!(self.memory.count(), 0, "only runs are rewritten");
        Ok(self.store.rewrite(&mut Wanted { keep, gone: HashSet::new() })?)
    }

    /// Removes everything, so that it is rebuilt.
    pub(crate) fn clear(&mut self) -> Result<(), Error> {
        self.memory = Memory::default();
        Ok(self.store.clear()?)
    }

    /// Publishes what a thread merged, if it is done; `waits` says whether to wait for it.
    pub(crate) fn take_merged(&mut self, waits: bool) -> Result<(), Error> {
        Ok(self.store.take_merged(waits)?)
    }

    /// Publishes one more run of rows and bodies that are in order.
    pub(crate) fn write_run(
        &mut self,
        keys_max: u64,
        write: impl FnOnce(&mut runs::RunWriter<'_, Rows>, &mut Files) -> Result<(), runs::Error>,
    ) -> Result<(), Error> {
        Ok(self.store.add_run(keys_max, [], write)?)
    }
}

/// Keeps the rows that are wanted, and the bodies that they store.
struct Wanted<'k> {
    keep: &'k mut dyn FnMut(&str, &mut Row, &mut Files) -> bool,
    gone: HashSet<(u32, u64)>,
}

impl Keep<Rows> for Wanted<'_> {
    fn row(&mut self, key: &[u8], row: &mut Row, names: &mut Files) -> bool {
        let is_kept = (self.keep)(std::str::from_utf8(key).unwrap_or_default(), row, names);
        if !is_kept {
            self.gone.insert((row.place.file, row.place.offset));
        }
        is_kept
    }
    fn secondary(&mut self, body: &Body) -> bool {
        !self.gone.contains(&(body.place.file, body.place.offset))
    }
}
