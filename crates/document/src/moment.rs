//! Which document a page had at a moment, by the archive's index alone.

use crate::error::Error;
use crate::id::DocumentId;
use archive::{Choice, ChoiceError, Entry, Key, Reader};
use base::{Period, Timestamp};

/// A moment, checked once.
#[derive(Clone, Debug)]
pub struct Moment {
    at: Timestamp,
    choice: Choice,
}

/// The document that a page had at a moment.
#[derive(Clone, Debug)]
pub struct ValidDocument {
    /// Its id.
    pub id: DocumentId,
    /// The capture with which this content began.
    pub entry: Entry,
    /// From when to when the page had this content.
    pub validity: Period,
}

impl Moment {
    /// The moment `at`.
    ///
    /// # Errors
    /// At the end of time, when nothing can be seen.
    pub fn new(at: Timestamp) -> Result<Self, ChoiceError> {
        Ok(Self { at, choice: Choice::as_of(at)? })
    }
    /// When it is.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        self.at
    }
    /// The document of a page; `None` if it had none then.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn document(&self, reader: &Reader, key: &Key) -> Result<Option<ValidDocument>, Error> {
        for version in reader.versions_of(key, &self.choice) {
            let version = version?;
            if let Some(id) = DocumentId::of_entry(&version.payload) {
                return Ok(Some(ValidDocument { id, entry: version.payload, validity: version.validity }));
            }
        }
        Ok(None)
    }
}
