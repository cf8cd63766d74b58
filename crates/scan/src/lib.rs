//! Runs an analysis over a snapshot, in parallel, and survives documents that crash it (P1–P5).
//!
//! A [`Job`] pins which documents there are. [`run`] reads them, compressed, in the order in which they lie on disk, and
//! hands them to worker processes, which unpack them and feed the analysis: one that is [built in](analyses) or any
//! program that speaks the [protocol]. The result of each document is delivered once.
//!
//! **Invariant:** every document of a job is settled exactly once: answered, or quarantined with the reason. No
//! document, whatever its content, ends the job or delays others beyond its limits.
//!
//! **Invariant:** memory is bounded whatever the sizes of documents and answers.
//!
//! Not here: which versions are chosen (`archive`), the form of the results (`formats`), the command line.
#![warn(clippy::indexing_slicing)]

pub mod analyses;
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
mod quarantine;
pub mod role;
mod run;
mod sandbox;
mod scratch;
mod settings;
pub mod trace;
mod tree;
mod wire;
mod worker;
mod worker_config;

pub use document::ScanDocument;
pub use error::Error;
pub use job::{Job, StoredJob};
pub use journal::{DocumentResult, JournalRows, ScanRow, SettledSet};
pub use pointers::{Pointer, PointerWriter, Pointers, beside};
pub use run::{ResultSink, ScanProgress, ScanSummary, run};
pub use settings::{AnalysisCommand, Confinement, ProgramLimits, Settings, SupplyMode};
pub use wire::{AnalysisAnswer, AnalysisFailure, FailureCause};
