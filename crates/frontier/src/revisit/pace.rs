//! What a server as a whole has shown: how often its pages change, whether visits came late, what may be asked of it.
//!
//! **Invariant:** how long a page waits depends on what was learned of the server's pages, in the order in which the archive has
//! it, and on nothing else here; so a schedule that is learned again is the same (D3). The clock of turns, the share of early
//! visits and the moment up to which the budget is spent change as visits are made. They order the queue and open
//! the gate, and no wait depends on them.

use super::allocate::{Allocation, AllocationLevel};
use super::co_change::keeps;
use super::estimate::{Belief, PRIOR_CHANGES};
use super::trust::Trust;
use super::{History, RevisitPolicy};
use crate::codec::{Fields, put};
use crate::load::Load;
use base::Interval;
use base::limits::{REVISIT_INTERVAL_MAX, REVISIT_INTERVAL_MIN};

/// A server of which nothing is known is taken for one whose pages change once in this time, with the weight of one
/// change: half of all pages of long-lived sites change more slowly, half faster.
const FIRST_DAYS: f64 = 100.0;
const FIRST_CHANGES: f64 = 1.0;
/// A page joins the queue so much before it is expected to be due: visits that the budget allows and nobody is due for go
/// to those that are next.
const AHEAD_PART: f64 = 0.25;
/// The clock of turns is expected to go no faster than this, and no slower than one part in as much.
const TURNS_PACE_MAX: f64 = 4.0;
/// The server's clock follows its changes of the last days, beginning with some of each.
const ACTIVITY_DAYS: f64 = 7.0;
const ACTIVITY_FIRST: f64 = 5.0;
const ACTIVITY_MAX: f64 = 10.0;
/// Hints that are always right may take this share of the budget.
const HINTED_MAX: f64 = 0.5;
/// After so many lessons the level is looked for again, or after this part of the server's pages.
const LEVEL_LESSONS_MIN: u32 = 32;
const LEVEL_PART: u64 = 32;
const LEVEL_LESSONS_MAX: u64 = 1_024;

/// Why a page is visited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// It was never visited, nobody else's turn has come, and first visits count. The clock of turns goes on by the seconds that
    /// lie between two visits.
    First {
        /// Those seconds.
        spacing: f64,
    },
    /// It is its turn.
    Turn(f64),
    /// Others that changed make it likely to have changed.
    Early,
    /// A feed or a sitemap says that it changed.
    Hinted,
}

/// When a page is visited next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// By the clock of turns.
    pub turn: f64,
    /// How long it waits, as planned.
    pub wait: Interval,
    /// After how long it joins the queue, so that it is there when its turn comes.
    pub joins_after: Interval,
}

/// What a server has shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Pace {
    /// Changes seen, and days over which pages were watched for them.
    changes: f64,
    watched_days: f64,
    /// The server's own clock, and when it was last set, in seconds.
    pub(crate) clock_days: f64,
    clock_at: u64,
    /// Changes of late, and how many were expected.
    lately: f64,
    expected: f64,
    /// The shares of visits that come before their time, because others changed, and because of hints.
    early: f64,
    hinted: f64,
    /// The clock of turns, the moment up to which the budget is spent, and both as they were some visits ago, in seconds; zero
    /// before the first visit.
    turns: f64,
    turns_at: f64,
    turns_before: (f64, f64),
    /// How the requests are divided, and for how many more lessons that is good enough.
    pub(crate) level: Option<AllocationLevel>,
    level_good_for: u32,
    /// How far its feeds and sitemaps are believed.
    pub trust: Trust,
    /// How far its `Last-Modified` is: hints are right that say of a change whether it came.
    pub modified: Trust,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            changes: 0.0,
            watched_days: 0.0,
            clock_days: 0.0,
            clock_at: 0,
            lately: ACTIVITY_FIRST,
            expected: ACTIVITY_FIRST,
            early: 0.0,
            hinted: 0.0,
            turns: 0.0,
            turns_at: 0.0,
            turns_before: (0.0, 0.0),
            level: None,
            level_good_for: 0,
            trust: Trust::default(),
            modified: Trust::default(),
        }
    }
}

impl Pace {
    /// What is believed of a page of this server that was seen once.
    pub(crate) fn prior(&self) -> Belief {
        let mean = (self.changes + FIRST_CHANGES) / (self.watched_days + FIRST_CHANGES * FIRST_DAYS);
        #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough")]
        let (shape, days) = (PRIOR_CHANGES as f32, (PRIOR_CHANGES / mean) as f32);
        Belief { shape, days, ..Belief::default() }
    }
    /// Whether what was assumed of the server weighs more than what was seen of it.
    #[must_use]
    pub fn is_guess(&self) -> bool {
        self.watched_days < FIRST_CHANGES * FIRST_DAYS
    }
    /// What is believed of a page of which only its history is known.
    #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough")]
    pub(crate) fn recall(&self, history: &History) -> Belief {
        let (prior, days) = (self.prior(), history.elapsed.as_seconds_f64() / 86_400.0);
        let shape = f64::from(prior.shape) + f64::from(history.changes);
        Belief {
            shape: shape as f32,
            days: (f64::from(prior.days) + days) as f32,
            clock: self.clock_days,
            ..prior
        }
    }
    /// A page was watched for so long, and seen to change or not.
    pub(crate) fn learn(&mut self, belief: &Belief, gap_days: f64, is_changed: bool) {
        self.watched_days += gap_days;
        if is_changed {
            self.changes += (belief.rate() * 86_400.0 * gap_days).max(1.0);
        }
    }
    /// Compares what an interval showed with what was to be expected, for the clock.
    pub(crate) fn expect(&mut self, belief: &Belief, gap_days: f64, is_changed: bool) {
        self.lately += f64::from(u8::from(is_changed));
        self.expected += belief.stale_after(Interval::from_seconds(86_400).times(gap_days));
    }
    /// Sets the server's clock on to a moment in seconds.
    pub fn tick(&mut self, at: u64) {
        let passed_days =
            Interval::from_seconds(at.saturating_sub(self.clock_at)).as_seconds_f64() / 86_400.0;
        if self.clock_at > 0 {
            self.clock_days +=
                passed_days * (self.lately / self.expected).clamp(1.0 / ACTIVITY_MAX, ACTIVITY_MAX);
        }
        self.clock_at = self.clock_at.max(at);
        let kept = (-passed_days / ACTIVITY_DAYS).exp();
        self.lately = ACTIVITY_FIRST + (self.lately - ACTIVITY_FIRST) * kept;
        self.expected = ACTIVITY_FIRST + (self.expected - ACTIVITY_FIRST) * kept;
    }

    /// The budget is spent up to a moment in seconds.
    pub(crate) fn spent(&mut self, until: u64) {
        self.turns_at = Interval::from_seconds(until).as_seconds_f64();
    }
    /// A page is visited out of the budget of a server with so many pages, which is spent by that up to a moment in seconds.
    ///
    /// The clock of turns shows the turn of the page that was visited last by schedule. It runs faster than time when there are more
    /// visits than planned, and slower when there are fewer, so that pages keep their shares whatever the budget does. It orders the
    /// queue, and has no part in when a page is said to be due.
    pub fn visits(&mut self, reason: Reason, until: u64, pages: u64) {
        let share = 1.0 / count(pages.max(32));
        self.spent(until);
        if !self.has_turns() {
            self.turns_before = (self.turns, self.turns_at);
        }
        self.early += (f64::from(u8::from(reason == Reason::Early)) - self.early) * share;
        self.hinted += (f64::from(u8::from(reason == Reason::Hinted)) - self.hinted) * share;
        match reason {
            Reason::Turn(turn) => self.turns = self.turns.max(turn),
            Reason::First { spacing } => self.turns += spacing,
            Reason::Early | Reason::Hinted => {}
        }
        self.turns_before.0 += (self.turns - self.turns_before.0) * share;
        self.turns_before.1 += (self.turns_at - self.turns_before.1) * share;
    }
    /// Whether a visit was made. The budget may have begun long before that, and meanwhile no turn was missed.
    fn has_turns(&self) -> bool {
        self.turns_before.1 > 0.0
    }
    /// How fast the clock of turns goes.
    fn turns_pace(&self) -> f64 {
        let (turns, passed) = (self.turns - self.turns_before.0, self.turns_at - self.turns_before.1);
        if passed < 3_600.0 || !self.has_turns() {
            1.0
        } else {
            (turns / passed).clamp(1.0 / TURNS_PACE_MAX, TURNS_PACE_MAX)
        }
    }

    /// Requests a second that the policy would make of a server with so many pages: its budget, as far as its means suffice.
    #[must_use]
    pub fn budget(policy: &RevisitPolicy, pages: u64, means: f64) -> f64 {
        (count(pages) / policy.every.as_seconds_f64()).min(means)
    }
    /// When the next visit is due of a page that asks for `own`; nothing when it is dropped.
    pub fn next(
        &mut self,
        policy: &RevisitPolicy,
        load: &Load,
        means: f64,
        own: Interval,
        importance: f64,
    ) -> Option<Turn> {
        let exactly = |wait: Interval| Turn { turn: 0.0, wait, joins_after: wait };
        let level = match policy.allocation {
            Allocation::Printed => return Some(exactly(own.within_revisit_bounds())),
            Allocation::Fixed => return Some(exactly(policy.every.within_revisit_bounds())),
            _ => self.refresh(policy, load, means),
        };
        let every = policy.every.as_seconds_f64().max(count(load.pages()) / means);
        let own = policy.allocation.eased(own.as_seconds_f64(), every);
        let seconds = policy.allocation.interval(own, level, importance)?;
        let seconds =
            seconds.clamp(REVISIT_INTERVAL_MIN.as_seconds_f64(), REVISIT_INTERVAL_MAX.as_seconds_f64());
        let wait = Interval::from_seconds(1).times(seconds);
        let joins_after = wait.times((1.0 - AHEAD_PART) / self.turns_pace()).min(wait);
        Some(Turn { turn: self.turns + seconds, wait, joins_after })
    }
    fn refresh(&mut self, policy: &RevisitPolicy, load: &Load, means: f64) -> AllocationLevel {
        if let Some(level) = self.level.filter(|_| self.level_good_for > 0) {
            self.level_good_for -= 1;
            return level;
        }
        let pages = load.pages();
        let budget = Self::budget(policy, pages.max(1), means);
        let level = policy.allocation.level(load, budget);
        let lessons = (pages / LEVEL_PART).min(LEVEL_LESSONS_MAX);
        self.level_good_for = u32::try_from(lessons).unwrap_or(u32::MAX).max(LEVEL_LESSONS_MIN);
        self.level = Some(level);
        level
    }
    /// The turn of a page that waits so long.
    pub(crate) fn turn_after(&self, wait: Interval) -> f64 {
        self.turns + wait.as_seconds_f64()
    }
    /// Up to when the budget is spent, in seconds; nothing before it has begun.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds since 1970")]
    pub(crate) fn spent_until(&self) -> Option<u64> {
        (self.turns_at > 0.0).then_some(self.turns_at as u64)
    }
    /// Forgets the division, because the policy changed.
    pub(crate) fn forget_level(&mut self) {
        self.level = None;
    }
    /// The share of visits that are made before their time because others changed.
    #[must_use]
    pub fn early_share(&self) -> f64 {
        self.early
    }
    /// The share of visits that are made because of hints.
    #[must_use]
    pub fn hinted_share(&self) -> f64 {
        self.hinted
    }
    pub(crate) fn recall_hinted(&mut self, share: f64) {
        self.hinted = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    }
    /// For how many seconds a visit to a page of which a hint was heard is expected to make it fresh, if hints may take more of
    /// the budget: the more often they are right, the more.
    #[must_use]
    pub fn hint_gain(&self, own: Interval, wait: Interval) -> Option<f64> {
        let right = self.trust.of_hint();
        (self.hinted < HINTED_MAX * right).then(|| right * keeps(own, wait))
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        for number in [
            self.changes,
            self.watched_days,
            self.clock_days,
            self.lately,
            self.expected,
            self.early,
            self.turns,
            self.turns_at,
            self.turns_before.0,
            self.turns_before.1,
            self.level.map_or(0.0, |level| level.0),
        ] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        put(bytes, self.clock_at);
        put(bytes, self.level_good_for.into());
        self.trust.write(bytes);
        self.modified.write(bytes);
    }
    /// Reads what was written; what an older form does not have is as at the beginning.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        if fields.0.is_empty() {
            return Self::default();
        }
        let mut next = || f64::from_le_bytes(fields.array());
        let (changes, watched_days, clock_days, lately, expected) = (next(), next(), next(), next(), next());
        let (early, turns, turns_at, turns_before) = (next(), next(), next(), (next(), next()));
        let level = next();
        Self {
            changes,
            watched_days,
            clock_days,
            lately,
            expected,
            early,
            hinted: 0.0,
            turns,
            turns_at,
            turns_before,
            level: (level > 0.0).then_some(AllocationLevel(level)),
            clock_at: fields.number(),
            level_good_for: fields.small(u32::MAX),
            trust: Trust::read(fields),
            modified: Trust::read(fields),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "pages of a server")]
fn count(pages: u64) -> f64 {
    pages as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_read_as_it_was_written() {
        let mut pace = Pace::default();
        let belief = pace.prior();
        pace.tick(1_800_000_000);
        pace.expect(&belief, 3.0, true);
        pace.learn(&belief, 3.0, true);
        pace.visits(Reason::Turn(2_600_000.0), 1_800_000_000, 100);
        pace.tick(1_800_086_400);
        pace.level = Some(AllocationLevel(7.5));
        let mut bytes = Vec::new();
        pace.write(&mut bytes);
        assert_eq!(Pace::read(&mut Fields(&bytes)), pace);
        assert_eq!(Pace::read(&mut Fields(&[])), Pace::default());
    }

    #[test]
    fn the_clock_runs_faster_while_more_changes_than_expected() {
        let advance = |is_changed: bool| {
            let mut pace = Pace::default();
            pace.tick(1_000_000);
            let belief = pace.prior();
            (0..20).for_each(|_| pace.expect(&belief, 30.0, is_changed));
            pace.tick(1_000_000 + 86_400);
            pace.clock_days
        };
        assert!(advance(true) > 1.5 && advance(false) < 0.7, "{} {}", advance(true), advance(false));
    }

    #[test]
    fn visits_before_their_time_do_not_move_the_clock_of_turns() {
        let mut pace = Pace::default();
        (1..33).for_each(|hour| pace.visits(Reason::Early, 1_000_000 + hour * 3_600, 1));
        assert!(pace.early_share() > 0.6 && pace.turns == 0.0, "{pace:?}");
        // Twice as many visits as planned: the clock goes twice as fast, and pages join the queue in half the time.
        let turn = |hour: u64| 7_200.0 * f64::from(u32::try_from(hour).unwrap());
        (1..400).for_each(|hour| pace.visits(Reason::Turn(turn(hour)), 1_200_000 + hour * 3_600, 1));
        assert!(pace.early_share() < 0.01 && (pace.turns_pace() - 2.0).abs() < 0.1, "{pace:?}");
    }

    #[test]
    fn a_budget_that_begins_long_before_the_first_visit_does_not_slow_the_turns() {
        let mut pace = Pace::default();
        pace.spent(1_000_000);
        assert!(pace.turns_pace() == 1.0, "{pace:?}");
        let turn = |hour: u64| 3_600.0 * f64::from(u32::try_from(hour).unwrap());
        for hour in 1..20 {
            pace.visits(Reason::Turn(turn(hour)), 10_000_000 + hour * 3_600, 100);
            assert!((0.9..2.1).contains(&pace.turns_pace()), "{pace:?}");
        }
    }
}
