//! The standard form of a page (paper 004, section 5.1): the document with what only a moment tells, its links in both
//! directions, and when it was formed.
//!
//! **Invariant:** nothing from the web ends an element, an attribute or a line of an output.

mod json;
mod text;
mod xml;

pub use json::to_json;
pub use text::to_text;
pub use xml::{XML_END, XML_START, to_xml};

use crate::documents::Documents;
use crate::error::Error;
use crate::id::DocumentId;
use crate::links::{InLink, LinkGraph, OutLink};
use crate::moment::{Moment, ValidDocument};
use crate::stored::StoredDocument;
use archive::{Asked, Key, Reader};
use base::{Period, Timestamp};

/// Maximum number of links to a document that its standard form has.
pub const IN_LINKS_MAX: usize = 10_000;

/// A page in the standard form.
#[derive(Clone, Debug)]
pub struct StandardDocument {
    /// What it is known by.
    pub id: DocumentId,
    /// Its URL.
    pub url: String,
    /// From when to when its page had this content.
    pub validity: Period,
    /// When this form was made.
    pub formed: Timestamp,
    /// What the page says.
    pub content: StoredDocument,
    /// Its links, and the documents that their targets were then.
    pub out_links: Vec<(OutLink, Option<DocumentId>)>,
    /// The links to it, at most [`IN_LINKS_MAX`].
    pub in_links: Vec<InLink>,
}

/// Documents, links and archive together.
#[derive(Debug)]
pub struct Library {
    documents: Documents,
    links: LinkGraph,
    archive: Reader,
}

impl Library {
    /// Documents and links of an archive. It must be opened after them, so that it has everything that they have.
    #[must_use]
    pub fn new(documents: Documents, links: LinkGraph, archive: Reader) -> Self {
        Self { documents, links, archive }
    }
    /// The archive.
    #[must_use]
    pub fn archive(&self) -> &Reader {
        &self.archive
    }
    /// The documents.
    #[must_use]
    pub fn documents(&self) -> &Documents {
        &self.documents
    }

    /// The last time that a page had this document; `None` if it is not known.
    ///
    /// # Errors
    /// When documents or archive cannot be read.
    pub fn last(&self, id: DocumentId) -> Result<Option<ValidDocument>, Error> {
        let Some(page) = self.documents.page_of(id)? else { return Ok(None) };
        let during = Period::new(Timestamp::MIN, Timestamp::MAX);
        let choice = Asked { during, ..Asked::default() }.check().expect("all of time is a sound question");
        for version in self.archive.versions_of(&page, &choice) {
            let version = version?;
            if DocumentId::of_entry(&version.payload) == Some(id) {
                return Ok(Some(ValidDocument { id, entry: version.payload, validity: version.validity }));
            }
        }
        Ok(None)
    }

    /// Whether a page of another server linked to a page then.
    ///
    /// # Errors
    /// When links or archive cannot be read.
    pub fn is_linked(&self, page: &Key, moment: &Moment) -> Result<bool, Error> {
        let server = |key: &Key| key.as_str().split(')').next().unwrap_or_default().to_owned();
        for link in self.links.in_links(page, moment, &self.archive)? {
            if server(&Key::of(&link?.url)) != server(page) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The standard form of a document, with links as of a moment; `None` when it is no page, or not known yet.
    ///
    /// # Errors
    /// When documents, links or archive cannot be read.
    pub fn form(
        &self,
        valid: &ValidDocument,
        moment: &Moment,
        formed: Timestamp,
    ) -> Result<Option<StandardDocument>, Error> {
        let page = &valid.entry.key;
        let Some(content) = self.documents.get(page, valid.id)? else { return Ok(None) };
        let mut out_links = Vec::new();
        for link in self.links.out_links(page, valid.id)?.into_iter().flatten() {
            let link = link?;
            let target = moment.document(&self.archive, &Key::of(&link.url))?;
            out_links.push((link, target.map(|target| target.id)));
        }
        let in_links = self.links.in_links(page, moment, &self.archive)?.take(IN_LINKS_MAX);
        Ok(Some(StandardDocument {
            id: valid.id,
            url: valid.entry.url.clone(),
            validity: valid.validity,
            formed,
            content,
            out_links,
            in_links: in_links.collect::<Result<_, _>>()?,
        }))
    }
}

impl StandardDocument {
    /// The end of its validity, if it has ended.
    #[must_use]
    pub fn until(&self) -> Option<Timestamp> {
        Some(self.validity.to()).filter(|to| *to < Timestamp::MAX)
    }
}
