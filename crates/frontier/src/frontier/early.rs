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
use crate::revisit::co_change::{Candidate, CoChange};
use crate::revisit::estimate::Estimator;
use crate::servers::ServerId;
use crate::state::State;
use crate::workbench::PageLocation;
use base::Timestamp;
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
        (before, after): (&State, &State),
        again: NextVisit,
    ) {
        if after.role != Role::Page
            || self.budget.policy().estimator != Estimator::CoChange
            || !self.budget.policy().has_budget()
        {
            return;
        }
        if before.visits == 0 {
            if again == NextVisit::ByPlan {
                self.join(server, page, target);
            }
            return;
        }
        let last = Timestamp::from_micros(before.last_visit).map_or(0, seconds);
        let now = Timestamp::from_micros(after.last_visit).map_or(last, seconds);
        // What is gone, or fails, says nothing of what lies beside it that visits should find out (C16).
        let is_changed = again == NextVisit::ByPlan && after.changes > before.changes;
        self.servers[server].co_change.visited(page.0, target, last, now, is_changed);
        if is_changed {
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
    pub(super) fn join(&mut self, server: ServerId, page: Number, target: &str) {
        let policy = self.budget.policy();
        if policy.estimator == Estimator::CoChange && policy.has_budget() {
            self.servers.join_co_change(server, page, target);
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
                pages.push((record.number, String::from_utf8_lossy(record.key).into_owned(), hinted));
            }
            Ok(())
        })?;
        pages.sort_unstable_by_key(|(number, ..)| number.0);
        for (number, key, hinted) in pages {
            let (prefix, target) = split_key(&key);
            if let Some(server) = self.servers.by_prefix(prefix) {
                self.join(server, number, target);
                self.servers[server].hinted.extend(hinted.map(|hinted| (number.0, hinted)));
            }
        }
        Ok(())
    }

    /// Loads the page that is most worth a visit before its time, if it is likelier to have changed than `stale`.
    pub(super) fn early(&mut self, server: ServerId, stale: f64, now: Timestamp) -> Result<Option<Rank>> {
        if let Some(rank) = self.follow_hint(server, stale)? {
            return Ok(Some(rank));
        }
        for _ in 0..CANDIDATES_MAX {
            let co_change = &mut self.servers[server].co_change;
            let candidate =
                co_change.best(seconds(now)).filter(|candidate| CoChange::is_better(candidate, stale));
            let Some(candidate) = candidate else { break };
            co_change.pass(&candidate);
            if let Some(rank) = self.follow_candidate(server, &candidate)? {
                return Ok(Some(rank));
            }
        }
        Ok(None)
    }
    /// Loads a page that a feed or a sitemap says has changed, as long as that is likelier than `stale`.
    fn follow_hint(&mut self, server: ServerId, stale: f64) -> Result<Option<Rank>> {
        if self.servers[server].kept.pace.trust.of_hint() <= stale {
            return Ok(None);
        }
        while let Some((page, announced)) = self.servers[server].hinted.pop_front() {
            if let Some(rank) = self.take_early(server, page, announced, true)? {
                return Ok(Some(rank));
            }
        }
        Ok(None)
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
