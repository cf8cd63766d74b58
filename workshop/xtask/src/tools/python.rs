//! Python programs that the tests compare ours with, in their own virtual environment.
//!
//! An environment is made once. Its stamp names its contents and its path (it cannot be moved), and is written last, so
//! that an incomplete one is made again.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;
use crate::tools::{self, PYTHON};
use crate::workspace::Workspace;

/// What the environment of the tests holds.
pub(crate) const WANTED: &[&str] = &[
    "warcio==1.8.1",
    "fastwarc==1.1.0",
    // Replays WARC files with our index.
    "pywb==2.10.0",
    // Checks packages.
    "wacz==0.6.0",
    // Read tables.
    "duckdb==2.0.0",
    "pyarrow==26.0.1",
    // Reads robots files.
    "protego==0.7.0",
    // Checks documents against their schema.
    "lxml==6.1.3",
    // Reads annotations.
    "rhoknp==1.8.2",
];
/// What the environment of the crawler that ours is compared with holds.
pub(crate) const WANTED_TO_CRAWL: &[&str] = &["Scrapy==2.19.0", "warcio==1.8.1"];

/// What the environment of the analyses that ours are compared with holds.
pub(crate) const WANTED_TO_SCAN: &[&str] = &["fastwarc==1.1.0", "resiliparse==1.1.0", "warcio==1.8.1"];

/// The path of the `warcio` program, which is installed first if need be.
pub(crate) fn warcio(workspace: &Workspace) -> Result<PathBuf> {
    Ok(environment(workspace, "venv", WANTED)?.join("bin/warcio"))
}

/// The path of the `fastwarc` program, which is installed first if need be.
pub(crate) fn fastwarc(workspace: &Workspace) -> Result<PathBuf> {
    Ok(environment(workspace, "venv", WANTED)?.join("bin/fastwarc"))
}

/// The path of the Python that has them.
pub(crate) fn python(workspace: &Workspace) -> Result<PathBuf> {
    Ok(environment(workspace, "venv", WANTED)?.join("bin/python"))
}

/// The path of the Python that has Scrapy and warcio.
pub(crate) fn python_with_scrapy(workspace: &Workspace) -> Result<PathBuf> {
    Ok(environment(workspace, "venv-crawl", WANTED_TO_CRAWL)?.join("bin/python"))
}

/// The path of the Python that has FastWARC and Resiliparse.
pub(crate) fn python_with_resiliparse(workspace: &Workspace) -> Result<PathBuf> {
    Ok(environment(workspace, "venv-scan", WANTED_TO_SCAN)?.join("bin/python"))
}

/// The directory of an environment, which is made first if need be.
fn environment(workspace: &Workspace, name: &str, wanted: &[&str]) -> Result<PathBuf> {
    let tools = workspace.tools();
    fs::create_dir_all(&tools).with_context(|| format!("cannot make `{}`", tools.display()))?;
    let _one_at_a_time = lock(&tools.join(format!("{name}.lock")))?;
    let venv = tools.join(name);
    if !is_ready(&venv, wanted) {
        make(&venv, wanted)?;
    }
    Ok(venv)
}

fn lock(path: &Path) -> Result<File> {
    let file = File::create(path).with_context(|| format!("cannot make `{}`", path.display()))?;
    file.lock().with_context(|| format!("cannot lock `{}`", path.display()))?;
    Ok(file)
}

/// Whether the environment is as wanted, and its Python still exists.
fn is_ready(venv: &Path, wanted: &[&str]) -> bool {
    fs::read_to_string(stamp(venv)).is_ok_and(|text| text == stamp_text(venv, wanted))
        && process::answers(Command::new(venv.join("bin/warcio")).arg("--version"))
}

fn make(venv: &Path, wanted: &[&str]) -> Result<()> {
    tools::ensure(&[&PYTHON])?;
    let python = (PYTHON.find)().context("there is no Python")?;
    process::must_succeed(Command::new(python).args(["-m", "venv", "--clear"]).arg(venv))?;
    let mut pip = Command::new(venv.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]).args(wanted);
    process::must_succeed(&mut pip).context("cannot install from PyPI, which needs the network once")?;
    fs::write(stamp(venv), stamp_text(venv, wanted))
        .with_context(|| format!("cannot write into `{}`", venv.display()))
}

fn stamp(venv: &Path) -> PathBuf {
    venv.join("utsushi-stamp")
}

fn stamp_text(venv: &Path, wanted: &[&str]) -> String {
    format!("{}\n{}\n", venv.display(), wanted.join("\n"))
}
