//! The summary of a crawl: its visits, what is known, what to do next.

use crate::commands::counts;
use crate::words::{bytes, count_of};
use ::crawl::{CrawlReport, Remains};
use frontier::{Failing, SeedReport};
use node::directory::DirectoryWriter;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// The maximum number of pages and seeds listed; `--json` lists all.
const NAMED_MAX: usize = 10;

/// The contents of the summary.
pub(super) struct Summary<'a> {
    pub(super) report: &'a CrawlReport,
    pub(super) remains: &'a Remains,
    pub(super) writer: &'a DirectoryWriter,
    pub(super) took: Duration,
}

impl Summary<'_> {
    /// For programs.
    pub(super) fn to_json(&self) -> Value {
        let mut object = counts::to_json(self.report);
        let failing = self.remains.failing.iter().map(failing_json).collect::<Vec<_>>();
        let seeds = self.remains.seeds.iter().map(seed_json).collect::<Vec<_>>();
        object.insert("failing_pages".to_owned(), failing.into());
        object.insert("seeds".to_owned(), seeds.into());
        object.insert("seconds".to_owned(), json!(self.took.as_secs_f64()));
        object.into()
    }

    /// For people.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        let r = self.report;
        counts::lines(r).iter().try_for_each(|line| writeln!(text, "{line}"))?;
        writeln!(
            text,
            "{:<16}{:>11}  received, {} written to {}",
            "bytes",
            bytes(r.bytes_received),
            bytes(r.bytes_written),
            self.writer.archive_path().display()
        )?;
        self.write_remains(text)?;
        let data = self.writer.directory().path().display();
        writeln!(text, "\nutsushi --data {data} crawl           continue")?;
        writeln!(text, "utsushi --data {data} status          show the contents and the next visits")?;
        writeln!(
            text,
            "utsushi --data {data} explain URL     show one page: its history, its next visit and why"
        )
    }

    /// Lists the pages that could not be fetched, and the seeds that redirect or fail.
    fn write_remains(&self, text: &mut String) -> std::fmt::Result {
        let (data, failing) = (self.writer.directory().path().display(), self.report.failing);
        if failing > 0 {
            let advice =
                format!("could not be fetched so far; `utsushi --data {data} status --failed` lists them");
            writeln!(text, "\n{} {advice}", count_of(failing, "page"))?;
        }
        for page in self.remains.failing.iter().take(NAMED_MAX) {
            writeln!(text, "  {}  {}, {}", page.url, page.reason, times(page.failures))?;
        }
        for seed in self.remains.seeds.iter().take(NAMED_MAX) {
            writeln!(text, "{}", seed_line(seed))?;
        }
        Ok(())
    }
}

fn times(failures: u32) -> String {
    if failures == 1 { "once".to_owned() } else { format!("{failures} times in a row") }
}

fn seed_line(seed: &SeedReport) -> String {
    let leads = seed.target.as_ref().map(|target| format!(" leads to {target}")).unwrap_or_default();
    let reason = seed.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let ended = if seed.is_lost { format!(": {}{reason}", seed.ended) } else { String::new() };
    format!("seed {}{leads}{ended}", seed.url)
}

fn failing_json(page: &Failing) -> Value {
    json!({
        "url": page.url, "reason": page.reason, "failures": page.failures,
        "next_due": page.next_due.to_rfc3339(),
    })
}
fn seed_json(seed: &SeedReport) -> Value {
    json!({
        "url": seed.url, "target": seed.target, "outcome": seed.ended, "reason": seed.reason,
        "lost": seed.is_lost,
    })
}
