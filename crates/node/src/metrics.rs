//! The counts of a crawl for Prometheus (O2): a text, and a port that answers `GET /metrics` with it.
//!
//! **Invariant:** a name ends in `_total` exactly if it only grows; units are bytes, seconds and counts, and are part of the
//! name. No metric names a page or a server.

mod respond;

pub use respond::MetricsServer;

use super::views::ScheduleView;
use crawl::CrawlReport;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The counts in the form that Prometheus reads (version 0.0.4).
pub fn exposition(report: &CrawlReport, whole: Option<&ScheduleView>, up_seconds: f64) -> String {
    let mut text = Text(String::new());
    text.of_visits(report);
    text.counter("requests_total", "HTTP requests that ended, robots files included.", report.requests);
    text.counter("requests_unanswered_total", "HTTP requests that got no answer.", report.unanswered);
    text.counter("received_bytes_total", "Bytes received from servers.", report.bytes_received);
    text.counter("archived_bytes_total", "Bytes added to the archive.", report.bytes_written);
    text.counter("links_dropped_total", "Links that were not added.", report.dropped);
    text.counter(
        "captures_lost_total",
        "Captures discarded because the disk was full at the end.",
        report.lost,
    );
    text.gauge("up_seconds", "Time since the crawl began.", up_seconds);
    if let Some(whole) = whole {
        text.of_schedule(whole);
    }
    text.0
}

struct Text(String);

impl Text {
    fn of_visits(&mut self, report: &CrawlReport) {
        self.head("visits_total", "Archived visits to pages, by outcome.", "counter");
        let outcomes = [
            ("new", report.new),
            ("duplicate", report.duplicates),
            ("changed", report.changed),
            ("unchanged", report.unchanged),
            ("moved", report.moved),
            ("gone", report.gone),
            ("failed", report.failed),
            ("refused", report.refused),
            ("unreachable", report.unreachable),
        ];
        for (outcome, count) in outcomes {
            self.line(&format!("visits_total{{outcome=\"{outcome}\"}}"), count);
        }
        self.counter("robots_files_total", "Archived responses for robots files.", report.robots);
        self.counter("requisites_total", "Archived responses for page requisites.", report.requisites);
    }

    fn of_schedule(&mut self, whole: &ScheduleView) {
        self.gauge("servers", "Servers known.", whole.servers);
        self.gauge(
            "servers_overloaded",
            "Servers whose schedule needs more requests than the delay allows.",
            whole.overloaded,
        );
        self.gauge("pages", "Pages known.", whole.pages);
        self.gauge("pages_new", "Pages known and never visited.", whole.new);
        self.gauge("pages_queued", "Pages in the short-term queue.", whole.queued);
        self.held_back(&whole.held_back);
        self.gauge("pages_dropped", "Pages dropped because their servers are overloaded.", whole.dropped);
        self.gauge("links_waiting", "Links waiting for a scope decision.", whole.offered);
        self.gauge("load_requests_per_second", "Requests per second that the schedule needs.", whole.load);
        self.gauge("requests_today", "Requests since midnight, UTC.", whole.requests_today);
        self.gauge("received_bytes_today", "Bytes received since midnight, UTC.", whole.bytes_today);
        self.gauge("paused", "1 while the crawl is paused.", u8::from(whole.paused));
        self.gauge("network_down", "1 while no server answers.", u8::from(whole.network_down));
    }

    fn held_back(&mut self, by_reason: &BTreeMap<String, u64>) {
        self.head("pages_held_back", "Pages and links that are held back, by reason.", "gauge");
        for reason in frontier::HoldReason::ALL.map(frontier::HoldReason::as_str) {
            let count = by_reason.get(reason).copied().unwrap_or(0);
            self.line(&format!("pages_held_back{{reason=\"{reason}\"}}"), count);
        }
    }
    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.head(name, help, "counter");
        self.line(name, value);
    }
    fn gauge(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.head(name, help, "gauge");
        self.line(name, value);
    }
    fn head(&mut self, name: &str, help: &str, kind: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.0, "# HELP utsushi_{name} {help}\n# TYPE utsushi_{name} {kind}\n");
    }
    fn line(&mut self, name: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "utsushi_{name} {value}");
    }
}

#[cfg(test)]
mod tests;
