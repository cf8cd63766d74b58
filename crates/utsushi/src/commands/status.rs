//! `utsushi status`: what a data directory contains, its current writer, and the state of its crawl.

mod figures;
mod svg;
mod visits;

use super::{Context, told};
use crate::exit::Exit;
use crate::words::{bytes, count_of, grouped};
use anyhow::Context as _;
use archive::Summary;
use base::Interval;
use figures::Numbers;
use node::Steering;
use node::control::ControlRequest;
use node::held_back;
use node::stages::StageView;
use node::views::{FailedPage, FiguresView, ScheduleView};
use node::{NodeStatus, WebKind};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  utsushi status
  utsushi --data ~/web status --json
  utsushi --data ~/web status --failed                pages that could not be fetched
  utsushi --data ~/web status --figures figures       draw how often pages change and servers get requests";

/// Maximum number of failed pages that are listed.
const FAILED_MAX: usize = 100_000;

/// Show what a data directory contains and the state of its crawl
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Draw the distributions of revisit intervals, change ratios and server intervals into this directory: SVG, JSON and CSV
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// List the pages whose last visit failed, with the reason and the next visit
    #[arg(long)]
    failed: bool,
}

/// Prints the contents of the directory.
pub(crate) async fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    if args.failed {
        return list_failed(context).await;
    }
    let status = match &args.figures {
        None => context.node.status().await?,
        Some(place) => {
            let (status, drawn) = context.node.status_with_figures().await?;
            draw(drawn, place, context)?;
            status
        }
    };
    context.output.result(&status.to_json(), || to_text(&status));
    Ok(Exit::Done)
}

/// Lists the pages whose last visit failed.
async fn list_failed(context: &Context) -> anyhow::Result<Exit> {
    let steering = Steering::find_to_read(&context.node).await?;
    let failed = steering.ask_for::<FailedPage>(ControlRequest::Failing { limit: FAILED_MAX }).await?;
    steering.close().await?;
    for page in &failed {
        let FailedPage { url, reason, failures, next_due, .. } = page;
        context
            .output
            .result(page, || format!("{url}  {reason}, {failures} in a row, next visit {next_due}"));
    }
    if failed.is_empty() {
        context.output.note("the last visit of every page succeeded");
    }
    Ok(Exit::Done)
}

/// Draws the figures into a directory.
fn draw(drawn: FiguresView, place: &Path, context: &Context) -> anyhow::Result<()> {
    let (_, reader) = context.node.reader()?;
    let visits = {
        let progress = context.output.progress("captures read", Some(reader.count()));
        let told = |count| progress.set(count, "");
        visits::count(&reader, &drawn.revisit_intervals, told).context("cannot count the visits")?
    };
    figures::write(&Numbers { drawn, visits, pause: context.node.config.crawl.pause }, place)?;
    context.output.note(format!("the figures are in `{}`", place.display()));
    Ok(())
}

/// The text for a clock of its own; the public web has that of the machine.
fn own_time(status: &NodeStatus) -> String {
    match (status.directory.format().web, status.archive.last) {
        (WebKind::Simulated | WebKind::Accelerated, Some(last)) => {
            format!(": all times, loads and delays are in its own time\nnow             {last}")
        }
        _ => String::new(),
    }
}

fn to_text(status: &NodeStatus) -> String {
    let (format, archive) = (status.directory.format(), &status.archive);
    let writer = status.owner.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
    let mut lines = vec![
        format!("data directory  {}", status.directory.path().display()),
        format!("format          {}, created {}", format.version, format.created),
        format!("web             {}{}", format.web, own_time(status)),
        format!("writer          {writer}"),
        format!("archive         {} files, {} bytes", archive.files, archive.bytes),
        format!("captures        {}", captures(archive)),
        format!("pages           {}", archive.pages),
    ];
    if let (Some(first), Some(last)) = (archive.first, archive.last) {
        lines.push(format!("from            {first}\nto              {last}"));
    }
    match &status.schedule {
        Some(schedule) => {
            let limits = (status.requests_per_day_max, status.bytes_per_day_max);
            lines.push(schedule_text(schedule, limits));
        }
        None => lines.push("schedule        none yet; `utsushi crawl` creates one".to_owned()),
    }
    lines.extend(status.stages.iter().map(stage_text));
    lines.join("\n")
}

/// How far a stage is behind the archive, and why.
fn stage_text(stage: &StageView) -> String {
    let lag = match stage.lag {
        Some(0) => "up to date".to_owned(),
        Some(lag) => {
            let more = if stage.lag_is_more { "more than " } else { "" };
            format!("{more}{} behind", count_of(lag, "capture"))
        }
        None => "unknown".to_owned(),
    };
    let paused = if stage.is_paused { ", paused while the disk is full" } else { "" };
    let waiting = if stage.is_running || stage.lag == Some(0) { "" } else { "; a running crawl updates it" };
    let failure =
        stage.failure.as_deref().map(|failure| format!("\n  failed        {}", base::printable(failure)));
    format!("{:<15} {lag}{paused}{waiting}{}", stage.stage, failure.unwrap_or_default())
}

fn schedule_text(told: &ScheduleView, (requests_max, bytes_max): (u64, u64)) -> String {
    let of = |most: u64, shown: String| if most > 0 { format!(" of {shown}") } else { String::new() };
    let (of_requests, of_bytes) = (of(requests_max, grouped(requests_max)), of(bytes_max, bytes(bytes_max)));
    let (new, queued) = (grouped(told.new), grouped(told.queued));
    let mut lines = vec![
        format!("known           {} on {}", count_of(told.pages, "page"), count_of(told.servers, "server")),
        format!("to be visited   {new} for the first time; {queued} queued for the next day"),
        load(told),
        format!(
            "today           {}{of_requests}, {} received{of_bytes}",
            count_of(told.requests_today, "request"),
            bytes(told.bytes_today)
        ),
    ];
    lines.extend(expected(told));
    lines.extend(held_back(told));
    lines.extend(overloaded(told));
    if told.failing > 0 {
        let pages = count_of(told.failing, "page");
        lines
            .push(format!("failed          {pages} at the last visit; `utsushi status --failed` lists them"));
    }
    if let Some(next) = &told.next {
        lines.push(format!("next            {next}"));
    }
    if told.paused {
        lines.push("paused          `utsushi resume` continues it".to_owned());
    }
    if told.network_down {
        lines.push("network         no server answers".to_owned());
    }
    lines.join("\n")
}

/// The load of the schedule and its expected freshness.
pub(crate) fn outlook_lines(told: &ScheduleView) -> Vec<String> {
    let lines =
        std::iter::once(load(told)).chain(expected(told)).chain(held_back(told)).chain(overloaded(told));
    lines.flat_map(|lines| lines.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn load(told: &ScheduleView) -> String {
    format!("load            {} per day", count_of(a_day(told.load), "request"))
}

fn held_back(told: &ScheduleView) -> Option<String> {
    let pages = count_of(held_back::total(&told.held_back), "page");
    let shown = crate::words::by_reason(&told.held_back);
    let line = format!("held back       {pages} ({shown}); `utsushi servers --held-back`");
    (!told.held_back.is_empty()).then_some(line)
}

fn overloaded(told: &ScheduleView) -> Option<String> {
    let (servers, dropped) = (count_of(told.overloaded, "server"), count_of(told.dropped, "page"));
    let why = "above their request limit";
    (told.overloaded > 0).then(|| format!("overloaded      {servers} {why}; {dropped} dropped"))
}

/// The expected freshness of pages. Pages that were never visited count as not fresh.
fn expected(told: &ScheduleView) -> Option<String> {
    let (all, visited) = (told.expected_freshness?, told.expected_freshness_visited.unwrap_or_default());
    let (all, visited, age) = (percent(all), percent(visited), Interval::from_seconds(told.expected_age?));
    let guess =
        if told.expected_is_guess == Some(true) { "\n  estimate      from few observations" } else { "" };
    Some(format!(
        "expected        {all} of live and unvisited pages are fresh ({})\n  of the live   {visited} are fresh; copies \
         are out of date by {age} on average{guess}",
        told.policy
    ))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn a_day(per_second: f64) -> u64 {
    (per_second * 86_400.0).round() as u64
}

/// Captures by how they are stored; references by reason.
fn captures(archive: &Summary) -> String {
    let kinds = [
        (archive.responses, "in full"),
        (archive.unchanged, "unchanged"),
        (
            archive.revisits - archive.unchanged,
            if archive.revisits - archive.unchanged == 1 { "duplicate" } else { "duplicates" },
        ),
        (archive.unanswered, "without an answer"),
        (archive.resources, "without an exchange"),
    ];
    let kinds = kinds.iter().filter(|(count, _)| *count > 0);
    let kinds: Vec<String> = kinds.map(|(count, what)| format!("{} {what}", grouped(*count))).collect();
    let others = told::others(archive.others);
    let colon = if kinds.is_empty() { "" } else { ": " };
    format!("{}{colon}{}{others}", grouped(archive.captures()), kinds.join(", "))
}
