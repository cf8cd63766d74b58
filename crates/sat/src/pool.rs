//! One pool of fixed blocks, shared by all write buffers (S2).
//!
//! A write buffer is a [`Chain`] of blocks that grows as long as the pool has some. Blocks are moved to the thread that
//! writes them and come back afterwards.
//!
//! **Invariant:** the number of blocks, wherever they are, never exceeds the pool's.

use crate::record::{self, DueRecord, HEAD_BYTES};

/// One fixed piece of memory.
pub(crate) type Block = Box<[u8]>;

/// The blocks that no buffer uses.
#[derive(Debug)]
pub(crate) struct Pool {
    free: Vec<Block>,
    /// Blocks that were never used and need not exist yet.
    unmade: usize,
    block_bytes: usize,
    blocks: usize,
}

impl Pool {
    pub(crate) fn new(bytes: usize) -> Self {
        // Small pools have small blocks, so that many half-filled buffers do not starve each other.
        let block_bytes = (bytes / 16_384).next_power_of_two().clamp(512, 4096);
        let blocks = bytes / block_bytes;
        Self { free: Vec::new(), unmade: blocks, block_bytes, blocks }
    }
    pub(crate) fn blocks(&self) -> usize {
        self.blocks
    }
    pub(crate) fn free(&self) -> usize {
        self.free.len() + self.unmade
    }
    /// How many more blocks `chain` needs to take `bytes`.
    pub(crate) fn needed(&self, chain: &Chain, bytes: usize) -> usize {
        bytes.saturating_sub(chain.room(self.block_bytes)).div_ceil(self.block_bytes)
    }
    fn take(&mut self) -> Block {
        self.free.pop().unwrap_or_else(|| {
            self.unmade = self.unmade.checked_sub(1).expect("the caller has made room before");
            vec![0; self.block_bytes].into_boxed_slice()
        })
    }
    pub(crate) fn give_back(&mut self, blocks: Vec<Block>) {
        self.free.extend(blocks);
        debug_assert!(self.free() <= self.blocks);
    }
}

/// A write buffer: records in sequence over a chain of blocks.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    blocks: Vec<Block>,
    bytes: usize,
    records: u32,
}

impl Chain {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
    pub(crate) fn records(&self) -> u32 {
        self.records
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.records == 0
    }
    /// How many blocks it holds.
    pub(crate) fn block_count(&self) -> usize {
        self.blocks.len()
    }
    fn room(&self, block_bytes: usize) -> usize {
        self.blocks.len() * block_bytes - self.bytes
    }
    /// Appends a record; the pool must have the blocks that [`Pool::needed`] tells.
    pub(crate) fn append(&mut self, pool: &mut Pool, record: &DueRecord<'_>) {
        let head = record.head();
        let within = self.bytes % pool.block_bytes;
        if within != 0 && pool.block_bytes - within >= record.bytes() {
            let block = self.blocks.last_mut().expect("a block that is begun");
            let (head_at, key_at) = (within, within + HEAD_BYTES);
            let value_at = key_at + record.key.len();
            block[head_at..key_at].copy_from_slice(&head);
            block[key_at..value_at].copy_from_slice(record.key);
            block[value_at..value_at + record.value.len()].copy_from_slice(record.value);
            self.bytes += record.bytes();
        } else {
            self.append_bytes(pool, &head);
            self.append_bytes(pool, record.key);
            self.append_bytes(pool, record.value);
        }
        self.records += 1;
    }
    /// Appends records as they stand; the pool must have the blocks.
    pub(crate) fn append_records(&mut self, pool: &mut Pool, records: u32, bytes: &[u8]) {
        self.append_bytes(pool, bytes);
        self.records += records;
    }
    fn append_bytes(&mut self, pool: &mut Pool, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let within = self.bytes % pool.block_bytes;
            if within == 0 {
                self.blocks.push(pool.take());
            }
            let (now, later) = bytes.split_at(bytes.len().min(pool.block_bytes - within));
            let block = self.blocks.last_mut().expect("a block was taken");
            block[within..within + now.len()].copy_from_slice(now);
            self.bytes += now.len();
            bytes = later;
        }
    }
    /// Its bytes, block by block.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let mut left = self.bytes;
        self.blocks.iter().map(move |block| {
            let used = left.min(block.len());
            left -= used;
            &block[..used]
        })
    }
    /// The blocks, for the pool.
    pub(crate) fn into_blocks(self) -> Vec<Block> {
        self.blocks
    }
}

/// A chain's bytes as one piece, to search it for a record.
pub(crate) fn gathered(chain: &Chain) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(chain.bytes());
    chain.pieces().for_each(|piece| bytes.extend_from_slice(piece));
    debug_assert_eq!(record::offsets(&bytes).count(), chain.records() as usize);
    bytes
}
