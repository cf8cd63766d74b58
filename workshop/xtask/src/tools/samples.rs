//! Archives and robots files that others wrote, for the tests that read them: those that come with the source packages
//! of peers.
//!
//! Like the environment of Python they are fetched once, and a stamp that is written last names them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;
use crate::workspace::Workspace;

/// Source packages that hold archives, and 4,231 robots files of the web.
pub(crate) const WANTED: &[&str] = &["pywb==2.10.0", "Warcat==2.2.5", "protego==0.7.0"];

/// The directory that holds the unpacked packages, which are fetched by `python` first if need be.
pub(crate) fn samples(workspace: &Workspace, python: &Path) -> Result<PathBuf> {
    let directory = workspace.tools().join("samples");
    let stamp = directory.join("utsushi-stamp");
    if fs::read_to_string(&stamp).is_ok_and(|text| text == WANTED.join("\n")) {
        return Ok(directory);
    }
    let packages = directory.join("packages");
    fs::create_dir_all(&packages).with_context(|| format!("cannot make `{}`", packages.display()))?;
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check", "--no-deps"]);
    pip.args(["--no-binary", ":all:", "--dest"]).arg(&packages).args(WANTED);
    process::must_succeed(&mut pip).context("cannot fetch from PyPI, which needs the network once")?;
    for package in fs::read_dir(&packages).with_context(|| format!("cannot read `{}`", packages.display()))? {
        let mut unpack = Command::new(python);
        unpack.args(["-m", "tarfile", "--extract"]).arg(package?.path()).arg(&directory);
        process::must_succeed(&mut unpack)?;
    }
    fs::write(&stamp, WANTED.join("\n")).with_context(|| format!("cannot write `{}`", stamp.display()))?;
    Ok(directory)
}
