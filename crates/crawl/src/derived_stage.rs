//! The derived table as a stage: language, type, title and digests of each capture (D11).

use crate::findings::facts;
use archive::derived::{self, Facts};
use archive::{Checkpoint, Entry, Target};
use base::disk::Disk;
use stage::{Arrival, Error, Stage};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum number of rows that are buffered between two commits.
const ROWS_MAX: usize = 512;

/// The derived table, as a stage.
#[derive(Debug)]
pub struct DerivedStage {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    /// `None` after a failure of an optional table.
    table: Option<derived::DerivedWriter>,
    is_optional: bool,
    rows: Vec<(Entry, Option<Facts>)>,
}

impl DerivedStage {
    /// Opens the table of the archive in `directory`.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn open(disk: Arc<dyn Disk>, directory: &Path) -> Result<Self, archive::Error> {
        let table = Some(derived::DerivedWriter::open(Arc::clone(&disk), directory)?);
        Ok(Self { disk, directory: directory.to_owned(), table, is_optional: false, rows: Vec::new() })
    }
    /// Continues without the table if it cannot be written. The next run fills it from the archive.
    #[must_use]
    pub fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    fn write(&mut self) -> Result<(), Error> {
        let rows = std::mem::take(&mut self.rows);
        let written = self
            .table
            .as_mut()
            .map_or(Ok(()), |table| table.append(rows.iter().map(|(entry, facts)| (entry, facts.clone()))));
        self.check(written)
    }
    fn check(&mut self, written: Result<(), archive::Error>) -> Result<(), Error> {
        match written {
            Err(error) if self.is_optional => {
                tracing::warn!(%error, "languages and titles are not stored; the next crawl does it");
                self.table = None;
                Ok(())
            }
            written => Ok(written?),
        }
    }
}

impl Stage for DerivedStage {
    fn name(&self) -> &'static str {
        "derived"
    }
    fn checkpoint(&self) -> Result<Option<Checkpoint>, Error> {
        Ok(self.table.as_ref().and_then(derived::DerivedWriter::checkpoint))
    }
    fn take(&mut self, arrival: &Arrival<'_>) -> Result<(), Error> {
        if self.table.is_none() {
            return Ok(());
        }
        self.rows.push((arrival.entry().clone(), arrival.body()?.map(facts)));
        if self.rows.len() < ROWS_MAX { Ok(()) } else { self.write() }
    }
    /// The journal of the table has rows and checkpoint in one frame.
    fn commit(&mut self, _: &Checkpoint) -> Result<(), Error> {
        self.write()
    }
    fn sync(&mut self) -> Result<(), Error> {
        let synced = self.table.as_mut().map_or(Ok(()), derived::DerivedWriter::sync);
        self.check(synced)
    }
    /// The archive removes and counts rows together with their records.
    fn take_down(&mut self, _: &Target) -> Result<u64, Error> {
        Ok(0)
    }
    fn clear(&mut self) -> Result<(), Error> {
        self.rows.clear();
        self.table = None;
        derived::clear(&*self.disk, &self.directory)?;
        self.table = Some(derived::DerivedWriter::open(Arc::clone(&self.disk), &self.directory)?);
        Ok(())
    }
}
