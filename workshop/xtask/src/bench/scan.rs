//! What `bench scan` works on and compares with: pages from Debian's documentation, and FastWARC and Resiliparse in
//! Python under GNU parallel.

use std::process::Command;

use anyhow::Result;

use super::warc;
use crate::tools::python;
use crate::workspace::Workspace;

/// The benchmark.
pub(super) const BENCH: &str = "scan";

/// Gets the pages and Python, and passes their paths to `bench`.
pub(super) fn lead_to(workspace: &Workspace, bench: &mut Command) -> Result<()> {
    bench.env(warc::PAGES_VARIABLE, warc::pages(workspace)?);
    bench.env("UTSUSHI_PYTHON", python::python_with_resiliparse(workspace)?);
    Ok(())
}
