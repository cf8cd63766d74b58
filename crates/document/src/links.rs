//! The link graph: which document links where, with which text, in both directions.
//!
//! Each link is stored twice, under its document and under its target, when the document is first seen. Nothing is stored
//! for an unchanged visit. A link is there at a moment if its page had that document then, which the archive's index
//! knows.
//!
//! **Invariant:** links of a document are stored whole or not at all, once, as the first capture of that content was read.
//!
//! `docs/formats/links.md` shows the bytes.

mod graph;
mod row;
mod stage;

pub use graph::{InLink, LinkGraph, OutLink};
pub use row::LinkRows;
pub use stage::{LINKS, LinkStage};
