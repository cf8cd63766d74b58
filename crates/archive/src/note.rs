//! What the archive notes of itself and of the crawl: everything that is a cause of something and no visit (D3).
//!
//! Seeds, added pages, pauses, settings, decisions about other names of servers: each is a `metadata` record about a URI
//! of our own, `urn:utsushi:note:KIND`. So it has its moment and its place in the order of arrival, is summed, indexed and
//! verified like a capture, and is no page: snapshots and exports pass it over, and no other archive imports it.
//!
//! **Invariant:** only a record that proves by its id that it was written at its place is a note: what was taken over
//! from elsewhere says nothing here.

use crate::append::Archive;
use crate::describe::{self, field};
use crate::entry::{ContentKey, Entry, Flag, Key, Location, Stored};
use crate::error::Error;
use crate::reader::Reader;
use crate::records::Appended;
use base::Timestamp;
use base::limits::RECORD_BLOCK_BYTES_MAX;
use warc::{Draft, Kind};

/// What notes are about.
const URN: &str = "urn:utsushi:note:";
const NOTE_TYPE: &str = "text/plain;charset=utf-8";
const KIND_BYTES_MAX: usize = 64;

impl Archive {
    /// Adds a note to the batch: a text of some kind, such as `seed` or `pause`. It is durable after the next commit.
    ///
    /// # Panics
    /// When the kind is not made of lower-case letters, digits and hyphens, or the text is longer than a record may be.
    pub fn note(&mut self, kind: &str, at: Timestamp, text: &str) -> Result<Appended, Error> {
        assert!(is_kind(kind), "`{kind}` is no kind of note");
        assert!(text.len() < RECORD_BLOCK_BYTES_MAX, "a note of {} bytes is too long", text.len());
        self.with_sound_index(|archive| {
            archive.check_running()?;
            archive.put_note(&format!("{URN}{kind}"), at, text.as_bytes())
        })
    }

    /// Appends something that the archive notes of itself.
    pub(crate) fn put_note(&mut self, target: &str, at: Timestamp, block: &[u8]) -> Result<Appended, Error> {
        self.make_way()?;
        let mut file = self.take_file(at)?;
        let flag = Flag::Changed;
        let draft =
            |draft: Draft| draft.target(target).text(field::RECORDS, "1").text(field::FLAG, flag.as_str());
        let placed = file.put(&Kind::Metadata, at, draft, NOTE_TYPE, &[block]);
        let entry = Entry {
            key: Key::of(target),
            url: target.to_owned(),
            at,
            kind: Stored::Other,
            flag,
            status: None,
            media_type: describe::plain_media_type(NOTE_TYPE),
            payload: None,
            content: Some(ContentKey::of(block)),
            truncated: false,
            moves_within: false,
            location: Location { file: file.name(), offset: placed.offset, length: placed.length },
            group_bytes: placed.length,
            body: None,
            sum: placed.sum,
        };
        self.add(&entry, &mut file);
        self.give_file(file);
        Ok(Appended { entry, bytes_written: placed.length })
    }
}

impl Entry {
    /// The kind of note that it is; nothing when it is none.
    #[must_use]
    pub fn note_kind(&self) -> Option<&str> {
        let kind = self.key.as_str().strip_prefix('!')?.strip_prefix(URN)?;
        Some(kind).filter(|kind| self.kind == Stored::Other && is_kind(kind))
    }
}

impl Reader {
    /// The kind and the text of a note; nothing when it is none.
    pub fn note(&self, entry: &Entry) -> Result<Option<(String, String)>, Error> {
        let Some(kind) = entry.note_kind() else { return Ok(None) };
        let record = self.record(entry)?;
        if !record.belongs_to(&entry.location.file) {
            return Ok(None);
        }
        Ok(String::from_utf8(record.block).ok().map(|text| (kind.to_owned(), text)))
    }
    /// The notes of a kind, the latest first.
    pub fn notes(&self, kind: &str) -> Result<impl Iterator<Item = Result<Entry, Error>> + use<>, Error> {
        self.newest_first(&Key::of(&format!("{URN}{kind}")))
    }
}

fn is_kind(kind: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=KIND_BYTES_MAX).contains(&kind.len()) && kind.bytes().all(is_plain)
}
