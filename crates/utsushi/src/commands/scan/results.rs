//! Writes the results of a scan, and shows its progress.

use super::Args;
use crate::commands::Context;
use crate::commands::destination::{Destination, Unfinished};
use crate::exit::Advised;
use crate::output;
use crate::progress::Progress;
use crate::words::grouped;
use anyhow::Context as _;
use base::Interval;
use clap::ValueEnum;
use formats::results::{Form, InOrder, ResultRow, ResultValue, ResultWriter};
use scan::{DocumentResult, Error, Job, ScanProgress, SettledSet};
use std::collections::VecDeque;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// The order of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Order {
    /// As they arrive
    Arrival,
    /// By document
    Stable,
}

/// How often results are made durable.
const SYNC_EVERY: Duration = Duration::from_secs(5);
/// The memory for sorting; the rest is on disk.
const SORT_BYTES_MAX: usize = 64 * 1024 * 1024;
const SOFTWARE: &str = concat!("utsushi/", env!("CARGO_PKG_VERSION"));

/// A problem with the output is reported before anything is analysed.
pub(super) fn check(args: &Args, context: &Context) -> anyhow::Result<()> {
    drop(match args.output {
        Some(_) => None,
        None => Some(destination(args, context, None)?),
    });
    if let Some(path) = &args.trace {
        // It is written at the end; check now whether that is possible.
        let opened = fs::OpenOptions::new().create(true).append(true).open(path);
        let advice = "choose a file in a directory that exists and is writable";
        opened
            .map_err(|source| Advised::new(format!("cannot write `{}`", path.display()), advice, source))?;
    }
    if let Some(path) = args.output.as_ref().filter(|path| !is_once(path)) {
        drop(Unfinished::create(path)?);
    }
    Ok(())
}

/// A path that is neither a file nor a directory is opened only once: its reader would take a close for the end.
fn is_once(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// The receiver of results.
pub(super) struct Output<'a> {
    job: Job,
    output: &'a output::Output,
    /// The writer for immediate results; otherwise they are stored with the job until it is complete.
    at_once: Option<ResultWriter<Destination<'a>>>,
    /// Whether they are stored with the job, so that it can be resumed.
    is_kept: bool,
    written: u64,
    synced: Duration,
}

impl<'a> Output<'a> {
    pub(super) fn new(args: &Args, context: &'a Context, job: Job) -> anyhow::Result<Self> {
        let path = args.output.as_deref();
        // The journal of a resumed job contains the earlier results; all are written from it at the end.
        let is_at_once = args.order == Order::Arrival && !job.is_resumed && !path.is_some_and(is_once);
        let at_once = if is_at_once { Some(open(args, context, path)?) } else { None };
        let is_kept = path.is_some() || at_once.is_none();
        Ok(Self { job, output: &context.output, at_once, is_kept, written: 0, synced: Duration::ZERO })
    }

    fn take(&mut self, row: &scan::ScanRow) -> Result<(), Error> {
        if self.is_kept {
            self.job.keep(row)?;
        }
        self.written += 1;
        let Some(writer) = &mut self.at_once else { return Ok(()) };
        push(writer, row).map_err(|error| Error::Sink(Box::new(error)))
    }
    /// A killed process loses no earlier results.
    fn tick(&mut self, elapsed: Duration) -> Result<(), Error> {
        if let Some(writer) = self.at_once.as_mut().filter(|_| !self.is_kept) {
            // Flushes the results, and detects whether the reader left.
            writer.flush().map_err(|error| Error::Sink(Box::new(error)))?;
            return if self.output.is_closed() { Err(Error::Stopped) } else { Ok(()) };
        }
        self.job.flush()?;
        if elapsed.saturating_sub(self.synced) >= SYNC_EVERY {
            self.synced = elapsed;
            self.job.sync()?;
        }
        Ok(())
    }
    pub(super) fn flush(&mut self) -> anyhow::Result<()> {
        if let Some(writer) = self.at_once.as_mut().filter(|_| !self.is_kept) {
            writer.flush().context("cannot write the results")?;
        }
        Ok(self.job.sync()?)
    }

    /// Writes the stored results, if any, and reports where.
    pub(super) fn finish<'p>(
        self,
        args: &'p Args,
        context: &Context,
        settled: u64,
    ) -> anyhow::Result<(Job, Option<&'p Path>)> {
        let path = args.output.as_deref();
        let (writer, written) = match self.at_once {
            Some(writer) => (writer, self.written),
            None => {
                let mut writer = open(args, context, path)?;
                let written = write_kept(&self.job, args.order, &mut writer)?;
                (writer, written)
            }
        };
        anyhow::ensure!(
            written == settled,
            "the journal of the scan has {written} documents where {settled} were settled: it is damaged"
        );
        writer.finish().context("cannot write the results")?.finish()?;
        Ok((self.job, path))
    }
}

fn open<'a>(
    args: &Args,
    context: &'a Context,
    path: Option<&Path>,
) -> anyhow::Result<ResultWriter<Destination<'a>>> {
    ResultWriter::new(args.form(), destination(args, context, path)?, SOFTWARE)
        .context("cannot start the results")
}

fn destination<'a>(
    args: &Args,
    context: &'a Context,
    path: Option<&Path>,
) -> anyhow::Result<Destination<'a>> {
    // On a terminal a line of JSON is made printable; formats for spreadsheets and data frames are refused.
    let is_shown = path.is_none() && args.form() == Form::Jsonl && context.output.bytes().is_none();
    if is_shown {
        let printable = Printable { output: &context.output, line: Vec::new() };
        return Ok(Destination::Stream(Box::new(printable)));
    }
    Destination::open(&context.output, path)
}

/// Lines for a terminal, which no content from the web may control (H24).
struct Printable<'a> {
    output: &'a output::Output,
    line: Vec<u8>,
}

impl Write for Printable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            if *byte == b'\n' {
                self.output.line(String::from_utf8_lossy(&std::mem::take(&mut self.line)));
            } else {
                self.line.push(*byte);
            }
        }
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the stored results, and returns the number of documents with results.
fn write_kept(job: &Job, order: Order, writer: &mut ResultWriter<Destination<'_>>) -> anyhow::Result<u64> {
    if order == Order::Stable {
        return write_in_order(job, writer);
    }
    let mut count = 0;
    for row in job.rows()? {
        push(writer, &row?).context("cannot write the results")?;
        count += 1;
    }
    Ok(count)
}

/// The same by document number, in bounded memory.
fn write_in_order(job: &Job, writer: &mut ResultWriter<Destination<'_>>) -> anyhow::Result<u64> {
    let (mut sorter, mut count) = (InOrder::new(job.directory(), SORT_BYTES_MAX), 0);
    for row in job.rows()? {
        let row = row?;
        sorter.push(row.number, &row.to_bytes()).context("cannot sort the results")?;
        count += 1;
    }
    let mut sorted = sorter.finish().context("cannot sort the results")?;
    while let Some((_, bytes)) = sorted.next().context("cannot sort the results")? {
        let row = scan::ScanRow::from_bytes(bytes).context("a sorted result cannot be read")?;
        push(writer, &row).context("cannot write the results")?;
    }
    Ok(count)
}

fn push(writer: &mut ResultWriter<Destination<'_>>, row: &scan::ScanRow) -> Result<(), formats::Error> {
    let DocumentResult::Answered(answer) = &row.result else { return Ok(()) };
    let result = match answer {
        scan::AnalysisAnswer::Json(text) => ResultValue::Json(text),
        scan::AnalysisAnswer::Text(text) => ResultValue::Text(text),
        scan::AnalysisAnswer::Bytes(bytes) => ResultValue::Bytes(bytes),
    };
    writer.push(&ResultRow { document: row.number, url: &row.url, at: row.at, result })
}

/// Progress for people.
pub(super) struct Shown {
    progress: Progress,
    documents: u64,
    before: u64,
    /// Times of the last seconds and the number of documents done then.
    recent: VecDeque<(Duration, u64)>,
}

/// The window of the rate.
const RATE_OF: Duration = Duration::from_secs(10);

impl Shown {
    pub(super) fn new(context: &Context, documents: u64, done: &SettledSet) -> Self {
        let progress = context.output.progress("scanning", Some(documents));
        Self { progress, documents, before: done.count(), recent: VecDeque::new() }
    }

    fn show(&mut self, state: &ScanProgress) {
        let now = state.answered + state.quarantined;
        self.recent.push_back((state.elapsed, now));
        while self.recent.front().is_some_and(|(at, _)| state.elapsed.saturating_sub(*at) > RATE_OF) {
            self.recent.pop_front();
        }
        let words = self.in_words(state, now);
        self.progress.set(self.before + now, &words);
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate is rounded to whole documents")]
    fn in_words(&self, state: &ScanProgress, now: u64) -> String {
        let (since, then) = self.recent.front().copied().unwrap_or_default();
        let seconds = state.elapsed.saturating_sub(since).as_secs_f64();
        let rate = if seconds > 0.0 { (now - then) as f64 / seconds } else { 0.0 };
        let left = self.documents.saturating_sub(self.before + now) as f64;
        let time = if rate > 0.0 { Duration::try_from_secs_f64((left / rate).ceil()).ok() } else { None };
        let time = time.map_or_else(|| "?".to_owned(), |time| Interval::from(time).to_string());
        let aside = if state.quarantined > 0 {
            format!(", {} set aside", grouped(state.quarantined))
        } else {
            String::new()
        };
        let count = |word: &str| state.workers.iter().filter(|state| **state == word).count();
        let (busy, retrying, idle) = (count("busy"), count("retrying"), count("idle"));
        let retrying = if retrying > 0 { format!(", {retrying} retrying") } else { String::new() };
        format!("{rate:.0} a second, {time} left{aside}; workers: {busy} busy{retrying}, {idle} idle")
    }
}

/// Writes to both.
pub(super) struct Sink<'a, 'o> {
    pub(super) output: &'a mut Output<'o>,
    pub(super) shown: &'a mut Shown,
}

impl scan::ResultSink for Sink<'_, '_> {
    fn settled(&mut self, row: scan::ScanRow) -> Result<(), Error> {
        self.output.take(&row)
    }
    fn tick(&mut self, state: &ScanProgress) -> Result<(), Error> {
        self.shown.show(state);
        self.output.tick(state.elapsed)
    }
}
