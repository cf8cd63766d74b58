//! What a frontier tells of itself (O2, D17).

use super::turn::refusal;
use super::{Frontier, Held};
use crate::error::Result;
use crate::hand::split_key;
use crate::load::{self, BINS};
use crate::moment::moment;
use crate::revisit::allocate::{Allocation, Expected};
use crate::revisit::pace::Pace;
use crate::scope::Verdict;
use crate::server::Server;
use crate::state::{Ended, State, Version};
use crate::tell::{Bin, Explanation, Figures, Overview, ServerTold};
use crate::trap::{fit, shape};
use base::limits::REVISIT_INTERVAL_MAX;
use base::{Interval, PageUrl, Timestamp};
use fetch::robots::Need;
use sat::{Minute, Number};

impl Frontier {
    /// A page's life so far, its next visit and why, or why never.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn explain(&mut self, url: &PageUrl, now: Timestamp) -> Result<Explanation> {
        let proper = self.by_proper_name(url, &url.key());
        let url = proper.as_ref().unwrap_or(url);
        let key = url.key();
        let server = self.known_server(url);
        let mut told = Explanation {
            url: url.as_str().to_owned(),
            key: key.as_str().to_owned(),
            server: url.server().as_str().to_owned(),
            address: server.and_then(|server| self.servers[server as usize].kept.address),
            state: "unknown",
            policy: self.policy.to_string(),
            ..Explanation::default()
        };
        match self.store.get(key.as_str().as_bytes())? {
            None => told.reason = self.if_added(url, server, now),
            Some(record) => {
                let state = State::read(&record.value).unwrap_or_default();
                self.tell_state(&mut told, &state, (record.number, record.due), server, now)?;
            }
        }
        Ok(told)
    }
    /// What would happen to an unknown URL.
    fn if_added(&mut self, url: &PageUrl, server: Option<u32>, now: Timestamp) -> String {
        let is_offered = |hand: &crate::hand::Hand| hand.key() == url.key().as_str().as_bytes();
        if self.offered.iter().any(is_offered) {
            return "it was found just now and is about to be taken up".to_owned();
        }
        if let Some(never) = self.why_never(url, server, now) {
            return format!("it is not known, and would not be visited: {never}");
        }
        "it is not known; added, it would be visited as soon as its server has rested".to_owned()
    }
    /// Why a URL is never visited.
    fn why_never(&mut self, url: &PageUrl, server: Option<u32>, now: Timestamp) -> Option<String> {
        if (self.excluded)(url.key().as_str()) {
            return Some("it was taken down".to_owned());
        }
        if let Verdict::Leave(rule) = self.settings.scope.judge(url) {
            return Some(rule);
        }
        if let Some(line) = self.settings.opt_out.refuses(url) {
            return Some(format!("the opt-out list says so, {line}"));
        }
        if let Err(unfit) = fit(url) {
            return Some(unfit.as_str().to_owned());
        }
        let state = &mut self.servers[server? as usize];
        let standing = state.robots_known(url.scheme())?;
        match standing.needs(now) {
            Need::Known(rules) => {
                let refusal = refusal(&rules, url)?;
                let base::Refusal::Robots(line) = refusal else { return None };
                Some(format!("the robots file of its server says `{line}`"))
            }
            Need::Unreachable(until) => {
                Some(format!("the robots file of its server cannot be had; it is asked for again at {until}"))
            }
            Need::Ask(_) => None,
        }
    }

    fn tell_state(
        &mut self,
        told: &mut Explanation,
        state: &State,
        (number, due): (Number, Minute),
        server: Option<u32>,
        now: Timestamp,
    ) -> Result<()> {
        state.url.clone_into(&mut told.url);
        told.role = state.role;
        told.first_seen = Some(state.first_seen());
        told.found_on = self.url_of(state.found_on)?;
        (told.visits, told.changes) = (state.visits, state.changes);
        told.elapsed = Interval::from_seconds(state.elapsed);
        told.unchanged_sum = Interval::from_seconds(state.unchanged);
        told.side_changes = state.side_changes;
        told.estimate = self.policy.estimator.estimate(&state.belief, &state.history());
        told.interval = (state.wait > 0).then(|| Interval::from_seconds(state.wait));
        told.last_visit = (!state.is_new()).then(|| Timestamp::from_micros(state.last_visit)).flatten();
        told.next_due = Some(moment(state.next_due));
        told.hint = hint(state);
        told.last_outcome = (!state.is_new()).then(|| last_outcome(state));
        told.state = word(state);
        let queued = matches!(self.held.get(&number.0), Some(Held::Queued(..) | Held::Out(..)));
        told.queued_for = Some(if queued { now } else { moment(due) });
        told.limited_by = server.and_then(|server| self.limit(server, state, (number, due), now));
        told.budget_share = server.and_then(|server| self.share(server, state));
        let never = PageUrl::parse(&state.url).ok().and_then(|url| self.why_never(&url, server, now));
        told.reason = never.unwrap_or_else(|| reason(state, told) + &self.why_early(server, state));
        Ok(())
    }
    /// Why it may be visited before its time.
    fn why_early(&self, server: Option<u32>, state: &State) -> String {
        let Some(server) = server.map(|server| &self.servers[server as usize]) else { return String::new() };
        let last = Timestamp::from_micros(state.last_visit).map_or(0, crate::moment::seconds);
        if state.visits > 0 && state.hinted > last {
            let chance = server.kept.pace.trust.of_hint() * 100.0;
            return format!(
                "; a feed or a sitemap says that it changed, and such hints were right in {chance:.0} of 100 cases here"
            );
        }
        match server.kin.told(&split_key_of(state).1, last) {
            Some((chance, hits, tries)) if state.visits > 0 => format!(
                "; of the pages beside it {hits} of {tries} changed lately, so it has with a chance of {:.0} % and may be visited earlier",
                chance * 100.0
            ),
            _ => String::new(),
        }
    }
    fn url_of(&mut self, number: Option<Number>) -> Result<Option<String>> {
        let Some(number) = number else { return Ok(None) };
        let record = self.store.get_number(number)?;
        Ok(record.and_then(|record| State::read(&record.value)).map(|state| state.url))
    }
    /// What makes a page wait longer than its own estimate.
    fn limit(
        &self,
        server: u32,
        state: &State,
        page: (Number, Minute),
        now: Timestamp,
    ) -> Option<&'static str> {
        let kept = &self.servers[server as usize];
        let (_, target) = split_key_of(state);
        if state.dropped || (kept.division.is_some() && page.1 > state.next_due) {
            return Some("overload");
        }
        match self.held.get(&page.0.0) {
            Some(Held::Deferred) => Some("trap"),
            Some(Held::Queued(..)) if kept.kept.failures > 0 && kept.rests_until(now).is_some() => {
                Some("back-off")
            }
            Some(Held::Queued(..)) => Some("pause"),
            _ if state.is_new() && !kept.shapes.takes(shape(&target)) => Some("trap"),
            _ if page.1 > state.next_due && kept.places.is_dead(&target) => Some("neighbourhood"),
            _ if page.1.0 > state.next_due.0 + 1 => Some("queue"),
            _ => None,
        }
    }
    /// The part of its server's requests that a page gets.
    fn share(&self, server: u32, state: &State) -> Option<f64> {
        state.load_interval(&self.policy)?;
        let all = self.outlook(server).requests;
        let own = if state.dropped { 0.0 } else { load::in_requests(load::Load::share(state.wait)) };
        (all > 0.0).then(|| (own / all).min(1.0))
    }
    /// What is to be expected of a server.
    fn outlook(&self, server: u32) -> Expected {
        let (policy, means) = (self.budgeted(), self.means(server));
        let kept = &self.servers[server as usize].kept;
        let longest = REVISIT_INTERVAL_MAX.as_seconds_f64();
        match policy.allocation {
            Allocation::Printed => {
                let division = kept.load.divide(means);
                Expected::of(&kept.load, longest, |own| match division {
                    Some(division) => division.every(own),
                    None => Some(own),
                })
            }
            Allocation::Fixed => Expected::of(&kept.load, longest, |_| Some(policy.every.as_seconds_f64())),
            allocation => {
                let budget = Pace::budget(&policy, kept.load.pages().max(1), means);
                let level = allocation.level(&kept.load, budget);
                let pages = kept.load.groups().map(|(_, count)| count).sum::<f64>();
                let eased = |own| allocation.eased(own, pages.max(1.0) / budget);
                Expected::of(&kept.load, longest, |own| allocation.interval(eased(own), level, 0.0))
            }
        }
    }
    /// What is left of a server's load once it is divided: requests a second, and how many pages are dropped.
    fn resolved(&self, server: u32) -> (f64, u64) {
        let (kept, means) = (&self.servers[server as usize].kept, self.means(server));
        match self.policy.allocation {
            Allocation::Printed => {
                let (left, dropped) = kept.load.divided(kept.load.divide(means));
                (left, dropped.max(kept.dropped))
            }
            _ => (kept.load.per_second().min(means), kept.dropped),
        }
    }

    /// Every server, the most overloaded first, then by load.
    #[must_use]
    pub fn servers(&self, now: Timestamp) -> Vec<ServerTold> {
        let mut all: Vec<ServerTold> =
            self.servers.iter().map(|server| self.tell_server(server, now)).collect();
        all.sort_by(|one, other| {
            let over = |told: &ServerTold| told.load - told.resolved_load;
            let by_load = || other.load.total_cmp(&one.load);
            other
                .overloaded
                .cmp(&one.overloaded)
                .then_with(|| over(other).total_cmp(&over(one)))
                .then_with(by_load)
                .then_with(|| one.server.cmp(&other.server))
        });
        all
    }
    fn tell_server(&self, state: &Server, now: Timestamp) -> ServerTold {
        let number = self.by_prefix.get(&state.prefix).copied().unwrap_or(0);
        let kept = &state.kept;
        let load = kept.load.per_second();
        let (resolved, dropped) = self.resolved(number);
        let outlook = self.outlook(number);
        let address = kept.address.and_then(|address| self.addresses.get(address));
        ServerTold {
            server: state.name.as_str().to_owned(),
            address: kept.address,
            pages: kept.pages,
            new: kept.new,
            queued: state.queue.len() as u64,
            gone: kept.gone,
            dropped,
            load,
            interval: (load > 0.0).then(|| Interval::from_seconds(1).times(1.0 / load)),
            pause: state.least_pause(),
            overloaded: load > self.means(number),
            address_load: address.map_or(load, |address| load::in_requests(address.load)),
            resolved_load: resolved,
            agreed: state.is_agreed,
            resting_until: state.rests_until(now),
            failures: kept.failures,
            requests: kept.requests,
            alias_of: (!kept.alias_of.is_empty()).then(|| kept.alias_of.clone()),
            expected: (kept.load.pages() > 0).then(|| told(&outlook)),
            early_share: kept.pace.early_share(),
            hints: kept.pace.trust.counts(),
        }
    }

    /// The whole.
    #[must_use]
    pub fn overview(&self) -> Overview {
        let kept = |count: fn(&Server) -> u64| self.servers.iter().map(count).sum::<u64>();
        let overloaded = (0..)
            .zip(&self.servers)
            .filter(|(number, server)| server.kept.load.per_second() > self.means(*number));
        Overview {
            servers: self.servers.iter().filter(|server| server.kept.pages > 0).count() as u64,
            pages: kept(|server| server.kept.pages),
            new: kept(|server| server.kept.new),
            queued: self.queued,
            offered: self.offered.len() as u64,
            overloaded: overloaded.count() as u64,
            dropped: kept(|server| server.kept.dropped),
            load: self.servers.iter().map(|server| server.kept.load.per_second()).sum(),
            paused: self.crawl.is_paused,
            network_down: self.outage.is_down,
            requests_today: self.crawl.day_requests,
            bytes_today: self.crawl.day_bytes,
            next: self.ready.peek().map(|std::cmp::Reverse((at, ..))| *at),
            policy: self.policy.to_string(),
            expected: self.expected(),
        }
    }
    /// What is to be expected of all pages together.
    #[expect(clippy::cast_precision_loss, reason = "counts of pages")]
    fn expected(&self) -> Option<(f64, Interval)> {
        let (mut all, mut pages) = (Expected::default(), 0.0);
        for (number, server) in (0..).zip(&self.servers) {
            let (count, one) = (server.kept.load.pages() as f64, self.outlook(number));
            all.freshness += one.freshness * count;
            all.age_seconds += one.age_seconds * count;
            pages += count;
        }
        let mean = Expected { freshness: all.freshness / pages, age_seconds: all.age_seconds / pages, ..all };
        (pages > 0.0).then(|| told(&mean))
    }
    /// Whether nothing is left that was never visited and could be. What only waits for its shape to prove worth it is not
    /// waited for.
    #[must_use]
    pub fn has_nothing_new(&self) -> bool {
        self.offered.is_empty() && self.new <= self.deferred() + self.deferred_in_store
    }
    /// Since when the network seems to be down, if it does.
    #[must_use]
    pub fn down_since(&self) -> Option<Timestamp> {
        self.outage.down_since()
    }
    /// Whether something of a page that is out is in the archive already.
    #[must_use]
    pub fn has_content(&self, page: Number) -> bool {
        match self.held.get(&page.0) {
            Some(Held::Out(_, hand)) => matches!(hand.state().version, Version::Content(_)),
            _ => false,
        }
    }
    /// When the next server with something to do may be asked.
    #[must_use]
    pub fn next_turn(&self) -> Option<Timestamp> {
        self.ready.peek().map(|std::cmp::Reverse((at, ..))| *at)
    }
    /// Whether a page is known, or about to be.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn knows(&self, url: &PageUrl) -> Result<bool> {
        Ok(self.store.find(url.key().as_str().as_bytes())?.is_some())
    }
    /// New pages that wait for their shape to prove worth it (H10).
    #[must_use]
    pub fn deferred(&self) -> u64 {
        self.servers.iter().map(|server| server.deferred_count as u64).sum()
    }
    /// Links that were not taken up: outside the scope, of a trap's shape, or too many of one server.
    #[must_use]
    pub fn dropped_links(&self) -> u64 {
        self.dropped_links
    }
    /// Pages known.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.store.count()
    }
    /// Pages known and never visited.
    #[must_use]
    pub fn new_pages(&self) -> u64 {
        self.new
    }
    /// Servers known, by whatever name.
    #[must_use]
    pub fn server_count(&self) -> u64 {
        self.servers.len() as u64
    }
    /// When every page is due, by its key: what a rebuilt frontier must have too (D3).
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn schedule(&mut self, mut each: impl FnMut(&str, Timestamp)) -> Result<()> {
        self.store.for_each(|record| {
            let due = State::read(record.value).map_or(Minute(0), |state| state.next_due);
            each(&String::from_utf8_lossy(record.key), moment(due));
            Ok(())
        })
    }

    /// The figures of paper 003; every page is looked at.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn figures(&mut self) -> Result<Figures> {
        let mut pages = vec![(0_u64, 0.0, 0.0); BINS];
        self.store.for_each(|record| -> Result<()> {
            let state = State::read(record.value).unwrap_or_default();
            if state.visits > 1 {
                let ratio = f64::from(state.changes + 1) / f64::from(state.visits);
                let bar = &mut pages[load::bin(state.wait)];
                *bar = (bar.0 + 1, bar.1 + ratio, bar.2 + ratio * ratio);
            }
            Ok(())
        })?;
        let revisit_intervals = pages.iter().enumerate().map(|(at, bar)| bin_of(at, bar.0)).collect();
        let change_ratios = pages.iter().map(|bar| mean_and_deviation(*bar)).collect();
        Ok(Figures { revisit_intervals, change_ratios, ..self.figure_5() })
    }
    /// Figure 5 alone, which needs the servers only.
    #[must_use]
    pub fn figure_5(&self) -> Figures {
        let (mut asked, mut resolved) = (vec![0; SERVER_BINS], vec![0; SERVER_BINS]);
        for (number, server) in (0..).zip(&self.servers) {
            let load = &server.kept.load;
            if load.units() == 0 {
                continue;
            }
            asked[server_bin(load.per_second())] += 1;
            resolved[server_bin(self.resolved(number).0)] += 1;
        }
        let bars = |counts: Vec<u64>| (0..).zip(counts).map(|(at, count)| server_bar(at, count)).collect();
        Figures {
            server_intervals: bars(asked),
            server_intervals_resolved: bars(resolved),
            ..Figures::default()
        }
    }
}

fn told(expected: &Expected) -> (f64, Interval) {
    (expected.freshness, Interval::from_seconds(1).times(expected.age_seconds.max(0.0)))
}

/// Bins of server intervals: octaves from an eighth of a second to more than a year.
const SERVER_BINS: usize = 30;

fn server_bin(load: f64) -> usize {
    let octave = (8.0 / load.max(1e-9)).log2().floor().max(0.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates, and is small")]
    let bin = octave as usize;
    bin.min(SERVER_BINS - 1)
}
fn server_bar(at: i32, count: u64) -> Bin {
    let edge = |at: i32| Interval::from_seconds(1).times(2_f64.powi(at - 3));
    Bin { from: edge(at), to: edge(at + 1), count }
}
fn bin_of(at: usize, count: u64) -> Bin {
    let edge = |at| Interval::from_seconds(1).times(load::begin(at));
    Bin { from: edge(at), to: edge(at + 1), count }
}
#[expect(clippy::cast_precision_loss, reason = "counts of pages")]
fn mean_and_deviation((count, sum, squares): (u64, f64, f64)) -> (f64, f64) {
    if count == 0 {
        return (0.0, 0.0);
    }
    let mean = sum / count as f64;
    (mean, (squares / count as f64 - mean * mean).max(0.0).sqrt())
}

fn split_key_of(state: &State) -> (String, String) {
    let key = PageUrl::parse(&state.url).map(|url| url.key().as_str().to_owned()).unwrap_or_default();
    let (prefix, target) = split_key(&key);
    (prefix.to_owned(), target.to_owned())
}
fn hint(state: &State) -> Option<String> {
    if !state.last_modified.is_empty() {
        return Some(format!("Last-Modified: {}", state.last_modified));
    }
    let told = state.hinted.max(state.announced);
    (told > 0).then(|| format!("announced: {}", crate::moment::at_seconds(told)))
}
fn last_outcome(state: &State) -> String {
    match (state.outcome, state.status) {
        (Ended::Failed | Ended::Moved | Ended::Gone, status) => {
            format!("{} ({status})", state.outcome.as_str())
        }
        (outcome, _) => outcome.as_str().to_owned(),
    }
}
/// A state in one word.
fn word(state: &State) -> &'static str {
    match state.outcome {
        _ if state.is_new() => "new",
        _ if state.dropped => "dropped",
        outcome if outcome.is_refusal() => "refused",
        Ended::Failed | Ended::Unreachable => "failing",
        Ended::Gone => "gone",
        Ended::Moved => "moved",
        _ if state.is_gone() => "gone",
        _ => "live",
    }
}
/// Why a page is visited when it is.
fn reason(state: &State, told: &Explanation) -> String {
    let interval = Interval::from_seconds(state.wait);
    let limited = match told.limited_by {
        Some("overload") if state.dropped => {
            return "it changes faster than its server can be asked, and was dropped so that other pages stay fresh".to_owned();
        }
        Some("overload") => "; its server's means are divided among its pages, so it waits longer",
        Some("neighbourhood") => "; its neighbours are gone, so it waits longer",
        Some("queue") => "; its server has more to do than fits into a day, so it waits longer",
        Some("trap") => "; it waits because pages of its shape have shown nothing new",
        Some("pause") => "; it waits for its turn on its server",
        Some("back-off") => "; its server failed and is left alone for a while",
        _ => "",
    };
    let why = match word(state) {
        "new" => "it was never visited".to_owned(),
        "failing" => {
            format!("it failed {} times in a row and is tried again after {interval}", state.failures)
        }
        "refused" => format!("it was {} and is judged again after {interval}", state.outcome.as_str()),
        "gone" => format!("it is gone, and looked for again after {interval}"),
        _ if !state.filtered.is_empty() => {
            format!(
                "the filter does not want it ({}), so it is looked at rarely, after {interval}",
                state.filtered
            )
        }
        _ => why_interval(state, told, interval),
    };
    format!("{why}{limited}")
}
fn why_interval(state: &State, told: &Explanation, interval: Interval) -> String {
    let by_budget = !told.policy.starts_with("paper") && told.policy != "fixed";
    match (told.estimate, state.visits) {
        (Some(estimate), 0 | 1) if by_budget => format!(
            "it was visited once, and is taken to change about every {estimate} as other pages of its server; by its share of the budget it is visited again after {interval}"
        ),
        (Some(estimate), _) if by_budget => format!(
            "{} of {} intervals showed a change, so it changes about every {estimate}, and by its share of the budget it is visited every {interval}",
            state.changes,
            state.visits.saturating_sub(1),
        ),
        (Some(estimate), _) => format!(
            "{} of {} intervals showed a change, so it changes about every {estimate} and is visited every {interval}",
            state.changes,
            state.visits.saturating_sub(1),
        ),
        (None, 0 | 1) if state.history().age.is_some() => {
            format!("it was visited once, and by its own word had not changed for {interval}")
        }
        (None, 0 | 1) => format!("it was visited once, and the second visit comes after a random {interval}"),
        _ if state.changes > 0 => {
            format!("every visit so far showed a change, so the interval was halved to {interval}")
        }
        _ => format!("no visit so far showed a change, so the interval grew to {interval}"),
    }
}
