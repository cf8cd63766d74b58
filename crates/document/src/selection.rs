//! Which documents are worth searching (F1; paper 004, section 4.5).
//!
//! Rules about one document are judged by [`Thresholds::judge`]; copies are found in a set by [`CopyFinder`], which keeps the
//! first document of each.

mod copies;
mod fingerprint;
mod rules;

pub use copies::{CopyFinder, CopyRank, FoundCopy};
pub use fingerprint::Fingerprint;
pub use rules::{DropReason, Judged, Thresholds};
