//! Writes notes into the archive; see [`crate::capture::note`].

use crate::capture::describe::{self, field};
use crate::capture::entry::{ContentKey, Entry, Flag, Key, Location, Stored};
use crate::capture::note::{URN, is_kind};
use crate::error::Error;
use crate::writing::append::Archive;
use crate::writing::records::Appended;
use base::Timestamp;
use base::limits::RECORD_BLOCK_BYTES_MAX;
use warc::{Draft, Kind};

const NOTE_TYPE: &str = "text/plain;charset=utf-8";

impl Archive {
    /// Adds a note to the batch: a text of some kind, such as `seed` or `pause`. It is durable after the next commit.
    ///
    /// # Panics
    /// When the kind is not made of lower-case letters, digits and hyphens, or the text is longer than a record may be.
    pub fn note(&mut self, kind: &str, at: Timestamp, text: &str) -> Result<Appended, Error> {
        assert!(is_kind(kind), "`{kind}` is not a kind of note");
        assert!(text.len() < RECORD_BLOCK_BYTES_MAX, "a note of {} bytes is too long", text.len());
        self.with_sound_index(|archive| {
            archive.check_running()?;
            archive.put_note(&format!("{URN}{kind}"), at, text.as_bytes())
        })
    }

    /// Appends a note of the archive.
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
