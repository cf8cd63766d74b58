//! Makes the state durable, concurrently with other work.
//!
//! At the moment of a checkpoint everything that is not in extents or index runs is copied into an image; a thread
//! writes it while the caller continues in the next part of the log. What the old checkpoint needed (extents, index
//! runs, parts of the log) is freed only when the superblock names the new one.

use super::{Checkpointer, Store, SuperblockFile};
use crate::bucket::{Bucket, Kind};
use crate::checkpoint::{self, Image};
use crate::error::Result;
use crate::slots;
use crate::superblock::Superblock;
use crate::work::{CheckpointDone, CheckpointJob};
use base::disk::AlignedBytes;
use std::path::PathBuf;

/// Before a checkpoint, buffers of at least this size are written: they need not be copied then.
const FLUSH_BYTES_MIN: usize = 16 << 10;

/// The checkpoints of a store.
#[derive(Debug)]
pub(super) struct Checkpoints {
    pub(super) worker: Checkpointer,
    pub(super) superblock_file: SuperblockFile,
    /// The last durable one.
    pub(super) generation: u64,
    pub(super) running: Option<Running>,
    /// The minute of the last one.
    minute: u32,
    /// Whether large buffers were flushed for the next one.
    is_prepared: bool,
    /// Index files that are no longer needed once the next one is durable.
    pub(super) obsolete: Vec<PathBuf>,
    /// The buffer of the last image.
    memory: AlignedBytes,
}

/// A checkpoint being written.
#[derive(Debug)]
pub(super) struct Running {
    generation: u64,
    /// The part of the log that follows it.
    part: u64,
    retired: Vec<(u32, u32)>,
}

impl Checkpoints {
    pub(super) fn new(worker: Checkpointer, superblock_file: SuperblockFile, generation: u64) -> Self {
        Self {
            worker,
            superblock_file,
            generation,
            running: None,
            minute: 0,
            is_prepared: false,
            obsolete: Vec::new(),
            memory: AlignedBytes::new(),
        }
    }
}

impl Store {
    /// Makes a checkpoint and waits for it. Checkpoints are also made automatically as the log grows. Opening a store
    /// right after one has nothing to replay.
    pub fn checkpoint(&mut self) -> Result<()> {
        self.commit()?;
        self.finish_checkpoint()?;
        self.begin_checkpoint()?;
        self.finish_checkpoint()
    }
    /// Begins a checkpoint when the log is long enough; called between commits.
    pub(super) fn checkpoint_if_due(&mut self) -> Result<()> {
        self.poll_checkpoint()?;
        let log_bytes = self.log.part_bytes();
        if !self.checkpoints.is_prepared && log_bytes >= self.options.log_bytes / 8 * 7 {
            self.prepare_checkpoint()?;
        }
        let is_long = log_bytes >= self.options.log_bytes || self.log.parts() > 1;
        if is_long && self.checkpoints.running.is_none() {
            self.begin_checkpoint()?;
        }
        Ok(())
    }
    /// Writes large buffers, which need not be copied into the image then.
    fn prepare_checkpoint(&mut self) -> Result<()> {
        self.checkpoints.is_prepared = true;
        // Records that are delivered long before the next checkpoint are cheaper to copy once than to write and read.
        let elapsed = self.position - self.checkpoints.minute.min(self.position);
        self.flush_large(FLUSH_BYTES_MIN, elapsed / 4)
    }
    /// Whether a commit of `bytes` fits into the log, which continues in another file while a checkpoint is running.
    pub(super) fn has_log_room(&mut self, bytes: usize) -> bool {
        self.log.has_room(bytes) || self.log.begin_part().is_some()
    }
    /// Makes the current commit durable as part of a checkpoint, if the log is full and the running checkpoint takes
    /// longer than filling two parts of the log.
    pub(super) fn commit_by_checkpoint(&mut self) -> Result<()> {
        self.finish_checkpoint()?;
        let frame = self.frame.number;
        self.begin_next_frame();
        self.begin_checkpoint()?;
        self.finish_checkpoint()?;
        let written = self.log.wait(frame - 1);
        self.stop_on_error(written)?;
        self.log.note_durable(frame);
        Ok(())
    }
    pub(super) fn begin_checkpoint(&mut self) -> Result<()> {
        self.give_space_back()?;
        if !self.checkpoints.is_prepared {
            self.prepare_checkpoint()?;
        }
        self.wait_for_all_flushes()?;
        if self.log.part_bytes() > 0 && self.log.begin_part().is_none() {
            unreachable!("no checkpoint is running, and a part is begun early only while one is");
        }
        let generation = self.checkpoints.generation + 1;
        let mut obsolete = std::mem::take(&mut self.checkpoints.obsolete);
        obsolete.push(self.files.checkpoint(generation - 1));
        obsolete.extend(self.segments.take_unneeded());
        let memory = std::mem::take(&mut self.checkpoints.memory);
        let image = self.image(memory);
        let job = CheckpointJob {
            files: self.files.clone(),
            data: self.segments.take_unsynced(),
            image,
            superblock_file: self.checkpoints.superblock_file.clone(),
            superblock: Superblock {
                store: self.store,
                secret: self.secret,
                generation,
                checkpoint_bytes: 0,
            },
            obsolete,
        };
        self.checkpoints.running =
            Some(Running { generation, part: self.log.part(), retired: self.segments.take_retired() });
        self.checkpoints.is_prepared = false;
        self.checkpoints.minute = self.position;
        self.checkpoints.worker.submit(job);
        Ok(())
    }
    fn poll_checkpoint(&mut self) -> Result<()> {
        match self.checkpoints.worker.poll() {
            Some(done) => self.note_checkpoint(done),
            None => Ok(()),
        }
    }
    /// Waits for the running checkpoint, if there is one.
    pub(super) fn finish_checkpoint(&mut self) -> Result<()> {
        match self.checkpoints.worker.wait() {
            Some(done) => self.note_checkpoint(done),
            None => Ok(()),
        }
    }
    fn note_checkpoint(&mut self, done: CheckpointDone) -> Result<()> {
        let image = self.stop_on_error(done)?;
        let bytes = image.len() as u64;
        self.checkpoints.memory = image;
        let running = self.checkpoints.running.take().expect("a checkpoint that ended was running");
        self.statistics.checkpoints += 1;
        self.statistics.checkpoint_bytes_written += bytes;
        self.checkpoints.generation = running.generation;
        self.log.release_before(running.part);
        self.segments.release(&running.retired);
        Ok(())
    }
    /// Everything that is not in extents and index runs.
    pub(super) fn image(&self, memory: AlignedBytes) -> Image {
        let mut image = Image::new(memory, self.image_bytes());
        image.chunk(checkpoint::STATE, |bytes| {
            put(bytes, &[self.sequence, self.frame.number - 1, self.log.part(), self.count]);
            put_words(bytes, &[self.position, self.options.segment_bytes, self.pending.slot]);
            put(bytes, &[self.options.log_bytes]);
            put_words(bytes, &[self.slots.len()]);
        });
        image.chunk(checkpoint::TABLE, |bytes| {
            for (name, value) in &self.table {
                put_words(bytes, &[word(name.len()), word(value.len())]);
                bytes.extend_from_slice(name);
                bytes.extend_from_slice(value);
            }
        });
        for piece in 0..self.slots.pieces() {
            image.chunk(checkpoint::SLOTS, |bytes| self.slots.write_piece(piece, bytes));
        }
        for (slot, bucket) in self.buckets.iter() {
            image.chunk(checkpoint::BUCKET, |bytes| write_bucket(slot, bucket, bytes));
        }
        for run in self.index.runs() {
            image.chunk(checkpoint::INDEX, |bytes| {
                put(bytes, &[run.generation, run.entries]);
                put(bytes, &run.fences);
            });
        }
        image
    }
}

impl Store {
    /// About how many bytes an image takes.
    fn image_bytes(&self) -> usize {
        let buckets = self.buckets.iter().map(|(_, bucket)| {
            let dead = bucket.dead.as_ref().map_or(0, |dead| dead.len());
            64 + 24 * (bucket.extents.len() + bucket.spent.len()) + 12 * dead + bucket.chain.bytes()
        });
        let index = self.index.runs().iter().map(|run| 32 + 8 * run.fences.len());
        let table = self.table.iter().map(|(name, value)| 8 + name.len() + value.len());
        let slots = self.slots.len() as usize;
        slots * 2 + slots / 512 + buckets.chain(index).chain(table).sum::<usize>() + (64 << 10)
    }
}

/// The number of a bucket's kind on disk.
pub(super) fn kind_number(kind: Kind) -> u32 {
    match kind {
        Kind::Due => 0,
        Kind::Held => 1,
        Kind::Pending => 2,
    }
}

fn write_bucket(slot: u32, bucket: &Bucket, bytes: &mut AlignedBytes) {
    put_words(bytes, &[slot, kind_number(bucket.kind), u32::from(bucket.is_open), bucket.start]);
    put(bytes, &[bucket.live, bucket.copies]);
    let dead = bucket.dead.as_ref().map_or(0, |dead| dead.len());
    let extents = bucket.extents.len() + bucket.spent.len();
    put_words(bytes, &[word(extents), word(dead), bucket.chain.records(), word(bucket.chain.bytes())]);
    // What an open bucket has delivered comes last: opening plans all of it again.
    for extent in bucket.all_extents() {
        put_words(
            bytes,
            &[
                extent.segment,
                extent.offset,
                extent.body_bytes,
                extent.records,
                extent.first_due,
                extent.head_checksum,
            ],
        );
    }
    if let Some(dead) = &bucket.dead {
        let mut dead: Vec<_> = dead.iter().collect();
        dead.sort_unstable();
        for (number, sequence) in dead {
            put_words(bytes, &[*number]);
            put(bytes, &[*sequence]);
        }
    }
    bucket.chain.pieces().for_each(|piece| bytes.extend_from_slice(piece));
}

fn put(bytes: &mut AlignedBytes, numbers: &[u64]) {
    numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
}

fn put_words(bytes: &mut AlignedBytes, numbers: &[u32]) {
    numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
}

fn word(length: usize) -> u32 {
    u32::try_from(length).expect("counts and lengths in a checkpoint fit 32 bits")
}

const _: () = assert!(slots::NONE == 0);
