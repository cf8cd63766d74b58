//! The ordered index on (key, valid-from): sorted runs on disk, and what is not in them yet in memory (A2).
//!
//! Everything here is learned from the archive files and their sums. Rows are added in memory; when an archive file is
//! finished, they become a run; when there are several runs of a size, they are merged into one. Adding a version
//! touches no earlier row, because a version is valid until the next one of its page begins.
//!
//! **Invariant:** the runs of the published generation together with the sums of the archive files it does not cover are
//! the whole index, at every moment and after any crash. Anything else in the directory is rubbish and is removed by
//! the next writer.

pub(crate) mod bytes;
pub(crate) mod filter;
pub(crate) mod generation;
pub(crate) mod memory;
pub(crate) mod merge;
pub(crate) mod row;
pub(crate) mod run;
#[cfg(test)]
mod tests;
pub(crate) mod walk;

use crate::capture::entry::{ContentKey, Key};
use crate::error::Error;
use base::disk::Disk;
use base::{Sha1Digest, Timestamp};
use generation::Generation;
use memory::Memory;
use row::{Files, Place, Row};
use run::{Run, RunWriter, file_name};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use walk::{KeyRange, Origin, Walk};

/// The directory of the index, below that of the archive files.
pub(crate) const DIRECTORY: &str = "index";
/// As many runs of one level are merged into one of the next.
const RUNS_A_LEVEL: usize = 6;
/// So many rows are gathered before a run is made of them while many archive files are read at once.
pub(crate) const MEMORY_ROWS_MAX: u64 = 250_000;

/// Runs, each with its level.
pub(crate) type Runs = Vec<(Arc<Run>, u32)>;

/// The index as its writer has it.
#[derive(Debug)]
pub(crate) struct Index {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    files: Arc<Files>,
    generation: Generation,
    runs: Vec<(Arc<Run>, u32)>,
    memory: Memory,
    /// Whether runs are merged beside the work, on a thread.
    pub(crate) merges_beside: bool,
    merging: Option<Merging>,
}

/// A merge under way on a thread of its own.
#[derive(Debug)]
struct Merging {
    id: u64,
    level: u32,
    /// The runs that it merges.
    of: Vec<u64>,
    thread: JoinHandle<Result<Run, Error>>,
}

impl Drop for Index {
    /// Whoever opens the index next must not meet a thread that still writes.
    fn drop(&mut self) {
        if let Some(merging) = self.merging.take() {
            // What it made is rubbish now, whether it succeeded or not.
            let _ = merging.thread.join();
        }
    }
}

impl Index {
    /// Opens what is published below the archive's directory. What is not readable counts as not there: it is
    /// told, and learned again.
    pub(crate) fn open(disk: Arc<dyn Disk>, archive: &Path) -> Result<(Self, Option<Error>), Error> {
        let directory = archive.join(DIRECTORY);
        disk.create_directory(&directory)
            .map_err(|source| Error::writing(&*disk, "make directory", &directory, source))?;
        disk.sync_directory(archive).map_err(|source| Error::io("sync", archive, source))?;
        let mut files = Files::default();
        let (generation, runs, damage) = match load(&*disk, &directory, &mut files) {
            Ok((generation, runs)) => (generation, runs, None),
            Err(damage @ Error::IndexDamaged { .. }) => (Generation::default(), Vec::new(), Some(damage)),
            Err(Error::Io { action, path, source }) if source.kind() == std::io::ErrorKind::NotFound => {
                let what = Error::Io { action, path, source };
                (Generation::default(), Vec::new(), Some(what))
            }
            Err(error) => return Err(error),
        };
        let files = Arc::new(files);
        let mut index = Self {
            disk,
            directory,
            files,
            generation,
            runs,
            memory: Memory::default(),
            merges_beside: false,
            merging: None,
        };
        // After damage, numbers of runs begin anew, behind everything that may lie around.
        index.generation.next_run = index.generation.next_run.max(index.last_file()? + 1);
        if damage.is_some() {
            index.install(index.generation.clone(), Vec::new())?;
        } else {
            // Whoever published this may have died before its name was durable; it must be before others are removed.
            index
                .disk
                .sync_directory(&index.directory)
                .map_err(|source| Error::io("sync", &index.directory, source))?;
            index.remove_rubbish()?;
        }
        Ok((index, damage))
    }

    /// Whether the runs hold all captures of an archive file.
    pub(crate) fn covers(&self, file: &str) -> bool {
        self.generation.covered.contains(file)
    }
    /// The names of archive files, by their numbers.
    pub(crate) fn files(&self) -> &Arc<Files> {
        &self.files
    }
    /// The names of archive files, to add some.
    pub(crate) fn files_mut(&mut self) -> &mut Files {
        Arc::make_mut(&mut self.files)
    }
    /// How many rows are in memory.
    pub(crate) fn pending(&self) -> u64 {
        self.memory.count()
    }
    /// Adds a row.
    pub(crate) fn add(&mut self, key: &str, row: Row) {
        self.memory.add(key, row, &self.files);
    }
    /// Hands the rows of a page to `take`, newest first, until it says that it has enough.
    pub(crate) fn newest_first(&self, key: &Key, mut take: impl FnMut(&Row) -> bool) -> Result<(), Error> {
        let holds = |(run, _): &&(Arc<Run>, u32)| run.may_hold(key.as_str().as_bytes());
        let origins: Vec<Origin> =
            self.runs.iter().filter(holds).map(|(run, _)| Origin::Run(Arc::clone(run))).collect();
        let mut memory = self.memory.rows_of(key.as_str()).iter().rev().peekable();
        if origins.is_empty() {
            memory.all(|row| !take(row));
            return Ok(());
        }
        let files = &self.files;
        let mut walk = Walk::new(&origins, files, &KeyRange::one(key.as_str()))?;
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
    /// Hands out the rows of a range of keys, from the last to the first, those in memory included.
    pub(crate) fn walk(&self, range: &KeyRange, take: &mut dyn FnMut(&str, &Row)) -> Result<(), Error> {
        let runs = self.runs.iter().map(|(run, _)| Origin::Run(Arc::clone(run)));
        let memory = (self.memory.count() > 0).then(|| Origin::Memory(Arc::new(self.memory.to_rows())));
        let origins: Vec<Origin> = runs.chain(memory).collect();
        let mut walk = Walk::new(&origins, &self.files, range)?;
        while let Some((_, row)) = walk.current() {
            take(walk.key_text(), row);
            walk.step()?;
        }
        Ok(())
    }
    /// Where the bytes of a revisit are: in the capture that it refers to, or wherever the same body is stored.
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
                let arrived = |place: Place| (self.files.name(place.file), place.offset);
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
    /// Where a body with this digest and content is stored, if it is; the latest, for an older one may be damaged.
    pub(crate) fn find_body(&self, payload: Sha1Digest, content: ContentKey) -> Result<Option<Place>, Error> {
        if let Some(body) = self.memory.find_body(payload, run::tag(content)) {
            return Ok(Some(body.place));
        }
        for (run, _) in self.runs.iter().rev() {
            if let Some(place) = run.find_body(payload, content)? {
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
        for (run, _) in self.runs.iter().rev() {
            if let Some(place) = run.find_payload(payload)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Makes a run of what is in memory, which is all of the captures of `files`, and publishes it.
    pub(crate) fn flush(&mut self, files: impl IntoIterator<Item = Arc<str>>) -> Result<(), Error> {
        let mut generation = self.generation.clone();
        generation.covered.extend(files);
        let mut runs = self.runs.clone();
        if self.memory.count() > 0 {
            runs.push((Arc::new(self.write_memory(generation.next_run)?), 0));
            generation.next_run += 1;
        }
        self.install(generation, runs)?;
        self.memory = Memory::default();
        self.merge_levels()
    }

    /// Replaces all runs by one; what `keep` does not want is left out, and it may change rows.
    pub(crate) fn rewrite(
        &mut self,
        keep: &mut dyn FnMut(&str, &mut Row, &mut Files) -> bool,
    ) -> Result<(), Error> {
        assert_eq!(self.memory.count(), 0, "only runs are rewritten");
        self.take_merged(true)?;
        let runs: Vec<Arc<Run>> = self.runs.iter().map(|(run, _)| Arc::clone(run)).collect();
        let level = self.runs.iter().map(|(_, level)| *level).max().unwrap_or(0);
        let mut generation = self.generation.clone();
        let (disk, id) = (Arc::clone(&self.disk), generation.next_run);
        let merged =
            merge::merge(&*disk, &self.directory, id, &runs, Arc::make_mut(&mut self.files), Some(keep))?;
        generation.next_run += 1;
        self.install(generation, vec![(Arc::new(merged), level)])
    }

    /// Forgets everything, so that it is learned again.
    pub(crate) fn clear(&mut self) -> Result<(), Error> {
        self.take_merged(true)?;
        self.memory = Memory::default();
        let generation = Generation { covered: BTreeSet::new(), ..self.generation.clone() };
        self.install(generation, Vec::new())
    }

    /// Publishes one more run, which `write` fills.
    pub(crate) fn write_run(
        &mut self,
        keys_max: u64,
        write: impl FnOnce(&mut RunWriter<'_>, &mut Files) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (disk, id) = (Arc::clone(&self.disk), self.generation.next_run);
        let mut writer = RunWriter::create(&*disk, &self.directory, id, keys_max)?;
        write(&mut writer, self.files_mut())?;
        let run = writer.finish(self.files_mut())?;
        let mut generation = self.generation.clone();
        generation.next_run += 1;
        let mut runs = self.runs.clone();
        runs.push((Arc::new(run), 0));
        self.install(generation, runs)
    }

    fn write_memory(&mut self, id: u64) -> Result<Run, Error> {
        let mut writer = RunWriter::create(&*self.disk, &self.directory, id, self.memory.key_count())?;
        for (key, row) in self.memory.iter() {
            writer.push(key, row)?;
        }
        for body in self.memory.bodies() {
            writer.push_body(body)?;
        }
        writer.finish(Arc::make_mut(&mut self.files))
    }

    /// Merges runs of a level as long as there are many of one; on a thread, if that is wanted, one merge at a time.
    fn merge_levels(&mut self) -> Result<(), Error> {
        self.take_merged(false)?;
        while let Some(level) = self.crowded_level() {
            if self.merging.is_some() {
                return Ok(());
            }
            let of_level = |(_, other): &&(Arc<Run>, u32)| *other == level;
            let merged: Vec<Arc<Run>> =
                self.runs.iter().filter(of_level).map(|(run, _)| Arc::clone(run)).collect();
            let (id, of) = (self.generation.next_run, merged.iter().map(|run| run.id()).collect());
            self.generation.next_run += 1;
            // The thread gives no name a number that ours do not have.
            let (disk, directory, mut files) =
                (Arc::clone(&self.disk), self.directory.clone(), Files::clone(&self.files));
            let mut work = move || merge::merge(&*disk, &directory, id, &merged, &mut files, None);
            if self.merges_beside {
                let thread = std::thread::Builder::new().name("merge".into()).spawn(work);
                let thread =
                    thread.map_err(|source| Error::io("start a thread for", &self.directory, source))?;
                self.merging = Some(Merging { id, level, of, thread });
            } else {
                self.install_merged(work()?, level, &of)?;
            }
        }
        Ok(())
    }

    /// Takes over what a thread merged, if it is done, or waits for it.
    pub(crate) fn take_merged(&mut self, waits: bool) -> Result<(), Error> {
        let is_done = |merging: &Merging| waits || merging.thread.is_finished();
        let Some(merging) = self.merging.take_if(|merging| is_done(merging)) else { return Ok(()) };
        let Merging { level, of, thread, .. } = merging;
        match thread.join().expect("a merge does not panic") {
            // It is tried again when there is more to merge, and perhaps room.
            Err(error) if error.is_disk_full() => self.remove_rubbish(),
            merged => self.install_merged(merged?, level, &of),
        }
    }

    /// Puts a merged run in the place of those it was merged of.
    fn install_merged(&mut self, run: Run, level: u32, of: &[u64]) -> Result<(), Error> {
        // Where the last of them stood: runs that were made meanwhile are younger.
        let is_merged = |(run, _): &&(Arc<Run>, u32)| of.contains(&run.id());
        let place = self.runs.iter().rposition(|run| is_merged(&run)).map_or(0, |last| last + 1);
        let before = self.runs.iter().take(place).filter(|run| !is_merged(run)).cloned();
        let mut runs: Vec<_> = before.collect();
        runs.push((Arc::new(run), level + 1));
        runs.extend(self.runs.iter().skip(place).cloned());
        self.install(self.generation.clone(), runs)
    }

    fn crowded_level(&self) -> Option<u32> {
        let levels: BTreeSet<u32> = self.runs.iter().map(|(_, level)| *level).collect();
        let count = |level: u32| self.runs.iter().filter(|(_, other)| *other == level).count();
        levels.into_iter().find(|level| count(*level) >= RUNS_A_LEVEL)
    }

    /// Publishes a generation, then removes the runs that are no longer part of it.
    fn install(&mut self, mut generation: Generation, runs: Vec<(Arc<Run>, u32)>) -> Result<(), Error> {
        generation.number += 1;
        generation.runs = runs.iter().map(|(run, level)| (run.id(), *level)).collect();
        generation.publish(&*self.disk, &self.directory)?;
        (self.generation, self.runs) = (generation, runs);
        self.remove_rubbish()
    }

    /// Removes runs that nobody refers to. A reader that has one open goes on reading it.
    fn remove_rubbish(&self) -> Result<(), Error> {
        let merging = self.merging.iter().map(|merging| merging.id);
        let used = self.generation.runs.iter().map(|(id, _)| *id).chain(merging);
        let names: Vec<String> = used.map(file_name).collect();
        for path in self.list()? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_ours = name.ends_with(".run") || name == generation::UNFINISHED_NAME;
            if is_ours && !names.iter().any(|known| known == name) {
                self.disk.remove(&path).map_err(|source| Error::io("remove", &path, source))?;
            }
        }
        Ok(())
    }
    fn last_file(&self) -> Result<u64, Error> {
        let id = |path: &PathBuf| path.file_stem()?.to_str()?.parse::<u64>().ok();
        Ok(self.list()?.iter().filter_map(id).max().unwrap_or(0))
    }
    fn list(&self) -> Result<Vec<PathBuf>, Error> {
        self.disk.list(&self.directory).map_err(|source| Error::io("list", &self.directory, source))
    }
}

/// Reads the published generation and opens its runs.
pub(crate) fn load(
    disk: &dyn Disk,
    directory: &Path,
    files: &mut Files,
) -> Result<(Generation, Runs), Error> {
    let Some(generation) = Generation::read(disk, directory)? else { return Ok(Default::default()) };
    let open = |(id, level): &(u64, u32)| {
        let run = Run::open(disk, &directory.join(file_name(*id)), *id, files)?;
        Ok((Arc::new(run), *level))
    };
    let runs = generation.runs.iter().map(open).collect::<Result<Vec<_>, Error>>()?;
    Ok((generation, runs))
}
