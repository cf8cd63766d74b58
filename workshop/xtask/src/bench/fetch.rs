//! What `bench fetch` works on and compares with: pages from Debian's documentation, and the `spider` crate, which is built
//! from source: `workshop/peers-fetch`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::warc;
use crate::process;
use crate::workspace::Workspace;

/// The benchmark.
pub(super) const BENCH: &str = "fetch";

/// Gets the pages and builds the peer, and passes their paths to `bench`. A missing peer is reported and left out.
pub(super) fn lead_to(workspace: &Workspace, bench: &mut Command) -> Result<()> {
    bench.env(warc::PAGES_VARIABLE, warc::pages(workspace)?);
    match build_spider(workspace) {
        Ok(program) => _ = bench.env("UTSUSHI_PEERS_FETCH", program),
        Err(error) => eprintln!("a peer is not available, and the benchmark runs WITHOUT IT: {error:#}"),
    }
    Ok(())
}

pub(super) fn build_spider(workspace: &Workspace) -> Result<PathBuf> {
    let target = workspace.target.join("peers-fetch");
    let mut cargo = process::cargo();
    cargo.args(["build", "--release", "--locked"]).env("CARGO_TARGET_DIR", &target);
    process::must_succeed(cargo.current_dir(workspace.root.join("workshop/peers-fetch")))?;
    Ok(target.join("release/peers-fetch"))
}
