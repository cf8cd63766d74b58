//! Reading the documents of a snapshot on a cold cache: in the order of their keys, and sorted by address (A5).
//!
//! The archive is a real one, written capture by capture as a crawl does: every page is visited once a round, in an
//! order that has nothing to do with its key, so that the versions of a page lie in different files.

use super::cold;
use crate::meter::Meter;
use anyhow::{Context, Result, ensure};
use archive::{Archive, Choice, Reader, Settings, SortOrder, Sorter};
use base::disk::RealDisk;
use base::door::{Exchange, Marks, Times};
use base::http::Framing;
use base::{Capture, Chance, Interval, Outcome, PageUrl, Timestamp};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

const START: Timestamp = Timestamp::from_seconds(1_767_225_600).expect("1 January 2026");
/// Each round takes a month.
const ROUND: Interval = Interval::from_days(30);
pub(super) const ROUNDS: u64 = 5;
const SORTER_BYTES: usize = 64 << 20;

/// How many pages, of how many bytes each on average.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crawl {
    pub(super) pages: u64,
    pub(super) body_bytes: u64,
}

impl Crawl {
    fn describe(self) -> String {
        format!("crawl 2, {ROUNDS} rounds of {} pages of {} bytes\n", self.pages, self.body_bytes)
    }
}

/// Makes the archive unless it is there, and reads a snapshot of it in both orders, `rounds` times.
pub(super) fn compare(directory: &Path, crawl: Crawl, rounds: usize) -> Result<Vec<Value>> {
    ensure_archive(directory, crawl)?;
    let reader = Reader::open(Arc::new(RealDisk), directory)?;
    // In the middle of a round: the pages visited so far come from its files, the others from those before.
    let choice = Choice::as_of(START.plus(ROUND.times(3.5)))?;
    let mut passes = [Vec::new(), Vec::new()];
    for _ in 0..rounds.max(1) {
        for (order, passes) in ["by key", "by address"].into_iter().zip(&mut passes) {
            cold::forget(directory)?;
            passes.push(read(&reader, &choice, directory, order)?);
        }
    }
    let device = cold::device(directory)?;
    let median = |passes: &mut Vec<Value>| {
        passes.sort_by(compare_seconds);
        let mut median = passes.swap_remove(passes.len() / 2);
        median["device"] = device.clone().into();
        median
    };
    Ok(passes.iter_mut().map(median).collect())
}

fn compare_seconds(one: &Value, other: &Value) -> std::cmp::Ordering {
    crate::compare::number(one, "seconds").total_cmp(&crate::compare::number(other, "seconds"))
}

/// Reads every document of the snapshot; choosing and sorting is part of the time.
fn read(reader: &Reader, choice: &Choice, spool: &Path, order: &str) -> Result<Value> {
    let meter = Meter::start()?;
    let (mut documents, mut bytes) = (0_u64, 0_u64);
    let mut take = |version: Result<archive::Version, archive::Error>| -> Result<()> {
        let document = reader.document(&version?.payload)?;
        documents += 1;
        bytes += document.body.len() as u64;
        Ok(())
    };
    if order == "by key" {
        reader.snapshot(choice)?.try_for_each(&mut take)?;
    } else {
        let mut sorter = Sorter::new(SortOrder::Address, spool, SORTER_BYTES);
        reader.snapshot(choice)?.try_for_each(|version| sorter.push(&version?))?;
        sorter.finish()?.try_for_each(&mut take)?;
    }
    let (seconds, used) = (meter.seconds(), meter.used()?);
    ensure!(documents > 0, "the snapshot is empty");
    Ok(json!({
        "task": "documents",
        "system": order,
        "documents": documents,
        "body_bytes": bytes,
        "seconds": seconds,
        "documents_per_second": documents as f64 / seconds,
        "cpu_seconds": used.cpu_seconds,
        "bytes_read": used.bytes_read,
    }))
}

fn ensure_archive(directory: &Path, crawl: Crawl) -> Result<()> {
    let note = directory.join("made-of.txt");
    if std::fs::read_to_string(&note).is_ok_and(|text| text == crawl.describe()) {
        return Ok(());
    }
    if directory.exists() {
        std::fs::remove_dir_all(directory)
            .with_context(|| format!("cannot remove `{}`", directory.display()))?;
    }
    eprintln!("making an archive of {} captures in `{}`", crawl.pages * ROUNDS, directory.display());
    let settings = Settings { file_bytes_max: 256 << 20, ..Settings::default() };
    let (mut archive, _) = Archive::open(Arc::new(RealDisk), directory, settings, START)?;
    for round in 0..ROUNDS {
        for turn in 0..crawl.pages {
            archive.append(&visit(crawl, round, turn)?)?;
        }
        archive.commit()?;
    }
    archive.close()?;
    std::fs::write(&note, crawl.describe()).with_context(|| format!("cannot write `{}`", note.display()))
}

/// The visit of the page whose turn it is. Three in four find the page changed.
fn visit(crawl: Crawl, round: u64, turn: u64) -> Result<Capture> {
    // A step that shares no factor with the number of pages visits each once.
    let step =
        (0..).map(|more| crawl.pages * 5 / 8 + more).find(|step| shared_factor(*step, crawl.pages) == 1);
    let page = (turn * step.unwrap_or(1) + round * 77) % crawl.pages;
    let url = PageUrl::parse(&format!("https://server{}.example.org/page/{page}", page % 997))?;
    let mut chance = Chance::of(&[page, round]);
    let version = if chance.happens(0.75) { round } else { round.saturating_sub(1) };
    let body = body(crawl, page, version);
    let exchange = Exchange {
        address: "192.0.2.7:443".parse()?,
        request_head: format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", url.target(), url.host()).into_bytes(),
        response_head: format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes(),
        body: body.into(),
        status: 200,
        framing: Framing::UntilClose,
        truncated: None,
        marks: Marks::default(),
        times: Times::default(),
    };
    let share = turn as f64 / crawl.pages as f64;
    let at = START.plus(ROUND.times(round as f64 + share));
    let outcome = Outcome::Fetched { status: 200, content: None, truncated: None };
    Ok(Capture { url, at, outcome, exchange: Some(exchange) })
}

fn shared_factor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { shared_factor(other, one % other) }
}

/// Words that compress and bytes that do not, as a page with pictures in it.
fn body(crawl: Crawl, page: u64, version: u64) -> Vec<u8> {
    let mut chance = Chance::of(&[page, version, 9]);
    let length = usize::try_from(crawl.body_bytes / 2 + chance.below(crawl.body_bytes)).unwrap_or(0);
    let mut body = format!("<html><title>{page}, {version}</title>").into_bytes();
    while body.len() < length {
        if body.len() % 31 == 0 {
            body.extend_from_slice(b"<p>the same words again and again</p>");
        }
        body.extend_from_slice(&chance.bits().to_le_bytes());
    }
    body
}
