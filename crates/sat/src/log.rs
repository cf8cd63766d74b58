//! The log: one frame a commit, synced before it is acknowledged (S5, M1).
//!
//! A log is cut into *parts*, one started with every checkpoint. A part fills one of a few files, which are used again
//! and again; its first block, written once, identifies it (`SATLOG1` and a zero, store, place among the files,
//! checksum). Frames begin at multiples of 4 KiB after it, in order:
//!
//! | bytes | what |
//! |---|---|
//! | 4 | `SATF` |
//! | 4 | checksum of what follows up to the last operation, with its place; its file number is the part of the log |
//! | 8 | frame |
//! | 8 | last frame that was known to be durable when this one was committed |
//! | 8 | sequence of the first operation |
//! | 4 | bytes of operations |
//! | 4 | minute of the store at the end of the frame |
//! | 8 | nothing |
//! | … | operations ([`operation`]), then zeros |
//! | 16 | at the end of the last block: part of the log, frame; so that a damaged head does not hide that one was there |
//!
//! **Invariant:** frames of one log are numbered without gaps. A frame that fails its checksum while a later one says
//! that it was durable is damage; otherwise it is the end of the log. The number of a part is never reused, so what is
//! left of an earlier use of a file fails its checksum.

pub(crate) mod operation;
mod replay;

pub(crate) use replay::{PARTS_MAX, Replay};

use crate::checksum::{Kind, Place};
use crate::error::{Error, Result, Trying};
use crate::files::Files;
use crate::options::Options;
use crate::worker::Worker;
use base::disk::{AlignedBytes, BLOCK_BYTES, DiskFile, Open};
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes before the operations.
pub(crate) const HEAD_BYTES: usize = 48;
/// Bytes at the end of the last block.
const END_BYTES: usize = 16;
const MAGIC: &[u8; 4] = b"SATF";
/// The first block of a file.
pub(crate) const FILE_HEAD_BYTES: u64 = BLOCK_BYTES as u64;
const FILE_MAGIC: &[u8; 8] = b"SATLOG1\0";
/// One file is written while a checkpoint frees another.
pub(crate) const LOG_FILES: usize = 3;

/// What a frame says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHead {
    pub(crate) frame: u64,
    pub(crate) durable: u64,
    pub(crate) first_sequence: u64,
    pub(crate) operation_bytes: u32,
    pub(crate) minute: u32,
}

/// Where a log continues: its next part, and the last durable frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Begin {
    pub(crate) part: u64,
    pub(crate) durable: u64,
}

/// The writing end of the log.
#[derive(Debug)]
pub(crate) struct Log {
    store: u64,
    paths: Vec<PathBuf>,
    handles: Vec<Arc<dyn DiskFile>>,
    /// Which file is written, for which part of the log, and how far it is full.
    file: usize,
    part: u64,
    tail: u64,
    file_bytes: u64,
    /// Parts that a checkpoint still needs: file and part.
    needed: Vec<(usize, u64)>,
    worker: Worker<WriteFrame, WrittenFrame>,
    durable: u64,
    spare_buffers: Vec<AlignedBytes>,
    bytes_written: u64,
}

struct WriteFrame {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    place: Place,
    head: FrameHead,
    bytes: AlignedBytes,
}

struct WrittenFrame {
    frame: u64,
    buffer: AlignedBytes,
    result: Result<()>,
}

impl Log {
    /// Makes the files of a new log.
    pub(crate) fn create(files: &Files, store: u64, file_bytes: u64) -> Result<()> {
        for place in 0..LOG_FILES {
            let path = files.log(place);
            let file = files.open(&path, Open::CreateNew)?;
            file.allocate(file_bytes).trying("reserve room for", &path)?;
            file.write_at(0, &file_head(store, place)).trying("write to", &path)?;
            file.sync().trying("sync", &path)?;
        }
        Ok(())
    }
    /// A log that begins with `part`; `durable` is the last frame of the store so far.
    pub(crate) fn open(files: &Files, store: u64, begin: Begin, options: &Options) -> Result<Self> {
        let Begin { part, durable } = begin;
        let paths: Vec<PathBuf> = (0..LOG_FILES).map(|place| files.log(place)).collect();
        let handles = paths.iter().map(|path| files.open(path, Open::Write)).collect::<Result<Vec<_>>>()?;
        let worker = Worker::new("sat-log", options.threads(), 16, write_frames)
            .trying("start a thread for", &files.directory)?;
        Ok(Self {
            store,
            paths,
            handles,
            file: 0,
            part,
            tail: FILE_HEAD_BYTES,
            file_bytes: options.log_file_bytes(),
            needed: vec![(0, part)],
            worker,
            durable,
            spare_buffers: Vec::new(),
            bytes_written: 0,
        })
    }
    /// An empty frame to write operations into.
    pub(crate) fn new_frame(&mut self) -> AlignedBytes {
        let mut frame = self.spare_buffers.pop().unwrap_or_default();
        frame.clear();
        frame.resize(HEAD_BYTES);
        frame
    }
    /// Begins a new part, in a file without needed parts. `None` if there is no such file yet.
    pub(crate) fn begin_part(&mut self) -> Option<u64> {
        let is_needed = |file: usize| self.needed.iter().any(|(needed, _)| *needed == file);
        let file = (0..LOG_FILES).find(|file| !is_needed(*file))?;
        self.part += 1;
        self.needed.push((file, self.part));
        (self.file, self.tail) = (file, FILE_HEAD_BYTES);
        Some(self.part)
    }
    /// Frees the files of the parts before `part`, which no durable checkpoint needs.
    pub(crate) fn release_before(&mut self, part: u64) {
        self.needed.retain(|(_, needed)| *needed >= part);
    }
    /// Whether a frame of `bytes` (head and operations) fits into the file that is being written.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        self.tail + whole_blocks(bytes) as u64 <= self.file_bytes
    }
    /// How many parts follow the last durable checkpoint.
    pub(crate) fn parts(&self) -> usize {
        self.needed.len()
    }
    /// The part that is being written.
    pub(crate) fn part(&self) -> u64 {
        self.part
    }
    /// How many bytes of the part that is being written are used.
    pub(crate) fn part_bytes(&self) -> u64 {
        self.tail - FILE_HEAD_BYTES
    }
    /// Submits a frame; the part must have room for it.
    pub(crate) fn submit(&mut self, head: FrameHead, mut bytes: AlignedBytes) {
        assert!(self.has_room(bytes.len()), "the caller has checked for room");
        bytes.resize(whole_blocks(bytes.len()));
        let offset = self.tail;
        self.tail += bytes.len() as u64;
        self.bytes_written += bytes.len() as u64;
        self.worker.submit(WriteFrame {
            file: Arc::clone(&self.handles[self.file]),
            path: self.paths[self.file].clone(),
            place: Place { store: self.store, kind: Kind::Log, file: self.part, offset },
            head: FrameHead { durable: self.durable, ..head },
            bytes,
        });
    }
    /// The last durable frame, without waiting.
    pub(crate) fn durable(&mut self) -> Result<u64> {
        while let Some(written) = self.worker.poll() {
            self.note(written)?;
        }
        Ok(self.durable)
    }
    /// Waits until `frame` is durable.
    pub(crate) fn wait(&mut self, frame: u64) -> Result<()> {
        while self.durable < frame {
            let written = self.worker.wait().expect("a frame that is not durable is being written");
            self.note(written)?;
        }
        Ok(())
    }
    /// Notes that a checkpoint has made `frame` durable.
    pub(crate) fn note_durable(&mut self, frame: u64) {
        self.durable = self.durable.max(frame);
    }
    /// How many frames are being written.
    pub(crate) fn in_flight(&self) -> usize {
        self.worker.outstanding()
    }
    pub(crate) fn bytes_written(&self) -> u64 {
        self.bytes_written
    }
    fn note(&mut self, written: WrittenFrame) -> Result<()> {
        self.spare_buffers.push(written.buffer);
        written.result?;
        self.durable = self.durable.max(written.frame);
        Ok(())
    }
}

/// The first block of a log file.
fn file_head(store: u64, place: usize) -> AlignedBytes {
    let mut block = AlignedBytes::zeroed(BLOCK_BYTES);
    block[0..8].copy_from_slice(FILE_MAGIC);
    block[8..16].copy_from_slice(&store.to_le_bytes());
    block[16..24].copy_from_slice(&(place as u64).to_le_bytes());
    let sum = Place { store, kind: Kind::Log, file: place as u64, offset: 0 }.checksum(&[&block[0..24]]);
    block[24..28].copy_from_slice(&sum.to_le_bytes());
    block
}

/// Writes frames and syncs them together; afterwards all of them are durable, or none is known to be.
fn write_frames(jobs: Vec<WriteFrame>) -> Vec<WrittenFrame> {
    let mut results: Vec<WrittenFrame> = Vec::with_capacity(jobs.len());
    let mut unsynced: Vec<(Arc<dyn DiskFile>, PathBuf)> = Vec::new();
    let mut failure: Option<Error> = None;
    for mut job in jobs {
        if failure.is_none() {
            failure = write_frame(&mut job).err();
        }
        if unsynced.last().is_none_or(|(_, path)| *path != job.path) {
            unsynced.push((job.file, job.path));
        }
        results.push(WrittenFrame { frame: job.head.frame, buffer: job.bytes, result: Ok(()) });
    }
    for (file, path) in unsynced {
        if failure.is_none() {
            failure = file.sync().trying("sync", &path).err();
        }
    }
    if let (Some(failure), Some(first)) = (failure, results.first_mut()) {
        first.result = Err(failure);
    }
    results
}

fn write_frame(job: &mut WriteFrame) -> Result<()> {
    seal(&job.head, job.place, &mut job.bytes);
    job.file.write_at(job.place.offset, &job.bytes).trying("write to", &job.path)
}

/// What a frame of `bytes` takes with its end.
pub(crate) fn whole_blocks(bytes: usize) -> usize {
    (bytes + END_BYTES).next_multiple_of(BLOCK_BYTES)
}

/// Writes head, checksum and end of a frame.
pub(crate) fn seal(head: &FrameHead, place: Place, bytes: &mut AlignedBytes) {
    bytes[0..4].copy_from_slice(MAGIC);
    bytes[8..16].copy_from_slice(&head.frame.to_le_bytes());
    bytes[16..24].copy_from_slice(&head.durable.to_le_bytes());
    bytes[24..32].copy_from_slice(&head.first_sequence.to_le_bytes());
    bytes[32..36].copy_from_slice(&head.operation_bytes.to_le_bytes());
    bytes[36..40].copy_from_slice(&head.minute.to_le_bytes());
    let trailer = bytes.len() - END_BYTES;
    bytes[trailer..trailer + 8].copy_from_slice(&place.file.to_le_bytes());
    bytes[trailer + 8..].copy_from_slice(&head.frame.to_le_bytes());
    let end = HEAD_BYTES + head.operation_bytes as usize;
    let sum = place.checksum(&[&bytes[8..end]]);
    bytes[4..8].copy_from_slice(&sum.to_le_bytes());
}
