//! What can go wrong with the frontier: only its store.

/// What a frontier's operations end with.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a frontier cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store of page states cannot be read or written.
    #[error("cannot keep the schedule")]
    Store(#[from] sat::Error),
    /// A state is of a form that this program does not know.
    #[error(
        "the state of `{key}` cannot be read; `utsushi rebuild frontier` makes the schedule anew from the archive"
    )]
    State {
        /// The page's key.
        key: String,
    },
}
