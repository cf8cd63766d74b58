//! The framed files of a job ([`runs::frames`]), with this crate's errors.

use crate::error::Error;
use base::disk::Disk;
use runs::frames::{self, ChecksumScope, FrameReader, FrameWriter};
use std::path::Path;

/// Writes frames.
#[derive(Debug)]
pub(crate) struct Writer(FrameWriter);

impl Writer {
    /// Creates a new file.
    pub(crate) fn create(disk: &dyn Disk, path: &Path) -> Result<Self, Error> {
        Ok(Self(FrameWriter::create(disk, path, ChecksumScope::Plain, &[])?))
    }
    /// Continues at `end`; what stands after it is cut off.
    pub(crate) fn resume(disk: &dyn Disk, path: &Path, end: u64) -> Result<Self, Error> {
        Ok(Self(FrameWriter::resume(disk, path, ChecksumScope::Plain, end)?))
    }

    /// Adds a frame that comes in pieces.
    pub(crate) fn push(&mut self, pieces: &[&[u8]]) -> Result<(), Error> {
        Ok(self.0.push(pieces)?)
    }
    /// Writes what was collected.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        Ok(self.0.flush()?)
    }
    /// Makes everything durable.
    pub(crate) fn sync(&mut self) -> Result<(), Error> {
        Ok(self.0.sync()?)
    }
}

/// Rewrites the file at `path`; see [`frames::rewrite`].
pub(crate) fn rewrite(
    disk: &dyn Disk,
    path: &Path,
    more: &[Vec<u8>],
    change: impl for<'a> Fn(&'a [u8]) -> Option<&'a [u8]>,
) -> Result<(), Error> {
    Ok(frames::rewrite(disk, path, more, change)?)
}

/// Reads frames.
#[derive(Debug)]
pub(crate) struct Frames(FrameReader);

impl Frames {
    pub(crate) fn open(disk: &dyn Disk, path: &Path) -> Result<Self, Error> {
        Ok(Self(FrameReader::open(disk, path, ChecksumScope::Plain, 0)?))
    }
    /// Where the next frame begins.
    pub(crate) fn position(&self) -> u64 {
        self.0.position()
    }
    /// The next frame; nothing after the last whole one.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        Ok(self.0.next()?)
    }
}
