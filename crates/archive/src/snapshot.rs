//! Snapshots: which versions are asked for, the walk over the index that finds them, and sorting them.

pub(crate) mod choice;
pub(crate) mod recipe;
pub(crate) mod relation;
pub(crate) mod sort;
pub(crate) mod versions;
pub(crate) mod walk;
