//! Joins frontier, door, archive and html into the two loops: discovery and revisit (C1).
//!
//! [`crawl`] drives a [`frontier::Frontier`]: it looks up, asks for robots files, visits, reads what came, hands every
//! capture to the archive, and lets the frontier learn from it once the archive has it. What an archive holds already is
//! learned by the same functions ([`learn_all`]): after a crash, after an import, or from the beginning.
//!
//! **Invariant:** the frontier learns from captures in the order in which the archive has them, and its place in the
//! archive commits together with what it learned. So whatever happens, nothing is learned twice and nothing is left out.
//!
//! Not here: HTTP, robots rules, the form of the archive, which page comes next.

mod adult;
mod crawl;
mod filter;
mod learn;
mod lesson;
mod open;
mod order;
mod reading;
mod recall;
mod remains;
mod report;
mod visit;
mod write;

pub use crawl::{Error, Event, Parts, Settings, crawl};
pub use filter::Filter;
pub use learn::{Learning, derive_all, learn_all, rediscover};
pub use lesson::{Teachings, told};
pub use open::{FRONTIER, open_frontier, open_store};
pub use order::{Added, Directive, Order, Orders};
pub use reading::{Reading, Reads};
pub use recall::recall_robots;
pub use remains::Remains;
pub use report::{Kept, Report};
pub use visit::{Ended, What, take};
