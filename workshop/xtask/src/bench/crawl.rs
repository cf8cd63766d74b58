//! What `bench crawl` works on and compares with: pages from Debian's documentation, the `spider` crate, and Scrapy with
//! warcio.

use std::process::Command;

use anyhow::Result;

use super::{fetch, warc};
use crate::tools::python;
use crate::workspace::Workspace;

/// The benchmark.
pub(super) const BENCH: &str = "crawl";

/// Gets the pages and the peers, and passes their paths to `bench`. A missing peer is reported and left out.
pub(super) fn lead_to(workspace: &Workspace, bench: &mut Command) -> Result<()> {
    bench.env(warc::PAGES_VARIABLE, warc::pages(workspace)?);
    for (variable, peer) in [
        ("UTSUSHI_PEERS_FETCH", fetch::build_spider(workspace)),
        ("UTSUSHI_PYTHON", python::python_with_scrapy(workspace)),
    ] {
        match peer {
            Ok(program) => _ = bench.env(variable, program),
            Err(error) => eprintln!("a peer is not available, and the benchmark runs WITHOUT IT: {error:#}"),
        }
    }
    Ok(())
}
