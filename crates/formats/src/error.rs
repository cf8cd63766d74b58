//! What can go wrong while a snapshot is handed over, or a package is read.

use std::io;

/// Why a form cannot be written, or a package not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Our machine did not do what it was asked to.
    #[error("cannot {action}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// A record cannot be had from where it is kept.
    #[error("cannot copy the record at byte `{offset}` of `{file}`")]
    Source {
        /// The file.
        file: String,
        /// Where the record begins.
        offset: u64,
        /// What its keeper says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The columns cannot be written.
    #[error("cannot write the Parquet file")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    /// A package is not what it should be.
    #[error("the package cannot be read: {0}; get it again from where it came from")]
    Package(String),
    /// An entry of a package is not what it should be. Others may be.
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
