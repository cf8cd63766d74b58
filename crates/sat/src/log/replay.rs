//! Reading the log back: its frames, and what its end means.

use super::{END_BYTES, FILE_HEAD_BYTES, FrameHead, HEAD_BYTES, LOG_FILES, MAGIC, file_head, whole_blocks};
use crate::checksum::{Kind, Place};
use crate::error::{Error, Result, Trying};
use crate::files::Files;
use base::disk::{AlignedBytes, BLOCK_BYTES, DiskFile, Open};
use std::path::PathBuf;
use std::sync::Arc;

/// How much of a file is read at once.
const WINDOW_BYTES: usize = 4 << 20;
/// How many parts can have been started since the last checkpoint.
pub(crate) const PARTS_MAX: u64 = LOG_FILES as u64;

/// The frames of a log from some part on.
#[derive(Debug)]
pub(crate) struct Replay {
    store: u64,
    files: Vec<LogFile>,
    first_part: u64,
    /// Which file is read, and from where.
    file: Option<usize>,
    part: u64,
    offset: u64,
    expected: u64,
    window: AlignedBytes,
    /// What the window holds: file and offset.
    window_at: Option<(usize, u64)>,
}

#[derive(Debug)]
struct LogFile {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    length: u64,
}

/// How the log ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tail {
    /// Bytes after the last whole frame that belong to commits which were never acknowledged.
    pub(crate) cut_bytes: u64,
}

impl Replay {
    /// Reads from the beginning of `part`; its first frame must be `expected`.
    /// Every file must be the store's own, and whole.
    pub(crate) fn new(files: &Files, store: u64, part: u64, expected: u64, file_bytes: u64) -> Result<Self> {
        let open = |place| {
            let path = files.log(place);
            let file = files.open(&path, Open::Read)?;
            let length = file.length().trying("measure", &path)?;
            if length < file_bytes {
                return Err(Error::Damaged { path, offset: length, what: "the log file is cut short" });
            }
            let mut head = AlignedBytes::zeroed(BLOCK_BYTES);
            file.read_at(0, &mut head).trying("read", &path)?;
            if head[..] != file_head(store, place)[..] {
                return Err(Error::Damaged { path, offset: 0, what: "it is not the log file of this store" });
            }
            Ok(LogFile { file, path, length: file_bytes })
        };
        let mut replay = Self {
            store,
            files: (0..LOG_FILES).map(open).collect::<Result<_>>()?,
            first_part: part,
            file: None,
            part,
            offset: FILE_HEAD_BYTES,
            expected,
            window: AlignedBytes::new(),
            window_at: None,
        };
        replay.find_part(part)?;
        Ok(replay)
    }
    /// The next frame and its operations.
    pub(crate) fn next(&mut self) -> Result<Option<(FrameHead, Vec<u8>)>> {
        loop {
            let Some(file) = self.file else { return Ok(None) };
            if let Some(frame) = self.expected_frame(file)? {
                return Ok(Some(frame));
            }
            // A writer may have written more since the window was read.
            self.window_at = None;
            if let Some(frame) = self.expected_frame(file)? {
                return Ok(Some(frame));
            }
            if self.part + 1 >= self.first_part + PARTS_MAX || !self.find_part(self.part + 1)? {
                return Ok(None);
            }
        }
    }
    /// The expected next frame, if it is whole and in its place; reading continues after it.
    fn expected_frame(&mut self, file: usize) -> Result<Option<(FrameHead, Vec<u8>)>> {
        let Some((head, end)) = self.whole_frame(file, self.part, self.offset)? else { return Ok(None) };
        if head.frame != self.expected {
            return Ok(None);
        }
        let at = self.in_window(self.offset);
        let operations = self.window[at + HEAD_BYTES..at + end].to_vec();
        self.offset += whole_blocks(end) as u64;
        self.expected += 1;
        Ok(Some((head, operations)))
    }
    /// Where the frame that was read last ends.
    pub(crate) fn here(&self) -> (PathBuf, u64) {
        (self.files[self.file.unwrap_or(0)].path.clone(), self.offset)
    }
    /// Goes to the beginning of `part` if some file holds it and the frame that comes next with it.
    fn find_part(&mut self, part: u64) -> Result<bool> {
        for file in 0..self.files.len() {
            if self
                .whole_frame(file, part, FILE_HEAD_BYTES)?
                .is_some_and(|(head, _)| head.frame == self.expected)
            {
                (self.file, self.part, self.offset) = (Some(file), part, FILE_HEAD_BYTES);
                return Ok(true);
            }
        }
        Ok(false)
    }
    /// After the last frame: whether it really is the last. An error if a frame that was durable is missing.
    ///
    /// The frame after a damaged one begins at most `frame_bytes_max` later, or another part begins with it; up to
    /// `frames_max` of them may have been in flight.
    pub(crate) fn tail(&mut self, frame_bytes_max: usize, frames_max: usize) -> Result<Tail> {
        let mut tail = Tail::default();
        for file in 0..self.files.len() {
            let begin = if Some(file) == self.file { self.offset } else { FILE_HEAD_BYTES };
            let end =
                (begin + (frames_max * (frame_bytes_max + BLOCK_BYTES)) as u64).min(self.files[file].length);
            for at in (begin..end).step_by(BLOCK_BYTES) {
                tail.cut_bytes += self.cut_at(file, at)?;
            }
        }
        Ok(tail)
    }
    /// The bytes of a frame at `offset` that would follow the last one, whole or not.
    fn cut_at(&mut self, file: usize, offset: u64) -> Result<u64> {
        if !self.fill(file, offset, BLOCK_BYTES)? {
            return Ok(0);
        }
        let block = &self.window[self.in_window(offset)..];
        let ends_here = self.ends_here(&block[BLOCK_BYTES - END_BYTES..BLOCK_BYTES]);
        let begins_here = &block[0..4] == MAGIC && double(block, 8) >= self.expected;
        let parts = self.first_part..self.first_part + PARTS_MAX;
        for part in parts.filter(|_| begins_here) {
            let Some((head, end)) = self.whole_frame(file, part, offset)? else { continue };
            if head.durable >= self.expected {
                let path = self.files[self.file.unwrap_or(file)].path.clone();
                let what = "a commit that was confirmed cannot be read";
                return Err(Error::Damaged { path, offset: self.offset, what });
            }
            return Ok(end as u64);
        }
        let is_torn = begins_here && Some(file) == self.file && offset == self.offset;
        Ok(if ends_here || is_torn { BLOCK_BYTES as u64 } else { 0 })
    }
    /// Whether the last bytes of a block say that a frame ends there which would follow the last one.
    fn ends_here(&self, end: &[u8]) -> bool {
        (self.first_part..self.first_part + PARTS_MAX).contains(&double(end, 0))
            && double(end, 8) >= self.expected
    }
    /// The head of the frame at `offset` of a file and where its operations end, if it passes its checksum there.
    fn whole_frame(&mut self, file: usize, part: u64, offset: u64) -> Result<Option<(FrameHead, usize)>> {
        if !self.fill(file, offset, BLOCK_BYTES)? {
            return Ok(None);
        }
        let block = &self.window[self.in_window(offset)..];
        if &block[0..4] != MAGIC {
            return Ok(None);
        }
        let head = FrameHead {
            frame: double(block, 8),
            durable: double(block, 16),
            first_sequence: double(block, 24),
            operation_bytes: word(block, 32),
            minute: word(block, 36),
        };
        let end = HEAD_BYTES + head.operation_bytes as usize;
        if head.frame < self.expected || !self.fill(file, offset, whole_blocks(end))? {
            return Ok(None);
        }
        let at = self.in_window(offset);
        let bytes = &self.window[at..at + end];
        let place = Place { store: self.store, kind: Kind::Log, file: part, offset };
        Ok((place.checksum(&[&bytes[8..]]) == word(bytes, 4)).then_some((head, end)))
    }
    /// Makes the window cover this many bytes from `offset` of a file; `false` if the file ends before.
    fn fill(&mut self, file: usize, offset: u64, bytes: usize) -> Result<bool> {
        let log = &self.files[file];
        if offset + bytes as u64 > log.length {
            return Ok(false);
        }
        let is_covered = self.window_at.is_some_and(|(held, begin)| {
            held == file && begin <= offset && offset + bytes as u64 <= begin + self.window.len() as u64
        });
        if !is_covered {
            let length = (bytes.max(WINDOW_BYTES) as u64).min(log.length - offset);
            self.window.resize(usize::try_from(length).expect("a window fits memory"));
            self.window_at = None;
            log.file.read_at(offset, &mut self.window).trying("read", &log.path)?;
            self.window_at = Some((file, offset));
        }
        Ok(true)
    }
    /// Where `offset` of the file in the window is.
    fn in_window(&self, offset: u64) -> usize {
        let (_, begin) = self.window_at.expect("the window was filled");
        usize::try_from(offset - begin).expect("a window fits memory")
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn double(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}
