//! Stores a body while it arrives: in memory within a budget, on disk above it (D15).
//!
//! **Invariant:** all bodies in flight together, from their first byte until they are archived and dropped, take at most
//! `body_memory_bytes_max` of memory and `body_disk_bytes_max` of disk space, plus one read each. No body waits for
//! either: without memory it goes to disk at once,
//! without disk space it is truncated. So a thousand servers with endless bodies cost the others nothing but
//! speed.

use base::Body;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of bytes buffered before a write to disk; each body on disk has this much memory outside the budget, plus
/// one read.
const SPILL_BYTES: usize = 128 * 1024;

/// The storage for the bodies of one door.
#[derive(Debug)]
pub(super) struct Store {
    memory: Arc<Budget>,
    disk: Arc<Budget>,
    /// The maximum memory of one body.
    memory_each_max: usize,
    directory: PathBuf,
}

impl Store {
    pub(super) fn new(settings: &super::Settings) -> Self {
        let limits = &settings.limits;
        Self {
            memory: Arc::new(Budget(AtomicUsize::new(limits.body_memory_bytes_max))),
            disk: Arc::new(Budget(AtomicUsize::new(limits.body_disk_bytes_max))),
            memory_each_max: limits.body_memory_each_max,
            directory: settings.spool.clone().unwrap_or_else(std::env::temp_dir),
        }
    }

    /// Storage for a body that starts with `start`.
    pub(super) fn sink(&self, start: Vec<u8>) -> Sink<'_> {
        let (memory, disk) = (Grant::none(&self.memory), Grant::none(&self.disk));
        Sink { store: self, fresh: start, spilled: 0, file: None, memory, disk }
    }
}

/// A shared number of bytes.
#[derive(Debug)]
struct Budget(AtomicUsize);

/// A part of a budget, returned when it is dropped.
#[derive(Debug)]
struct Grant {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Grant {
    fn none(budget: &Arc<Budget>) -> Self {
        Self { budget: Arc::clone(budget), bytes: 0 }
    }

    /// Grows the part to at least `bytes`, if the budget allows.
    fn grow_to(&mut self, bytes: usize) -> bool {
        let Some(more) = bytes.checked_sub(self.bytes).filter(|more| *more > 0) else { return true };
        let taken = self
            .budget
            .0
            .try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(more))
            .is_ok();
        self.bytes += if taken { more } else { 0 };
        taken
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        self.budget.0.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

/// A body that is being received.
#[derive(Debug)]
pub(super) struct Sink<'a> {
    store: &'a Store,
    /// The last bytes, not on disk yet; all bytes while nothing is on disk.
    pub(super) fresh: Vec<u8>,
    /// The number of bytes on disk before them.
    spilled: usize,
    file: Option<File>,
    memory: Grant,
    disk: Grant,
}

/// Whether a body can grow further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// It can.
    Left,
    /// There is no space for more, in the budget or on the disk.
    Spent,
}

impl Sink<'_> {
    pub(super) fn len(&self) -> usize {
        self.spilled + self.fresh.len()
    }

    /// Truncates to `length`, which is never less than what is on disk.
    pub(super) fn truncate(&mut self, length: usize) {
        self.fresh.truncate(length.saturating_sub(self.spilled));
    }

    /// Fits the received bytes into the budget: moves them to disk if they are too many for memory.
    pub(super) async fn settle(&mut self) -> Room {
        let fits = self.file.is_none()
            && self.fresh.capacity() <= self.store.memory_each_max
            && self.memory.grow_to(self.fresh.capacity());
        let is_small = self.file.is_some() && self.fresh.len() < SPILL_BYTES;
        if fits || is_small {
            return Room::Left;
        }
        if self.disk.grow_to(self.len()) { self.spill().await } else { self.cut() }
    }

    /// Writes the last bytes to disk, outside of the network threads.
    async fn spill(&mut self) -> Room {
        let (file, bytes) = (self.file.take(), std::mem::take(&mut self.fresh));
        let (directory, length) = (self.store.directory.clone(), self.spilled);
        let writing = tokio::task::spawn_blocking(move || {
            let mut file = match file.map_or_else(|| tempfile::tempfile_in(directory), Ok) {
                Ok(file) => file,
                Err(error) => return (None, bytes, Err(error)),
            };
            let written = file.write_all(&bytes).or_else(|error| {
                // Bytes after the last complete write are not part of the body.
                file.set_len(length as u64).and(Err(error))
            });
            (Some(file), bytes, written)
        });
        let Ok((file, mut bytes, written)) = writing.await else { return Room::Spent };
        if let Err(error) = written {
            tracing::warn!(%error, "a body cannot be written to disk and is cut off");
            (self.file, self.fresh) = (file.filter(|_| self.spilled > 0), bytes);
            return self.cut();
        }
        self.spilled += bytes.len();
        bytes.clear();
        bytes.shrink_to(SPILL_BYTES);
        (self.file, self.fresh) = (file, bytes);
        self.memory = Grant::none(&self.store.memory);
        Room::Left
    }

    /// Keeps what there is space for: the bytes on disk, or what memory was granted.
    fn cut(&mut self) -> Room {
        let left = if self.file.is_some() { 0 } else { self.memory.bytes };
        self.fresh.truncate(left);
        self.fresh.shrink_to_fit();
        Room::Spent
    }

    /// The body, and whether it is complete.
    pub(super) async fn finish(mut self) -> (Body, bool) {
        let is_spilling = match self.file {
            Some(_) => !self.fresh.is_empty(),
            None => !self.memory.grow_to(self.fresh.capacity()),
        };
        let mut is_whole = true;
        if is_spilling {
            // The last bytes are written even if the budget is spent: they are bounded, and the body is done.
            self.disk.grow_to(self.len());
            is_whole = self.spill().await == Room::Left;
        }
        let length = self.len();
        let body = match self.file {
            Some(file) => Body::on_disk(file, length, Some(Arc::new(self.disk))),
            None => Body::within(self.fresh, Arc::new(self.memory)),
        };
        (body, is_whole)
    }
}
