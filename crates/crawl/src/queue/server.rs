//! What the queue knows of a server: its pages in turn, its address, its robots files, when it may be asked again.

use super::PageId;
use base::limits::SERVER_PAUSE_MAX;
use base::url::{Origin, Scheme};
use base::{Interval, PageUrl, ServerName, Timestamp};
use fetch::robots::{self, Answer, Need, Standing};
use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;

/// The first back-off of a server that fails; it doubles with each failure.
const BACK_OFF_FIRST: Interval = Interval::from_minutes(1);

/// A server.
#[derive(Debug)]
pub(super) struct Server {
    name: ServerName,
    /// Pages never visited, or refused and to be judged anew, in order of arrival.
    pub fresh: VecDeque<PageId>,
    /// Pages visited, the longest ago first.
    pub seen: VecDeque<PageId>,
    /// A task of it is under way.
    pub busy: bool,
    /// The moment for which it stands in the queue's list of ready servers.
    pub listed_at: Option<Timestamp>,
    /// It waits for its address, which others are using.
    pub waits: bool,
    /// Its robots file is being asked for, here or elsewhere, and its pages wait.
    pub away: bool,
    /// Robots files to ask for here, its own or those of others that were sent here.
    pub errands: VecDeque<PageUrl>,
    /// Whether the last thing it was asked for was a robots file.
    pub ran_errand: bool,
    /// Pages that may not be asked for, and when they are judged anew.
    pub refused: BTreeSet<(Timestamp, PageId)>,
    /// Failures in a row.
    pub failures: u32,
    ready_at: Timestamp,
    /// Before this moment no page is asked for.
    pages_at: Timestamp,
    ways: [Way; 2],
}

/// How a server is reached by one scheme. Robots rules belong to scheme and server together (D6).
#[derive(Clone, Debug, Default)]
struct Way {
    /// Where it answers, and until when that may be believed.
    address: Option<(SocketAddr, Timestamp)>,
    /// Nothing before its robots file was first asked for.
    robots: Option<Standing>,
}

impl Server {
    pub(super) fn new(name: ServerName, ready_at: Timestamp) -> Self {
        Self {
            name,
            fresh: VecDeque::new(),
            seen: VecDeque::new(),
            busy: false,
            listed_at: None,
            waits: false,
            away: false,
            errands: VecDeque::new(),
            ran_errand: false,
            refused: BTreeSet::new(),
            failures: 0,
            ready_at,
            pages_at: Timestamp::MIN,
            ways: Default::default(),
        }
    }

    /// When a page of it may be next; never, when it has none left to visit or they wait for its robots file.
    pub(super) fn pages_due(&self, oldest: Option<Timestamp>, revisit_after: Interval) -> Option<Timestamp> {
        if self.away {
            return None;
        }
        let seen = oldest.map(|visited| visited.plus(revisit_after));
        let refused = self.refused.first().map(|(until, _)| *until);
        let fresh = (!self.fresh.is_empty()).then_some(Timestamp::MIN);
        let first = fresh.or_else(|| seen.into_iter().chain(refused).min());
        first.map(|at| at.max(self.ready_at).max(self.pages_at))
    }
    /// When a robots file may be asked for here, if there is one to ask for.
    pub(super) fn errand_due(&self) -> Option<Timestamp> {
        (!self.errands.is_empty()).then_some(self.ready_at)
    }

    /// Pages whose refusal has had its time are judged anew, in their turn; how many.
    pub(super) fn forgive(&mut self, now: Timestamp) -> u64 {
        let mut forgiven = 0;
        while self.refused.first().is_some_and(|(until, _)| *until <= now) {
            self.fresh.extend(self.refused.pop_first().map(|(_, page)| page));
            forgiven += 1;
        }
        forgiven
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
    /// No page before this moment.
    pub(super) fn leave_pages_until(&mut self, moment: Timestamp) {
        self.pages_at = self.pages_at.max(moment);
    }

    /// What its robots file asks of us before a page of the scheme is visited.
    pub(super) fn robots(&mut self, scheme: Scheme, now: Timestamp) -> Need {
        match self.standing(scheme) {
            Some(standing) => standing.needs(now),
            None => Need::Unreachable(Timestamp::MAX),
        }
    }
    /// What its robots file itself last said, if that still counts.
    pub(super) fn robots_said(&self, scheme: Scheme, now: Timestamp) -> Option<(Answer, Timestamp)> {
        self.way(scheme).robots.as_ref().and_then(|standing| standing.said(now))
    }
    /// Learns what came of a robots request.
    pub(super) fn learn_robots(&mut self, scheme: Scheme, answer: &Answer, now: Timestamp) {
        if let Some(standing) = self.standing(scheme) {
            standing.learn(answer, now);
        }
        self.ready_at = self.ready_at.max(now.plus(self.crawl_delay()));
    }
    /// Takes over what an earlier run learned.
    pub(super) fn recall_robots(&mut self, scheme: Scheme, standing: Standing) {
        self.way_mut(scheme).robots = Some(standing);
    }

    /// After a request: nothing for the pause, or longer if the robots file says so.
    pub(super) fn rest(&mut self, pause: Interval, now: Timestamp) {
        self.ready_at = self.ready_at.max(now.plus(pause.max(self.crawl_delay())));
    }

    /// Nothing before this moment.
    pub(super) fn leave_until(&mut self, moment: Timestamp) {
        self.ready_at = self.ready_at.max(moment);
    }
    /// Until when it rests, if it does at `now`.
    pub(super) fn rests_until(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.ready_at).filter(|until| *until > now)
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
        let delays = self.ways.iter().filter_map(|way| way.robots.as_ref()).map(Standing::crawl_delay);
        delays.max().unwrap_or(Interval::ZERO).min(SERVER_PAUSE_MAX)
    }

    /// Nothing when the server's name is too long for its robots file to have a URL.
    fn standing(&mut self, scheme: Scheme) -> Option<&mut Standing> {
        if self.way(scheme).robots.is_none() {
            let home = robots::home(&Origin { scheme, server: self.name.clone() })?;
            self.way_mut(scheme).robots = Some(Standing::new(home));
        }
        self.way_mut(scheme).robots.as_mut()
    }

    fn way(&self, scheme: Scheme) -> &Way {
        &self.ways[usize::from(scheme == Scheme::Https)]
    }
    fn way_mut(&mut self, scheme: Scheme) -> &mut Way {
        &mut self.ways[usize::from(scheme == Scheme::Https)]
    }
}
