//! Python programs that the tests compare ours with, in a virtual environment of their own.
//!
//! The environment is made once. Its stamp names what it holds and where it stands (it cannot be moved), and is
//! written last, so that one whose making was cut short is made again.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;
use crate::tools::{self, PYTHON};
use crate::workspace::Workspace;

/// What the environment holds.
pub(crate) const WANTED: &[&str] = &[
    "warcio==1.8.1",
    "fastwarc==1.1.0",
    // Plays WARC files back by our index.
    "pywb==2.10.0",
    // Checks packages.
    "wacz==0.6.0",
    // Read tables.
    "duckdb==2.0.0",
    "pyarrow==26.0.1",
    // Reads robots files.
    "protego==0.7.0",
];

/// The path of the `warcio` program, which is installed first if need be.
pub(crate) fn warcio(workspace: &Workspace) -> Result<PathBuf> {
    Ok(environment(workspace)?.join("bin/warcio"))
}

/// The path of the `fastwarc` program, which is installed first if need be.
pub(crate) fn fastwarc(workspace: &Workspace) -> Result<PathBuf> {
    Ok(environment(workspace)?.join("bin/fastwarc"))
}

/// The path of the Python that has them.
pub(crate) fn python(workspace: &Workspace) -> Result<PathBuf> {
    Ok(environment(workspace)?.join("bin/python"))
}

/// The directory of the environment, which is made first if need be.
fn environment(workspace: &Workspace) -> Result<PathBuf> {
    let tools = workspace.tools();
    fs::create_dir_all(&tools).with_context(|| format!("cannot make `{}`", tools.display()))?;
    let _one_at_a_time = lock(&tools.join("venv.lock"))?;
    let venv = tools.join("venv");
    if !is_ready(&venv, &venv.join("bin/warcio")) {
        make(&venv)?;
    }
    Ok(venv)
}

fn lock(path: &Path) -> Result<File> {
    let file = File::create(path).with_context(|| format!("cannot make `{}`", path.display()))?;
    file.lock().with_context(|| format!("cannot lock `{}`", path.display()))?;
    Ok(file)
}

/// Whether the environment is what is wanted, and its Python is still there.
fn is_ready(venv: &Path, program: &Path) -> bool {
    fs::read_to_string(stamp(venv)).is_ok_and(|text| text == stamp_text(venv))
        && process::answers(Command::new(program).arg("--version"))
}

fn make(venv: &Path) -> Result<()> {
    tools::ensure(&[&PYTHON])?;
    let python = (PYTHON.find)().context("there is no Python")?;
    process::must_succeed(Command::new(python).args(["-m", "venv", "--clear"]).arg(venv))?;
    let mut pip = Command::new(venv.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]).args(WANTED);
    process::must_succeed(&mut pip).context("cannot install from PyPI, which needs the network once")?;
    fs::write(stamp(venv), stamp_text(venv))
        .with_context(|| format!("cannot write into `{}`", venv.display()))
}

fn stamp(venv: &Path) -> PathBuf {
    venv.join("utsushi-stamp")
}

fn stamp_text(venv: &Path) -> String {
    format!("{}\n{}\n", venv.display(), WANTED.join("\n"))
}
