//! What can go wrong with the files of a store.

use base::disk::Disk;
use std::io;
use std::path::{Path, PathBuf};

/// Why something cannot be written or read.
#[derive(Debug, thiserror::Error)]
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
    /// There is no room. Nothing has changed, and the call can be repeated.
    #[error("the disk of `{}` is full: `{free_bytes}` bytes are free and at least `{needed_bytes}` are needed; make room, then try again", path.display())]
    DiskFull {
        /// What could not be written.
        path: PathBuf,
        /// What is free.
        free_bytes: u64,
        /// Free bytes needed.
        needed_bytes: u64,
    },
    /// A file is not what was written.
    #[error("`{}` is damaged: {what}; rebuild what it belongs to", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
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
}
