//! The machine's file system around the page cache.

use super::real::RealFile;
use super::{BLOCK_BYTES, Disk, DiskFile, Open, RealDisk};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The machine's file system, with whole blocks read and written around the page cache (`O_DIRECT`).
///
/// A read or write goes to the device itself if its offset, its length and the address of its buffer are all multiples
/// of [`BLOCK_BYTES`], as with [`AlignedBytes`](super::AlignedBytes); any other goes through the
/// page cache, as on a [`RealDisk`]. So does all on a file system that knows no other way: the answers are the same,
/// only who caches differs.
///
/// Linux keeps both ways coherent, at a price that is paid where they meet. A direct read first writes back what is
/// dirty in the cache at its place, and waits for it; a direct write does so too and then throws the cached pages
/// away, so that the next cached read goes to the device. Who keeps the two kinds in different files, or in different
/// parts of a file, pays nothing. As everywhere ([`DiskFile`]), one writer at a time.
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
    /// Around the page cache, where that is possible.
    direct: Option<File>,
}

impl DirectFile {
    fn open(path: &Path, how: Open) -> io::Result<Self> {
        let buffered = RealFile::open(path, how)?;
        let direct = open_direct(path, how).filter(|direct| is_same(direct, &buffered.0));
        Ok(Self { buffered, direct })
    }
    /// How many bytes could be moved around the page cache by `step`, which moves bytes from the given place on.
    ///
    /// What is left is for the page cache: nothing as a rule; all if offset, length or buffer are no whole blocks, or
    /// if the file system allowed to open a file this way but not to use it (`EINVAL`); and what follows a call that
    /// ended inside a block, at the end of the file or of the room: the cached call then tells which.
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
    /// Carries what went either way: both lead to one file, and its sync empties the device's cache as well.
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

/// A second way to a file that is open already. Whatever stands against it, the first way is enough.
fn open_direct(path: &Path, how: Open) -> Option<File> {
    let mode = if how == Open::Read { OFlags::RDONLY } else { OFlags::RDWR };
    let flags = mode | OFlags::DIRECT | OFlags::CLOEXEC;
    let opened = rustix::io::retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()));
    opened.ok().map(File::from)
}

/// Whether two open files are one: the name may have gone to another in between.
fn is_same(first: &File, second: &File) -> bool {
    let identity = |file: &File| file.metadata().map(|found| (found.dev(), found.ino()));
    matches!((identity(first), identity(second)), (Ok(first), Ok(second)) if first == second)
}

/// Whether what is left after `done` bytes is whole blocks in the file and in memory.
fn is_whole(offset: u64, address: usize, length: usize, done: usize) -> bool {
    let block_bytes = BLOCK_BYTES as u64;
    offset.is_multiple_of(block_bytes)
        && [address, length, done].iter().all(|place| place.is_multiple_of(BLOCK_BYTES))
}
