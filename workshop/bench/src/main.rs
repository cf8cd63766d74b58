//! Comparisons with peers in the same run: `cargo xtask bench NAME`.
//!
//! A figure here is a ratio against a peer that did the same work on the same machine a moment before, because
//! machines are shared and noisy. Each comparison prints a table, or with `--json` one object a line.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the output of a benchmark is its result")]

mod compare;
mod coverage;
mod crawl_bare;
mod crawl_compare;
mod documents;
mod fetch_bare;
mod fetch_cell;
mod fetch_compare;
mod fetch_pages;
mod fetch_server;
mod fetch_tls;
mod figures;
mod load;
mod meter;
mod process;
mod recrawl;
mod register;
mod revisit;
mod sat_bare;
mod sat_cell;
mod sat_compare;
mod scan;
mod simulated;
mod snapshot;
mod warc_cell;
mod warc_compare;
mod warc_pages;

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
    /// Measure speed and memory of serving the simulated web, against nginx with the same pages as files
    Sim(simulated::Args),
    Snapshot(snapshot::Args),
    Sat(sat_compare::Args),
    Register(register::Args),
    Warc(warc_compare::Args),
    Fetch(fetch_compare::Args),
    Crawl(crawl_compare::Args),
    Revisit(revisit::Args),
    Recrawl(recrawl::Args),
    Scan(scan::Args),
    Coverage(coverage::Args),
    Documents(documents::Args),
    /// Loads the store for one variant of it
    #[command(hide = true)]
    SatLoad(sat_cell::LoadArgs),
    /// Runs one variant of the store in this process
    #[command(hide = true)]
    SatCell(sat_cell::CellArgs),
    /// Opens the store in this process
    #[command(hide = true)]
    SatOpen(sat_cell::LoadArgs),
    /// Only moves the bytes of a run of the store
    #[command(hide = true)]
    SatBare(sat_bare::BareArgs),
    /// Chooses versions and sorts their pointers in this process
    #[command(hide = true)]
    SnapshotCell(snapshot::memory::CellArgs),
    /// Offers keys to the store in this process
    #[command(hide = true)]
    RegisterCell(register::CellArgs),
    /// Reads or writes WARC in this process
    #[command(hide = true)]
    WarcCell(warc_cell::CellArgs),
    /// Fetches and archives pages in this process
    #[command(hide = true)]
    FetchCell(fetch_cell::CellArgs),
    /// The same by a bare loop
    #[command(hide = true)]
    FetchBare(fetch_cell::CellArgs),
    /// Crawls a site by a bare loop
    #[command(hide = true)]
    CrawlBare(crawl_bare::BareArgs),
    /// Reads and unpacks the documents of a scan by a bare loop
    #[command(hide = true)]
    ScanBare(scan::BareArgs),
    /// Answers `null` to every document of a scan
    #[command(hide = true)]
    ScanNoop,
}

fn main() -> ExitCode {
    let result = match Cli::parse().comparison {
        Comparison::Warc(args) => return ended(warc_compare::run(&args)),
        Comparison::Snapshot(args) => return ended(snapshot::run(&args)),
        Comparison::Fetch(args) => return ended(fetch_compare::run(&args)),
        Comparison::Crawl(args) => return ended(crawl_compare::run(&args)),
        Comparison::Scan(args) => return ended(scan::run(&args)),
        Comparison::Coverage(args) => return ended(coverage::run(&args)),
        Comparison::Documents(args) => return ended(documents::run(&args)),
        Comparison::Recrawl(args) => return ended(recrawl::run(&args)),
        Comparison::ScanBare(args) => scan::bare(&args),
        Comparison::ScanNoop => scan::noop(),
        Comparison::Revisit(args) => revisit::run(&args),
        Comparison::CrawlBare(args) => crawl_bare::run(&args),
        Comparison::FetchCell(args) => fetch_cell::run(&args),
        Comparison::FetchBare(args) => fetch_bare::run(&args),
        Comparison::WarcCell(args) => warc_cell::run(&args),
        Comparison::Sim(args) => simulated::run(&args),
        Comparison::SatLoad(args) => sat_cell::load(&args),
        Comparison::Sat(args) => sat_compare::run(&args),
        Comparison::Register(args) => register::run(&args),
        Comparison::SatCell(args) => sat_cell::run(&args),
        Comparison::SatOpen(args) => sat_cell::open(&args),
        Comparison::SatBare(args) => sat_bare::run(&args),
        Comparison::SnapshotCell(args) => snapshot::memory::cell(&args),
        Comparison::RegisterCell(args) => register::cell(&args),
    };
    ended(result.map(|()| true))
}

/// 0: done; 1: done, but a demand was missed; 2: failed.
fn ended(result: anyhow::Result<bool>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::from(2)
        }
    }
}
