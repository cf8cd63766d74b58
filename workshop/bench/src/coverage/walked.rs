//! The independent list of reachable pages, made by a script and kept for the next run.

use super::sites::Site;
use crate::process::write_file;
use anyhow::{Context, Result, ensure};
use base::Sha1Digest;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

const WALKER: &str = include_str!("walker.py");

/// The targets of all pages that the walker reaches. The list of an earlier run is used again while the walker and the
/// packages are the same, unless `walk_again` says otherwise.
pub(super) fn pages(
    directory: &Path,
    tree: &Path,
    site: &Site,
    port: u16,
    walk_again: bool,
) -> Result<BTreeSet<String>> {
    let versions = std::fs::read_to_string(tree.join(".versions")).unwrap_or_default();
    let made_by = Sha1Digest::of(&[WALKER.as_bytes(), versions.as_bytes(), site.start.as_bytes()]);
    let list = directory.join(format!("reachable-{}-{made_by}", site.package).replace(':', "-"));
    let known = std::fs::read_to_string(&list).ok().filter(|_| !walk_again);
    let text = match known {
        Some(text) => text,
        None => {
            let text = walk(directory, &site.url(port))?;
            write_file(&list, text.as_bytes())?;
            text
        }
    };
    Ok(text.lines().map(str::to_owned).collect())
}

/// What the walker prints.
fn walk(directory: &Path, start: &str) -> Result<String> {
    let script = directory.join("walker.py");
    write_file(&script, WALKER.as_bytes())?;
    let mut command = Command::new("python3");
    command.arg(&script).arg(start).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().context("cannot start `python3`")?;
    ensure!(output.status.success(), "the walker ended with {}", output.status);
    let text = String::from_utf8(output.stdout).context("the walker printed something that is no text")?;
    ensure!(!text.is_empty(), "the walker reached nothing from `{start}`");
    Ok(text)
}
