//! What was taken down, from the archive's notes (D13).

pub(crate) mod notes;
mod target;

pub use notes::Takedown;
pub(crate) use notes::{Tombstone, hidden, listed, listed_all, notes, tombstones};
use std::sync::Arc;
pub use target::Target;

/// A group of records to remove.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gone {
    pub(crate) file: Arc<str>,
    pub(crate) offset: u64,
    pub(crate) length: u64,
}
