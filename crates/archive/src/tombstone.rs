//! What was taken down, as the archive has noted it (D13).

pub(crate) mod notes;
mod target;

pub use notes::Takedown;
pub(crate) use notes::{Tombstone, hidden, listed, listed_all, notes, tombstones};
use std::sync::Arc;
pub use target::Target;

/// A group of records that must go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gone {
    pub(crate) file: Arc<str>,
    pub(crate) offset: u64,
    pub(crate) length: u64,
}
