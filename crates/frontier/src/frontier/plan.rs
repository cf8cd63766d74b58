//! When a page is due again, and what is visited out of the budget (C5, D18).
//!
//! The policy says how long each page waits, so that the budget of its server is spent ([`crate::revisit`]). A page joins its
//! server's queue a little before it is due, and the budget opens a gate for one visit at a time, evenly spread: for the page that is
//! due first, for one that a feed or a sitemap says has changed, or for one beside pages that were seen to have changed,
//! whichever is worth most. New pages need no budget unless the policy counts them.

use super::{Frontier, Held};
use crate::Role;
use crate::error::Result;
use crate::hand::{Hand, Rank};
use crate::lesson::{self, Again};
use crate::moment::{minute, minute_from, seconds};
use crate::revisit::Policy;
use crate::revisit::allocate::Allocation;
use crate::revisit::estimate::Estimator;
use crate::revisit::kin::{Hunch, Kin};
use crate::revisit::pace::{Pace, Reason, Turn};
use crate::state::State;
use base::limits::REVISIT_INTERVAL_MAX;
use base::{Interval, Timestamp, chance};
use sat::{Minute, Number};

/// After so many changes of a server's load its division is looked at again, or after this part of its pages.
const DIVISION_CHANGES_MIN: u32 = 32;
/// So many pages beside changed ones are looked up in one turn to find one that was not visited since.
const HUNCHES_MAX: u32 = 64;
/// Of what may be asked of a server, revisits take no more than this while others wait: new pages, feeds, sitemaps.
const REVISIT_SHARE: f64 = 0.5;
/// So many pages of a server wait that hints were given of.
const HINTS_MAX: usize = 10_000;
/// Which pages lie beside which is read from the store when a crawl begins, if it has no more pages than this; otherwise
/// it is learned as they are taken in hand.
const KIN_RECALLED_MAX: u64 = 100_000;
/// So many pages take part at most; each takes some 40 bytes.
const KIN_MAX: u64 = 4_000_000;

impl Frontier {
    /// What a visit showed of what lies beside the page.
    pub(super) fn compare(
        &mut self,
        server: u32,
        page: Number,
        target: &str,
        (before, after): (&State, &State),
        again: Again,
    ) {
        if after.role != Role::Page || self.policy.estimator != Estimator::Kin || !self.policy.has_budget() {
            return;
        }
        if before.visits == 0 {
            if again == Again::ByPlan {
                self.join(server, page, target);
            }
            return;
        }
        let last = Timestamp::from_micros(before.last_visit).map_or(0, seconds);
        let now = Timestamp::from_micros(after.last_visit).map_or(last, seconds);
        // What is gone, or fails, says nothing of what lies beside it that visits should find out (C16).
        let is_changed = again == Again::ByPlan && after.changes > before.changes;
        self.servers[server as usize].kin.visited(page.0, target, last, now, is_changed);
        if is_changed {
            self.arrange(server);
        }
    }
    /// A feed or a sitemap says that a known page changed. It is looked at when that is worth most.
    pub(super) fn hint(&mut self, key: &[u8], announced: Timestamp, at: Timestamp) -> Result<()> {
        let (prefix, _) = crate::hand::split_key(std::str::from_utf8(key).unwrap_or_default());
        let Some(server) = self.by_prefix.get(prefix).copied() else { return Ok(()) };
        let announced = seconds(announced);
        self.touch(server);
        if !self.servers[server as usize].kept.pace.trust.is_news(announced) {
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
            self.write_hint(server, &record, &state)?;
        }
        let waiting = &mut self.servers[server as usize];
        if self.policy.has_budget() && announced > last && waiting.hinted.len() < HINTS_MAX {
            waiting.hinted.push_back((record.number.0, announced));
            self.arrange(server);
        }
        Ok(())
    }
    fn write_hint(&mut self, server: u32, record: &sat::OwnedRecord, state: &State) -> Result<()> {
        let mut value = Vec::with_capacity(record.value.len() + 8);
        state.write(&mut value);
        self.let_go(server, record.number.0);
        self.update(record.number, &record.key, record.due, &value)?;
        if let Some(Held::Out(_, out)) = self.held.get_mut(&record.number.0) {
            // It is being visited: what comes of that is learned on top.
            *out = Hand::new(record.number, &record.key, &value);
        }
        Ok(())
    }
    /// Lets a page take part among those that change together, once.
    pub(super) fn join(&mut self, server: u32, page: Number, target: &str) {
        let takes_part = self.policy.estimator == Estimator::Kin && self.policy.has_budget();
        if !takes_part || self.kin_count >= KIN_MAX {
            return;
        }
        let (word, bit) = (page.0 as usize / 64, 1_u64 << (page.0 % 64));
        if self.kin_joined.len() <= word {
            self.kin_joined.resize(word + 1, 0);
        }
        if self.kin_joined[word] & bit == 0 {
            self.kin_joined[word] |= bit;
            self.kin_count += 1;
            self.servers[server as usize].kin.join(page.0, target);
        }
    }
    /// Finds again which pages lie beside which, and of which hints were heard that nobody followed.
    pub(super) fn recall_kin(&mut self) -> Result<()> {
        if !self.policy.has_budget() || self.store.count() > KIN_RECALLED_MAX {
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
            let (prefix, target) = crate::hand::split_key(&key);
            if let Some(server) = self.by_prefix.get(prefix).copied() {
                self.join(server, number, target);
                self.servers[server as usize].hinted.extend(hinted.map(|hinted| (number.0, hinted)));
            }
        }
        Ok(())
    }

    /// The policy with the budget that the crawl as a whole has room for (D18).
    pub(super) fn budgeted(&self) -> Policy {
        let Some(most) = self.settings.requests_per_day_max else { return self.policy };
        #[expect(clippy::cast_precision_loss, reason = "pages and requests")]
        let days = self.planned as f64 / most.max(1) as f64;
        Policy { every: self.policy.every.max(Interval::from_days(1).times(days)), ..self.policy }
    }

    /// When a page is due that was visited at `at`. Tells the minute for which it goes to the store.
    pub(super) fn plan(&mut self, server: u32, state: &mut State, at: Timestamp, again: Again) -> Minute {
        let mut joins_after = None;
        let wait = match again {
            Again::AtOnce => return state.next_due,
            Again::After(wait) => wait,
            Again::ByPlan if self.policy.allocation == Allocation::Printed => {
                Interval::from_seconds(state.interval)
            }
            Again::ByPlan => {
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
            (Again::ByPlan, None) if self.policy.allocation == Allocation::Printed => {
                self.place_for(server, state)
            }
            (_, Some(joins_after)) => minute_from(at.plus(joins_after)),
            _ => state.next_due,
        }
    }
    fn turn(&mut self, server: u32, state: &mut State) -> Turn {
        let (policy, means) = (self.budgeted(), self.plain_means(server));
        let kept = &mut self.servers[server as usize].kept;
        let own = Interval::from_seconds(state.interval);
        let turn = kept.pace.next(&policy, &kept.load, means, own, state.importance());
        state.dropped = turn.is_none() && state.is_live();
        kept.dropped += u64::from(state.dropped);
        turn.unwrap_or_else(|| {
            let draw = chance::hash_bytes(self.settings.seed, state.url.as_bytes()) % 100;
            let wait = Interval::from_days(300 + draw);
            Turn { turn: kept.pace.turn_after(wait), wait, joins_after: wait }
        })
    }

    /// The minute for which a page goes to the store: its own, or the one that the division of its server's means gives it
    /// when they do not suffice (C5).
    fn place_for(&mut self, server: u32, state: &mut State) -> Minute {
        let Some(interval) = state.load_interval(&self.policy) else { return state.next_due };
        self.refresh_division(server);
        let kept = &self.servers[server as usize];
        let Some(division) = kept.division else { return state.next_due };
        let last = Timestamp::from_micros(state.last_visit).unwrap_or(Timestamp::MAX);
        let wait = division.interval(interval).map(Interval::from_seconds);
        let is_dropped = wait.is_none_or(|wait| wait > REVISIT_INTERVAL_MAX);
        if is_dropped != state.dropped {
            state.dropped = is_dropped;
            let kept = &mut self.servers[server as usize].kept;
            kept.dropped = if is_dropped { kept.dropped + 1 } else { kept.dropped.saturating_sub(1) };
        }
        if is_dropped {
            let draw = chance::hash_bytes(self.settings.seed, state.url.as_bytes()) % 100;
            return minute(last.plus(Interval::from_days(300 + draw)));
        }
        let divided = minute(last.plus(wait.unwrap_or_default()));
        // What is gone, or fails, is not kept fresh by looking at it more often.
        if state.is_live() { divided } else { divided.max(state.next_due) }
    }
    /// Looks anew how a server's means are divided, when enough has changed.
    fn refresh_division(&mut self, server: u32) {
        let state = &mut self.servers[server as usize];
        if state.division_good_for > 0 {
            state.division_good_for -= 1;
            return;
        }
        let means = self.means(server);
        let state = &mut self.servers[server as usize];
        let pages = u32::try_from(state.kept.pages / 32).unwrap_or(u32::MAX);
        state.division_good_for = pages.clamp(DIVISION_CHANGES_MIN, 1_024);
        state.division = state.kept.load.divide(means);
    }
    /// Requests a second that may be made of a server: what its pause allows, and its part of what that of its address
    /// allows (D6).
    pub(super) fn means(&self, server: u32) -> f64 {
        let state = &self.servers[server as usize];
        let of_pause = |pause: Interval, width: u32| {
            if pause == Interval::ZERO { f64::INFINITY } else { f64::from(width) / pause.as_seconds_f64() }
        };
        let own = of_pause(state.least_pause(), state.width);
        let a_day = self
            .settings
            .server_requests_per_day_max
            .map_or(f64::INFINITY, |most| f64::from(u32::try_from(most).unwrap_or(u32::MAX)) / 86_400.0);
        let address = state.kept.address.and_then(|address| self.addresses.get(address));
        let shared = address.map_or(f64::INFINITY, |address| {
            let (all, mine) = (crate::load::in_requests(address.load), state.kept.load.per_second());
            let most = of_pause(address.pause, address.width);
            if all > most { most * mine / all } else { f64::INFINITY }
        });
        own.min(a_day).min(shared)
    }

    /// What may be asked of a server by the settings alone. What robots files and addresses say besides holds visits up, but is no
    /// part of when a page is due: a schedule that is learned again must be the same (D3).
    fn plain_means(&self, server: u32) -> f64 {
        let state = &self.servers[server as usize];
        let pause = state.pause.as_seconds_f64();
        let own = if pause > 0.0 { f64::from(state.width) / pause } else { f64::INFINITY };
        let most =
            self.settings.server_requests_per_day_max.map(|most| u32::try_from(most).unwrap_or(u32::MAX));
        most.map_or(own, |most| own.min(f64::from(most) / 86_400.0))
    }
    /// The requests a second that revisits of a server may take now.
    pub(super) fn allowance(&self, server: u32) -> f64 {
        let (policy, means) = (self.budgeted(), self.means(server));
        let kept = &self.servers[server as usize].kept;
        let pages = if policy.counts_new { kept.pages.saturating_sub(kept.gone) } else { kept.load.pages() };
        let first = self.servers[server as usize].queue.first_key_value();
        let others_wait = !policy.counts_new && first.is_some_and(|(rank, _)| !rank.is_gated);
        let means = if others_wait { means * REVISIT_SHARE } else { means };
        Pace::budget(&policy, pages, means)
    }
    /// The page of a server that is next, if one may be visited now.
    pub(super) fn head(&mut self, server: u32, now: Timestamp) -> Result<Option<Rank>> {
        let first = self.servers[server as usize].queue.first_key_value().map(|(rank, _)| *rank);
        if !self.policy.has_budget() {
            return Ok(first);
        }
        let free = first.filter(|rank| !rank.is_gated);
        let is_new = |rank: Rank| self.servers[server as usize].queue[&rank].state().is_new();
        if self.policy.counts_new && free.is_some_and(is_new) {
            let allowance = self.allowance(server);
            return Ok(free.filter(|_| self.servers[server as usize].may_spend(allowance, now)));
        }
        let has_more = first.is_some() || self.servers[server as usize].has_reasons();
        let allowance = self.allowance(server);
        if has_more && self.servers[server as usize].may_spend(allowance, now) {
            let gated = self.gated(server, now)?;
            return Ok(gated.or(free));
        }
        Ok(free)
    }
    /// What is visited next out of the budget: the page that is due first, or one that is more likely to have changed.
    fn gated(&mut self, server: u32, now: Timestamp) -> Result<Option<Rank>> {
        let due = self.servers[server as usize].queue.range(Rank::GATED..).next();
        let (due, stale) = match due {
            // It was chosen before, and had to wait.
            Some((rank, _)) if rank.is_foremost() => return Ok(Some(*rank)),
            Some((rank, hand)) => {
                let state = hand.state();
                let last = Timestamp::from_micros(state.last_answer).unwrap_or(now);
                (Some(*rank), state.belief.stale_after(now.since(last)))
            }
            None => (None, 0.0),
        };
        if let Some(rank) = self.follow_hint(server, stale)? {
            return Ok(Some(rank));
        }
        for _ in 0..HUNCHES_MAX {
            let kin = &mut self.servers[server as usize].kin;
            let Some(hunch) = kin.best(seconds(now)).filter(|hunch| Kin::is_better(hunch, stale)) else {
                break;
            };
            kin.pass(&hunch);
            if let Some(rank) = self.follow_hunch(server, &hunch)? {
                return Ok(Some(rank));
            }
        }
        if due.is_none() {
            // Others have their turn before more is looked up.
            self.servers[server as usize].wait_a_moment(now);
        }
        Ok(due)
    }
    /// Takes a page in hand that a feed or a sitemap says has changed, as long as that is likelier than `stale`.
    fn follow_hint(&mut self, server: u32, stale: f64) -> Result<Option<Rank>> {
        if self.servers[server as usize].kept.pace.trust.of_hint() <= stale {
            return Ok(None);
        }
        while let Some((page, announced)) = self.servers[server as usize].hinted.pop_front() {
            if let Some(rank) = self.take_early(server, page, announced, true)? {
                return Ok(Some(rank));
            }
        }
        Ok(None)
    }
    fn follow_hunch(&mut self, server: u32, hunch: &Hunch) -> Result<Option<Rank>> {
        self.take_early(server, hunch.page, hunch.since, false)
    }
    /// Takes a page in hand before its time, unless a visit since then has taken care of it.
    fn take_early(&mut self, server: u32, page: u32, since: u64, is_told: bool) -> Result<Option<Rank>> {
        let is_wanted = |state: &State| {
            let last = Timestamp::from_micros(state.last_visit).map_or(u64::MAX, seconds);
            // A hint is the word of somebody; a hunch is none to disturb the dead for.
            state.visits > 0 && last < since && (is_told || (state.is_live() && state.filtered.is_empty()))
        };
        let number = Number(page);
        let hand = match self.held.get(&page) {
            Some(Held::Queued(rank)) => {
                let rank = *rank;
                let queue = &mut self.servers[server as usize].queue;
                let Some(hand) = queue.remove(&rank) else { return Ok(None) };
                if !is_wanted(&hand.state()) {
                    queue.insert(rank, hand);
                    return Ok(None);
                }
                hand
            }
            Some(_) => return Ok(None),
            None => {
                let Some(record) = self.store.get_number(number)? else { return Ok(None) };
                let hand = Hand::new(number, &record.key, &record.value);
                if !is_wanted(&hand.state()) {
                    return Ok(None);
                }
                self.queue_bytes += hand.memory_bytes();
                self.queued += 1;
                hand
            }
        };
        let rank = Rank::foremost(number);
        self.held.insert(page, Held::Queued(rank));
        self.servers[server as usize].queue.insert(rank, hand);
        Ok(Some(rank))
    }
    /// A visit is made: if it is one of the budget, the budget pays.
    pub(super) fn pay(&mut self, server: u32, rank: Rank, state: &State, now: Timestamp) {
        if !(rank.is_gated || self.policy.counts_new && state.is_new()) {
            return;
        }
        let spacing = 1.0 / self.allowance(server).max(1e-9);
        let server = &mut self.servers[server as usize];
        server.spend();
        let others_wait = server.queue.range(Rank::GATED..).next().is_some();
        let reason = match rank {
            rank if rank.is_foremost() => Reason::Early,
            // What was dropped has no turn.
            _ if state.dropped => Reason::First { spacing },
            rank if rank.is_gated => Reason::Turn(state.turn),
            _ if others_wait => return,
            _ => Reason::First { spacing },
        };
        let pages = server.kept.load.pages();
        server.kept.pace.visits(reason, seconds(now), pages);
    }
}
