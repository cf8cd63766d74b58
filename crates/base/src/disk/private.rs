//! Files and directories that only their owner and group may read. The umask of the process may take more away.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Mode of a new file: its owner reads and writes, its group reads.
const FILE_MODE: u32 = 0o640;
/// Mode of a new directory: its group may also enter it.
const DIRECTORY_MODE: u32 = 0o750;

/// Options that create private files. Existing files keep their permissions.
#[must_use]
pub fn private_options() -> OpenOptions {
    let mut options = File::options();
    options.mode(FILE_MODE);
    options
}

/// Makes a private directory and its parents, if they do not exist. Existing ones keep their permissions.
///
/// # Errors
/// Those of the operating system.
pub fn create_private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Disk, Open, RealDisk};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn new_files_are_private_and_existing_ones_keep_their_mode() {
        let place = tempfile::tempdir().unwrap();
        let (directory, file) = (place.path().join("a/b"), place.path().join("a/b/file"));
        RealDisk.create_directory(&directory).unwrap();
        RealDisk.open(&file, Open::CreateNew).unwrap();
        for (path, most) in
            [(place.path().join("a"), 0o750), (directory.clone(), 0o750), (file.clone(), 0o640)]
        {
            assert_eq!(mode(&path) & !most, 0, "{}: {:o}", path.display(), mode(&path));
        }
        fs::set_permissions(&directory, Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
        RealDisk.create_directory(&directory).unwrap();
        RealDisk.open(&file, Open::Write).unwrap();
        assert_eq!((mode(&directory), mode(&file)), (0o755, 0o666));
    }
}
