//! What can go wrong with a store.

use std::io;
use std::path::{Path, PathBuf};

/// Why the store cannot do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written. After a failed write the store is stopped: open it again (M3).
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// The action.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Bytes are not what was written. They are never returned; the rest of the store is not affected unless opening
    /// failed.
    #[error("`{}` is damaged at byte `{offset}`: {what}; restore the file from a copy, or rebuild the store", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in it.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// The directory holds files of a store, but not what is needed to read them.
    #[error("`{}` is not a whole store: {what}; choose an empty directory, or restore the missing file", path.display())]
    NotAStore {
        /// The directory, or the file that is missing.
        path: PathBuf,
        /// What is missing or foreign.
        what: &'static str,
    },
    /// The files are of a format that this version does not know.
    #[error("`{}` has format version `{found}` and this program reads `{known}`; use the program that wrote it", path.display())]
    Version {
        /// The superblock.
        path: PathBuf,
        /// The version it names.
        found: u32,
        /// The version that is known here.
        known: u32,
    },
    /// An earlier write failed, so nothing more is certain to reach the disk (M3).
    #[error("writing to `{}` failed before and was stopped; open the store again, which checks what is there", path.display())]
    Stopped {
        /// The directory of the store.
        path: PathBuf,
    },
    /// No record has this number: it was never given, or its record was deleted.
    #[error("no record has the number `{number}`; offer its key again")]
    Unknown {
        /// The number asked for.
        number: u32,
    },
    /// A key, a value or both together exceed the maximum of a record.
    #[error("a record of `{bytes}` bytes is too long; key and value together may have `{bytes_max}`")]
    TooLong {
        /// What was given.
        bytes: usize,
        /// What is allowed.
        bytes_max: usize,
    },
    /// The current commit is full. This call changed nothing.
    #[error("the commit holds `{bytes}` bytes already and may have `{bytes_max}`; commit, then continue")]
    CommitFull {
        /// What the commit holds.
        bytes: usize,
        /// What it may hold.
        bytes_max: usize,
    },
    /// Too many offered keys wait to be judged. This call changed nothing.
    #[error("`{pending}` offered keys wait to be judged; settle them, then continue")]
    PendingFull {
        /// How many wait.
        pending: usize,
    },
}

/// Describes a call that may fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Adds action and path to a system error.
pub(crate) trait Trying<T> {
    fn trying(self, action: &'static str, path: &Path) -> Result<T>;
}

impl<T> Trying<T> for io::Result<T> {
    fn trying(self, action: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Io { action, path: path.to_owned(), source })
    }
}
