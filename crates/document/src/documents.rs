//! Documents as a stage: what the page says, stored once per page and content.
//!
//! **Invariant:** a document is stored whole or not at all, once, as the first capture of that content was read.
//!
//! `docs/formats/documents.md` shows the bytes.

mod reader;
mod row;
mod stage;

pub use reader::Documents;
pub use row::DocumentRows;
pub use stage::{DOCUMENTS, DocumentStage};
