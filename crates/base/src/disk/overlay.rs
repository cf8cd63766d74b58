//! A disk over another one that keeps every change to itself.
//!
//! A reader that must replay a log, or otherwise bring files up to date before it can use them, does so here. The disk
//! below is only read, so another process may own it.
//!
//! **Invariant:** the disk below is only read: no write, no sync, no new name.
//!
//! **Invariant:** memory is bounded. Changed blocks beyond [`MEMORY_BYTES_MAX`] go to a temporary file without a name.

mod layer;
mod scratch;

use super::{Disk, DiskFile, Open};
use layer::Layer;
use scratch::Scratch;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum bytes of changed blocks kept in memory.
const MEMORY_BYTES_MAX: usize = 64 << 20;

/// A disk whose changes are visible only through it, and disappear when it is dropped.
///
/// ```
/// use base::disk::{Disk, Open, OverlayDisk, RealDisk};
/// use std::sync::Arc;
///
/// let place = tempfile::tempdir()?;
/// let path = place.path().join("file");
/// std::fs::write(&path, "below")?;
/// let disk = OverlayDisk::new(Arc::new(RealDisk));
/// let file = disk.open(&path, Open::Write)?;
/// file.write_at(0, b"above")?;
/// let mut bytes = [0; 5];
/// file.read_at(0, &mut bytes)?;
/// assert_eq!(&bytes, b"above");
/// assert_eq!(std::fs::read(&path)?, b"below");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct OverlayDisk {
    below: Arc<dyn Disk>,
    scratch: Arc<Mutex<Scratch>>,
    names: Mutex<Names>,
}

/// What differs from the disk below. Files that were opened are here too, so that everyone who opens a name sees one
/// file.
#[derive(Debug, Default)]
struct Names {
    /// `None`: removed.
    files: BTreeMap<PathBuf, Option<Arc<Layer>>>,
    directories: BTreeSet<PathBuf>,
}

impl OverlayDisk {
    /// A disk that reads from `below`.
    #[must_use]
    pub fn new(below: Arc<dyn Disk>) -> Self {
        Self::with_memory(below, MEMORY_BYTES_MAX)
    }
    fn with_memory(below: Arc<dyn Disk>, memory_bytes_max: usize) -> Self {
        let scratch = Arc::new(Mutex::new(Scratch::new(memory_bytes_max)));
        Self { below, scratch, names: Mutex::default() }
    }
    fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// The file at `path`, taken from the disk below if it was not opened before.
    fn existing(&self, names: &mut Names, path: &Path) -> io::Result<Arc<Layer>> {
        if let Some(known) = names.files.get(path) {
            return known.clone().ok_or_else(|| io::ErrorKind::NotFound.into());
        }
        let below = self.below.open(path, Open::Read)?;
        let layer = Arc::new(Layer::over(below, Arc::clone(&self.scratch))?);
        names.files.insert(path.to_owned(), Some(Arc::clone(&layer)));
        Ok(layer)
    }
    fn create(&self, names: &mut Names, path: &Path) -> io::Result<Arc<Layer>> {
        match self.existing(names, path) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let layer = Arc::new(Layer::empty(Arc::clone(&self.scratch)));
                names.files.insert(path.to_owned(), Some(Arc::clone(&layer)));
                Ok(layer)
            }
            Err(error) => Err(error),
        }
    }
}

impl Disk for OverlayDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        let names = &mut self.names();
        let file = if how == Open::CreateNew { self.create(names, path) } else { self.existing(names, path) };
        Ok(file?)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let names = &mut self.names();
        let file = self.existing(names, from)?;
        names.files.insert(from.to_owned(), None);
        names.files.insert(to.to_owned(), Some(file));
        Ok(())
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        let names = &mut self.names();
        self.existing(names, path)?;
        names.files.insert(path.to_owned(), None);
        Ok(())
    }
    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let names = self.names();
        let mut found: BTreeSet<PathBuf> = match self.below.list(directory) {
            Ok(files) => files.into_iter().collect(),
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && names.directories.contains(directory) =>
            {
                BTreeSet::new()
            }
            Err(error) => return Err(error),
        };
        for (path, file) in names.files.iter().filter(|(path, _)| path.parent() == Some(directory)) {
            let _ = if file.is_some() { found.insert(path.clone()) } else { found.remove(path) };
        }
        Ok(found.into_iter().collect())
    }
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.names().directories.extend(path.ancestors().map(Path::to_owned));
        Ok(())
    }
    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        self.below.free_bytes(path)
    }
}

#[cfg(test)]
mod tests;
