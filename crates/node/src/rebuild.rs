//! Rebuilds what is derived from the archive: the index, and every stage. It needs the writer lock.

use crate::error::Error;
use crate::monitor::{Activity, Notice};
use crate::node::Node;
use crate::stages::RebuiltStage;
use archive::Reader;
use base::clock::{Clock as _, RealClock};
use base::disk::{Disk, RealDisk};
use std::sync::Arc;

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

    /// Rebuilds a stage from the archive, by its name. The old data stays until the new data is complete, if the stage has a
    /// directory of its own.
    pub fn rebuild(&self, stage: &str) -> Result<RebuiltStage, Error> {
        let known = self.stages.iter().find(|known| known.name() == stage);
        let stage = known.ok_or_else(|| Error::NoStage(stage.to_owned()))?;
        let writer = self.lock_existing("rebuild", RealClock::start().now())?;
        stage.rebuild(self, &writer)
    }
}
