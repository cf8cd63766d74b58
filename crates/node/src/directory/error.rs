//! Why a data directory cannot be used, and what to do about it.

use super::{LockOwner, WebKind};
use std::io;
use std::path::{Path, PathBuf};

/// A data directory that cannot be used as asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The directory does not exist.
    #[error("cannot read the data directory `{}`: it does not exist", path.display())]
    Absent {
        /// The directory.
        path: PathBuf,
    },
    /// The directory is empty.
    #[error("cannot read the data directory `{}`: it is empty", path.display())]
    Empty {
        /// The directory.
        path: PathBuf,
    },
    /// The path is not a directory.
    #[error("cannot use `{}` as a data directory: it is not a directory", path.display())]
    NotADirectory {
        /// The directory.
        path: PathBuf,
    },
    /// The directory contains foreign files.
    #[error(
        "cannot use `{}` as a data directory: it contains `{}` but no `FORMAT`, so utsushi did not create it",
        path.display(), base::printable(entry)
    )]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// The first foreign file.
        entry: String,
    },
    /// It was created by a later version.
    #[error(
        "cannot use the data directory `{}`: it has format {version}, and this program supports formats up to {known}",
        path.display()
    )]
    Newer {
        /// The directory.
        path: PathBuf,
        /// Its format.
        version: i64,
        /// The newest format that this program knows.
        known: i64,
    },
    /// `FORMAT` cannot be parsed.
    #[error("cannot use the data directory `{}`: its file `FORMAT` is damaged: {reason}", path.display())]
    Damaged {
        /// The directory.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Simulated and public web must not mix.
    #[error("cannot write to the data directory `{}`: it contains the {held} web, not the {wanted} one", path.display())]
    OtherWeb {
        /// The directory.
        path: PathBuf,
        /// The web that it holds.
        held: WebKind,
        /// The web to be written.
        wanted: WebKind,
    },
    /// Another process writes to it.
    #[error("cannot write to the data directory `{}`: it is in use by {owner}", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
        /// The process that writes to it.
        owner: LockOwner,
    },
    /// There is too little free space to start.
    #[error(
        "cannot write to the data directory `{}`: the disk is full: {free} bytes are free, {needed} are needed",
        path.display()
    )]
    Full {
        /// The directory.
        path: PathBuf,
        /// Bytes that are free.
        free: u64,
        /// Bytes that must be free.
        needed: u64,
    },
    /// It cannot be read.
    #[error("cannot read the data directory `{}`", path.display())]
    Read {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It cannot be written.
    #[error("cannot write to the data directory `{}`", path.display())]
    Write {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Error {
    pub(super) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }
    pub(super) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }

    /// What a person can do about it.
    pub fn advice(&self) -> String {
        match self {
            Self::Absent { .. } => {
                "name another with `--data`, or create one with `utsushi crawl URL` or `utsushi demo`"
                    .to_owned()
            }
            Self::Empty { .. } => {
                "fill it with `utsushi crawl URL` or `utsushi import FILE`, or name another with `--data`"
                    .to_owned()
            }
            Self::NotADirectory { .. } | Self::Foreign { .. } => {
                "name a new or empty directory with `--data`".to_owned()
            }
            Self::Newer { .. } => "upgrade utsushi, or name another directory with `--data`".to_owned(),
            Self::Damaged { .. } => {
                "restore `FORMAT` from a copy; the archive files beside it are not touched by \
                                     this"
                    .to_owned()
            }
            Self::OtherWeb { .. } => {
                "name another directory with `--data`; each web needs its own".to_owned()
            }
            Self::InUse { owner, .. } => owner.advice(),
            Self::Full { .. } => "free some space, name a directory on another disk with `--data`, or lower \
                                  `archive.disk_free_bytes_min` and `archive.disk_free_percent_min`"
                .to_owned(),
            Self::Read { source, .. } | Self::Write { source, .. } => machine_advice(source),
        }
    }
}

fn machine_advice(source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::ReadOnlyFilesystem => {
            "the file system is read-only: mount it for writing, or name a \
                                              directory elsewhere with `--data`"
        }
        io::ErrorKind::PermissionDenied => "get permission for that directory, or name another with `--data`",
        io::ErrorKind::NotADirectory => "one of its parents is a file: name another directory with `--data`",
        io::ErrorKind::StorageFull => "free some space, or name a directory on another disk with `--data`",
        _ => "correct that, or name another directory with `--data`",
    }
    .to_owned()
}
