//! What can go wrong with the files of an archive.

use base::disk::Disk;
use base::printable;
use std::io;
use std::path::{Path, PathBuf};

/// Why the archive cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory could not be read or written.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With which file or directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is no room. Nothing is lost: what was appended waits, and the same call can be made again.
    #[error("the disk of `{}` is full: `{free_bytes}` bytes are free and at least `{needed_bytes}` are needed; make room, then try again", path.display())]
    DiskFull {
        /// What could not be written.
        path: PathBuf,
        /// What is free, the reserve included.
        free_bytes: u64,
        /// What must be free for the next step at least, the reserve included.
        needed_bytes: u64,
    },
    /// An earlier call failed in a way after which nothing can be trusted to reach the disk (M3).
    #[error("writing to `{}` failed before and was stopped; open the archive again, which checks what is there", path.display())]
    Stopped {
        /// The directory of the archive.
        path: PathBuf,
    },
    /// A file of the index is not what was written. It can be rebuilt: nothing is lost.
    #[error("`{}` is damaged: {what}; run `utsushi rebuild index`, which rebuilds the index from the archive", path.display())]
    IndexDamaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A body that lies on disk until it is archived cannot be read back.
    #[error("cannot read back the body of `{url}`; check the disk of the data directory")]
    Body {
        /// The page.
        url: String,
        /// What the system says.
        source: io::Error,
    },
    /// The page was taken down, and is not kept again.
    #[error("`{url}` was taken down and is not kept again")]
    TakenDown {
        /// The page.
        url: String,
    },
    /// The checkpoint of a stage cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A record is not what was written. The others are not concerned.
    #[error("the record at byte `{offset}` of `{}` is damaged: {what}; restore the file from a copy, or leave it: the record is skipped", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the record begins.
        offset: u64,
        /// What is wrong with it.
        what: &'static str,
    },
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }
    /// The error of something that needs room.
    pub(crate) fn writing(disk: &dyn Disk, action: &'static str, path: &Path, source: io::Error) -> Self {
        if !matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            return Self::io(action, path, source);
        }
        let free_bytes = disk.free_bytes(path.parent().unwrap_or(path)).unwrap_or(0);
        Self::DiskFull { path: path.to_owned(), free_bytes, needed_bytes: free_bytes.saturating_add(1) }
    }
    /// Whether the same call may succeed once there is room.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::DiskFull { .. })
    }
}

/// A stored text is not a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the stored checkpoint `{}` is not of the form `FILE@OFFSET`; rebuild what was stored with it: see `utsushi rebuild --help`",
    printable(text)
)]
pub struct CheckpointError {
    /// What was stored.
    pub text: String,
}

impl From<runs::Error> for Error {
    fn from(error: runs::Error) -> Self {
        match error {
            runs::Error::DiskFull { path, free_bytes, needed_bytes } => {
                Self::DiskFull { path, free_bytes, needed_bytes }
            }
            runs::Error::Damaged { path, what } => Self::IndexDamaged { path, what },
            runs::Error::Io { action, path, source } => Self::Io { action, path, source },
        }
    }
}
