//! Documents as a stage.

use super::row::{DocumentRow, DocumentRows, PIECE_BYTES_MAX, id_key, page_of, text_key};
use crate::error::Error;
use crate::id::DocumentId;
use crate::store::{Others, StageRows, of_stage};
use crate::stored::StoredDocument;
use archive::{Checkpoint, Target};
use base::disk::Disk;
use base::http;
use html::kind::{BodyKind, sniff};
use stage::{Arrival, Stage};
use std::path::Path;
use std::sync::Arc;

/// The name of the stage, and of its folder in a data directory.
pub const DOCUMENTS: &str = "documents";
/// What a row takes beside its bytes.
const ROW_BYTES: usize = 100;
/// What a page asks of robots by name is not stored.
const AGENT: &str = "utsushi";

/// Keeps the documents up to date.
#[derive(Debug)]
pub struct DocumentStage(StageRows<DocumentRows>);

impl DocumentStage {
    /// Opens the documents in `directory`, which is created if need be. Damaged ones count as none, so that the next run
    /// rebuilds them; the damage is returned.
    ///
    /// # Errors
    /// When they cannot be read or written.
    pub fn open(disk: Arc<dyn Disk>, directory: &Path) -> Result<(Self, Option<Error>), Error> {
        let (rows, damage) = StageRows::open(DOCUMENTS, disk, directory)?;
        Ok((Self(rows), damage))
    }
    /// Merges on a thread of its own, so that it does not fall behind a running crawl meanwhile.
    #[must_use]
    pub fn merging_beside(mut self) -> Self {
        self.0.merge_beside();
        self
    }

    fn learn(&mut self, arrival: &Arrival<'_>) -> Result<(), Error> {
        let entry = arrival.entry();
        let Some(id) = DocumentId::of_entry(entry) else { return Ok(()) };
        let key = text_key(&entry.key, id);
        if self.0.is_known(&key)? {
            return Ok(());
        }
        let Some(document) = read(arrival)? else { return Ok(()) };
        let page = entry.key.as_str().as_bytes();
        self.0.add(id_key(id), DocumentRow { number: 0, bytes: page.into() }, page.len() + ROW_BYTES);
        for (piece, number) in document.encode().chunks(PIECE_BYTES_MAX).zip(0..) {
            let row = DocumentRow { number, bytes: piece.into() };
            self.0.add(key.clone(), row, piece.len() + ROW_BYTES);
        }
        self.0.end_document(key)
    }

    /// Removes the documents of the target, and returns how many that were.
    ///
    /// # Errors
    /// When the documents cannot be read or written.
    pub fn remove(&mut self, target: &Target) -> Result<u64, Error> {
        let judge = |target: &Target, key: &[u8], row: &DocumentRow| {
            (page_of(key, row).is_some_and(|page| target.holds(&page)), key.starts_with(b"#"))
        };
        let mut others = Others { target, judge, documents: 0 };
        self.0.rewrite(&mut others)?;
        Ok(others.documents)
    }
}

/// The document that a capture brought; `None` if that is no page.
fn read(arrival: &Arrival<'_>) -> Result<Option<StoredDocument>, Error> {
    let (Some(url), Some(content)) = (arrival.url(), arrival.content()?) else { return Ok(None) };
    let content_type = http::field(arrival.head()?, "content-type");
    if sniff(content_type, content) != BodyKind::Page {
        return Ok(None);
    }
    let (page, outline) = html::read_with_outline(url, content_type, content, AGENT);
    let language = stage::language_of(&page);
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the crate of the type is no dependency of this one"
    )]
    let language = language.as_ref().map(|language| language.as_str());
    let bytes = content.len() as u64;
    Ok(Some(StoredDocument::of(&arrival.entry().url, bytes, &page, language, &outline)))
}

impl Stage for DocumentStage {
    fn name(&self) -> &'static str {
        DOCUMENTS
    }
    fn checkpoint(&self) -> Result<Option<Checkpoint>, stage::Error> {
        self.0.checkpoint()
    }
    fn take(&mut self, arrival: &Arrival<'_>) -> Result<(), stage::Error> {
        self.learn(arrival).map_err(of_stage(DOCUMENTS))
    }
    fn commit(&mut self, checkpoint: &Checkpoint) -> Result<(), stage::Error> {
        self.0.write(Some(checkpoint)).map_err(of_stage(DOCUMENTS))
    }
    fn sync(&mut self) -> Result<(), stage::Error> {
        self.0.take_merged().map_err(of_stage(DOCUMENTS))
    }
    fn take_down(&mut self, target: &Target) -> Result<u64, stage::Error> {
        self.remove(target).map_err(of_stage(DOCUMENTS))
    }
    fn clear(&mut self) -> Result<(), stage::Error> {
        self.0.clear().map_err(of_stage(DOCUMENTS))
    }
}
