//! `utsushi takedown`: removes a page, a prefix or a server from the archive for good, with a receipt (A7, D13).

use super::Context;
use super::destination::Unfinished;
use super::scan::SCANS;
use crate::exit::{Advised, Exit};
use crate::node::directory::Writer;
use crate::output::json_line;
use crate::words::{bytes, count_of};
use anyhow::Context as _;
use archive::{Archive, Key, Receipt, Takedown, Target};
use base::clock::{Clock as _, RealClock};
use base::printable;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web takedown --url https://example.org/private.html
  utsushi --data ~/web takedown --prefix https://example.org/people/ --reason 'request of 2026-03-31' --yes
  utsushi --data ~/web takedown --server www.example.org --yes -o receipt.txt
  utsushi --data ~/web takedown --list";

/// Remove a page, a prefix or a server from the archive for good, with a receipt
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    /// Why; it stands in the receipt and in the archive
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Write the receipt to this file, too
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What is to go.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// This page
    #[arg(long, value_name = "URL", value_parser = Target::url)]
    url: Option<Target>,
    /// All pages whose URLs begin so
    #[arg(long, value_name = "URL", value_parser = Target::prefix)]
    prefix: Option<Target>,
    /// All pages of this server
    #[arg(long, value_name = "SERVER", value_parser = Target::server)]
    server: Option<Target>,
    /// Nothing: list what was taken down, when and why
    #[arg(long)]
    list: bool,
}

impl Which {
    fn target(&self) -> Option<&Target> {
        self.url.as_ref().or(self.prefix.as_ref()).or(self.server.as_ref())
    }
}

/// Lists what was taken down, oldest first.
fn list(context: &Context) -> anyhow::Result<Exit> {
    let (_, reader) = context.reader()?;
    let takedowns = reader.takedowns().context("cannot read what was taken down")?;
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

/// Removes it, or lists what was removed.
pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    match args.which.target() {
        Some(target) => take_down(args, target, context),
        None => list(context),
    }
}

fn take_down(args: &Args, target: &Target, context: &Context) -> anyhow::Result<Exit> {
    let clock = RealClock::start();
    let writer = context.lock_existing("takedown", clock.now())?;
    let mut archive = context.archive(&writer, clock.now())?;
    confirm(args, &mut archive, target, context)?;
    // First what nobody would finish if this were cut off, and at the end what a scan has found meanwhile.
    let (mut scans, _) = remove_from_scans(&writer, target);
    let receipt = {
        let progress = context.output.progress("files written anew", None);
        let mut told = |done: u64, total: u64| progress.set(done, &format!("of {total}"));
        archive.takedown(target, &args.reason, clock.now(), &mut told).context("cannot take it down")?
    };
    archive.close().context("it is taken down, but the archive could not be closed in order")?;
    let (more, failure) = remove_from_scans(&writer, target);
    scans.add(&more);
    let (receipt, scans) = (&receipt, &scans);
    context.output.result(&to_json(receipt, scans), || to_text(receipt, scans));
    if let Some(path) = &args.output {
        let mut file = Unfinished::create(path)?;
        let text = if context.output.json() {
            json_line(&to_json(receipt, scans))?
        } else {
            printable_text(receipt, scans)
        };
        file.write_all(text.as_bytes()).with_context(|| format!("cannot write `{}`", path.display()))?;
        file.finish()?;
    }
    if let Some(failure) = failure {
        let what = "it is taken down, but a scan may still hold some of it: give the command again when no scan runs";
        return Err(failure.context(what));
    }
    let is_nothing = receipt.captures + scans.results + scans.set_aside == 0;
    Ok(if is_nothing { Exit::Found } else { Exit::Done })
}

/// What scans held of it: results of unfinished ones, and documents that were set aside.
#[derive(Debug, Default)]
struct FromScans {
    results: u64,
    set_aside: u64,
}

impl FromScans {
    fn add(&mut self, more: &Self) {
        self.results += more.results;
        self.set_aside += more.set_aside;
    }
}

/// Goes through all of them, whatever one of them says, and tells the first failure.
fn remove_from_scans(writer: &Writer, target: &Target) -> (FromScans, Option<anyhow::Error>) {
    let (mut removed, mut failure) = (FromScans::default(), None);
    let directory = writer.directory().path().join(SCANS);
    let found = match std::fs::read_dir(&directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return (removed, None),
        Err(error) => {
            let what = format!("cannot list `{}`", directory.display());
            return (removed, Some(anyhow::Error::new(error).context(what)));
        }
        Ok(found) => found,
    };
    for scan in found {
        let removing = scan.map_err(anyhow::Error::new).and_then(|scan| {
            let is_scan = scan.file_type()?.is_dir();
            let kept = is_scan.then(|| ::scan::StoredJob::at(&scan.path()));
            let removing = kept.map(|kept| kept.remove(|url| target.holds(&Key::of(url))));
            Ok(removing.transpose()?.unwrap_or_default())
        });
        match removing {
            Ok((results, set_aside)) => removed.add(&FromScans { results, set_aside }),
            Err(error) => drop(failure.get_or_insert(error)),
        }
    }
    (removed, failure)
}

/// Says what would be removed, and asks; an error unless the answer is yes.
fn confirm(args: &Args, archive: &mut Archive, target: &Target, context: &Context) -> anyhow::Result<()> {
    let (pages, captures) =
        archive.would_take_down(target).context("cannot find out what would be removed")?;
    let found = format!("{} of {}", count_of(captures, "capture"), count_of(pages, "page"));
    context
        .output
        .note(format!("{target}: {found} will be removed for good, and none will be archived again"));
    if args.yes {
        return Ok(());
    }
    let refuse = |why: &'static str, advice: &'static str| {
        Err(Advised::new("cannot take it down", advice, anyhow::anyhow!(why)).into())
    };
    if !std::io::stdin().is_terminal() {
        return refuse("nobody is there to be asked", "add `--yes` if you are sure");
    }
    context.output.complaint("type `yes` to go on:");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("cannot read the answer")?;
    match answer.trim() {
        "yes" => Ok(()),
        _ => refuse("the answer was not `yes`", "nothing was removed"),
    }
}

/// What no program can see to.
const OUT_OF_REACH: &str = "files that were exported or copied elsewhere, results of scans among them, are out of reach: remove it from those, too";

fn to_json(receipt: &Receipt, scans: &FromScans) -> Value {
    let moved = |entry: &archive::Entry| json!({ "url": entry.url, "at": entry.at.to_rfc3339(), "file": &*entry.location.file, "offset": entry.location.offset });
    let files = receipt.files.iter().map(|(file, groups)| (file.to_string(), Value::from(*groups)));
    json!({ "receipt": {
        "id": receipt.id,
        "target": receipt.target,
        "reason": receipt.reason,
        "at": receipt.at.to_rfc3339(),
        "pages": receipt.pages,
        "captures": receipt.captures,
        "bytes": receipt.bytes,
        "files": files.collect::<serde_json::Map<_, _>>(),
        "moved": receipt.moved.iter().map(moved).collect::<Vec<_>>(),
        "scan_results": scans.results,
        "set_aside": scans.set_aside,
        "out_of_reach": OUT_OF_REACH,
    }})
}

fn to_text(receipt: &Receipt, scans: &FromScans) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_text(receipt, scans, &mut text);
    text
}

fn write_text(receipt: &Receipt, scans: &FromScans, text: &mut String) -> std::fmt::Result {
    let Receipt { id, target, reason, at, pages, captures, .. } = receipt;
    writeln!(text, "receipt         {id}")?;
    writeln!(text, "taken down      {target}")?;
    writeln!(text, "at              {at}")?;
    if !reason.is_empty() {
        writeln!(text, "because         {}", printable(reason))?;
    }
    let removed = format!("{} of {}", count_of(*captures, "capture"), count_of(*pages, "page"));
    writeln!(text, "removed         {removed}, {} of archive files overwritten", bytes(receipt.bytes))?;
    for (file, groups) in &receipt.files {
        writeln!(text, "                {file}: {}", count_of(*groups, "capture"))?;
    }
    for entry in &receipt.moved {
        let (url, file, offset) = (printable(&entry.url), &entry.location.file, entry.location.offset);
        writeln!(
            text,
            "kept            {url} of {}, whose bytes it held, now in {file} at {offset}",
            entry.at
        )?;
    }
    if scans.results + scans.set_aside > 0 {
        let (results, aside) = (count_of(scans.results, "document"), count_of(scans.set_aside, "document"));
        writeln!(text, "scans           {results} of unfinished ones, {aside} that were set aside")?;
    }
    writeln!(text, "from now on     it is neither visited nor imported again")?;
    writeln!(text, "not here        {OUT_OF_REACH}")
}

fn printable_text(receipt: &Receipt, scans: &FromScans) -> String {
    to_text(receipt, scans).lines().map(|line| format!("{}\n", printable(line))).collect()
}
