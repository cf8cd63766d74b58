//! A version as a row, from which every format is written.

use base::{Sha1Digest, Timestamp};
use std::sync::Arc;
use warc::Kind;

/// One chosen version of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What was requested.
    pub url: String,
    /// When.
    pub at: Timestamp,
    /// From when on the version is valid.
    pub valid_from: Timestamp,
    /// Until when it is; [`Timestamp::MAX`] means forever.
    pub valid_to: Timestamp,
    /// How it is stored.
    pub kind: Kind,
    /// What the visit saw: `changed`, `unchanged` or `error`.
    pub flag: &'static str,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// The media type in lower case without its parameters; empty if unknown.
    pub media_type: Arc<str>,
    /// The media type that the content was found to have, if that is known.
    pub detected_type: Option<Arc<str>>,
    /// The title of the page, if it is known.
    pub title: Option<String>,
    /// The language of the text, if it is known.
    pub language: Option<Arc<str>>,
    /// The digest of the body without its transfer coding; for a revisit that of the body it refers to.
    pub payload: Option<Sha1Digest>,
    /// Whether the body is incomplete.
    pub is_truncated: bool,
    /// Where its records are.
    pub place: Place,
    /// For a revisit: the record that holds the body, if it is known.
    pub body: Option<Place>,
}

/// Where the records of a capture are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The name of the file.
    pub file: Arc<str>,
    /// Where the first record, or the member that holds it, begins.
    pub offset: u64,
    /// How many bytes of the file the first record takes.
    pub record_bytes: u64,
    /// How many bytes the first record and its companions take together.
    pub group_bytes: u64,
    /// The checksum of the first record, if it is known.
    pub sum: Option<u32>,
}

impl Row {
    /// Whether it refers to a body that is stored elsewhere.
    #[must_use]
    pub fn is_revisit(&self) -> bool {
        self.kind == Kind::Revisit
    }
    /// Whether it is a page for people to read.
    #[must_use]
    pub fn is_page(&self) -> bool {
        is_page(&self.media_type)
    }
}

/// Whether `media_type` is one that people read in a browser.
pub(crate) fn is_page(media_type: &str) -> bool {
    matches!(media_type, "text/html" | "application/xhtml+xml")
}

impl Place {
    /// A record without its companions.
    #[must_use]
    pub fn of_record(file: Arc<str>, offset: u64, record_bytes: u64) -> Self {
        Self { file, offset, record_bytes, group_bytes: record_bytes, sum: None }
    }
}
