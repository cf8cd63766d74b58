//! The three ways of supply compared, as in figure 2 of paper 000.

use super::contest::{Side, busy_min, finish_spread, scan, speed};
use super::corpus::Corpus;
use super::titles;
use super::verdict::{Bound, Verdict};
use anyhow::{Context, Result};
use serde_json::Value;
use std::path::Path;

/// Workers must be busy for this share of the run,
const BUSY_MIN: f64 = 0.95;
/// and finish this close together,
const SPREAD_MAX: f64 = 0.02;
/// as long as no document takes more of it than this.
const LONGEST_MAX: f64 = 0.01;

/// From the slowest in theory to the fastest.
const SUPPLIES: [&str; 3] = ["static", "synchronous", "pipelined"];

/// An analysis that is run in the three ways.
struct Analysis {
    name: &'static str,
    arguments: Vec<String>,
}

pub(super) fn compare(
    corpus: &Corpus,
    rounds: usize,
    figure: Option<&Path>,
) -> Result<(Vec<Value>, Vec<Verdict>)> {
    let (mut results, mut verdicts) = (Vec::new(), Vec::new());
    for analysis in analyses()? {
        let sides = run(corpus, rounds, &analysis)?;
        for side in &sides {
            results.push(side.to_json(corpus.documents)?);
        }
        verdicts.extend(judge(corpus, &analysis, &sides)?);
        if let Some(path) = figure.filter(|_| analysis.name == FIGURE) {
            draw(&sides, path)?;
        }
    }
    Ok((results, verdicts))
}

/// The one that is drawn.
const FIGURE: &str = "words";

fn analyses() -> Result<Vec<Analysis>> {
    let words = Analysis { name: FIGURE, arguments: vec!["--builtin".to_owned(), FIGURE.to_owned()] };
    let mut program = vec!["--".to_owned()];
    program.extend(titles::program("words")?);
    Ok(vec![words, Analysis { name: "words in Python", arguments: program }])
}

fn run(corpus: &Corpus, rounds: usize, analysis: &Analysis) -> Result<Vec<Side>> {
    let name = |supply: &&str| Side::new("supply", format!("{}, {supply}", analysis.name));
    let mut sides: Vec<Side> = SUPPLIES.iter().map(name).collect();
    let arguments: Vec<&str> = analysis.arguments.iter().map(String::as_str).collect();
    for _ in 0..rounds {
        for (side, supply) in sides.iter_mut().zip(SUPPLIES) {
            side.turns.push(scan(corpus, &[&["--supply", supply], &*arguments].concat())?);
        }
    }
    Ok(sides)
}

fn judge(corpus: &Corpus, analysis: &Analysis, sides: &[Side]) -> Result<Vec<Verdict>> {
    let [fixed, synchronous, pipelined] = sides else { anyhow::bail!("there are three ways") };
    let (name, turn) = (analysis.name, pipelined.median()?);
    let trace = turn.trace.as_ref().context("a scan has a trace")?;
    let longest = longest_seconds(corpus, analysis)? / trace.seconds;
    Ok(vec![
        Verdict::new(
            format!("{name}, pipelined: share with a document in hand, least busy worker"),
            busy_min(trace),
            Bound::AtLeast(BUSY_MIN),
        ),
        Verdict::new(
            format!("{name}, pipelined: first worker done before the last, share of the run"),
            finish_spread(trace),
            Bound::AtMost(SPREAD_MAX),
        ),
        Verdict::new(
            format!("{name}: the longest document, share of the run"),
            longest,
            Bound::AtMost(LONGEST_MAX),
        ),
        Verdict::new(
            format!("{name}: speed of pipelined over static"),
            speed(pipelined, fixed)?,
            Bound::None,
        ),
        Verdict::new(
            format!("{name}: speed of pipelined over synchronous"),
            speed(pipelined, synchronous)?,
            Bound::None,
        ),
    ])
}

/// How long the longest document takes: a scan of it alone, its start included, so it is rather less.
fn longest_seconds(corpus: &Corpus, analysis: &Analysis) -> Result<f64> {
    let mut command = corpus.utsushi()?;
    command.args(["--json", "scan", "--at", "now", "--jobs", "1", "--anew", "-o"]);
    command
        .arg(corpus.directory.join("longest.jsonl"))
        .args(["--prefix", &corpus.longest])
        .args(&analysis.arguments);
    let told = crate::compare::result_of(&mut command)?;
    told["seconds"].as_f64().context("a scan reports how long it took")
}

/// The medians, one below the other.
fn draw(sides: &[Side], path: &Path) -> Result<()> {
    let mut traces = Vec::new();
    for side in sides {
        traces.push(side.median()?.trace.clone().context("a scan has a trace")?);
    }
    std::fs::write(path, scan::trace::svg(&traces))
        .with_context(|| format!("cannot write `{}`", path.display()))?;
    eprintln!("drew {}", path.display());
    Ok(())
}
