//! The titles of all pages: built in, by functions in Python through the protocol, and by the same functions in a FastWARC
//! script under GNU parallel, which hands it whole files.
//!
//! The functions are two. One parses a page, as the library that FastWARC comes with does, and says what the built-in
//! analysis says; by it we are judged. The other searches the bytes for a tag and is content with what it finds there.

use super::contest::{Side, lines, speed};
use super::corpus::Corpus;
use super::verdict::{Bound, Verdict};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
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
    let side = |name: &str| Side::new("titles", name);
    let mut builtin = side("utsushi, built in");
    let mut parsed = [side("GNU parallel, FastWARC, parsed"), side("utsushi, the same Python, parsed")];
    let mut searched = [side("GNU parallel, FastWARC, searched"), side("utsushi, the same Python, searched")];
    for _ in 0..rounds {
        builtin.turns.push(lines(corpus, scan(corpus)?.args(["--builtin", "titles"]), BUILTIN)?);
        take_turns(corpus, PARSED, &mut parsed)?;
        take_turns(corpus, SEARCHED, &mut searched)?;
    }
    let [parallel, python] = &parsed;
    let [quick_parallel, quick_python] = &searched;
    let verdicts = vec![
        Verdict::new(
            "titles built in, speed over GNU parallel",
            speed(&builtin, parallel)?,
            Bound::AtLeast(BUILTIN_MIN),
        ),
        Verdict::new(
            "titles by the same Python, speed over GNU parallel",
            speed(python, parallel)?,
            Bound::AtLeast(PYTHON_MIN),
        ),
        Verdict::new("titles that both find alike, share", share_alike(corpus)?, Bound::None),
        Verdict::new(
            "titles built in, speed over GNU parallel with a search",
            speed(&builtin, quick_parallel)?,
            Bound::None,
        ),
        Verdict::new(
            "a search by the same Python, speed over GNU parallel",
            speed(quick_python, quick_parallel)?,
            Bound::AtLeast(PYTHON_MIN),
        ),
    ];
    let sides = [&builtin].into_iter().chain(&parsed).chain(&searched);
    Ok((sides.map(|side| side.to_json(corpus.documents)).collect::<Result<_>>()?, verdicts))
}

/// The functions in Python, and the file that the results of the built-in analysis are in.
const PARSED: &str = "titles";
const SEARCHED: &str = "searched titles";
const BUILTIN: &str = "builtin";

fn take_turns(corpus: &Corpus, function: &str, [parallel, python]: &mut [Side; 2]) -> Result<()> {
    parallel.turns.push(lines(
        corpus,
        &mut parallel_command(corpus, function)?,
        &format!("parallel {function}"),
    )?);
    python.turns.push(lines(
        corpus,
        scan(corpus)?.arg("--").args(program(function)?),
        &format!("python {function}"),
    )?);
    Ok(())
}

/// The share of pages of which the built-in analysis and the parser in Python say the same: whoever compares speeds must
/// compare the same work.
fn share_alike(corpus: &Corpus) -> Result<f64> {
    let read = |name: &str| -> Result<BTreeMap<String, String>> {
        let text = std::fs::read_to_string(corpus.directory.join(format!("{name}.out")))?;
        let title = |line: &str| -> Option<(String, String)> {
            let object: Value = serde_json::from_str(line).ok()?;
            let folded = object["result"]
                .as_str()
                .unwrap_or_default()
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            Some((object["url"].as_str()?.to_owned(), folded))
        };
        Ok(text.lines().filter_map(title).collect())
    };
    let (ours, theirs) = (read(BUILTIN)?, read(&format!("parallel {PARSED}"))?);
    let alike = ours.iter().filter(|(url, title)| theirs.get(*url) == Some(title)).count();
    Ok(alike as f64 / ours.len().max(1) as f64)
}

/// A scan whose results go where those of GNU parallel go.
fn scan(corpus: &Corpus) -> Result<Command> {
    let mut command = corpus.utsushi()?;
    command.args(["scan", "--at", "now", "--jobs", &corpus.jobs.to_string()]);
    Ok(command)
}

fn parallel_command(corpus: &Corpus, function: &str) -> Result<Command> {
    let parallel = std::env::var_os(PARALLEL)
        .context("there is no GNU parallel: run this through `cargo xtask bench scan`")?;
    let script = corpus.directory.join("peers.py");
    std::fs::write(&script, SCRIPT).with_context(|| format!("cannot write `{}`", script.display()))?;
    let python = std::env::var_os(PYTHON).context("there is no Python")?;
    let mut command = Command::new(parallel);
    command.args(["--will-cite", "--jobs", &corpus.jobs.to_string()]).arg(python).arg(script);
    command.args([&format!("'{function}'"), "{}", ":::"]).args(corpus.files()?);
    Ok(command)
}
