//! The account of a server's budget: time earns visits, and every visit from the budget is charged when it is made
//! (D18).
//!
//! The balance is stored as one moment: up to when the budget is spent. A later run earns from then on, so the balance
//! is neither lost nor counted twice. That moment may be long before the last visit, so the time of the last charge is
//! stored beside it.
//!
//! **Invariant:** a visit is charged once, also if a run crashes after the charge and the next one learns of the visit
//! from the archive. No stored moment makes an account begin later than its run, and no learned moment is after the
//! beginning of the run.

use super::StoredServer;
use crate::moment::{at_seconds, seconds};
use base::{Interval, Timestamp};

/// Maximum number of missed requests that are made up for.
const CREDIT_MAX: f64 = 2.0;
const CREDIT_SECONDS: f64 = 3_600.0;
/// When a spent budget is checked again: minimum and maximum.
const GATE_MIN: Interval = Interval::from_millis(1);
const GATE_MAX: Interval = Interval::from_days(1);
/// A visit begins within this time of its payment, or within the pause of its server if that is longer.
const BEGINS_WITHIN: Interval = Interval::from_seconds(1);

/// What may be spent, and what is spent.
#[derive(Debug)]
pub(crate) struct Account {
    /// Requests that were earned and not made yet, counted up to a moment.
    credit: f64,
    credit_at: Timestamp,
    /// No visit from the budget before this moment.
    gate_at: Timestamp,
}

impl Account {
    /// An empty account that begins with a run.
    pub(crate) fn new(begins_at: Timestamp) -> Self {
        Self { credit: 0.0, credit_at: begins_at, gate_at: Timestamp::MIN }
    }
    /// Restores up to when an earlier run spent the budget. Without such a moment, or if it is after the beginning of
    /// this run, the account begins with this run. Returns whether that is so.
    pub(crate) fn recall(&mut self, kept: &mut StoredServer) -> bool {
        let begins_at = self.credit_at;
        let spent_until = kept.pace.spent_until().map(at_seconds).filter(|until| *until <= begins_at);
        match spent_until {
            Some(until) => self.credit_at = until,
            None => kept.pace.spent(seconds(begins_at)),
        }
        kept.paid_at = kept.paid_at.min(micros(begins_at));
        spent_until.is_none()
    }

    /// No visit is charged to the budget before this moment.
    pub(crate) fn gate_at(&self) -> Timestamp {
        self.gate_at
    }
    /// Whether a budget of `requests` a second allows one more at `now`; if not, it will at `gate_at`.
    pub(crate) fn may_spend(&mut self, requests: f64, now: Timestamp) -> bool {
        self.earn(requests, now);
        let is_open = self.credit >= 1.0;
        if !is_open {
            let missing = Interval::from_seconds(1).times((1.0 - self.credit) / requests.max(1e-9));
            self.gate_at = now.plus(missing.clamp(GATE_MIN, GATE_MAX));
        }
        is_open
    }
    /// Checks the budget again shortly.
    pub(crate) fn wait_a_moment(&mut self, now: Timestamp) {
        self.gate_at = now.plus(Interval::from_seconds(1));
    }
    /// Charges a request to a budget of `requests` a second, at the moment up to which credit is counted. Returns up to
    /// when the budget is spent, in seconds.
    pub(crate) fn spend(&mut self, requests: f64, kept: &mut StoredServer) -> u64 {
        self.credit = (self.credit - 1.0).max(0.0);
        let left = Interval::from_seconds(1).times(self.credit / requests.max(1e-9));
        let until = seconds(self.credit_at.minus(left).plus(Interval::from_micros(999_999)));
        kept.pace.spent(until);
        kept.paid_at = kept.paid_at.max(micros(self.credit_at));
        until
    }
    /// Charges a request of an earlier run that may have crashed before the charge was stored. What is older than the
    /// account was charged; so was what began after the last charge and within the delay after it.
    pub(crate) fn spend_late(
        &mut self,
        requests: f64,
        at: Timestamp,
        pause: Interval,
        kept: &mut StoredServer,
    ) {
        let paid_at = i64::try_from(kept.paid_at).ok().and_then(Timestamp::from_micros);
        let counted = paid_at.map_or(Timestamp::MAX, |paid_at| paid_at.plus(pause.max(BEGINS_WITHIN)));
        if at > self.credit_at.max(counted) {
            self.earn(requests, at);
            self.spend(requests, kept);
        }
    }

    fn earn(&mut self, requests: f64, now: Timestamp) {
        let passed = now.since(self.credit_at).as_seconds_f64();
        self.credit = (self.credit + passed * requests).min((requests * CREDIT_SECONDS).max(CREDIT_MAX));
        self.credit_at = self.credit_at.max(now);
    }
}

fn micros(at: Timestamp) -> u64 {
    u64::try_from(at.as_micros()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_seconds(1_800_000_000).expect("in range");
    const PAUSE: Interval = Interval::from_seconds(10);
    /// One visit an hour.
    const HOURLY: f64 = 1.0 / 3_600.0;

    fn hours(hours: u64) -> Timestamp {
        START.plus(Interval::from_hours(hours))
    }
    /// An account that begins at a moment with what an earlier run kept.
    fn recalled(begins_at: Timestamp, kept: &mut StoredServer) -> Account {
        let mut account = Account::new(begins_at);
        account.recall(kept);
        account
    }
    /// How many visits are allowed at a moment.
    fn allowed(account: &mut Account, now: Timestamp, kept: &mut StoredServer) -> usize {
        let mut count = 0;
        while account.may_spend(HOURLY, now) {
            account.spend(HOURLY, kept);
            count += 1;
        }
        count
    }

    #[test]
    fn the_balance_survives_a_run_and_is_counted_once() {
        let mut kept = StoredServer::default();
        let mut account = recalled(START, &mut kept);
        assert!(!account.may_spend(HOURLY, START) && account.gate_at() == hours(1));
        assert!(account.may_spend(HOURLY, hours(2)));
        account.spend(HOURLY, &mut kept);
        let mut account = recalled(hours(2), &mut kept);
        assert_eq!(allowed(&mut account, hours(2), &mut kept), 1);
        assert_eq!(allowed(&mut recalled(hours(2), &mut kept), hours(2), &mut kept), 0);
    }

    #[test]
    fn a_visit_learned_late_is_charged_once() {
        let visited = hours(50).plus(Interval::from_millis(200));
        let left = |is_paid: bool, pause: Interval, begins_at: Timestamp| {
            let mut kept = StoredServer::default();
            let mut account = recalled(START, &mut kept);
            if is_paid {
                assert!(account.may_spend(HOURLY, hours(50)));
                account.spend(HOURLY, &mut kept);
            }
            let mut account = recalled(hours(51), &mut kept);
            (0..2).for_each(|_| account.spend_late(HOURLY, begins_at, pause, &mut kept));
            allowed(&mut account, hours(51).plus(Interval::from_minutes(1)), &mut kept)
        };
        // Of two visits one was made an hour ago, and another was earned since.
        for pause in [Interval::ZERO, PAUSE] {
            assert_eq!((left(true, pause, visited), left(false, pause, visited)), (2, 2));
        }
        // The next one comes after the delay and was not charged.
        let next = hours(50).plus(PAUSE).plus(Interval::from_millis(100));
        assert_eq!(left(true, PAUSE, next), 1);
    }

    #[test]
    fn no_account_begins_after_its_run() {
        let mut kept = StoredServer { paid_at: u64::MAX, ..StoredServer::default() };
        kept.pace.spent(seconds(hours(100_000)));
        let mut account = Account::new(START);
        assert!(account.recall(&mut kept), "it is stored again");
        assert_eq!((kept.pace.spent_until(), kept.paid_at), (Some(seconds(START)), micros(START)));
        account.spend_late(HOURLY, hours(2), PAUSE, &mut kept);
        assert_eq!(allowed(&mut account, hours(3), &mut kept), 2, "one is left, and one was earned since");
        assert!(!Account::new(hours(4)).recall(&mut kept));
    }
}
