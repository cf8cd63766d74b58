//! Where programs get their scratch directories.
//!
//! That is in the directory of the scan. A program started by root runs as another user, for which the data directory may be
//! closed: then it is in the directory for temporary files that outlive a restart, which is on a disk.
//!
//! **Invariant:** what a scan that was killed left there is removed by the next one.

use rustix::process::geteuid;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

const PREFIX: &str = "utsushi-scan-";
/// Others may pass through a directory to what is theirs below it, and see nothing else.
const PASSAGE: u32 = 0o711;

/// A directory in which scratch directories can be made for another user; `wanted`, if it will do.
pub(crate) fn make(wanted: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(wanted)?;
    if !geteuid().is_root() {
        return Ok(wanted.to_owned());
    }
    if is_passable(wanted)? {
        fs::set_permissions(wanted, fs::Permissions::from_mode(PASSAGE))?;
        return Ok(wanted.to_owned());
    }
    let _ = fs::remove_dir(wanted);
    let temporary = base();
    sweep(&temporary);
    let made = temporary.join(format!("{PREFIX}{}", std::process::id()));
    let _ = fs::remove_dir_all(&made);
    fs::DirBuilder::new().mode(0o700).create(&made)?;
    fs::set_permissions(&made, fs::Permissions::from_mode(PASSAGE))?;
    Ok(made)
}

fn base() -> PathBuf {
    let temporary = PathBuf::from("/var/tmp");
    if temporary.is_dir() { temporary } else { std::env::temp_dir() }
}

/// Whether everyone may pass through the directories above this one.
fn is_passable(path: &Path) -> io::Result<bool> {
    let whole = path.canonicalize()?;
    let mut above = whole.ancestors().skip(1);
    Ok(above.all(|directory| fs::metadata(directory).is_ok_and(|found| found.mode() & 0o001 != 0)))
}

/// Removes what scans left that were killed: those of our user whose process is no more.
fn sweep(temporary: &Path) {
    for found in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let name = found.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
        let is_ours = found.metadata().is_ok_and(|about| about.is_dir() && about.uid() == geteuid().as_raw());
        if is_ours && owner.is_some_and(|owner| !Path::new("/proc").join(owner.to_string()).exists()) {
            let _ = fs::remove_dir_all(found.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_others_cannot_pass_is_not_taken_for_root() {
        let place = tempfile::tempdir().unwrap();
        let wanted = place.path().join("scratch");
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let closed = make(&wanted).unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(make(&wanted).unwrap(), wanted);
        assert_eq!(closed == wanted, !geteuid().is_root());
        let _ = fs::remove_dir_all(closed);
    }

    #[test]
    fn what_a_killed_scan_left_is_removed_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let names =
            [format!("{PREFIX}4194999"), format!("{PREFIX}{}", std::process::id()), "mine".to_owned()];
        for name in &names {
            fs::create_dir_all(place.path().join(name).join("inside")).unwrap();
        }
        sweep(place.path());
        let left: Vec<bool> = names.iter().map(|name| place.path().join(name).exists()).collect();
        assert_eq!(left, [false, true, true]);
    }
}
