//! Politeness judged from the server's side: the load that crawlers put on each server and address.
//!
//! Nothing here is shared with a crawler. Every request is reported twice, when it arrives and when it is finished,
//! so that overlapping requests are known.
//!
//! **Invariant:** memory grows with the servers of the web, and with the requests within two double windows, not with all
//! requests. A request counts as finished no later than the client can have seen its end, so a client that
//! keeps its delays is never reported.

use crate::Web;
use crate::hostile::{self, HostileKind};
use crate::log::LogEntry;
use crate::name::Owner;
use crate::server::Robots;
use base::url::Scheme;
use base::{Interval, Timestamp, chance};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

mod recent;

use recent::Recent;

/// Maximum number of offenders that a report names.
pub const OFFENDERS_MAX: usize = 20;

/// The rules for a polite client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolitenessRules {
    /// The minimum delay between two requests to one server, and to one address.
    pub pause: Interval,
    /// Whether a server's `Crawl-delay` counts if it is longer.
    pub crawl_delay: bool,
    /// A second request for a page within this time is a double: the time between two moments at which a page can be due.
    pub double_window: Interval,
}

/// A request that arrives at a server.
#[derive(Clone, Copy, Debug)]
pub struct ArrivedRequest<'a> {
    /// http or https.
    pub scheme: Scheme,
    /// The requested host.
    pub host: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// The address of the server.
    pub address: Ipv4Addr,
    /// When it arrived.
    pub at: Timestamp,
}

/// How a request ended.
#[derive(Clone, Copy, Debug)]
pub struct RequestEnd {
    /// The status of the response; 0 if there was none.
    pub status: u16,
    /// The `Retry-After` of the response, if it is a duration.
    pub retry_after: Option<Interval>,
    /// The `Retry-After` of the response, if it is a date.
    pub retry_at: Option<Timestamp>,
    /// When it ended.
    pub at: Timestamp,
}

impl Default for PolitenessRules {
    fn default() -> Self {
        Self { pause: Interval::from_seconds(1), crawl_delay: true, double_window: Interval::from_minutes(1) }
    }
}

/// Watches the requests of a simulated web.
#[derive(Debug)]
pub struct Observer {
    web: Arc<Web>,
    rules: PolitenessRules,
    servers: HashMap<Box<str>, Server>,
    addresses: HashMap<Ipv4Addr, Traffic>,
    recent: Recent,
}

impl Observer {
    /// An observer that has seen nothing yet.
    #[must_use]
    pub fn new(web: Arc<Web>, rules: PolitenessRules) -> Self {
        let recent = Recent::new(rules.double_window);
        Self { web, rules, servers: HashMap::new(), addresses: HashMap::new(), recent }
    }

    /// A request has arrived. Requests for servers that do not exist are ignored.
    pub fn arrived(&mut self, request: &LogEntry) {
        if let Some(coming) = coming(request) {
            self.request_arrived(&coming);
        }
    }

    /// A request that arrived earlier has ended.
    pub fn finished(&mut self, request: &LogEntry) {
        let LogEntry { status, retry_after, retry_at, .. } = *request;
        if let Some(coming) = coming(request) {
            self.request_ended(&coming, &RequestEnd { status, retry_after, retry_at, at: request.finished });
        }
    }

    /// A request has arrived at a server that exists.
    pub fn request_arrived(&mut self, request: &ArrivedRequest<'_>) {
        if !self.servers.contains_key(request.host) {
            let server = self.stranger(request.host);
            self.servers.insert(request.host.into(), server);
        }
        let double = self.recent.note(page_hash(request), request.at);
        if let Some(server) = self.servers.get_mut(request.host) {
            server.request_arrived(request, double);
        }
        self.addresses.entry(request.address).or_default().arrived(request.at, self.rules.pause);
    }

    /// A request that arrived at a server that exists has ended.
    pub fn request_ended(&mut self, request: &ArrivedRequest<'_>, how: &RequestEnd) {
        if let Some(server) = self.servers.get_mut(request.host) {
            server.request_ended(how);
            if request.target == "/robots.txt" && how.status == 200 {
                server.required = server.required.max(server.asked_for);
            }
        }
        if let Some(traffic) = self.addresses.get_mut(&request.address) {
            traffic.finished(how.at);
        }
        if !is_answer(how.status) {
            self.recent.forget(page_hash(request));
        }
    }

    /// Plays back finished requests, such as those of a log, in the order in which things happened.
    pub fn replay(&mut self, entries: &[LogEntry]) {
        // At equal times, ends come before beginnings: a request sent right after the end of another does not overlap it.
        let lasted = |entry: &&LogEntry| entry.arrived < entry.finished;
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

    /// The counts of one server so far; none if it got no request.
    #[must_use]
    pub fn counts_of(&self, host: &str) -> Option<Counts> {
        self.servers.get(host).map(Server::counts)
    }

    /// The report so far.
    #[must_use]
    pub fn report(&self) -> PolitenessReport {
        let mut report = PolitenessReport {
            servers: self.servers.len(),
            addresses: self.addresses.len(),
            ..PolitenessReport::default()
        };
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

    /// A server that got no request before, with its robots rules.
    fn stranger(&self, host: &str) -> Server {
        let (forbids, delay) = match self.web.names().owner(host) {
            Some(Owner::Hostile(number)) if hostile::kind(number) == HostileKind::RobotsBroken => {
                (Forbids::Everything, None)
            }
            Some(Owner::Hostile(_)) => (Forbids::Private, None),
            Some(Owner::Honest { number, .. }) => match self.web.server(number).robots() {
                Robots::Missing | Robots::Open | Robots::OtherRobot => (Forbids::Nothing, None),
                Robots::Private => (Forbids::Private, None),
                Robots::Delay(seconds) => (Forbids::Private, Some(Interval::from_seconds(seconds))),
            },
            None => (Forbids::Nothing, None),
        };
        let delay = delay.filter(|_| self.rules.crawl_delay).unwrap_or_default();
        Server { required: self.rules.pause, asked_for: delay, forbids, ..Server::default() }
    }
}

fn coming(request: &LogEntry) -> Option<ArrivedRequest<'_>> {
    let (scheme, at) = (request.scheme, request.arrived);
    let address = request.server?;
    Some(ArrivedRequest { scheme, host: request.host(), target: request.target(), address, at })
}

/// Counts of one server, one address or all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests.
    pub requests: u64,
    /// Requests that arrived while another was in progress.
    pub overlaps: u64,
    /// Requests that arrived too soon after the end of the one before.
    pub short_gaps: u64,
    /// The shortest time from the end of a request to the arrival of the next.
    pub gap_min: Option<Interval>,
    /// Requests that robots.txt disallows.
    pub forbidden: u64,
    /// Requests before a `Retry-After` had passed.
    pub early: u64,
    /// Requests for a page that had just been answered. Wasteful, but no violation if the delays are kept.
    pub doubles: u64,
}

impl Counts {
    /// Number of violations.
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

/// The report of an observer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolitenessReport {
    /// Number of servers that got requests.
    pub servers: usize,
    /// Number of addresses that got requests.
    pub addresses: usize,
    /// Counts of all servers together.
    pub at_servers: Counts,
    /// Counts of all addresses together; counts about pages are kept for servers only.
    pub at_addresses: Counts,
    /// The servers and addresses with most violations, most first.
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

impl PolitenessReport {
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
    /// The `Crawl-delay` of its robots file; it applies once the client has fetched the file.
    asked_for: Interval,
    forbids: Forbids,
    not_before: Option<Timestamp>,
    forbidden: u64,
    early: u64,
    doubles: u64,
}

/// What a server's robots file disallows. The file itself is always allowed.
#[derive(Clone, Copy, Debug, Default)]
enum Forbids {
    #[default]
    Nothing,
    Private,
    Everything,
}

impl Forbids {
    fn covers(self, target: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Private => target.starts_with("/private/"),
            Self::Everything => target != "/robots.txt",
        }
    }
}

impl Server {
    fn request_arrived(&mut self, request: &ArrivedRequest<'_>, double: bool) {
        self.traffic.arrived(request.at, self.required);
        self.forbidden += u64::from(self.forbids.covers(request.target));
        self.early += u64::from(self.not_before.is_some_and(|moment| request.at < moment));
        self.doubles += u64::from(double);
    }
    fn request_ended(&mut self, how: &RequestEnd) {
        self.traffic.finished(how.at);
        let wait = how.retry_after.map(|wait| how.at.plus(wait));
        self.not_before = self.not_before.max(wait).max(how.retry_at);
    }
    fn counts(&self) -> Counts {
        let Self { forbidden, early, doubles, .. } = *self;
        Counts { forbidden, early, doubles, ..self.traffic.counts.clone() }
    }
}

/// Whether a status means that the request was answered.
fn is_answer(status: u16) -> bool {
    (200..500).contains(&status) && status != 429
}

fn page_hash(request: &ArrivedRequest<'_>) -> u64 {
    let host = chance::hash_bytes(u64::from(request.scheme.default_port()), request.host.as_bytes());
    chance::hash_bytes(host, request.target.as_bytes())
}

#[cfg(test)]
mod tests;
