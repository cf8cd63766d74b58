//! The derived table: languages, titles and types. Its journals lie beside the archive files, so it is rebuilt in place.

use super::{InstalledStage, RebuiltStage};
use crate::directory::DirectoryWriter;
use crate::error::Error;
use crate::monitor::Activity;
use crate::node::Node;
use crate::schedule;
use archive::{Reader, Target};
use base::disk::{Disk, RealDisk};
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct DerivedTable;

impl InstalledStage for DerivedTable {
    fn name(&self) -> &'static str {
        "derived"
    }
    fn contents(&self) -> &'static str {
        "Data read from the content of captures: language, title, type"
    }

    fn rebuild(&self, node: &Node, writer: &DirectoryWriter) -> Result<RebuiltStage, Error> {
        let (disk, path): (Arc<dyn Disk>, _) = (Arc::new(RealDisk), writer.archive_path());
        let reader = Reader::open(Arc::clone(&disk), &path).map_err(Error::archive("read the archive"))?;
        let table = ::crawl::DerivedStage::open(disk, &path);
        let mut table = table.map_err(Error::archive("open the table of languages and titles"))?;
        let meter = node.monitor.begin(Activity::Deriving, None);
        let report = |progress: &::crawl::Progress| meter.set(progress.captures, None);
        let reads = schedule::reads(&node.config, writer.directory().format().web);
        let learning = ::crawl::rebuild_derived(&mut table, &reader, &reads, report);
        let learning = learning.map_err(|source| Error::Schedule { action: "read the archive", source })?;
        Ok(RebuiltStage { captures: learning.captures, damaged: learning.damaged, schedule: None })
    }

    /// The archive has removed the rows together with the records.
    fn take_down(
        &self,
        _: &Node,
        _: &DirectoryWriter,
        _: &Target,
        from_archive: Option<&archive::Receipt>,
    ) -> Result<u64, Error> {
        Ok(from_archive.map_or(0, |receipt| receipt.derived_rows))
    }
}
