//! Small states ordered by when they are next due, on disk: the SAT/L organisation.
//!
//! A store holds records of any bytes under keys of any bytes. Each is due at a minute, is returned then, and is
//! written back with its next state and its next minute. All input and output is sequential, with a few megabytes of
//! buffers and three bytes of memory per record: records due soon are in fine buckets, records due in a year in coarse
//! ones, and a record moves to finer ones as its time approaches.
//!
//! ```
//! use base::disk::{Disk, SimulatedDisk};
//! use sat::{Batch, Minute, Options, Store};
//! use std::{path::Path, sync::Arc};
//!
//! let disk: Arc<dyn Disk> = Arc::new(SimulatedDisk::new(1)); // or base::disk::DirectDisk
//! # let mut options = Options::default();
//! # (options.log_bytes, options.segment_bytes) = (1 << 20, 1 << 20);
//! let mut store = Store::open(disk, Path::new("/states"), options)?;
//! store.offer(b"https://example.com/", Minute(5), b"never seen")?;
//! let answers = store.settle()?;
//! assert!(answers[0].is_new);
//!
//! store.advance(Minute(7));
//! let mut batch = Batch::new();
//! while store.next_due(&mut batch)? {
//!     for record in batch.records() {
//!         store.update(record.number, record.key, Minute(1_500), b"seen once")?;
//!     }
//!     store.set(b"place", b"line 17")?; // commits together with the records
//!     store.commit()?;
//! }
//! assert_eq!(store.get(b"https://example.com/")?.unwrap().value, b"seen once");
//! # Ok::<(), sat::Error>(())
//! ```

mod batch;
mod bucket;
mod checkpoint;
mod checksum;
mod error;
mod extent;
mod files;
mod index;
mod log;
mod options;
mod pool;
mod record;
mod resolution;
mod segment;
mod slots;
mod statistics;
mod store;
mod superblock;
mod work;
mod worker;

pub use batch::Batch;
pub use error::{Error, Result};
pub use options::{Buffers, Options};
pub use record::{DueRecord, RECORD_BYTES_MAX};
pub use resolution::Resolution;
pub use statistics::{Statistics, StoreRecovery};
#[doc(hidden)]
pub use store::fuzzing;
pub use store::{BucketSlot, OfferOutcome, OwnedRecord, Store};

/// A minute on the store's clock, counted from a moment that the caller chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minute(pub u32);

impl Minute {
    /// The last minute that a store's clock reaches, 4,000 years after its first.
    pub const MAX: Self = Self(u32::MAX / 2);
}

/// The dense number of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number(pub u32);

/// A commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame(pub u64);
