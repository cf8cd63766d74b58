//! Makes room in the pool: large buffers are written together, in time order; small ones and those due soon are kept
//! (S2).

use super::Store;
use crate::bucket::Kind;
use crate::error::Result;
use crate::extent::{self, Cut};
use crate::options::Buffers;
use crate::pool::{self, Pool};
use crate::record::{self, DueRecord};
use crate::resolution::CLASSES;
use crate::work::{Piece, RunDone, RunJob};

/// With strict timing a flush begins a new extent with a new due minute once it has this many bytes, if the bucket is
/// so near that each can be read at its own minute …
const EXTENT_BYTES_MIN: usize = 4 << 10;
/// … and this many if it is far: its records will move to nearer buckets in any case, and more extents cost memory.
const FAR_EXTENT_BYTES_MIN: usize = 32 << 10;
/// The τ from which a bucket counts as far.
const FAR_TAU_MINUTES: u32 = 64;
/// Maximum bytes of an extent, so that reading ahead stays bounded.
const EXTENT_BYTES_MAX: usize = 256 << 10;
/// About how many bytes are written by one job.
const RUN_BYTES: usize = 2 << 20;

/// Number of blocks that one flush writes. The same number is still free when it begins: filling them takes about as
/// long as writing.
fn flushed_at_once(pool: &Pool) -> usize {
    pool.blocks() / 8 * 3
}

/// State between two flushes.
#[derive(Debug, Default)]
pub(super) struct Flush {
    /// The minute of the last flush.
    minute: u32,
}

impl Store {
    /// Ensures that the pool has the blocks for `bytes` more in the buffer of `slot`.
    ///
    /// A flush is started early, while a part of the pool is still free, so that the caller rarely waits for it.
    pub(super) fn make_room(&mut self, needed: usize, slot: u32, bytes: usize) -> Result<()> {
        // One buffer is written as one run, which has to fit a segment.
        let chain_bytes_max = match self.options.buffers {
            Buffers::Shared => self.options.segment_bytes as usize / 8,
            Buffers::Fixed { bytes } => bytes.min(self.options.segment_bytes as usize / 8),
        };
        if self.buckets.at(slot).chain.bytes() >= chain_bytes_max {
            self.flush_buckets(vec![slot])?;
        }
        let is_low = |pool: &Pool| pool.free() < flushed_at_once(pool) + needed;
        if is_low(&self.pool) {
            self.collect_flushed()?;
            if self.flusher.outstanding() == 0 && is_low(&self.pool) {
                self.flush_part()?;
            }
        }
        while self.pool.free() < self.pool.needed(&self.buckets.at(slot).chain, bytes) {
            if self.flusher.outstanding() == 0 {
                self.flush_part()?;
            }
            self.wait_for_flush()?;
        }
        Ok(())
    }
    /// Begins to write a part of the pool.
    fn flush_part(&mut self) -> Result<()> {
        let elapsed = self.position - self.flush.minute.min(self.position);
        self.flush.minute = self.position;
        let target = flushed_at_once(&self.pool);
        // What is due before the next flush will be delivered from memory.
        let soon = self.position.saturating_add(elapsed);
        let mut chosen: Vec<(bool, usize, u32)> = Vec::with_capacity(self.buckets.chained().len());
        for slot in self.buckets.chained() {
            let bucket = self.buckets.at(*slot);
            let is_soon = bucket.kind == Kind::Due && bucket.start <= soon;
            chosen.push((is_soon, usize::MAX - bucket.chain.block_count(), *slot));
        }
        chosen.sort_unstable();
        let mut blocks = 0;
        let enough = chosen.iter().position(|(_, inverse, _)| {
            blocks += usize::MAX - inverse;
            blocks >= target
        });
        chosen.truncate(enough.map_or(chosen.len(), |place| place + 1));
        self.flush_buckets(chosen.into_iter().map(|(_, _, slot)| slot).collect())
    }
    /// Begins to write every buffer of at least `bytes_min`, except those due within `minutes`.
    pub(super) fn flush_large(&mut self, bytes_min: usize, minutes: u32) -> Result<()> {
        let elapsed = self.position - self.flush.minute.min(self.position);
        let soon = self.position.saturating_add(elapsed.clamp(1, minutes.max(1)));
        let is_chosen = |slot: &&u32| {
            let bucket = self.buckets.at(**slot);
            bucket.chain.bytes() >= bytes_min && !(bucket.kind == Kind::Due && bucket.start <= soon)
        };
        let chosen = self.buckets.chained().iter().filter(is_chosen).copied().collect();
        self.flush_buckets(chosen)
    }
    /// Begins to write the buffers of some buckets, in time order, as one sequential run for each class.
    pub(super) fn flush_buckets(&mut self, mut slots: Vec<u32>) -> Result<()> {
        slots.sort_unstable_by_key(|slot| self.buckets.at(*slot).start);
        self.statistics.flushes += 1;
        let mut runs: [(Vec<Piece>, usize); CLASSES] = std::array::from_fn(|_| (Vec::new(), 0));
        for slot in slots {
            if self.buckets.at(slot).is_open && !self.trim(slot) {
                continue;
            }
            let class = self.class_of(slot);
            let piece = self.piece(slot);
            let bytes = extent::bytes_max(piece.chain.bytes(), piece.chain.records(), piece.cut);
            let (pieces, run_bytes) = &mut runs[class];
            if *run_bytes + bytes > RUN_BYTES.min(self.options.segment_bytes as usize / 2)
                && !pieces.is_empty()
            {
                let (pieces, run_bytes) = std::mem::take(&mut runs[class]);
                self.submit_run(class, pieces, run_bytes)?;
            }
            let (pieces, run_bytes) = &mut runs[class];
            pieces.push(piece);
            *run_bytes += bytes;
        }
        for (class, (pieces, run_bytes)) in runs.into_iter().enumerate() {
            if !pieces.is_empty() {
                self.submit_run(class, pieces, run_bytes)?;
            }
        }
        Ok(())
    }
    fn class_of(&self, slot: u32) -> usize {
        let bucket = self.buckets.at(slot);
        if bucket.kind == Kind::Due && bucket.start > self.position {
            self.options.resolution.class(bucket.start - self.position)
        } else {
            0
        }
    }
    fn piece(&mut self, slot: u32) -> Piece {
        let chain = self.buckets.take_chain(slot);
        let bucket = self.buckets.at_mut(slot);
        bucket.flushing += 1;
        let sorted = self.options.strict && bucket.kind != Kind::Pending;
        let tau = self.options.resolution.tau_minutes(bucket.start.saturating_sub(self.position));
        let bytes_min = match sorted {
            true if tau < FAR_TAU_MINUTES => EXTENT_BYTES_MIN,
            true => FAR_EXTENT_BYTES_MIN,
            false => EXTENT_BYTES_MAX,
        };
        let cut = Cut { sorted, bytes_min, bytes_max: EXTENT_BYTES_MAX };
        Piece { slot, uid: bucket.uid, bucket: bucket.start, cut, chain }
    }
    fn submit_run(&mut self, class: usize, pieces: Vec<Piece>, bytes: usize) -> Result<()> {
        let room = self.segments.allocate(class, bytes);
        let (segment, offset, file) = self.stop_on_error(room)?;
        self.flusher.submit(RunJob {
            file,
            path: self.files.segment(segment),
            store: self.store,
            segment,
            offset,
            frame: self.frame.number,
            bytes_max: bytes,
            pieces,
        });
        Ok(())
    }
    /// Removes from an open bucket's buffer what was written elsewhere since. Returns whether anything is left.
    fn trim(&mut self, slot: u32) -> bool {
        let chain = self.buckets.take_chain(slot);
        let bytes = pool::gathered(&chain);
        let before = u64::from(chain.records());
        self.pool.give_back(chain.into_blocks());
        let bucket = self.buckets.at_mut(slot);
        for offset in record::offsets(&bytes) {
            let record = DueRecord::read(&bytes[offset..]);
            if self.slots.get(record.number.0) == slot && !bucket.is_dead(record.number.0, record.sequence) {
                bucket.chain.append(&mut self.pool, &record);
            }
        }
        bucket.copies -= before - u64::from(bucket.chain.records());
        let is_left = !bucket.chain.is_empty();
        if is_left {
            self.buckets.note_chain(slot);
        }
        is_left
    }
    /// Collects finished flushes, without waiting.
    pub(super) fn collect_flushed(&mut self) -> Result<()> {
        while let Some(done) = self.flusher.poll() {
            self.note_flushed(done)?;
        }
        Ok(())
    }
    fn wait_for_flush(&mut self) -> Result<()> {
        match self.flusher.wait() {
            Some(done) => self.note_flushed(done),
            None => Ok(()),
        }
    }
    /// Waits until nothing is being written.
    pub(super) fn wait_for_all_flushes(&mut self) -> Result<()> {
        while self.flusher.outstanding() > 0 {
            self.wait_for_flush()?;
        }
        Ok(())
    }
    fn note_flushed(&mut self, done: RunDone) -> Result<()> {
        self.pool.give_back(done.blocks);
        self.stop_on_error(done.result)?;
        self.statistics.data_bytes_written += done.bytes;
        self.segments.note_written(done.segment, done.written.iter().flat_map(|(_, _, extents)| extents));
        for (slot, uid, extents) in done.written {
            self.statistics.extents_written += extents.len() as u64;
            let bucket = self.buckets.at_mut(slot);
            assert_eq!(bucket.uid, uid, "a bucket stays while it is written");
            bucket.flushing -= 1;
            if bucket.is_open && bucket.is_chain_spent {
                // It was delivered from memory.
                bucket.spent.extend(extents);
            } else {
                bucket.extents.extend(extents);
                bucket.is_ordered = false;
                if bucket.is_open {
                    self.plan.note_overdue(self.position, slot, uid);
                }
            }
            self.drop_if_empty(slot);
        }
        Ok(())
    }
}
