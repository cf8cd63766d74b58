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
        /// The action.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There is no room. Nothing is lost: appended captures wait, and the call can be repeated.
    #[error("the disk of `{}` is full: `{free_bytes}` bytes are free and at least `{needed_bytes}` are needed; make room, then try again", path.display())]
    DiskFull {
        /// What could not be written.
        path: PathBuf,
        /// Free bytes, including the reserve.
        free_bytes: u64,
        /// Free bytes needed for the next step, including the reserve.
        needed_bytes: u64,
    },
    /// An earlier write failed, so nothing more is certain to reach the disk (M3).
    #[error("writing to `{}` failed before and was stopped; open the archive again, which checks what is there", path.display())]
    Stopped {
        /// The directory of the archive.
        path: PathBuf,
    },
    /// A file of the index is damaged. It can be rebuilt: nothing is lost.
    #[error("`{}` is damaged: {what}; run `utsushi rebuild index`, which rebuilds the index from the archive", path.display())]
    IndexDamaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A body that was kept on disk until archiving cannot be read back.
    #[error("cannot read back the body of `{url}`; check the disk of the data directory")]
    Body {
        /// The page.
        url: String,
        /// The system's error.
        source: io::Error,
    },
    /// The page was taken down and is not stored again.
    #[error("`{url}` was taken down and is not stored again")]
    TakenDown {
        /// The page.
        url: String,
    },
    /// The checkpoint of a stage cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A record is damaged. Other records are not affected.
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
    /// The error of an action that needs room.
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
