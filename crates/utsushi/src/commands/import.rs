//! `utsushi import`: imports WARC, WACZ and ARC files of other archives, whatever their names.

mod words;

use super::Context;
use crate::exit::Exit;
use crate::signals;
use anyhow::Context as _;
use base::clock::{Clock as _, RealClock};
use node::control::ControlRequest;
use node::import::{ImportEvent, ImportSummary, Importer};
use node::{LockOwner, Steering, WebKind};
use serde_json::{Value, json};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web import old-crawl-*.warc.gz
  utsushi --data ~/web import collection.wacz 1999.arc.gz
  utsushi --data ~/web --json import crawl.warc.zst | jq -r 'select(.url) | .url'";

/// Import WARC, WACZ and ARC files from any source
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// WARC (plain, gzip or zstandard), WACZ and ARC files; the format is recognised by content
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// Imports all files.
pub(crate) async fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let importer = Importer::open(&args.files)?;
    let stop = signals::listen(&context.output).context("cannot listen for signals")?;
    let summary = match Steering::crawling(&context.node)? {
        Some(owner) => {
            drop(importer);
            tokio::select! {
                summary = ask_running(&owner, args, context) => summary?,
                () = stop.wait() => anyhow::bail!("the import was stopped; run the same command again to continue"),
            }
        }
        None => {
            let writer = context.node.lock(WebKind::Public, "import", RealClock::start().now())?;
            let should_stop = || stop.is_asked();
            let summary =
                importer.run(&context.node, &writer, &should_stop, &mut |event| tell(event, context))?;
            if !stop.is_asked() {
                context.node.catch_up_stages(&writer)?;
            }
            summary
        }
    };
    context.output.result(&json!({ "summary": summary }), || words::summary(&summary));
    Ok(if summary.is_whole() { Exit::Done } else { Exit::Found })
}

/// Sends the files to the process that crawls.
async fn ask_running(owner: &LockOwner, args: &Args, context: &Context) -> anyhow::Result<ImportSummary> {
    let files = node::import::absolute(&args.files).context("cannot find the current directory")?;
    let _progress = context.output.progress("the running crawl imports", None);
    let mut summary = Value::Null;
    let mut hear = |mut object: Value| match serde_json::from_value(object["import"].take()) {
        Ok(event) => tell(&event, context),
        Err(_) => summary = object["summary"].take(),
    };
    let request = ControlRequest::Import { files };
    Steering::ask_running(&context.node, owner, &request, &mut hear).await?;
    serde_json::from_value(summary).context("cannot understand the answer")
}

/// Prints a durable capture for programs, and records that cannot be imported for everyone.
fn tell(event: &ImportEvent, context: &Context) {
    let output = &context.output;
    match event {
        ImportEvent::Added { capture } if output.json() => output.object(capture),
        ImportEvent::Added { .. } => {}
        ImportEvent::MoreUnreported => output.complaint(words::event(event)),
        _ if output.json() => output.object(event),
        _ => output.complaint(words::event(event)),
    }
}
