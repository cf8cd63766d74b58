//! The schedule of the crawl. A crawl opens it with `Node::open_schedule`.

use super::swap::NewDirectory;
use super::{InstalledStage, RebuiltStage, ScheduleSize};
use crate::directory::DirectoryWriter;
use crate::error::Error;
use crate::monitor::Notice;
use crate::node::Node;
use crate::schedule;
use archive::{Key, Reader, Target};
use base::clock::{Clock as _, RealClock};
use base::disk::{Disk, RealDisk};
use frontier::Frontier;
use std::path::Path;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct ScheduleStage;

impl InstalledStage for ScheduleStage {
    fn name(&self) -> &'static str {
        ::crawl::FRONTIER
    }
    fn contents(&self) -> &'static str {
        "The schedule of the crawl: the states of all pages"
    }

    fn rebuild(&self, node: &Node, writer: &DirectoryWriter) -> Result<RebuiltStage, Error> {
        let archive = node.archive(writer, RealClock::start().now())?;
        let reader = Reader::open(Arc::new(RealDisk), &writer.archive_path());
        let reader = reader.map_err(Error::archive("read the archive"))?;
        let new = NewDirectory::begin(writer.directory().path(), self.name())?;
        let web = writer.directory().format().web;
        // Without the seeds that the archive notes: each becomes known when its note is learned.
        let parts =
            (schedule::settings(&node.config, writer.directory())?, schedule::policy(&node.config, web));
        let reads = schedule::reads(&node.config, web);
        let store = node.open_store(new.parent())?;
        let now = node.clock(writer.directory(), &reader, &store, 1)?.now();
        let taken_down = archive.taken_down().cloned().collect();
        let (frontier, learning) = node.learn((store, None), (taken_down, &reader), parts, &reads, now)?;
        node.monitor.notice(&Notice::Learned(&learning));
        let size = ScheduleSize { pages: frontier.pages(), servers: frontier.overview().servers };
        let write =
            |source: frontier::Error| Error::Schedule { action: "write the schedule", source: source.into() };
        frontier.close(now).map_err(write)?;
        new.put_in_place()?;
        archive.close().map_err(Error::archive("close the archive after the schedule was rebuilt"))?;
        Ok(RebuiltStage { captures: learning.captures, damaged: learning.damaged, schedule: Some(size) })
    }

    /// Counts the pages. They stay known: whoever opens the schedule asks the archive what was taken down, and does not
    /// visit it.
    fn take_down(
        &self,
        node: &Node,
        writer: &DirectoryWriter,
        target: &Target,
        _: Option<&archive::Receipt>,
    ) -> Result<u64, Error> {
        let path = writer.directory().path().join(self.name());
        if !path.is_dir() {
            return Ok(0);
        }
        // Only a count: a schedule that cannot be read does not make the takedown incomplete.
        Ok(count(node, &path, target).unwrap_or_else(|error| {
            tracing::warn!(%error, "the pages of the schedule are not counted");
            0
        }))
    }
}

fn count(node: &Node, path: &Path, target: &Target) -> Result<u64, ::crawl::Error> {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let options = node.store_options(RealClock::start().now());
    let mut store = sat::Store::open_to_read(&disk, path, &options)?;
    Ok(Frontier::count_pages_of(&mut store, |key| target.holds(&Key::from_stored(key)))?)
}
