//! A change of policy counts for pages that are scheduled already: their next visits are planned again.
//!
//! **Invariant:** a page's new time depends on its state, on the loads and on the policy, not on the moment of the
//! change, and planning twice changes nothing. So a change interrupted by a crash is repeated as a whole, and a
//! schedule rebuilt from the archive, which notes the change, is the same (D3).

use super::Frontier;
use crate::error::Result;
use crate::lesson::NextVisit;
use crate::revisit::RevisitPolicy;
use crate::state::State;
use base::Timestamp;
use sat::OwnedRecord;

impl Frontier {
    /// The policy in effect.
    #[must_use]
    pub fn policy(&self) -> &RevisitPolicy {
        self.budget.policy()
    }
    /// The policy by which the pages of a store were planned; `None` for a new store.
    #[must_use]
    pub fn policy_of(store: &sat::Store) -> Option<RevisitPolicy> {
        let told = store.table().get(super::persist::POLICY)?;
        read(std::str::from_utf8(told).ok()?)
    }
    /// Changes the policy and plans all pages again.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn set_policy(&mut self, policy: RevisitPolicy) -> Result<()> {
        if *self.budget.policy() == policy {
            return Ok(());
        }
        self.budget.set_policy(policy);
        let gates_new = self.budget.pays_first_visits();
        self.servers.iter_mut().for_each(|server| server.gates_new = gates_new);
        self.reload()?;
        self.recall_co_change()
    }

    /// Plans the next visit of every page, a bucket at a time.
    pub(super) fn replan(&mut self) -> Result<()> {
        for bucket in self.store.buckets() {
            let mut pages = Vec::new();
            self.store.for_each_in_bucket(bucket, |record| -> Result<()> {
                pages.push(OwnedRecord::from(record));
                Ok(())
            })?;
            for page in pages {
                self.replan_page(&page)?;
            }
        }
        // The next capture divides the budget again.
        for server in self.servers.iter_mut() {
            server.kept.pace.forget_level();
            (server.division, server.division_good_for) = (None, 0);
        }
        Ok(())
    }
    fn replan_page(&mut self, record: &OwnedRecord) -> Result<()> {
        let Some(before) = State::read(&record.value).filter(|state| self.is_planned(state)) else {
            return Ok(());
        };
        let key = String::from_utf8_lossy(&record.key).into_owned();
        let Some(server) = self.servers.of_key(&key) else { return Ok(()) };
        let Some(visited) = Timestamp::from_micros(before.last_visit) else { return Ok(()) };
        let mut state = State { dropped: false, ..before.clone() };
        self.census.leave(&mut self.servers[server].kept.counts, &before);
        let place = self.plan(server, &mut state, visited, NextVisit::ByPlan);
        self.census.enter(&mut self.servers[server].kept.counts, &state);
        state.turn = before.turn + seconds(state.wait) - seconds(before.wait);
        self.servers.touch(server);
        if state != before {
            let mut value = Vec::with_capacity(record.value.len() + 8);
            state.write(&mut value);
            self.workbench.unload(record.number);
            self.update(record.number, &record.key, place, &value)?;
        }
        Ok(())
    }
    /// Whether a page's next visit follows from the policy: not from a failure, an order, or that it is gone.
    fn is_planned(&self, state: &State) -> bool {
        let is_left = state.removed > 0 || state.asked > 0 || state.failures > 0;
        state.visits > 0 && !is_left && !(self.budget.policy().has_budget() && state.is_gone())
    }
}

#[expect(clippy::cast_precision_loss, reason = "less than two years")]
fn seconds(wait: u64) -> f64 {
    wait as f64
}

/// A policy as text: what is read by [`read`].
pub(super) fn told(policy: &RevisitPolicy) -> String {
    let new = if policy.counts_new { " with new" } else { "" };
    format!("{policy} every {}{new}", policy.every.as_seconds())
}
fn read(told: &str) -> Option<RevisitPolicy> {
    let (name, rest) = told.split_once(" every ")?;
    let (seconds, counts_new) = match rest.split_once(' ') {
        Some((seconds, "with new")) => (seconds, true),
        Some(_) => return None,
        None => (rest, false),
    };
    let every = base::Interval::from_seconds(seconds.parse().ok()?);
    Some(RevisitPolicy { every, counts_new, ..name.parse().ok()? })
}
