//! Why a data directory cannot be used, and what to do about it.

use super::{LockOwner, WebKind};
use std::io;
use std::path::{Path, PathBuf};

/// A data directory that cannot be used as asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A reader found nothing.
    #[error("cannot read the data directory `{}`: there is none", path.display())]
    Absent {
        /// The directory.
        path: PathBuf,
    },
    /// A reader found a directory in which nothing was written yet.
    #[error("cannot read the data directory `{}`: it holds nothing yet", path.display())]
    Empty {
        /// The directory.
        path: PathBuf,
    },
    /// Something else is there.
    #[error("cannot use `{}` as a data directory: it is not a directory", path.display())]
    NotADirectory {
        /// The directory.
        path: PathBuf,
    },
    /// A directory with other people's files.
    #[error(
        "cannot use `{}` as a data directory: it holds `{}` and no `FORMAT`, so it is not one of ours",
        path.display(), base::printable(entry)
    )]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// The first foreign file.
        entry: String,
    },
    /// A later program made it.
    #[error(
        "cannot use the data directory `{}`: it has format {version}, and this program knows formats up to {known}",
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
    /// `FORMAT` cannot be made out.
    #[error("cannot use the data directory `{}`: its file `FORMAT` is damaged: {reason}", path.display())]
    Damaged {
        /// The directory.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Simulated and public web must not mix.
    #[error("cannot write to the data directory `{}`: it holds the {held} web, not the {wanted} one", path.display())]
    OtherWeb {
        /// The directory.
        path: PathBuf,
        /// The web that it holds.
        held: WebKind,
        /// The web that was to be written.
        wanted: WebKind,
    },
    /// Someone else writes to it.
    #[error("cannot write to the data directory `{}`: it is in use by {owner}", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
        /// The process that writes to it.
        owner: LockOwner,
    },
    /// There is too little room to begin.
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
    /// The machine does not let us read.
    #[error("cannot read the data directory `{}`", path.display())]
    Read {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The machine does not let us write.
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
                "name another with `--data`, or make one with `utsushi crawl URL` or `utsushi demo`"
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
                "name another directory with `--data`; each web has one of its own".to_owned()
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
        _ => "mend that, or name another directory with `--data`",
    }
    .to_owned()
}
