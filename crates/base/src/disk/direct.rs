//! The machine's file system without the page cache.

use super::real::RealFile;
use super::{BLOCK_BYTES, Disk, DiskFile, Open, RealDisk};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The machine's file system; whole blocks bypass the page cache (`O_DIRECT`).
///
/// A read or write goes to the device itself if its offset, its length and the address of its buffer are all multiples
/// of [`BLOCK_BYTES`], as with [`AlignedBytes`](super::AlignedBytes); any other goes through the page cache, as on a
/// [`RealDisk`]. So does everything on a file system without direct access. Results are the same; only caching differs.
///
/// Linux keeps both kinds coherent. A direct read first writes back the dirty cached pages it covers; a direct write
/// also drops them. This costs nothing if the two kinds use different files or different parts of a file. As everywhere
/// ([`DiskFile`]), one writer at a time.
///
/// A direct write is no more durable than another before [`DiskFile::sync`]: the device has a cache too, and a new
/// length or a newly allocated block is not yet in the journal.
#[derive(Clone, Copy, Debug, Default)]
pub struct DirectDisk;

impl Disk for DirectDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(DirectFile::open(path, how)?))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }
    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        RealDisk.list(directory)
    }
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_directory(path)
    }
    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        RealDisk.sync_directory(path)
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        RealDisk.free_bytes(path)
    }
}

/// One file, opened twice.
#[derive(Debug)]
struct DirectFile {
    buffered: RealFile,
    /// Opened for direct access, where that is possible.
    direct: Option<File>,
}

impl DirectFile {
    fn open(path: &Path, how: Open) -> io::Result<Self> {
        let buffered = RealFile::open(path, how)?;
        let direct = open_direct(path, how).filter(|direct| is_same(direct, &buffered.0));
        Ok(Self { buffered, direct })
    }
    /// How many bytes `step` could move directly; it moves bytes from the given offset.
    ///
    /// The rest goes through the page cache: everything if offset, length or buffer are not whole blocks, or if the
    /// file system refuses direct access only on use (`EINVAL`); and what follows a call that ended inside a block,
    /// where the cached call then reports the reason.
    fn go_direct(
        &self,
        offset: u64,
        (address, length): (usize, usize),
        mut step: impl FnMut(&File, usize) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let Some(direct) = &self.direct else { return Ok(0) };
        let mut done = 0;
        while done < length && is_whole(offset, address, length, done) {
            match step(direct, done) {
                Ok(0) => break,
                Ok(more) => done += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if Errno::from_io_error(&error) == Some(Errno::INVAL) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }
}

impl DiskFile for DirectFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let place = (buffer.as_ptr().addr(), buffer.len());
        let done = self.go_direct(offset, place, |direct, done| {
            direct.read_at(&mut buffer[done..], offset + done as u64)
        })?;
        self.buffered.read_at(offset + done as u64, &mut buffer[done..])
    }
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let place = (bytes.as_ptr().addr(), bytes.len());
        let done = self
            .go_direct(offset, place, |direct, done| direct.write_at(&bytes[done..], offset + done as u64))?;
        self.buffered.write_at(offset + done as u64, &bytes[done..])
    }
    /// Covers both kinds of writes: they go to one file, and its sync also flushes the device's cache.
    fn sync(&self) -> io::Result<()> {
        self.buffered.sync()
    }
    fn length(&self) -> io::Result<u64> {
        self.buffered.length()
    }
    fn truncate(&self, length: u64) -> io::Result<()> {
        self.buffered.truncate(length)
    }
    fn allocate(&self, length: u64) -> io::Result<()> {
        self.buffered.allocate(length)
    }
}

/// Opens the file a second time, for direct access. If that fails for any reason, the cached one is enough.
fn open_direct(path: &Path, how: Open) -> Option<File> {
    let mode = if how == Open::Read { OFlags::RDONLY } else { OFlags::RDWR };
    let flags = mode | OFlags::DIRECT | OFlags::CLOEXEC;
    let opened = rustix::io::retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()));
    opened.ok().map(File::from)
}

/// Whether two open files are the same: the name may have been given to another file in between.
fn is_same(first: &File, second: &File) -> bool {
    let identity = |file: &File| file.metadata().map(|found| (found.dev(), found.ino()));
    matches!((identity(first), identity(second)), (Ok(first), Ok(second)) if first == second)
}

/// Whether the rest after `done` bytes is whole blocks in the file and in memory.
fn is_whole(offset: u64, address: usize, length: usize, done: usize) -> bool {
    let block_bytes = BLOCK_BYTES as u64;
    offset.is_multiple_of(block_bytes)
        && [address, length, done].iter().all(|place| place.is_multiple_of(BLOCK_BYTES))
}
