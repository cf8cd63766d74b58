//! One file of an overlay: the file below, and the blocks that were changed.

use super::scratch::{Block, Scratch};
use crate::disk::{BLOCK_BYTES, DiskFile};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const BLOCK: u64 = BLOCK_BYTES as u64;

/// A file as it is seen through an overlay.
#[derive(Debug)]
pub(super) struct Layer {
    below: Option<Arc<dyn DiskFile>>,
    scratch: Arc<Mutex<Scratch>>,
    changes: Mutex<Changes>,
}

#[derive(Debug, Default)]
struct Changes {
    length: u64,
    /// How many bytes of the file below are still visible; zeros follow.
    below_length: u64,
    /// Block of the file → number of its copy.
    blocks: BTreeMap<u64, u64>,
}

impl Layer {
    /// A file with the contents of the one below. Later growth of that one is not seen.
    pub(super) fn over(below: Arc<dyn DiskFile>, scratch: Arc<Mutex<Scratch>>) -> io::Result<Self> {
        let length = below.length()?;
        let changes = Mutex::new(Changes { length, below_length: length, blocks: BTreeMap::new() });
        Ok(Self { below: Some(below), scratch, changes })
    }
    /// A new file.
    pub(super) fn empty(scratch: Arc<Mutex<Scratch>>) -> Self {
        Self { below: None, scratch, changes: Mutex::default() }
    }

    fn changes(&self) -> MutexGuard<'_, Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn scratch(&self) -> MutexGuard<'_, Scratch> {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Reads what lies below, with zeros after its end.
    fn read_below(&self, below_length: u64, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let seen = usize::try_from(below_length.saturating_sub(offset)).unwrap_or(usize::MAX);
        let (seen, rest) = buffer.split_at_mut(seen.min(buffer.len()));
        rest.fill(0);
        match &self.below {
            Some(below) if !seen.is_empty() => below.read_at(offset, seen),
            _ => Ok(()),
        }
    }
    /// One block as it is now.
    fn block(&self, changes: &Changes, number: u64) -> io::Result<Block> {
        if let Some(copy) = changes.blocks.get(&number) {
            return self.scratch().read(*copy);
        }
        let mut block = [0; BLOCK_BYTES];
        self.read_below(changes.below_length, number * BLOCK, &mut block)?;
        Ok(block)
    }
    fn put_block(&self, changes: &mut Changes, number: u64, block: &Block) -> io::Result<()> {
        if let Some(copy) = changes.blocks.get(&number) {
            return self.scratch().write(*copy, block);
        }
        let copy = self.scratch().add(block)?;
        changes.blocks.insert(number, copy);
        Ok(())
    }
    /// Removes everything from `length` on.
    fn cut(&self, changes: &mut Changes, length: u64) -> io::Result<()> {
        let within = usize::try_from(length % BLOCK).unwrap_or(0);
        if within > 0 && changes.blocks.contains_key(&(length / BLOCK)) {
            let mut block = self.block(changes, length / BLOCK)?;
            block[within..].fill(0);
            self.put_block(changes, length / BLOCK, &block)?;
        }
        let gone = changes.blocks.split_off(&length.div_ceil(BLOCK));
        gone.into_values().for_each(|copy| self.scratch().release(copy));
        changes.below_length = changes.below_length.min(length);
        Ok(())
    }
}

impl DiskFile for Layer {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let changes = self.changes();
        if offset.checked_add(buffer.len() as u64).is_none_or(|end| end > changes.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if changes.blocks.is_empty() {
            let below_length = changes.below_length;
            drop(changes);
            return self.read_below(below_length, offset, buffer);
        }
        for (number, from, piece) in pieces(offset, buffer) {
            if changes.blocks.contains_key(&number) {
                let block = self.block(&changes, number)?;
                piece.copy_from_slice(&block[from..from + piece.len()]);
            } else {
                self.read_below(changes.below_length, number * BLOCK + from as u64, piece)?;
            }
        }
        Ok(())
    }
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let changes = &mut *self.changes();
        let (mut at, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            let (number, from) = (at / BLOCK, usize::try_from(at % BLOCK).unwrap_or(0));
            let (piece, behind) = rest.split_at(rest.len().min(BLOCK_BYTES - from));
            let mut block =
                if piece.len() == BLOCK_BYTES { [0; BLOCK_BYTES] } else { self.block(changes, number)? };
            block[from..from + piece.len()].copy_from_slice(piece);
            self.put_block(changes, number, &block)?;
            (at, rest) = (at + piece.len() as u64, behind);
        }
        changes.length = changes.length.max(at);
        Ok(())
    }
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
    fn length(&self) -> io::Result<u64> {
        Ok(self.changes().length)
    }
    fn truncate(&self, length: u64) -> io::Result<()> {
        let changes = &mut *self.changes();
        if length < changes.length {
            self.cut(changes, length)?;
        }
        changes.length = length;
        Ok(())
    }
    fn allocate(&self, length: u64) -> io::Result<()> {
        let changes = &mut *self.changes();
        changes.length = changes.length.max(length);
        Ok(())
    }
}

impl Drop for Layer {
    fn drop(&mut self) {
        let copies = std::mem::take(&mut self.changes().blocks);
        copies.into_values().for_each(|copy| self.scratch().release(copy));
    }
}

/// Splits a buffer at block ends: block number, offset in the block, and the piece.
fn pieces(offset: u64, buffer: &mut [u8]) -> impl Iterator<Item = (u64, usize, &mut [u8])> {
    let (mut at, mut rest) = (offset, buffer);
    std::iter::from_fn(move || {
        let buffer = std::mem::take(&mut rest);
        if buffer.is_empty() {
            return None;
        }
        let (number, from) = (at / BLOCK, usize::try_from(at % BLOCK).unwrap_or(0));
        let length = buffer.len().min(BLOCK_BYTES - from);
        let (piece, behind) = buffer.split_at_mut(length);
        (at, rest) = (at + length as u64, behind);
        Some((number, from, piece))
    })
}
