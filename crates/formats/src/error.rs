//! What can go wrong while a snapshot is exported, or a package is read.

use std::io;

/// Why a format cannot be written, or a package cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operation of our machine failed.
    #[error("cannot {action}")]
    Io {
        /// The action.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// A record cannot be read from its source.
    #[error("cannot copy the record at byte `{offset}` of `{file}`")]
    Source {
        /// The file.
        file: String,
        /// Where the record begins.
        offset: u64,
        /// The source's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The columns cannot be written.
    #[error("cannot write the Parquet file")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    /// A package is invalid.
    #[error("the package cannot be read: {0}; get it again from its source")]
    Package(String),
    /// An entry of a package is invalid. Others may be valid.
    #[error("entry `{name}` of the package cannot be read: {what}")]
    Entry {
        /// The entry, printable.
        name: String,
        /// What is wrong with it.
        what: &'static str,
    },
}

impl Error {
    pub(crate) fn io(action: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { action, source }
    }
    pub(crate) fn package(what: impl Into<String>) -> Self {
        Self::Package(what.into())
    }
    pub(crate) fn entry(name: &str, what: &'static str) -> Self {
        Self::Entry { name: base::printable(name).into_owned(), what }
    }
}
