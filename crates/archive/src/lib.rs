//! Stores every capture in standard WARC files, finds captures, and returns the web as of any moment.
//!
//! ```
//! use archive::{Archive, Reader, Settings};
//! use base::disk::SimulatedDisk;
//! use base::{Capture, Outcome, PageUrl, Refusal, Timestamp};
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! let (disk, directory) = (SimulatedDisk::new(1), Path::new("/data/archive"));
//! let at: Timestamp = "2026-03-31T09:00:00Z".parse()?;
//! let (mut archive, recovery) = Archive::open(Arc::new(disk.clone()), directory, Settings::default(), at)?;
//! assert!(recovery.files.is_empty(), "no earlier writer crashed");
//!
//! let url = PageUrl::parse("https://example.org/private")?;
//! let outcome = Outcome::Refused(Refusal::Robots("Disallow: /private".to_owned()));
//! archive.append(&Capture { url, at, outcome, exchange: None })?;
//! archive.commit()?; // from here on it is durable
//!
//! let reader = Reader::open(Arc::new(disk), directory)?;
//! let entry = reader.all()?.next().expect("one capture")?;
//! assert_eq!((entry.url.as_str(), entry.outcome()), ("https://example.org/private", "unanswered"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** what [`Archive::commit`] acknowledged survives any crash, whole, at the location that
//! [`Archive::append`] returned (M1, D2). An unacknowledged capture is there whole or not at all. Damage is reported
//! with file and offset and never returned (M5). File names are made here, never taken from content (H17).
//!
//! Not here: the lock against a second writer (the program's), the clock, and the export formats of a snapshot
//! (`formats`).

mod capture;
pub mod derived;
mod error;
mod files;
#[doc(hidden)]
pub mod fuzzing;
mod import;
mod index;
mod open;
mod reading;
#[doc(hidden)]
pub mod rig;
mod scope;
mod snapshot;
mod takedown;
mod tombstone;
mod verify;
mod writing;

pub use capture::describe::split_answer;
pub use capture::entry::{ContentKey, Entry, Flag, Key, Location, Stored};
pub use error::{CheckpointError, Error};
pub use files::checkpoint::Checkpoint;
pub use files::directory::files;
pub use import::{Group, Grouper, Imported};
pub use open::rebuild_index;
pub use reading::arrivals::Arrivals;
pub use reading::learned::{Ended, Learned};
pub use reading::list::{list, list_files};
pub use reading::reader::{Document, Reader, why};
pub use reading::summary::Summary;
pub use reading::sweep::{ContentSource, Sweep};
pub use scope::{KeyRange, Prefix, Scope, ScopeError, Site};
pub use snapshot::choice::{Asked, Choice, ChoiceError, MediaPattern, WordError};
pub use snapshot::recipe::{Recipe, RecipeError};
pub use snapshot::relation::{Relation, RelationError, Relations};
pub use snapshot::sort::{SortOrder, Sorter};
pub use snapshot::versions::{Unit, Version, Versions, Visit, Wants, What};
pub use snapshot::walk::Snapshot;
pub use takedown::Receipt;
pub use tombstone::{Takedown, Target};
pub use verify::{Damage, Unfinished, Verified, VerifyEvent, verify};
pub use writing::append::{Archive, Settings};
pub use writing::records::Appended;
pub use writing::recover::{Recovered, Recovery};
