//! What commands, console and cluster show of pages, servers and the schedule, as JSON on the wire and in output.
//!
//! Times are RFC 3339, durations are seconds.

use crate::held_back;
use archive::Entry;
use base::{Interval, Timestamp};
use frontier::{Bin, Explanation, Failing, Figures, Overview, ServerReport};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What `explain --json` prints of a page (D17).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageView {
    /// The page.
    pub url: String,
    /// Its key.
    pub key: String,
    /// Its server.
    pub server: String,
    /// The address of the server.
    pub address: Option<String>,
    /// `unknown`, `new`, `live`, `gone` and so on.
    pub state: String,
    /// Why it is in that state.
    pub reason: String,
    /// When it became known.
    pub first_seen: Option<String>,
    /// The page that linked to it first.
    pub found_on: Option<String>,
    /// Number of answered visits.
    pub visits: u32,
    /// Number of changes seen.
    pub changes: u32,
    /// Time observed.
    pub elapsed: u64,
    /// Time in which no change was seen.
    pub unchanged_sum: u64,
    /// Estimated time between two changes.
    pub estimate: Option<u64>,
    /// The revisit policy.
    pub policy: String,
    /// The time between two visits.
    pub interval: Option<u64>,
    /// When the next visit is due.
    pub next_due: Option<String>,
    /// What limits the interval.
    pub limited_by: Option<String>,
    /// Share of the budget of its server.
    pub budget_share: Option<f64>,
    /// The hint that moved its next visit.
    pub hint: Option<String>,
    /// How the last visit ended.
    pub last_outcome: Option<String>,
}

/// The history of a page, with fields for people only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExplainView {
    /// The page.
    pub page: PageView,
    /// What it is visited for.
    pub role: String,
    /// When it was visited last.
    pub last_visit: Option<String>,
    /// The order in which it is queued.
    pub queued_for: Option<String>,
    /// Changes outside the main text.
    pub side_changes: u32,
}

impl From<Explanation> for ExplainView {
    fn from(told: Explanation) -> Self {
        let page = PageView {
            url: told.url,
            key: told.key,
            server: told.server,
            address: told.address.map(|address| address.to_string()),
            state: told.state.to_owned(),
            reason: told.reason,
            first_seen: told.first_seen.map(Timestamp::to_rfc3339),
            found_on: told.found_on,
            visits: told.visits,
            changes: told.changes,
            elapsed: told.elapsed.as_seconds(),
            unchanged_sum: told.unchanged_sum.as_seconds(),
            estimate: told.estimate.map(Interval::as_seconds),
            policy: told.policy,
            interval: told.interval.map(Interval::as_seconds),
            next_due: told.next_due.map(Timestamp::to_rfc3339),
            limited_by: told.limited_by.map(ToOwned::to_owned),
            budget_share: told.budget_share,
            hint: told.hint,
            last_outcome: told.last_outcome,
        };
        Self {
            page,
            role: told.role.as_str().to_owned(),
            last_visit: told.last_visit.map(Timestamp::to_rfc3339),
            queued_for: told.queued_for.map(Timestamp::to_rfc3339),
            side_changes: told.side_changes,
        }
    }
}

/// What `servers --json` prints of a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerView {
    /// Its name.
    pub server: String,
    /// Its address.
    pub address: Option<String>,
    /// Known pages.
    pub pages: u64,
    /// Pages that were never visited.
    pub new: u64,
    /// Pages in the queue.
    pub queued: u64,
    /// Pages that are gone.
    pub gone: u64,
    /// Pages that were dropped because the server is overloaded.
    pub dropped: u64,
    /// Requests per second that the schedule needs.
    pub load: f64,
    /// The interval between requests that would keep it.
    pub interval: Option<f64>,
    /// The interval between requests that is kept.
    pub pause: f64,
    /// Why that is longer than configured: a status, or `latency`.
    pub slowed_by: Option<String>,
    /// Pages whose last visit failed.
    pub failing: u64,
    /// Whether more visits are due than the delay allows.
    pub overloaded: bool,
    /// Load of all servers on its address.
    pub address_load: f64,
    /// Load that is left after overload was resolved.
    pub resolved_load: f64,
    /// Whether its owner agreed to other limits.
    pub agreed: bool,
    /// Until when no request is sent to it.
    pub resting_until: Option<String>,
    /// Failures in a row.
    pub failures: u32,
    /// Requests sent.
    pub requests: u64,
    /// The server that this is another name of.
    pub alias_of: Option<String>,
    /// The expected share of fresh pages: of those live or never visited, and of the live ones alone.
    pub expected_freshness: Option<f64>,
    /// The same of pages that were visited and are live.
    #[serde(default)]
    pub expected_freshness_visited: Option<f64>,
    /// By how many seconds the copies of live pages are expected to be out of date on average.
    pub expected_age: Option<u64>,
    /// Whether there are too few observations for a reliable expectation.
    #[serde(default)]
    pub expected_is_guess: Option<bool>,
    /// The share of visits before their time.
    pub early_share: f64,
    /// Hints that were right, hints that were wrong, changes without one.
    pub hints: (u32, u32, u32),
    /// Pages and links that are held back, by reason.
    #[serde(default)]
    pub held_back: BTreeMap<String, u64>,
}

impl From<ServerReport> for ServerView {
    fn from(told: ServerReport) -> Self {
        Self {
            server: told.server,
            address: told.address.map(|address| address.to_string()),
            pages: told.pages,
            new: told.new,
            queued: told.queued,
            gone: told.gone,
            dropped: told.dropped,
            load: told.load,
            interval: told.interval.map(Interval::as_seconds_f64),
            pause: told.pause.as_seconds_f64(),
            slowed_by: told.slowed_by,
            failing: told.failing,
            overloaded: told.overloaded,
            address_load: told.address_load,
            resolved_load: told.resolved_load,
            agreed: told.agreed,
            resting_until: told.resting_until.map(Timestamp::to_rfc3339),
            failures: told.failures,
            requests: told.requests,
            alias_of: told.alias_of,
            expected_freshness: told.expected.map(|expected| expected.freshness),
            expected_freshness_visited: told.expected.map(|expected| expected.freshness_visited),
            expected_age: told.expected.map(|expected| expected.age.as_seconds()),
            expected_is_guess: told.expected.map(|expected| expected.is_guess),
            early_share: told.early_share,
            hints: told.hints,
            held_back: held_back::by_reason(&told.held_back),
        }
    }
}

/// What `status --json` prints of the schedule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScheduleView {
    /// Known servers.
    pub servers: u64,
    /// Known pages.
    pub pages: u64,
    /// Pages that were never visited.
    pub new: u64,
    /// Pages in the queue.
    pub queued: u64,
    /// Links waiting for a scope decision.
    pub offered: u64,
    /// Overloaded servers.
    pub overloaded: u64,
    /// Pages that were dropped because their servers are overloaded.
    pub dropped: u64,
    /// Requests per second that the schedule needs.
    pub load: f64,
    /// Whether the operator paused the crawl.
    pub paused: bool,
    /// Whether no server answers.
    pub network_down: bool,
    /// Pages whose last visit failed.
    pub failing: u64,
    /// Requests since midnight UTC.
    pub requests_today: u64,
    /// Bytes received since midnight UTC.
    pub bytes_today: u64,
    /// When the next visit is due.
    pub next: Option<String>,
    /// The revisit policy.
    pub policy: String,
    /// The expected share of fresh pages: of those live or never visited, and of the live ones alone.
    pub expected_freshness: Option<f64>,
    /// The same of pages that were visited and are live.
    #[serde(default)]
    pub expected_freshness_visited: Option<f64>,
    /// By how many seconds the copies of live pages are expected to be out of date on average.
    pub expected_age: Option<u64>,
    /// Whether there are too few observations for a reliable expectation.
    #[serde(default)]
    pub expected_is_guess: Option<bool>,
    /// Pages and links that are held back, by reason.
    #[serde(default)]
    pub held_back: BTreeMap<String, u64>,
}

impl From<Overview> for ScheduleView {
    fn from(told: Overview) -> Self {
        Self {
            servers: told.servers,
            pages: told.pages,
            new: told.new,
            queued: told.queued,
            offered: told.offered,
            overloaded: told.overloaded,
            dropped: told.dropped,
            load: told.load,
            paused: told.paused,
            network_down: told.network_down,
            failing: told.failing,
            requests_today: told.requests_today,
            bytes_today: told.bytes_today,
            next: told.next.map(Timestamp::to_rfc3339),
            policy: told.policy,
            expected_freshness: told.expected.map(|expected| expected.freshness),
            expected_freshness_visited: told.expected.map(|expected| expected.freshness_visited),
            expected_age: told.expected.map(|expected| expected.age.as_seconds()),
            expected_is_guess: told.expected.map(|expected| expected.is_guess),
            held_back: held_back::by_reason(&told.held_back),
        }
    }
}

/// A page whose last visit failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedPage {
    /// The page.
    pub url: String,
    /// How the visit ended.
    pub reason: String,
    /// Failures in a row.
    pub failures: u32,
    /// When it was visited last.
    pub last_visit: Option<String>,
    /// When the next visit is due.
    pub next_due: String,
}

impl From<Failing> for FailedPage {
    fn from(told: Failing) -> Self {
        Self {
            url: told.url,
            reason: told.reason,
            failures: told.failures,
            last_visit: told.last_visit.map(Timestamp::to_rfc3339),
            next_due: told.next_due.to_rfc3339(),
        }
    }
}

/// A bar of a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistogramBar {
    /// Lower bound in seconds.
    pub from: f64,
    /// Upper bound in seconds.
    pub to: f64,
    /// Number of members.
    pub count: u64,
}

impl From<&Bin> for HistogramBar {
    fn from(bin: &Bin) -> Self {
        Self { from: bin.from.as_seconds_f64(), to: bin.to.as_seconds_f64(), count: bin.count }
    }
}

/// The figures of paper 003.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FiguresView {
    /// Pages by revisit interval.
    pub revisit_intervals: Vec<HistogramBar>,
    /// Change ratio and interval of each page.
    pub change_ratios: Vec<(f64, f64)>,
    /// Servers by the interval that keeps their schedule.
    pub server_intervals: Vec<HistogramBar>,
    /// The same after overload was resolved.
    pub server_intervals_resolved: Vec<HistogramBar>,
}

impl From<Figures> for FiguresView {
    fn from(figures: Figures) -> Self {
        let bars = |bins: &[Bin]| bins.iter().map(HistogramBar::from).collect();
        Self {
            revisit_intervals: bars(&figures.revisit_intervals),
            change_ratios: figures.change_ratios,
            server_intervals: bars(&figures.server_intervals),
            server_intervals_resolved: bars(&figures.server_intervals_resolved),
        }
    }
}

/// The fields of a capture.
#[must_use]
pub fn capture(entry: &Entry) -> Map<String, Value> {
    let media_type = Some(&*entry.media_type).filter(|text| !text.is_empty());
    let Value::Object(object) = json!({
        "url": &*entry.url,
        "key": entry.key.as_str(),
        "at": entry.at.to_rfc3339(),
        "flag": entry.flag.as_str(),
        "outcome": entry.outcome(),
        "status": entry.status,
        "type": media_type,
        "kind": entry.kind.as_str(),
        "payload": entry.payload.map(|payload| payload.to_string()),
        "content": entry.content.map(|content| content.to_string()),
        "truncated": entry.truncated,
        "file": &*entry.location.file,
        "offset": entry.location.offset,
        "length": entry.location.length,
    }) else {
        unreachable!("it is written as an object")
    };
    object
}

/// The keys that `explain --json` has, in their order.
#[cfg(test)]
pub const PAGE_KEYS: &str = "url key server address state reason first_seen found_on visits changes elapsed \
    unchanged_sum estimate policy interval next_due limited_by budget_share hint last_outcome";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_told_in_the_words_that_others_rely_on() {
        let line = serde_json::to_string(&ExplainView::from(Explanation::default()).page).unwrap();
        let keys: Vec<&str> =
            line.split('"').filter(|part| PAGE_KEYS.split(' ').any(|key| key == *part)).collect();
        assert_eq!(keys, PAGE_KEYS.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn what_is_told_comes_back_the_same() {
        let life = ExplainView::from(Explanation {
            url: "http://a.example/".to_owned(),
            state: "new",
            ..Explanation::default()
        });
        let text = serde_json::to_string(&life).unwrap();
        assert_eq!(serde_json::from_str::<ExplainView>(&text).unwrap(), life);
        let server = ServerView::from(ServerReport { load: 0.25, ..ServerReport::default() });
        let text = serde_json::to_string(&server).unwrap();
        assert_eq!(serde_json::from_str::<ServerView>(&text).unwrap(), server);
    }
}
