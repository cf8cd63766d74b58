//! The data directory: what it is recognised by, and who may write to it (D1, M8).
//!
//! One process writes, any number read. The writer holds a lock that the system takes away when the process ends,
//! however it ends; a reader takes none. `docs/formats/data-directory.md` describes every file.
//!
//! **Invariant:** a directory that is not ours, is newer than we are, is damaged, is written to by someone else or
//! lies on a full disk is left exactly as it was: every check comes before the first write.
//!
//! **Invariant:** an archive of the simulated web and one of the public web never mix.

mod error;
mod format;
mod lock;

pub(crate) use error::Error;
pub(crate) use format::{Format, Web};
pub(crate) use lock::Owner;

use base::Timestamp;
use base::disk::{Disk, RealDisk};
use lock::Lock;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The directory of archive files.
pub(crate) const ARCHIVE: &str = "archive";
/// The directory of the egress guard's log, which is a matter of the guard alone.
pub(crate) const GUARD: &str = "guard";
/// What a directory may hold before [`format::FILE_NAME`] does: a person's configuration and list, the log of a guard, and
/// what a start that was cut off left behind.
const BEFORE_FORMAT: [&str; 6] = [
    crate::config::FILE_NAME,
    super::door::OPT_OUT,
    lock::FILE_NAME,
    format::UNFINISHED_NAME,
    ARCHIVE,
    GUARD,
];

/// A data directory that can be read.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    format: Format,
}

/// A data directory that this process alone writes to, until this is dropped.
#[derive(Debug)]
pub(crate) struct Writer {
    directory: Directory,
    disk_free_bytes_min: u64,
    _lock: Lock,
}

/// What a writer says of itself when it opens a directory.
#[derive(Clone, Debug)]
pub(crate) struct Opening<'a> {
    /// The web it writes of.
    pub(crate) web: Web,
    /// The command, for whoever finds the directory in use.
    pub(crate) command: &'a str,
    /// The present moment.
    pub(crate) now: Timestamp,
    /// The free space a writer needs.
    pub(crate) floor: Floor,
}

/// The free space below which a writer does not write: the larger of the two (M4).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Floor {
    /// Bytes.
    pub(crate) bytes: u64,
    /// Percent of the whole disk.
    pub(crate) percent: u64,
}

impl From<&crate::config::Archive> for Floor {
    fn from(settings: &crate::config::Archive) -> Self {
        Self { bytes: settings.disk_free_bytes_min, percent: settings.disk_free_percent_min }
    }
}

impl Directory {
    /// Opens a directory to read from it, whoever writes to it meanwhile.
    pub(crate) fn open_reader(path: &Path) -> Result<Self, Error> {
        match look(path)? {
            Found::Ours(format) => Ok(Self { path: path.to_owned(), format }),
            Found::Nothing => Err(Error::Absent { path: path.to_owned() }),
            Found::Empty => Err(Error::Empty { path: path.to_owned() }),
        }
    }

    /// Opens a directory to write to it, and makes it if there is nothing at `path`.
    pub(crate) fn open_writer(path: &Path, opening: &Opening<'_>) -> Result<Writer, Error> {
        look(path)?.must_be_of(opening.web, path)?;
        let disk_free_bytes_min = check_free_space(path, opening.floor)?;
        create(path).map_err(|source| Error::write(path, source))?;
        let lock = Lock::take(path, opening.command, opening.now)?;
        // Another writer may have come and gone since the first look.
        let known = look(path)?.must_be_of(opening.web, path)?;
        RealDisk.create_directory(&path.join(ARCHIVE)).map_err(|source| Error::write(path, source))?;
        let format = known.map_or_else(|| begin(path, opening), Ok)?;
        Ok(Writer { directory: Self { path: path.to_owned(), format }, disk_free_bytes_min, _lock: lock })
    }

    /// Where it lies.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
    /// Where the archive files lie.
    pub(crate) fn archive_path(&self) -> PathBuf {
        self.path.join(ARCHIVE)
    }
    /// What it says of itself.
    pub(crate) fn format(&self) -> &Format {
        &self.format
    }
    /// Who writes to it now, if anyone does.
    pub(crate) fn owner(&self) -> io::Result<Option<Owner>> {
        lock::owner(&self.path)
    }
}

impl Writer {
    /// The directory, to read from.
    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }
    /// Where the archive files lie.
    pub(crate) fn archive_path(&self) -> PathBuf {
        self.directory.archive_path()
    }
    /// The free space in bytes below which a writer pauses, with the share of this disk worked out.
    pub(crate) fn disk_free_bytes_min(&self) -> u64 {
        self.disk_free_bytes_min
    }
}

/// What there is at a path.
enum Found {
    Nothing,
    Empty,
    Ours(Format),
}

impl Found {
    /// The format, if there is one; an error if it is of the other web.
    fn must_be_of(self, web: Web, path: &Path) -> Result<Option<Format>, Error> {
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

/// Something in a directory without a format that no start of ours can have left there.
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

/// The floor in bytes, if that much is free where `path` is or will be.
fn check_free_space(path: &Path, floor: Floor) -> Result<u64, Error> {
    let existing = nearest_existing(path);
    let space = rustix::fs::statvfs(existing).map_err(|errno| Error::read(existing, errno.into()))?;
    let whole = space.f_blocks.saturating_mul(space.f_frsize);
    let needed = floor.bytes.max(whole / 100 * floor.percent);
    let free = RealDisk.free_bytes(existing).map_err(|source| Error::read(existing, source))?;
    if free < needed { Err(Error::Full { path: path.to_owned(), free, needed }) } else { Ok(needed) }
}

fn nearest_existing(path: &Path) -> &Path {
    let here = Path::new(".");
    let named = path.ancestors().filter(|ancestor| !ancestor.as_os_str().is_empty());
    named.into_iter().find(|ancestor| ancestor.exists()).unwrap_or(here)
}

/// Makes the directory and its parents, durably.
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

fn begin(path: &Path, opening: &Opening<'_>) -> Result<Format, Error> {
    let format = Format { version: format::VERSION, created: opening.now, web: opening.web };
    format::write(&RealDisk, path, &format).map_err(|source| Error::write(path, source))?;
    Ok(format)
}

#[cfg(test)]
mod tests;
