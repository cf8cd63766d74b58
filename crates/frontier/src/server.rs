//! What the frontier knows about a server: its address, its robots files, its load, and when the next request may be
//! sent.

mod account;
mod slowdown;

use crate::census::PageCounts;
use crate::codec::{Fields, put, put_bytes};
use crate::held_back::HoldReason;
use crate::load::{Division, Load};
use crate::loaded_page::Rank;
use crate::moment::seconds;
use crate::neighbour::Neighbourhoods;
use crate::revisit::co_change::CoChange;
use crate::revisit::pace::Pace;
use crate::servers::ServerId;
use crate::trap::Shapes;
use crate::workbench::Queue;
use account::Account;
use base::limits::SERVER_PAUSE_MAX;
use base::url::Scheme;
use base::{Interval, PageUrl, ServerName, Timestamp};
use slowdown::{Latency, Slowdown};
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

/// The first back-off of a server that fails and does not say for how long; it doubles with each failure.
const BACK_OFF_FIRST: Interval = Interval::from_seconds(5);
/// After this many errors in a row the server fails, not the page.
const PAGE_ERRORS_MAX: u32 = 3;
const FORM: u8 = 1;

/// A server.
#[derive(Debug)]
pub(crate) struct Server {
    pub name: ServerName,
    /// The beginning of the keys of its pages.
    pub prefix: Box<str>,
    /// The server that it is another name of (C10).
    pub alias_of: Option<ServerId>,

    /// The delay between two requests, and the maximum number of concurrent ones (C6, C18).
    pub pause: Interval,
    pub width: u32,
    pub is_agreed: bool,
    pub in_flight: u32,
    /// It waits for its address, which others are using.
    pub waits: bool,
    /// Its robots file is being fetched, here or elsewhere, and its pages wait.
    pub awaits_robots: bool,
    /// Its address is being looked up.
    pub is_resolving: bool,
    /// Robots files to fetch here, its own or those of servers that redirect here.
    pub robots_fetches: VecDeque<PageUrl>,
    /// Whether its last request was for a robots file.
    pub last_was_robots: bool,
    pub latency: Latency,
    ready_at: Timestamp,
    /// No page is requested before this moment.
    pages_at: Timestamp,
    endpoints: [Endpoint; 2],
    /// The delay that its robots files ask for.
    crawl_delay: Interval,

    /// The part that is stored.
    pub kept: StoredServer,
    /// The same for shapes and neighbourhoods, which change more rarely.
    pub shapes: Shapes,
    pub places: Neighbourhoods,
    pub is_map_dirty: bool,
    /// Pages whose features were noted since these were last written.
    pub novelty_unwritten: u32,
    /// Which of its pages change together. What that was worth is kept; who belongs together is learned from the pages.
    pub co_change: CoChange,
    /// Pages that feeds or sitemaps said have changed, and when.
    pub hinted: VecDeque<(u32, u64)>,
    /// Its budget, and whether first visits are paid from it too.
    account: Account,
    pub gates_new: bool,
    /// The digest of its home page, as it was last seen.
    pub home: Option<[u8; 16]>,
    /// How its requests are divided, for which load, and after how many more changes they are divided again.
    pub division: Option<Division>,
    pub division_good_for: u32,
}

/// The stored state of a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StoredServer {
    /// Its pages by kind.
    pub counts: PageCounts,
    pub requests: u64,
    pub load: Load,
    /// Failures in a row, and until when it is not visited because of them or on its request, in seconds.
    pub failures: u32,
    pub not_before: u64,
    /// Where it was last found.
    pub address: Option<IpAddr>,
    /// The current day, and its requests and bytes (D18).
    pub day: u32,
    pub day_requests: u64,
    pub day_bytes: u64,
    pub alias_of: String,
    /// The delay that its robots files ask for, in seconds.
    pub delay: u64,
    /// What its pages have shown together.
    pub pace: Pace,
    /// When its budget last paid for a visit, in microseconds.
    pub paid_at: u64,
    /// By how much its requests are slower than configured.
    pub slow: Slowdown,
}

/// How a server is reached by one scheme.
#[derive(Clone, Debug, Default)]
struct Endpoint {
    /// Where it answers, and until when that is valid.
    address: Option<(SocketAddr, Timestamp)>,
}

impl Server {
    pub(crate) fn new(
        name: ServerName,
        prefix: &str,
        pause: Interval,
        width: u32,
        ready_at: Timestamp,
    ) -> Self {
        Self {
            name,
            prefix: prefix.into(),
            alias_of: None,
            pause,
            width,
            is_agreed: false,
            in_flight: 0,
            waits: false,
            awaits_robots: false,
            is_resolving: false,
            robots_fetches: VecDeque::new(),
            last_was_robots: false,
            latency: Latency::default(),
            ready_at,
            pages_at: Timestamp::MIN,
            endpoints: Default::default(),
            crawl_delay: Interval::ZERO,
            kept: StoredServer::default(),
            shapes: Shapes::default(),
            places: Neighbourhoods::default(),
            is_map_dirty: false,
            novelty_unwritten: 0,
            co_change: CoChange::default(),
            hinted: VecDeque::new(),
            account: Account::new(ready_at),
            gates_new: false,
            home: None,
            division: None,
            division_good_for: 0,
        }
    }

    /// When its next page may be visited; `None` if none is loaded or they wait for its address or robots file.
    pub(crate) fn pages_due(&self, queue: &Queue) -> Option<Timestamp> {
        let waits = self.awaits_robots || self.is_resolving || (queue.is_empty() && !self.has_reasons());
        let has_asked = queue.first().is_some_and(Rank::is_asked);
        let is_open = has_asked || (queue.has_free() && !self.gates_new);
        let gate = if is_open { Timestamp::MIN } else { self.account.gate_at() };
        (!waits).then(|| self.ready_at.max(self.pages_at).max(gate))
    }
    /// Whether a page may be worth a visit before its time.
    pub(crate) fn has_reasons(&self) -> bool {
        self.co_change.is_out() || !self.hinted.is_empty()
    }
    /// Whether a budget of `requests` a second allows one more at `now`.
    pub(crate) fn may_spend(&mut self, requests: f64, now: Timestamp) -> bool {
        self.account.may_spend(requests, now)
    }
    /// Checks the budget again shortly.
    pub(crate) fn wait_a_moment(&mut self, now: Timestamp) {
        self.account.wait_a_moment(now);
    }
    /// Restores the budget of an earlier run. Returns whether it had to be changed.
    pub(crate) fn recall_budget(&mut self) -> bool {
        self.account.recall(&mut self.kept)
    }
    /// Charges a request to the budget. Returns up to when the budget is spent, in seconds.
    pub(crate) fn spend(&mut self, requests: f64) -> u64 {
        self.account.spend(requests, &mut self.kept)
    }
    /// Charges a request that an earlier run made.
    pub(crate) fn spend_late(&mut self, requests: f64, at: Timestamp) {
        self.account.spend_late(requests, at, self.pause, &mut self.kept);
    }
    /// When the next robots file may be fetched here, if there is one to fetch.
    pub(crate) fn robots_fetch_due(&self) -> Option<Timestamp> {
        (!self.robots_fetches.is_empty()).then_some(self.ready_at)
    }

    /// The address of a scheme, while it is valid (D6).
    pub(crate) fn address(&self, scheme: Scheme, now: Timestamp) -> Option<SocketAddr> {
        self.endpoint(scheme).address.filter(|(_, until)| now < *until).map(|(address, _)| address)
    }
    pub(crate) fn set_address(&mut self, scheme: Scheme, address: SocketAddr, until: Timestamp) {
        self.endpoint_mut(scheme).address = Some((address, until));
    }
    /// No page before this moment.
    pub(crate) fn leave_pages_until(&mut self, moment: Timestamp) {
        self.pages_at = self.pages_at.max(moment);
    }

    /// Sets the delay that its robots files ask for, which begins now in full.
    pub(crate) fn set_crawl_delay(&mut self, delay: Interval, now: Timestamp) {
        self.crawl_delay = delay.min(SERVER_PAUSE_MAX);
        self.ready_at = self.ready_at.max(now.plus(self.crawl_delay));
    }
    /// Stores that delay for the next run.
    pub(crate) fn keep_crawl_delay(&mut self) {
        self.kept.delay = self.crawl_delay.as_micros().div_ceil(1_000_000);
    }

    /// The minimum delay between two requests: the configured one, or longer if the robots file asks for it; or the
    /// agreed one.
    pub(crate) fn least_pause(&self) -> Interval {
        if self.is_agreed { self.pause } else { self.pause.max(self.crawl_delay) }
    }
    /// The delay in effect: longer if the server refused requests as too frequent.
    pub(crate) fn delay(&self) -> Interval {
        self.least_pause().max(self.kept.slow.delay())
    }
    /// After a request: waits for the delay.
    pub(crate) fn rest(&mut self, pause: Interval, now: Timestamp) {
        self.ready_at = self.ready_at.max(now.plus(pause.max(self.delay())));
    }
    /// Nothing before this moment.
    pub(crate) fn leave_until(&mut self, moment: Timestamp) {
        self.ready_at = self.ready_at.max(moment);
    }
    /// The end of its delay, if that is after `now`.
    pub(crate) fn rests_until(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.ready_at).filter(|until| *until > now)
    }
    /// Whether one more request may be under way.
    pub(crate) fn has_width(&self) -> bool {
        let is_slowed = self.kept.slow.status().is_some();
        self.in_flight < if is_slowed { 1 } else { self.width }
    }

    /// Until when no page is requested.
    pub(crate) fn pages_at(&self) -> Timestamp {
        self.ready_at.max(self.pages_at)
    }
    /// After an error of one page: backs off only if the pages before it failed, too.
    pub(crate) fn count_page_error(&mut self, now: Timestamp) {
        if self.kept.failures + 1 < PAGE_ERRORS_MAX {
            self.kept.failures += 1;
        } else {
            self.back_off(None, now);
        }
    }
    /// After a failure: waits for as long as the server asks, or for growing times.
    pub(crate) fn back_off(&mut self, asked: Option<Interval>, now: Timestamp) {
        self.kept.failures = self.kept.failures.saturating_add(1);
        let doubled = f64::from(1_u32 << (self.kept.failures - 1).min(16));
        let own = || BACK_OFF_FIRST.max(self.delay().times(2.0)).times(doubled);
        let wait = asked.unwrap_or_else(own).min(SERVER_PAUSE_MAX);
        let until = now.plus(wait);
        self.ready_at = self.ready_at.max(until);
        self.kept.not_before = seconds(self.ready_at) + 1;
    }
    pub(crate) fn forget_failures(&mut self) {
        if self.kept.failures > 0 {
            (self.kept.failures, self.kept.not_before) = (0, 0);
        }
    }

    fn endpoint(&self, scheme: Scheme) -> &Endpoint {
        &self.endpoints[usize::from(scheme == Scheme::Https)]
    }
    fn endpoint_mut(&mut self, scheme: Scheme) -> &mut Endpoint {
        &mut self.endpoints[usize::from(scheme == Scheme::Https)]
    }
}

impl StoredServer {
    /// Counts a request and its bytes on a day.
    pub(crate) fn count(&mut self, day: u32, bytes: u64) {
        if self.day != day {
            (self.day, self.day_requests, self.day_bytes) = (day, 0, 0);
        }
        self.requests += 1;
        self.day_requests += 1;
        self.day_bytes += bytes;
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(FORM);
        for number in [
            self.counts.pages,
            self.counts.new,
            self.counts.gone,
            self.counts.dropped,
            self.requests,
            self.failures.into(),
            self.not_before,
            self.day.into(),
            self.day_requests,
            self.day_bytes,
        ] {
            put(bytes, number);
        }
        match self.address {
            None => bytes.push(0),
            Some(IpAddr::V4(address)) => put_bytes(bytes, &address.octets()),
            Some(IpAddr::V6(address)) => put_bytes(bytes, &address.octets()),
        }
        put_bytes(bytes, self.alias_of.as_bytes());
        self.load.write(bytes);
        put(bytes, self.delay);
        self.pace.write(bytes);
        put(bytes, self.paid_at);
        for reason in &HoldReason::ALL[..HoldReason::OF_PAGES] {
            put(bytes, self.counts.held.of(*reason));
        }
        put(bytes, self.counts.failing);
        put(bytes, self.counts.retrying);
        self.slow.write(bytes);
        bytes.extend_from_slice(&self.pace.hinted_share().to_le_bytes());
    }
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (form, rest) = bytes.split_first()?;
        if *form != FORM {
            return None;
        }
        let mut fields = Fields(rest);
        let counts = PageCounts {
            pages: fields.number(),
            new: fields.number(),
            gone: fields.number(),
            dropped: fields.number(),
            ..PageCounts::default()
        };
        let mut kept = Self {
            counts,
            requests: fields.number(),
            failures: fields.small(u32::MAX),
            not_before: fields.number(),
            day: fields.small(u32::MAX),
            day_requests: fields.number(),
            day_bytes: fields.number(),
            ..Self::default()
        };
        let address = fields.bytes();
        kept.address = <[u8; 4]>::try_from(address)
            .map(IpAddr::from)
            .or_else(|_| <[u8; 16]>::try_from(address).map(IpAddr::from))
            .ok();
        fields.text().clone_into(&mut kept.alias_of);
        kept.load = Load::read(&mut fields);
        kept.delay = fields.number();
        kept.pace = Pace::read(&mut fields);
        kept.paid_at = fields.number();
        for reason in &HoldReason::ALL[..HoldReason::OF_PAGES] {
            kept.counts.held.set(*reason, fields.number());
        }
        (kept.counts.failing, kept.counts.retrying) = (fields.number(), fields.number());
        kept.slow = Slowdown::read(&mut fields);
        kept.pace.recall_hinted(f64::from_le_bytes(fields.array()));
        Some(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held_back::HeldBack;

    #[test]
    fn what_is_kept_of_a_server_is_read_as_it_was_written() {
        let mut kept = StoredServer {
            counts: PageCounts { pages: 70_000, new: 3, gone: 1, dropped: 2, ..PageCounts::default() },
            requests: 1 << 40,
            failures: 5,
            not_before: 1_800_000_000,
            day: 20_000,
            day_requests: 8_640,
            day_bytes: 1 << 33,
            alias_of: "www.example.jp".to_owned(),
            delay: 120,
            paid_at: 1_800_000_000_123_456,
            ..StoredServer::default()
        };
        kept.counts.held.set(HoldReason::Echo, 300);
        for interval in [60, 86_400, 34_560_000] {
            kept.load.add(interval, Load::share(interval));
        }
        for address in [None, Some("192.0.2.1"), Some("2001:db8::1")] {
            kept.address = address.map(|address| address.parse().unwrap());
            let mut bytes = Vec::new();
            kept.write(&mut bytes);
            assert_eq!(StoredServer::read(&bytes).as_ref(), Some(&kept));
        }
        assert_eq!(StoredServer::read(&[7]), None);
        // An older encoding ends before the last payment and the counts of what is held back.
        let mut bytes = Vec::new();
        (kept.paid_at, kept.counts.held) = (0, HeldBack::default());
        kept.write(&mut bytes);
        assert_eq!(StoredServer::read(&bytes[..bytes.len() - 15 - HoldReason::OF_PAGES]), Some(kept));
    }
}
