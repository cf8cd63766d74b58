//! When a page is due again, and what is visited from the budget (C5, D18).
//!
//! The policy says how long each page waits, so that the budget of its server is spent ([`crate::revisit`]). A page
//! joins its server's queue a little before it is due, and the budget allows one visit at a time, evenly spread: the
//! page that is due first, or a page that is worth more before its time ([`super::early`]). New pages need no budget
//! unless the policy counts them.

use super::Frontier;
use crate::Role;
use crate::error::Result;
use crate::lesson::{self, NextVisit};
use crate::loaded_page::{LoadedPage, Rank};
use crate::moment::{minute, minute_from};
use crate::revisit::RevisitPolicy;
use crate::revisit::allocate::Allocation;
use crate::revisit::co_change::keeps;
use crate::revisit::pace::{Pace, Reason, Turn};
use crate::server::Server;
use crate::servers::ServerId;
use crate::state::State;
use base::limits::REVISIT_INTERVAL_MAX;
use base::{Interval, Timestamp, chance};
use sat::Minute;

/// Minimum number of changes of a server's load before it is divided again.
const DIVISION_CHANGES_MIN: u32 = 32;
/// Maximum share of a server's requests for revisits while others wait: new pages, feeds, sitemaps.
const REVISIT_SHARE: f64 = 0.5;

impl Frontier {
    /// The policy with a budget within the limits of the whole crawl (D18).
    pub(super) fn budgeted(&self) -> RevisitPolicy {
        self.budget.effective_policy(self.settings.requests_per_day_max)
    }

    /// Plans a page that was visited at `at`. Returns the minute for which it goes to the store.
    pub(super) fn plan(
        &mut self,
        server: ServerId,
        state: &mut State,
        at: Timestamp,
        again: NextVisit,
    ) -> Minute {
        let mut joins_after = None;
        let wait = match again {
            NextVisit::AtOnce => return state.next_due,
            NextVisit::After(wait) | NextVisit::Soon(wait) => wait,
            NextVisit::ByPlan if self.budget.policy().allocation == Allocation::Printed => {
                Interval::from_seconds(state.interval)
            }
            NextVisit::ByPlan => {
                let turn = self.turn(server, state);
                let wait = lesson::within(state, turn.wait);
                let is_gated = state.role == Role::Page && state.is_live() && wait == turn.wait;
                joins_after = is_gated.then_some(turn.joins_after);
                state.turn = turn.turn;
                wait
            }
        };
        state.wait = wait.as_seconds().max(1);
        state.next_due = minute_from(at.plus(wait));
        match (again, joins_after) {
            (NextVisit::ByPlan, None) if self.budget.policy().allocation == Allocation::Printed => {
                self.place_for(server, state)
            }
            (_, Some(joins_after)) => minute_from(at.plus(joins_after)),
            _ => state.next_due,
        }
    }
    fn turn(&mut self, server: ServerId, state: &mut State) -> Turn {
        let (policy, means) = (self.budgeted(), self.plain_means(server));
        let kept = &mut self.servers[server].kept;
        let own = Interval::from_seconds(state.interval);
        let turn = kept.pace.next(&policy, &kept.load, means, own, state.importance());
        state.dropped = turn.is_none() && state.is_live();
        turn.unwrap_or_else(|| {
            let draw = chance::hash_bytes(self.settings.seed, state.url.as_bytes()) % 100;
            let wait = Interval::from_days(300 + draw);
            Turn { turn: kept.pace.turn_after(wait), wait, joins_after: wait }
        })
    }

    /// The minute for which a page goes to the store: its own, or a later one if its server's requests do not suffice
    /// and are divided (C5).
    fn place_for(&mut self, server: ServerId, state: &mut State) -> Minute {
        let Some(interval) = state.load_interval(self.budget.policy()) else { return state.next_due };
        self.refresh_division(server);
        let kept = &self.servers[server];
        let Some(division) = kept.division else { return state.next_due };
        let last = Timestamp::from_micros(state.last_visit).unwrap_or(Timestamp::MAX);
        let wait = division.interval(interval).map(Interval::from_seconds);
        let is_dropped = wait.is_none_or(|wait| wait > REVISIT_INTERVAL_MAX);
        state.dropped = is_dropped;
        if is_dropped {
            let draw = chance::hash_bytes(self.settings.seed, state.url.as_bytes()) % 100;
            return minute(last.plus(Interval::from_days(300 + draw)));
        }
        let divided = minute(last.plus(wait.unwrap_or_default()));
        // Pages that are gone or fail are not visited more often to keep them fresh.
        if state.is_live() { divided } else { divided.max(state.next_due) }
    }
    /// Divides the requests of a server again when enough has changed.
    fn refresh_division(&mut self, server: ServerId) {
        let state = &mut self.servers[server];
        if state.division_good_for > 0 {
            state.division_good_for -= 1;
            return;
        }
        let means = self.means(server);
        let state = &mut self.servers[server];
        // The page being planned is not counted now.
        let pages = u32::try_from((state.kept.counts.pages + 1) / 32).unwrap_or(u32::MAX);
        state.division_good_for = pages.clamp(DIVISION_CHANGES_MIN, 1_024);
        state.division = state.kept.load.divide(means);
    }
    /// Requests a second that a server's delay allows, and its share of what its address allows (D6).
    pub(super) fn means(&self, server: ServerId) -> f64 {
        let state = &self.servers[server];
        let address = state.kept.address.and_then(|address| self.addresses.get(address));
        let shared = address.map_or(f64::INFINITY, |address| {
            let (all, mine) = (crate::load::in_requests(address.load()), state.kept.load.per_second());
            let most = a_second(address.pause, address.width);
            if all > most { most * mine / all } else { f64::INFINITY }
        });
        self.means_alone(state, state.least_pause()).min(shared)
    }
    /// Requests a second that the settings alone allow. Robots files and addresses delay visits but do not change when
    /// a page is due, because a rebuilt schedule must be the same (D3).
    fn plain_means(&self, server: ServerId) -> f64 {
        let state = &self.servers[server];
        self.means_alone(state, state.pause)
    }
    /// Requests a second that a delay and the day's limit allow (D18).
    fn means_alone(&self, server: &Server, pause: Interval) -> f64 {
        let most =
            self.settings.server_requests_per_day_max.map(|most| u32::try_from(most).unwrap_or(u32::MAX));
        let a_day = most.map_or(f64::INFINITY, |most| f64::from(most) / 86_400.0);
        a_second(pause, server.width).min(a_day)
    }
    /// The requests a second that revisits of a server may take now.
    pub(super) fn allowance(&self, server: ServerId) -> f64 {
        let (policy, means) = (self.budgeted(), self.means(server));
        let kept = &self.servers[server].kept;
        let pages = if policy.counts_new { kept.counts.pages - kept.counts.gone } else { kept.load.pages() };
        let others_wait = !policy.counts_new && self.workbench.queue(server).has_free();
        let means = if others_wait { means * REVISIT_SHARE } else { means };
        Pace::budget(&policy, pages, means)
    }
    /// The page of a server that is next, if one may be visited now.
    pub(super) fn head(&mut self, server: ServerId, now: Timestamp) -> Result<Option<Rank>> {
        let first = self.workbench.queue(server).first();
        if !self.budget.policy().has_budget() || first.is_some_and(Rank::is_asked) {
            return Ok(first);
        }
        let free = first.filter(|rank| !rank.is_gated);
        let is_new =
            |rank| self.workbench.queue(server).get(rank).is_some_and(|loaded| loaded.state().is_new());
        if self.budget.policy().counts_new && free.is_some_and(is_new) {
            let allowance = self.allowance(server);
            return Ok(free.filter(|_| self.servers[server].may_spend(allowance, now)));
        }
        let has_more = first.is_some() || self.servers[server].has_reasons();
        let allowance = self.allowance(server);
        if has_more && self.servers[server].may_spend(allowance, now) {
            let gated = self.gated(server, now)?;
            return Ok(gated.or(free));
        }
        Ok(free)
    }
    /// What is visited next from the budget: the page that is due first, or one that is more likely to have changed.
    fn gated(&mut self, server: ServerId, now: Timestamp) -> Result<Option<Rank>> {
        let due = self.workbench.queue(server).first_gated();
        let (due, expected) = match due {
            // It was chosen before, and had to wait.
            Some((rank, _)) if rank.is_foremost() => return Ok(Some(rank)),
            Some((rank, loaded)) => {
                let state = loaded.state();
                let last = Timestamp::from_micros(state.last_answer).unwrap_or(now);
                let stale = state.belief.stale_after(now.since(last));
                let (own, wait) =
                    (Interval::from_seconds(state.interval), Interval::from_seconds(state.wait));
                (Some(rank), stale * keeps(own, wait))
            }
            None => (None, 0.0),
        };
        if let Some(rank) = self.early(server, expected, now)? {
            return Ok(Some(rank));
        }
        if due.is_some() {
            self.servers[server].co_change.scheduled(expected);
        } else {
            // Others have their turn before more is looked up.
            self.servers[server].wait_a_moment(now);
        }
        Ok(due)
    }
    /// Charges a visit to the budget if it is paid from it.
    pub(super) fn pay(&mut self, server: ServerId, rank: Rank, state: &State) {
        if !self.is_paid(rank, state) {
            return;
        }
        self.servers.touch(server);
        let allowance = self.allowance(server);
        let spacing = 1.0 / allowance.max(1e-9);
        let others_wait = self.workbench.queue(server).first_gated().is_some();
        let server = &mut self.servers[server];
        let until = server.spend(allowance);
        let reason = match rank {
            rank if rank.is_foremost() && state.is_hinted() => Reason::Hinted,
            rank if rank.is_foremost() => Reason::Early,
            // What was dropped has no turn.
            _ if state.dropped => Reason::First { spacing },
            rank if rank.is_gated => Reason::Turn(state.turn),
            _ if others_wait => return,
            _ => Reason::First { spacing },
        };
        let pages = server.kept.load.pages();
        server.kept.pace.visits(reason, until, pages);
    }
    /// Charges a visit of an earlier run that crashed before the charge was stored, so that a crawl that crashes
    /// repeatedly sends no more requests than others. Such a visit is older than this run; later ones were imported.
    pub(super) fn pay_late(&mut self, server: ServerId, loaded: &LoadedPage, before: &State, at: Timestamp) {
        let may_be_ours = self.budget.policy().has_budget() && at <= self.crawl.start;
        if may_be_ours && self.is_paid(loaded.rank(before, self.budget.policy()), before) {
            let allowance = self.allowance(server);
            self.servers[server].spend_late(allowance, at);
        }
    }
    fn is_paid(&self, rank: Rank, state: &State) -> bool {
        rank.is_gated || self.budget.policy().counts_new && state.is_new()
    }
}

/// Requests a second with this delay after each and this number at once.
fn a_second(pause: Interval, width: u32) -> f64 {
    if pause == Interval::ZERO { f64::INFINITY } else { f64::from(width) / pause.as_seconds_f64() }
}
