//! What `bench warc` works on and compares with: pages from Debian's documentation, FastWARC and warcio in Python, and
//! the `fastwarc` crate, which is built from source: `workshop/peers-warc`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::process;
use crate::tools::{debian, python};
use crate::workspace::Workspace;

/// The benchmark.
pub(super) const BENCH: &str = "warc";

/// The Debian packages whose HTML is archived: two manuals of programs, a book in a dozen languages, and shorter ones,
/// some in Japanese.
pub(super) const PACKAGES: &[&str] = &[
    "python3-doc",
    "postgresql-doc",
    "debian-handbook",
    "debian-reference-ja",
    "developers-reference-ja",
    "maint-guide-ja",
    "debian-policy-ja",
    "harden-doc",
];

/// The variable that leads a benchmark to the pages.
pub(super) const PAGES_VARIABLE: &str = "UTSUSHI_PAGES";

/// Gets the pages and the peers, and passes their paths to `bench`. A missing peer is reported and left out.
pub(super) fn lead_to(workspace: &Workspace, bench: &mut Command) -> Result<()> {
    bench.env(PAGES_VARIABLE, pages(workspace)?);
    for (variable, peer) in
        [("UTSUSHI_PYTHON", python::python(workspace)), ("UTSUSHI_PEERS_WARC", build_fastwarc(workspace))]
    {
        match peer {
            Ok(program) => _ = bench.env(variable, program),
            Err(error) => eprintln!("a peer is not available, and the benchmark runs WITHOUT IT: {error:#}"),
        }
    }
    Ok(())
}

/// The directory that holds the pages.
pub(super) fn pages(workspace: &Workspace) -> Result<PathBuf> {
    Ok(debian::tree(workspace, "warc-pages", PACKAGES)?.join("usr/share"))
}

fn build_fastwarc(workspace: &Workspace) -> Result<PathBuf> {
    let target = workspace.target.join("peers-warc");
    let mut cargo = process::cargo();
    cargo.args(["build", "--release", "--locked"]).env("CARGO_TARGET_DIR", &target);
    process::must_succeed(cargo.current_dir(workspace.root.join("workshop/peers-warc")))?;
    Ok(target.join("release/peers-warc"))
}
