//! Stores that our own is compared with, each doing the same work in its best form.
//!
//! `peers run` keeps records by the time at which they are due (paper 001, section 4), `peers register` keeps a set of
//! known keys. Both print one JSON object. What is done is in `run` and `register`, and is the same for every system;
//! how a system does it best is in `systems`, one file a system.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the output of a benchmark is its result")]

mod confined;
mod register;
mod run;
mod store;
mod systems;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use systems::System;
use workload::Dataset;

/// What a buffered or mapped store gets beyond its budget, for the program and what the kernel keeps for it.
const BEYOND_BUDGET_BYTES: u64 = 64 << 20;

#[derive(Debug, Parser)]
#[command(name = "peers", about = "Stores that ours is compared with, under the same work")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Load the steady state, measure, remove the store
    Run(RunArgs),
    /// Only load the steady state, and keep the store
    Load(RunArgs),
    /// Measure from a steady state that was loaded with the same options
    Measure(RunArgs),
    /// Offer keys to a register of known keys, of which 20 % are known
    Register(RegisterArgs),
    /// Print the systems that were built in
    Systems,
    #[command(hide = true)]
    MeasureHere(RunArgs),
    #[command(hide = true)]
    RegisterHere(RegisterArgs),
}

/// What both kinds of work have in common.
#[derive(Debug, Args)]
struct Common {
    #[arg(long)]
    system: System,
    /// Where the store lies; it must be empty or not exist
    #[arg(long)]
    directory: PathBuf,
    /// Memory for the system's caches and write buffers together
    #[arg(long, default_value_t = 32 << 20)]
    buffer_bytes: u64,
    /// Records in one commit; each commit is synced
    #[arg(long, default_value_t = 10_000)]
    commit: usize,
    /// Stop after the first commit beyond this time
    #[arg(long, default_value_t = 120)]
    seconds: u32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Measure in a memory control group of so many bytes, the budget and 64 MiB if none are given
    #[arg(long, num_args = 0..=1, value_name = "BYTES")]
    memory_cgroup: Option<Option<u64>>,
    /// Measure with disk traffic limited to so much each way
    #[arg(long, value_name = "BYTES")]
    blkio_bytes_per_second: Option<u64>,
}

impl Common {
    fn limits(&self) -> workload::limits::Limits {
        let memory = self.memory_cgroup.map(|bytes| bytes.unwrap_or(self.buffer_bytes + BEYOND_BUDGET_BYTES));
        workload::limits::Limits {
            memory_bytes_max: memory,
            io_bytes_per_second_max: self.blkio_bytes_per_second,
        }
    }
}

#[derive(Debug, Args)]
struct RunArgs {
    #[command(flatten)]
    common: Common,
    /// `zipf` or `peaked`
    #[arg(long, default_value = "peaked")]
    dataset: Dataset,
    /// The longest interval, in units of time
    #[arg(long, default_value_t = 576_000)]
    periods: u32,
    #[arg(long, default_value_t = 15_000_000)]
    records: u32,
    /// Units of time to work through
    #[arg(long, default_value_t = 30)]
    units: u32,
}

#[derive(Debug, Args)]
struct RegisterArgs {
    #[command(flatten)]
    common: Common,
    /// Keys to offer
    #[arg(long, default_value_t = 10_000_000)]
    keys: u32,
}

fn main() -> ExitCode {
    match dispatch(&Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn dispatch(command: &Command) -> Result<()> {
    match command {
        Command::Run(args) => run::run(args),
        Command::Load(args) => run::load(args),
        Command::Measure(args) => run::measure(args),
        Command::Register(args) => register::run(args),
        Command::Systems => systems::list(),
        Command::MeasureHere(args) => run::measure_here(args),
        Command::RegisterHere(args) => register::run_here(args),
    }
}
