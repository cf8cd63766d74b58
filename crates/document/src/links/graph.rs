//! The link graph as a reader sees it.

use super::row::{LinkRow, LinkRows, in_key, out_key};
use super::stage::LINKS;
use crate::error::Error;
use crate::id::DocumentId;
use crate::moment::{Moment, ValidDocument};
use crate::store::PublishedRows;
use archive::{Checkpoint, Key, Reader};
use base::Period;
use base::disk::Disk;
use html::LinkKind;
use std::path::Path;

/// A link on a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutLink {
    /// Where it leads.
    pub url: Box<str>,
    /// Its purpose.
    pub kind: LinkKind,
    /// Whether its author, or the page, asks not to follow it.
    pub nofollow: bool,
    /// Its text; empty if it has none.
    pub text: Box<str>,
}

/// A link to a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InLink {
    /// The page that has it.
    pub url: Box<str>,
    /// The document of that page.
    pub document: DocumentId,
    /// From when to when the page had this document.
    pub validity: Period,
    /// Its purpose.
    pub kind: LinkKind,
    /// Whether its author, or the page, asks not to follow it.
    pub nofollow: bool,
    /// Its text; empty if it has none.
    pub text: Box<str>,
}

/// The link graph as it was published when it was opened. No lock is taken.
#[derive(Debug)]
pub struct LinkGraph(PublishedRows<LinkRows>);

impl LinkGraph {
    /// Opens the graph in `directory`. One that does not exist has no links.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged.
    pub fn open(disk: &dyn Disk, directory: &Path) -> Result<Self, Error> {
        PublishedRows::open(LINKS, disk, directory).map(Self)
    }
    /// The position in the archive up to which links are known.
    #[must_use]
    pub fn checkpoint(&self) -> Option<&Checkpoint> {
        self.0.checkpoint.as_ref()
    }
    /// How many bytes it takes.
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

    /// The links of a document of a page, in their order on the page; `None` when the document is not known.
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub fn out_links(
        &self,
        page: &Key,
        document: DocumentId,
    ) -> Result<Option<impl Iterator<Item = Result<OutLink, Error>> + use<>>, Error> {
        let mut rows = self.0.rows(&out_key(page, document))?;
        // The first row is the document itself.
        let Some(_) = rows.next().transpose()? else { return Ok(None) };
        Ok(Some(rows.filter_map(|row| row.map(to_out_link).transpose())))
    }

    /// The links to a page at a moment, by the URL of the page they are on. Whether a page had a link then is looked up in the
    /// archive's index, page by page, so memory does not grow with their number.
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub fn in_links(
        &self,
        target: &Key,
        moment: &Moment,
        archive: &Reader,
    ) -> Result<impl Iterator<Item = Result<InLink, Error>> + use<>, Error> {
        let rows = self.0.rows(&in_key(target))?;
        let (moment, archive) = (moment.clone(), archive.clone());
        let mut page: Option<(Box<str>, Option<ValidDocument>)> = None;
        Ok(rows.filter_map(move |row| {
            let row = match row {
                Ok(row) => row,
                Err(error) => return Some(Err(error)),
            };
            if page.as_ref().is_none_or(|(url, _)| *url != row.url) {
                match moment.document(&archive, &Key::of(&row.url)) {
                    Ok(document) => page = Some((row.url.clone(), document)),
                    Err(error) => return Some(Err(error)),
                }
            }
            let valid = page.as_ref().and_then(|(_, document)| document.as_ref());
            valid.filter(|valid| valid.id == row.document).and_then(|valid| to_in_link(row, valid)).map(Ok)
        }))
    }
}

fn to_out_link(row: LinkRow) -> Option<OutLink> {
    Some(OutLink { url: row.url, kind: row.kind?, nofollow: row.nofollow, text: row.text })
}

fn to_in_link(row: LinkRow, valid: &ValidDocument) -> Option<InLink> {
    let (document, validity) = (row.document, valid.validity);
    Some(InLink { url: row.url, document, validity, kind: row.kind?, nofollow: row.nofollow, text: row.text })
}
