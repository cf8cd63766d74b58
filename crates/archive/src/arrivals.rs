//! Captures in the order in which they arrived, from a place on.
//!
//! Every later stage reads by this: it keeps the place behind what it has done, and goes on from there (D3). The order
//! of arrival is that of the archive files' names and of the offsets in them, whatever the captures' own times are: an
//! old capture that is imported today arrives today. The sums say where captures are, so nothing is decompressed; where
//! they end before a file does, its records are read.
//!
//! **Invariant:** only what is durable is handed out, so no place points behind what a crash leaves. What is durable
//! and not yet handed out comes with the next look.
//!
//! **Invariant:** a takedown moves no place (D13): what it removed is passed over, everything else stays where it was.

use crate::entry::{Entry, Location};
use crate::error::Error;
use crate::index::row::Files;
use crate::list::files;
use crate::name;
use crate::reader::{Reader, is_in_motion};
use crate::recover;
use crate::scan::Scan;
use crate::sums::{self, Batch, Frames};
use base::disk::Disk;
use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// A place in the order of arrival: everything before it is done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    file: Arc<str>,
    offset: u64,
}

impl Place {
    pub(crate) fn at(file: &Arc<str>, offset: u64) -> Self {
        Self { file: Arc::clone(file), offset }
    }
    /// The place before the record at a location.
    #[must_use]
    pub fn before(location: &Location) -> Self {
        Self { file: Arc::clone(&location.file), offset: location.offset }
    }
    /// The place behind a capture.
    #[must_use]
    pub fn behind(entry: &Entry) -> Self {
        let offset = entry.location.offset + entry.group_bytes;
        Self { file: Arc::clone(&entry.location.file), offset }
    }
    /// Reads what [`fmt::Display`] writes: `FILE@OFFSET`, where the file is one that an archive names.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (file, offset) = text.rsplit_once('@').filter(|(file, _)| name::is_name(file))?;
        let is_plain = offset.bytes().all(|byte| byte.is_ascii_digit());
        let offset = offset.parse().ok().filter(|_| is_plain)?;
        Some(Self { file: file.strip_suffix(name::OPEN).unwrap_or(file).into(), offset })
    }
    /// The archive file, by the name it has when it is finished.
    #[must_use]
    pub fn file(&self) -> &Arc<str> {
        &self.file
    }
    /// Where in it.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }
    /// Whether a record stands before this place.
    #[must_use]
    pub fn is_behind(&self, location: &Location) -> bool {
        (&location.file, location.offset) < (&self.file, self.offset)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.file, self.offset)
    }
}

impl Reader {
    /// The captures that arrived at `place` or later, in that order, each with the place behind it; all of them
    /// without a place. Files are listed now and read when their turn comes.
    pub fn since(&self, place: Option<&Place>) -> Result<Arrivals, Error> {
        let is_asked = |path: &PathBuf| {
            let file = name::closed_name(path);
            place.is_none_or(|place| file.is_some_and(|file| file >= &*place.file))
        };
        let paths: VecDeque<PathBuf> =
            files(&*self.disk, &self.directory)?.into_iter().filter(is_asked).collect();
        Ok(Arrivals {
            disk: Arc::clone(&self.disk),
            hidden: Arc::clone(self.hidden()),
            from: place.cloned(),
            paths,
            file: None,
            ready: VecDeque::new(),
        })
    }
}

/// Captures as they arrived; see [`Reader::since`].
#[derive(Debug)]
pub struct Arrivals {
    disk: Arc<dyn Disk>,
    hidden: Arc<HashSet<(Arc<str>, u64)>>,
    from: Option<Place>,
    /// The files to come.
    paths: VecDeque<PathBuf>,
    file: Option<Source>,
    /// Captures that were read and not handed out.
    ready: VecDeque<Entry>,
}

impl Iterator for Arrivals {
    type Item = Result<(Entry, Place), Error>;

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
            let place = Place::behind(&entry);
            Ok((entry, place))
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
            // What follows a file that grows would be handed out before the rest of it.
            self.paths.clear();
        }
        Ok(true)
    }

    fn take(&mut self, batch: &Batch, names: &Files) {
        let entries = batch.captures.iter().map(|(key, row)| row.entry(key, names));
        let is_done = |entry: &Entry| self.from.as_ref().is_some_and(|from| from.is_behind(&entry.location));
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
    /// Its sums, if it has any.
    frames: Option<Frames>,
}

impl Source {
    fn open(disk: &dyn Disk, path: PathBuf) -> Result<Option<Self>, Error> {
        let Some(file) = name::closed_name(&path) else { return Ok(None) };
        let sums = path.with_file_name(format!("{file}{}", sums::SUFFIX));
        let frames = Frames::open(disk, &sums, file)?;
        Ok(Some(Self { path, names: Files::default(), frames }))
    }

    /// What the sums do not cover of a file, as far as it is known to be durable, and whether the file still grows.
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
        let mut survey = recover::survey(disk, scan, &path, &mut self.names)?;
        for offset in survey.damaged_offsets {
            tracing::error!(path = %path.display(), offset, "a capture that arrived there is damaged and passed over");
        }
        let grows = name::is_open(&path);
        if grows {
            // The first record of a batch proves that all before it is durable; of the last batch nobody knows yet.
            let is_durable = |offset: u64| offset < survey.last_batch;
            survey.batches.iter_mut().for_each(|batch| {
                batch.captures.retain(|(_, row)| is_durable(row.place.offset));
            });
        }
        Ok((survey.batches, grows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written_and_nothing_else_is() {
        let file = "utsushi-20261115231600123456-00000.warc.gz";
        let place = Place { file: file.into(), offset: 337 };
        assert_eq!(Place::parse(&place.to_string()), Some(place));
        for text in ["", "@", "@3", file, "x@3", &format!("{file}@"), &format!("{file}@+3"), "a/b.warc.gz@1"]
        {
            assert_eq!(Place::parse(text), None, "{text}");
        }
    }

    #[test]
    fn places_are_ordered_by_file_then_by_offset() {
        let place = |count: u32, offset| Place {
            file: format!("utsushi-20261115231600123456-{count:05}.warc.gz").into(),
            offset,
        };
        assert!(place(0, 900) < place(1, 0) && place(1, 9) < place(1, 10) && place(9, 0) < place(10, 0));
    }
}
