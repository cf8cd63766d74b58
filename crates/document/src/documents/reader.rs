//! The documents as a reader sees them.

use super::row::{DocumentRow, DocumentRows, id_key, page_of, text_key};
use super::stage::DOCUMENTS;
use crate::error::Error;
use crate::id::DocumentId;
use crate::store::PublishedRows;
use crate::stored::StoredDocument;
use archive::{Checkpoint, Key};
use base::disk::Disk;
use std::path::Path;

/// The documents as they were published when they were opened. No lock is taken.
#[derive(Debug)]
pub struct Documents(PublishedRows<DocumentRows>);

impl Documents {
    /// Opens the documents in `directory`. One that does not exist has none.
    ///
    /// # Errors
    /// When they cannot be read, or are damaged.
    pub fn open(disk: &dyn Disk, directory: &Path) -> Result<Self, Error> {
        PublishedRows::open(DOCUMENTS, disk, directory).map(Self)
    }
    /// The position in the archive up to which documents are known.
    #[must_use]
    pub fn checkpoint(&self) -> Option<&Checkpoint> {
        self.0.checkpoint.as_ref()
    }
    /// How many bytes they take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }
    /// Reads every block once.
    ///
    /// # Errors
    /// When something is damaged.
    pub fn verify(&self) -> Result<(), Error> {
        self.0.verify()
    }

    /// A document of a page; `None` when it is not known, or no page.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn get(&self, page: &Key, id: DocumentId) -> Result<Option<StoredDocument>, Error> {
        let (mut bytes, mut is_known) = (Vec::new(), false);
        for row in self.0.rows(&text_key(page, id))? {
            bytes.extend_from_slice(&row?.bytes);
            is_known = true;
        }
        if !is_known {
            return Ok(None);
        }
        StoredDocument::decode(&bytes).map(Some).ok_or(Error::Unreadable { id })
    }
    /// The page of a document.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn page_of(&self, id: DocumentId) -> Result<Option<Key>, Error> {
        let key = id_key(id);
        let row: Option<DocumentRow> = self.0.rows(&key)?.next().transpose()?;
        Ok(row.and_then(|row| page_of(&key, &row)))
    }
}
