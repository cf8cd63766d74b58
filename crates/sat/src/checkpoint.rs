//! A checkpoint: everything that is not in extents and index runs, at one frame, in chunks.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | kind of chunk |
//! | 4 | bytes of content |
//! | 4 | checksum of kind, length and content, with its place |
//! | 4 | nothing |
//! | … | content |
//!
//! The last chunk is of kind [`END`] and says how many there are. The file is filled up with zeros to 4 KiB.
//!
//! **Invariant:** a checkpoint is never changed. It is in effect from the moment that the superblock names it.

use crate::checksum::{Kind, Place};
use crate::error::{Error, Result, Trying};
use base::disk::{AlignedBytes, BLOCK_BYTES, DiskFile};
use std::path::PathBuf;
use std::sync::Arc;

/// Numbers of the store as a whole.
pub(crate) const STATE: u32 = 1;
/// The caller's table.
pub(crate) const TABLE: u32 = 2;
/// The slots of some numbers.
pub(crate) const SLOTS: u32 = 3;
/// A bucket: extents, dead copies, and what is in its write buffer.
pub(crate) const BUCKET: u32 = 4;
/// A run of the key index.
pub(crate) const INDEX: u32 = 5;
/// The end.
pub(crate) const END: u32 = 6;

const HEAD_BYTES: usize = 16;
const WINDOW_BYTES: usize = 1 << 20;

/// A checkpoint being assembled in memory.
#[derive(Debug, Default)]
pub(crate) struct Image {
    bytes: AlignedBytes,
    /// Where chunks begin.
    chunks: Vec<usize>,
}

impl Image {
    /// An image in `memory`, which has or gets room for `bytes`.
    pub(crate) fn new(memory: AlignedBytes, bytes: usize) -> Self {
        let mut memory = if memory.capacity() < bytes { AlignedBytes::with_capacity(bytes) } else { memory };
        memory.clear();
        Self { bytes: memory, chunks: Vec::new() }
    }
    /// Adds a chunk that `fill` writes.
    pub(crate) fn chunk(&mut self, kind: u32, fill: impl FnOnce(&mut AlignedBytes)) {
        let start = self.bytes.len();
        self.chunks.push(start);
        self.bytes.extend_from_slice(&[0; HEAD_BYTES]);
        fill(&mut self.bytes);
        let length = u32::try_from(self.bytes.len() - start - HEAD_BYTES).expect("a chunk is small");
        self.bytes[start..start + 4].copy_from_slice(&kind.to_le_bytes());
        self.bytes[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
    }
    /// The bytes with their checksums, for generation `generation`.
    pub(crate) fn seal(mut self, store: u64, generation: u64) -> AlignedBytes {
        let count = u32::try_from(self.chunks.len()).expect("chunks are few");
        self.chunk(END, |bytes| bytes.extend_from_slice(&count.to_le_bytes()));
        for (place, start) in self.chunks.iter().enumerate() {
            let end = self.chunks.get(place + 1).copied().unwrap_or(self.bytes.len());
            let at = Place { store, kind: Kind::Checkpoint, file: generation, offset: *start as u64 };
            let chunk = &mut self.bytes[*start..end];
            let sum = at.checksum(&[&chunk[0..8], &chunk[HEAD_BYTES..]]);
            chunk[8..12].copy_from_slice(&sum.to_le_bytes());
        }
        self.bytes.pad_to(BLOCK_BYTES);
        self.bytes
    }
}

/// Reads the chunks of a checkpoint in order.
#[derive(Debug)]
pub(crate) struct Reader {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    store: u64,
    generation: u64,
    length: u64,
    offset: u64,
    window: AlignedBytes,
    window_at: u64,
    chunks: u32,
}

impl Reader {
    pub(crate) fn new(
        file: Arc<dyn DiskFile>,
        path: PathBuf,
        store: u64,
        generation: u64,
        length: u64,
    ) -> Result<Self> {
        let found = file.length().trying("measure", &path)?;
        if found < length {
            return Err(Error::Damaged { path, offset: found, what: "the checkpoint is cut short" });
        }
        let (window, window_at) = (AlignedBytes::new(), 0);
        Ok(Self { file, path, store, generation, length, offset: 0, window, window_at, chunks: 0 })
    }
    /// Kind and content of the next chunk; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<(u32, Vec<u8>)>> {
        let head = self.bytes(self.offset, HEAD_BYTES)?.to_vec();
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| head[at + byte]));
        let (kind, length) = (word(0), word(4) as usize);
        let content = self.bytes(self.offset + HEAD_BYTES as u64, length)?.to_vec();
        let place =
            Place { store: self.store, kind: Kind::Checkpoint, file: self.generation, offset: self.offset };
        if place.checksum(&[&head[0..8], &content]) != word(8) {
            return Err(self.damaged("a chunk of the checkpoint fails its checksum"));
        }
        self.offset += (HEAD_BYTES + length) as u64;
        if kind == END {
            let whole = content == self.chunks.to_le_bytes();
            return if whole { Ok(None) } else { Err(self.damaged("the checkpoint lacks chunks")) };
        }
        self.chunks += 1;
        Ok(Some((kind, content)))
    }
    pub(crate) fn damaged(&self, what: &'static str) -> Error {
        Error::Damaged { path: self.path.clone(), offset: self.offset, what }
    }
    fn bytes(&mut self, offset: u64, length: usize) -> Result<&[u8]> {
        if offset + length as u64 > self.length {
            return Err(self.damaged("the checkpoint ends in the middle of a chunk"));
        }
        let is_covered =
            self.window_at <= offset && offset + length as u64 <= self.window_at + self.window.len() as u64;
        if !is_covered {
            let from = offset / BLOCK_BYTES as u64 * BLOCK_BYTES as u64;
            let wanted = (length.max(WINDOW_BYTES) as u64 + BLOCK_BYTES as u64).min(self.length - from);
            self.window.resize(usize::try_from(wanted).expect("a window fits memory"));
            self.file.read_at(from, &mut self.window).trying("read", &self.path)?;
            self.window_at = from;
        }
        let at = usize::try_from(offset - self.window_at).expect("a window fits memory");
        Ok(&self.window[at..at + length])
    }
}
