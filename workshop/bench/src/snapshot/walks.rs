//! Snapshots of many kinds, each taking turns with a bare loop that reads, checks and decodes the same files.

use super::synthetic::{END, Histories, START, Size};
use crate::meter::Meter;
use anyhow::{Context, Result, ensure};
use archive::{Asked, Choice, Reader, Recipe, Scope, Unit};
use base::disk::RealDisk;
use base::{Period, Timestamp};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// A question, and whether it is one that the bare loop can be compared with: it passes every block of the index.
struct Question {
    name: &'static str,
    choice: Choice,
    is_judged: bool,
}

/// One pass over the index.
#[derive(Clone, Copy, Debug)]
struct Pass {
    seconds: f64,
    cpu_seconds: f64,
    chosen: u64,
    seen: u64,
}

/// Asks every question `rounds` times, and the bare loop as often.
pub(super) fn compare(index: &Path, size: Size, rounds: usize) -> Result<Vec<Value>> {
    let reader = Reader::open(Arc::new(RealDisk), index)?;
    let questions = questions(size)?;
    // Once before, so that the page cache holds the files.
    bare(index)?;
    let mut bares = Vec::new();
    let mut passes: Vec<Vec<Pass>> = questions.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds.max(1) {
        bares.push(bare(index)?);
        for (question, passes) in questions.iter().zip(&mut passes) {
            passes.push(walk(&reader, &question.choice)?);
        }
    }
    let bare = median(&bares);
    ensure!(bare.seen == size.versions, "the bare loop saw {} rows", bare.seen);
    let mut results = vec![to_json("bare loop", bare, bare)];
    for (question, passes) in questions.iter().zip(&passes) {
        let mut result = to_json(question.name, median(passes), bare);
        result["is_judged"] = question.is_judged.into();
        results.push(result);
    }
    Ok(results)
}

fn questions(size: Size) -> Result<Vec<Question>> {
    let asked = |name, is_judged, asked: Asked| -> Result<Question> {
        Ok(Question { name, choice: asked.check()?, is_judged })
    };
    let at = |share: f64| Asked { at: Some(moment(share)), ..Asked::default() };
    let during = Period::new(START, END);
    let half = Period::new(moment(0.5), moment(0.75));
    let recipe = Some(Recipe::AccessedInAndValidAtEnd);
    let keys: Vec<String> = Histories::keys(size).collect();
    let server =
        |key: &str| key.split_once(')').map(|(server, _)| server.rsplit(',').collect::<Vec<_>>().join("."));
    let server = server(largest_server(&keys)).context("a key names its server")?;
    Ok(vec![
        asked("as of, recent", true, at(0.98))?,
        asked("as of, middle", true, at(0.5))?,
        asked("as of, old", true, at(0.1))?,
        asked("during all, contents", true, Asked { during, ..Asked::default() })?,
        asked("during all, visits", true, Asked { during, unit: Some(Unit::Visit), ..Asked::default() })?,
        asked("the paper's recipe", true, Asked { during: half, recipe, ..Asked::default() })?,
        asked("as of, one site", false, Asked { site: Some(Scope::site(&server)?), ..at(0.5) })?,
        asked(
            "as of, one prefix",
            false,
            Asked { prefix: Some(Scope::prefix(&format!("http://{server}/news/"))?), ..at(0.5) },
        )?,
    ])
}

/// A key of the server with the most pages.
fn largest_server(keys: &[String]) -> &str {
    let of = |key: &String| key.split_once(')').map_or(0, |(server, _)| server.len());
    let runs = keys.chunk_by(|one, other| one.get(..of(one)) == other.get(..of(other)));
    runs.max_by_key(|run| run.len()).and_then(|run| run.first()).map_or("", String::as_str)
}

/// The moment at this share of the crawl.
pub(super) fn moment(share: f64) -> Timestamp {
    START.plus(END.since(START).times(share))
}

fn bare(index: &Path) -> Result<Pass> {
    let meter = Meter::start()?;
    let (seen, _) = archive::rig::read_bare(&RealDisk, index)?;
    Ok(Pass { seconds: meter.seconds(), cpu_seconds: meter.used()?.cpu_seconds, chosen: 0, seen })
}

fn walk(reader: &Reader, choice: &Choice) -> Result<Pass> {
    let meter = Meter::start()?;
    let mut snapshot = reader.snapshot(choice)?;
    let (mut chosen, mut bytes) = (0, 0);
    for version in &mut snapshot {
        let version = version?;
        chosen += 1;
        bytes += version.payload.location.length;
    }
    std::hint::black_box(bytes);
    Ok(Pass {
        seconds: meter.seconds(),
        cpu_seconds: meter.used()?.cpu_seconds,
        chosen,
        seen: snapshot.seen(),
    })
}

/// The pass of median duration.
fn median(passes: &[Pass]) -> Pass {
    let mut sorted = passes.to_vec();
    sorted.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    sorted[sorted.len() / 2]
}

fn to_json(name: &str, pass: Pass, bare: Pass) -> Value {
    json!({
        "task": "walk",
        "system": name,
        "versions_chosen": pass.chosen,
        "rows_seen": pass.seen,
        "seconds": pass.seconds,
        "cpu_seconds": pass.cpu_seconds,
        "rows_seen_per_second": pass.seen as f64 / pass.seconds,
        "speed_of_bare_loop": bare.seconds / pass.seconds,
    })
}
