//! Which page is visited next, and when.
//!
//! A [`Frontier`] is a state machine. The caller passes in the time, the results of visits and what the archive holds, and asks
//! for the next step. Page states are kept in a [`sat`] store that the caller opens; there is no other I/O. The crawler drives
//! the frontier with tasks and sockets, a simulation with a plain loop.
//!
//! ```
//! use base::disk::SimulatedDisk;
//! use base::{PageUrl, Timestamp};
//! use frontier::{FoundUrl, Frontier, Next, RevisitPolicy, Settings, Step};
//! use std::{path::Path, sync::Arc};
//!
//! let now: Timestamp = "2026-04-01T00:00:00Z".parse()?;
//! let options = frontier::store_options(now);
//! let store = sat::Store::open(Arc::new(SimulatedDisk::new(1)), Path::new("/frontier"), options)?;
//! let mut frontier = Frontier::open(store, Settings::default(), RevisitPolicy::default(), now)?;
//! frontier.add(&[FoundUrl::page(PageUrl::parse("http://a.example/")?)], 0, now)?;
//! frontier.settle(now)?;
//!
//! let Next::Wait(rested) = frontier.next(now)? else { panic!("everyone is left alone for a pause first") };
//! let Next::Do(task) = frontier.next(rested)? else { panic!("the page is due") };
//! assert!(matches!(task.step, Step::LookUp(..)), "its server's address comes first");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Frontier`] wires its parts: `servers`, `workbench` (loaded pages), `census` (counts), `budget`, `robots_cache`, `intake` and
//! `address`. `state`, `lesson` and `revisit` are one page; `server`, `load`, `trap`, `novelty` and `neighbour` one server; `scope` and
//! `partition` say which URLs belong to this crawl.
//!
//! Not here: sockets, files, clocks; the caller passes in every moment, and the store of page states.

mod address;
mod budget;
mod census;
mod codec;
mod error;
mod found_url;
mod frontier;
#[doc(hidden)]
pub mod fuzzing;
mod held_back;
mod intake;
mod lesson;
mod load;
mod loaded_page;
mod moment;
mod neighbour;
mod novelty;
mod partition;
mod recent_links;
mod report;
pub mod revisit;
mod robots_cache;
mod role;
mod scope;
mod selection;
mod server;
mod servers;
mod settings;
mod sketch;
mod state;
mod trap;
mod workbench;

pub use error::{Error, Result};
pub use found_url::FoundUrl;
pub use frontier::complete::{ResultUse, StepResult};
pub use frontier::learn::LearnResult;
pub use frontier::{Frontier, Next, Step, Task};
pub use held_back::{HeldBack, HoldReason};
pub use lesson::{Lesson, TextFeatures, VisitResult};
pub use load::Load;
pub use partition::{LinkBatch, Owned, PARTITIONS, partition};
pub use report::{Bin, Explanation, Failing, Figures, Outlook, Overview, SeedReport, ServerReport};
pub use revisit::allocate::Allocation;
pub use revisit::estimate::Estimator;
pub use revisit::{History, RevisitPolicy, RevisitPolicyError};
pub use role::Role;
pub use sat::Number;
pub use scope::{CrawlScope, Mode, Rule, RuleError, ScopeVerdict};
pub use selection::Selection;
pub use settings::{AgreedParty, AgreedRate, AgreedRateError, Settings};

/// Options of a new store for page states.
#[must_use]
pub fn store_options(now: base::Timestamp) -> sat::Options {
    let mut options = sat::Options::default();
    options.begin = moment::minute(now);
    options
}
