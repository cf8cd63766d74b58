//! The files of a store and their names.

use crate::error::{Result, Trying};
use base::disk::{Disk, DiskFile, Open};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The directory of a store, on some disk.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) directory: PathBuf,
}

impl Files {
    pub(crate) fn superblock(&self) -> PathBuf {
        self.directory.join("superblock")
    }
    pub(crate) fn checkpoint(&self, generation: u64) -> PathBuf {
        self.directory.join(format!("checkpoint-{generation:08}"))
    }
    pub(crate) fn log(&self, place: usize) -> PathBuf {
        self.directory.join(format!("log-{place}"))
    }
    pub(crate) fn segment(&self, segment: u32) -> PathBuf {
        self.directory.join(format!("data-{segment:08}"))
    }
    pub(crate) fn index(&self, generation: u64) -> PathBuf {
        self.directory.join(format!("index-{generation:08}"))
    }
    pub(crate) fn open(&self, path: &Path, how: Open) -> Result<Arc<dyn DiskFile>> {
        let action = if how == Open::CreateNew { "make" } else { "open" };
        self.disk.open(path, how).trying(action, path)
    }
    pub(crate) fn list(&self) -> Result<Vec<PathBuf>> {
        self.disk.list(&self.directory).trying("list", &self.directory)
    }
    pub(crate) fn sync_directory(&self) -> Result<()> {
        self.disk.sync_directory(&self.directory).trying("sync", &self.directory)
    }
    pub(crate) fn remove(&self, path: &Path) -> Result<()> {
        self.disk.remove(path).trying("remove", path)
    }
    /// The number in the name of a file of one kind, such as 12 for `data-00000012`.
    pub(crate) fn number_of(path: &Path, prefix: &str) -> Option<u64> {
        path.file_name()?.to_str()?.strip_prefix(prefix)?.parse().ok()
    }
}
