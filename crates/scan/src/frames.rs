//! Files of frames: each its length, its checksum and itself. Written at the end, read from the beginning.
//!
//! **Invariant:** what was written and synced is read back after any crash; after the first incomplete frame
//! nothing is believed (M1).

use crate::error::Error;
use base::disk::{Disk, DiskFile, Open};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const HEAD_BYTES: usize = 8;
/// Size of the write buffer and of one read.
const BUFFER_BYTES: usize = 1024 * 1024;
/// A frame is no longer than this: an answer, or a page and what is known of it.
const FRAME_BYTES_MAX: usize = 1 << 30;

/// Writes frames.
#[derive(Debug)]
pub(crate) struct Writer {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    end: u64,
    buffer: Vec<u8>,
}

impl Writer {
    /// Begins a new file.
    pub(crate) fn create(disk: &dyn Disk, path: &Path) -> Result<Self, Error> {
        let file = disk.open(path, Open::CreateNew).map_err(|source| Error::io("create", path, source))?;
        Ok(Self { file, path: path.to_owned(), end: 0, buffer: Vec::new() })
    }
    /// Continues after `end`; anything there is cut off.
    pub(crate) fn resume(disk: &dyn Disk, path: &Path, end: u64) -> Result<Self, Error> {
        let file = disk.open(path, Open::Write).map_err(|source| Error::io("open", path, source))?;
        file.truncate(end).map_err(|source| Error::io("cut", path, source))?;
        Ok(Self { file, path: path.to_owned(), end, buffer: Vec::new() })
    }

    /// Adds a frame that comes in pieces.
    pub(crate) fn push(&mut self, pieces: &[&[u8]]) -> Result<(), Error> {
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        let sum = pieces.iter().fold(0, |sum, piece| crc32c::crc32c_append(sum, piece));
        let length = u32::try_from(length).expect("frames are bounded far below");
        self.buffer.extend_from_slice(&length.to_le_bytes());
        self.buffer.extend_from_slice(&sum.to_le_bytes());
        pieces.iter().for_each(|piece| self.buffer.extend_from_slice(piece));
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }
    /// Writes what was collected.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.file
            .write_at(self.end, &self.buffer)
            .map_err(|source| Error::io("write", &self.path, source))?;
        self.end += self.buffer.len() as u64;
        self.buffer.clear();
        if self.buffer.capacity() > 4 * BUFFER_BYTES {
            self.buffer = Vec::new();
        }
        Ok(())
    }
    /// Makes everything durable.
    pub(crate) fn sync(&mut self) -> Result<(), Error> {
        self.flush()?;
        self.file.sync().map_err(|source| Error::io("sync", &self.path, source))
    }
}

/// Rewrites the file at `path`: each frame as `change` returns it, or not at all, then `more`. The old file
/// is there until the new one is whole.
pub(crate) fn rewrite(
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
    let mut frames = Frames::open(disk, path)?;
    let mut writer = Writer::create(disk, &part)?;
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
pub(crate) struct Frames {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    length: u64,
    window: Vec<u8>,
    /// Where the window begins.
    from: u64,
    /// How much of the window was read.
    taken: usize,
}

impl Frames {
    pub(crate) fn open(disk: &dyn Disk, path: &Path) -> Result<Self, Error> {
        let failed = |source: io::Error| Error::io("open", path, source);
        let file = disk.open(path, Open::Read).map_err(failed)?;
        let length = file.length().map_err(failed)?;
        Ok(Self { file, path: path.to_owned(), length, window: Vec::new(), from: 0, taken: 0 })
    }
    /// Where the next frame begins.
    pub(crate) fn position(&self) -> u64 {
        self.from + self.taken as u64
    }

    /// The next frame; none after the last complete one.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        self.fill(HEAD_BYTES)?;
        let head = self.window.get(self.taken..).and_then(|rest| rest.split_first_chunk::<4>());
        let Some((length, rest)) = head else { return Ok(None) };
        let Some(sum) = rest.first_chunk::<4>().map(|sum| u32::from_le_bytes(*sum)) else { return Ok(None) };
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        if length > FRAME_BYTES_MAX {
            return Ok(None);
        }
        self.fill(HEAD_BYTES + length)?;
        let start = self.taken + HEAD_BYTES;
        let Some(frame) = self.window.get(start..start + length) else { return Ok(None) };
        // A frame of nothing but zeros is what a file system leaves where nothing was written.
        if length == 0 || crc32c::crc32c(frame) != sum {
            return Ok(None);
        }
        self.taken = start + length;
        Ok(self.window.get(start..start + length))
    }

    /// Sees to it that the window holds `bytes` more, if the file does.
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

    fn read(disk: &SimulatedDisk, path: &Path) -> (Vec<Vec<u8>>, u64) {
        let mut frames = Frames::open(disk, path).unwrap();
        let mut found = Vec::new();
        while let Some(frame) = frames.next().unwrap() {
            found.push(frame.to_vec());
        }
        (found, frames.position())
    }

    #[test]
    fn frames_of_any_size_come_back() {
        let (disk, path) = (SimulatedDisk::new(1), Path::new("/frames"));
        let frames: Vec<Vec<u8>> =
            [1, 2, 3 * BUFFER_BYTES, 7, BUFFER_BYTES].map(|length| vec![9; length]).into();
        let mut writer = Writer::create(&disk, path).unwrap();
        frames.iter().for_each(|frame| writer.push(&[&frame[..1], &frame[1..]]).unwrap());
        writer.flush().unwrap();
        assert_eq!(read(&disk, path).0, frames);
    }

    #[test]
    fn survives_m1_a_file_cut_anywhere_is_read_up_to_its_last_whole_frame() {
        let (disk, path) = (SimulatedDisk::new(1), Path::new("/frames"));
        let mut writer = Writer::create(&disk, path).unwrap();
        let frames = [b"one".to_vec(), b"two".to_vec(), b"three".to_vec()];
        frames.iter().for_each(|frame| writer.push(&[frame]).unwrap());
        writer.sync().unwrap();
        let length = disk.open(path, Open::Read).unwrap().length().unwrap();
        for end in (0..length).rev() {
            disk.open(path, Open::Write).unwrap().truncate(end).unwrap();
            let (found, position) = read(&disk, path);
            assert!(frames.starts_with(&found) && position <= end && found.len() < 3, "{end}");
            let mut writer = Writer::resume(&disk, path, position).unwrap();
            writer.push(&[b"again"]).unwrap();
            writer.sync().unwrap();
            assert_eq!(read(&disk, path).0.last().map(Vec::as_slice), Some(&b"again"[..]), "{end}");
        }
    }
}
