//! `utsushi rebuild`: rebuilds data derived from the archive.

use super::Context;
use crate::exit::Exit;
use crate::words::count_of;
use clap::builder::{PossibleValue, PossibleValuesParser};
use node::stages::{self, RebuiltStage};
use serde_json::json;

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web rebuild index
  utsushi --data ~/web rebuild index --deep
  utsushi --data ~/web rebuild frontier
  utsushi --data ~/web rebuild derived
  utsushi --data ~/web rebuild links";

/// Rebuild data derived from the archive
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to rebuild
    #[arg(value_name = "WHAT", default_value = INDEX, value_parser = PossibleValuesParser::new(choices()))]
    what: String,
    /// Read every record instead of the checksums beside the archive files, and rebuild the checksums as well
    #[arg(long)]
    deep: bool,
}

const INDEX: &str = "index";

/// The index, and every stage.
fn choices() -> Vec<PossibleValue> {
    let stages = stages::ALL.iter().map(|stage| PossibleValue::new(stage.name()).help(stage.contents()));
    std::iter::once(PossibleValue::new(INDEX).help("The index of the archive")).chain(stages).collect()
}

/// Rebuilds the chosen data.
pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    match args.what.as_str() {
        INDEX => rebuild_index(args.deep, context),
        stage => rebuild_stage(stage, context),
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

fn rebuild_stage(stage: &str, context: &Context) -> anyhow::Result<Exit> {
    let RebuiltStage { captures, damaged, schedule } = context.node.rebuild(stage)?;
    let figures = match schedule {
        Some(size) => json!({ "pages": size.pages, "servers": size.servers, "damaged": damaged }),
        None => json!({ "captures": captures, "damaged": damaged }),
    };
    context.output.result(&json!({ stage: figures }), || match schedule {
        Some(size) => {
            let (pages, servers) = (count_of(size.pages, "page"), count_of(size.servers, "server"));
            format!("the schedule is rebuilt: {pages} on {servers}")
        }
        None if stage == "derived" => {
            format!("languages, titles and types are rebuilt: {}", count_of(captures, "capture"))
        }
        None => format!("`{stage}` is rebuilt: {}", count_of(captures, "capture")),
    });
    Ok(exit(damaged))
}

/// Damage does not stop a rebuild; it is counted, and the exit code reports it (D17).
fn exit(damaged: u64) -> Exit {
    if damaged > 0 { Exit::Found } else { Exit::Done }
}
