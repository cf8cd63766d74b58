//! What `bench coverage` crawls: documentation packages of Debian as web sites.

use std::process::Command;

use anyhow::Result;

use crate::tools::debian;
use crate::workspace::Workspace;

/// The benchmark.
pub(super) const BENCH: &str = "coverage";

/// The packages that hold the sites, or depend on the documentation packages that do.
pub(super) const PACKAGES: &[&str] = &[
    "rust-doc",
    "lilypond-doc-html",
    "libreoffice-help-ja",
    "libboost-doc",
    "cppreference-doc-en-html",
    "python3-doc",
];

/// Unpacks the packages and passes their paths to `bench`.
pub(super) fn lead_to(workspace: &Workspace, bench: &mut Command) -> Result<()> {
    bench.env("UTSUSHI_SITES", debian::documentation(workspace, "coverage", PACKAGES)?);
    Ok(())
}
