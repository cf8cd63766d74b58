//! `utsushi rebuild`: makes anew what is learned from the archive.

use super::Context;
use crate::exit::Exit;
use crate::node::schedule;
use crate::words::count_of;
use anyhow::Context as _;
use archive::Reader;
use base::clock::{Clock as _, RealClock};
use base::disk::{Disk, RealDisk};
use clap::ValueEnum;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web rebuild index
  utsushi --data ~/web rebuild index --deep
  utsushi --data ~/web rebuild frontier
  utsushi --data ~/web rebuild derived";

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
    /// The schedule of the crawl: the states of all pages
    Frontier,
    /// What is known of captures only after reading them: language, title, type
    Derived,
}

/// Makes it anew.
pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    match args.what {
        What::Index => rebuild_index(args.deep, context),
        What::Frontier => rebuild_frontier(context),
        What::Derived => rebuild_derived(context),
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
    let damaged = recovery.damaged();
    let told = json!({ "index": { "captures": captures, "bytes": bytes, "damaged": damaged } });
    context
        .output
        .result(&told, || format!("the index is rebuilt: {}, {bytes} bytes", count_of(captures, "capture")));
    Ok(exit(damaged))
}

/// Where the new schedule grows until it is whole.
const UNFINISHED: &str = "frontier.tmp";

fn rebuild_frontier(context: &Context) -> anyhow::Result<Exit> {
    let writer = context.lock_existing("rebuild", RealClock::start().now())?;
    let archive = context.archive(&writer, RealClock::start().now())?;
    let reader =
        Reader::open(Arc::new(RealDisk), &writer.archive_path()).context("cannot read the archive")?;
    let data = writer.directory().path();
    let (unfinished, place) = (data.join(UNFINISHED), data.join(::crawl::FRONTIER));
    let clear = |path: &Path| match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove `{}`", path.display()))
        }
        _ => Ok(()),
    };
    clear(&unfinished)?;
    // From nothing, so that what was added becomes known in its turn.
    let parts = (
        schedule::settings(&context.config, writer.directory())?,
        schedule::policy(&context.config, writer.directory().format().web),
    );
    let reads = schedule::reads(&context.config, writer.directory().format().web);
    let store = context.open_store(&unfinished)?;
    let now = context.clock(writer.directory(), &reader, &store, 1)?.now();
    let taken_down = archive.taken_down().cloned().collect();
    let (frontier, learning) = context.learn((store, None), (taken_down, &reader), parts, &reads, now)?;
    context.tell_learned(&learning);
    let (pages, servers) = (frontier.pages(), frontier.overview().servers);
    frontier.close(now).context("cannot write the schedule")?;
    clear(&place)?;
    RealDisk
        .rename(&unfinished.join(::crawl::FRONTIER), &place)
        .context("cannot put the schedule in its place")?;
    RealDisk.sync_directory(data).context("cannot put the schedule in its place")?;
    clear(&unfinished)?;
    archive.close().context("the schedule is made anew, but the archive could not be closed in order")?;
    let damaged = learning.damaged;
    let told = json!({ "frontier": { "pages": pages, "servers": servers, "damaged": damaged } });
    context.output.result(&told, || {
        format!("the schedule is rebuilt: {} on {}", count_of(pages, "page"), count_of(servers, "server"))
    });
    Ok(exit(damaged))
}

fn rebuild_derived(context: &Context) -> anyhow::Result<Exit> {
    let writer = context.lock_existing("rebuild", RealClock::start().now())?;
    let (disk, path): (Arc<dyn Disk>, _) = (Arc::new(RealDisk), writer.archive_path());
    let reader = Reader::open(Arc::clone(&disk), &path).context("cannot read the archive")?;
    let mut table = ::crawl::DerivedStage::open(disk, &path).context("cannot note down what is read")?;
    let learning = {
        let progress = context.output.progress("captures read", None);
        let told = |learning: &::crawl::Progress| progress.set(learning.captures, "");
        let reads = schedule::reads(&context.config, writer.directory().format().web);
        ::crawl::rebuild_derived(&mut table, &reader, &reads, told).context("cannot read the archive")?
    };
    let told = json!({ "derived": { "captures": learning.captures, "damaged": learning.damaged } });
    context.output.result(&told, || {
        format!("languages, titles and types are noted anew: {}", count_of(learning.captures, "capture"))
    });
    Ok(exit(learning.damaged))
}

/// Damage stops no rebuild; it is counted, and the exit code says that there was some (D17).
fn exit(damaged: u64) -> Exit {
    if damaged > 0 { Exit::Found } else { Exit::Done }
}
