//! The writer of an archive: captures are appended to the file that grows, and made durable batch by batch.
//!
//! A file's life: created as `NAME.open`; with the first batch its content and then its name are synced; when it has
//! reached its size, or the archive is closed, everything is synced and it is renamed to `NAME`. From then on it
//! never changes.
//!
//! **Invariant:** nothing is acknowledged before it is durable (D2). After a failed sync, write or rename nothing
//! more is written (M3); a full disk is no such failure, it can be tried again (M4).

use crate::error::Error;
use crate::file::{GrowingFile, sync_directory_of};
use crate::name::Name;
use crate::records::{self, Appended, Before};
use crate::recover::{self, Recovery};
use base::disk::Disk;
use base::limits::{ARCHIVE_FILE_BYTES, DISK_FREE_BYTES_MIN};
use base::{Capture, Timestamp};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warc::Level;

/// So much waits in memory at most before it is committed without being asked, one capture aside.
const PENDING_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// How an archive is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A file that has reached this length is finished and the next one begun, so a file is longer by one capture
    /// at most.
    pub file_bytes_max: u64,
    /// What the files say they were written by.
    pub software: String,
    /// How hard records are compressed.
    pub gzip_level: Level,
    /// Nothing is written that would leave less free space than this (M4).
    pub disk_free_bytes_min: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            file_bytes_max: ARCHIVE_FILE_BYTES,
            software: concat!("utsushi/", env!("CARGO_PKG_VERSION")).to_owned(),
            gzip_level: Level::DEFAULT,
            disk_free_bytes_min: DISK_FREE_BYTES_MIN,
        }
    }
}

/// The writer of an archive. There is one at a time; that is for the program to see to.
#[derive(Debug)]
pub struct Archive {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    settings: Settings,
    next_name: Name,
    file: Option<GrowingFile>,
    is_stopped: bool,
}

impl Archive {
    /// Opens the archive in `directory`, which is made if it does not exist, and finishes the files that a writer
    /// left when it died.
    pub fn open(
        disk: Arc<dyn Disk>,
        directory: &Path,
        settings: Settings,
        at: Timestamp,
    ) -> Result<(Self, Recovery), Error> {
        create_directory(&*disk, directory)?;
        let recovery = recover::recover(&*disk, directory)?;
        let taken = disk.list(directory).map_err(|source| Error::io("list", directory, source))?;
        let next_name = Name::new(at, taken.iter().map(PathBuf::as_path));
        let directory = directory.to_owned();
        Ok((Self { disk, directory, settings, next_name, file: None, is_stopped: false }, recovery))
    }

    /// Adds a capture to the batch. `before` is what its page was last stored as; if the body is the same, only a
    /// reference to it is written.
    ///
    /// When this fails for want of room, the capture is not in the batch, and it may be tried again.
    pub fn append(&mut self, capture: &Capture, before: Option<&Before>) -> Result<Appended, Error> {
        self.check_running()?;
        self.make_way()?;
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.begin_file(capture.at)?,
        };
        let appended = records::append(capture, before, &mut file);
        self.file = Some(file);
        Ok(appended)
    }

    /// Makes everything that was appended durable.
    ///
    /// When this fails for want of room, the batch is kept, and the call may be made again. After any other error
    /// the archive must be opened again; the batch is not in it then.
    pub fn commit(&mut self) -> Result<(), Error> {
        self.check_running()?;
        self.check_room()?;
        let disk = Arc::clone(&self.disk);
        let result = self.file.as_mut().map_or(Ok(()), |file| file.commit(&*disk));
        self.stop_on_error(result)
    }

    /// Makes everything durable and gives the last file its final name.
    ///
    /// What was not committed before is lost if this fails; whoever wants to wait for room calls [`Archive::commit`]
    /// first.
    pub fn close(mut self) -> Result<(), Error> {
        self.finish_file()
    }

    /// How much can still be written to the disk that the archive is on, the reserve included.
    pub fn free_bytes(&self) -> Result<u64, Error> {
        self.disk.free_bytes(&self.directory).map_err(|source| Error::io("measure", &self.directory, source))
    }

    /// Finishes a file that is long enough, and commits a batch that is large enough.
    fn make_way(&mut self) -> Result<(), Error> {
        match &self.file {
            Some(file) if file.position() >= self.settings.file_bytes_max => self.finish_file(),
            Some(file) if file.pending_bytes() >= PENDING_BYTES_MAX => self.commit(),
            _ => Ok(()),
        }
    }

    fn begin_file(&mut self, at: Timestamp) -> Result<GrowingFile, Error> {
        loop {
            let name = self.next_name.clone();
            self.next_name = name.next();
            match GrowingFile::create(&*self.disk, &self.directory, &name, self.settings.gzip_level) {
                Ok(mut file) => {
                    file.describe(at, &self.settings.software);
                    return Ok(file);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let path = self.directory.join(name.open());
                    return self.stop_on_error(Err(Error::writing(&*self.disk, "create", &path, error)));
                }
            }
        }
    }

    fn finish_file(&mut self) -> Result<(), Error> {
        self.commit()?;
        let finished = self.file.as_ref().map_or(Ok(()), |file| file.finish(&*self.disk));
        self.stop_on_error(finished)?;
        self.file = None;
        Ok(())
    }

    fn check_running(&self) -> Result<(), Error> {
        if self.is_stopped { Err(Error::Stopped { path: self.directory.clone() }) } else { Ok(()) }
    }

    /// Whether the batch leaves enough of the disk free.
    fn check_room(&self) -> Result<(), Error> {
        let Some(file) = self.file.as_ref().filter(|file| file.pending_bytes() > 0) else { return Ok(()) };
        let needed_bytes = self.settings.disk_free_bytes_min.saturating_add(file.pending_bytes());
        let free_bytes = self.free_bytes()?;
        if free_bytes < needed_bytes {
            return Err(Error::DiskFull { path: file.path().to_owned(), free_bytes, needed_bytes });
        }
        Ok(())
    }

    fn stop_on_error<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        self.is_stopped |= result.as_ref().is_err_and(|error| !error.is_disk_full());
        result
    }
}

/// Makes the directory and the names that lead to it durable.
fn create_directory(disk: &dyn Disk, directory: &Path) -> Result<(), Error> {
    let is_missing =
        |path: &&Path| disk.list(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    let made: Vec<&Path> = directory.ancestors().take_while(is_missing).collect();
    disk.create_directory(directory)
        .map_err(|source| Error::writing(disk, "make directory", directory, source))?;
    // The name of the directory itself is synced even if it was there: its maker may have died before.
    made.into_iter().chain([directory]).try_for_each(|path| sync_directory_of(disk, path))
}
