//! A disk with a callback before and after every operation, to act at that moment.

use base::disk::{Disk, DiskFile, Open, SimulatedDisk};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The callback, with the name of the operation. It is not called for its own operations.
type Watcher = Box<dyn FnMut(&str) + Send>;

/// A simulated disk under watch.
#[derive(Clone)]
pub(crate) struct WatchedDisk {
    pub(crate) disk: SimulatedDisk,
    watcher: Arc<Mutex<Option<Watcher>>>,
    pub(crate) read_bytes: Arc<Mutex<u64>>,
}

impl WatchedDisk {
    pub(crate) fn new(disk: &SimulatedDisk) -> Self {
        Self { disk: disk.clone(), watcher: Arc::default(), read_bytes: Arc::default() }
    }
    pub(crate) fn watch(&self, watcher: impl FnMut(&str) + Send + 'static) {
        *self.watcher.lock().unwrap() = Some(Box::new(watcher));
    }
    pub(crate) fn read_bytes(&self) -> u64 {
        *self.read_bytes.lock().unwrap()
    }
    fn call(&self, what: &str) {
        let taken = self.watcher.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut watcher) = taken {
            watcher(what);
            *self.watcher.lock().unwrap() = Some(watcher);
        }
    }
    fn around<T>(&self, what: &str, action: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.call(&format!("before {what}"));
        let result = action();
        self.call(&format!("after {what}"));
        result
    }
}

impl std::fmt::Debug for WatchedDisk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.disk.fmt(f)
    }
}

impl Disk for WatchedDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        let what = format!("opening {}", path.display());
        let file = self.around(&what, || self.disk.open(path, how))?;
        Ok(Arc::new(WatchedFile { file, name: path.display().to_string(), disk: self.clone() }))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.around(&format!("renaming {}", from.display()), || self.disk.rename(from, to))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.around(&format!("removing {}", path.display()), || self.disk.remove(path))
    }
    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        self.around("listing", || self.disk.list(directory))
    }
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.around("making a directory", || self.disk.create_directory(path))
    }
    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.around("syncing a directory", || self.disk.sync_directory(path))
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        self.disk.free_bytes(path)
    }
}

#[derive(Debug)]
struct WatchedFile {
    file: Arc<dyn DiskFile>,
    name: String,
    disk: WatchedDisk,
}

impl DiskFile for WatchedFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        *self.disk.read_bytes.lock().unwrap() += buffer.len() as u64;
        self.disk.around(&format!("reading {}", self.name), || self.file.read_at(offset, buffer))
    }
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        // Others see half of it first.
        let half = bytes.len() / 2;
        self.disk.around(&format!("writing {}", self.name), || {
            self.file.write_at(offset, &bytes[..half])?;
            self.disk.call("half of it");
            self.file.write_at(offset + half as u64, &bytes[half..])
        })
    }
    fn sync(&self) -> io::Result<()> {
        self.disk.around(&format!("syncing {}", self.name), || self.file.sync())
    }
    fn length(&self) -> io::Result<u64> {
        self.disk.around(&format!("measuring {}", self.name), || self.file.length())
    }
    fn truncate(&self, length: u64) -> io::Result<()> {
        self.disk.around(&format!("cutting {}", self.name), || self.file.truncate(length))
    }
    fn allocate(&self, length: u64) -> io::Result<()> {
        self.file.allocate(length)
    }
}
