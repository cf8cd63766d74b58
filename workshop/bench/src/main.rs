//! Comparisons with peers in the same run: `cargo xtask bench NAME`.
//!
//! A figure here is a ratio against a peer that did the same work on the same machine a moment before, because
//! machines are shared and noisy. Each comparison prints a table, or with `--json` one object a line.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the output of a benchmark is its result")]

mod load;
mod meter;
mod process;
mod sat_cell;
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
    /// Loads the store for one variant of it
    #[command(hide = true)]
    SatLoad(sat_cell::LoadArgs),
    /// Runs one variant of the store in this process
    #[command(hide = true)]
    SatCell(sat_cell::CellArgs),
}

fn main() -> ExitCode {
    let result = match Cli::parse().comparison {
        Comparison::Sim(args) => simulated::run(&args),
        Comparison::SatLoad(args) => sat_cell::load(&args),
        Comparison::SatCell(args) => sat_cell::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::from(2)
        }
    }
}
