//! Rebuilds what is derived from the archive: index, schedule, derived table. Each needs the writer lock.

use crate::error::Error;
use crate::monitor::{Activity, Notice};
use crate::node::Node;
use crate::schedule;
use archive::Reader;
use base::clock::{Clock as _, RealClock};
use base::disk::{Disk, RealDisk};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Where the new schedule grows until it is complete.
const UNFINISHED: &str = "frontier.tmp";

/// An index that was rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RebuiltIndex {
    /// Captures in it.
    pub captures: u64,
    /// Its size.
    pub bytes: u64,
    /// Damaged records that were left out.
    pub damaged: u64,
}

/// A schedule that was rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RebuiltSchedule {
    /// Known pages.
    pub pages: u64,
    /// Known servers.
    pub servers: u64,
    /// Damaged captures that were skipped.
    pub damaged: u64,
}

/// A derived table that was rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RebuiltTable {
    /// Captures that were read.
    pub captures: u64,
    /// Damaged captures that were skipped.
    pub damaged: u64,
}

impl Node {
    /// Rebuilds the index from the checksums beside the archive files; if `deep`, from the records, and the checksums too.
    pub fn rebuild_index(&self, deep: bool) -> Result<RebuiltIndex, Error> {
        let writer = self.lock_existing("rebuild", RealClock::start().now())?;
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let recovery = {
            let meter = self.monitor.begin(Activity::Indexing, None);
            let mut report = |done: u64, total: u64| meter.set(done, Some(total));
            archive::rebuild_index(&disk, &writer.archive_path(), deep, &mut report)
                .map_err(Error::archive("rebuild the index"))?
        };
        self.monitor.notice(&Notice::Recovered(&recovery));
        let reader = Reader::open(disk, &writer.archive_path());
        let reader = reader.map_err(Error::archive("read the new index"))?;
        Ok(RebuiltIndex {
            captures: reader.count(),
            bytes: reader.index_bytes(),
            damaged: recovery.damaged(),
        })
    }

    /// Rebuilds the schedule from the archive. The old one stays until the new one is complete.
    pub fn rebuild_schedule(&self) -> Result<RebuiltSchedule, Error> {
        let writer = self.lock_existing("rebuild", RealClock::start().now())?;
        let archive = self.archive(&writer, RealClock::start().now())?;
        let reader = Reader::open(Arc::new(RealDisk), &writer.archive_path());
        let reader = reader.map_err(Error::archive("read the archive"))?;
        let data = writer.directory().path();
        let (unfinished, place) = (data.join(UNFINISHED), data.join(::crawl::FRONTIER));
        clear(&unfinished)?;
        let web = writer.directory().format().web;
        // Without the seeds that the archive notes: each becomes known when its note is learned.
        let parts =
            (schedule::settings(&self.config, writer.directory())?, schedule::policy(&self.config, web));
        let reads = schedule::reads(&self.config, web);
        let store = self.open_store(&unfinished)?;
        let now = self.clock(writer.directory(), &reader, &store, 1)?.now();
        let taken_down = archive.taken_down().cloned().collect();
        let (frontier, learning) = self.learn((store, None), (taken_down, &reader), parts, &reads, now)?;
        self.monitor.notice(&Notice::Learned(&learning));
        let (pages, servers) = (frontier.pages(), frontier.overview().servers);
        let write =
            |source: frontier::Error| Error::Schedule { action: "write the schedule", source: source.into() };
        frontier.close(now).map_err(write)?;
        clear(&place)?;
        let put = Error::io("put the new schedule in place at", &place);
        RealDisk.rename(&unfinished.join(::crawl::FRONTIER), &place).map_err(&put)?;
        RealDisk.sync_directory(data).map_err(&put)?;
        clear(&unfinished)?;
        archive.close().map_err(Error::archive("close the archive after the schedule was rebuilt"))?;
        Ok(RebuiltSchedule { pages, servers, damaged: learning.damaged })
    }

    /// Rebuilds the table of languages, titles and types from the archive.
    pub fn rebuild_derived(&self) -> Result<RebuiltTable, Error> {
        let writer = self.lock_existing("rebuild", RealClock::start().now())?;
        let (disk, path): (Arc<dyn Disk>, _) = (Arc::new(RealDisk), writer.archive_path());
        let reader = Reader::open(Arc::clone(&disk), &path).map_err(Error::archive("read the archive"))?;
        let table = ::crawl::DerivedStage::open(disk, &path);
        let mut table = table.map_err(Error::archive("open the table of languages and titles"))?;
        let meter = self.monitor.begin(Activity::Deriving, None);
        let report = |progress: &::crawl::Progress| meter.set(progress.captures, None);
        let reads = schedule::reads(&self.config, writer.directory().format().web);
        let learning = ::crawl::rebuild_derived(&mut table, &reader, &reads, report);
        let learning = learning.map_err(|source| Error::Schedule { action: "read the archive", source })?;
        Ok(RebuiltTable { captures: learning.captures, damaged: learning.damaged })
    }
}

fn clear(path: &Path) -> Result<(), Error> {
    match std::fs::remove_dir_all(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Error::Io { action: "remove", path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}
