//! A data directory with its configuration, and its archive opened for a reader or for the one writer (D1).

use crate::config::Config;
use crate::directory::{DataDirectory, DirectoryWriter, FreeSpaceMin, OpenOptions, WebKind};
use crate::error::Error;
use crate::monitor::{Monitor, Notice};
use crate::stages::{InstalledStage, finish_swaps};
use archive::{Archive, Key, Reader};
use base::clock::{Clock as _, RealClock};
use base::disk::RealDisk;
use base::{Interval, PageUrl, Timestamp};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A data directory and how it is used.
#[derive(Clone, Debug)]
pub struct Node {
    /// The data directory, which may not exist yet.
    pub data: PathBuf,
    /// The settings in effect.
    pub config: Config,
    /// Receives notices and progress.
    pub monitor: Arc<dyn Monitor>,
    /// The stages of the data directory: [`crate::stages::ALL`].
    pub stages: &'static [&'static dyn InstalledStage],
}

impl Node {
    /// Opens the archive to read from it, even while another process writes to it.
    pub fn reader(&self) -> Result<(DataDirectory, Reader), Error> {
        let directory = DataDirectory::open_reader(&self.data)?;
        let reader = Reader::open(Arc::new(RealDisk), &directory.archive_path());
        Ok((directory, reader.map_err(Error::archive("read the archive"))?))
    }

    /// The current time of the data directory, from which ages are counted. For the public web it is that of this machine. The
    /// other webs have clocks of their own, which run ahead: their time is right after their latest capture (D16).
    pub fn present(&self) -> Result<Timestamp, Error> {
        let (directory, reader) = self.reader()?;
        let last = if directory.format().web.has_own_time() {
            reader.summary().map_err(Error::archive("read the archive"))?.last
        } else {
            None
        };
        let after = |last: Timestamp| last.plus(Interval::from_micros(1));
        Ok(last.map_or_else(|| RealClock::start().now(), after))
    }

    /// Which web the data directory contains.
    pub fn web(&self) -> Result<WebKind, Error> {
        Ok(DataDirectory::open_reader(&self.data)?.format().web)
    }

    /// Takes the writer lock. The data directory is created for `web` if it does not exist; an existing one must contain
    /// that web.
    pub fn lock(&self, web: WebKind, command: &str, now: Timestamp) -> Result<DirectoryWriter, Error> {
        let free_space_min = FreeSpaceMin::from(&self.config.archive);
        let options = OpenOptions { web, command, now, free_space_min };
        let writer = DataDirectory::open_writer(&self.data, &options)?;
        finish_swaps(writer.directory().path(), self.stages)?;
        Ok(writer)
    }

    /// Takes the writer lock of an existing data directory, whichever web it contains.
    pub fn lock_existing(&self, command: &str, now: Timestamp) -> Result<DirectoryWriter, Error> {
        self.lock(self.web()?, command, now)
    }

    /// Opens the archive for writing. An unfinished write of the last writer is repaired and reported, and a takedown that
    /// was interrupted is finished in every store.
    pub fn archive(&self, writer: &DirectoryWriter, now: Timestamp) -> Result<Archive, Error> {
        let settings = &self.config.archive;
        let settings = archive::Settings {
            file_bytes_max: settings.file_bytes_max,
            compression: settings.compression(),
            disk_free_bytes_min: writer.disk_free_bytes_min(),
            ..archive::Settings::default()
        };
        let opened = Archive::open(Arc::new(RealDisk), &writer.archive_path(), settings, now);
        let (archive, recovery) = opened.map_err(Error::archive("open the archive"))?;
        self.monitor.notice(&Notice::Recovered(&recovery));
        self.finish_takedowns(writer, &archive)?;
        Ok(archive)
    }

    /// A directory for data that does not fit into memory: beside the output if that is a file, else in the data directory,
    /// else the system's directory for temporary files.
    #[must_use]
    pub fn spool(&self, output: Option<&Path>) -> PathBuf {
        let beside = output.and_then(Path::parent);
        let beside = beside.map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
        let places = beside.into_iter().chain([self.data.as_path()]);
        let can_write = |place: &&Path| rustix::fs::access(*place, rustix::fs::Access::WRITE_OK).is_ok();
        places.into_iter().find(can_write).map_or_else(std::env::temp_dir, Path::to_owned)
    }
}

/// The key of a page as typed; a missing `http://` is added.
#[must_use]
pub fn key_of(text: &str) -> Key {
    let is_page = |url: &String| PageUrl::parse(url).is_ok();
    let with_scheme = Some(format!("http://{text}")).filter(|url| !text.contains("://") && is_page(url));
    Key::of(with_scheme.as_deref().unwrap_or(text))
}
