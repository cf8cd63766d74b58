//! What is visited before its time: pages that a feed or a sitemap says have changed, and pages beside those that were seen to
//! have changed.
//!
//! **Invariant:** a page of which a hint is heard, or that is taken early, is due when it was. It is visited sooner, out of the same
//! budget.

use super::Frontier;
use crate::Role;
use crate::error::Result;
use crate::lesson::NextVisit;
use crate::loaded_page::{LoadedPage, Rank, split_key};
use crate::moment::seconds;
use crate::revisit::co_change::{Candidate, PageFinding};
use crate::revisit::estimate::Estimator;
use crate::servers::ServerId;
use crate::state::State;
use crate::workbench::PageLocation;
use base::{Interval, Timestamp};
use sat::Number;

/// So many pages beside changed ones are looked up in one turn to find one that was not visited since.
const CANDIDATES_MAX: u32 = 64;
/// So many pages of a server wait that hints were given of.
const HINTS_MAX: usize = 10_000;
/// Which pages lie beside which is read from the store when a crawl begins, if it has no more pages than this; otherwise
/// it is learned as they are loaded.
const CO_CHANGE_RECALLED_MAX: u64 = 100_000;

impl Frontier {
    /// What a visit showed of what lies beside the page.
    pub(super) fn compare(
        &mut self,
        server: ServerId,
        page: Number,
        target: &str,
        (before, after): (&State, &mut State),
        again: NextVisit,
    ) {
        if after.role != Role::Page
            || self.budget.policy().estimator != Estimator::CoChange
            || !self.budget.policy().has_budget()
        {
            return;
        }
        let seconds_of = |micros: i64| Timestamp::from_micros(micros).map_or(0, seconds);
        if before.visits == 0 {
            if again == NextVisit::ByPlan {
                self.join(server, page, target, after);
                let met = seconds_of(after.last_visit);
                self.servers[server].co_change.met(page.0, target, before.first_seen, met);
            }
            return;
        }
        if after.visits == before.visits {
            // It was not answered: that says nothing.
            return;
        }
        self.join(server, page, target, before);
        let finding = match () {
            () if after.is_gone() && !before.is_gone() => PageFinding::Gone,
            () if again == NextVisit::ByPlan && after.changes > before.changes => PageFinding::Changed,
            () => PageFinding::Unchanged,
        };
        let (last, now) = (seconds_of(before.last_visit), seconds_of(after.last_visit));
        after.event = self.servers[server].co_change.visited(
            page.0,
            target,
            last,
            now,
            finding,
            before.belief.stale_after(Interval::from_seconds(now - last)),
        );
        if finding != PageFinding::Unchanged {
            self.reschedule(server);
        }
    }
    /// A feed or a sitemap says that a known page changed. It is looked at when that is worth most.
    pub(super) fn hint(&mut self, key: &[u8], announced: Timestamp, at: Timestamp) -> Result<()> {
        let (prefix, _) = split_key(std::str::from_utf8(key).unwrap_or_default());
        let Some(server) = self.servers.by_prefix(prefix) else { return Ok(()) };
        let announced = seconds(announced);
        self.servers.touch(server);
        if !self.servers[server].kept.pace.trust.is_news(announced) {
            return Ok(());
        }
        let Some(record) = self.store.get(key)? else { return Ok(()) };
        let Some(mut state) = State::read(&record.value) else { return Ok(()) };
        let last = Timestamp::from_micros(state.last_visit).map_or(0, seconds);
        if state.is_new() || announced <= state.hinted {
            return Ok(());
        }
        // That a page is back says nothing of whether its changes are announced.
        if !state.is_gone() {
            (state.hinted, state.heard) =
                (announced, if state.heard > 0 { state.heard } else { seconds(at) });
            self.write_hint(&record, &state)?;
        }
        let waiting = &mut self.servers[server];
        if self.budget.policy().has_budget() && announced > last && waiting.hinted.len() < HINTS_MAX {
            waiting.hinted.push_back((record.number.0, announced));
            self.reschedule(server);
        }
        Ok(())
    }
    fn write_hint(&mut self, record: &sat::OwnedRecord, state: &State) -> Result<()> {
        let mut value = Vec::with_capacity(record.value.len() + 8);
        state.write(&mut value);
        self.workbench.unload(record.number);
        self.update(record.number, &record.key, record.due, &value)
    }
    /// Lets a page take part among those that change together, once.
    pub(super) fn join(&mut self, server: ServerId, page: Number, target: &str, state: &State) {
        let policy = self.budget.policy();
        if policy.estimator == Estimator::CoChange && policy.has_budget() {
            let last = Timestamp::from_micros(state.last_visit).map_or(0, seconds);
            if self.servers.join_co_change(server, page, target, last, state.event) {
                self.servers[server].co_change.planned(page.0, early_plan(state));
            }
        }
    }
    /// Finds again which pages lie beside which, and of which hints were heard that nobody followed.
    pub(super) fn recall_co_change(&mut self) -> Result<()> {
        if !self.budget.policy().has_budget() || self.store.count() > CO_CHANGE_RECALLED_MAX {
            return Ok(());
        }
        let mut pages = Vec::new();
        self.store.for_each(|record| -> Result<()> {
            let state = State::read(record.value).unwrap_or_default();
            if state.visits > 0 && state.role == Role::Page {
                let last = Timestamp::from_micros(state.last_visit).map_or(0, seconds);
                let hinted = (state.hinted > last).then_some(state.hinted);
                pages.push((record.number, String::from_utf8_lossy(record.key).into_owned(), hinted, state));
            }
            Ok(())
        })?;
        pages.sort_unstable_by_key(|(number, ..)| number.0);
        for (number, key, hinted, state) in pages {
            let (prefix, target) = split_key(&key);
            if let Some(server) = self.servers.by_prefix(prefix) {
                self.join(server, number, target, &state);
                self.servers[server].hinted.extend(hinted.map(|hinted| (number.0, hinted)));
            }
        }
        Ok(())
    }

    /// Loads the page that is most worth a visit before its time, if that gains more than visits by schedule do; the `next` one
    /// would gain so much.
    pub(super) fn early(&mut self, server: ServerId, next: f64, now: Timestamp) -> Result<Option<Rank>> {
        if let Some(rank) = self.follow_hint(server, next)? {
            return Ok(Some(rank));
        }
        let early_share = self.servers[server].kept.pace.early_share();
        for _ in 0..CANDIDATES_MAX {
            let co_change = &mut self.servers[server].co_change;
            let Some(candidate) = co_change.best(seconds(now), next, early_share) else { break };
            co_change.pass(&candidate);
            if let Some(rank) = self.follow_candidate(server, &candidate)? {
                return Ok(Some(rank));
            }
        }
        Ok(None)
    }
    /// Loads a page that a feed or a sitemap says has changed, if that gains more than visits by schedule do. One
    /// that gains less waits for its turn.
    fn follow_hint(&mut self, server: ServerId, next: f64) -> Result<Option<Rank>> {
        let scheduled = self.servers[server].co_change.typical_gain(next);
        while let Some((page, announced)) = self.servers[server].hinted.front().copied() {
            if self.servers[server].kept.pace.hint_gain(Interval::ZERO, Interval::ZERO).is_none() {
                break;
            }
            self.servers[server].hinted.pop_front();
            let known = self.state_of(Number(page))?;
            let pace = &self.servers[server].kept.pace;
            let known = known.filter(|state| {
                let (own, wait) =
                    (Interval::from_seconds(state.interval), Interval::from_seconds(state.wait));
                // What is gone may be back.
                state.is_gone() || pace.hint_gain(own, wait).is_some_and(|gain| gain > scheduled)
            });
            if known.is_some()
                && let Some(rank) = self.take_early(server, page, announced, true)?
            {
                return Ok(Some(rank));
            }
        }
        Ok(None)
    }
    /// The state of a page that nobody is visiting.
    fn state_of(&mut self, number: Number) -> Result<Option<State>> {
        match self.workbench.location(number) {
            Some(PageLocation::Queued(server, rank)) => {
                Ok(self.workbench.queue(*server).get(*rank).map(LoadedPage::state))
            }
            Some(_) => Ok(None),
            None => Ok(self.store.get_number(number)?.and_then(|record| State::read(&record.value))),
        }
    }
    fn follow_candidate(&mut self, server: ServerId, candidate: &Candidate) -> Result<Option<Rank>> {
        self.take_early(server, candidate.page, candidate.since, false)
    }
    /// Loads a page before its time, unless a visit since then has taken care of it.
    fn take_early(&mut self, server: ServerId, page: u32, since: u64, is_told: bool) -> Result<Option<Rank>> {
        let is_wanted = |state: &State| {
            let last = Timestamp::from_micros(state.last_visit).map_or(u64::MAX, seconds);
            // A hint is the word of somebody; a candidate is none to disturb the dead for.
            let is_in = state.visits > 0 && state.removed == 0;
            is_in && last < since && (is_told || (state.is_live() && state.filtered.is_empty()))
        };
        let number = Number(page);
        match self.workbench.location(number) {
            Some(PageLocation::Queued(_, rank)) => {
                let queued = self.workbench.queue(server).get(*rank);
                let is_wanted = queued.is_some_and(|loaded| is_wanted(&loaded.state()));
                Ok(if is_wanted { self.workbench.move_to_front(number) } else { None })
            }
            Some(_) => Ok(None),
            None => {
                let Some(record) = self.store.get_number(number)? else { return Ok(None) };
                let loaded = LoadedPage::new(number, &record.key, &record.value);
                if !is_wanted(&loaded.state()) {
                    return Ok(None);
                }
                let rank = Rank::foremost(number);
                self.workbench.enqueue(server, rank, loaded);
                Ok(Some(rank))
            }
        }
    }
}

/// How often a page changes and when it is visited again, if it may be visited early.
pub(super) fn early_plan(state: &State) -> Option<(Interval, Interval)> {
    let may_be =
        state.role == Role::Page && state.is_live() && state.filtered.is_empty() && state.removed == 0;
    may_be.then(|| (Interval::from_seconds(state.interval), Interval::from_seconds(state.wait)))
}
