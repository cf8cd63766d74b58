//! The census: the number of pages of each kind, by server and in total.
//!
//! A page enters with its state, and leaves with the same state before it is written in another one. Nothing else changes the
//! counts.
//!
//! **Invariant:** the counts of the whole crawl are the sums of the counts of its servers.
//!
//! **Invariant:** a page leaves with the state that it entered with, so no count falls below zero.

use crate::held_back::{HeldBack, HoldReason};
use crate::state::{LastOutcome, State};

/// The pages of a server, or of the crawl, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageCounts {
    pub pages: u64,
    /// Pages that wait for their first visit.
    pub new: u64,
    pub gone: u64,
    /// Pages that are not visited because their server's requests do not suffice.
    pub dropped: u64,
    /// Pages that are held back, by reason.
    pub held: HeldBack,
    /// Pages whose last visit failed, and those of them that are visited again soon.
    pub failing: u64,
    pub retrying: u64,
}

/// Pages of the crawl that an operator, or a change of settings, may ask for by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OrderCounts {
    /// Pages that an operator asked for and that were not visited yet.
    pub asked: u64,
    pub removed: u64,
    /// Pages that were refused because of the settings.
    pub refused: u64,
    /// Pages that were refused because a robots file could not be fetched.
    pub without_robots: u64,
}

/// The counts of the whole crawl.
#[derive(Debug, Default)]
pub(crate) struct Census {
    all: PageCounts,
    orders: OrderCounts,
}

impl Census {
    /// A page of a server is counted with its state.
    pub(crate) fn enter(&mut self, server: &mut PageCounts, state: &State) {
        server.enter(state);
        self.all.enter(state);
        self.orders.enter(state);
    }
    /// A page of a server is no longer counted with its state.
    pub(crate) fn leave(&mut self, server: &mut PageCounts, state: &State) {
        server.leave(state);
        self.all.leave(state);
        self.orders.leave(state);
    }
    /// A page is held back for another reason, or no longer.
    pub(crate) fn set_hold(
        &mut self,
        server: &mut PageCounts,
        state: &mut State,
        reason: Option<HoldReason>,
    ) {
        let before = std::mem::replace(&mut state.held, reason);
        for counts in [server, &mut self.all] {
            before.into_iter().for_each(|before| counts.held.discount(before));
            reason.into_iter().for_each(|reason| counts.held.count(reason));
        }
    }
    /// Adds the counts of a server from an earlier run.
    pub(crate) fn recall(&mut self, server: &PageCounts) {
        self.all.add(server);
    }
    /// Restores the counts of orders from an earlier run.
    pub(crate) fn recall_orders(&mut self, orders: OrderCounts) {
        self.orders = orders;
    }

    /// The counts of all pages.
    pub(crate) fn all(&self) -> &PageCounts {
        &self.all
    }
    pub(crate) fn orders(&self) -> OrderCounts {
        self.orders
    }
}

impl PageCounts {
    fn enter(&mut self, state: &State) {
        self.pages += 1;
        self.new += u64::from(state.waits());
        self.gone += u64::from(state.is_gone());
        self.dropped += u64::from(state.dropped);
        self.failing += u64::from(state.is_failing());
        self.retrying += u64::from(state.is_retried());
        state.held.into_iter().for_each(|reason| self.held.count(reason));
    }
    fn leave(&mut self, state: &State) {
        take(&mut self.pages, true, "pages");
        take(&mut self.new, state.waits(), "new pages");
        take(&mut self.gone, state.is_gone(), "gone pages");
        take(&mut self.dropped, state.dropped, "dropped pages");
        take(&mut self.failing, state.is_failing(), "failing pages");
        take(&mut self.retrying, state.is_retried(), "pages that are retried");
        state.held.into_iter().for_each(|reason| self.held.discount(reason));
    }
    fn add(&mut self, other: &Self) {
        self.pages += other.pages;
        self.new += other.new;
        self.gone += other.gone;
        self.dropped += other.dropped;
        self.failing += other.failing;
        self.retrying += other.retrying;
        self.held.add(&other.held);
    }
}

impl OrderCounts {
    fn enter(&mut self, state: &State) {
        self.asked += u64::from(state.asked > 0);
        self.removed += u64::from(state.removed > 0);
        self.refused += u64::from(is_refused(state));
        self.without_robots += u64::from(state.outcome == LastOutcome::RobotsUnreachable);
    }
    fn leave(&mut self, state: &State) {
        take(&mut self.asked, state.asked > 0, "pages that were asked for");
        take(&mut self.removed, state.removed > 0, "removed pages");
        take(&mut self.refused, is_refused(state), "refused pages");
        let is_without = state.outcome == LastOutcome::RobotsUnreachable;
        take(&mut self.without_robots, is_without, "pages without a robots file");
    }
}

fn is_refused(state: &State) -> bool {
    state.outcome == LastOutcome::OptOut || state.outcome.is_by_settings()
}

/// Takes one from a count.
///
/// # Panics
/// When nothing is left: a page left with a state that it had not entered with.
pub(crate) fn take(count: &mut u64, is_one: bool, what: &str) {
    let left = count.checked_sub(u64::from(is_one));
    *count = left
        .unwrap_or_else(|| panic!("the count of {what} fell below zero: a page left without having entered"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;
    use crate::state::Version;
    use base::Timestamp;

    fn new() -> State {
        State::new("http://a.example/", Role::Page, 0, Timestamp::MIN)
    }

    #[test]
    fn counts_are_zero_after_every_page_has_left() {
        let (mut census, mut server) = (Census::default(), PageCounts::default());
        let states = [
            new(),
            State { removed: 1, ..new() },
            State { asked: 1, held: Some(HoldReason::Deep), ..new() },
            State { last_visit: 1, version: Version::Gone, dropped: true, ..new() },
            State { last_visit: 1, outcome: LastOutcome::Failed, failures: 1, wait: 2, ..new() },
            State { last_visit: 1, outcome: LastOutcome::RobotsUnreachable, ..new() },
            State { last_visit: 1, outcome: LastOutcome::NoContact, ..new() },
        ];
        states.iter().for_each(|state| census.enter(&mut server, state));
        assert_eq!(*census.all(), server);
        let PageCounts { pages, new, gone, dropped, held, failing, retrying } = server.clone();
        assert_eq!([pages, new, gone, dropped, held.total(), failing, retrying], [7, 2, 1, 1, 1, 1, 1]);
        assert_eq!(census.orders(), OrderCounts { asked: 1, removed: 1, refused: 1, without_robots: 1 });
        states.iter().rev().for_each(|state| census.leave(&mut server, state));
        assert_eq!((census.all(), &server), (&PageCounts::default(), &PageCounts::default()));
        assert_eq!(census.orders(), OrderCounts::default());
    }

    #[test]
    fn a_hold_is_counted_for_one_reason_at_a_time() {
        let (mut census, mut server, mut state) = (Census::default(), PageCounts::default(), new());
        census.enter(&mut server, &state);
        census.set_hold(&mut server, &mut state, Some(HoldReason::Shape));
        census.set_hold(&mut server, &mut state, Some(HoldReason::Deep));
        assert_eq!((server.held.of(HoldReason::Shape), server.held.of(HoldReason::Deep)), (0, 1));
        census.leave(&mut server, &state);
        assert_eq!(census.all().held.total(), 0);
    }

    #[test]
    #[should_panic(expected = "the count of gone pages fell below zero")]
    fn a_page_that_never_entered_cannot_leave() {
        let (mut census, mut server) = (Census::default(), PageCounts::default());
        census.enter(&mut server, &new());
        census.leave(&mut server, &State { version: Version::Gone, ..new() });
    }
}
