//! Sorts more items than memory holds: sorted pieces on disk that are merged.
//!
//! The pieces are files without a name in a directory that the caller gives, so nothing remains after a crash.
//!
//! **Invariant:** a sorter holds at most its maximum of bytes plus one item, and fewer than [`PIECES_MAX`] open files
//! per level; each level holds [`PIECES_MAX`] times as much as the one below, so there are few. The order does not
//! depend on how much was spilled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Number of pieces of one level that are merged into one of the next.
const PIECES_MAX: usize = 64;
/// The buffer of a piece that is read or written.
const BUFFER_BYTES: usize = 32 * 1024;

/// Takes items in any order: a key, which they are sorted by first, and a value.
#[derive(Debug)]
pub struct ExternalSorter {
    directory: PathBuf,
    memory_bytes_max: usize,
    bytes: Vec<u8>,
    items: Vec<Item>,
    pieces: Vec<Piece>,
    count: u64,
}

/// The position of an item in the bytes, and the end of its key.
#[derive(Clone, Debug)]
struct Item {
    all: Range<usize>,
    key_end: usize,
}

#[derive(Debug)]
struct Piece {
    level: u32,
    file: BufReader<File>,
}

impl ExternalSorter {
    /// A sorter that writes to `directory` what does not fit into `memory_bytes_max`.
    #[must_use]
    pub fn new(directory: &Path, memory_bytes_max: usize) -> Self {
        let (directory, bytes, items, pieces) = (directory.to_owned(), Vec::new(), Vec::new(), Vec::new());
        Self { directory, memory_bytes_max, bytes, items, pieces, count: 0 }
    }

    /// How many items were added.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds an item.
    ///
    /// # Errors
    /// When the directory cannot be written to.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        let length = key.len() + value.len();
        let needed = self.bytes.len() + length + (self.items.len() + 1) * size_of::<Item>();
        if needed > self.memory_bytes_max && !self.items.is_empty() {
            self.spill()?;
        }
        let start = self.bytes.len();
        self.make_room(start + length);
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        self.items.push(Item { all: start..self.bytes.len(), key_end: start + key.len() });
        self.count += 1;
        Ok(())
    }

    /// Grows like a vector, but not beyond the maximum.
    fn make_room(&mut self, needed: usize) {
        if needed > self.bytes.capacity() {
            let wanted = (self.bytes.capacity() * 2).min(self.memory_bytes_max).max(needed);
            self.bytes.reserve_exact(wanted - self.bytes.len());
        }
    }

    /// All items in the order of their keys, then of their values; equal ones as often as they were added.
    ///
    /// # Errors
    /// When what was written cannot be read back.
    pub fn finish(mut self) -> io::Result<SortedItems> {
        self.sort();
        SortedItems::new(Memory { bytes: self.bytes, items: self.items.into_iter() }, self.pieces)
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.items.sort_unstable_by_key(|item| split(bytes, item));
    }

    fn spill(&mut self) -> io::Result<()> {
        self.sort();
        let mut piece = self.begin_piece()?;
        for item in self.items.drain(..) {
            let (key, value) = split(&self.bytes, &item);
            write_item(&mut piece, key, value)?;
        }
        self.bytes.clear();
        self.keep(piece, 0)?;
        self.merge_full_levels()
    }

    /// Merges the pieces of the lowest level when it is full, and so on upwards.
    fn merge_full_levels(&mut self) -> io::Result<()> {
        while let Some(level) = self.pieces.last().map(|piece| piece.level) {
            let first = self.pieces.iter().position(|piece| piece.level == level).unwrap_or_default();
            if self.pieces.len() - first < PIECES_MAX {
                return Ok(());
            }
            let full = self.pieces.split_off(first);
            let mut sorted = SortedItems::new(Memory::default(), full)?;
            let mut piece = self.begin_piece()?;
            while let Some((key, value)) = sorted.next()? {
                write_item(&mut piece, key, value)?;
            }
            self.keep(piece, level + 1)?;
        }
        Ok(())
    }

    fn begin_piece(&self) -> io::Result<BufWriter<File>> {
        Ok(BufWriter::with_capacity(BUFFER_BYTES, tempfile::tempfile_in(&self.directory)?))
    }

    fn keep(&mut self, piece: BufWriter<File>, level: u32) -> io::Result<()> {
        let mut file = piece.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        self.pieces.push(Piece { level, file: BufReader::with_capacity(BUFFER_BYTES, file) });
        Ok(())
    }
}

fn split<'b>(bytes: &'b [u8], item: &Item) -> (&'b [u8], &'b [u8]) {
    let all = bytes.get(item.all.clone()).unwrap_or_default();
    all.split_at_checked(item.key_end - item.all.start).unwrap_or((all, &[]))
}

fn write_item(piece: &mut impl Write, key: &[u8], value: &[u8]) -> io::Result<()> {
    for part in [key, value] {
        let length = u32::try_from(part.len()).map_err(|_| io::Error::other("an item is too long"))?;
        piece.write_all(&length.to_le_bytes())?;
    }
    piece.write_all(key)?;
    piece.write_all(value)
}

#[derive(Debug, Default)]
struct Memory {
    bytes: Vec<u8>,
    items: std::vec::IntoIter<Item>,
}

/// Returns items in order.
#[derive(Debug)]
pub struct SortedItems {
    memory: Memory,
    pieces: Vec<Piece>,
    /// The next item of each piece, and which piece that is.
    heads: BinaryHeap<Reverse<(KeyedBytes, usize)>>,
    current: KeyedBytes,
}

/// An item, ordered by its key, then by its value.
#[derive(Debug, Default, PartialEq, Eq)]
struct KeyedBytes {
    bytes: Vec<u8>,
    key_bytes: usize,
}

impl KeyedBytes {
    fn split(&self) -> (&[u8], &[u8]) {
        self.bytes.split_at_checked(self.key_bytes).unwrap_or((&self.bytes, &[]))
    }
}

impl Ord for KeyedBytes {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.split().cmp(&other.split())
    }
}

impl PartialOrd for KeyedBytes {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The items that never left memory are the piece after all others.
const MEMORY: usize = usize::MAX;

impl SortedItems {
    fn new(memory: Memory, pieces: Vec<Piece>) -> io::Result<Self> {
        let (heads, current) = (BinaryHeap::new(), KeyedBytes::default());
        let mut sorted = Self { memory, pieces, heads, current };
        for piece in (0..sorted.pieces.len()).chain([MEMORY]) {
            let mut item = KeyedBytes::default();
            if read(&mut sorted.memory, &mut sorted.pieces, piece, &mut item)? {
                sorted.heads.push(Reverse((item, piece)));
            }
        }
        Ok(sorted)
    }

    /// The key and the value of the next item.
    ///
    /// # Errors
    /// When what was written cannot be read back.
    #[expect(clippy::should_implement_trait, reason = "an item lives until the next call")]
    pub fn next(&mut self) -> io::Result<Option<(&[u8], &[u8])>> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        let Reverse((item, piece)) = &mut *head;
        std::mem::swap(&mut self.current, item);
        let more = read(&mut self.memory, &mut self.pieces, *piece, item)?;
        if !more {
            PeekMut::pop(head);
        }
        Ok(Some(self.current.split()))
    }
}

/// Reads the next item of a piece; false at its end.
fn read(memory: &mut Memory, pieces: &mut [Piece], piece: usize, item: &mut KeyedBytes) -> io::Result<bool> {
    item.bytes.clear();
    let Some(piece) = pieces.get_mut(piece) else {
        let Some(next) = memory.items.next() else { return Ok(false) };
        item.key_bytes = next.key_end - next.all.start;
        item.bytes.extend_from_slice(memory.bytes.get(next.all).unwrap_or_default());
        return Ok(true);
    };
    let mut lengths = [0; 8];
    match piece.file.read_exact(&mut lengths) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
        other => other?,
    }
    let [a, b, c, d, e, f, g, h] = lengths;
    item.key_bytes = u32::from_le_bytes([a, b, c, d]) as usize;
    item.bytes.resize(item.key_bytes + u32::from_le_bytes([e, f, g, h]) as usize, 0);
    piece.file.read_exact(&mut item.bytes)?;
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
        // Keys are prefixes of each other, so key and value must be kept apart.
        let mut items: Vec<(Vec<u8>, Vec<u8>)> = (0..count)
            .map(|_| {
                let text = format!("{:x}", chance.bits() % 10_000).into_bytes();
                let (key, value) = text.split_at(chance.index(text.len() + 1));
                (key.to_vec(), value.to_vec())
            })
            .collect();
        let mut sorter = ExternalSorter::new(directory.path(), memory_bytes_max);
        for (key, value) in &items {
            sorter.push(key, value).unwrap();
            let most = memory_bytes_max.max(100);
            assert!(sorter.bytes.len() <= most && sorter.pieces.len() < 4 * PIECES_MAX);
        }
        assert_eq!(sorter.count(), count as u64);
        assert_eq!(sorter.pieces.iter().map(|piece| piece.level + 1).max().unwrap_or(0), levels);
        let mut sorted = sorter.finish().unwrap();
        items.sort();
        for (key, value) in &items {
            assert_eq!(sorted.next().unwrap(), Some((key.as_slice(), value.as_slice())));
        }
        assert_eq!(sorted.next().unwrap(), None);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "pieces have no names");
    }

    #[test]
    fn items_come_back_in_order_however_many_pieces_they_took() {
        check(0, 1_000, 0);
        check(1, 0, 0);
        check(30, 1_000_000, 0);
        check(1_000, 1_000, 1);
        check(9_000, 0, 3);
    }
}
