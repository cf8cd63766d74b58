//! A disk on which checkpoints take long: making one waits until some more commits were written.
//!
//! So a store with threads fills part after part of its log beside a checkpoint, as it does on a slow machine.

use base::disk::{Disk, DiskFile, Open, SimulatedDisk};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// A simulated disk with slow checkpoints.
#[derive(Clone, Debug)]
pub(crate) struct SlowDisk {
    disk: SimulatedDisk,
    written: Arc<Written>,
}

/// How many commits were written.
#[derive(Debug, Default)]
struct Written {
    commits: Mutex<u64>,
    more: Condvar,
}

impl SlowDisk {
    pub(crate) fn new(disk: SimulatedDisk) -> Self {
        Self { disk, written: Arc::default() }
    }
    /// Waits for some commits, a different number each time; not forever, since the store may wait for the
    /// checkpoint in turn.
    fn delay(&self) {
        let commits = self.written.commits.lock().unwrap();
        let enough = *commits + base::chance::hash(&[*commits]) % 900;
        let patience = Duration::from_millis(20);
        let _ = self.written.more.wait_timeout_while(commits, patience, |commits| *commits < enough);
    }
}

fn has_prefix(path: &Path, prefix: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
}

impl Disk for SlowDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        if how == Open::CreateNew && has_prefix(path, "checkpoint-") {
            self.delay();
        }
        let file = self.disk.open(path, how)?;
        let counts = has_prefix(path, "log-");
        Ok(if counts { Arc::new(CountedFile { file, written: Arc::clone(&self.written) }) } else { file })
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }
    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        self.disk.list(directory)
    }
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.disk.create_directory(path)
    }
    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.disk.sync_directory(path)
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        self.disk.free_bytes(path)
    }
}

/// A file of the log.
#[derive(Debug)]
struct CountedFile {
    file: Arc<dyn DiskFile>,
    written: Arc<Written>,
}

impl DiskFile for CountedFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_at(offset, buffer)
    }
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        *self.written.commits.lock().unwrap() += 1;
        self.written.more.notify_all();
        self.file.write_at(offset, bytes)
    }
    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }
    fn length(&self) -> io::Result<u64> {
        self.file.length()
    }
    fn truncate(&self, length: u64) -> io::Result<()> {
        self.file.truncate(length)
    }
    fn allocate(&self, length: u64) -> io::Result<()> {
        self.file.allocate(length)
    }
}
