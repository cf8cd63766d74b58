//! The writer: appends captures in batches, rotates files, and repairs them after a crash.

pub(crate) mod append;
pub(crate) mod file;
mod note;
pub(crate) mod records;
pub(crate) mod recover;
