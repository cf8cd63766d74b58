//! Reports on a frontier (O2, D17): its servers, the overview, the figures.

use super::Frontier;
use crate::Role;
use crate::error::Result;
use crate::load::{self, BINS};
use crate::moment::moment;
use crate::report::{Bin, Figures, Outlook, Overview, ServerReport};
use crate::revisit::allocate::{Allocation, Expected};
use crate::revisit::pace::Pace;
use crate::server::Server;
use crate::servers::ServerId;
use crate::state::{State, Version};
use base::limits::REVISIT_INTERVAL_MAX;
use base::{Interval, PageUrl, Timestamp};
use sat::{Minute, Number};

impl Frontier {
    /// The expected freshness of a server.
    pub(super) fn outlook(&self, server: ServerId) -> Expected {
        let (policy, means) = (self.budgeted(), self.means(server));
        let kept = &self.servers[server].kept;
        let longest = REVISIT_INTERVAL_MAX.as_seconds_f64();
        match policy.allocation {
            Allocation::Printed => {
                let division = kept.load.divide(means);
                Expected::of(&kept.load, longest, |own| match division {
                    Some(division) => division.every(own),
                    None => Some(own),
                })
            }
            Allocation::Fixed => {
                // The delay limits the visits.
                let every = self.average(server).as_seconds_f64();
                Expected::of(&kept.load, longest, |_| Some(every))
            }
            allocation => {
                let budget = Pace::budget(&policy, kept.load.pages().max(1), means);
                let level = allocation.level(&kept.load, budget);
                let pages = kept.load.groups().map(|(_, count)| count).sum::<f64>();
                let eased = |own| allocation.eased(own, pages.max(1.0) / budget);
                Expected::of(&kept.load, longest, |own| allocation.interval(eased(own), level, 0.0))
            }
        }
    }
    /// How often a page of a server is visited on average: as often as the policy says, or as the delay allows.
    #[expect(clippy::cast_precision_loss, reason = "a count of pages")]
    pub(super) fn average(&self, server: ServerId) -> Interval {
        let pages = self.servers[server].kept.load.pages() as f64;
        let allowed = Interval::from_seconds(1).times((pages / self.means(server)).min(LONGEST_SECONDS));
        self.budgeted().every.max(allowed)
    }
    /// A server's load after it is divided: requests a second, and the number of dropped pages.
    fn resolved(&self, server: ServerId) -> (f64, u64) {
        let (kept, means) = (&self.servers[server].kept, self.means(server));
        match self.budget.policy().allocation {
            Allocation::Printed => {
                let (left, dropped) = kept.load.divided(kept.load.divide(means));
                (left, dropped.max(kept.counts.dropped))
            }
            _ => (kept.load.per_second().min(means), kept.counts.dropped),
        }
    }

    /// Every server, the most overloaded first, then by load.
    #[must_use]
    pub fn servers(&self, now: Timestamp) -> Vec<ServerReport> {
        let mut all: Vec<ServerReport> =
            self.servers.iter().map(|(id, server)| self.report_server(id, server, now)).collect();
        all.sort_by(|one, other| {
            let over = |told: &ServerReport| told.load - told.resolved_load;
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
    fn report_server(&self, number: ServerId, state: &Server, now: Timestamp) -> ServerReport {
        let kept = &state.kept;
        let load = kept.load.per_second();
        let (resolved, dropped) = self.resolved(number);
        let outlook = self.outlook(number);
        let address = kept.address.and_then(|address| self.addresses.get(address));
        ServerReport {
            server: state.name.as_str().to_owned(),
            address: kept.address,
            pages: kept.counts.pages,
            new: kept.counts.new,
            queued: self.workbench.queue(number).len() as u64,
            gone: kept.counts.gone,
            dropped,
            load,
            interval: (load > 0.0).then(|| Interval::from_seconds(1).times(1.0 / load)),
            pause: state.delay(),
            slowed_by: slowed_by(state),
            failing: kept.counts.failing,
            overloaded: load > self.means(number),
            address_load: address.map_or(load, |address| load::in_requests(address.load())),
            resolved_load: resolved,
            agreed: state.is_agreed,
            resting_until: state.rests_until(now),
            failures: kept.failures,
            requests: kept.requests,
            alias_of: (!kept.alias_of.is_empty()).then(|| kept.alias_of.clone()),
            expected: (kept.load.pages() > 0)
                .then(|| told(&outlook, kept.load.pages(), kept.counts.new, kept.pace.is_guess())),
            early_share: kept.pace.early_share() + kept.pace.hinted_share(),
            hints: kept.pace.trust.counts(),
            held_back: self.held_back_of(number),
        }
    }

    /// The crawl as a whole.
    #[must_use]
    pub fn overview(&self) -> Overview {
        let counts = self.census.all();
        let overloaded = self
            .servers
            .iter()
            .filter(|(number, server)| server.kept.load.per_second() > self.means(*number));
        Overview {
            servers: self.servers.iter().filter(|(_, server)| server.kept.counts.pages > 0).count() as u64,
            pages: counts.pages,
            new: counts.new,
            queued: self.workbench.queued(),
            offered: self.intake.offered().len() as u64,
            overloaded: overloaded.count() as u64,
            dropped: counts.dropped,
            load: self.servers.iter().map(|(_, server)| server.kept.load.per_second()).sum(),
            paused: self.crawl.is_paused,
            network_down: self.outage.is_down,
            failing: self.failing_pages(),
            requests_today: self.crawl.day_requests,
            bytes_today: self.crawl.day_bytes,
            next: self.workbench.next_ready(),
            policy: self.budget.policy().to_string(),
            expected: self.expected(),
            held_back: self.held_back(),
        }
    }
    /// The expected freshness of all pages.
    #[expect(clippy::cast_precision_loss, reason = "counts of pages")]
    fn expected(&self) -> Option<Outlook> {
        let (mut all, mut pages, mut new, mut guessed) = (Expected::default(), 0, 0, 0);
        for (number, server) in self.servers.iter() {
            let (count, one) = (server.kept.load.pages(), self.outlook(number));
            all.freshness += one.freshness * count as f64;
            all.age_seconds += one.age_seconds * count as f64;
            pages += count;
            new += server.kept.counts.new;
            guessed += if server.kept.pace.is_guess() { count } else { 0 };
        }
        let count = pages as f64;
        let mean = Expected { freshness: all.freshness / count, age_seconds: all.age_seconds / count, ..all };
        (pages > 0).then(|| told(&mean, pages, new, 2 * guessed > pages))
    }
    /// Whether nothing is left that an operator asked for, that failed and is retried soon, or that was never visited and is not held back.
    #[must_use]
    pub fn has_nothing_new(&self) -> bool {
        self.intake.offered().is_empty()
            && self.census.orders().asked == 0
            && self.census.all().retrying == 0
            && self.census.all().new <= self.census.all().held.total()
    }
    /// Since when the network seems to be down, if it does.
    #[must_use]
    pub fn down_since(&self) -> Option<Timestamp> {
        self.outage.down_since()
    }
    /// Whether the archive already has content of a page whose task is in progress.
    #[must_use]
    pub fn has_content(&self, page: Number) -> bool {
        self.workbench.visiting(page).is_some_and(|page| matches!(page.state().version, Version::Content(_)))
    }
    /// Whether a page whose task is in progress is a requisite of another page.
    #[must_use]
    pub fn is_requisite(&self, page: Number) -> bool {
        self.workbench.visiting(page).is_some_and(|page| page.state().role == Role::Requisite)
    }
    /// When the next server with something to do may be requested.
    #[must_use]
    pub fn next_turn(&self) -> Option<Timestamp> {
        let ready = self.workbench.next_ready();
        ready.into_iter().chain(self.workbench.next_retry()).min()
    }
    /// Whether a page is known, or about to be.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn knows(&self, url: &PageUrl) -> Result<bool> {
        Ok(self.store.find(url.key().as_str().as_bytes())?.is_some())
    }
    /// Links that were not accepted: outside the scope, or of a server with too many pages.
    #[must_use]
    pub fn dropped_links(&self) -> u64 {
        self.intake.dropped_links()
    }
    /// Pages known.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.store.count()
    }
    /// Pages known and never visited.
    #[must_use]
    pub fn new_pages(&self) -> u64 {
        self.census.all().new
    }
    /// Known servers, including aliases.
    #[must_use]
    pub fn server_count(&self) -> u64 {
        self.servers.len() as u64
    }
    /// The due moment of every page, by key; it is the same in a rebuilt frontier (D3).
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

    /// Number of known pages with such keys; every page is looked at.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn count_pages(&mut self, is_meant: impl Fn(&str) -> bool) -> Result<u64> {
        Self::count_pages_of(&mut self.store, is_meant)
    }
    /// The same of a store that is not opened as a frontier.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn count_pages_of(store: &mut sat::Store, is_meant: impl Fn(&str) -> bool) -> Result<u64> {
        let mut count = 0;
        store.for_each(|record| -> Result<()> {
            count += u64::from(is_meant(&String::from_utf8_lossy(record.key)));
            Ok(())
        })?;
        Ok(count)
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
        for (number, server) in self.servers.iter() {
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

/// What is expected of the live pages, and of them together with those that were never visited.
#[expect(clippy::cast_precision_loss, reason = "counts of pages")]
fn told(visited: &Expected, live: u64, new: u64, is_guess: bool) -> Outlook {
    Outlook {
        freshness: visited.freshness * live as f64 / (live + new).max(1) as f64,
        freshness_visited: visited.freshness,
        age: Interval::from_seconds(1).times(visited.age_seconds.max(0.0)),
        is_guess,
    }
}

/// No page waits longer than this on average, whatever the delay.
const LONGEST_SECONDS: f64 = 400.0 * 86_400.0;

/// Why a server is asked more slowly than configured: a status, or slow answers.
fn slowed_by(server: &Server) -> Option<String> {
    let is_slow = server.is_agreed && server.latency.delay() > server.least_pause();
    let latency = is_slow.then(|| "latency".to_owned());
    let status = server.kept.slow.status().filter(|_| server.kept.slow.delay() > server.least_pause());
    status.map(|status| status.to_string()).or(latency)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_was_never_visited_is_not_fresh() {
        let visited = Expected { freshness: 0.99, age_seconds: 60.0, ..Expected::default() };
        let outlook = told(&visited, 3_000, 1_000, false);
        assert!((outlook.freshness - 0.742_5).abs() < 1e-9, "{outlook:?}");
        assert!((outlook.freshness_visited - 0.99).abs() < 1e-9, "{outlook:?}");
        assert_eq!(outlook.age, Interval::from_minutes(1));
    }
}
