//! `utsushi takedown`: removes a page, a prefix or a server from the archive permanently, with a receipt (A7, D13).

use super::Context;
use super::destination::Unfinished;
use crate::exit::{Advised, Exit};
use crate::output::json_line;
use crate::words::{bytes, count_of};
use anyhow::Context as _;
use archive::{Takedown, Target};
use base::clock::{Clock as _, RealClock};
use base::printable;
use node::control::ControlRequest;
use node::takedown::TakedownReceipt;
use node::{LockOwner, Steering};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web takedown --url https://example.org/private.html
  utsushi --data ~/web takedown --prefix https://example.org/people/ --reason 'request of 2026-03-31' --yes
  utsushi --data ~/web takedown --server www.example.org --yes -o receipt.txt
  utsushi --data ~/web takedown --list";

/// Remove a page, a prefix or a server from the archive permanently, with a receipt
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    /// Reason, written to the receipt and to the archive
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
    /// Also write the receipt to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What to remove.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// Select this page
    #[arg(long, value_name = "URL", value_parser = Target::url)]
    url: Option<Target>,
    /// Select all pages whose URLs start with this
    #[arg(long, value_name = "URL", value_parser = Target::prefix)]
    prefix: Option<Target>,
    /// Select all pages of this server
    #[arg(long, value_name = "SERVER", value_parser = Target::server)]
    server: Option<Target>,
    /// List past takedowns with time and reason; remove nothing
    #[arg(long)]
    list: bool,
}

impl Which {
    fn target(&self) -> Option<&Target> {
        self.url.as_ref().or(self.prefix.as_ref()).or(self.server.as_ref())
    }
}

/// Lists past takedowns, oldest first.
fn list(context: &Context) -> anyhow::Result<Exit> {
    let (_, reader) = context.node.reader()?;
    let takedowns = reader.takedowns().context("cannot read the takedowns")?;
    for Takedown { id, at, target, reason } in &takedowns {
        let target = target.to_string();
        let told = json!({ "id": id, "at": at.to_rfc3339(), "target": target, "reason": reason });
        let because =
            if reason.is_empty() { String::new() } else { format!("  because {}", printable(reason)) };
        context.output.result(&told, || format!("{at}  {}{because}", printable(&target)));
    }
    if takedowns.is_empty() {
        context.output.note("nothing was taken down");
    }
    Ok(Exit::Done)
}

/// Removes the target, or lists what was removed.
pub(crate) async fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    match args.which.target() {
        Some(target) => take_down(args, target, context).await,
        None => list(context),
    }
}

async fn take_down(args: &Args, target: &Target, context: &Context) -> anyhow::Result<Exit> {
    confirm(args, target, context)?;
    let receipt = match Steering::crawling(&context.node)? {
        Some(owner) => ask_running(&owner, target, &args.reason, context).await?,
        None => {
            let clock = RealClock::start();
            let writer = context.node.lock_existing("takedown", clock.now())?;
            context.node.take_down(&writer, (target, &args.reason), clock.now())?
        }
    };
    context.output.result(&to_json(&receipt), || to_text(&receipt));
    if let Some(path) = &args.output {
        write_receipt(&receipt, path, context)?;
    }
    if let Some(failure) = &receipt.scans_incomplete {
        let what = "it is taken down, but a scan may still contain parts of it: run the command again when no scan is running";
        return Err(anyhow::anyhow!("{failure}").context(what));
    }
    if let Some(failure) = &receipt.stages_incomplete {
        let what = "it is taken down, but data derived from it may still contain parts of it: the next command that writes tries again";
        return Err(anyhow::anyhow!("{failure}").context(what));
    }
    let is_nothing = receipt.captures + receipt.scan_results + receipt.set_aside == 0;
    Ok(if is_nothing { Exit::Found } else { Exit::Done })
}

/// Sends the takedown to the process that crawls.
async fn ask_running(
    owner: &LockOwner,
    target: &Target,
    reason: &str,
    context: &Context,
) -> anyhow::Result<TakedownReceipt> {
    let request = ControlRequest::Takedown { target: target.to_string(), reason: reason.to_owned() };
    let _progress = context.output.progress("the running crawl performs the takedown", None);
    let mut receipt = Value::Null;
    let mut hear = |mut object: Value| receipt = object["receipt"].take();
    Steering::ask_running(&context.node, owner, &request, &mut hear).await?;
    serde_json::from_value(receipt).context("cannot understand the answer")
}

fn write_receipt(receipt: &TakedownReceipt, path: &Path, context: &Context) -> anyhow::Result<()> {
    let mut file = Unfinished::create(path)?;
    let text = if context.output.json() { json_line(&to_json(receipt))? } else { printable_text(receipt) };
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write `{}`", path.display()))?;
    file.finish()
}

/// Shows what would be removed, and asks for confirmation; an error unless the answer is yes.
fn confirm(args: &Args, target: &Target, context: &Context) -> anyhow::Result<()> {
    let preview = context.node.preview_takedown(target)?;
    let found = format!("{} of {}", count_of(preview.captures, "capture"), count_of(preview.pages, "page"));
    context.output.note(format!("{target}: {found} will be removed permanently and never archived again"));
    if args.yes {
        return Ok(());
    }
    let refuse = |why: &'static str, advice: &'static str| {
        Err(Advised::new("cannot take it down", advice, anyhow::anyhow!(why)).into())
    };
    if !std::io::stdin().is_terminal() {
        return refuse("there is no terminal to ask for confirmation", "add `--yes` if you are sure");
    }
    context.output.complaint("type `yes` to continue:");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("cannot read the answer")?;
    match answer.trim() {
        "yes" => Ok(()),
        _ => refuse("the answer was not `yes`", "nothing was removed"),
    }
}

fn to_json(receipt: &TakedownReceipt) -> Value {
    json!({ "receipt": receipt })
}

fn to_text(receipt: &TakedownReceipt) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_text(receipt, &mut text);
    text
}

fn write_text(receipt: &TakedownReceipt, text: &mut String) -> std::fmt::Result {
    let TakedownReceipt { id, target, reason, at, pages, captures, .. } = receipt;
    writeln!(text, "receipt         {id}")?;
    writeln!(text, "taken down      {target}")?;
    writeln!(text, "at              {at}")?;
    if !reason.is_empty() {
        writeln!(text, "because         {}", printable(reason))?;
    }
    let removed = format!("{} of {}", count_of(*captures, "capture"), count_of(*pages, "page"));
    writeln!(text, "removed         {removed}, {} of archive files overwritten", bytes(receipt.bytes))?;
    for (file, captures) in &receipt.files {
        writeln!(text, "                {file}: {}", count_of(*captures, "capture"))?;
    }
    for moved in &receipt.moved {
        let (url, at) = (printable(&moved.url), &moved.at);
        writeln!(
            text,
            "kept            {url} of {at}, which refers to its content, now in {} at {}",
            moved.file, moved.offset
        )?;
    }
    if receipt.scan_results + receipt.set_aside > 0 {
        let (results, aside) =
            (count_of(receipt.scan_results, "document"), count_of(receipt.set_aside, "document"));
        writeln!(text, "scans           {results} of unfinished ones, {aside} in quarantine")?;
    }
    writeln!(text, "from now on     never visited or imported again")?;
    writeln!(text, "not here        {}", receipt.out_of_reach)
}

fn printable_text(receipt: &TakedownReceipt) -> String {
    to_text(receipt).lines().map(|line| format!("{}\n", printable(line))).collect()
}
