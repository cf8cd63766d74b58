//! What the archive's pages say and how they link to each other: documents, and the link graph.
//!
//! A *document* is one content of one page. It is known by a [`DocumentId`], which is made of the page's key and the
//! digest of the content, so an unchanged visit makes no new document, and a rebuild gives every document the id that it
//! had. When a document was valid is the archive's business: every question about a moment goes through the archive's
//! index. So an import of old captures, an unchanged visit and a takedown change the answer without a change here.
//!
//! | module | what it does |
//! |---|---|
//! | `id`, `moment` | the id of a document; which document a page had at a moment |
//! | `links` | the links of each document, in both directions, as a stage |
//! | `documents`, `stored`, `sentence` | what each document says, as a stage |
//! | `selection` | which documents are worth searching |
//! | `standard` | the standard form of a page, as XML, JSON and text |
//! | `store`, `pack` | the rows of a stage in sorted runs, in compressed blocks |
//!
//! **Invariant:** what is stored depends on the archive alone.
//!
//! Not here: parsing of pages, when versions are valid, threads, clocks, sockets.

pub mod documents;
mod error;
mod id;
pub mod links;
mod moment;
mod pack;
pub mod selection;
mod sentence;
pub mod standard;
mod store;
mod stored;

pub use error::Error;
pub use id::{DocumentId, DocumentIdError};
pub use moment::{Moment, ValidDocument};
pub use stored::{Sentence, SourceText, StoredDocument, TextBlock};
