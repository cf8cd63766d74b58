//! Notes of the archive about itself and the crawl: every cause that is not a visit (D3).
//!
//! Seeds, added pages, pauses, settings, decisions about other names of servers: each is a `metadata` record about a
//! URI of our own, `urn:utsushi:note:KIND`. So it has a moment and a position in the order of arrival, and is indexed
//! and verified like a capture. It is not a page: snapshots and exports skip it, and no other archive imports it.
//!
//! **Invariant:** only a record whose id proves that it was written at its location is a note; an imported record is
//! not.

use super::entry::{Entry, Stored};

/// What notes are about.
pub(crate) const URN: &str = "urn:utsushi:note:";
const KIND_BYTES_MAX: usize = 64;

impl Entry {
    /// The kind of the note; `None` for other entries.
    #[must_use]
    pub fn note_kind(&self) -> Option<&str> {
        let kind = self.key.as_str().strip_prefix('!')?.strip_prefix(URN)?;
        Some(kind).filter(|kind| self.kind == Stored::Other && is_kind(kind))
    }
}

/// Whether a word can be a kind of note.
pub(crate) fn is_kind(kind: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=KIND_BYTES_MAX).contains(&kind.len()) && kind.bytes().all(is_plain)
}
