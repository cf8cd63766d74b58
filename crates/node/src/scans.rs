//! Where a scan is stored until it is finished: in the data directory, so that a takedown finds it (D13); and which
//! documents it has.

mod documents;

pub use documents::{DocumentFinder, Wanted};

use crate::error::Error;
use crate::node::Node;
use base::ContentDigest;
use base::disk::create_private_directory;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The directory that has one directory for each scan.
pub const SCANS: &str = "scans";

/// The directory of one scan.
///
/// The directory of a scan without an output file is useless once the scan has ended. It is removed when this is dropped,
/// except for documents in quarantine.
#[derive(Debug)]
pub struct ScanDirectory {
    path: PathBuf,
    is_for_once: bool,
}

impl ScanDirectory {
    /// The directory of the scan that writes to `output`, the same each time; a new one without an output file.
    pub fn of(node: &Node, output: Option<&Path>) -> Result<Self, Error> {
        let scans = scans(node, output)?;
        sweep(&scans);
        let Some(output) = output.filter(|output| fs::metadata(output).map_or(true, |found| found.is_file()))
        else {
            let made = tempfile::Builder::new().prefix(FOR_ONCE).tempdir_in(&scans);
            let made = made.map_err(Error::io("create a directory in", &scans))?;
            return Ok(Self { path: TempDir::keep(made), is_for_once: true });
        };
        let whole = std::path::absolute(output).unwrap_or_else(|_| output.to_owned());
        let digest = ContentDigest::of(whole.as_os_str().as_bytes());
        let digits: String = digest.as_bytes().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        let name = output.file_name().unwrap_or_default().to_string_lossy();
        let name: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' })
            .take(60)
            .collect();
        Ok(Self { path: scans.join(format!("{name}-{digits}")), is_for_once: false })
    }
    /// Whether the scan has no output file and so cannot be resumed.
    #[must_use]
    pub fn is_for_once(&self) -> bool {
        self.is_for_once
    }
    /// The path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// Removes the scan; documents in quarantine stay.
    pub fn forget(&self) {
        forget(&self.path);
    }
}

impl Drop for ScanDirectory {
    fn drop(&mut self) {
        if self.is_for_once {
            self.forget();
        }
    }
}

fn forget(directory: &Path) {
    for name in ["job.json", "job.json.part", "documents", "documents.part", "journal", "lock"] {
        let _ = fs::remove_file(directory.join(name));
    }
    let _ = fs::remove_dir_all(directory.join("scratch"));
    let _ = fs::remove_dir(directory);
}

/// Removes what killed scans without an output file left behind: those whose process no longer exists.
fn sweep(scans: &Path) {
    for found in fs::read_dir(scans).into_iter().flatten().flatten() {
        let is_for_once = found.file_name().as_bytes().starts_with(FOR_ONCE.as_bytes());
        let owner = fs::read_to_string(found.path().join("lock")).unwrap_or_default();
        let owner = owner.trim().parse::<u32>().ok().filter(|_| is_for_once);
        if owner.is_some_and(|owner| !Path::new("/proc").join(owner.to_string()).exists()) {
            forget(&found.path());
        }
    }
}

/// The prefix of the names of directories of scans without an output file, and of no others.
const FOR_ONCE: &str = "~scan-";

/// The directory for scans: in the data directory, or beside the output where that cannot be written to.
fn scans(node: &Node, output: Option<&Path>) -> Result<PathBuf, Error> {
    let inside = node.data.join(SCANS);
    let beside = node.spool(output).join("utsushi-scans");
    for place in [&inside, &beside] {
        if create_private_directory(place).is_ok()
            && rustix::fs::access(place, rustix::fs::Access::WRITE_OK).is_ok()
        {
            return Ok(place.clone());
        }
    }
    Err(Error::NoScanDirectory { inside, beside })
}
