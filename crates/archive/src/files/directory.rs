//! The directory of an archive: its files, and how one is replaced.

use super::name::closed_name;
use crate::error::Error;
use base::disk::{Disk, Open};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Suffix of a file that will replace another.
const REWRITE: &str = ".rewrite";

/// The archive files in `directory`, in order, each once.
///
/// A file that is renamed while a directory is read may be seen twice or not at all. Each is renamed only once, so
/// reading the directory again finds it.
pub fn files(disk: &dyn Disk, directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = BTreeMap::new();
    for _ in 0..2 {
        let seen = match disk.list(directory) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            seen => seen.map_err(|source| Error::io("list", directory, source))?,
        };
        let named = seen.into_iter().filter_map(|path| Some((closed_name(&path)?.to_owned(), path)));
        files.extend(named);
    }
    Ok(files.into_values().collect())
}

/// Whether a file was to replace another.
pub(crate) fn is_unfinished(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.ends_with(REWRITE))
}

/// The name of the replacement of a file.
pub(crate) fn with_rewrite(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(REWRITE);
    PathBuf::from(name)
}

/// Makes the name of `path` durable.
pub(crate) fn sync_directory_of(disk: &dyn Disk, path: &Path) -> Result<(), Error> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    disk.sync_directory(directory).map_err(|source| Error::io("sync directory", directory, source))
}

/// The length of a file.
pub(crate) fn length_of(disk: &dyn Disk, path: &Path) -> Result<u64, Error> {
    let length = disk.open(path, Open::Read).and_then(|file| file.length());
    length.map_err(|source| Error::io("open", path, source))
}

/// Whether the writer may have renamed, removed or cut the file meanwhile.
pub(crate) fn is_in_motion(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof)
}
