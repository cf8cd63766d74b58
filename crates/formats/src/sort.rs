//! Sorts more items than memory holds: by runs on disk that are merged.
//!
//! Runs are files without a name in a directory that the caller gives, so nothing is left behind, whatever happens.
//!
//! **Invariant:** a sorter holds at most the bytes that it was given and one item more, and [`RUNS_MAX`] open files a
//! level; each level holds [`RUNS_MAX`] times as much as the one below, so there are few.

use crate::Error;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The most runs of one level; one more and they are merged into one of the next.
const RUNS_MAX: usize = 64;
/// The buffer of a run that is read or written.
const BUFFER_BYTES: usize = 32 * 1024;

/// Takes items in any order.
#[derive(Debug)]
pub(crate) struct Sorter {
    directory: PathBuf,
    memory_bytes_max: usize,
    bytes: Vec<u8>,
    items: Vec<Range<usize>>,
    runs: Vec<Run>,
}

#[derive(Debug)]
struct Run {
    level: u32,
    file: BufReader<File>,
}

impl Sorter {
    /// A sorter that spools to `directory` what does not fit into `memory_bytes_max`.
    pub(crate) fn new(directory: &Path, memory_bytes_max: usize) -> Self {
        let directory = directory.to_owned();
        Self { directory, memory_bytes_max, bytes: Vec::new(), items: Vec::new(), runs: Vec::new() }
    }

    /// Adds an item.
    pub(crate) fn push(&mut self, item: &[u8]) -> Result<(), Error> {
        let needed = self.bytes.len() + item.len() + (self.items.len() + 1) * size_of::<Range<usize>>();
        if needed > self.memory_bytes_max && !self.items.is_empty() {
            self.spill().map_err(Error::io("spool what is to be sorted"))?;
        }
        let start = self.bytes.len();
        self.make_room(start + item.len());
        self.bytes.extend_from_slice(item);
        self.items.push(start..self.bytes.len());
        Ok(())
    }

    /// Grows step by step like any vector, but not beyond what is given.
    fn make_room(&mut self, needed: usize) {
        if needed > self.bytes.capacity() {
            let wanted = (self.bytes.capacity() * 2).min(self.memory_bytes_max).max(needed);
            self.bytes.reserve_exact(wanted - self.bytes.len());
        }
    }

    /// All items in the order of their bytes, equal ones as often as they were added.
    pub(crate) fn finish(mut self) -> Result<Sorted, Error> {
        self.sort();
        let memory = Memory { bytes: self.bytes, items: self.items.into_iter() };
        Sorted::new(memory, self.runs).map_err(Error::io("read what was spooled for sorting"))
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.items.sort_unstable_by_key(|item| bytes.get(item.clone()).unwrap_or_default());
    }

    fn spill(&mut self) -> io::Result<()> {
        self.sort();
        let mut run = self.begin_run()?;
        for item in self.items.drain(..) {
            write_item(&mut run, self.bytes.get(item).unwrap_or_default())?;
        }
        self.bytes.clear();
        self.keep(run, 0)?;
        self.merge_full_level()
    }

    /// Merges the runs of the lowest level when it is full, and so on upwards.
    fn merge_full_level(&mut self) -> io::Result<()> {
        while let Some(level) = self.runs.last().map(|run| run.level) {
            let first = self.runs.iter().position(|run| run.level == level).unwrap_or_default();
            if self.runs.len() - first < RUNS_MAX {
                return Ok(());
            }
            let full = self.runs.split_off(first);
            let mut sorted = Sorted::new(Memory::default(), full)?;
            let mut run = self.begin_run()?;
            while let Some(item) = sorted.advance()? {
                write_item(&mut run, item)?;
            }
            self.keep(run, level + 1)?;
        }
        Ok(())
    }

    fn begin_run(&self) -> io::Result<BufWriter<File>> {
        Ok(BufWriter::with_capacity(BUFFER_BYTES, tempfile::tempfile_in(&self.directory)?))
    }

    fn keep(&mut self, run: BufWriter<File>, level: u32) -> io::Result<()> {
        let mut file = run.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        self.runs.push(Run { level, file: BufReader::with_capacity(BUFFER_BYTES, file) });
        Ok(())
    }
}

fn write_item(run: &mut impl Write, item: &[u8]) -> io::Result<()> {
    let length = u32::try_from(item.len()).map_err(|_| io::Error::other("an item is too long"))?;
    run.write_all(&length.to_le_bytes())?;
    run.write_all(item)
}

#[derive(Debug, Default)]
struct Memory {
    bytes: Vec<u8>,
    items: std::vec::IntoIter<Range<usize>>,
}

/// Hands out items in order.
#[derive(Debug)]
pub(crate) struct Sorted {
    memory: Memory,
    runs: Vec<Run>,
    /// The next item of each run, and which run that is.
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    current: Vec<u8>,
}

/// The items that never left memory are the run behind all others.
const MEMORY: usize = usize::MAX;

impl Sorted {
    fn new(memory: Memory, runs: Vec<Run>) -> io::Result<Self> {
        let mut sorted = Self { memory, runs, heads: BinaryHeap::new(), current: Vec::new() };
        for run in (0..sorted.runs.len()).chain([MEMORY]) {
            let mut item = Vec::new();
            if sorted.read(run, &mut item)? {
                sorted.heads.push(Reverse((item, run)));
            }
        }
        Ok(sorted)
    }

    /// The next item.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        self.advance().map_err(Error::io("read what was spooled for sorting"))
    }

    fn advance(&mut self) -> io::Result<Option<&[u8]>> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        let Reverse((item, run)) = &mut *head;
        std::mem::swap(&mut self.current, item);
        let more = read(&mut self.memory, &mut self.runs, *run, item)?;
        if !more {
            PeekMut::pop(head);
        }
        Ok(Some(&self.current))
    }

    fn read(&mut self, run: usize, item: &mut Vec<u8>) -> io::Result<bool> {
        read(&mut self.memory, &mut self.runs, run, item)
    }
}

/// Reads the next item of a run; false at its end.
fn read(memory: &mut Memory, runs: &mut [Run], run: usize, item: &mut Vec<u8>) -> io::Result<bool> {
    item.clear();
    let Some(run) = runs.get_mut(run) else {
        let next = memory.items.next();
        item.extend_from_slice(next.clone().and_then(|next| memory.bytes.get(next)).unwrap_or_default());
        return Ok(next.is_some());
    };
    let mut length = [0; 4];
    match run.file.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
        other => other?,
    }
    let length = usize::try_from(u32::from_le_bytes(length)).map_err(io::Error::other)?;
    item.resize(length, 0);
    run.file.read_exact(item)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Chance;

    #[track_caller]
    fn check(count: usize, memory_bytes_max: usize, levels: u32) {
        let directory = tempfile::tempdir().unwrap();
        let mut chance = Chance::new(count as u64);
        let mut items: Vec<Vec<u8>> =
            (0..count).map(|_| format!("{:x}", chance.bits() % 10_000).into_bytes()).collect();
        let mut sorter = Sorter::new(directory.path(), memory_bytes_max);
        for item in &items {
            sorter.push(item).unwrap();
            let most = memory_bytes_max.max(100);
            assert!(sorter.bytes.len() <= most && sorter.runs.len() < 4 * RUNS_MAX);
        }
        assert_eq!(sorter.runs.iter().map(|run| run.level + 1).max().unwrap_or(0), levels);
        let mut sorted = sorter.finish().unwrap();
        items.sort();
        for item in &items {
            assert_eq!(sorted.next().unwrap(), Some(item.as_slice()));
        }
        assert_eq!(sorted.next().unwrap(), None);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "runs have no names");
    }

    #[test]
    fn items_come_back_in_order_however_many_runs_they_took() {
        check(0, 1_000, 0);
        check(1, 0, 0);
        check(30, 1_000_000, 0);
        check(1_000, 1_000, 1);
        check(9_000, 0, 3);
    }
}
