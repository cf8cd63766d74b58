//! A snapshot in the forms of others, and WACZ read back (A6).
//!
//! **Invariant:** memory does not grow with the snapshot. Nothing from the web can end a line, leave its cell or name
//! a file (H16, H17, H20).
//!
//! Not here: which versions are chosen, and where the output goes.
#![warn(clippy::indexing_slicing)]

pub mod cdxj;
mod error;
mod json;
mod member;
pub mod parquet;
mod pick;
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
