//! Snapshots: choosing versions, finding them by a walk over the index, and sorting them.

pub(crate) mod choice;
pub(crate) mod recipe;
pub(crate) mod relation;
pub(crate) mod sort;
pub(crate) mod versions;
pub(crate) mod walk;
