//! `utsushi rebuild`: makes anew what is learned from the archive.

use super::Context;
use crate::exit::Exit;
use crate::words::count_of;
use anyhow::Context as _;
use archive::Reader;
use base::clock::{Clock as _, RealClock};
use base::disk::{Disk, RealDisk};
use clap::ValueEnum;
use serde_json::json;
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web rebuild index
  utsushi --data ~/web rebuild index --deep";

/// Make anew what is learned from the archive
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to make anew
    #[arg(value_name = "WHAT", default_value = "index")]
    what: What,
    /// Read every record, also where the sums beside the archive files say what they hold; the sums are made anew, too
    #[arg(long)]
    deep: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// The index of the archive
    Index,
}

/// Makes it anew.
pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    match args.what {
        What::Index => rebuild_index(args.deep, context),
    }
}

fn rebuild_index(deep: bool, context: &Context) -> anyhow::Result<Exit> {
    let writer = context.lock_existing("rebuild", RealClock::start().now())?;
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let recovery = {
        let progress = context.output.progress("reading archive files", None);
        let mut told = |done: u64, total: u64| progress.set(done, &format!("of {total}"));
        let rebuilt = archive::rebuild_index(&disk, &writer.archive_path(), deep, &mut told);
        rebuilt.context("cannot make the index anew")?
    };
    context.tell_recovery(&recovery);
    let reader = Reader::open(disk, &writer.archive_path()).context("cannot read the new index")?;
    let (captures, bytes) = (reader.count(), reader.index_bytes());
    let damaged: usize = recovery.files.iter().map(|file| file.damaged_offsets.len()).sum();
    let told = json!({ "index": { "captures": captures, "bytes": bytes, "damaged": damaged } });
    context.output.result(&told, || {
        format!("the index is made anew: {}, {bytes} bytes", count_of(captures, "capture"))
    });
    Ok(if damaged > 0 { Exit::Found } else { Exit::Done })
}
