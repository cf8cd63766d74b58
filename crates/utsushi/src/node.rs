//! What one machine holds: the data directory, who may write to it, its schedule, and how the one who writes is spoken to.

pub(crate) mod control;
pub(crate) mod directory;
pub(crate) mod door;
pub(crate) mod held_back;
pub(crate) mod life;
pub(crate) mod metrics;
pub(crate) mod orders;
pub(crate) mod schedule;
pub(crate) mod steering;
mod view;
