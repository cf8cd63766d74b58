//! The snapshot engine on an index of ten million versions: beside a bare loop over the same files, a sorted CDXJ file,
//! and reading without order.

mod cdxj;
mod cold;
mod documents;
mod lookup;
pub(crate) mod memory;
mod opening;
mod print;
mod synthetic;
mod walks;

use crate::compare::{number, work_directory};
use anyhow::Result;
use documents::Crawl;
use serde_json::Value;
use std::path::{Path, PathBuf};
use synthetic::Size;

/// How fast versions are chosen and found, from how much memory, and what sorting pointers saves
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask bench snapshot
  cargo xtask bench snapshot --only walk,lookup --rounds 9
  cargo xtask bench snapshot --quick --json")]
pub(crate) struct Args {
    /// Versions in the index
    #[arg(long, default_value_t = 10_000_000)]
    versions: u64,
    /// Pages that they are versions of
    #[arg(long, default_value_t = 3_000_000)]
    pages: u64,
    /// Captures in the archive whose documents are read
    #[arg(long, default_value_t = 150_000)]
    captures: u64,
    /// Rounds of each measurement, taking turns with what it is compared with
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// A hundredth of everything, to see that it runs
    #[arg(long)]
    quick: bool,
    /// Print one object a line
    #[arg(long)]
    json: bool,
    /// Only these parts
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Where the index and the archive are made, and kept for the next run
    #[arg(long)]
    directory: Option<PathBuf>,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Snapshots against a bare loop over the index
    Walk,
    /// Peak memory of a small and a large snapshot
    Memory,
    /// One page's history, against a sorted CDXJ file
    Lookup,
    /// Opening the index
    Open,
    /// Reading documents on a cold cache, in two orders
    Documents,
}

/// The least share of the bare loop's speed that a walk over the whole index must have.
const BARE_SHARE_MIN: f64 = 0.5;
/// The longest that opening may take.
const OPEN_SECONDS_MAX: f64 = 2.0;
/// All visits may take so much more memory than the tenth of them that fills the sorter.
const MEMORY_GROWTH_MAX: f64 = 1.25;

const PARTS: [Part; 5] = [Part::Walk, Part::Memory, Part::Lookup, Part::Open, Part::Documents];

/// Whether everything came out as it must.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let directory = work_directory(args.directory.as_deref(), "bench-snapshot")?.join(if args.quick {
        "quick"
    } else {
        "full"
    });
    let mut missed = Vec::new();
    for part in PARTS.into_iter().filter(|part| args.only.is_empty() || args.only.contains(part)) {
        let results = measure(args, &directory, part)?;
        print::results(&results, args.json);
        missed.extend(judge(&results));
    }
    missed.iter().for_each(|what| eprintln!("missed: {what}"));
    // A hundredth of everything is too little to judge by.
    Ok(args.quick || missed.is_empty())
}

/// What must hold and does not.
fn judge(results: &[Value]) -> Vec<String> {
    let mut missed = Vec::new();
    for result in results {
        let name = result["system"].as_str().unwrap_or("?");
        if result["is_judged"] == true && number(result, "speed_of_bare_loop") < BARE_SHARE_MIN {
            missed.push(format!("`{name}` walks at less than half the speed of the bare loop"));
        }
        if number(result, "seconds_cold").max(number(result, "seconds_warm")) > OPEN_SECONDS_MAX {
            missed.push(format!("the {name} takes more than {OPEN_SECONDS_MAX} s to open the index"));
        }
    }
    let peaks: Vec<f64> = results.iter().map(|result| number(result, "resident_bytes_max")).collect();
    if let [.., tenth, all] = *peaks
        && all > tenth * MEMORY_GROWTH_MAX
    {
        missed.push("memory grows with the snapshot".to_owned());
    }
    missed
}

fn measure(args: &Args, directory: &Path, part: Part) -> Result<Vec<Value>> {
    let share = if args.quick { 100 } else { 1 };
    let size = Size { pages: args.pages / share, versions: args.versions / share };
    let archive = directory.join("synthetic");
    if part != Part::Documents {
        synthetic::ensure_index(&archive, size)?;
    }
    match part {
        Part::Walk => walks::compare(&archive, size, args.rounds),
        Part::Memory => memory::compare(&archive),
        Part::Lookup => lookup::compare(&archive, size, 20_000),
        Part::Open => opening::measure(&archive, args.rounds),
        Part::Documents => {
            let crawl = Crawl { pages: args.captures / share / documents::ROUNDS, body_bytes: 24_000 };
            documents::compare(&directory.join("crawled"), crawl, args.rounds)
        }
    }
}
