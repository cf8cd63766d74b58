//! Trivial analyses, built in and external, compared with a bare loop over the same members.

use super::contest::{Side, scan, speed, turn};
use super::corpus::Corpus;
use super::verdict::{Bound, Verdict};
use crate::compare::ourselves;
use anyhow::{Context, Result};
use serde_json::Value;
use std::process::Stdio;

/// The shares of the speed of the bare loop that must be reached.
const BUILTIN_MIN: f64 = 0.8;
const PROGRAM_MIN: f64 = 0.5;

pub(super) fn compare(corpus: &Corpus, rounds: usize) -> Result<(Vec<Value>, Vec<Verdict>)> {
    let mut bare = Side::new("throughput", "bare loop");
    let mut builtin = Side::new("throughput", "utsushi, sizes (built in)");
    let mut program = Side::new("throughput", "utsushi, a program that answers null");
    let noop = std::env::current_exe().context("cannot find this program")?;
    let noop = noop.to_str().context("this program has a name that is text")?;
    // One run before, so that the page cache holds the files.
    bare_turn(corpus)?;
    for _ in 0..rounds {
        bare.turns.push(bare_turn(corpus)?);
        builtin.turns.push(scan(corpus, &["--builtin", "sizes"])?);
        program.turns.push(scan(corpus, &["--", noop, "scan-noop"])?);
    }
    let verdicts = vec![
        Verdict::new(
            "built in, speed over the bare loop",
            loop_speed(&builtin, &bare)?,
            Bound::AtLeast(BUILTIN_MIN),
        ),
        Verdict::new(
            "a program, speed over the bare loop",
            loop_speed(&program, &bare)?,
            Bound::AtLeast(PROGRAM_MIN),
        ),
        Verdict::new("built in, the whole command over the bare loop", speed(&builtin, &bare)?, Bound::None),
        Verdict::new("a program, the whole command over the bare loop", speed(&program, &bare)?, Bound::None),
    ];
    let results = [&bare, &builtin, &program].map(|side| side.to_json(corpus.documents));
    Ok((results.into_iter().collect::<Result<_>>()?, verdicts))
}

/// The same for the scan alone, from its first document to its last result: the bare loop knows beforehand where the documents
/// are, and we know it when they are chosen.
fn loop_speed(side: &Side, bare: &Side) -> Result<f64> {
    let trace = side.median()?.trace.as_ref().context("a scan has a trace")?;
    Ok(bare.median()?.seconds / trace.seconds)
}

fn bare_turn(corpus: &Corpus) -> Result<super::contest::Turn> {
    let mut command = ourselves()?;
    command.arg("scan-bare").arg("--archive").arg(corpus.data().join("archive"));
    command.arg("--members").arg(corpus.members()).arg("--jobs").arg(corpus.jobs.to_string());
    turn(command.stdout(Stdio::null()))
}

/// A program that answers `null` to every document.
pub(crate) fn noop() -> Result<()> {
    Ok(scan::protocol::serve(std::io::stdin(), std::io::stdout(), |_, _| "null".to_owned())?)
}
