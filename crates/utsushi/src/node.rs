//! What one machine holds: the data directory and who may write to it.

pub(crate) mod directory;
pub(crate) mod door;
