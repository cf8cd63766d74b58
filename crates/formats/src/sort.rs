//! Sorts more items than memory holds, with this crate's errors.

use crate::Error;
use runs::{ExternalSorter, SortedItems};
use std::path::Path;

/// Takes items in any order.
#[derive(Debug)]
pub(crate) struct Sorter(ExternalSorter);

impl Sorter {
    /// A sorter that writes to `directory` what does not fit into `memory_bytes_max`.
    pub(crate) fn new(directory: &Path, memory_bytes_max: usize) -> Self {
        Self(ExternalSorter::new(directory, memory_bytes_max))
    }

    /// Adds an item.
    pub(crate) fn push(&mut self, item: &[u8]) -> Result<(), Error> {
        self.0.push(item, &[]).map_err(Error::io("spool what is to be sorted"))
    }

    /// All items in the order of their bytes, equal ones as often as they were added.
    pub(crate) fn finish(self) -> Result<Sorted, Error> {
        self.0.finish().map(Sorted).map_err(Error::io("read what was spooled for sorting"))
    }
}

/// Returns items in order.
#[derive(Debug)]
pub(crate) struct Sorted(SortedItems);

impl Sorted {
    /// The next item.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        let next = self.0.next().map_err(Error::io("read what was spooled for sorting"))?;
        Ok(next.map(|(item, _)| item))
    }
}
