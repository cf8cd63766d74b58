//! Files: one small trait, so that a test can fail, cut, tear or reorder any write.
//!
//! [`RealDisk`] is the machine's file system. [`DirectDisk`] is the same one around the page cache, for who keeps a
//! cache of their own and reads and writes whole blocks from [`AlignedBytes`]. [`SimulatedDisk`] lives in memory,
//! keeps apart what was written and what was synced, and loses, tears or reorders the difference at a power cut.
//! [`OverlayDisk`] lies over another disk, which it only reads, and keeps every change to itself.
//!
//! **Invariant:** code that keeps data across a crash uses the disk only through this trait. Data is durable
//! after [`DiskFile::sync`] of its file; a new, renamed or removed name is durable after [`Disk::sync_directory`]
//! of its directory.

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

/// What [`DirectDisk`] reads and writes around the page cache is a whole number of these, in the file and in memory.
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
    /// Gives a file another name, replacing what had it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// The files (not directories) in a directory, in order of their names.
    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>>;
    /// Makes a directory and its parents, if they do not exist.
    fn create_directory(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a directory durable.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;
    /// How many bytes can still be written under `path`.
    fn free_bytes(&self, path: &Path) -> io::Result<u64>;
}

/// An open file. Several readers and one writer may use it at once.
pub trait DiskFile: Debug + Send + Sync {
    /// Fills `buffer` from `offset`; an error of kind `UnexpectedEof` when the file ends before.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
    /// Fills several buffers, each from its own offset; an implementation may have them in flight at once. Those on
    /// the machine's file system read one after another: who wants reads in flight at once there calls
    /// [`DiskFile::read_at`] from several threads.
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
    /// Reserves room up to `length` bytes, so that writing there cannot fail for want of space. The length of the
    /// file becomes at least `length`; what was not written reads as zeros.
    fn allocate(&self, length: u64) -> io::Result<()>;
    /// The file of the system, if it is one: to read from, for who moves bytes without looking at them.
    fn as_file(&self) -> Option<&File> {
        None
    }
}
