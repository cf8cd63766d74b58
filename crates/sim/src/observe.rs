//! Politeness judged from the server's side: what a server and an address felt of whoever crawled them.
//!
//! Nothing here is shared with a crawler. Every request is reported twice, when it arrives and when it is finished,
//! so that whatever happens between the two is known to have happened at the same time.
//!
//! **Invariant:** memory grows with the servers of the web, and with what is asked within two double windows, not with
//! requests. A request is finished, for this judgement, no later than the client can have seen its end, so a client that
//! keeps its pauses is never accused.

use crate::Web;
use crate::hostile::{self, Kind};
use crate::log::Entry;
use crate::name::Owner;
use crate::robots::{self, Robots};
use base::url::Scheme;
use base::{Interval, Timestamp, chance};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

mod recent;

use recent::Recent;

/// How many offenders a report names.
pub const OFFENDERS_MAX: usize = 20;

/// What is asked of a polite client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The pause between two requests to one server, and to one address.
    pub pause: Interval,
    /// Whether a server's `Crawl-delay` counts if it is longer.
    pub crawl_delay: bool,
    /// Within this time a page needs no second look: the time between two moments at which a page can be due.
    pub double_window: Interval,
}

/// A request as a server sees it come.
#[derive(Clone, Copy, Debug)]
pub struct Coming<'a> {
    /// http or https.
    pub scheme: Scheme,
    /// The host that is asked.
    pub host: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// Where the server stands.
    pub address: Ipv4Addr,
    /// When it came.
    pub at: Timestamp,
}

/// How a request ended.
#[derive(Clone, Copy, Debug)]
pub struct Going {
    /// The status of the answer; 0 when there was none.
    pub status: u16,
    /// How long after its end the answer asks to stay away.
    pub retry_after: Option<Interval>,
    /// Until when the answer asks to stay away, if it names a date.
    pub retry_at: Option<Timestamp>,
    /// When it ended.
    pub at: Timestamp,
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
    recent: Recent,
}

impl Observer {
    /// An observer that has seen nothing yet.
    #[must_use]
    pub fn new(web: Arc<Web>, rules: Rules) -> Self {
        let recent = Recent::new(rules.double_window);
        Self { web, rules, servers: HashMap::new(), addresses: HashMap::new(), recent }
    }

    /// A request has arrived. Those for servers that do not exist are nobody's concern.
    pub fn arrived(&mut self, request: &Entry) {
        if let Some(coming) = coming(request) {
            self.came(&coming);
        }
    }

    /// A request that had arrived is finished.
    pub fn finished(&mut self, request: &Entry) {
        let Entry { status, retry_after, retry_at, .. } = *request;
        if let Some(coming) = coming(request) {
            self.went(&coming, &Going { status, retry_after, retry_at, at: request.finished });
        }
    }

    /// A request has arrived at a server that exists.
    pub fn came(&mut self, request: &Coming<'_>) {
        if !self.servers.contains_key(request.host) {
            let server = self.stranger(request.host);
            self.servers.insert(request.host.into(), server);
        }
        let double = self.recent.note(page_hash(request), request.at);
        if let Some(server) = self.servers.get_mut(request.host) {
            server.came(request, double);
        }
        self.addresses.entry(request.address).or_default().arrived(request.at, self.rules.pause);
    }

    /// A request that came is finished.
    pub fn went(&mut self, request: &Coming<'_>, how: &Going) {
        if let Some(server) = self.servers.get_mut(request.host) {
            server.went(how);
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

    /// What one server felt so far; nothing when nobody asked it anything.
    #[must_use]
    pub fn counts_of(&self, host: &str) -> Option<Counts> {
        self.servers.get(host).map(Server::counts)
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

    /// A server that nobody asked before, with what it asks of visitors.
    fn stranger(&self, host: &str) -> Server {
        let (forbids, delay) = match self.web.names().owner(host) {
            Some(Owner::Hostile(number)) if hostile::kind(number) == Kind::RobotsBroken => {
                (Forbids::Everything, None)
            }
            Some(Owner::Hostile(_)) => (Forbids::Private, None),
            Some(Owner::Honest { number, .. }) => match robots::kind(&self.web.server(number)) {
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

fn coming(request: &Entry) -> Option<Coming<'_>> {
    let (scheme, at) = (request.scheme, request.arrived);
    let address = request.server?;
    Some(Coming { scheme, host: request.host(), target: request.target(), address, at })
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
    /// The pause that its robots file asks for: nobody can know of it who has not had the file.
    asked_for: Interval,
    forbids: Forbids,
    not_before: Option<Timestamp>,
    forbidden: u64,
    early: u64,
    doubles: u64,
}

/// What a server's robots file forbids. The file itself may always be seen.
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
    fn came(&mut self, request: &Coming<'_>, double: bool) {
        self.traffic.arrived(request.at, self.required);
        self.forbidden += u64::from(self.forbids.covers(request.target));
        self.early += u64::from(self.not_before.is_some_and(|moment| request.at < moment));
        self.doubles += u64::from(double);
    }
    fn went(&mut self, how: &Going) {
        self.traffic.finished(how.at);
        let wait = how.retry_after.map(|wait| how.at.plus(wait));
        self.not_before = self.not_before.max(wait).max(how.retry_at);
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

fn page_hash(request: &Coming<'_>) -> u64 {
    let host = chance::hash_bytes(u64::from(request.scheme.default_port()), request.host.as_bytes());
    chance::hash_bytes(host, request.target.as_bytes())
}

#[cfg(test)]
mod tests;
