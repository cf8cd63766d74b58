//! How long a frontier takes from a crash to its first visit: `cargo run --release -p frontier --example restart -- 10000000`.
//!
//! It makes a store of that many pages on a hundredth as many servers, due over 400 days, commits, and drops it without
//! closing, like a crash. Then it opens it again and asks for the first task.

use base::disk::DirectDisk;
use base::{Chance, Interval, PageUrl, Timestamp};
use frontier::{CrawlScope, FoundUrl, Frontier, Mode, Next, RevisitPolicy, Settings};
use std::path::Path;
use std::sync::Arc;

/// Pages that are added at a time.
const CHUNK: u64 = 100_000;

fn open(directory: &Path, now: Timestamp) -> Frontier {
    let store = sat::Store::open(Arc::new(DirectDisk), directory, frontier::store_options(now));
    let scope = CrawlScope::new(Mode::Any, Vec::new());
    let settings = Settings { scope, ..Settings::default() };
    let store = store.expect("the store opens");
    Frontier::open(store, settings, RevisitPolicy::paper(), now).expect("the frontier opens")
}

fn fill(frontier: &mut Frontier, pages: u64, now: Timestamp) {
    let servers = (pages / 100).max(1);
    let mut chance = Chance::new(1);
    for chunk in 0..pages.div_ceil(CHUNK) {
        for number in chunk * CHUNK..((chunk + 1) * CHUNK).min(pages) {
            let text = format!("http://www.server-{}.example/archive/{number}.html", number % servers);
            let url = PageUrl::parse(&text).expect("a URL");
            let due = now.plus(Interval::from_seconds(chance.below(400 * 86_400)));
            frontier.add(&[FoundUrl::page(url)], 0, due).expect("it can be written");
        }
        frontier.settle(now).expect("it can be written");
        frontier.commit(now).expect("it can be written");
    }
    frontier.commit_durably(now).expect("it can be written");
}

#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a measurement")]
fn main() {
    let pages = std::env::args().nth(1).map_or(10_000_000, |count| count.parse().expect("a number"));
    let directory = tempfile::tempdir().expect("a directory");
    let now = Timestamp::from_seconds(1_800_000_000).expect("in range");
    let begun = std::time::Instant::now();
    let mut frontier = open(directory.path(), now);
    fill(&mut frontier, pages, now);
    println!("{} pages made in {:.1} s", frontier.pages(), begun.elapsed().as_secs_f64());
    drop(frontier);
    let later = now.plus(Interval::from_hours(1));
    let begun = std::time::Instant::now();
    let mut frontier = open(directory.path(), later);
    let opened = begun.elapsed();
    let mut at = later;
    let first = loop {
        match frontier.next(at).expect("it can be read") {
            Next::Do(task) => break task,
            Next::Wait(until) => at = until,
            Next::Idle => panic!("pages are due"),
        }
    };
    let chosen = begun.elapsed();
    println!(
        "opened in {:.2} s, first task chosen after {:.2} s",
        opened.as_secs_f64(),
        chosen.as_secs_f64()
    );
    println!("first request {} after the start: {:?}", at.since(later), first.step);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    println!("{resident}");
}
