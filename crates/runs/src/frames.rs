//! Journals: files of frames, each with its length, its checksum and its content. Written at the end, read from the
//! beginning.
//!
//! ```
//! use base::disk::SimulatedDisk;
//! use runs::frames::{FrameReader, FrameWriter, ChecksumScope};
//! use std::path::Path;
//!
//! let (disk, path) = (SimulatedDisk::new(1), Path::new("/journal"));
//! let mut writer = FrameWriter::create(&disk, path, ChecksumScope::Plain, &[])?;
//! writer.push(&[b"one"])?;
//! writer.sync()?;
//! let mut reader = FrameReader::open(&disk, path, ChecksumScope::Plain, 0)?;
//! assert_eq!(reader.next()?, Some(&b"one"[..]));
//! assert_eq!(reader.next()?, None);
//! # Ok::<(), runs::Error>(())
//! ```
//!
//! **Invariant:** what was written and synced is read back after any crash. The first incomplete frame ends the
//! journal: nothing after it is read, and the next writer cuts it off (M1).

use crate::checksum::checksum;
use crate::error::Error;
use base::disk::{Disk, DiskFile, Open};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes before the content of a frame: its length and its checksum.
const HEAD_BYTES: usize = 8;
/// Bytes collected before they are written, and bytes read at once.
const BUFFER_BYTES: usize = 1024 * 1024;
/// No frame is longer than this.
const FRAME_BYTES_MAX: usize = 1 << 30;

/// What the checksum of a frame covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumScope {
    /// Its content. Frames are never empty: eight zeros are what a file system leaves where nothing was written.
    Plain,
    /// Its content, its offset in the file, and this seed of the file, so that it is valid nowhere else.
    Placed(u64),
}

impl ChecksumScope {
    fn checksum(self, offset: u64, pieces: &[&[u8]]) -> u32 {
        let seed = match self {
            Self::Plain => 0,
            Self::Placed(seed) => checksum(seed, offset, &[]),
        };
        pieces.iter().fold(seed, |sum, piece| crc32c::crc32c_append(sum, piece))
    }

    /// Appends a frame that will stand at `offset` of its file to `bytes`. Its content comes in pieces.
    ///
    /// # Panics
    /// When the content takes more than four gibibytes.
    pub fn append(self, bytes: &mut Vec<u8>, offset: u64, pieces: &[&[u8]]) {
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        let length = u32::try_from(length).expect("frames are bounded far below");
        bytes.reserve(HEAD_BYTES + length as usize);
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&self.checksum(offset, pieces).to_le_bytes());
        pieces.iter().for_each(|piece| bytes.extend_from_slice(piece));
    }

    /// The content of the frame at the front of `bytes`, which stand at `offset` of their file; `None` if it is not whole.
    #[must_use]
    pub fn first(self, bytes: &[u8], offset: u64) -> Option<&[u8]> {
        let (length, sum, rest) = split_head(bytes)?;
        let content = rest.get(..length)?;
        let is_zeros = length == 0 && self == Self::Plain;
        (!is_zeros && self.checksum(offset, &[content]) == sum).then_some(content)
    }

    /// The content of the frame at `offset` of a whole file, and where the frame ends.
    #[must_use]
    pub fn at(self, file: &[u8], offset: u64) -> Option<(&[u8], u64)> {
        let content = self.first(file.get(usize::try_from(offset).ok()?..)?, offset)?;
        Some((content, offset + (HEAD_BYTES + content.len()) as u64))
    }
}

/// The length of a frame, its checksum, and what stands after its head.
fn split_head(bytes: &[u8]) -> Option<(usize, u32, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<4>()?;
    Some((usize::try_from(u32::from_le_bytes(*length)).ok()?, u32::from_le_bytes(*sum), rest))
}

/// Writes frames.
#[derive(Debug)]
pub struct FrameWriter {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    framing: ChecksumScope,
    end: u64,
    buffer: Vec<u8>,
}

impl FrameWriter {
    /// Creates a new file that begins with `head`.
    ///
    /// # Errors
    /// When it exists, or cannot be written.
    pub fn create(disk: &dyn Disk, path: &Path, framing: ChecksumScope, head: &[u8]) -> Result<Self, Error> {
        let file = disk.open(path, Open::CreateNew).map_err(|source| Error::io("create", path, source))?;
        Ok(Self { file, path: path.to_owned(), framing, end: 0, buffer: head.to_vec() })
    }
    /// Continues at `end`; what follows is cut off.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn resume(disk: &dyn Disk, path: &Path, framing: ChecksumScope, end: u64) -> Result<Self, Error> {
        let file = disk.open(path, Open::Write).map_err(|source| Error::io("open", path, source))?;
        file.truncate(end).map_err(|source| Error::io("cut", path, source))?;
        Ok(Self { file, path: path.to_owned(), framing, end, buffer: Vec::new() })
    }

    /// Adds a frame whose content comes in pieces.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn push(&mut self, pieces: &[&[u8]]) -> Result<(), Error> {
        let offset = self.end + self.buffer.len() as u64;
        self.framing.append(&mut self.buffer, offset, pieces);
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }
    /// Writes what was collected.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn flush(&mut self) -> Result<(), Error> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let written = self.file.write_at(self.end, &self.buffer);
        written.map_err(|source| Error::io("write", &self.path, source))?;
        self.end += self.buffer.len() as u64;
        self.buffer.clear();
        if self.buffer.capacity() > 4 * BUFFER_BYTES {
            self.buffer = Vec::new();
        }
        Ok(())
    }
    /// Makes everything durable.
    ///
    /// # Errors
    /// When the file cannot be written or synced.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.flush()?;
        self.file.sync().map_err(|source| Error::io("sync", &self.path, source))
    }
}

/// Rewrites the plain journal at `path`: each frame becomes what `change` makes of it, or nothing, and `more` follows. The
/// old file stays until the new one is durable.
///
/// # Errors
/// When a file cannot be read or written.
pub fn rewrite(
    disk: &dyn Disk,
    path: &Path,
    more: &[Vec<u8>],
    change: impl for<'a> Fn(&'a [u8]) -> Option<&'a [u8]>,
) -> Result<(), Error> {
    let part = path.with_extension("part");
    match disk.remove(&part) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            return Err(Error::io("remove", &part, source));
        }
        _ => {}
    }
    let mut frames = FrameReader::open(disk, path, ChecksumScope::Plain, 0)?;
    let mut writer = FrameWriter::create(disk, &part, ChecksumScope::Plain, &[])?;
    while let Some(frame) = frames.next()? {
        if let Some(frame) = change(frame) {
            writer.push(&[frame])?;
        }
    }
    more.iter().try_for_each(|frame| writer.push(&[frame]))?;
    writer.sync()?;
    disk.rename(&part, path).map_err(|source| Error::io("rename", &part, source))?;
    let directory = path.parent().unwrap_or(path);
    disk.sync_directory(directory).map_err(|source| Error::io("sync", directory, source))
}

/// Reads frames.
#[derive(Debug)]
pub struct FrameReader {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    framing: ChecksumScope,
    length: u64,
    window: Vec<u8>,
    /// Where the window begins.
    from: u64,
    /// How much of the window was read.
    taken: usize,
}

impl FrameReader {
    /// Reads from `from`, where a frame begins.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(disk: &dyn Disk, path: &Path, framing: ChecksumScope, from: u64) -> Result<Self, Error> {
        let failed = |source: io::Error| Error::io("open", path, source);
        let file = disk.open(path, Open::Read).map_err(failed)?;
        let length = file.length().map_err(failed)?;
        Ok(Self { file, path: path.to_owned(), framing, length, window: Vec::new(), from, taken: 0 })
    }
    /// Where the next frame begins.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.from + self.taken as u64
    }

    /// The content of the next frame; `None` after the last whole one.
    ///
    /// # Errors
    /// When the file cannot be read.
    #[expect(clippy::should_implement_trait, reason = "a frame lives until the next call")]
    pub fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        self.fill(HEAD_BYTES)?;
        let head = self.window.get(self.taken..).and_then(split_head);
        let Some(length) = head.map(|(length, _, _)| length).filter(|length| *length <= FRAME_BYTES_MAX)
        else {
            return Ok(None);
        };
        self.fill(HEAD_BYTES + length)?;
        let (start, offset) = (self.taken, self.position());
        let rest = self.window.get(start..).unwrap_or_default();
        let Some(content) = self.framing.first(rest, offset) else { return Ok(None) };
        self.taken = start + HEAD_BYTES + content.len();
        Ok(Some(content))
    }

    /// Ensures that the window holds `bytes` more, if the file does.
    fn fill(&mut self, bytes: usize) -> Result<(), Error> {
        if self.window.len() - self.taken >= bytes {
            return Ok(());
        }
        self.from += self.taken as u64;
        self.taken = 0;
        let left = usize::try_from(self.length.saturating_sub(self.from)).unwrap_or(usize::MAX);
        self.window.resize(left.min(bytes.max(BUFFER_BYTES)), 0);
        let read = self.file.read_at(self.from, &mut self.window);
        read.map_err(|source| Error::io("read", &self.path, source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::disk::SimulatedDisk;

    const FRAMINGS: [ChecksumScope; 2] = [ChecksumScope::Plain, ChecksumScope::Placed(7)];

    fn read(disk: &SimulatedDisk, path: &Path, framing: ChecksumScope) -> (Vec<Vec<u8>>, u64) {
        let mut frames = FrameReader::open(disk, path, framing, 0).unwrap();
        let mut found = Vec::new();
        while let Some(frame) = frames.next().unwrap() {
            found.push(frame.to_vec());
        }
        (found, frames.position())
    }

    #[test]
    fn frames_of_any_size_are_read_back() {
        for framing in FRAMINGS {
            let (disk, path) = (SimulatedDisk::new(1), Path::new("/frames"));
            let frames: Vec<Vec<u8>> =
                [1, 2, 3 * BUFFER_BYTES, 7, BUFFER_BYTES].map(|length| vec![9; length]).into();
            let mut writer = FrameWriter::create(&disk, path, framing, &[]).unwrap();
            frames.iter().for_each(|frame| writer.push(&[&frame[..1], &frame[1..]]).unwrap());
            writer.flush().unwrap();
            assert_eq!(read(&disk, path, framing).0, frames);
        }
    }

    #[test]
    fn survives_m1_a_file_cut_anywhere_is_read_up_to_its_last_whole_frame() {
        for framing in FRAMINGS {
            let (disk, path) = (SimulatedDisk::new(1), Path::new("/frames"));
            let mut writer = FrameWriter::create(&disk, path, framing, &[]).unwrap();
            let frames = [b"one".to_vec(), b"two".to_vec(), b"three".to_vec()];
            frames.iter().for_each(|frame| writer.push(&[frame]).unwrap());
            writer.sync().unwrap();
            let length = disk.open(path, Open::Read).unwrap().length().unwrap();
            for end in (0..length).rev() {
                disk.open(path, Open::Write).unwrap().truncate(end).unwrap();
                let (found, position) = read(&disk, path, framing);
                assert!(frames.starts_with(&found) && position <= end && found.len() < 3, "{end}");
                let mut writer = FrameWriter::resume(&disk, path, framing, position).unwrap();
                writer.push(&[b"again"]).unwrap();
                writer.sync().unwrap();
                assert_eq!(
                    read(&disk, path, framing).0.last().map(Vec::as_slice),
                    Some(&b"again"[..]),
                    "{end}"
                );
            }
        }
    }

    #[test]
    fn a_placed_frame_is_valid_only_at_its_offset_in_its_file() {
        let mut bytes = Vec::new();
        ChecksumScope::Placed(7).append(&mut bytes, 100, &[b"con", b"tent"]);
        assert_eq!(ChecksumScope::Placed(7).first(&bytes, 100), Some(&b"content"[..]));
        assert_eq!(ChecksumScope::Placed(7).first(&bytes, 101), None);
        assert_eq!(ChecksumScope::Placed(8).first(&bytes, 100), None);
        assert_eq!(ChecksumScope::Plain.first(&bytes, 100), None);
        assert_eq!(ChecksumScope::Plain.first(&[0; 100], 0), None, "zeros are no frames");
    }
}
