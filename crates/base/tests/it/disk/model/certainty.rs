//! What may be on the disk after a power cut: for each name and each byte, the values it may have.
//!
//! Every change is kept in order with how certain it is. A certain value replaces all before it; an uncertain one is
//! added. So synced data must be there exactly, and the rest must be a mixture of what was written.

use super::super::contents;
use base::disk::{Disk, SimulatedDisk};
use std::path::{Path, PathBuf};

/// Names in the directories `/0` and `/1`, alternating.
pub(super) const NAMES: usize = 8;

pub(super) fn path(name: usize) -> PathBuf {
    PathBuf::from(format!("/{}/{}", name % 2, name / 2))
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Certainty {
    /// Not synced yet.
    Open,
    /// Its sync failed: it may be there or not, even after later syncs.
    Never,
    /// Synced.
    Certain,
}

#[derive(Debug, Default)]
pub(super) struct Model {
    names: [Name; NAMES],
    files: Vec<File>,
}

/// The files that had the name, in order, none for a removal.
#[derive(Debug, Default)]
struct Name(Vec<(Option<usize>, Certainty)>);

#[derive(Debug, Default)]
struct File {
    length: usize,
    changes: Vec<(Change, Certainty)>,
    /// Whether it once had a durable name and was neither removed nor replaced since: it cannot be lost.
    is_anchored: bool,
}

#[derive(Debug)]
enum Change {
    Write(usize, Vec<u8>),
    Cut(usize),
    Grow(usize),
}

impl Name {
    fn now(&self) -> Option<usize> {
        self.0.last().and_then(|(file, _)| *file)
    }
    fn candidates(&self) -> Vec<Option<usize>> {
        let certain = self.0.iter().rposition(|(_, certainty)| *certainty == Certainty::Certain);
        let possible = self.0[certain.unwrap_or(0)..].iter().map(|(file, _)| *file);
        if certain.is_some() { possible.collect() } else { [None].into_iter().chain(possible).collect() }
    }
}

impl Model {
    pub(super) fn create(&mut self, name: usize) {
        self.files.push(File::default());
        self.set(name, Some(self.files.len() - 1));
    }
    pub(super) fn remove(&mut self, name: usize) {
        self.release(name);
        self.set(name, None);
    }
    pub(super) fn rename(&mut self, from: usize, to: usize) {
        self.release(to);
        self.set(to, self.names[from].now());
        self.set(from, None);
    }
    pub(super) fn sync_directory(&mut self, directory: usize) {
        for name in self.names.iter_mut().skip(directory).step_by(2) {
            settle(&mut name.0, Certainty::Certain);
            if let Some(file) = name.now() {
                self.files[file].is_anchored = true;
            }
        }
    }
    pub(super) fn write(&mut self, name: usize, offset: usize, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            self.change(name, Change::Write(offset, bytes));
        }
    }
    pub(super) fn truncate(&mut self, name: usize, length: usize) {
        let is_shorter = length < self.file(name).length;
        self.change(name, if is_shorter { Change::Cut(length) } else { Change::Grow(length) });
    }
    pub(super) fn allocate(&mut self, name: usize, length: usize) {
        if length > self.file(name).length {
            self.change(name, Change::Grow(length));
        }
    }
    pub(super) fn sync(&mut self, name: usize) {
        settle(&mut self.file(name).changes, Certainty::Certain);
    }
    pub(super) fn fail_sync(&mut self, name: usize) {
        settle(&mut self.file(name).changes, Certainty::Never);
    }

    /// Whether the disk is one that a power cut may have left.
    pub(super) fn check(&self, disk: &SimulatedDisk) -> Result<(), String> {
        let found: Vec<Option<Vec<u8>>> = (0..NAMES).map(|name| contents(disk, &path(name))).collect();
        let is_file = |name: usize, file: usize| {
            let is_candidate = self.names[name].candidates().contains(&Some(file));
            is_candidate && found[name].as_ref().is_some_and(|bytes| self.files[file].may_be(bytes))
        };
        for (name, bytes) in found.iter().enumerate() {
            let is_legal = match bytes {
                None => self.names[name].candidates().contains(&None),
                Some(_) => (0..self.files.len()).any(|file| is_file(name, file)),
            };
            if !is_legal {
                return Err(format!("`{}` has impossible contents", path(name).display()));
            }
        }
        let is_lost = |file: &usize| !(0..NAMES).any(|name| is_file(name, *file));
        match (0..self.files.len()).filter(|file| self.files[*file].is_anchored).find(is_lost) {
            Some(file) => Err(format!("file {file} has lost its name")),
            None => Ok(()),
        }
    }
    /// A model of what is found, all of it certain. A rename between directories may have left a file with two
    /// names; the second one is removed first.
    pub(super) fn adopt(disk: &SimulatedDisk) -> Self {
        let mut model = Self::default();
        for name in 0..NAMES {
            let Some(bytes) = contents(disk, &path(name)) else { continue };
            let is_double = |other: usize| contents(disk, &path(other)).as_ref() == Some(&bytes);
            if (0..name).any(is_double) {
                disk.remove(&path(name)).unwrap();
                continue;
            }
            model.create(name);
            model.write(name, 0, bytes);
            model.sync(name);
        }
        for directory in 0..2 {
            disk.sync_directory(Path::new(&format!("/{directory}"))).unwrap();
            model.sync_directory(directory);
        }
        model
    }

    fn file(&mut self, name: usize) -> &mut File {
        let file = self.names[name].now().expect("the disk found a file there");
        &mut self.files[file]
    }
    fn change(&mut self, name: usize, change: Change) {
        let file = self.file(name);
        file.length = change.length_after(file.length);
        file.changes.push((change, Certainty::Open));
    }
    fn set(&mut self, name: usize, file: Option<usize>) {
        self.names[name].0.push((file, Certainty::Open));
    }
    fn release(&mut self, name: usize) {
        if let Some(file) = self.names[name].now() {
            self.files[file].is_anchored = false;
        }
    }
}

/// Changes that were open get this certainty.
fn settle<T>(changes: &mut [(T, Certainty)], certainty: Certainty) {
    changes.iter_mut().filter(|(_, now)| *now == Certainty::Open).for_each(|(_, now)| *now = certainty);
}

impl File {
    fn may_be(&self, found: &[u8]) -> bool {
        let (shortest, longest) = self.lengths();
        (shortest..=longest).contains(&found.len())
            && found.iter().enumerate().all(|(place, byte)| self.bytes_at(place)[usize::from(*byte)])
    }
    fn lengths(&self) -> (usize, usize) {
        self.changes.iter().fold((0, 0), |(shortest, longest), (change, certainty)| {
            let (short, long) = (change.length_after(shortest), change.length_after(longest));
            match certainty {
                Certainty::Certain => (short, long),
                Certainty::Open | Certainty::Never => (short.min(shortest), long.max(longest)),
            }
        })
    }
    /// Which values the byte at `place` may have.
    fn bytes_at(&self, place: usize) -> [bool; 256] {
        let only = |byte: u8| std::array::from_fn(|value| value == usize::from(byte));
        let mut possible = only(0);
        for (change, certainty) in &self.changes {
            let Some(byte) = change.byte_at(place) else { continue };
            if *certainty == Certainty::Certain {
                possible = only(byte);
            }
            possible[usize::from(byte)] = true;
        }
        possible
    }
}

impl Change {
    fn length_after(&self, before: usize) -> usize {
        match self {
            Self::Write(offset, bytes) => before.max(offset + bytes.len()),
            Self::Cut(length) => before.min(*length),
            Self::Grow(length) => before.max(*length),
        }
    }
    /// The value that the change gives the byte at `place`, if any.
    fn byte_at(&self, place: usize) -> Option<u8> {
        match self {
            Self::Write(offset, bytes) => bytes.get(place.checked_sub(*offset)?).copied(),
            Self::Cut(length) => (place >= *length).then_some(0),
            Self::Grow(_) => None,
        }
    }
}
