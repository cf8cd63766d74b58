//! Opens an archive to write, and rebuilds its index.

use crate::error::Error;
use crate::files::directory::sync_directory_of;
use crate::files::name::Name;
use crate::index::Index;
use crate::writing::append::{Archive, Settings};
use crate::writing::recover::{self, Recovery};
use base::Timestamp;
use base::disk::Disk;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Archive {
    /// Opens the archive in `directory`, which is created if it does not exist, and finishes files that a crashed
    /// writer left.
    pub fn open(
        disk: Arc<dyn Disk>,
        directory: &Path,
        settings: Settings,
        at: Timestamp,
    ) -> Result<(Self, Recovery), Error> {
        create_directory(&*disk, directory)?;
        let (mut index, damage) = Index::open(Arc::clone(&disk), directory)?;
        index.merge_beside(settings.merges_beside);
        let mut recovery = recover::recover(&disk, directory, &mut index, &mut |_, _| {})?;
        recovery.index = damage.map(|damage| damage.to_string());
        let taken = disk.list(directory).map_err(|source| Error::io("list", directory, source))?;
        let next_name = Name::new(at, settings.compression, taken.iter().map(PathBuf::as_path));
        let mut archive = Self::new(disk, directory, settings, next_name, index)?;
        recovery.takedowns = archive.finish_takedowns(at)?;
        Ok((archive, recovery))
    }
}

/// Rebuilds the index from the archive files: from their checksums where these are whole, otherwise, or with `deeply`,
/// by reading the files themselves. There must be no other writer. `progress` gets the number of finished files and of
/// all files.
pub fn rebuild_index(
    disk: &Arc<dyn Disk>,
    directory: &Path,
    deeply: bool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Recovery, Error> {
    let (mut index, _) = Index::open(Arc::clone(disk), directory)?;
    index.clear()?;
    if deeply {
        recover::forget_sums(&**disk, directory)?;
    }
    recover::recover(disk, directory, &mut index, progress)
}

/// Makes the directory and the names that lead to it durable.
fn create_directory(disk: &dyn Disk, directory: &Path) -> Result<(), Error> {
    let is_missing =
        |path: &&Path| disk.list(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    let made: Vec<&Path> = directory.ancestors().take_while(is_missing).collect();
    disk.create_directory(directory)
        .map_err(|source| Error::writing(disk, "make directory", directory, source))?;
    // The name of the directory itself is synced even if it existed: whoever created it may have crashed before
    // syncing.
    made.into_iter().chain([directory]).try_for_each(|path| sync_directory_of(disk, path))
}
