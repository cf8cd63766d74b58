//! Keeps every capture, in standard WARC files, finds them again, and gives back the web as of any moment.
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
//! assert!(recovery.files.is_empty(), "nobody died before us");
//!
//! let url = PageUrl::parse("https://example.org/private")?;
//! let outcome = Outcome::Refused(Refusal::Robots("Disallow: /private".to_owned()));
//! archive.append(&Capture { url, at, outcome, exchange: None })?;
//! archive.commit()?; // from here on it is kept for ever
//!
//! let reader = Reader::open(Arc::new(disk), directory)?;
//! let entry = reader.all()?.next().expect("one capture")?;
//! assert_eq!((entry.url.as_str(), entry.outcome()), ("https://example.org/private", "unanswered"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** what [`Archive::commit`] acknowledged survives any crash, whole, at the place that
//! [`Archive::append`] said (M1, D2). What it did not acknowledge is there whole or not at all. Damage is reported
//! with file and offset and never handed out (M5). Names of files are made here, never taken from content (H17).
//!
//! Not here: the lock that keeps a second writer away (the program's), the clock, and the forms in which others want
//! a snapshot (`formats`).

mod append;
mod arrivals;
mod choice;
pub mod derived;
mod describe;
mod entry;
mod error;
mod exchange;
mod fetch_record;
mod file;
#[doc(hidden)]
pub mod fuzzing;
mod import;
mod index;
mod journal;
mod learned;
mod list;
mod name;
mod note;
mod reader;
mod recipe;
mod records;
mod recover;
mod relation;
#[doc(hidden)]
pub mod rig;
mod scan;
mod scope;
mod snapshot;
mod sort;
mod summary;
mod sums;
mod sweep;
mod takedown;
mod verify;
mod versions;

pub use append::rebuild_index;
pub use append::{Archive, Settings};
pub use arrivals::{Arrivals, Place};
pub use choice::{Asked, Choice, ChoiceError, MediaRange, WordError};
pub use describe::split_answer;
pub use entry::{ContentKey, Entry, Flag, Key, Location, Stored};
pub use error::Error;
pub use import::{Group, Grouper, Imported};
pub use learned::{Ended, Learned};
pub use list::{files, list, list_files};
pub use reader::{Document, Reader, why};
pub use recipe::{Recipe, RecipeError};
pub use records::Appended;
pub use recover::{Recovered, Recovery};
pub use relation::{Relation, RelationError, Relations};
pub use scope::{KeyRange, Prefix, Scope, ScopeError, Site};
pub use snapshot::Snapshot;
pub use sort::{Order, Sorter};
pub use summary::Summary;
pub use sweep::{Source, Sweep};
pub use takedown::{Receipt, Takedown, Target};
pub use verify::{Damage, Told, Unfinished, Verified, verify};
pub use versions::{Unit, Version, Versions, Visit, Wants, What};
