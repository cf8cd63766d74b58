//! A policy as the crawler would follow it.
//!
//! It calls the functions that the frontier calls, in the same order: learn what the visit showed, count the page in the
//! server's load, ask for its interval.

use super::replay::{At, Planner, seconds};
use super::score::Seen;
use super::trace::Trace;
use base::{Chance, Interval};
use frontier::revisit::co_change::{self, CoChange, PageFinding, Tuning};
use frontier::revisit::estimate::Belief;
use frontier::revisit::pace::{Pace, Reason, Turn};
use frontier::{Estimator, History, Load, RevisitPolicy};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

#[derive(Clone, Debug, Default)]
struct Page {
    belief: Belief,
    history: History,
    /// What it asks for by itself, and when it is due: by the clock of turns, if there is a budget.
    own: Option<Interval>,
    due: f64,
    last_visit: f64,
    /// What it was counted as in the load.
    counted: Option<u64>,
    /// Its last hint that no visit has followed.
    announced: Option<f64>,
    /// How often it was visited: what lies in a queue from before is void.
    turn: u32,
    is_known: bool,
    /// When it became known, and for how long it waits as planned.
    known_at: f64,
    wait: Interval,
}

/// When which page is due, as the frontier would have it.
pub(crate) struct Scheduled<'a> {
    trace: &'a Trace,
    policy: RevisitPolicy,
    pace: Pace,
    load: Load,
    co_change: CoChange,
    pages: Vec<Page>,
    new: VecDeque<u32>,
    /// Pages by when they join the queue, and those in it by when they are due.
    later: BinaryHeap<Reverse<(At, u32, u32)>>,
    queue: BinaryHeap<Reverse<(At, u32, u32)>>,
    /// Pages that are said to have changed.
    hinted: VecDeque<u32>,
    chance: Chance,
}

impl<'a> Scheduled<'a> {
    pub(crate) fn new(trace: &'a Trace, policy: RevisitPolicy, tuning: Tuning) -> Self {
        Self {
            trace,
            policy,
            pace: Pace::default(),
            load: Load::default(),
            co_change: CoChange::new(tuning),
            pages: vec![Page::default(); trace.paths.len()],
            new: VecDeque::new(),
            later: BinaryHeap::new(),
            queue: BinaryHeap::new(),
            hinted: VecDeque::new(),
            chance: Chance::new(20),
        }
    }
    fn visits(&mut self, reason: Reason, now: f64) {
        let pages = self.load.pages();
        if self.policy.has_budget() {
            self.pace.visits(reason, seconds(now), pages);
        }
    }
    /// The page that is next by schedule.
    fn scheduled(&mut self, now: f64) -> Option<u32> {
        while let Some(Reverse((at, page, turn))) = self.later.peek().copied()
            && at.0 <= now
        {
            self.later.pop();
            let due = At(self.pages[page as usize].due);
            self.queue.push(Reverse((due, page, turn)));
        }
        while let Some(Reverse((_, page, turn))) = self.queue.peek().copied() {
            let known = &self.pages[page as usize];
            if known.is_known && known.turn == turn {
                return Some(page);
            }
            self.queue.pop();
        }
        None
    }
    fn hinted(&mut self, scheduled: f64) -> Option<u32> {
        while let Some(page) = self.hinted.front().copied() {
            let known = &self.pages[page as usize];
            let gain = self.pace.hint_gain(known.own.unwrap_or(known.wait), known.wait)?;
            self.hinted.pop_front();
            if known.announced.is_some() && gain > scheduled {
                return Some(page);
            }
        }
        None
    }
    fn candidate(&mut self, now: f64, gain: f64) -> Option<u32> {
        if self.policy.estimator != Estimator::CoChange {
            return None;
        }
        while let Some(candidate) = self.co_change.best(seconds(now), gain, self.pace.early_share()) {
            self.co_change.pass(&candidate);
            let page = &self.pages[candidate.page as usize];
            if page.is_known && page.history.visits > 0 && seconds(page.last_visit) < candidate.since {
                return Some(candidate.page);
            }
        }
        None
    }

    fn learn(&mut self, number: u32, now: f64, seen: Seen, is_hinted_of: bool) {
        let target = format!("/{}", self.trace.paths[number as usize]);
        let estimator = self.policy.estimator;
        let page = &mut self.pages[number as usize];
        page.turn += 1;
        if let Some(own) = page.counted.take() {
            self.load.remove(own, 0);
        }
        self.pace.tick(seconds(now));
        let gap = Interval::from_seconds(seconds(now) - seconds(page.last_visit));
        if seen.is_first {
            self.co_change.join(number, &target, seconds(now), 0);
            self.co_change.met(number, &target, seconds(page.known_at), seconds(now));
            *page = Page { turn: page.turn, is_known: true, known_at: page.known_at, ..Page::default() };
            page.history.visits = 1;
            estimator.begin(&mut page.belief, &self.pace);
        } else {
            if page.announced.take().is_some() {
                self.pace.trust.heard(seen.is_changed);
            } else if is_hinted_of && seen.is_changed {
                self.pace.trust.missed();
            }
            let finding = match seen {
                Seen { is_gone: true, .. } => PageFinding::Gone,
                Seen { is_changed: true, .. } => PageFinding::Changed,
                _ => PageFinding::Unchanged,
            };
            let expected = page.belief.stale_after(gap);
            let last = seconds(page.last_visit);
            self.co_change.visited(number, &target, last, seconds(now), finding, expected);
            count(&mut page.history, gap, seen.is_changed);
            estimator.learn(&mut page.belief, &mut self.pace, gap, seen.is_changed);
        }
        page.last_visit = now;
    }
    fn plan(&mut self, number: u32, now: f64, is_hinted_of: bool) {
        let (estimator, policy) = (self.policy.estimator, self.policy);
        let page = &mut self.pages[number as usize];
        let before = page.own.filter(|_| policy.has_budget());
        let own = estimator.own_interval(&page.belief, &page.history, before, &mut self.chance);
        page.own = Some(own);
        let silence = if is_hinted_of { self.pace.trust.of_silence() } else { 1.0 };
        let counted = own.times(1.0 / silence);
        page.counted = Some(counted.as_seconds());
        self.load.add(counted.as_seconds(), 0);
        let next = self.pace.next(&policy, &self.load, f64::INFINITY, counted, 0.0);
        let next = next.unwrap_or_else(|| {
            let wait = Interval::from_days(300 + self.chance.below(100));
            Turn { turn: f64::MAX, wait, joins_after: wait }
        });
        page.wait = next.wait;
        self.co_change.planned(number, Some((own, next.wait)));
        page.due = if policy.has_budget() { next.turn } else { now + next.wait.as_seconds_f64() };
        self.later.push(Reverse((At(now + next.joins_after.as_seconds_f64()), number, page.turn)));
    }
}

impl Planner for Scheduled<'_> {
    fn known(&mut self, page: u32, at: f64) {
        (self.pages[page as usize].is_known, self.pages[page as usize].known_at) = (true, at);
        self.new.push_back(page);
    }
    fn hint(&mut self, page: u32, at: f64) {
        let known = &mut self.pages[page as usize];
        let is_news = known.history.visits > 0 && at > known.last_visit;
        if known.is_known && is_news && known.announced.is_none() {
            known.announced = Some(at);
            self.hinted.push_back(page);
        }
    }

    fn pick(&mut self, now: f64, spacing: f64) -> Option<u32> {
        let scheduled = self.scheduled(now);
        if let Some(page) = self.new.pop_front() {
            if scheduled.is_none() {
                self.visits(Reason::First { spacing }, now);
            }
            return Some(page);
        }
        let gain = scheduled.map_or(0.0, |page| {
            let page = &self.pages[page as usize];
            let stale = page.belief.stale_after(Interval::from_seconds(seconds(now - page.last_visit)));
            stale * co_change::keeps(page.own.unwrap_or(page.wait), page.wait)
        });
        if let Some(page) = self.hinted(self.co_change.typical_gain(gain)) {
            self.visits(Reason::Hinted, now);
            return Some(page);
        }
        if let Some(page) = self.candidate(now, gain) {
            self.visits(Reason::Early, now);
            return Some(page);
        }
        let page = scheduled?;
        self.co_change.scheduled(gain);
        self.queue.pop();
        let turn = self.pages[page as usize].due;
        // A page that was dropped has no turn; its visit is one that no other page claimed.
        self.visits(if turn < f64::MAX { Reason::Turn(turn) } else { Reason::First { spacing } }, now);
        Some(page)
    }
    fn saw(&mut self, number: u32, now: f64, seen: Seen, is_hinted_of: bool) {
        self.learn(number, now, seen, is_hinted_of);
        if seen.is_gone {
            self.pages[number as usize].is_known = false;
            self.co_change.planned(number, None);
        } else {
            self.plan(number, now, is_hinted_of);
        }
    }
}

/// Counts an interval as the papers do.
pub(crate) fn count(history: &mut History, gap: Interval, is_changed: bool) {
    history.visits += 1;
    history.elapsed = history.elapsed.plus(gap);
    history.last = gap;
    if is_changed {
        history.changes += 1;
        let shortest = if history.changes == 1 { gap } else { history.change_min.min(gap) };
        history.change_min = shortest;
    } else {
        history.unchanged = history.unchanged.plus(gap);
    }
}
