//! `utsushi scan`: runs an analysis over a snapshot, in parallel (P1–P5).

mod arguments;
mod results;

pub(crate) use arguments::Args;

use super::Context;
use super::snapshot::tell_left_out;
use crate::exit::{Advised, Exit};
use crate::signals::{self, Stop};
use crate::words::{count_of, grouped};
use anyhow::Context as _;
use node::scans::{DocumentFinder, ScanDirectory, Wanted};
use results::{Output, Shown};
use scan::{Error, Job, ScanSummary, Settings, SettledSet};
use serde_json::json;
use std::fs;
use std::path::Path;

/// Runs the analysis.
pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let work = args.work()?;
    args.check_form()?;
    let (_, reader) = context.node.reader()?;
    let stop = signals::listen(&context.output).context("cannot listen for signals")?;
    let should_stop = || stop.is_asked();
    let (wanted, languages) = (wanted(args, context)?, args.choices.languages());
    let finder = DocumentFinder::new(&context.node, &reader, wanted, languages, &should_stop)?;
    let place = ScanDirectory::of(&context.node, args.output.as_deref())?;
    if args.anew {
        Job::forget(place.path()).map_err(|error| explained(error, &place))?;
    }
    let asked = args.as_written(&context.node.data);
    let opened = Job::open(place.path(), (&asked, place.is_for_once()), |list| {
        finder.find(list, place.path()).context("cannot choose the documents").map_err(Failed::wrap)
    });
    let (job, done) = opened.map_err(|error| explained(error, &place))?;
    tell_left_out(&context.output, finder.left_out());
    drop(finder);
    if job.documents == 0 {
        context.output.note("no version matches; nothing is analysed");
        job.finish()?;
        return Ok(Exit::Found);
    }
    if let Err(error) = results::check(args, context) {
        if !job.is_resumed {
            job.finish()?;
        }
        return Err(error);
    }
    let settings = args.settings(work, context, job.scratch());
    let scan = Scan { args, context, settings, stop: stop.clone() };
    scan.run(job, &done, &reader, &place)
}

/// The documents that the arguments select.
fn wanted(args: &Args, context: &Context) -> anyhow::Result<Wanted> {
    if !args.only_changed {
        return Ok(Wanted::Chosen(args.choices.check(context)?));
    }
    let (earlier, later) = args.choices.between(context)?;
    Ok(Wanted::Changed { earlier, later })
}

/// The parts of a run.
struct Scan<'a> {
    args: &'a Args,
    context: &'a Context,
    settings: Settings,
    stop: Stop,
}

impl Scan<'_> {
    fn run(
        &self,
        job: Job,
        done: &SettledSet,
        reader: &archive::Reader,
        place: &ScanDirectory,
    ) -> anyhow::Result<Exit> {
        if job.is_resumed {
            let (settled, documents) = (grouped(done.count()), count_of(job.documents, "document"));
            self.context
                .output
                .note(format!("continuing where it stopped: {settled} of {documents} are done"));
        }
        let (documents, pointers, aside) = (job.documents, job.pointers(), job.quarantine());
        let mut shown = Shown::new(self.context, documents, done);
        let mut output = Output::new(self.args, self.context, job)?;
        let should_stop = || self.stop.is_asked();
        let ran = {
            let mut sink = results::Sink { output: &mut output, shown: &mut shown };
            scan::run(&self.settings, (reader, &pointers, done), &aside, &mut sink, &should_stop)
        };
        drop(shown);
        if let (Err(Error::Stopped), false) = (&ran, self.stop.is_asked()) {
            // The output is closed. If the cause is not that the reader left, the program reports it at its end.
            return Ok(Exit::Done);
        }
        let flushed = output.flush();
        let summary = ran.map_err(|error| {
            if done.count() == 0 && is_hopeless(&error) {
                place.forget();
            }
            explained(error, place)
        })?;
        flushed?;
        let settled = done.count() + summary.answered + summary.quarantined;
        let (job, written) = output.finish(self.args, self.context, settled)?;
        self.draw(&summary)?;
        let set_aside = done.quarantined + summary.quarantined;
        self.tell(&summary, done, documents, written);
        if set_aside > 0 {
            let what = format!(
                "{} quarantined: `{}` lists each with the known cause",
                count_of(set_aside, "document"),
                aside.display()
            );
            self.context.output.note(what);
        }
        job.finish()?;
        Ok(if set_aside > 0 { Exit::Found } else { Exit::Done })
    }

    /// Writes the trace, if requested.
    fn draw(&self, summary: &ScanSummary) -> anyhow::Result<()> {
        let Some(path) = &self.args.trace else { return Ok(()) };
        let is_svg = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
        let text = if is_svg {
            scan::trace::svg(std::slice::from_ref(&summary.trace))
        } else {
            format!("{}\n", summary.trace.to_json())
        };
        fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
    }

    fn tell(&self, summary: &ScanSummary, done: &SettledSet, documents: u64, written: Option<&Path>) {
        let trace = &summary.trace;
        #[expect(clippy::cast_precision_loss, reason = "a rate is rounded to whole documents")]
        let rate = if trace.seconds > 0.0 { trace.documents as f64 / trace.seconds } else { 0.0 };
        let busy: Vec<f64> =
            trace.workers.iter().map(|lane| (1_000.0 * trace.busy(lane)).round() / 1_000.0).collect();
        let (answered, set_aside) =
            (done.answered + summary.answered, done.quarantined + summary.quarantined);
        let object = json!({
            "output": written.map(|path| path.to_string_lossy()), "documents": documents, "answered": answered,
            "set_aside": set_aside, "before": done.count(), "seconds": (trace.seconds * 1_000.0).round() / 1_000.0,
            "documents_per_second": rate.round(), "failures": summary.failures, "worker_deaths": summary.worker_deaths,
            "busy": busy,
        });
        let text = || {
            let to = written.map(|path| format!("{}: ", path.display())).unwrap_or_default();
            format!(
                "{to}{} of {} in {:.1} s, {rate:.0} a second",
                count_of(answered, "result"),
                count_of(documents, "document"),
                trace.seconds
            )
        };
        match written {
            Some(_) => self.context.output.result(&object, text),
            None => self.context.output.note(text()),
        }
    }
}

/// An error of this side that passes through the scan library.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Failed(#[from] anyhow::Error);

impl Failed {
    fn wrap(error: anyhow::Error) -> Error {
        Error::Sink(Box::new(Self(error)))
    }
}

/// Whether nothing was started that could be resumed.
fn is_hopeless(error: &Error) -> bool {
    matches!(
        error,
        Error::NeverAnswered { .. }
            | Error::NoProgram { .. }
            | Error::OutOfReach { .. }
            | Error::NoSandbox(_)
    )
}

/// What to do about an error.
fn explained(error: Error, place: &ScanDirectory) -> anyhow::Error {
    let again = || match place.is_for_once() {
        false => "run the same command again to continue where it stopped".to_owned(),
        true => "with `-o FILE` a stopped scan can be continued".to_owned(),
    };
    let advice = match error {
        Error::Sink(source) => match source.downcast::<Failed>() {
            Ok(failed) => return failed.0,
            Err(source) => return anyhow::Error::new(Error::Sink(source)),
        },
        Error::NeverAnswered { .. } => {
            "try the program on one document: docs/reference/scan-protocol.md says what it is given and what it must answer, and \
             it flushes its output after each answer. \
             For a plain filter, which reads one document from standard input, add `--each`"
                .to_owned()
        }
        Error::StoppedAnswering { .. } => {
            format!("check the program, then {}; `--anew` starts over, including quarantined documents", again())
        }
        Error::NoProgram { .. } => "name a program that exists, or choose a built-in analysis with `--builtin NAME`".to_owned(),
        Error::OutOfReach { .. } => {
            "give all users access to it with `chmod`, or give it to root with `chown`, or run the scan as its owner".to_owned()
        }
        Error::NoSandbox(_) => {
            "run it on a kernel that has Landlock and seccomp, or add `--unsandboxed` if you trust the program and the \
             documents"
                .to_owned()
        }
        Error::OtherJob { .. } => {
            "repeat the earlier command, choose another output, or add `--anew` to start over".to_owned()
        }
        Error::Locked { .. } => "wait until it has ended, or choose another output".to_owned(),
        Error::Stopped => again(),
        ref other => {
            let advice = again();
            return match other {
                Error::Archive(_) => anyhow::Error::new(error),
                _ => Advised::new("cannot run the analysis", advice, error).into(),
            };
        }
    };
    Advised::new("cannot run the analysis", advice, error).into()
}
