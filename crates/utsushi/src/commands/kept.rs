//! Captures as a running crawl tells of them, once they are durable (D2).

use crate::output::Output;
use crate::progress::Progress;
use crate::words::grouped;
use ::crawl::{Event, Kept, Report};
use archive::Stored;
use base::clock::RealClock;
use serde_json::json;
use std::sync::Arc;

/// Tells what happens while it happens: every capture as JSON if that was asked for, else how far it has come.
pub(crate) struct Teller<'a> {
    output: &'a Output,
    progress: Progress,
    clock: Arc<RealClock>,
    /// Whether one capture of every batch is shown.
    shows: bool,
}

impl<'a> Teller<'a> {
    /// Tells of a crawl that ends after `pages`, if it does.
    pub(crate) fn new(output: &'a Output, pages: Option<u64>, shows: bool) -> Self {
        let progress = output.progress("archived pages", pages);
        Self { output, progress, clock: RealClock::start(), shows }
    }

    /// Tells of an event.
    pub(crate) fn tell(&self, event: &Event<'_>, report: &Report) {
        match event {
            Event::Kept(kept) if self.output.json() => {
                kept.iter().for_each(|kept| self.output.object(&line(kept)));
            }
            Event::Kept(kept) if self.shows => {
                kept.iter().rfind(|kept| !kept.robots).into_iter().for_each(|kept| self.show(kept));
            }
            Event::Kept(_) => {}
            Event::Full(error) => self.output.complaint(format!("waiting for room: {error}")),
            Event::Room => self.output.complaint("there is room again; going on"),
        }
        self.progress.set(report.pages, &self.words(report));
    }

    #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
    fn words(&self, r: &Report) -> String {
        let rate = r.pages as f64 / self.clock.real_elapsed().as_secs_f64().max(0.1);
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
        ];
        let counts = counts.iter().filter(|(_, count)| *count > 0);
        let counts: Vec<String> = counts.map(|(word, count)| format!("{} {word}", grouped(*count))).collect();
        let (known, waiting) = (grouped(r.known), grouped(r.waiting));
        format!("{rate:.1}/s, {known} known, {waiting} to be visited; {}", counts.join(", "))
    }

    fn show(&self, kept: &Kept) {
        let status = kept.outcome.status().map_or_else(|| "---".to_owned(), |status| status.to_string());
        let at = kept.at.to_rfc3339();
        self.output.note(format!("{}  {:<12} {status}  {}", &at[11..19], word(kept), kept.url));
    }
}

/// What a capture means for its page, in a word.
fn word(kept: &Kept) -> &'static str {
    match (kept.outcome.as_str(), kept.changed) {
        ("fetched", None) if kept.stored == Stored::Revisit => "duplicate",
        ("fetched", None) => "new",
        ("fetched", Some(true)) => "changed",
        ("fetched", Some(false)) | ("not-modified", _) => "unchanged",
        (other, _) => other,
    }
}

/// A durable capture as a program reads it.
fn line(kept: &Kept) -> serde_json::Value {
    json!({
        "url": kept.url.as_str(),
        "at": kept.at.to_rfc3339(),
        "outcome": kept.outcome.as_str(),
        "status": kept.outcome.status(),
        "changed": kept.changed,
        "robots": kept.robots,
        "file": &*kept.location.file,
        "offset": kept.location.offset,
        "length": kept.location.length,
    })
}
