//! Reads notes from the archive; see [`crate::capture::note`].

use crate::capture::entry::{Entry, Key};
use crate::capture::note::URN;
use crate::error::Error;
use crate::reading::reader::Reader;

impl Reader {
    /// The kind and the text of a note; `None` for other entries.
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
