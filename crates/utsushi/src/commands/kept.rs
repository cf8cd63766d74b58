//! The output of a running crawl: captures, once they are durable (D2).

use crate::output::Output;
use crate::progress::Progress;
use crate::words::{count_of, grouped};
use ::crawl::{ArchivedCapture, CrawlReport, Event};
use archive::Stored;
use base::Interval;
use base::clock::RealClock;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What a run shows while it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    /// The limits of pages and time after which it ends, if any.
    pub(crate) pages: Option<u64>,
    pub(crate) time: Option<Interval>,
    /// Without a terminal, the time between two lines.
    pub(crate) line_pause: Duration,
    /// Whether every archived page has a line of its own.
    pub(crate) is_verbose: bool,
}

/// Prints events of a crawl: every capture as JSON if requested, else the progress in a few lines that are redrawn in
/// place.
pub(crate) struct Teller<'a> {
    output: &'a Output,
    progress: Progress,
    clock: Arc<RealClock>,
    shown: Shown,
    /// The last archived page.
    last: Mutex<String>,
}

impl<'a> Teller<'a> {
    /// Starts the output of a run.
    pub(crate) fn new(output: &'a Output, shown: Shown) -> Self {
        let progress = output.view(shown.line_pause);
        Self { output, progress, clock: RealClock::start(), shown, last: Mutex::default() }
    }

    /// Prints an event.
    pub(crate) fn tell(&self, event: &Event<'_>, report: &CrawlReport) {
        match event {
            Event::Kept(kept) => self.hear(kept),
            Event::Ended(_) => {}
            Event::Full(error) => self.output.complaint(format!("waiting for space on disk: {error}")),
            Event::Room => self.output.complaint("disk space is available again; continuing"),
        }
        self.progress.show(&self.lines(report));
    }

    fn hear(&self, kept: &[ArchivedCapture]) {
        if self.output.json() {
            kept.iter().for_each(|kept| self.output.object(&line(kept)));
        }
        let mut pages = kept.iter().filter(|kept| !kept.robots);
        if self.shown.is_verbose {
            pages.clone().for_each(|kept| self.output.note(in_words(kept)));
        }
        if let Some(kept) = pages.next_back() {
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = in_words(kept);
        }
    }

    /// The view: time and pages, their outcomes, what is left, the last page.
    #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
    fn lines(&self, r: &CrawlReport) -> Vec<String> {
        let elapsed = self.clock.real_elapsed();
        let rate = r.pages as f64 / elapsed.as_secs_f64().max(0.1);
        let time = self.shown.time.map(|time| format!(" of {time}")).unwrap_or_default();
        let pages = self.shown.pages.map(|pages| format!(" of {}", grouped(pages))).unwrap_or_default();
        let elapsed = Interval::from_seconds(elapsed.as_secs());
        let (archived, servers) = (grouped(r.pages), count_of(r.servers, "server"));
        vec![
            format!("{elapsed}{time}: {archived}{pages} pages archived, {rate:.1} a second, {servers}"),
            counts(r),
            format!("{} known, {} never visited", count_of(r.known, "page"), grouped(r.waiting)),
            self.last.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        ]
    }
}

fn counts(r: &CrawlReport) -> String {
    let counts = [
        ("new", r.new),
        ("duplicates", r.duplicates),
        ("changed", r.changed),
        ("unchanged", r.unchanged),
        ("moved", r.moved),
        ("gone", r.gone),
        ("errors", r.failed),
        ("no answer", r.unreachable),
        ("refused", r.refused),
        ("requisites", r.requisites),
    ];
    let counts = counts.iter().filter(|(_, count)| *count > 0);
    counts.map(|(word, count)| format!("{} {word}", grouped(*count))).collect::<Vec<_>>().join(", ")
}

fn in_words(kept: &ArchivedCapture) -> String {
    let status = kept.outcome.status().map_or_else(|| "---".to_owned(), |status| status.to_string());
    format!("{}  {:<10} {status}  {}", &kept.at.to_rfc3339()[11..19], word(kept), kept.url)
}

/// The outcome of a capture for its page, in a word.
fn word(kept: &ArchivedCapture) -> &'static str {
    match (kept.outcome.as_str(), kept.changed) {
        ("fetched", None) if kept.stored == Stored::Revisit => "duplicate",
        ("fetched", None) => "new",
        ("fetched", Some(true)) => "changed",
        ("fetched", Some(false)) | ("not-modified", _) => "unchanged",
        (other, _) => other,
    }
}

/// A durable capture for programs.
fn line(kept: &ArchivedCapture) -> serde_json::Value {
    json!({
        "url": kept.url.as_str(),
        "at": kept.at.to_rfc3339(),
        "outcome": kept.outcome.as_str(),
        "status": kept.outcome.status(),
        "changed": kept.changed,
        "robots": kept.robots,
        "requisite": kept.requisite,
        "file": &*kept.location.file,
        "offset": kept.location.offset,
        "length": kept.location.length,
    })
}
