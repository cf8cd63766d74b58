//! The titles of all pages: built in, by a function in Python through the protocol, and by the same function in a FastWARC
//! script under GNU parallel, which hands it whole files.

use super::contest::{Side, lines, speed};
use super::corpus::Corpus;
use super::verdict::{Bound, Verdict};
use anyhow::{Context, Result};
use serde_json::Value;
use std::process::Command;

/// How many times as fast as GNU parallel the built-in analysis must be, and the function in Python.
const BUILTIN_MIN: f64 = 4.0;
const PYTHON_MIN: f64 = 1.0;

const PYTHON: &str = "UTSUSHI_PYTHON";
const PARALLEL: &str = "UTSUSHI_PARALLEL";
/// Both ways to run the functions: as a program for a scan, and over files.
const SCRIPT: &str = include_str!("peers.py");

/// A program for a scan that applies one of the functions in Python.
pub(super) fn program(function: &str) -> Result<Vec<String>> {
    let python =
        std::env::var(PYTHON).context("there is no Python: run this through `cargo xtask bench scan`")?;
    Ok([&*python, "-c", SCRIPT, function].map(str::to_owned).into())
}

pub(super) fn compare(corpus: &Corpus, rounds: usize) -> Result<(Vec<Value>, Vec<Verdict>)> {
    let mut parallel = Side::new("titles", "GNU parallel, FastWARC, Python");
    let mut builtin = Side::new("titles", "utsushi, built in");
    let mut python = Side::new("titles", "utsushi, the same Python");
    for _ in 0..rounds {
        parallel.turns.push(lines(corpus, &mut parallel_command(corpus)?, "parallel")?);
        builtin.turns.push(lines(corpus, scan(corpus)?.args(["--builtin", "titles"]), "builtin")?);
        python.turns.push(lines(corpus, scan(corpus)?.arg("--").args(program("titles")?), "python")?);
    }
    let verdicts = vec![
        Verdict::new(
            "titles built in, speed over GNU parallel",
            speed(&builtin, &parallel)?,
            Bound::AtLeast(BUILTIN_MIN),
        ),
        Verdict::new(
            "titles by the same Python, speed over GNU parallel",
            speed(&python, &parallel)?,
            Bound::AtLeast(PYTHON_MIN),
        ),
    ];
    let results = [&parallel, &builtin, &python].map(|side| side.to_json(corpus.documents));
    Ok((results.into_iter().collect::<Result<_>>()?, verdicts))
}

/// A scan whose results go where those of GNU parallel go.
fn scan(corpus: &Corpus) -> Result<Command> {
    let mut command = corpus.utsushi()?;
    command.args(["scan", "--at", "now", "--jobs", &corpus.jobs.to_string()]);
    Ok(command)
}

fn parallel_command(corpus: &Corpus) -> Result<Command> {
    let parallel = std::env::var_os(PARALLEL)
        .context("there is no GNU parallel: run this through `cargo xtask bench scan`")?;
    let script = corpus.directory.join("peers.py");
    std::fs::write(&script, SCRIPT).with_context(|| format!("cannot write `{}`", script.display()))?;
    let python = std::env::var_os(PYTHON).context("there is no Python")?;
    let mut command = Command::new(parallel);
    command.args(["--will-cite", "--jobs", &corpus.jobs.to_string()]).arg(python).arg(script);
    command.args(["titles", "{}", ":::"]).args(corpus.files()?);
    Ok(command)
}
