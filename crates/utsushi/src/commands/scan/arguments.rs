//! The command line of a scan.

use super::results::Order;
use crate::commands::Context;
use crate::commands::snapshot::Choices;
use crate::exit::Advised;
use base::Interval;
use clap::ValueEnum;
use formats::results::Form;
use node::config::parse_bytes;
use scan::analyses::Analysis;
use scan::{AnalysisCommand, Confinement, ProgramLimits, Settings, SupplyMode};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  utsushi scan --at now --builtin titles
  utsushi scan --at 2026-03-01 --language ja --type text/html -o titles.jsonl -- python3 titles.py
  utsushi scan --at now --site example.org --each -- grep -o 'href=\"[^\"]*\"'
  utsushi scan --during '1d ago..' --only-changed -o changed.parquet --builtin links

Built in: links, text, words, language, titles, sizes, digests. The protocol between scan and program is described in
docs/reference/scan-protocol.md; with --each the program is a plain filter. A stopped scan with -o continues where it
stopped when it is run again.";

/// Run an analysis over a snapshot on all cores, isolated from faulty documents
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) choices: Choices,
    /// Select the last version of pages whose content at the end of `--during` differs from that at its start
    #[arg(long, help_heading = "Which versions")]
    pub(super) only_changed: bool,
    /// Built-in analysis: `links`, `text`, `words`, `language`, `titles`, `sizes`, `digests`
    #[arg(long, value_name = "NAME", conflicts_with_all = ["program", "each"])]
    builtin: Option<Analysis>,
    /// Run the program as a plain filter: once per document, which it reads from standard input
    #[arg(long)]
    each: bool,
    /// Program and its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
    /// Write to this file, which appears when it is complete. A stopped scan continues when it is run again
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Format of results: `jsonl`, `csv` or `parquet`; default: by the extension of the output file
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Order of results: `arrival`, or `stable`, the order of the documents
    #[arg(long, value_name = "ORDER", default_value = "arrival")]
    pub(super) order: Order,
    /// Discard an unfinished scan to the same output and start over
    #[arg(long, requires = "output")]
    pub(super) anew: bool,
    /// Write what each worker did over time, as a figure (`.svg`) or as data
    #[arg(long, value_name = "FILE")]
    pub(super) trace: Option<PathBuf>,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    sandbox: Sandbox,
}

/// How the analysis is run.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "How")]
struct How {
    /// Number of workers; default: one on each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_024))]
    jobs: Option<u16>,
    /// How documents are assigned to workers: `pipelined`, `synchronous` or `static`. The last two are slower and exist for
    /// comparison
    #[arg(long, value_name = "HOW", default_value = "pipelined")]
    supply: SupplyName,
    /// Maximum time a program may neither read nor write while it has a document
    #[arg(long, value_name = "TIME", value_parser = interval)]
    progress_limit: Option<Interval>,
    /// Maximum time for one document
    #[arg(long, value_name = "TIME", value_parser = interval)]
    document_limit: Option<Interval>,
    /// Maximum memory of a program with all its processes
    #[arg(long, value_name = "BYTES", value_parser = byte_count)]
    memory: Option<u64>,
    /// Number of documents after which a program is restarted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    restart_every: Option<u64>,
    /// Number of times a document may fail alone before it is quarantined
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    strikes: Option<u32>,
}

/// What the program may do.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Sandbox")]
struct Sandbox {
    /// Allow the program to use the network
    #[arg(long)]
    allow_network: bool,
    /// Allow the program to write to this directory, in addition to its scratch directory (`TMPDIR`)
    #[arg(long, value_name = "DIR")]
    allow_write: Vec<PathBuf>,
    /// Run the program without a sandbox; its limits still apply
    #[arg(long)]
    unsandboxed: bool,
}

/// The formats of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One JSON object per line
    Jsonl,
    /// A table for spreadsheets
    Csv,
    /// A table for data frames
    Parquet,
}

/// How documents are assigned to workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SupplyName {
    /// Send the next document before the last answer arrives
    Pipelined,
    /// Send the next document after the last answer arrives
    Synchronous,
    /// Assign a fixed part of the documents to each worker
    Static,
}

fn interval(text: &str) -> Result<Interval, String> {
    let least = Interval::from_micros(100_000);
    let fits = text.parse().ok().filter(|time| (least..=Interval::from_days(7)).contains(time));
    fits.ok_or_else(|| format!("it is a length of time from {least} to 7d, such as 30s"))
}

fn byte_count(text: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text).filter(|bytes| *bytes >= 16 << 20);
    bytes.ok_or_else(|| "it is a number of bytes from 16MiB, such as 2GiB".to_owned())
}

impl Args {
    /// The analysis to run.
    pub(super) fn work(&self) -> anyhow::Result<AnalysisCommand> {
        match (self.builtin, self.program.is_empty()) {
            (Some(analysis), _) => Ok(AnalysisCommand::Builtin(analysis)),
            (None, false) if self.each => Ok(AnalysisCommand::Each(self.program.clone())),
            (None, false) => Ok(AnalysisCommand::Program(self.program.clone())),
            (None, true) => {
                let advice = "name a program after `--`, as in `-- python3 titles.py`, or `--builtin NAME`";
                Err(Advised::new("cannot run an analysis", advice, anyhow::anyhow!("no analysis given"))
                    .into())
            }
        }
    }

    /// The analysis and its choices as written; an unfinished scan is recognised by this text.
    pub(super) fn as_written(&self, data: &Path) -> String {
        let data = std::path::absolute(data).unwrap_or_else(|_| data.to_owned());
        let mut words = format!("--data {} scan {}", data.display(), self.choices.as_written());
        if self.only_changed {
            words.push_str(" --only-changed");
        }
        if self.each {
            words.push_str(" --each");
        }
        match self.builtin {
            Some(analysis) => words.push_str(&format!(" --builtin {}", analysis.as_str())),
            None => {
                words.push_str(" --");
                self.program.iter().for_each(|word| words.push_str(&format!(" {word:?}")));
            }
        }
        words
    }

    /// Refuses an output whose extension is that of a format that results cannot have.
    pub(super) fn check_form(&self) -> anyhow::Result<()> {
        let Some(output) = self.output.as_deref().filter(|_| self.format.is_none()) else { return Ok(()) };
        let (Some(ending), None) = (output.extension(), Form::of_name(output)) else { return Ok(()) };
        let why = anyhow::anyhow!("results cannot be written as `.{}`", ending.to_string_lossy());
        let advice = "use the extension `.jsonl`, `.csv` or `.parquet`, or add `--format jsonl|csv|parquet`";
        Err(Advised::new(format!("cannot write `{}`", output.display()), advice, why).into())
    }

    /// The format of the results.
    pub(super) fn form(&self) -> Form {
        match self.format {
            Some(Format::Jsonl) => Form::Jsonl,
            Some(Format::Csv) => Form::Csv,
            Some(Format::Parquet) => Form::Parquet,
            None => self.output.as_deref().and_then(Form::of_name).unwrap_or(Form::Jsonl),
        }
    }

    /// The whole request.
    pub(super) fn settings(&self, work: AnalysisCommand, context: &Context, scratch: PathBuf) -> Settings {
        let (how, config) = (&self.how, &context.node.config.scan);
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = how
            .jobs
            .map(usize::from)
            .or(Some(config.jobs).filter(|jobs| *jobs > 0))
            .unwrap_or_else(processors);
        let limits = ProgramLimits {
            progress: how.progress_limit.map_or(config.limits.progress, Into::into),
            document: how.document_limit.map_or(config.limits.document, Into::into),
            memory_bytes: how.memory.unwrap_or(config.limits.memory_bytes),
            ..config.limits
        };
        let supply = match how.supply {
            SupplyName::Pipelined => SupplyMode::Pipelined,
            SupplyName::Synchronous => SupplyMode::Synchronous,
            SupplyName::Static => SupplyMode::Static,
        };
        let confinement = Confinement {
            is_lifted: self.sandbox.unsandboxed,
            keeps_user: false,
            has_network: self.sandbox.allow_network,
            writable: self.sandbox.allow_write.clone(),
        };
        Settings {
            work,
            jobs,
            supply,
            limits,
            confinement,
            restart_every: how.restart_every.unwrap_or(config.restart_every),
            strikes_max: how.strikes.unwrap_or(config.strikes_max),
            executable: PathBuf::from("/proc/self/exe"),
            scratch,
        }
    }
}
