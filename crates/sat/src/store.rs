//! The store: its parts, and its life from opening to closing.
//!
//! The rooms: [`write`] changes records, [`plan`] decides what comes next and reads ahead, [`due`] delivers it,
//! [`flush`] makes room in the pool, [`checkpoint`] makes the state durable, [`recover`] opens, [`read_only`] opens
//! beside a writer, [`settle`] judges offered keys, [`look`] finds records out of turn, [`compact`] frees space.

mod checkpoint;
mod compact;
mod due;
mod flush;
pub mod fuzzing;
mod look;
mod plan;
mod read_only;
mod reads;
mod recover;
mod settle;
mod write;

pub use look::{BucketSlot, OwnedRecord};
pub use settle::OfferOutcome;

use crate::bucket::Buckets;
use crate::error::{Error, Result};
use crate::files::Files;
use crate::index::Index;
use crate::log::Log;
use crate::options::Options;
use crate::pool::Pool;
use crate::segment::Segments;
use crate::slots::Slots;
use crate::statistics::{Statistics, StoreRecovery};
use crate::work::{CheckpointDone, CheckpointJob, ReadDone, ReadJob, RunDone, RunJob};
use crate::worker::Worker;
use crate::{Frame, Minute};
use base::disk::{AlignedBytes, DiskFile};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Records ordered by when they are due, on disk.
///
/// There is one writer: the caller ensures that there is no other. Changes are seen at once and are durable after
/// [`Store::commit`]; after a crash, all uncommitted changes are gone.
#[derive(Debug)]
pub struct Store {
    files: Files,
    store: u64,
    secret: [u8; 16],
    options: Options,
    slots: Slots,
    buckets: Buckets,
    /// The bucket of delivered records whose own bucket is otherwise finished; 0 if there are none.
    held: u32,
    pending: settle::Pending,
    count: u64,
    pool: Pool,
    /// Every record due up to this minute was delivered or is about to be.
    position: u32,
    /// The minute up to which records may be delivered.
    now: u32,
    /// The minute that the log knows.
    logged_minute: u32,
    sequence: u64,
    table: BTreeMap<Vec<u8>, Vec<u8>>,
    log: Log,
    frame: FrameUnderWay,
    segments: Segments,
    flusher: Worker<RunJob, RunDone>,
    reads: reads::Reads,
    plan: plan::Plan,
    index: Index,
    checkpoints: checkpoint::Checkpoints,
    flush: flush::Flush,
    is_stopped: bool,
    recovery: StoreRecovery,
    statistics: Statistics,
}

/// The commit that operations are gathered in.
#[derive(Debug)]
struct FrameUnderWay {
    number: u64,
    first_sequence: u64,
    bytes: AlignedBytes,
}

impl Store {
    /// What opening found.
    #[must_use]
    pub fn recovery(&self) -> StoreRecovery {
        self.recovery
    }
    /// What was done since the store was opened.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        Statistics { log_bytes_written: self.log.bytes_written(), ..self.statistics }
    }
    /// Number of records, without offered keys that were not judged yet.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }
    /// The minute up to which everything due was delivered, or is about to be.
    #[must_use]
    pub fn minute(&self) -> Minute {
        Minute(self.position)
    }
    /// The caller's own table, which is committed together with the records.
    #[must_use]
    pub fn table(&self) -> &BTreeMap<Vec<u8>, Vec<u8>> {
        &self.table
    }
    /// Bytes of data files, and bytes in them that are needed.
    #[must_use]
    pub fn data_bytes(&self) -> (u64, u64) {
        self.segments.bytes()
    }
    /// Makes everything durable and closes the store, so that opening it has nothing to replay.
    pub fn close(mut self) -> Result<()> {
        self.commit()?;
        self.checkpoint()
    }

    fn check_running(&self) -> Result<()> {
        if self.is_stopped { Err(Error::Stopped { path: self.files.directory.clone() }) } else { Ok(()) }
    }
    /// Stops the store after a failed write (M3).
    fn stop_on_error<T>(&mut self, result: Result<T>) -> Result<T> {
        if matches!(result, Err(Error::Io { .. })) {
            self.is_stopped = true;
        }
        result
    }
    fn last_frame(&self) -> Frame {
        Frame(self.frame.number - 1)
    }
}

type Checkpointer = Worker<CheckpointJob, CheckpointDone>;
type Reader = Worker<ReadJob, ReadDone>;
type SuperblockFile = Arc<dyn DiskFile>;
