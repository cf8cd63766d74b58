//! The stages of a data directory: one list, used by crawl, rebuild, takedown and status.
//!
//! A crawl hands each capture to the frontier and to the derived table as it becomes durable. Every other stage follows the
//! archive: a running crawl runs it on a thread of its own ([`Followers`]), so a slow stage delays nothing. To add one, write
//! a [`stage::Stage`] and add a [`FollowingStage`] to [`ALL`]; its files are in the directory of its name.
//!
//! **Invariant:** whatever opens a stage to write holds the writer lock, and a stage is open once.

mod derived;
mod documents;
mod follow;
mod following;
mod schedule;
mod swap;
mod view;

pub use follow::{Followers, StageStates};
pub use following::{FollowingStage, StageSite};
pub use view::StageView;

pub(crate) use swap::finish_swaps;
pub(crate) use view::views;

use crate::directory::DirectoryWriter;
use crate::error::Error;
use crate::node::Node;
use archive::Target;
use std::fmt;

/// All stages, in the order in which they are shown.
pub const ALL: &[&dyn InstalledStage] =
    &[&schedule::ScheduleStage, &derived::DerivedTable, &documents::LINK_GRAPH, &documents::DOCUMENT_STORE];

/// A stage as a data directory has it.
pub trait InstalledStage: fmt::Debug + Send + Sync {
    /// Its name: `utsushi rebuild NAME`.
    fn name(&self) -> &'static str;

    /// What it contains, for the help of `rebuild`.
    fn contents(&self) -> &'static str;

    /// The stage, if it follows the archive on a thread of its own.
    fn following(&self) -> Option<&FollowingStage> {
        None
    }

    /// Derives everything again. Afterwards the stage has processed the whole archive.
    fn rebuild(&self, node: &Node, writer: &DirectoryWriter) -> Result<RebuiltStage, Error>;

    /// Removes what was derived from captures of `target`, and returns how many rows, pages or documents that were. The
    /// archive has removed its captures before; `from_archive` is what it counted.
    fn take_down(
        &self,
        node: &Node,
        writer: &DirectoryWriter,
        target: &Target,
        from_archive: Option<&archive::Receipt>,
    ) -> Result<u64, Error>;
}

/// A stage that was rebuilt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RebuiltStage {
    /// Captures that were processed.
    pub captures: u64,
    /// Damaged captures that were skipped.
    pub damaged: u64,
    /// Of the schedule: known pages and servers.
    pub schedule: Option<ScheduleSize>,
}

/// The size of a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduleSize {
    /// Known pages.
    pub pages: u64,
    /// Known servers.
    pub servers: u64,
}

/// The error of a stage.
fn stage_error(action: &'static str, stage: &'static str) -> impl Fn(stage::Error) -> Error {
    move |source| Error::Stage { action, stage, source }
}

#[cfg(test)]
mod tests;
