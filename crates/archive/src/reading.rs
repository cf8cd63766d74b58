//! Readers, which take no lock: the archive as of a moment, in index order, in order of arrival, or in disk order.

pub(crate) mod arrivals;
mod exchange;
pub(crate) mod learned;
pub(crate) mod list;
mod note;
pub(crate) mod reader;
pub(crate) mod summary;
pub(crate) mod sweep;
