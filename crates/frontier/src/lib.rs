//! Which page is visited next, and when.
//!
//! A [`Frontier`] is a state machine: it is told the time, what came of a visit and what the archive holds, and says what to do next. It keeps
//! a page's state in a [`sat`] store that is handed to it, and does no other I/O. The running crawler drives it with tasks
//! and sockets, a simulation with a plain loop.
//!
//! ```
//! use base::disk::SimulatedDisk;
//! use base::{PageUrl, Timestamp};
//! use frontier::{Found, Frontier, Next, Policy, Settings, Step};
//! use std::{path::Path, sync::Arc};
//!
//! let now: Timestamp = "2026-04-01T00:00:00Z".parse()?;
//! let options = frontier::store_options(now);
//! let store = sat::Store::open(Arc::new(SimulatedDisk::new(1)), Path::new("/frontier"), options)?;
//! let mut frontier = Frontier::open(store, Settings::default(), Policy::default(), now)?;
//! frontier.add(&[Found::page(PageUrl::parse("http://a.example/")?)], 0, now)?;
//! frontier.settle(now)?;
//!
//! let Next::Wait(rested) = frontier.next(now)? else { panic!("everyone is left alone for a pause first") };
//! let Next::Do(task) = frontier.next(rested)? else { panic!("the page is due") };
//! assert!(matches!(task.step, Step::LookUp(..)), "its server's address comes first");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The rooms: [`frontier`](Frontier) is the machine; `state`, `lesson` and `revisit` are one page, `server`, `load`, `trap`,
//! `novelty`, `neighbour` one server, `address` what servers share; `scope` and `partition` say what is ours.
//!
//! Not here: sockets, files, clocks; every moment is handed in, and the store of page states with it.

mod address;
mod codec;
mod error;
pub mod filter;
mod found;
mod frontier;
#[doc(hidden)]
pub mod fuzzing;
mod hand;
mod held_back;
mod lesson;
mod load;
mod moment;
mod neighbour;
mod novelty;
mod partition;
pub mod revisit;
mod role;
mod scope;
mod seen;
mod selection;
mod server;
mod settings;
mod sketch;
mod state;
mod tell;
mod trap;

pub use error::{Error, Result};
pub use found::Found;
pub use frontier::done::{Done, Worth};
pub use frontier::learn::Learned;
pub use frontier::{Frontier, Next, Step, Task};
pub use held_back::{HeldBack, HoldReason};
pub use lesson::{Lesson, Text, Told};
pub use load::Load;
pub use partition::{LinkBatch, Owned, PARTITIONS, partition};
pub use revisit::allocate::Allocation;
pub use revisit::estimate::Estimator;
pub use revisit::{History, Policy, PolicyError};
pub use role::Role;
pub use sat::Number;
pub use scope::{Mode, Rule, RuleError, Scope, Verdict};
pub use selection::Selection;
pub use settings::{Agreed, AgreedError, Settings, Whom};
pub use tell::{Bin, Explanation, Failing, Figures, Outlook, Overview, SeedTold, ServerTold};

/// Options of a store for page states that begins now.
#[must_use]
pub fn store_options(now: base::Timestamp) -> sat::Options {
    let mut options = sat::Options::default();
    options.begin = moment::minute(now);
    options
}
