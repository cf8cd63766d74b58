//! The data directory: how it is recognised, and who may write to it (D1, M8).
//!
//! One process writes, any number read. The writer holds a lock that the system releases when the process ends,
//! however it ends; a reader takes none. `docs/formats/data-directory.md` describes every file.
//!
//! **Invariant:** a directory that is foreign, newer than this program, damaged, in use by another writer or on a full
//! disk is left exactly as it was: every check comes before the first write.
//!
//! **Invariant:** archives of the simulated web, of the public web and of an accelerated crawl never mix.

mod error;
mod format;
mod lock;

pub use error::Error;
pub use format::{DirectoryFormat, WebKind};
pub use lock::LockOwner;

use base::Timestamp;
use base::disk::{Disk, RealDisk};
use lock::Lock;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The list of servers and pages that must not be visited.
pub const OPT_OUT: &str = "opt-out.txt";
/// The directory of archive files.
pub const ARCHIVE: &str = "archive";
/// The directory of the egress guard's log, which only the guard uses.
pub const GUARD: &str = "guard";
/// What a directory may contain before [`format::FILE_NAME`] exists: the operator's configuration and list, the log of a
/// guard, and the remains of an interrupted start.
const BEFORE_FORMAT: [&str; 6] =
    [crate::config::FILE_NAME, OPT_OUT, lock::FILE_NAME, format::UNFINISHED_NAME, ARCHIVE, GUARD];

/// A data directory that can be read.
#[derive(Clone, Debug)]
pub struct DataDirectory {
    path: PathBuf,
    format: DirectoryFormat,
}

/// A data directory that this process alone writes to, until this is dropped.
#[derive(Debug)]
pub struct DirectoryWriter {
    directory: DataDirectory,
    disk_free_bytes_min: u64,
    _lock: Lock,
}

/// The description of a writer that opens a directory.
#[derive(Clone, Debug)]
pub struct OpenOptions<'a> {
    /// The web it writes.
    pub web: WebKind,
    /// The command, shown to others that find the directory in use.
    pub command: &'a str,
    /// The current time.
    pub now: Timestamp,
    /// The free space a writer needs.
    pub free_space_min: FreeSpaceMin,
}

/// The minimum free space for a writer: the larger of the two (M4).
#[derive(Clone, Copy, Debug, Default)]
pub struct FreeSpaceMin {
    /// Bytes.
    pub bytes: u64,
    /// Percent of the whole disk.
    pub percent: u64,
}

impl From<&crate::config::ArchiveConfig> for FreeSpaceMin {
    fn from(settings: &crate::config::ArchiveConfig) -> Self {
        Self { bytes: settings.disk_free_bytes_min, percent: settings.disk_free_percent_min }
    }
}

impl DataDirectory {
    /// Opens a directory for reading, even while another process writes to it.
    pub fn open_reader(path: &Path) -> Result<Self, Error> {
        match look(path)? {
            Found::Ours(format) => Ok(Self { path: path.to_owned(), format }),
            Found::Nothing => Err(Error::Absent { path: path.to_owned() }),
            Found::Empty => Err(Error::Empty { path: path.to_owned() }),
        }
    }

    /// Opens a directory for writing, and creates it if nothing exists at `path`.
    pub fn open_writer(path: &Path, opening: &OpenOptions<'_>) -> Result<DirectoryWriter, Error> {
        look(path)?.must_be_of(opening.web, path)?;
        let disk_free_bytes_min = check_free_space(path, opening.free_space_min)?;
        create(path).map_err(|source| Error::write(path, source))?;
        let lock = Lock::take(path, opening.command, opening.now)?;
        // Another writer may have come and gone since the first check.
        let known = look(path)?.must_be_of(opening.web, path)?;
        RealDisk.create_directory(&path.join(ARCHIVE)).map_err(|source| Error::write(path, source))?;
        let format = known.map_or_else(|| begin(path, opening), Ok)?;
        Ok(DirectoryWriter {
            directory: Self { path: path.to_owned(), format },
            disk_free_bytes_min,
            _lock: lock,
        })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// The directory of archive files.
    pub fn archive_path(&self) -> PathBuf {
        self.path.join(ARCHIVE)
    }
    /// Its format.
    pub fn format(&self) -> &DirectoryFormat {
        &self.format
    }
    /// The current writer, if there is one.
    pub fn owner(&self) -> io::Result<Option<LockOwner>> {
        lock::owner(&self.path)
    }
}

impl DirectoryWriter {
    /// The directory, for reading.
    pub fn directory(&self) -> &DataDirectory {
        &self.directory
    }
    /// The directory of archive files.
    pub fn archive_path(&self) -> PathBuf {
        self.directory.archive_path()
    }
    /// The free space in bytes below which a writer pauses, with the percentage converted for this disk.
    pub fn disk_free_bytes_min(&self) -> u64 {
        self.disk_free_bytes_min
    }
}

/// What exists at a path.
enum Found {
    Nothing,
    Empty,
    Ours(DirectoryFormat),
}

impl Found {
    /// The format, if there is one; an error if it is of the other web.
    fn must_be_of(self, web: WebKind, path: &Path) -> Result<Option<DirectoryFormat>, Error> {
        match self {
            Self::Ours(format) if format.web != web => {
                Err(Error::OtherWeb { path: path.to_owned(), held: format.web, wanted: web })
            }
            Self::Ours(format) => Ok(Some(format)),
            Self::Nothing | Self::Empty => Ok(None),
        }
    }
}

fn look(path: &Path) -> Result<Found, Error> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_dir() => return Err(Error::NotADirectory { path: path.to_owned() }),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(source) => return Err(Error::read(path, source)),
    }
    if let Some(format) = format::read(&RealDisk, path)? {
        return Ok(Found::Ours(format));
    }
    let foreign = foreign_entry(path).map_err(|source| Error::read(path, source))?;
    foreign.map_or(Ok(Found::Empty), |entry| Err(Error::Foreign { path: path.to_owned(), entry }))
}

/// A file in a directory without a format that no start of this program can have left there.
fn foreign_entry(path: &Path) -> io::Result<Option<String>> {
    for entry in fs::read_dir(path)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let used = name == ARCHIVE && fs::read_dir(path.join(ARCHIVE))?.next().is_some();
        if used || !BEFORE_FORMAT.contains(&name.as_str()) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// The required free space in bytes, if that much is free where `path` is or will be.
fn check_free_space(path: &Path, free_space_min: FreeSpaceMin) -> Result<u64, Error> {
    let existing = nearest_existing(path);
    let space = rustix::fs::statvfs(existing).map_err(|errno| Error::read(existing, errno.into()))?;
    let whole = space.f_blocks.saturating_mul(space.f_frsize);
    let needed = free_space_min.bytes.max(whole / 100 * free_space_min.percent);
    let free = RealDisk.free_bytes(existing).map_err(|source| Error::read(existing, source))?;
    if free < needed { Err(Error::Full { path: path.to_owned(), free, needed }) } else { Ok(needed) }
}

fn nearest_existing(path: &Path) -> &Path {
    let here = Path::new(".");
    let named = path.ancestors().filter(|ancestor| !ancestor.as_os_str().is_empty());
    named.into_iter().find(|ancestor| ancestor.exists()).unwrap_or(here)
}

/// Creates the directory and its parents, durably.
fn create(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let existing = nearest_existing(path).to_owned();
    RealDisk.create_directory(path)?;
    let made = path.ancestors().skip(1).filter(|ancestor| !ancestor.as_os_str().is_empty());
    made.take_while(|ancestor| ancestor.starts_with(&existing))
        .try_for_each(|a| RealDisk.sync_directory(a))?;
    RealDisk.sync_directory(&existing)
}

fn begin(path: &Path, opening: &OpenOptions<'_>) -> Result<DirectoryFormat, Error> {
    let format = DirectoryFormat { version: format::VERSION, created: opening.now, web: opening.web };
    format::write(&RealDisk, path, &format).map_err(|source| Error::write(path, source))?;
    Ok(format)
}

#[cfg(test)]
mod tests;
