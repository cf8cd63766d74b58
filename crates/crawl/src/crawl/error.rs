//! Why a crawl cannot go on.

/// Why a crawl cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The archive cannot be read or written.
    #[error("cannot keep what was visited")]
    Archive(#[from] archive::Error),
    /// The schedule cannot be read or written.
    #[error(transparent)]
    Frontier(#[from] frontier::Error),
    /// The store of the schedule cannot be opened.
    #[error("cannot open the schedule")]
    Store(#[from] sat::Error),
    /// A stage cannot go on.
    #[error(transparent)]
    Stage(stage::Error),
}

impl From<stage::Error> for Error {
    fn from(error: stage::Error) -> Self {
        match error {
            stage::Error::Archive(error) => Self::Archive(error),
            stage::Error::Stage { stage, source } => match source.downcast::<Self>() {
                Ok(error) => *error,
                Err(source) => Self::Stage(stage::Error::Stage { stage, source }),
            },
            error => Self::Stage(error),
        }
    }
}

/// The error of the frontier's stage.
impl From<Error> for stage::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Archive(error) => Self::Archive(error),
            Error::Stage(error) => error,
            error => Self::of(crate::frontier_stage::NAME, error),
        }
    }
}
