//! Reads and writes WARC, the standard form of web archives (ISO 28500): 1.0 and 1.1 are read, 1.1 is written.
//!
//! ```
//! use base::{PageUrl, Timestamp};
//! use warc::{Draft, Kind, Level, WarcReader, RecordId, WarcWriter};
//!
//! let url = PageUrl::parse("https://example.org/")?;
//! let at: Timestamp = "2026-03-31T09:00:00.000001Z".parse()?;
//! let id = RecordId::at("example.warc.gz", 0, at, &Kind::Response);
//! let answer: [&[u8]; 2] = [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", b"hi"];
//!
//! let mut file = Vec::new();
//! let draft = Draft::new(&Kind::Response, &id, at).target(url.as_str());
//! WarcWriter::new(Level::DEFAULT).append(draft, warc::HTTP_RESPONSE, &answer, &mut file);
//!
//! let record = WarcReader::new(file.as_slice(), 1_000).next().expect("one record")?;
//! assert_eq!((record.kind(), record.target()), (Kind::Response, Some("https://example.org/")));
//! assert!(record.block.ends_with(b"\r\n\r\nhi"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** no value can end its field (H16): every value passes one encoder, in [`header`]. Reading is bounded
//! and never panics.
//!
//! Not here: files and their names, captures, and which records belong together; those are in `archive`.
#![warn(clippy::indexing_slicing)]

pub mod arc;
pub mod check;
pub mod head;
pub mod header;
mod member;
pub mod read;
pub mod record;
pub mod removed;
pub mod segments;
pub mod write;

pub use arc::ArcRecord;
pub use head::Head;
pub use header::Fields;
pub use member::zstandard::{DICTIONARY_BYTES_MAX, Dictionary};
pub use member::{Compression, Level, ZstdLevel};
pub use read::{Error, Lost, Tail, Unpacker, WarcReader};
pub use record::{Kind, Profile, Record, RecordId, RecordRef, Truncated, WarcVersion, moment};
pub use removed::{removed, removed_bytes_min};
pub use segments::{Joined, Logical, Segments};
pub use write::{Draft, HTTP_REQUEST, HTTP_RESPONSE, WARC_FIELDS, WarcWriter};
