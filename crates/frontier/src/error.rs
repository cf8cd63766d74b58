//! What can go wrong with the frontier: only its store.

/// The result of a frontier's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a frontier cannot continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store of page states cannot be read or written.
    #[error("cannot keep the schedule")]
    Store(#[from] sat::Error),
    /// A state has an unknown encoding.
    #[error(
        "the state of `{key}` cannot be read; `utsushi rebuild frontier` rebuilds the schedule from the archive"
    )]
    State {
        /// The page's key.
        key: String,
    },
}
