//! What cargo knows of the workspace and its dependencies.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::process;

/// The part of `cargo metadata` that the tasks read.
#[derive(Deserialize)]
pub(crate) struct Workspace {
    /// The directory of the root `Cargo.toml`.
    #[serde(rename = "workspace_root")]
    pub(crate) root: PathBuf,
    /// Where cargo builds.
    #[serde(rename = "target_directory")]
    pub(crate) target: PathBuf,
    /// The workspace's own packages, and their dependencies where they were asked for.
    pub(crate) packages: Vec<Package>,
}

/// One package.
#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Its licence expression, if it states one.
    pub(crate) license: Option<String>,
    /// Where it was fetched from; none for our own.
    pub(crate) source: Option<String>,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
}

/// One package as another asks for it.
#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `dev`, `build`, or none for a normal one.
    pub(crate) kind: Option<String>,
    /// Where it lies, if it lies in a directory.
    pub(crate) path: Option<PathBuf>,
}

impl Workspace {
    /// The workspace with its own packages alone; needs neither network nor lock file.
    pub(crate) fn load() -> Result<Self> {
        Self::from_metadata(&["--no-deps"])
    }

    /// The workspace with every package that any feature on any platform could bring in.
    pub(crate) fn load_with_dependencies() -> Result<Self> {
        Self::from_metadata(&["--locked", "--all-features"])
    }

    fn from_metadata(options: &[&str]) -> Result<Self> {
        let mut command = process::cargo();
        let json = process::output(command.args(["metadata", "--format-version", "1"]).args(options))?;
        serde_json::from_str(&json).context("cannot read what `cargo metadata` printed")
    }

    /// Where the tools of the tasks are kept.
    pub(crate) fn tools(&self) -> PathBuf {
        self.target.join("tools")
    }
}
