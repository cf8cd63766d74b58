//! Opening a store: superblock, checkpoint, log (M1, M2).
//!
//! **Invariant:** until its own checkpoint is durable, opening writes only where neither the last checkpoint nor the
//! log refers to, except the superblock, which it writes again unchanged. After a crash it is repeated.

use super::checkpoint::{Checkpoints, kind_number};
use super::flush::Flush;
use super::plan::Plan;
use super::reads::Reads;
use super::settle::Pending;
use super::{FrameUnderWay, Store};
use crate::bucket::{Buckets, Kind};
use crate::checkpoint::{self, Reader};
use crate::error::{Error, Result, Trying};
use crate::extent::Extent;
use crate::files::Files;
use crate::index::Index;
use crate::log::operation::{self, Operation};
use crate::log::{Begin, FILE_HEAD_BYTES, Log, PARTS_MAX, Replay};
use crate::options::Options;
use crate::pool::Pool;
use crate::record::DueRecord;
use crate::segment::Segments;
use crate::slots::{self, Slots};
use crate::statistics::{Statistics, StoreRecovery};
use crate::superblock::Superblock;
use crate::work::{self, RunScratch};
use crate::worker::Worker;
use crate::{Minute, Number};
use base::disk::{AlignedBytes, Disk, DiskFile, Open};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::sync::{Arc, Mutex};

impl Store {
    /// Opens the store in `directory`, or makes one if there is none. What was committed is there; what was delivered
    /// and not written back is due again.
    pub fn open(disk: Arc<dyn Disk>, directory: &Path, mut options: Options) -> Result<Self> {
        options.raise_to_minima();
        let files = Files { disk, directory: directory.to_owned() };
        files.disk.create_directory(directory).trying("make", directory)?;
        if let Some(parent) = directory.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            files.disk.sync_directory(parent).trying("sync", parent)?;
        }
        if !files.list()?.contains(&files.superblock()) {
            create(&files, &options)?;
        }
        let superblock_file = files.open(&files.superblock(), Open::Write)?;
        let superblock = Superblock::read(&files, &*superblock_file)?;
        // What a crash or a failed sync left may be visible but not durable. Both copies, and the names of all files,
        // are made durable before they are relied on (M3).
        superblock.write(&files, &*superblock_file)?;
        files.sync_directory()?;
        let mut store = Self::empty(&files, &superblock, superblock_file, options)?;
        let (part, frame) = store.load(&superblock)?;
        store.remove_strays()?;
        store.replay(part, frame)?;
        store.plan_again();
        Ok(store)
    }
    /// An empty store, into which a checkpoint is loaded.
    fn empty(
        files: &Files,
        superblock: &Superblock,
        superblock_file: Arc<dyn DiskFile>,
        options: Options,
    ) -> Result<Self> {
        let store = superblock.store;
        let threads = options.threads();
        let start = |result: std::io::Result<_>| result.trying("start a thread for", &files.directory);
        let scratch = Mutex::new(RunScratch::default());
        let flusher = start(Worker::new("sat-flush", threads, 1, move |jobs: Vec<work::RunJob>| {
            jobs.into_iter().map(|job| work::write_run(job, &scratch)).collect()
        }))?;
        let reader = Worker::new("sat-read", options.read_threads, 1, |jobs: Vec<work::ReadJob>| {
            jobs.into_iter().map(work::read).collect()
        })
        .trying("start a thread for", &files.directory)?;
        let checkpointer = Worker::new("sat-checkpoint", threads, 1, |jobs: Vec<work::CheckpointJob>| {
            jobs.into_iter().map(work::write_checkpoint).collect()
        })
        .trying("start a thread for", &files.directory)?;
        let mut log = Log::open(files, store, Begin::default(), &options)?;
        Ok(Self {
            store,
            secret: superblock.secret,
            slots: Slots::default(),
            buckets: Buckets::new(),
            held: slots::NONE,
            pending: Pending::default(),
            count: 0,
            pool: Pool::new(options.pool_bytes),
            position: options.begin.0,
            now: options.begin.0,
            logged_minute: options.begin.0,
            sequence: 0,
            table: BTreeMap::new(),
            frame: FrameUnderWay { number: 1, first_sequence: 0, bytes: log.new_frame() },
            log,
            segments: Segments::new(files.clone(), options.segment_bytes),
            flusher,
            reads: Reads::new(reader, options.read_bytes),
            plan: Plan::default(),
            index: Index::new(files.clone(), store),
            checkpoints: Checkpoints::new(checkpointer, superblock_file, superblock.generation),
            flush: Flush::default(),
            is_stopped: false,
            recovery: StoreRecovery::default(),
            statistics: Statistics::default(),
            files: files.clone(),
            options,
        })
    }
    /// Loads the checkpoint. Returns the part of the log that follows, and the last frame.
    fn load(&mut self, superblock: &Superblock) -> Result<(u64, u64)> {
        let path = self.files.checkpoint(superblock.generation);
        let file = self.files.open(&path, Open::Read)?;
        let mut reader =
            Reader::new(file, path, superblock.store, superblock.generation, superblock.checkpoint_bytes)?;
        let mut follows = None;
        let mut numbers = 0;
        let mut chains = Vec::new();
        while let Some((kind, content)) = reader.next()? {
            let mut fields = Fields(&content);
            let loaded = match kind {
                checkpoint::STATE => self.load_state(&mut fields).map(|(part, frame, count)| {
                    follows = Some((part, frame));
                    numbers = count;
                }),
                checkpoint::TABLE => self.load_table(&mut fields),
                checkpoint::SLOTS => self.load_slots(&mut fields),
                checkpoint::BUCKET => self.load_bucket(&mut fields).map(|chain| chains.push(chain)),
                checkpoint::INDEX => match self.load_index(&mut fields) {
                    Some(restored) => restored.map(Some)?,
                    None => None,
                },
                _ => None,
            };
            loaded.ok_or_else(|| reader.damaged("a chunk of the checkpoint is invalid"))?;
        }
        if self.slots.len() != numbers {
            return Err(reader.damaged("the checkpoint lacks slots"));
        }
        self.buckets.find_free();
        let extents: Vec<Extent> =
            self.buckets.iter().flat_map(|(_, bucket)| bucket.all_extents().copied()).collect();
        self.segments = Segments::new(self.files.clone(), self.options.segment_bytes);
        self.segments.restore(&extents)?;
        // Only now may buffers be flushed, if the pool is smaller than it was.
        for (slot, records, bytes) in chains {
            self.restore_chain(slot, records, &bytes)?;
        }
        follows.ok_or_else(|| reader.damaged("the checkpoint has no state"))
    }
    fn load_state(&mut self, fields: &mut Fields<'_>) -> Option<(u64, u64, u32)> {
        self.sequence = fields.double()?;
        let (frame, part) = (fields.double()?, fields.double()?);
        self.count = fields.double()?;
        self.position = fields.word()?;
        (self.now, self.logged_minute) = (self.position, self.position);
        self.options.segment_bytes = fields.word()?;
        self.pending.slot = fields.word()?;
        self.options.log_bytes = fields.double()?;
        Some((part, frame, fields.word()?))
    }
    fn load_table(&mut self, fields: &mut Fields<'_>) -> Option<()> {
        while !fields.0.is_empty() {
            let (name, value) = (fields.word()? as usize, fields.word()? as usize);
            let name = fields.take(name)?.to_vec();
            self.table.insert(name, fields.take(value)?.to_vec());
        }
        Some(())
    }
    fn load_slots(&mut self, fields: &mut Fields<'_>) -> Option<()> {
        let (first, width) = (fields.word()?, u8::try_from(fields.word()?).ok()?);
        self.slots.restore(first, width, fields.0)
    }
    fn load_bucket(&mut self, fields: &mut Fields<'_>) -> Option<(u32, u32, Vec<u8>)> {
        let (slot, kind, is_open, start) = (fields.word()?, fields.word()?, fields.word()?, fields.word()?);
        let kind =
            [Kind::Due, Kind::Held, Kind::Pending].into_iter().find(|known| kind_number(*known) == kind)?;
        let (live, copies) = (fields.double()?, fields.double()?);
        let (extents, dead) = (fields.word()?, fields.word()?);
        let (records, bytes) = (fields.word()?, fields.word()? as usize);
        let bucket = self.buckets.add_at(slot, kind, start)?;
        (bucket.is_open, bucket.live, bucket.copies, bucket.is_ordered) = (is_open == 1, live, copies, false);
        for _ in 0..extents {
            bucket.extents.push(Extent {
                segment: fields.word()?,
                offset: fields.word()?,
                body_bytes: fields.word()?,
                records: fields.word()?,
                first_due: fields.word()?,
                head_checksum: fields.word()?,
            });
        }
        for _ in 0..dead {
            let (number, sequence) = (fields.word()?, fields.double()?);
            bucket.dead.get_or_insert_default().insert(number, sequence);
        }
        if kind == Kind::Due && is_open == 0 {
            if self.buckets.closed(start).is_some() {
                return None;
            }
            self.buckets.set_closed(start, slot);
        }
        Some((slot, records, fields.take(bytes)?.to_vec()))
    }
    /// Puts what was in a write buffer back into it. The pool may be smaller than it was.
    fn restore_chain(&mut self, slot: u32, records: u32, bytes: &[u8]) -> Result<()> {
        if records == 0 {
            return Ok(());
        }
        let needed = self.pool.needed(&self.buckets.at(slot).chain, bytes.len());
        if needed <= self.pool.free() {
            self.buckets.at_mut(slot).chain.append_records(&mut self.pool, records, bytes);
            self.buckets.note_chain(slot);
            return Ok(());
        }
        self.buckets.at_mut(slot).copies -= u64::from(records);
        for offset in crate::record::offsets(bytes) {
            self.append(slot, &DueRecord::read(&bytes[offset..]))?;
        }
        Ok(())
    }
    fn load_index(&mut self, fields: &mut Fields<'_>) -> Option<Result<()>> {
        let (generation, entries) = (fields.double()?, fields.double()?);
        let mut fences = Vec::with_capacity(fields.0.len() / 8);
        while !fields.0.is_empty() {
            fences.push(fields.double()?);
        }
        Some(self.index.restore(generation, entries, fences))
    }
    /// Replays what was committed after the checkpoint, and checkpoints if there was anything.
    fn replay(&mut self, part: u64, last_frame: u64) -> Result<()> {
        self.restore_pending()?;
        let mut replay =
            Replay::new(&self.files, self.store, part, last_frame + 1, self.options.log_file_bytes())?;
        let mut frame = last_frame;
        while let Some((head, operations)) = replay.next()? {
            frame = head.frame;
            self.sequence = head.first_sequence;
            let mut bytes = operations.as_slice();
            while !bytes.is_empty() {
                let applied = operation::read(&mut bytes).map(|operation| self.apply(&operation));
                applied.unwrap_or(Ok(false)).and_then(|is_sound| {
                    let what = "an operation in the log is invalid";
                    let (path, offset) = replay.here();
                    if is_sound { Ok(()) } else { Err(Error::Damaged { path, offset, what }) }
                })?;
            }
            self.apply_advance(head.minute);
            self.recovery.frames_replayed += 1;
        }
        let tail = replay.tail(self.options.commit_bytes_max(), super::write::FRAMES_IN_FLIGHT_MAX + 1)?;
        self.recovery.bytes_cut = tail.cut_bytes;
        let is_clean = self.recovery == StoreRecovery::default();
        // A started part is never continued: its old frames must not follow new ones.
        let next_part = if is_clean { part } else { part + PARTS_MAX };
        self.log =
            Log::open(&self.files, self.store, Begin { part: next_part, durable: frame }, &self.options)?;
        let (number, first_sequence) = (frame + 1, self.sequence);
        self.frame = FrameUnderWay { number, first_sequence, bytes: self.log.new_frame() };
        self.now = self.position;
        if !is_clean {
            self.begin_checkpoint()?;
            self.finish_checkpoint()?;
        }
        Ok(())
    }
    /// Applies an operation. Returns whether it was valid.
    fn apply(&mut self, operation: &Operation<'_>) -> Result<bool> {
        match *operation {
            Operation::Update { number, bucket, due, key, value } => {
                if self.slots.get(number) == slots::NONE || bucket <= self.position {
                    return Ok(false);
                }
                let sequence = self.sequence;
                self.sequence += 1;
                let record = DueRecord { number: Number(number), due: Minute(due), key, value, sequence };
                self.apply_update(&record, bucket)?;
            }
            Operation::Delete { number } => {
                if self.slots.get(number) == slots::NONE {
                    return Ok(false);
                }
                self.sequence += 1;
                self.apply_delete(number, self.sequence - 1);
            }
            Operation::Offer { due, key, value } => self.apply_offer(key, due, value)?,
            Operation::Advance { minute } => self.apply_advance(minute),
            Operation::Set { name, value } => {
                self.table.insert(name.to_vec(), value.to_vec());
            }
            Operation::Unset { name } => {
                self.table.remove(name);
            }
        }
        Ok(true)
    }
    fn apply_advance(&mut self, minute: u32) {
        while let Some(next) = self.buckets.next_closed(self.position).filter(|next| *next <= minute) {
            self.buckets.open_minute(next);
        }
        self.position = self.position.max(minute);
        self.logged_minute = self.position;
    }
    /// Removes files left by a crash that nothing needs.
    fn remove_strays(&mut self) -> Result<()> {
        for path in self.files.list()? {
            let is_old = Files::number_of(&path, "checkpoint-")
                .is_some_and(|generation| generation != self.checkpoints.generation);
            if is_old {
                self.files.remove(&path)?;
            }
        }
        self.index.remove_strays()
    }
}

/// Makes the files of a new store; the superblock gets its name last.
fn create(files: &Files, options: &Options) -> Result<()> {
    remove_unfinished(files)?;
    let store = random();
    Log::create(files, store, options.log_file_bytes())?;
    let superblock = Superblock {
        store,
        secret: options
            .secret
            .unwrap_or_else(|| (u128::from(random()) << 64 | u128::from(random())).to_le_bytes()),
        generation: 1,
        checkpoint_bytes: 0,
    };
    let unnamed = files.directory.join("superblock.new");
    let superblock_file = files.open(&unnamed, Open::CreateNew)?;
    let store = Store::empty(files, &superblock, Arc::clone(&superblock_file), options.clone())?;
    work::write_checkpoint(work::CheckpointJob {
        files: files.clone(),
        data: Vec::new(),
        image: store.image(AlignedBytes::new()),
        superblock_file,
        superblock,
        obsolete: Vec::new(),
    })?;
    let path = files.superblock();
    files.disk.rename(&unnamed, &path).trying("rename to", &path)?;
    files.sync_directory()
}

/// Removes what an interrupted creation left. Anything that may hold records is refused.
fn remove_unfinished(files: &Files) -> Result<()> {
    let paths = files.list()?;
    let has_records = |path: &Path| {
        Files::number_of(path, "checkpoint-").is_some_and(|generation| generation > 1)
            || Files::number_of(path, "data-").is_some()
            || Files::number_of(path, "index-").is_some()
    };
    let mut is_store = paths.iter().any(|path| has_records(path));
    for path in paths.iter().filter(|path| Files::number_of(path, "log-").is_some()) {
        let mut begin = [0; 4];
        let file = files.open(path, Open::Read)?;
        is_store |= file.read_at(FILE_HEAD_BYTES, &mut begin).is_ok() && begin != [0; 4];
    }
    if is_store {
        let what = "there are data and no superblock";
        return Err(Error::NotAStore { path: files.directory.clone(), what });
    }
    for path in paths {
        let is_ours = ["checkpoint-", "log-"].iter().any(|prefix| Files::number_of(&path, prefix).is_some())
            || path.ends_with("superblock.new");
        if is_ours {
            files.remove(&path)?;
        }
    }
    Ok(())
}

/// Random bits from the system, by way of the standard library.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Little-endian fields, one after the other.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }
    fn word(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }
    fn double(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }
}
