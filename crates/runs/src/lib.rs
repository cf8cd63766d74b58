//! Sorted immutable runs with merging and a published generation, and the plumbing around them.
//!
//! A [`RunStore`] keeps rows ordered by key. Enough rows are written as a run; runs of one size are merged into one;
//! the file `CURRENT` names the runs of the store. [`Rows`] defines how the blocks of a kind of rows are encoded.
//!
//! ```
//! use base::bytes::{ByteReader, put_number};
//! use base::disk::SimulatedDisk;
//! use runs::{KeyBounds, Names, RowEncoder, RowSource, Rows, RunStore, Walk};
//! use std::cmp::Ordering;
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! /// Links: the key is the target, the row the number of the page that links to it.
//! #[derive(Clone, Debug, Default)]
//! struct Links(Vec<(Vec<u8>, u64)>);
//!
//! impl Rows for Links {
//!     const MAGIC: &'static [u8; 8] = b"LINKRUN1";
//!     const GENERATION: &'static str = "links 1";
//!     type Row = u64;
//!     type Encoder = LinkEncoder;
//!     type Secondary = std::convert::Infallible;
//!
//!     fn len(&self) -> usize {
//!         self.0.len()
//!     }
//!     fn key(&self, number: usize) -> &[u8] {
//!         &self.0[number].0
//!     }
//!     fn row(&self, number: usize) -> &u64 {
//!         &self.0[number].1
//!     }
//!     fn decode(&mut self, block: &[u8], _: &[u32]) -> Option<()> {
//!         let mut block = ByteReader(block);
//!         self.0.clear();
//!         while !block.is_empty() {
//!             let length = block.count()?;
//!             self.0.push((block.take(length)?.to_vec(), block.number()?));
//!         }
//!         Some(())
//!     }
//!     fn order(one: &u64, other: &u64, _: &Names) -> Ordering {
//!         one.cmp(other)
//!     }
//! }
//!
//! #[derive(Debug, Default)]
//! struct LinkEncoder(Vec<u8>);
//!
//! impl RowEncoder for LinkEncoder {
//!     type Row = u64;
//!
//!     fn bytes(&self) -> usize {
//!         self.0.len()
//!     }
//!     fn is_empty(&self) -> bool {
//!         self.0.is_empty()
//!     }
//!     fn push(&mut self, key: &[u8], row: &u64, _: &mut dyn FnMut(u32) -> u32) {
//!         put_number(&mut self.0, key.len() as u64);
//!         self.0.extend_from_slice(key);
//!         put_number(&mut self.0, *row);
//!     }
//!     fn finish(&mut self, bytes: &mut Vec<u8>) {
//!         bytes.append(&mut self.0);
//!     }
//! }
//!
//! let disk = Arc::new(SimulatedDisk::new(1));
//! let (mut store, damage) = RunStore::<Links>::open(disk, Path::new("/links"))?;
//! assert!(damage.is_none());
//! store.add_run(2, [Arc::from("first.warc.gz")], |run, _| {
//!     run.push(b"org,example)/", &7)?;
//!     run.push(b"org,example)/about", &7)
//! })?;
//! store.add_run(1, [], |run, _| run.push(b"org,example)/", &9))?;
//! store.merge()?;
//!
//! let mut walk = Walk::new(&store.sources(), store.names(), &KeyBounds::one(b"org,example)/"))?;
//! let mut found = Vec::new();
//! while let Some((_, row)) = walk.current() {
//!     found.push(*row);
//!     walk.step()?;
//! }
//! assert_eq!(found, [9, 7]);
//! # Ok::<(), runs::Error>(())
//! ```
//!
//! | module | what it knows |
//! |---|---|
//! | `rows` | what a kind of rows must define |
//! | `run`, `filter` | one sorted file, with a filter over its keys |
//! | `generation`, `store` | which runs are the store; adding, merging, rewriting |
//! | `merge`, `walk` | all runs as one: forwards into a new run, backwards for a reader |
//! | `sort` | sorting more items than memory holds |
//! | `frames`, `checksum` | journals: frames with a length and a checksum, and the rule for a cut tail |
//!
//! **Invariant:** a generation is published only when its runs are durable, so a reader sees a whole store at every
//! moment and after any crash.
//!
//! Not here: what rows mean, a lock against a second writer, a clock.

mod checksum;
mod error;
mod filter;
pub mod frames;
#[doc(hidden)]
pub mod fuzzing;
mod generation;
mod merge;
mod names;
mod rows;
mod run;
mod sort;
mod store;
#[cfg(test)]
mod tests;
mod walk;

pub use error::Error;
pub use merge::Keep;
pub use names::Names;
pub use rows::{RowEncoder, Rows, Secondary};
pub use run::{Run, RunWriter};
pub use sort::{ExternalSorter, SortedItems};
pub use store::{PublishedRuns, RunStore};
pub use walk::{KeyBounds, RowSource, Spot, Stretch, Walk};
