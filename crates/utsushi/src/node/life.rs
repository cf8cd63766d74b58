//! What a schedule tells of pages, servers and itself, as it goes through the control socket and out as JSON.
//!
//! Moments are RFC 3339, lengths of time are seconds.

use super::held_back;
use base::{Interval, Timestamp};
use frontier::{Bin, Explanation, Failing, Figures, Overview, ServerReport};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What `explain --json` prints of a page (D17).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Page {
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) server: String,
    pub(crate) address: Option<String>,
    pub(crate) state: String,
    pub(crate) reason: String,
    pub(crate) first_seen: Option<String>,
    pub(crate) found_on: Option<String>,
    pub(crate) visits: u32,
    pub(crate) changes: u32,
    pub(crate) elapsed: u64,
    pub(crate) unchanged_sum: u64,
    pub(crate) estimate: Option<u64>,
    pub(crate) policy: String,
    pub(crate) interval: Option<u64>,
    pub(crate) next_due: Option<String>,
    pub(crate) limited_by: Option<String>,
    pub(crate) budget_share: Option<f64>,
    pub(crate) hint: Option<String>,
    pub(crate) last_outcome: Option<String>,
}

/// A page's life, with what only people are told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Life {
    pub(crate) page: Page,
    pub(crate) role: String,
    pub(crate) last_visit: Option<String>,
    pub(crate) queued_for: Option<String>,
    /// Changes beside the main text.
    pub(crate) side_changes: u32,
}

impl From<Explanation> for Life {
    fn from(told: Explanation) -> Self {
        let page = Page {
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
pub(crate) struct Server {
    pub(crate) server: String,
    pub(crate) address: Option<String>,
    pub(crate) pages: u64,
    pub(crate) new: u64,
    pub(crate) queued: u64,
    pub(crate) gone: u64,
    pub(crate) dropped: u64,
    /// Requests a second that the schedule asks for.
    pub(crate) load: f64,
    /// The interval between requests that would keep it.
    pub(crate) interval: Option<f64>,
    /// The interval between requests that is kept.
    pub(crate) pause: f64,
    /// Why that is longer than configured: a status, or `latency`.
    pub(crate) slowed_by: Option<String>,
    /// Pages whose last visit failed.
    pub(crate) failing: u64,
    pub(crate) overloaded: bool,
    pub(crate) address_load: f64,
    pub(crate) resolved_load: f64,
    pub(crate) agreed: bool,
    pub(crate) resting_until: Option<String>,
    pub(crate) failures: u32,
    pub(crate) requests: u64,
    pub(crate) alias_of: Option<String>,
    /// The expected share of fresh pages: of those live or never visited, and of the live ones alone.
    pub(crate) expected_freshness: Option<f64>,
    #[serde(default)]
    pub(crate) expected_freshness_visited: Option<f64>,
    /// By how many seconds the copies of live pages are expected to be out of date on average.
    pub(crate) expected_age: Option<u64>,
    /// Whether too little was seen yet to expect anything with confidence.
    #[serde(default)]
    pub(crate) expected_is_guess: Option<bool>,
    /// The share of visits before their time.
    pub(crate) early_share: f64,
    /// Hints that were right, hints that were wrong, changes without one.
    pub(crate) hints: (u32, u32, u32),
    /// Pages and links that are held back, by reason.
    #[serde(default)]
    pub(crate) held_back: BTreeMap<String, u64>,
}

impl From<ServerReport> for Server {
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
pub(crate) struct Whole {
    pub(crate) servers: u64,
    pub(crate) pages: u64,
    pub(crate) new: u64,
    pub(crate) queued: u64,
    pub(crate) offered: u64,
    pub(crate) overloaded: u64,
    pub(crate) dropped: u64,
    /// Requests a second that the schedule asks for.
    pub(crate) load: f64,
    pub(crate) paused: bool,
    pub(crate) network_down: bool,
    /// Pages whose last visit failed.
    pub(crate) failing: u64,
    pub(crate) requests_today: u64,
    pub(crate) bytes_today: u64,
    pub(crate) next: Option<String>,
    pub(crate) policy: String,
    /// The expected share of fresh pages: of those live or never visited, and of the live ones alone.
    pub(crate) expected_freshness: Option<f64>,
    #[serde(default)]
    pub(crate) expected_freshness_visited: Option<f64>,
    /// By how many seconds the copies of live pages are expected to be out of date on average.
    pub(crate) expected_age: Option<u64>,
    /// Whether too little was seen yet to expect anything with confidence.
    #[serde(default)]
    pub(crate) expected_is_guess: Option<bool>,
    /// Pages and links that are held back, by reason.
    #[serde(default)]
    pub(crate) held_back: BTreeMap<String, u64>,
}

impl From<Overview> for Whole {
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
pub(crate) struct Failed {
    pub(crate) url: String,
    pub(crate) reason: String,
    pub(crate) failures: u32,
    pub(crate) last_visit: Option<String>,
    pub(crate) next_due: String,
}

impl From<Failing> for Failed {
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
pub(crate) struct Bar {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) count: u64,
}

impl From<&Bin> for Bar {
    fn from(bin: &Bin) -> Self {
        Self { from: bin.from.as_seconds_f64(), to: bin.to.as_seconds_f64(), count: bin.count }
    }
}

/// The figures of paper 003.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Drawn {
    pub(crate) revisit_intervals: Vec<Bar>,
    pub(crate) change_ratios: Vec<(f64, f64)>,
    pub(crate) server_intervals: Vec<Bar>,
    pub(crate) server_intervals_resolved: Vec<Bar>,
}

impl From<Figures> for Drawn {
    fn from(figures: Figures) -> Self {
        let bars = |bins: &[Bin]| bins.iter().map(Bar::from).collect();
        Self {
            revisit_intervals: bars(&figures.revisit_intervals),
            change_ratios: figures.change_ratios,
            server_intervals: bars(&figures.server_intervals),
            server_intervals_resolved: bars(&figures.server_intervals_resolved),
        }
    }
}

/// The keys that `explain --json` has, in their order.
#[cfg(test)]
pub(crate) const PAGE_KEYS: &str = "url key server address state reason first_seen found_on visits changes elapsed \
    unchanged_sum estimate policy interval next_due limited_by budget_share hint last_outcome";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_told_in_the_words_that_others_rely_on() {
        let line = serde_json::to_string(&Life::from(Explanation::default()).page).unwrap();
        let keys: Vec<&str> =
            line.split('"').filter(|part| PAGE_KEYS.split(' ').any(|key| key == *part)).collect();
        assert_eq!(keys, PAGE_KEYS.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn what_is_told_comes_back_the_same() {
        let life = Life::from(Explanation {
            url: "http://a.example/".to_owned(),
            state: "new",
            ..Explanation::default()
        });
        let text = serde_json::to_string(&life).unwrap();
        assert_eq!(serde_json::from_str::<Life>(&text).unwrap(), life);
        let server = Server::from(ServerReport { load: 0.25, ..ServerReport::default() });
        let text = serde_json::to_string(&server).unwrap();
        assert_eq!(serde_json::from_str::<Server>(&text).unwrap(), server);
    }
}
