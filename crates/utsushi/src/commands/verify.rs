//! `utsushi verify`: verifies every byte of the archive, or whether WARC files conform to the standard (A7).

mod files;
mod held;

use super::Context;
use crate::exit::Exit;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web verify
  utsushi verify crawl.warc.gz other.warc.zst
  utsushi --json verify crawl.warc.gz | jq -r 'select(.clause) | .what'";

/// Verify every byte of the archive, or whether WARC files conform to the standard
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// WARC files from any source: plain, gzip or zstandard; default: the archive of the data directory
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Verifies and reports the findings.
pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    if args.files.is_empty() { held::verify(context) } else { files::verify(&args.files, context) }
}
