//! Why documents or links cannot be read or written.

use crate::id::DocumentId;
use std::path::PathBuf;

/// Why documents or links cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The archive cannot be read.
    #[error("cannot read the archive")]
    Archive(#[from] archive::Error),
    /// A file cannot be read or written.
    #[error(transparent)]
    Runs(runs::Error),
    /// A file is damaged.
    #[error("`{}` is damaged: {what}; run `utsushi rebuild {stage}`, which rebuilds it from the archive", path.display())]
    Damaged {
        /// Which stage it belongs to.
        stage: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A document is whole but cannot be understood.
    #[error(
        "the document `{id}` cannot be read; run `utsushi rebuild documents`, which rebuilds it from the archive"
    )]
    Unreadable {
        /// The document.
        id: DocumentId,
    },
    /// The stored checkpoint cannot be read.
    #[error(transparent)]
    Stage(#[from] stage::Error),
}

impl Error {
    /// The error of a stage with its files. Damage says what to do.
    pub(crate) fn of(stage: &'static str) -> impl Fn(runs::Error) -> Self {
        move |error| match error {
            runs::Error::Damaged { path, what } => Self::Damaged { stage, path, what },
            error => Self::Runs(error),
        }
    }
    /// Whether a rebuild from the archive is the remedy.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Damaged { .. } | Self::Unreadable { .. } | Self::Stage(stage::Error::Checkpoint { .. })
        )
    }
}
