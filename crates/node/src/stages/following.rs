//! A stage that follows the archive, in a directory of its own.

use super::swap::NewDirectory;
use super::{InstalledStage, RebuiltStage, stage_error};
use crate::directory::{DataDirectory, DirectoryWriter};
use crate::error::Error;
use crate::monitor::Activity;
use crate::node::Node;
use crate::schedule;
use archive::{Checkpoint, Reader, Target};
use base::disk::{Disk as _, RealDisk};
use stage::{BodyParser, Runner, Stage};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A stage that follows the archive. It is described by data; how it is run, rebuilt and shown is the same for all.
#[derive(Debug)]
pub struct FollowingStage {
    /// Its name, which is also that of its directory.
    pub name: &'static str,
    /// What it contains, for the help of `rebuild`.
    pub contents: &'static str,
    /// Opens it to write. Its directory exists, and is empty at first.
    pub open: fn(&StageSite<'_>) -> Result<Box<dyn Stage + Send>, stage::Error>,
    /// Reads its checkpoint without a lock and without writing. Its directory may not exist yet.
    pub checkpoint: fn(&StageSite<'_>) -> Result<Option<Checkpoint>, stage::Error>,
}

/// Where a stage is opened.
#[derive(Debug)]
pub struct StageSite<'a> {
    /// The configuration, the monitor.
    pub node: &'a Node,
    /// The data directory.
    pub directory: &'a DataDirectory,
    /// The directory of the stage.
    pub path: PathBuf,
}

impl StageSite<'_> {
    /// How bodies are parsed for all stages.
    pub(super) fn parser(&self) -> BodyParser {
        schedule::reads(&self.node.config, self.directory.format().web).parser()
    }
    /// The archive as it is now.
    pub(super) fn reader(&self) -> Result<Reader, stage::Error> {
        Ok(Reader::open(Arc::new(RealDisk), &self.directory.archive_path())?)
    }
}

impl FollowingStage {
    /// The place of the stage in a data directory.
    pub(super) fn site<'a>(&self, node: &'a Node, directory: &'a DataDirectory) -> StageSite<'a> {
        StageSite { node, directory, path: directory.path().join(self.name) }
    }
    /// Opens it to write; its directory is created if there is none.
    pub(super) fn open_at(&self, site: &StageSite<'_>) -> Result<Box<dyn Stage + Send>, stage::Error> {
        let fail = |error| stage::Error::of(self.name, error);
        RealDisk.create_directory(&site.path).map_err(fail)?;
        RealDisk.sync_directory(site.path.parent().unwrap_or(Path::new("."))).map_err(fail)?;
        (self.open)(site)
    }
}

impl InstalledStage for FollowingStage {
    fn name(&self) -> &'static str {
        self.name
    }
    fn contents(&self) -> &'static str {
        self.contents
    }
    fn following(&self) -> Option<&FollowingStage> {
        Some(self)
    }

    /// In a new directory, so that readers keep the old data meanwhile.
    fn rebuild(&self, node: &Node, writer: &DirectoryWriter) -> Result<RebuiltStage, Error> {
        let fail = stage_error("rebuild", self.name);
        let new = NewDirectory::begin(writer.directory().path(), self.name)?;
        let site = StageSite { path: new.path(), ..self.site(node, writer.directory()) };
        let mut stage = self.open_at(&site).map_err(&fail)?;
        let meter = node.monitor.begin(Activity::Deriving, None);
        let runner = Runner::new(site.reader().map_err(&fail)?, site.parser());
        let progress = runner
            .rebuild(&mut [&mut *stage], |progress| meter.set(progress.captures, None))
            .map_err(&fail)?;
        drop((stage, meter));
        new.put_in_place()?;
        Ok(RebuiltStage { captures: progress.captures, damaged: progress.damaged, schedule: None })
    }

    fn take_down(
        &self,
        node: &Node,
        writer: &DirectoryWriter,
        target: &Target,
        _: Option<&archive::Receipt>,
    ) -> Result<u64, Error> {
        let site = self.site(node, writer.directory());
        if !site.path.is_dir() {
            return Ok(0);
        }
        let fail = stage_error("take it down from", self.name);
        let mut stage = self.open_at(&site).map_err(&fail)?;
        stage.take_down(target).map_err(&fail)
    }
}
