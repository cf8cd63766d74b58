//! The budget of revisits: the policy that divides it, and the pages that share it.
//!
//! A page that shares the budget adds its part to the load of its server. Each server keeps the account of what it may
//! spend and when (`server/account.rs`).
//!
//! **Invariant:** a page subtracts the part that it added, computed from the same state by the same policy. After a
//! change of policy all loads are counted again.

use crate::census::take;
use crate::load::Load;
use crate::revisit::RevisitPolicy;
use crate::revisit::allocate::Allocation;
use crate::state::State;
use base::Interval;

/// The policy, and the number of pages planned by it.
#[derive(Debug)]
pub(crate) struct Budget {
    policy: RevisitPolicy,
    /// Pages that share the budget, over all servers.
    planned: u64,
    /// The policy by which all pages of the store are planned, as it is stored.
    pub(crate) planned_by: String,
}

impl Budget {
    pub(crate) fn new(policy: RevisitPolicy) -> Self {
        Self { policy, planned: 0, planned_by: String::new() }
    }
    pub(crate) fn policy(&self) -> &RevisitPolicy {
        &self.policy
    }
    /// Changes the policy. Loads must be counted again.
    pub(crate) fn set_policy(&mut self, policy: RevisitPolicy) {
        self.policy = policy;
    }
    /// Whether first visits are paid from the budget, too.
    pub(crate) fn pays_first_visits(&self) -> bool {
        self.policy.has_budget() && self.policy.counts_new
    }
    /// The policy, limited to the visits that the crawl may make in a day.
    pub(crate) fn effective_policy(&self, requests_per_day_max: Option<u64>) -> RevisitPolicy {
        let Some(most) = requests_per_day_max else { return self.policy };
        #[expect(clippy::cast_precision_loss, reason = "pages and requests")]
        let days = self.planned as f64 / most.max(1) as f64;
        RevisitPolicy { every: self.policy.every.max(Interval::from_days(1).times(days)), ..self.policy }
    }

    /// A page joins its server's load. Returns its part, in units of [`Load`].
    pub(crate) fn enter(&mut self, load: &mut Load, state: &State) -> u64 {
        let Some((interval, share)) = self.part(state) else { return 0 };
        load.add(interval, share);
        self.planned += 1;
        share
    }
    /// A page leaves its server's load. Returns the part that it had.
    pub(crate) fn leave(&mut self, load: &mut Load, state: &State) -> u64 {
        let Some((interval, share)) = self.part(state) else { return 0 };
        load.remove(interval, share);
        take(&mut self.planned, true, "pages that share the budget");
        share
    }
    /// Adds the pages of a load that an earlier run counted.
    pub(crate) fn recall(&mut self, load: &Load) {
        self.planned += load.pages();
    }

    /// The interval that a page needs and its part of the load.
    fn part(&self, state: &State) -> Option<(u64, u64)> {
        let interval = state.load_interval(&self.policy)?;
        let is_printed = self.policy.allocation == Allocation::Printed;
        let every = if is_printed { interval } else { self.policy.every.as_seconds() };
        Some((interval, Load::share(every)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;
    use crate::state::Version;
    use base::Timestamp;

    fn live(interval: u64) -> State {
        let state = State::new("http://a.example/", Role::Page, 0, Timestamp::MIN);
        State { interval, version: Version::Content([1; 16]), ..state }
    }

    #[test]
    fn a_page_subtracts_what_it_added() {
        for policy in [RevisitPolicy::default(), RevisitPolicy::paper()] {
            let (mut budget, mut load) = (Budget::new(policy), Load::default());
            let states = [live(3_600), live(86_400), live(0)];
            let added: Vec<u64> = states.iter().map(|state| budget.enter(&mut load, state)).collect();
            assert_eq!((load.pages(), load.units()), (2, added.iter().sum()));
            assert_eq!(added[2], 0, "a page that was never answered has no part");
            let taken: Vec<u64> = states.iter().map(|state| budget.leave(&mut load, state)).collect();
            assert_eq!((taken, load), (added, Load::default()));
        }
    }

    #[test]
    fn a_limit_of_requests_stretches_the_budget() {
        let mut budget = Budget::new(RevisitPolicy::default());
        let mut load = Load::default();
        (0..100).for_each(|_| _ = budget.enter(&mut load, &live(3_600)));
        assert_eq!(budget.effective_policy(None).every, RevisitPolicy::default().every);
        assert_eq!(budget.effective_policy(Some(1)).every, Interval::from_days(100));
    }

    #[test]
    #[should_panic(expected = "load")]
    fn a_page_cannot_subtract_what_it_did_not_add() {
        Budget::new(RevisitPolicy::default()).leave(&mut Load::default(), &live(3_600));
    }
}
