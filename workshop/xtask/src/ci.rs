//! `cargo xtask ci`: the checks that are not tests.

use std::time::Duration;

use anyhow::Result;

use crate::{Verdict, advisories, clock, licences, process};

/// Check format, lints, documentation, licences and advisories.
///
/// Every step is run, also after one has failed.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask ci")]
pub(crate) struct Args {}

/// A check with its name.
type Step = (&'static str, fn() -> Result<Verdict>);

const STEPS: &[Step] = &[
    ("format", || cargo("fmt --all --check")),
    ("lints", || cargo("clippy --workspace --all-targets -- -D warnings")),
    ("documentation", documentation),
    ("licences", || licences::run(&licences::Args {})),
    ("advisories", || advisories::run(&advisories::Args::default())),
];

/// Runs the task.
pub(crate) fn run(_args: &Args) -> Result<Verdict> {
    let ends: Vec<_> = STEPS.iter().map(|&step| run_step(step)).collect();
    println!("\nchecks:");
    for (name, passed, took) in &ends {
        println!(
            "  {name:<14} {:<7} {:>6.1} s",
            if *passed { "passed" } else { "FAILED" },
            took.as_secs_f64()
        );
    }
    Ok(Verdict::passed(ends.iter().all(|&(_, passed, _)| passed)))
}

/// Runs one step. One that could not be carried out has failed, and the others are still run.
fn run_step((name, check): Step) -> (&'static str, bool, Duration) {
    println!("\n== {name}");
    let (end, took) = clock::timed(check);
    let passed = end.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        Verdict::Found
    });
    (name, passed == Verdict::Clean, took)
}

fn cargo(arguments: &str) -> Result<Verdict> {
    process::succeeds(process::cargo().args(arguments.split(' '))).map(Verdict::passed)
}

fn documentation() -> Result<Verdict> {
    let mut doc = process::cargo();
    doc.args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
    process::succeeds(&mut doc).map(Verdict::passed)
}
