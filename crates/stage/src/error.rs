//! Why a stage cannot go on.

use archive::Checkpoint;

/// Why a stage cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The archive cannot be read.
    #[error("cannot read the archive")]
    Archive(#[from] archive::Error),
    /// A checkpoint is stored, but it is not one.
    #[error(
        "the checkpoint of `{stage}` cannot be read: `{found}`; run `utsushi rebuild {stage}`, which rebuilds it from the archive"
    )]
    Checkpoint {
        /// The stage.
        stage: &'static str,
        /// What is stored.
        found: String,
    },
    /// The stage is in use and cannot be cleared.
    #[error("`{stage}` is in use; stop the crawl, then run `utsushi rebuild {stage}`")]
    InUse {
        /// The stage.
        stage: &'static str,
    },
    /// The stage cannot read or write its own data.
    #[error("cannot update `{stage}`")]
    Stage {
        /// The stage.
        stage: &'static str,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// The error of a stage with its own data.
    pub fn of(stage: &'static str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Stage { stage, source: source.into() }
    }
}

/// Reads a checkpoint that a stage stored as text. Empty text is no checkpoint.
///
/// # Errors
/// [`Error::Checkpoint`] when the text is neither empty nor a checkpoint.
pub fn parse_checkpoint(stage: &'static str, text: &str) -> Result<Option<Checkpoint>, Error> {
    Checkpoint::stored(text)
        .map_err(|_| Error::Checkpoint { stage, found: base::printable(text).into_owned() })
}
