//! A capture: its entry, and which facts its records state. Pure, without I/O.

pub(crate) mod describe;
pub(crate) mod entry;
pub(crate) mod note;
