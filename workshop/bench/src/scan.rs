//! A scan compared with a bare loop and with GNU parallel, and its three ways of supply compared with each other.
//!
//! All work on one archive of real pages ([`corpus`]), from the page cache, with as many workers as there are
//! processors, and take turns for several rounds; the median counts. Every side of a comparison is a whole command, so
//! choosing the documents and starting processes is part of the time.

mod bare;
mod contest;
mod corpus;
mod print;
mod supply;
mod throughput;
mod titles;
mod verdict;

pub(crate) use bare::{BareArgs, bare};
pub(crate) use throughput::noop;

use crate::compare::work_directory;
use anyhow::{Context, Result};
use corpus::Corpus;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Measure how fast an analysis runs over a snapshot, against a bare loop and GNU parallel, and how evenly its workers
/// are supplied
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask bench scan
  cargo xtask bench scan --only supply --figure docs/benchmarks/scan.svg
  cargo xtask bench scan --quick
  cargo xtask bench scan --json")]
pub(crate) struct Args {
    /// Documents in the archive
    #[arg(long, default_value_t = 52_000)]
    documents: usize,
    /// Turns of each side
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Workers; without it, one on each processor
    #[arg(long)]
    jobs: Option<NonZeroUsize>,
    /// 3,000 documents, one turn each: to see that all of it works
    #[arg(long)]
    quick: bool,
    /// Print one object a line
    #[arg(long)]
    json: bool,
    /// Only these parts
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Draw what each worker did, for the three ways of supply, to this file
    #[arg(long)]
    figure: Option<PathBuf>,
    /// Where the archive is made, and kept for the next run
    #[arg(long)]
    directory: Option<PathBuf>,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// How evenly workers are fed, by each way of supply
    Supply,
    /// Trivial analyses, against a bare loop
    Throughput,
    /// Titles, against GNU parallel with a FastWARC script
    Titles,
}

const PARTS: [Part; 3] = [Part::Supply, Part::Throughput, Part::Titles];

/// Runs the comparison; returns whether all demands are met.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let processors = std::thread::available_parallelism().context("cannot count the processors")?;
    let jobs = args.jobs.unwrap_or(processors).get();
    let (documents, rounds) = if args.quick { (3_000, 1) } else { (args.documents, args.rounds.max(1)) };
    let corpus = Corpus::ensure(&work_directory(args.directory.as_deref(), "bench-scan")?, documents, jobs)?;
    let mut is_met = true;
    for part in PARTS.into_iter().filter(|part| args.only.is_empty() || args.only.contains(part)) {
        let (results, verdicts) = match part {
            Part::Supply => supply::compare(&corpus, rounds, args.figure.as_deref())?,
            Part::Throughput => throughput::compare(&corpus, rounds)?,
            Part::Titles => titles::compare(&corpus, rounds)?,
        };
        print::results(&results, &verdicts, args.json);
        is_met &= verdicts.iter().all(verdict::Verdict::is_met);
    }
    // A quick run has too few documents to judge.
    Ok(args.quick || is_met)
}
