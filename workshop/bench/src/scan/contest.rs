//! Commands that take turns, and what each took.

use super::corpus::Corpus;
use crate::process::measure;
use anyhow::{Context, Result, ensure};
use scan::trace::Trace;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One turn of a side.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    /// From the start of the command to its end.
    pub(super) seconds: f64,
    /// Of it and everything that it started.
    cpu_seconds: f64,
    /// Of the process that was started, not of its children.
    resident_bytes_max: u64,
    pub(super) trace: Option<Trace>,
}

/// One side: a name and all its turns.
#[derive(Debug)]
pub(super) struct Side {
    task: &'static str,
    pub(super) name: String,
    pub(super) turns: Vec<Turn>,
}

impl Side {
    pub(super) fn new(task: &'static str, name: impl Into<String>) -> Self {
        Self { task, name: name.into(), turns: Vec::new() }
    }
    /// The turn that took neither long nor short.
    pub(super) fn median(&self) -> Result<&Turn> {
        let mut turns: Vec<&Turn> = self.turns.iter().collect();
        turns.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
        turns.get(turns.len() / 2).copied().context("there was no turn")
    }
    pub(super) fn to_json(&self, documents: u64) -> Result<Value> {
        let turn = self.median()?;
        let seconds: Vec<f64> = self.turns.iter().map(|turn| turn.seconds).collect();
        Ok(json!({
            "task": self.task, "system": self.name, "documents": documents, "seconds": turn.seconds,
            "documents_per_second": documents as f64 / turn.seconds, "cpu_seconds": turn.cpu_seconds,
            "resident_bytes_max": turn.resident_bytes_max, "seconds_each_round": seconds,
            "busy_min": turn.trace.as_ref().map(busy_min), "finish_spread": turn.trace.as_ref().map(finish_spread),
        }))
    }
}

/// How many times as fast the first is, by the medians.
pub(super) fn speed(one: &Side, other: &Side) -> Result<f64> {
    Ok(other.median()?.seconds / one.median()?.seconds)
}

/// The share of the run in which the least busy worker had a document in hand.
pub(super) fn busy_min(trace: &Trace) -> f64 {
    trace.workers.iter().map(|lane| trace.busy(lane)).fold(1.0, f64::min)
}

/// How long before the last worker the first one finished, as a share of the run.
pub(super) fn finish_spread(trace: &Trace) -> f64 {
    let finished = trace.workers.iter().map(|lane| lane.finished);
    let (first, last) =
        finished.fold((f64::MAX, 0.0), |(first, last): (f64, f64), at| (first.min(at), last.max(at)));
    if trace.seconds > 0.0 { (last - first) / trace.seconds } else { 1.0 }
}

/// A scan of the whole archive by our program with `arguments`. Its results go to a file, and are counted.
pub(super) fn scan(corpus: &Corpus, arguments: &[&str]) -> Result<Turn> {
    let (output, trace) = (corpus.directory.join("results.jsonl"), corpus.directory.join("trace.json"));
    let mut command = corpus.utsushi()?;
    command.args(["scan", "--at", "now", "--jobs", &corpus.jobs.to_string(), "--anew", "-o"]).arg(&output);
    command.arg("--trace").arg(&trace).args(arguments).stdout(Stdio::null());
    let mut turn = turn(&mut command)?;
    ensure_results(&output, corpus.documents)?;
    let text = fs::read_to_string(&trace).context("cannot read the trace")?;
    turn.trace = Some(
        serde_json::from_str(&text)
            .ok()
            .and_then(|json| Trace::from_json(&json))
            .context("it is no trace")?,
    );
    Ok(turn)
}

/// Any command that prints a line for each document.
pub(super) fn lines(corpus: &Corpus, command: &mut Command, name: &str) -> Result<Turn> {
    let output: PathBuf = corpus.directory.join(format!("{name}.out"));
    let file = File::create(&output).context("cannot make a file for the results")?;
    let turn = turn(command.stdout(file))?;
    ensure_results(&output, corpus.documents)?;
    Ok(turn)
}

/// A command to its end.
pub(super) fn turn(command: &mut Command) -> Result<Turn> {
    let used = measure(command)?;
    let (seconds, cpu_seconds, resident_bytes_max) =
        (used.seconds, used.cpu_seconds, used.resident_bytes_max);
    Ok(Turn { seconds, cpu_seconds, resident_bytes_max, trace: None })
}

/// Checks the number of results: leaving documents out would be fast.
fn ensure_results(output: &Path, documents: u64) -> Result<()> {
    let text = fs::read(output).context("cannot read the results")?;
    let lines = text.iter().filter(|byte| **byte == b'\n').count() as u64;
    ensure!(lines == documents, "`{}` has {lines} results of {documents}", output.display());
    Ok(())
}
