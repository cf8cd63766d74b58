//! Captures in order of arrival, starting at a checkpoint.
//!
//! Every stage reads the archive this way: it stores the checkpoint after what it has processed and continues from
//! there (D3). The order of arrival is the order of the archive files' names and of the offsets in them, whatever the
//! captures' own dates: an old capture that is imported today arrives today. The fixity files say where captures are,
//! so nothing is decompressed; where they end before a file does, its records are read.
//!
//! **Invariant:** only durable captures are returned, so a crash leaves every checkpoint valid. Captures that become
//! durable later are returned by the next call.
//!
//! **Invariant:** a takedown moves no checkpoint (D13): removed captures are skipped, the others stay where they were.

use crate::capture::entry::Entry;
use crate::error::Error;
use crate::files::checkpoint::Checkpoint;
use crate::files::directory::{files, is_in_motion};
use crate::files::name;
use crate::files::scan::Scan;
use crate::files::sums::{self, Batch, Frames};
use crate::files::survey::survey;
use crate::index::Files;
use crate::reading::reader::Reader;
use base::disk::Disk;
use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

impl Reader {
    /// The captures after `checkpoint` in order of arrival, each with the checkpoint after it; all of them if there is
    /// no checkpoint. Files are listed now and read when their turn comes.
    pub fn since(&self, checkpoint: Option<&Checkpoint>) -> Result<Arrivals, Error> {
        let is_asked = |path: &PathBuf| {
            let file = name::closed_name(path);
            checkpoint.is_none_or(|checkpoint| file.is_some_and(|file| file >= &**checkpoint.file()))
        };
        let paths: VecDeque<PathBuf> =
            files(&*self.disk, &self.directory)?.into_iter().filter(is_asked).collect();
        Ok(Arrivals {
            disk: Arc::clone(&self.disk),
            hidden: Arc::clone(self.hidden()),
            from: checkpoint.cloned(),
            paths,
            file: None,
            ready: VecDeque::new(),
        })
    }
}

/// Captures in order of arrival; see [`Reader::since`].
#[derive(Debug)]
pub struct Arrivals {
    disk: Arc<dyn Disk>,
    hidden: Arc<HashSet<(Arc<str>, u64)>>,
    from: Option<Checkpoint>,
    /// The files to come.
    paths: VecDeque<PathBuf>,
    file: Option<Source>,
    /// Captures that were read and not yet returned.
    ready: VecDeque<Entry>,
}

impl Iterator for Arrivals {
    type Item = Result<(Entry, Checkpoint), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() {
            match self.read() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.paths.clear();
                    self.file = None;
                    return Some(Err(error));
                }
            }
        }
        self.ready.pop_front().map(|entry| {
            let checkpoint = Checkpoint::after(&entry);
            Ok((entry, checkpoint))
        })
    }
}

impl Arrivals {
    /// Reads a little further; whether there may be more.
    fn read(&mut self) -> Result<bool, Error> {
        let Some(mut file) = self.file.take() else {
            let Some(path) = self.paths.pop_front() else { return Ok(false) };
            self.file = Source::open(&*self.disk, path)?;
            return Ok(true);
        };
        if let Some(batch) = file.frames.as_mut().and_then(|frames| frames.next(&mut file.names)) {
            self.take(&batch, &file.names);
            self.file = Some(file);
            return Ok(true);
        }
        let (rest, grows) = file.rest(&*self.disk)?;
        rest.iter().for_each(|batch| self.take(batch, &file.names));
        if grows {
            // Files after a growing file would be returned too early.
            self.paths.clear();
        }
        Ok(true)
    }

    fn take(&mut self, batch: &Batch, names: &Files) {
        let entries = batch.captures.iter().map(|(key, row)| row.entry(key, names));
        let is_done = |entry: &Entry| self.from.as_ref().is_some_and(|from| from.is_after(&entry.location));
        let is_hidden = |entry: &Entry| {
            !self.hidden.is_empty()
                && self.hidden.contains(&(Arc::clone(&entry.location.file), entry.location.offset))
        };
        self.ready.extend(entries.filter(|entry| !is_done(entry) && !is_hidden(entry)));
    }
}

/// How often reading the end of a file is tried again when the writer finishes it meanwhile.
const ATTEMPTS_MAX: usize = 4;

/// An archive file whose captures are read.
#[derive(Debug)]
struct Source {
    path: PathBuf,
    names: Files,
    /// Its checksums, if it has any.
    frames: Option<Frames>,
}

impl Source {
    fn open(disk: &dyn Disk, path: PathBuf) -> Result<Option<Self>, Error> {
        let Some(file) = name::closed_name(&path) else { return Ok(None) };
        let sums = path.with_file_name(format!("{file}{}", sums::SUFFIX));
        let frames = Frames::open(disk, &sums, file)?;
        Ok(Some(Self { path, names: Files::default(), frames }))
    }

    /// What the checksums do not cover of a file, as far as it is known to be durable, and whether the file still
    /// grows.
    fn rest(&mut self, disk: &dyn Disk) -> Result<(Vec<Batch>, bool), Error> {
        let found = self.frames.as_ref().map(Frames::found).unwrap_or_default();
        if found.is_finished {
            return Ok((Vec::new(), false));
        }
        for _ in 1..ATTEMPTS_MAX {
            match self.scan(disk, found.covered) {
                Err(Error::Io { source, .. }) if is_in_motion(&source) => {}
                result => return result,
            }
        }
        self.scan(disk, found.covered)
    }

    fn scan(&mut self, disk: &dyn Disk, covered: u64) -> Result<(Vec<Batch>, bool), Error> {
        let Some(scan) = Scan::open(disk, &self.path, covered)? else { return Ok((Vec::new(), false)) };
        let path = scan.path().to_owned();
        let mut found = survey(disk, scan, &path, &mut self.names)?;
        for offset in found.damaged_offsets {
            tracing::error!(path = %path.display(), offset, "a capture that arrived there is damaged and skipped");
        }
        let grows = name::is_open(&path);
        if grows {
            // The first record of a batch proves that everything before it is durable; the last batch is not proved
            // yet.
            let is_durable = |offset: u64| offset < found.last_batch;
            found.batches.iter_mut().for_each(|batch| {
                batch.captures.retain(|(_, row)| is_durable(row.place.offset));
            });
        }
        Ok((found.batches, grows))
    }
}
