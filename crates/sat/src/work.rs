//! What background threads do for a store: write runs of extents, write checkpoints, read extents.

use crate::checkpoint::Image;
use crate::error::{Result, Trying};
use crate::extent::{self, Cut, Extent, Label};
use crate::files::Files;
use crate::pool::{Block, Chain};
use crate::record;
use crate::superblock::Superblock;
use base::disk::{AlignedBytes, BLOCK_BYTES, DiskFile, Open};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Buffers to be written as one sequential run.
pub(crate) struct RunJob {
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) path: PathBuf,
    pub(crate) store: u64,
    pub(crate) segment: u32,
    pub(crate) offset: u32,
    pub(crate) frame: u64,
    /// The room that was given to it.
    pub(crate) bytes_max: usize,
    pub(crate) pieces: Vec<Piece>,
}

/// The buffer of one bucket.
pub(crate) struct Piece {
    pub(crate) slot: u32,
    pub(crate) uid: u64,
    pub(crate) bucket: u32,
    pub(crate) cut: Cut,
    pub(crate) chain: Chain,
}

/// A run that was written.
pub(crate) struct RunDone {
    pub(crate) segment: u32,
    /// Slot, uid and extents of each bucket.
    pub(crate) written: Vec<(u32, u64, Vec<Extent>)>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) bytes: u64,
    pub(crate) result: Result<()>,
}

/// Buffers for assembling runs, reused.
#[derive(Default)]
pub(crate) struct RunScratch {
    body: Vec<u8>,
    run: AlignedBytes,
}

pub(crate) fn write_run(job: RunJob, scratch: &Mutex<RunScratch>) -> RunDone {
    let mut scratch = scratch.lock().unwrap_or_else(PoisonError::into_inner);
    let RunScratch { body, run } = &mut *scratch;
    run.clear();
    let (mut written, mut blocks) = (Vec::with_capacity(job.pieces.len()), Vec::new());
    for piece in job.pieces {
        body.clear();
        piece.chain.pieces().for_each(|bytes| body.extend_from_slice(bytes));
        let label = Label { store: job.store, bucket: piece.bucket, segment: job.segment, frame: job.frame };
        written.push((piece.slot, piece.uid, extent::write(body, piece.cut, label, job.offset, run)));
        blocks.extend(piece.chain.into_blocks());
    }
    assert!(run.len() <= job.bytes_max, "a run stays in its room");
    run.pad_to(BLOCK_BYTES);
    let result = job.file.write_at(job.offset.into(), run).trying("write to", &job.path);
    RunDone { segment: job.segment, written, blocks, bytes: run.len() as u64, result }
}

/// A checkpoint to be made durable.
pub(crate) struct CheckpointJob {
    pub(crate) files: Files,
    /// What was written since the last one.
    pub(crate) data: Vec<Arc<dyn DiskFile>>,
    pub(crate) image: Image,
    pub(crate) superblock_file: Arc<dyn DiskFile>,
    pub(crate) superblock: Superblock,
    /// Files that nothing needs once it is durable.
    pub(crate) obsolete: Vec<PathBuf>,
}

/// A checkpoint that was made durable: its bytes, for their number and for the next one.
pub(crate) type CheckpointDone = Result<AlignedBytes>;

/// Bytes of a checkpoint written at once.
const CHECKPOINT_WRITE_BYTES: usize = 4 << 20;

pub(crate) fn write_checkpoint(job: CheckpointJob) -> CheckpointDone {
    let CheckpointJob { files, data, image, superblock_file, mut superblock, obsolete } = job;
    for file in data {
        file.sync().trying("sync a data file in", &files.directory)?;
    }
    let bytes = image.seal(superblock.store, superblock.generation);
    let path = files.checkpoint(superblock.generation);
    let file = files.open(&path, Open::CreateNew)?;
    for (place, piece) in bytes.chunks(CHECKPOINT_WRITE_BYTES).enumerate() {
        file.write_at((place * CHECKPOINT_WRITE_BYTES) as u64, piece).trying("write to", &path)?;
    }
    file.sync().trying("sync", &path)?;
    files.sync_directory()?;
    superblock.checkpoint_bytes = bytes.len() as u64;
    superblock.write(&files, &*superblock_file)?;
    obsolete.iter().try_for_each(|path| files.remove(path))?;
    Ok(bytes)
}

/// Extents of one bucket that lie close together, to be read at once.
pub(crate) struct ReadJob {
    pub(crate) ticket: u64,
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) path: PathBuf,
    pub(crate) store: u64,
    pub(crate) offset: u64,
    pub(crate) length: usize,
    pub(crate) extents: Vec<Extent>,
    pub(crate) buffer: AlignedBytes,
    pub(crate) offsets: Vec<u32>,
}

/// What was read, and what is wrong with it.
#[derive(Debug)]
pub(crate) struct ReadDone {
    pub(crate) ticket: u64,
    pub(crate) offset: u64,
    pub(crate) buffer: AlignedBytes,
    /// Where the records of all extents that are not damaged begin.
    pub(crate) offsets: Vec<u32>,
    pub(crate) result: Result<()>,
    /// Place of each damaged extent in the job, and what is wrong.
    pub(crate) damaged: Vec<(usize, &'static str)>,
}

impl Default for ReadDone {
    fn default() -> Self {
        let (buffer, offsets, damaged) = (AlignedBytes::new(), Vec::new(), Vec::new());
        Self { ticket: 0, offset: 0, buffer, offsets, result: Ok(()), damaged }
    }
}

pub(crate) fn read(mut job: ReadJob) -> ReadDone {
    // A buffer keeps its length: zeroing what is overwritten at once would cost as much as the checksum.
    if job.buffer.len() < job.length {
        job.buffer.resize(job.length);
    }
    job.offsets.clear();
    let result = job.file.read_at(job.offset, &mut job.buffer[..job.length]).trying("read", &job.path);
    let mut damaged = Vec::new();
    if result.is_ok() {
        for (place, extent) in job.extents.iter().enumerate() {
            let start = usize::try_from(u64::from(extent.offset) - job.offset).expect("inside the read");
            match extent.check(job.store, &job.buffer[start..]) {
                Ok(()) => {
                    let body = extent.body(start);
                    let offsets = record::offsets(&job.buffer[body.clone()]);
                    job.offsets.extend(offsets.map(|offset| narrow(body.start + offset)));
                }
                Err(what) => damaged.push((place, what)),
            }
        }
    }
    let ReadJob { ticket, offset, buffer, offsets, .. } = job;
    ReadDone { ticket, offset, buffer, offsets, result, damaged }
}

fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).expect("a read is small")
}

/// The blocks that cover extents from `first` to the end of `last`: offset and length.
pub(crate) fn covering(first: &Extent, last: &Extent) -> (u64, usize) {
    let block = BLOCK_BYTES as u64;
    let begin = u64::from(first.offset) / block * block;
    let end = (u64::from(last.offset) + last.bytes() as u64).next_multiple_of(block);
    (begin, usize::try_from(end - begin).expect("smaller than a segment"))
}
