//! Disks as bytes: copied, changed and compared.

use base::disk::{Disk, Open, SimulatedDisk};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Every file of a disk with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Image(pub(crate) BTreeMap<PathBuf, Vec<u8>>);

impl Image {
    /// The files as readers see them.
    pub(crate) fn of(disk: &SimulatedDisk) -> Self {
        let read = |(path, length): (PathBuf, u64)| {
            let mut bytes = vec![0; usize::try_from(length).unwrap()];
            disk.open(&path, Open::Read).unwrap().read_at(0, &mut bytes).unwrap();
            (path, bytes)
        };
        Self(disk.files().into_iter().map(read).collect())
    }
    /// A disk with these files.
    pub(crate) fn disk(&self, seed: u64) -> SimulatedDisk {
        let disk = SimulatedDisk::new(seed);
        for (path, bytes) in &self.0 {
            let directory = path.parent().unwrap_or(Path::new("/"));
            disk.create_directory(directory).unwrap();
            let file = disk.open(path, Open::CreateNew).unwrap();
            let written = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            file.write_at(0, &bytes[..written]).unwrap();
            file.allocate(bytes.len() as u64).unwrap();
            file.sync().unwrap();
            disk.sync_directory(directory).unwrap();
        }
        disk.sync_directory(Path::new("/")).unwrap();
        disk
    }
    /// The files whose name begins so.
    pub(crate) fn named(&self, prefix: &str) -> Vec<PathBuf> {
        let is_named = |path: &&PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(prefix);
        self.0.keys().filter(is_named).cloned().collect()
    }
    pub(crate) fn bytes(&mut self, path: &Path) -> &mut Vec<u8> {
        self.0.get_mut(path).unwrap()
    }
    /// For each file the places of its pieces of 64 bytes that are not all zeros.
    pub(crate) fn written_places(&self) -> BTreeMap<PathBuf, Vec<usize>> {
        let places = |bytes: &[u8]| {
            let pieces = bytes.chunks(64).enumerate();
            pieces
                .filter(|(_, piece)| piece.iter().any(|byte| *byte != 0))
                .map(|(place, _)| place * 64)
                .collect()
        };
        self.0.iter().map(|(path, bytes)| (path.clone(), places(bytes))).collect()
    }
}
