//! Where a scan is kept while it is not finished: in the data directory, so that a takedown finds it (D13).

use crate::commands::Context;
use crate::exit::Advised;
use anyhow::Context as _;
use base::ContentDigest;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The directory of the data directory that has one for each scan.
pub(crate) const SCANS: &str = "scans";

/// The directory of one scan.
pub(super) struct Place {
    path: PathBuf,
}

impl Place {
    /// The place of the scan that writes to `output`, the same each time; without one, a new place.
    pub(super) fn of(context: &Context, output: Option<&Path>) -> anyhow::Result<Self> {
        let scans = scans(context, output)?;
        let Some(output) = output.filter(|output| fs::metadata(output).map_or(true, |found| found.is_file()))
        else {
            let made = tempfile::Builder::new().prefix("scan-").tempdir_in(&scans);
            let made = made.with_context(|| format!("cannot make a directory in `{}`", scans.display()))?;
            return Ok(Self { path: TempDir::keep(made) });
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
        Ok(Self { path: scans.join(format!("{name}-{digits}")) })
    }
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
    /// Removes what nobody will go on with; what was set aside stays.
    pub(super) fn forget(&self) {
        for name in ["job.json", "job.json.part", "documents", "documents.part", "journal", "lock"] {
            let _ = fs::remove_file(self.path.join(name));
        }
        let _ = fs::remove_dir_all(self.path.join("scratch"));
        let _ = fs::remove_dir(&self.path);
    }
}

/// The directory for scans: in the data directory, or beside the output where that cannot be written to.
fn scans(context: &Context, output: Option<&Path>) -> anyhow::Result<PathBuf> {
    let inside = context.data.join(SCANS);
    let beside = context.spool(output).join("utsushi-scans");
    for place in [&inside, &beside] {
        if fs::create_dir_all(place).is_ok()
            && rustix::fs::access(place, rustix::fs::Access::WRITE_OK).is_ok()
        {
            return Ok(place.clone());
        }
    }
    let why = anyhow::anyhow!("neither `{}` nor `{}` can be written to", inside.display(), beside.display());
    let advice = "name an output with `-o FILE` in a directory that can be written to";
    Err(Advised::new("cannot keep the scan anywhere", advice, why).into())
}
