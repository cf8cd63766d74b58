//! Files and directories that only their owner and group may read. The umask of the process may take more away.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// What a new file may be used for: its owner reads and writes, its group reads.
const FILE_MODE: u32 = 0o640;
/// The same for a new directory, which its group may also enter.
const DIRECTORY_MODE: u32 = 0o750;

/// Options under which a new file is private. What exists keeps its permissions.
#[must_use]
pub fn private_options() -> OpenOptions {
    let mut options = File::options();
    options.mode(FILE_MODE);
    options
}

/// Makes a private directory and its parents, if they do not exist. What exists keeps its permissions.
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
    fn what_is_made_is_private_and_what_exists_stays_as_it_is() {
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
