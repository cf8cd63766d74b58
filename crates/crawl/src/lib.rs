//! Joins frontier, door, archive and html into the two loops: discovery and revisit (C1).
//!
//! [`crawl`] drives a [`frontier::Frontier`]: it looks up names, requests robots files, visits pages, parses bodies, and hands
//! every capture to the archive. Once a capture is durable, the stages process it: the frontier ([`FrontierStage`]) and the
//! derived table ([`DerivedStage`]). After a crash or an import, the same stages catch up with the archive ([`learn_all`]).
//!
//! **Invariant:** the frontier learns from captures in the order of the archive, and its checkpoint commits together
//! with what it learned. So nothing is learned twice and nothing is left out, whatever happens.
//!
//! **Invariant:** a body is parsed once, by its visit or by the run that catches up; every stage gets that result.
//!
//! Not here: HTTP, robots rules, the form of the archive, which page comes next.

mod adult;
mod crawl;
mod derived_stage;
mod evidence;
mod filter;
mod findings;
mod frontier_stage;
mod learn;
mod note;
mod open;
mod order;
mod recall;
mod remains;
mod report;
mod visit;
mod write;

pub use crawl::{Error, Event, Parts, Settings, crawl};
pub use derived_stage::DerivedStage;
pub use evidence::{Evidence, visit_result};
pub use filter::Filter;
pub use findings::{Findings, ReadOptions, facts};
pub use frontier_stage::FrontierStage;
pub use learn::{Learning, learn_all, rebuild_derived, rediscover};
pub use open::{CatchUp, FRONTIER, open_frontier, open_store};
pub use order::{Added, Directive, Order, Orders};
pub use recall::recall_robots;
pub use remains::Remains;
pub use report::{ArchivedCapture, CrawlReport};
pub use stage::Progress;
pub use visit::{FinishedStep, StepContent, take};
