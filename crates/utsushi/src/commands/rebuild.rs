//! `utsushi rebuild`: rebuilds data derived from the archive.

use super::Context;
use crate::exit::Exit;
use crate::words::count_of;
use clap::ValueEnum;
use serde_json::json;

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web rebuild index
  utsushi --data ~/web rebuild index --deep
  utsushi --data ~/web rebuild frontier
  utsushi --data ~/web rebuild derived";

/// Rebuild data derived from the archive
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to rebuild
    #[arg(value_name = "WHAT", default_value = "index")]
    what: What,
    /// Read every record instead of the checksums beside the archive files, and rebuild the checksums as well
    #[arg(long)]
    deep: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// The index of the archive
    Index,
    /// The schedule of the crawl: the states of all pages
    Frontier,
    /// Data read from the content of captures: language, title, type
    Derived,
}

/// Rebuilds the chosen data.
pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    match args.what {
        What::Index => rebuild_index(args.deep, context),
        What::Frontier => rebuild_frontier(context),
        What::Derived => rebuild_derived(context),
    }
}

fn rebuild_index(deep: bool, context: &Context) -> anyhow::Result<Exit> {
    let rebuilt = context.node.rebuild_index(deep)?;
    let (captures, bytes, damaged) = (rebuilt.captures, rebuilt.bytes, rebuilt.damaged);
    let object = json!({ "index": { "captures": captures, "bytes": bytes, "damaged": damaged } });
    context.output.result(&object, || {
        format!("the index is rebuilt: {}, {bytes} bytes", count_of(captures, "capture"))
    });
    Ok(exit(damaged))
}

fn rebuild_frontier(context: &Context) -> anyhow::Result<Exit> {
    let rebuilt = context.node.rebuild_schedule()?;
    let (pages, servers, damaged) = (rebuilt.pages, rebuilt.servers, rebuilt.damaged);
    let object = json!({ "frontier": { "pages": pages, "servers": servers, "damaged": damaged } });
    context.output.result(&object, || {
        format!("the schedule is rebuilt: {} on {}", count_of(pages, "page"), count_of(servers, "server"))
    });
    Ok(exit(damaged))
}

fn rebuild_derived(context: &Context) -> anyhow::Result<Exit> {
    let rebuilt = context.node.rebuild_derived()?;
    let (captures, damaged) = (rebuilt.captures, rebuilt.damaged);
    let object = json!({ "derived": { "captures": captures, "damaged": damaged } });
    context.output.result(&object, || {
        format!("languages, titles and types are rebuilt: {}", count_of(captures, "capture"))
    });
    Ok(exit(damaged))
}

/// Damage does not stop a rebuild; it is counted, and the exit code reports it (D17).
fn exit(damaged: u64) -> Exit {
    if damaged > 0 { Exit::Found } else { Exit::Done }
}
