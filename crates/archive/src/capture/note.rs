//! What the archive notes of itself and of the crawl: everything that is a cause of something and no visit (D3).
//!
//! Seeds, added pages, pauses, settings, decisions about other names of servers: each is a `metadata` record about a URI
//! of our own, `urn:utsushi:note:KIND`. So it has its moment and its place in the order of arrival, is summed, indexed and
//! verified like a capture, and is no page: snapshots and exports pass it over, and no other archive imports it.
//!
//! **Invariant:** only a record that proves by its id that it was written at its place is a note: what was taken over
//! from elsewhere says nothing here.

use super::entry::{Entry, Stored};

/// What notes are about.
pub(crate) const URN: &str = "urn:utsushi:note:";
const KIND_BYTES_MAX: usize = 64;

impl Entry {
    /// The kind of note that it is; nothing when it is none.
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
