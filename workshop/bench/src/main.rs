//! Comparisons with peers in the same run: `cargo xtask bench NAME`.
//!
//! A figure here is a ratio against a peer that did the same work on the same machine a moment before, because
//! machines are shared and noisy. Each comparison prints a table, or with `--json` one object a line.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the output of a benchmark is its result")]

mod load;
mod process;
mod simulated;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Debug, Parser)]
#[command(name = "bench", about = "Comparisons with peers in the same run")]
struct Cli {
    #[command(subcommand)]
    comparison: Comparison,
}

#[derive(Debug, Subcommand)]
enum Comparison {
    /// How fast the simulated web is served, and from how much memory, against nginx with the same pages as files
    Sim(simulated::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().comparison {
        Comparison::Sim(args) => simulated::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::from(2)
        }
    }
}
