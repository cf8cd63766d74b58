//! Politeness judged from the server's side: what a server and an address felt of whoever crawled them.
//!
//! Nothing here is shared with a crawler. Every request is reported twice, when it arrives and when it is finished,
//! so that whatever happens between the two is known to have happened at the same time.
//!
//! **Invariant:** memory grows with the servers of the web, not with requests. A request is finished, for this
//! judgement, no later than the client can have seen its end, so a client that keeps its pauses is never accused.

use crate::log::Entry;
use crate::{Web, hostile};
use base::{Interval, Timestamp, chance};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// How many offenders a report names.
pub const OFFENDERS_MAX: usize = 20;
/// How many of a server's last requests are compared to find one that is made twice.
const RECENT_MAX: usize = 8;

/// What is asked of a polite client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The pause between two requests to one server, and to one address.
    pub pause: Interval,
    /// Whether a server's `Crawl-delay` counts if it is longer.
    pub crawl_delay: bool,
    /// Within this time a page needs no second look.
    pub double_window: Interval,
}

impl Default for Rules {
    fn default() -> Self {
        Self { pause: Interval::from_seconds(1), crawl_delay: true, double_window: Interval::from_minutes(1) }
    }
}

/// Watches the requests of a simulated web.
#[derive(Debug)]
pub struct Observer {
    web: Arc<Web>,
    rules: Rules,
    servers: HashMap<Box<str>, Server>,
    addresses: HashMap<Ipv4Addr, Traffic>,
}

impl Observer {
    /// An observer that has seen nothing yet.
    #[must_use]
    pub fn new(web: Arc<Web>, rules: Rules) -> Self {
        Self { web, rules, servers: HashMap::new(), addresses: HashMap::new() }
    }

    /// A request has arrived. Those for servers that do not exist are nobody's concern.
    pub fn arrived(&mut self, request: &Entry) {
        let (host, at) = (request.host(), request.arrived);
        let Some(address) = request.server else { return };
        if !self.servers.contains_key(host) {
            let required = self.required_pause(host);
            self.servers.insert(host.into(), Server { required, ..Server::default() });
        }
        let forbidden = request.target() != "/robots.txt" && !self.robots_allows(host, request.target());
        let window = self.rules.double_window;
        if let Some(server) = self.servers.get_mut(host) {
            server.arrived(request, forbidden, window);
        }
        self.addresses.entry(address).or_default().arrived(at, self.rules.pause);
    }

    /// A request that had arrived is finished.
    pub fn finished(&mut self, request: &Entry) {
        let Some(address) = request.server else { return };
        if let Some(server) = self.servers.get_mut(request.host()) {
            server.finished(request);
        }
        if let Some(traffic) = self.addresses.get_mut(&address) {
            traffic.finished(request.finished);
        }
    }

    /// Plays back finished requests, such as those of a log, in the order in which things happened.
    pub fn replay(&mut self, entries: &[Entry]) {
        // At one moment ends come before beginnings: whoever asks again at once has at least not overlapped.
        let lasted = |entry: &&Entry| entry.arrived < entry.finished;
        let begins = entries.iter().map(|entry| (entry.arrived, true, entry));
        let ends = entries.iter().filter(lasted).map(|entry| (entry.finished, false, entry));
        let mut events: Vec<_> = begins.chain(ends).collect();
        events.sort_by_key(|(at, begins, _)| (*at, *begins));
        for (_, begins, entry) in events {
            if begins {
                self.arrived(entry);
            }
            if !begins || !lasted(&entry) {
                self.finished(entry);
            }
        }
    }

    /// What was seen so far.
    #[must_use]
    pub fn report(&self) -> Report {
        let mut report =
            Report { servers: self.servers.len(), addresses: self.addresses.len(), ..Report::default() };
        for (host, server) in &self.servers {
            report.at_servers.add(&server.counts());
            report.offenders.push(Offender { name: host.to_string(), counts: server.counts() });
        }
        for (address, traffic) in &self.addresses {
            report.at_addresses.add(&traffic.counts);
            report.offenders.push(Offender { name: address.to_string(), counts: traffic.counts.clone() });
        }
        report.offenders.retain(|offender| offender.counts.violations() + offender.counts.doubles > 0);
        report.offenders.sort_by_key(|offender| {
            (
                std::cmp::Reverse((offender.counts.violations(), offender.counts.doubles)),
                offender.name.clone(),
            )
        });
        report.offenders.truncate(OFFENDERS_MAX);
        report
    }

    fn robots_allows(&self, host: &str, target: &str) -> bool {
        match hostile::number(host, self.web.plan().hostile) {
            Some(number) => hostile::robots_allows(number, target),
            None => self.web.robots_allows(host, target),
        }
    }

    fn required_pause(&self, host: &str) -> Interval {
        let truth = self.web.server_truth(host).filter(|_| self.rules.crawl_delay);
        truth.and_then(|truth| truth.crawl_delay).unwrap_or_default().max(self.rules.pause)
    }
}

/// What was counted, of one server, one address or all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests.
    pub requests: u64,
    /// Requests that arrived while another was in progress.
    pub overlaps: u64,
    /// Requests that arrived sooner after the end of the one before than they should.
    pub short_gaps: u64,
    /// The shortest time from the end of a request to the arrival of the next.
    pub gap_min: Option<Interval>,
    /// Requests for what robots.txt forbids.
    pub forbidden: u64,
    /// Requests before the time that a `Retry-After` asked to wait for.
    pub early: u64,
    /// Requests for what had just been answered. Needless, but no violation as long as the pauses are kept.
    pub doubles: u64,
}

impl Counts {
    /// How often politeness was violated.
    #[must_use]
    pub fn violations(&self) -> u64 {
        self.overlaps + self.short_gaps + self.forbidden + self.early
    }
    /// The counts as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "requests": self.requests,
            "overlaps": self.overlaps,
            "short_gaps": self.short_gaps,
            "gap_min_seconds": self.gap_min.map(Interval::as_seconds_f64),
            "forbidden": self.forbidden,
            "early": self.early,
            "doubles": self.doubles,
            "violations": self.violations(),
        })
    }

    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.overlaps += other.overlaps;
        self.short_gaps += other.short_gaps;
        self.gap_min = self.gap_min.into_iter().chain(other.gap_min).min();
        self.forbidden += other.forbidden;
        self.early += other.early;
        self.doubles += other.doubles;
    }
}

/// What an observer has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many servers were asked anything.
    pub servers: usize,
    /// How many addresses were.
    pub addresses: usize,
    /// What the servers felt, together.
    pub at_servers: Counts,
    /// What the addresses felt, together; what concerns pages is counted at the servers alone.
    pub at_addresses: Counts,
    /// Who was treated worst, worst first.
    pub offenders: Vec<Offender>,
}

/// A server or an address that was not treated well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offender {
    /// The host or the address.
    pub name: String,
    /// What it felt.
    pub counts: Counts,
}

impl Report {
    /// How often politeness was violated, at servers and at addresses.
    #[must_use]
    pub fn violations(&self) -> u64 {
        self.at_servers.violations() + self.at_addresses.violations()
    }
    /// The report as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let named =
            |offender: &Offender| json!({ "name": offender.name, "counts": offender.counts.to_json() });
        json!({
            "violations": self.violations(),
            "servers": self.servers,
            "addresses": self.addresses,
            "at_servers": self.at_servers.to_json(),
            "at_addresses": self.at_addresses.to_json(),
            "worst": self.offenders.iter().map(named).collect::<Vec<_>>(),
        })
    }
}

/// The coming and going at one place.
#[derive(Debug, Default)]
struct Traffic {
    in_progress: u32,
    last_finished: Option<Timestamp>,
    counts: Counts,
}

impl Traffic {
    fn arrived(&mut self, at: Timestamp, required: Interval) {
        self.counts.requests += 1;
        if self.in_progress > 0 {
            self.counts.overlaps += 1;
        } else if let Some(last) = self.last_finished {
            let gap = at.since(last);
            self.counts.short_gaps += u64::from(gap < required);
            self.counts.gap_min = Some(self.counts.gap_min.map_or(gap, |shortest| shortest.min(gap)));
        }
        self.in_progress += 1;
    }
    fn finished(&mut self, at: Timestamp) {
        self.in_progress = self.in_progress.saturating_sub(1);
        self.last_finished = self.last_finished.max(Some(at));
    }
}

/// One server.
#[derive(Debug, Default)]
struct Server {
    traffic: Traffic,
    required: Interval,
    not_before: Option<Timestamp>,
    recent: [Recent; RECENT_MAX],
    oldest: usize,
    forbidden: u64,
    early: u64,
    doubles: u64,
}

/// A page by its hash and when it was last asked for.
#[derive(Clone, Copy, Debug)]
struct Recent {
    page: u64,
    at: Timestamp,
}

impl Default for Recent {
    fn default() -> Self {
        Self { page: 0, at: Timestamp::MIN }
    }
}

impl Server {
    fn arrived(&mut self, request: &Entry, forbidden: bool, window: Interval) {
        let at = request.arrived;
        self.traffic.arrived(at, self.required);
        self.forbidden += u64::from(forbidden);
        self.early += u64::from(self.not_before.is_some_and(|moment| at < moment));
        let page = page_hash(request);
        let again = self.recent.iter().any(|seen| seen.page == page && at.since(seen.at) < window);
        self.doubles += u64::from(again);
        self.recent[self.oldest] = Recent { page, at };
        self.oldest = (self.oldest + 1) % RECENT_MAX;
    }
    fn finished(&mut self, request: &Entry) {
        self.traffic.finished(request.finished);
        if let Some(wait) = request.retry_after {
            self.not_before = self.not_before.max(Some(request.finished.plus(wait)));
        }
        self.not_before = self.not_before.max(request.retry_at);
        if !is_answer(request.status) {
            let page = page_hash(request);
            self.recent
                .iter_mut()
                .filter(|seen| seen.page == page)
                .for_each(|seen| *seen = Recent::default());
        }
    }
    fn counts(&self) -> Counts {
        let Self { forbidden, early, doubles, .. } = *self;
        Counts { forbidden, early, doubles, ..self.traffic.counts.clone() }
    }
}

/// Whether the status leaves nothing to ask again for.
fn is_answer(status: u16) -> bool {
    (200..500).contains(&status) && status != 429
}

fn page_hash(request: &Entry) -> u64 {
    chance::hash_bytes(u64::from(request.scheme.default_port()), request.target().as_bytes())
}

#[cfg(test)]
mod tests;
