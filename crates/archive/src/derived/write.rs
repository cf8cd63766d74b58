//! Writes the table in order of arrival, after the archive.

use super::Facts;
use super::journal::{Journal, frame, head, path_of};
use crate::capture::entry::Entry;
use crate::error::Error;
use crate::files::checkpoint::Checkpoint;
use crate::files::directory::sync_directory_of;
use crate::files::name;
use base::disk::{Disk, DiskFile, Open};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The writer of the table. The program ensures that there is only one.
///
/// It holds no file open between two calls, so a takedown may rewrite journals meanwhile.
#[derive(Debug)]
pub struct DerivedWriter {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    last: Option<Last>,
    /// Whether the last journal has unsynced frames.
    is_dirty: bool,
    is_stopped: bool,
}

/// The last journal: its archive file, how much of that it covers, and its length.
#[derive(Clone, Debug)]
struct Last {
    file: Arc<str>,
    covered: u64,
    position: u64,
}

impl DerivedWriter {
    /// Opens the table beside the archive files in `directory`, and removes what a crashed writer left half written.
    pub fn open(disk: Arc<dyn Disk>, directory: &Path) -> Result<Self, Error> {
        let mut writer =
            Self { disk, directory: directory.to_owned(), last: None, is_dirty: false, is_stopped: false };
        for file in journals(&*writer.disk, directory)?.into_iter().rev() {
            if let Some(journal) =
                Journal::read(&*writer.disk, directory, &file)?.filter(|found| found.covered > 0)
            {
                writer.mend(&file, &journal)?;
                writer.last = Some(Last { file, covered: journal.covered, position: journal.whole_bytes });
                break;
            }
            let path = path_of(directory, &file);
            writer.disk.remove(&path).map_err(|source| Error::io("remove", &path, source))?;
        }
        Ok(writer)
    }

    /// The checkpoint after the last capture that was appended; `None` before the first. Captures before it are known.
    #[must_use]
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        self.last.as_ref().map(|last| Checkpoint::at(&last.file, last.covered))
    }

    /// Adds the facts of captures, which come in order of arrival and without gaps, including those without facts.
    /// Captures before the checkpoint are skipped. The archive must have made all of them durable.
    ///
    /// When this fails because the disk is full, nothing after the [checkpoint](DerivedWriter::checkpoint) was added, and the
    /// call may be repeated.
    pub fn append<'e>(
        &mut self,
        read: impl IntoIterator<Item = (&'e Entry, Option<Facts>)>,
    ) -> Result<(), Error> {
        if self.is_stopped {
            return Err(Error::Stopped { path: self.directory.clone() });
        }
        let mut batch: Option<Batch> = None;
        for (entry, facts) in read {
            if self.checkpoint().is_some_and(|checkpoint| checkpoint.is_after(&entry.location)) {
                continue;
            }
            if let Some(done) = batch.take_if(|batch| batch.file != entry.location.file) {
                self.put(&done)?;
            }
            let batch = batch.get_or_insert_with(|| Batch::of(&entry.location.file));
            batch.to = entry.location.offset + entry.group_bytes;
            batch
                .rows
                .extend(facts.filter(|facts| !facts.is_empty()).map(|facts| (entry.location.offset, facts)));
        }
        batch.map_or(Ok(()), |batch| self.put(&batch))
    }

    /// Makes everything that was appended durable. What is not durable is rebuilt after a crash.
    pub fn sync(&mut self) -> Result<(), Error> {
        let Some(last) = self.last.as_ref().filter(|_| self.is_dirty) else { return Ok(()) };
        let path = path_of(&self.directory, &last.file);
        let synced = self.open_file(&path).and_then(|file| {
            file.sync().map_err(|source| Error::io("sync", &path, source))?;
            sync_directory_of(&*self.disk, &path)
        });
        self.stop_on_error(synced)?;
        self.is_dirty = false;
        Ok(())
    }

    fn put(&mut self, batch: &Batch) -> Result<(), Error> {
        if self.last.as_ref().is_none_or(|last| last.file != batch.file) {
            // Everything before the checkpoint must be in the table after a crash, too.
            self.sync()?;
            let begun = self.begin(&batch.file);
            let last = self.stop_on_error(begun)?;
            self.last = Some(last);
        }
        let written = self.write(batch);
        let last = self.stop_on_error(written)?;
        self.last = Some(last);
        self.is_dirty = true;
        Ok(())
    }

    /// Begins the journal of an archive file and replaces an existing one.
    fn begin(&self, file: &Arc<str>) -> Result<Last, Error> {
        let path = path_of(&self.directory, file);
        match self.disk.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io("remove", &path, error));
            }
            _ => {}
        }
        let failed = |action| {
            move |source| Error::writing(&*self.disk, action, &path_of(&self.directory, file), source)
        };
        let journal = self.disk.open(&path, Open::CreateNew).map_err(failed("create"))?;
        let head = head(file);
        if let Err(source) = journal.write_at(0, &head) {
            let _ = self.disk.remove(&path);
            return Err(failed("write to")(source));
        }
        Ok(Last { file: Arc::clone(file), covered: 0, position: head.len() as u64 })
    }

    /// Appends a frame at the current end: a takedown may have rewritten the journal.
    fn write(&self, batch: &Batch) -> Result<Last, Error> {
        let Some(last) = &self.last else { return Err(Error::Stopped { path: self.directory.clone() }) };
        let path = path_of(&self.directory, &last.file);
        let file = self.open_file(&path)?;
        let length = file.length().map_err(|source| Error::io("read", &path, source))?;
        let position = match length == last.position {
            true => last.position,
            false => Journal::read(&*self.disk, &self.directory, &last.file)?
                .filter(|journal| journal.covered == last.covered)
                .map(|journal| journal.whole_bytes)
                .ok_or_else(|| Error::io("continue", &path, io::ErrorKind::InvalidData.into()))?,
        };
        let rows: Vec<(u64, &Facts)> = batch.rows.iter().map(|(offset, facts)| (*offset, facts)).collect();
        let frame = frame(&last.file, position, (last.covered, batch.to), &rows);
        if let Err(source) = file.write_at(position, &frame) {
            // Half a frame does not count, so truncating may fail too.
            let _ = file.truncate(position);
            return Err(Error::writing(&*self.disk, "write to", &path, source));
        }
        let position = position + frame.len() as u64;
        Ok(Last { file: Arc::clone(&last.file), covered: batch.to, position })
    }

    /// Cuts off incomplete frames and rewrites the rest: after a failed sync it may only be in the page cache (M3).
    fn mend(&mut self, file: &str, journal: &Journal) -> Result<(), Error> {
        let path = path_of(&self.directory, file);
        let failed = |action| {
            let path = path.clone();
            let disk = Arc::clone(&self.disk);
            move |source| Error::writing(&*disk, action, &path, source)
        };
        let opened = self.open_file(&path)?;
        let whole = usize::try_from(journal.whole_bytes).unwrap_or(usize::MAX);
        let whole = journal.bytes.get(..whole).unwrap_or(&journal.bytes);
        opened.write_at(0, whole).map_err(failed("write to"))?;
        opened.truncate(journal.whole_bytes).map_err(failed("cut"))?;
        self.is_dirty = true;
        Ok(())
    }

    fn open_file(&self, path: &Path) -> Result<Arc<dyn DiskFile>, Error> {
        self.disk.open(path, Open::Write).map_err(|source| Error::io("open", path, source))
    }

    fn stop_on_error<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        self.is_stopped |= result.as_ref().is_err_and(|error| !error.is_disk_full());
        result
    }
}

/// What was found in captures of one archive file.
struct Batch {
    file: Arc<str>,
    to: u64,
    rows: Vec<(u64, Facts)>,
}

impl Batch {
    fn of(file: &Arc<str>) -> Self {
        Self { file: Arc::clone(file), to: 0, rows: Vec::new() }
    }
}

/// The archive files that have a journal in `directory`, in order.
pub(super) fn journals(disk: &dyn Disk, directory: &Path) -> Result<Vec<Arc<str>>, Error> {
    let paths = match disk.list(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        paths => paths.map_err(|source| Error::io("list", directory, source))?,
    };
    let file_of = |path: &PathBuf| {
        let name = name::derived_of(path)?;
        name::is_name(name).then(|| Arc::from(name))
    };
    let mut files: Vec<Arc<str>> = paths.iter().filter_map(file_of).collect();
    files.sort();
    Ok(files)
}
