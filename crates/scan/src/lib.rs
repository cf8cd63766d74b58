//! Runs an analysis over a snapshot, in parallel, whatever the documents do to it (P1–P5).
//!
//! A [`Job`] pins which documents there are. [`run`] reads them, compressed, in the order in which they lie on disk, and
//! hands them to worker processes, which unpack them and feed the analysis: one that is [built in](analyses) or any
//! program that speaks the [protocol]. What comes of each document is handed on once.
//!
//! **Invariant:** every document of a job is settled exactly once: answered, or set aside with what is known of why. No
//! document, however it is made, ends the job or holds up others beyond its limits.
//!
//! **Invariant:** memory is bounded whatever the sizes of documents and answers.
//!
//! Not here: which versions are chosen (`archive`), the form of the results (`formats`), the command line.
#![warn(clippy::indexing_slicing)]

pub mod analyses;
mod aside;
mod bound;
mod check;
mod dispatch;
mod document;
mod each;
mod error;
mod feed;
mod frames;
#[doc(hidden)]
pub mod fuzzing;
mod job;
mod journal;
mod open;
mod pointers;
pub mod protocol;
pub mod role;
mod run;
mod sandbox;
mod scratch;
mod settings;
pub mod trace;
mod tree;
mod wire;
mod worker;

pub use document::Document;
pub use error::Error;
pub use job::{Job, Kept};
pub use journal::{Done, Entries, Row, Settled};
pub use pointers::{Pointer, PointerWriter, Pointers, beside};
pub use run::{Sink, State, Summary, run};
pub use settings::{Confinement, Limits, Settings, Supply, Work};
pub use wire::{Answer, Cause, Fault};
