//! `utsushi status`: what a data directory contains, its current writer, and the state of its crawl.

mod figures;
mod svg;
mod visits;

use super::{Context, told};
use crate::exit::{Advised, Exit};
use crate::words::{bytes, count_of, grouped};
use anyhow::Context as _;
use archive::{Reader, Summary};
use base::disk::RealDisk;
use base::{Interval, Timestamp};
use figures::Numbers;
use node::Steering;
use node::control::ControlRequest;
use node::directory::{DataDirectory, LockOwner, WebKind};
use node::held_back;
use node::stages::StageView;
use node::views::{FailedPage, FiguresView, ScheduleView};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    let mut held = Held::read(context)?;
    let steering = steering(&held, context, args.figures.is_some()).await?;
    if let Some(steering) = steering {
        let asked = steering.ask_for::<ScheduleView>(ControlRequest::Status {}).await;
        held.schedule = match asked {
            Ok(mut told) => told.pop(),
            // The writer may be importing.
            Err(error) if args.figures.is_none() => {
                let error = anyhow::Error::from(error);
                context.output.note(format!("the schedule cannot be read now: {error:#}"));
                None
            }
            Err(error) => return Err(error.into()),
        };
        held.stages = steering.ask_for::<StageView>(ControlRequest::Stages {}).await.unwrap_or_default();
        if let Some(place) = &args.figures {
            let drawn =
                steering.ask_for::<FiguresView>(ControlRequest::Figures {}).await?.pop().unwrap_or_default();
            draw(drawn, place, context)?;
        }
        steering.close().await?;
    }
    if held.stages.is_empty() {
        held.stages = context.node.stage_views()?;
    }
    context.output.result(&held.to_json(), || held.to_text());
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

/// Access to the schedule, if there is one.
async fn steering(held: &Held, context: &Context, is_needed: bool) -> anyhow::Result<Option<Steering>> {
    let is_there = held.directory.path().join(::crawl::FRONTIER).is_dir();
    let is_empty = held.archive.captures() == 0;
    if !is_there && is_empty && is_needed {
        let why = anyhow::anyhow!("nothing has been crawled yet");
        return Err(Advised::new("cannot draw figures", "start with `utsushi crawl URL`", why).into());
    }
    // For figures a schedule is built from imported captures.
    if !is_there && !is_needed {
        return Ok(None);
    }
    match Steering::find_to_read(&context.node).await {
        Ok(steering) => Ok(Some(steering)),
        Err(error) if !is_needed => {
            let error = anyhow::Error::from(error);
            context.output.note(format!("the schedule cannot be read: {error:#}"));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

struct Held {
    directory: DataDirectory,
    owner: Option<LockOwner>,
    archive: Summary,
    schedule: Option<ScheduleView>,
    /// What follows the archive.
    stages: Vec<StageView>,
    /// The daily limits of requests and bytes; 0 for no limit.
    a_day_max: (u64, u64),
}

impl Held {
    fn read(context: &Context) -> anyhow::Result<Self> {
        let directory = DataDirectory::open_reader(&context.node.data)?;
        let owner = directory.owner().context("cannot find the process that writes to the data directory")?;
        let _progress = context.output.progress("reading the archive", None);
        let archive = match directory.archive_path() {
            path if path.is_dir() => {
                let reader = Reader::open(Arc::new(RealDisk), &path);
                reader.and_then(|reader| reader.summary()).context("cannot read the archive")?
            }
            // An interrupted start may have left none.
            _ => Summary::default(),
        };
        let crawl = &context.node.config.crawl;
        let a_day_max = (crawl.requests_per_day_max, crawl.bytes_per_day_max);
        Ok(Self { directory, owner, archive, schedule: None, stages: Vec::new(), a_day_max })
    }

    fn to_json(&self) -> Value {
        let (format, archive) = (self.directory.format(), &self.archive);
        json!({
            "data": self.directory.path().to_string_lossy(),
            "format": format.version,
            "created": format.created.to_rfc3339(),
            "web": format.web,
            "writer": self.owner,
            "archive": {
                "files": archive.files,
                "bytes": archive.bytes,
                "captures": archive.captures(),
                "responses": archive.responses,
                "revisits": archive.revisits,
                "unchanged": archive.unchanged,
                "duplicates": archive.revisits - archive.unchanged,
                "unanswered": archive.unanswered,
                "resources": archive.resources,
                "others": archive.others,
                "pages": archive.pages,
                "index_bytes": archive.index_bytes,
                "first": archive.first.map(Timestamp::to_rfc3339),
                "last": archive.last.map(Timestamp::to_rfc3339),
            },
            "schedule": self.schedule,
            "stages": self.stages,
        })
    }

    /// The text for the clock of the simulated web; the public web has ours.
    fn own_time(&self) -> String {
        match (self.directory.format().web, self.archive.last) {
            (WebKind::Simulated, Some(last)) => {
                format!(": all times, loads and delays are in its own time\nnow             {last}")
            }
            _ => String::new(),
        }
    }

    fn to_text(&self) -> String {
        let (format, archive) = (self.directory.format(), &self.archive);
        let writer = self.owner.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
        let mut lines = vec![
            format!("data directory  {}", self.directory.path().display()),
            format!("format          {}, created {}", format.version, format.created),
            format!("web             {}{}", format.web, self.own_time()),
            format!("writer          {writer}"),
            format!("archive         {} files, {} bytes", archive.files, archive.bytes),
            format!("captures        {}", captures(archive)),
            format!("pages           {}", archive.pages),
        ];
        if let (Some(first), Some(last)) = (archive.first, archive.last) {
            lines.push(format!("from            {first}\nto              {last}"));
        }
        match &self.schedule {
            Some(schedule) => lines.push(schedule_text(schedule, self.a_day_max)),
            None => lines.push("schedule        none yet; `utsushi crawl` creates one".to_owned()),
        }
        lines.extend(self.stages.iter().map(stage_line));
        lines.join("\n")
    }
}

/// How far a stage is behind the archive.
fn stage_line(stage: &StageView) -> String {
    let state = match (stage.lag, &stage.failure) {
        (_, Some(failure)) => format!("failed: {}", base::printable(failure)),
        (None, None) => "unknown".to_owned(),
        (Some(0), None) => "up to date".to_owned(),
        (Some(lag), None) => {
            let more = if stage.lag_is_more { "more than " } else { "" };
            let advice = if stage.is_running { "" } else { "; a crawl reads them" };
            format!("{more}{} behind{advice}", count_of(lag, "capture"))
        }
    };
    format!("{:<15} {state}", stage.stage)
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
