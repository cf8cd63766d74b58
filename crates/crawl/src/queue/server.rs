//! What the queue knows of a server: its pages in turn, its address, its robots rules, when it may be asked again.

use super::PageId;
use base::door::Truncation;
use base::limits::{ROBOTS_LIFETIME, ROBOTS_REDIRECTS_MAX, ROBOTS_STALE_MAX, SERVER_PAUSE_MAX};
use base::url::Scheme;
use base::{Interval, Outcome, PageUrl, ServerName, Timestamp};
use fetch::robots::Rules;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

/// The first back-off of a server that fails; it doubles with each failure.
const BACK_OFF_FIRST: Interval = Interval::from_minutes(1);

/// A server.
#[derive(Debug)]
pub(super) struct Server {
    name: ServerName,
    /// Pages never visited, in order of arrival.
    pub fresh: VecDeque<PageId>,
    /// Pages visited, the longest ago first.
    pub seen: VecDeque<PageId>,
    /// A task of it is under way.
    pub busy: bool,
    /// The moment for which it stands in the queue's list of ready servers.
    pub listed_at: Option<Timestamp>,
    /// It waits for its address, which others are using.
    pub waits: bool,
    /// Pages that robots rules forbid, and since when that is known.
    pub refused: VecDeque<(PageId, Timestamp)>,
    /// Failures in a row.
    pub failures: u32,
    ready_at: Timestamp,
    ways: [Way; 2],
}

/// How a server is reached by one scheme.
#[derive(Clone, Debug)]
struct Way {
    /// Where it answers, and until when that may be believed.
    address: Option<(SocketAddr, Timestamp)>,
    robots: Robots,
    /// The last rules that came, and when.
    rules: Option<(Arc<Rules>, Timestamp)>,
    crawl_delay: Interval,
}

/// What is known of a robots file. Rules belong to scheme and server together (D6).
#[derive(Clone, Debug)]
pub(super) enum Robots {
    /// It must be asked for: where, if not at its usual place, and after so many redirects.
    Ask(Option<PageUrl>, usize),
    /// Its rules, and when they came.
    Known(Arc<Rules>, Timestamp),
    /// It cannot be had, since then: nothing may be asked for (RFC 9309).
    Unreachable(Timestamp),
}

impl Server {
    pub(super) fn new(name: ServerName, ready_at: Timestamp) -> Self {
        let way =
            Way { address: None, robots: Robots::Ask(None, 0), rules: None, crawl_delay: Interval::ZERO };
        Self {
            name,
            fresh: VecDeque::new(),
            seen: VecDeque::new(),
            busy: false,
            listed_at: None,
            waits: false,
            refused: VecDeque::new(),
            failures: 0,
            ready_at,
            ways: [way.clone(), way],
        }
    }

    /// When it may have something to do; never, when it has no pages left to visit.
    pub(super) fn due(&self, oldest: Option<Timestamp>, revisit_after: Interval) -> Option<Timestamp> {
        if !self.fresh.is_empty() {
            return Some(self.ready_at);
        }
        let seen = oldest.map(|visited| visited.plus(revisit_after));
        let refused = self.refused.front().map(|(_, since)| since.plus(ROBOTS_LIFETIME));
        seen.into_iter().chain(refused).min().map(|at| at.max(self.ready_at))
    }

    /// Pages that were forbidden long enough ago are judged anew.
    pub(super) fn forgive(&mut self, now: Timestamp) {
        while let Some((page, _)) = self.refused.pop_front_if(|(_, since)| since.plus(ROBOTS_LIFETIME) <= now)
        {
            self.seen.push_front(page);
        }
    }

    pub(super) fn front(&self) -> Option<PageId> {
        self.fresh.front().or_else(|| self.seen.front()).copied()
    }
    /// Takes a page out, and tells whether it was fresh.
    ///
    /// # Panics
    /// When the page is in neither queue.
    pub(super) fn remove(&mut self, page: PageId) -> bool {
        let place = |queue: &VecDeque<PageId>| queue.iter().position(|found| *found == page);
        if let Some(place) = place(&self.fresh) {
            self.fresh.remove(place);
            return true;
        }
        let place = place(&self.seen).expect("a page that is taken out is in a queue");
        self.seen.remove(place);
        false
    }

    /// The address of a scheme, as long as it may be believed (D6).
    pub(super) fn address(&self, scheme: Scheme, now: Timestamp) -> Option<SocketAddr> {
        self.way(scheme).address.filter(|(_, until)| now < *until).map(|(address, _)| address)
    }
    pub(super) fn set_address(&mut self, scheme: Scheme, address: SocketAddr, until: Timestamp) {
        self.way_mut(scheme).address = Some((address, until));
    }
    /// Nothing before this moment.
    pub(super) fn leave_until(&mut self, moment: Timestamp) {
        self.ready_at = self.ready_at.max(moment);
    }
    /// The robots file as far as it is known; one that is too old is asked for again.
    pub(super) fn robots_at(&self, scheme: Scheme, now: Timestamp) -> Robots {
        match &self.way(scheme).robots {
            Robots::Known(_, at) | Robots::Unreachable(at) if now.since(*at) >= ROBOTS_LIFETIME => {
                Robots::Ask(None, 0)
            }
            robots => robots.clone(),
        }
    }

    /// Learns from the answer to a robots request (H12). A redirect to another server is not followed: its
    /// rules would not be this server's word, so nothing is asked for.
    pub(super) fn learn_robots(
        &mut self,
        scheme: Scheme,
        outcome: &Outcome,
        bytes: Option<&[u8]>,
        agent: &str,
        now: Timestamp,
    ) {
        let hops = if let Robots::Ask(_, hops) = self.way(scheme).robots { hops } else { 0 };
        let robots = match (outcome, bytes) {
            // A file that breaks off may have lost the very line that forbids.
            (Outcome::Fetched { truncated: None | Some(Truncation::Length), .. }, Some(bytes)) => {
                Robots::Known(Arc::new(Rules::for_agent(bytes, agent)), now)
            }
            (Outcome::Moved { target: Some(target), .. }, _)
                if hops < ROBOTS_REDIRECTS_MAX && target.server() == self.name =>
            {
                Robots::Ask(Some(target.clone()), hops + 1)
            }
            (Outcome::Gone { .. }, _) => Robots::Known(Arc::new(Rules::allow_all()), now),
            (Outcome::Failed { status, .. }, _) if (400..500).contains(status) && *status != 429 => {
                Robots::Known(Arc::new(Rules::allow_all()), now)
            }
            _ => self.way(scheme).without_file(now),
        };
        self.way_mut(scheme).learn(robots, now);
        if let Outcome::Failed { retry_after: Some(wait), .. } = outcome {
            self.back_off(Some(*wait), now);
        }
        self.ready_at = self.ready_at.max(now.plus(self.crawl_delay()));
    }

    /// After a request: nothing for the pause, or longer if the robots file says so.
    pub(super) fn rest(&mut self, pause: Interval, now: Timestamp) {
        self.ready_at = self.ready_at.max(now.plus(pause.max(self.crawl_delay())));
    }

    /// After a failure: nothing for as long as the server asks, or for ever longer times.
    pub(super) fn back_off(&mut self, asked: Option<Interval>, now: Timestamp) {
        self.failures = self.failures.saturating_add(1);
        let doubled = f64::from(1_u32 << (self.failures - 1).min(16));
        let wait = asked.unwrap_or_else(|| BACK_OFF_FIRST.times(doubled)).min(SERVER_PAUSE_MAX);
        self.ready_at = self.ready_at.max(now.plus(wait));
    }

    /// The longer of the delays that its robots files ask for.
    fn crawl_delay(&self) -> Interval {
        self.ways.iter().map(|way| way.crawl_delay).max().unwrap_or(Interval::ZERO)
    }

    fn way(&self, scheme: Scheme) -> &Way {
        &self.ways[usize::from(scheme == Scheme::Https)]
    }
    fn way_mut(&mut self, scheme: Scheme) -> &mut Way {
        &mut self.ways[usize::from(scheme == Scheme::Https)]
    }
}

impl Way {
    /// What counts while the robots file cannot be had: the rules that came last, unless they are too old (H12).
    fn without_file(&self, now: Timestamp) -> Robots {
        match &self.rules {
            Some((rules, came)) if now.since(*came) < ROBOTS_STALE_MAX => {
                Robots::Known(Arc::clone(rules), now)
            }
            _ => Robots::Unreachable(now),
        }
    }

    fn learn(&mut self, robots: Robots, now: Timestamp) {
        if let Robots::Known(rules, _) = &robots {
            self.crawl_delay = rules.crawl_delay().unwrap_or(Interval::ZERO).min(SERVER_PAUSE_MAX);
            let is_old = self.rules.as_ref().is_some_and(|(old, _)| Arc::ptr_eq(old, rules));
            if !is_old {
                self.rules = Some((Arc::clone(rules), now));
            }
        }
        self.robots = robots;
    }
}
