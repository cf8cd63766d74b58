//! Files: one small trait, so that a test can fail, cut, tear or reorder any write.
//!
//! [`RealDisk`] is the machine's file system. [`DirectDisk`] is the same file system without the page cache, for
//! callers that have their own cache and use whole blocks in [`AlignedBytes`]. [`SimulatedDisk`] is in memory; at a
//! power cut it loses, tears or reorders what was written but not synced. [`OverlayDisk`] reads from another disk and
//! keeps every change to itself.
//!
//! **Invariant:** code whose data must survive a crash uses the disk only through this trait. Data is durable after
//! [`DiskFile::sync`] of its file; a new, renamed or removed name is durable after [`Disk::sync_directory`] of its
//! directory.

mod aligned;
mod direct;
mod overlay;
mod private;
mod real;
mod simulated;

pub use aligned::AlignedBytes;
pub use direct::DirectDisk;
pub use overlay::OverlayDisk;
pub use private::{create_private_directory, private_options};
pub use real::RealDisk;
pub use simulated::{Fault, SimulatedDisk, Survival};

use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// [`DirectDisk`] bypasses the page cache for multiples of this size, in the file and in memory.
pub const BLOCK_BYTES: usize = 4096;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// To read an existing file.
    Read,
    /// To read and write an existing file.
    Write,
    /// To read and write a file that must not exist yet.
    CreateNew,
}

/// A file system.
pub trait Disk: Debug + Send + Sync {
    /// Opens a file.
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>>;
    /// Renames a file; a file that had the new name is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// The files (not directories) in a directory, in order of their names.
    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>>;
    /// Makes a directory and its parents, if they do not exist.
    fn create_directory(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a directory durable.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;
    /// Free bytes on the file system of `path`.
    fn free_bytes(&self, path: &Path) -> io::Result<u64>;
}

/// An open file. Several readers and one writer may use it at once.
pub trait DiskFile: Debug + Send + Sync {
    /// Fills `buffer` from `offset`; an error of kind `UnexpectedEof` if the file is shorter.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
    /// Fills several buffers, each from its own offset; an implementation may read them concurrently. The real disks do
    /// not: for concurrent reads, call [`DiskFile::read_at`] from several threads.
    fn read_many(&self, reads: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        reads.iter_mut().try_for_each(|(offset, buffer)| self.read_at(*offset, buffer))
    }
    /// Writes all of `bytes` at `offset`, growing the file when needed.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Makes everything written so far durable.
    fn sync(&self) -> io::Result<()>;
    /// The length in bytes.
    fn length(&self) -> io::Result<u64>;
    /// Cuts the file, or grows it with zeros.
    fn truncate(&self, length: u64) -> io::Result<()>;
    /// Reserves room up to `length` bytes, so that writing there cannot fail for lack of space. The file becomes at
    /// least `length` long; what was not written reads as zeros.
    fn allocate(&self, length: u64) -> io::Result<()>;
    /// The operating system's file, if there is one, for callers that move bytes without looking at them.
    fn as_file(&self) -> Option<&File> {
        None
    }
}
