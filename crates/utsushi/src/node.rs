//! What one machine holds: the data directory, who may write to it, and how the one who does is spoken to.

pub(crate) mod control;
pub(crate) mod directory;
pub(crate) mod door;
