//! Where a scan is kept while it is not finished: in the data directory, so that a takedown finds it (D13).

use crate::commands::Context;
use crate::exit::Advised;
use anyhow::Context as _;
use base::ContentDigest;
use base::disk::create_private_directory;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The directory of the data directory that has one for each scan.
pub(crate) const SCANS: &str = "scans";

/// The directory of one scan.
///
/// That of a scan without a file as output is of use to nobody when the scan has ended, however it did: what is left of it goes
/// with this, but for documents that were set aside.
pub(super) struct Place {
    path: PathBuf,
    is_for_once: bool,
}

impl Place {
    /// The place of the scan that writes to `output`, the same each time; without one, a new place.
    pub(super) fn of(context: &Context, output: Option<&Path>) -> anyhow::Result<Self> {
        let scans = scans(context, output)?;
        sweep(&scans);
        let Some(output) = output.filter(|output| fs::metadata(output).map_or(true, |found| found.is_file()))
        else {
            let made = tempfile::Builder::new().prefix(FOR_ONCE).tempdir_in(&scans);
            let made = made.with_context(|| format!("cannot make a directory in `{}`", scans.display()))?;
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
    /// Whether a scan that is stopped can go on.
    pub(super) fn is_for_once(&self) -> bool {
        self.is_for_once
    }
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
    /// Removes what nobody will go on with; what was set aside stays.
    pub(super) fn forget(&self) {
        forget(&self.path);
    }
}

impl Drop for Place {
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

/// Removes what scans for once left that were killed: those whose process is no more.
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

/// What the name of a place for once begins with, and that of no other.
const FOR_ONCE: &str = "~scan-";

/// The directory for scans: in the data directory, or beside the output where that cannot be written to.
fn scans(context: &Context, output: Option<&Path>) -> anyhow::Result<PathBuf> {
    let inside = context.data.join(SCANS);
    let beside = context.spool(output).join("utsushi-scans");
    for place in [&inside, &beside] {
        if create_private_directory(place).is_ok()
            && rustix::fs::access(place, rustix::fs::Access::WRITE_OK).is_ok()
        {
            return Ok(place.clone());
        }
    }
    let why = anyhow::anyhow!("neither `{}` nor `{}` can be written to", inside.display(), beside.display());
    let advice = "name an output with `-o FILE` in a directory that can be written to";
    Err(Advised::new("cannot keep the scan anywhere", advice, why).into())
}
