//! Snapshots in standard formats, and reading WACZ (A6).
//!
//! ```
//! use archive::{Archive, Choice, Reader, Settings};
//! use base::disk::SimulatedDisk;
//! use base::Timestamp;
//! use formats::warc_file::About;
//! use formats::{Picker, Row, wacz};
//! use std::io::Cursor;
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! let (disk, directory) = (Arc::new(SimulatedDisk::new(1)), Path::new("/data/archive"));
//! let at: Timestamp = "2026-03-31T09:00:00Z".parse()?;
//! let (archive, _) = Archive::open(disk.clone(), directory, Settings::default(), at)?;
//! archive.close()?;
//!
//! let reader = Reader::open(disk, directory)?;
//! let spool = std::env::temp_dir();
//! let mut picker = Picker::new(&spool);
//! for version in reader.snapshot(&Choice::as_of(at)?)? {
//!     picker.add(&Row::of(&version?, &reader)?)?;
//! }
//! let about =
//!     About { created: at, software: "utsushi/0.1.0".to_owned(), description: "the web at nine".to_owned() };
//! let mut file = Cursor::new(Vec::new());
//! wacz::write(picker.finish()?, &reader, &spool, &about, &mut file)?;
//!
//! let mut package = wacz::Package::open(file)?;
//! assert!(package.check()?.is_empty(), "it is as its manifest says");
//! assert_eq!(package.warcs()[0].name(), "archive/data.warc.gz");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** memory does not grow with the snapshot. Nothing from the web can end a line, leave its cell or name
//! a file (H16, H17, H20).
//!
//! Not here: which versions are chosen, and where the output goes.
#![warn(clippy::indexing_slicing)]

pub mod cdxj;
mod columns;
pub mod documents;
mod error;
mod json;
mod kept;
mod member;
pub mod parquet;
mod pick;
mod resolved;
pub mod results;
mod row;
mod sort;
mod source;
pub mod wacz;
pub mod warc_file;
mod zip;

pub use error::Error;
pub use member::Coding;
pub use pick::{Line, Pick, Picker, Picks};
pub use row::{Place, Row};
pub use source::{Source, SourceError};
