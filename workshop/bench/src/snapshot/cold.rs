//! Files that the page cache has forgotten, and the device that they lie on.

use anyhow::{Context, Result};
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::path::Path;

/// Makes the page cache forget the files below a directory. Other files of the machine stay cached.
pub(super) fn forget(directory: &Path) -> Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            forget(&path)?;
            continue;
        }
        let file = File::open(&path).with_context(|| format!("cannot open `{}`", path.display()))?;
        // Only what is on the disk can be forgotten.
        file.sync_all()?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
    }
    Ok(())
}

/// The device that holds a directory, as the list of mounts names it.
pub(super) fn device(directory: &Path) -> Result<String> {
    let whole = directory.canonicalize()?;
    let mounts = std::fs::read_to_string("/proc/self/mounts")?;
    let mount = |line: &str| -> Option<(usize, String)> {
        let mut words = line.split(' ');
        let (device, point, system) = (words.next()?, words.next()?, words.next()?);
        whole.starts_with(point).then(|| (point.len(), format!("{device} ({system}{})", turning(device))))
    };
    let found = mounts.lines().filter_map(mount).max_by_key(|(length, _)| *length);
    Ok(found.map_or_else(|| "unknown".to_owned(), |(_, device)| device))
}

/// What the kernel says of the device beneath.
fn turning(device: &str) -> String {
    let name = device.trim_start_matches("/dev/").trim_end_matches(|c: char| c.is_ascii_digit());
    let queue = |what: &str| std::fs::read_to_string(format!("/sys/block/{name}/queue/{what}")).ok();
    match queue("read_ahead_kb") {
        Some(ahead) => format!(", reads {} KiB ahead", ahead.trim()),
        None => String::new(),
    }
}
