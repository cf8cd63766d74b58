//! The crawl clock: what the schedule and the dates of captures run on (D16).
//!
//! The wall clock of a machine may be set years forward or back, by people or by an empty battery. A schedule that
//! trusted it would find every page due at once, or none for years. So this clock runs by the monotonic clock and only
//! follows small differences of the wall clock:
//!
//! - It starts from the wall clock when that is up to 400 days after the moment at which the crawl last ran;
//!   otherwise it continues from that moment, and logs it.
//! - While it runs, it follows the wall clock while the difference is less than a minute. Forward it moves at once,
//!   within its slack: a minute, plus a twentieth of the time that passes. Backward it runs a twentieth slower. A
//!   network time daemon moves a clock in these ways.
//! - While the difference is a minute or more, it keeps its own pace and reports that once; it follows again when the
//!   wall clock comes back. Time lost while the machine slept is made up for by the next start, which accepts up to 400
//!   days.
//! - A clock that runs faster than real time, for servers of this machine, takes only its start from the wall clock.
//!
//! **Invariant:** it never runs backwards, and between two readings a time `t` apart it advances by at least 19/20 `t`
//! and at most 21/20 `t` plus a minute.

use super::{Clock, wall_clock};
use crate::limits::CLOCK_GAP_MAX;
use crate::{Interval, Timestamp};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The two clocks of a machine.
pub trait Watch: Debug + Send + Sync {
    /// The wall clock; it may jump.
    fn wall(&self) -> Timestamp;
    /// The time since some moment of the past; it only grows, and stands while the machine sleeps.
    fn monotonic(&self) -> Duration;
}

/// The clocks of this machine.
#[derive(Debug)]
pub struct MachineWatch(Instant);

impl MachineWatch {
    /// A watch on this machine.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the clock is made of it")]
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl Default for MachineWatch {
    fn default() -> Self {
        Self::new()
    }
}

impl Watch for MachineWatch {
    fn wall(&self) -> Timestamp {
        wall_clock()
    }
    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Where a crawl clock started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the wall clock, or less than a minute after it.
    Believed,
    /// At the moment at which the crawl last ran: the wall clock is behind that by this much.
    WallBehind(Interval),
    /// At the moment at which the crawl last ran: the wall clock is ahead of that by this much, more than is accepted.
    WallBeyond(Interval),
}

/// The wall clock jumped while a crawl clock ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strayed {
    /// What the crawl clock showed.
    pub clock: Timestamp,
    /// What the wall clock showed.
    pub wall: Timestamp,
}

/// The clock that the schedule and the dates of captures run on.
#[derive(Debug)]
pub struct CrawlClock {
    watch: Arc<dyn Watch>,
    pace: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    micros: i64,
    /// The monotonic clock at the last reading.
    read_micros: u128,
    /// How far it may still be moved forward, in twentieths of microseconds.
    slack: i64,
    /// Passed time that has not yet slowed the clock, in twentieths of microseconds.
    rest: i64,
    is_strayed: bool,
    told: Option<Strayed>,
}

/// A wall clock that differs by this much is not followed.
const NEAR_MICROS: i64 = 60_000_000;
/// The clock is moved by one part in this many of the time that passes.
const SLEW: i64 = 20;
const SLACK_MAX: i64 = NEAR_MICROS * SLEW;

impl CrawlClock {
    /// A clock of this machine that runs `pace` times as fast as real time. `persisted` is the last moment on this
    /// clock at which the crawl is known to have run.
    ///
    /// # Panics
    /// When the pace is zero: time would stand still and every pause last forever.
    #[must_use]
    pub fn start(persisted: Option<Timestamp>, pace: u32) -> (Arc<Self>, Start) {
        Self::watching(Arc::new(MachineWatch::new()), persisted, pace)
    }

    /// The same with the clocks of some machine.
    ///
    /// # Panics
    /// When the pace is zero.
    #[must_use]
    pub fn watching(watch: Arc<dyn Watch>, persisted: Option<Timestamp>, pace: u32) -> (Arc<Self>, Start) {
        assert!(pace > 0, "a clock must run");
        let (origin, start) = begin(watch.wall(), persisted, pace);
        let state = State {
            micros: origin.as_micros(),
            read_micros: watch.monotonic().as_micros(),
            slack: SLACK_MAX,
            rest: 0,
            is_strayed: start != Start::Believed,
            told: None,
        };
        (Arc::new(Self { watch, pace, state: Mutex::new(state) }), start)
    }

    /// How much faster than real time it runs.
    #[must_use]
    pub fn pace(&self) -> u32 {
        self.pace
    }

    /// The jump of the wall clock since the last call, if there was one; each is returned once.
    pub fn strayed(&self) -> Option<Strayed> {
        self.now();
        self.state.lock().unwrap_or_else(PoisonError::into_inner).told.take()
    }
}

impl Clock for CrawlClock {
    fn now(&self) -> Timestamp {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock, so that readings stay in order.
        let passed = state.pass(self.watch.monotonic());
        if self.pace == 1 {
            state.micros = state.micros.saturating_add(passed);
            state.follow(self.watch.wall(), passed);
        } else {
            state.micros = state.micros.saturating_add(passed.saturating_mul(i64::from(self.pace)));
        }
        state.moment()
    }
    fn real_wait(&self, interval: Interval) -> Duration {
        Duration::from(interval) / self.pace
    }
    fn elapsed_in(&self, real: Duration) -> Interval {
        Interval::from(real.saturating_mul(self.pace))
    }
}

impl State {
    fn moment(&self) -> Timestamp {
        Timestamp::from_micros(self.micros).unwrap_or(Timestamp::MAX)
    }

    /// Microseconds since the last reading.
    fn pass(&mut self, monotonic: Duration) -> i64 {
        let read = monotonic.as_micros();
        let passed = i64::try_from(read.saturating_sub(self.read_micros)).unwrap_or(i64::MAX);
        self.read_micros = self.read_micros.max(read);
        passed
    }

    /// Follows the wall clock after `passed` microseconds.
    fn follow(&mut self, wall: Timestamp, passed: i64) {
        self.slack = self.slack.saturating_add(passed).min(SLACK_MAX);
        let allowed = self.rest.saturating_add(passed);
        self.rest = allowed % SLEW;
        let gap = wall.as_micros().saturating_sub(self.micros);
        if gap.abs() >= NEAR_MICROS {
            if !self.is_strayed {
                self.told = Some(Strayed { clock: self.moment(), wall });
            }
            self.is_strayed = true;
            return;
        }
        self.is_strayed = false;
        if gap >= 0 {
            let forward = gap.min(self.slack / SLEW);
            self.micros += forward;
            self.slack -= forward * SLEW;
        } else {
            self.micros -= (-gap).min(allowed / SLEW);
        }
    }
}

/// Where a clock starts when the crawl last ran at `persisted`.
fn begin(wall: Timestamp, persisted: Option<Timestamp>, pace: u32) -> (Timestamp, Start) {
    let Some(persisted) = persisted else { return (wall, Start::Believed) };
    let (ahead, behind) = (wall.since(persisted), persisted.since(wall));
    let is_near = behind < Interval::from_micros(NEAR_MICROS.unsigned_abs());
    if wall >= persisted && ahead <= CLOCK_GAP_MAX {
        (wall, Start::Believed)
    } else if is_near && ahead == Interval::ZERO || pace > 1 {
        (persisted, Start::Believed)
    } else if ahead > Interval::ZERO {
        (persisted, Start::WallBeyond(ahead))
    } else {
        (persisted, Start::WallBehind(behind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chance;

    const ORIGIN: Timestamp = Timestamp::from_micros(1_795_129_200_000_000).unwrap();

    /// Clocks that are set by hand.
    #[derive(Debug)]
    struct Hands(Mutex<(Timestamp, Duration)>);

    impl Hands {
        fn new() -> Arc<Self> {
            Arc::new(Self(Mutex::new((ORIGIN, Duration::from_secs(77)))))
        }
        /// Lets time pass on both clocks.
        fn pass(&self, seconds: f64) {
            self.pass_at(seconds, 1.0);
        }
        /// Lets time pass while the wall clock runs at a rate of its own.
        fn pass_at(&self, seconds: f64, rate: f64) {
            let mut hands = self.0.lock().unwrap();
            hands.0 = hands.0.plus(Interval::from(Duration::from_secs_f64(seconds * rate)));
            hands.1 += Duration::from_secs_f64(seconds);
        }
        fn set_wall(&self, wall: Timestamp) {
            self.0.lock().unwrap().0 = wall;
        }
        fn start(self: &Arc<Self>, persisted: Option<Timestamp>) -> (Arc<CrawlClock>, Start) {
            CrawlClock::watching(Arc::clone(self) as Arc<dyn Watch>, persisted, 1)
        }
    }

    impl Watch for Hands {
        fn wall(&self) -> Timestamp {
            self.0.lock().unwrap().0
        }
        fn monotonic(&self) -> Duration {
            self.0.lock().unwrap().1
        }
    }

    fn days(count: u64) -> Interval {
        Interval::from_days(count)
    }

    /// Where a clock starts when the wall clock shows `ORIGIN`.
    #[track_caller]
    fn check_start(persisted: Option<Timestamp>, origin: Timestamp, expected: Start) {
        let (clock, start) = Hands::new().start(persisted);
        assert_eq!((clock.now(), start), (origin, expected));
    }

    #[test]
    fn a_start_accepts_a_wall_clock_up_to_400_days_ahead() {
        check_start(None, ORIGIN, Start::Believed);
        check_start(Some(ORIGIN), ORIGIN, Start::Believed);
        check_start(Some(ORIGIN.minus(days(400))), ORIGIN, Start::Believed);
        let old = ORIGIN.minus(days(401));
        check_start(Some(old), old, Start::WallBeyond(days(401)));
        let ahead = ORIGIN.plus(days(3_650));
        check_start(Some(ahead), ahead, Start::WallBehind(days(3_650)));
        let a_little = ORIGIN.plus(Interval::from_seconds(2));
        check_start(Some(a_little), a_little, Start::Believed);
    }

    #[test]
    fn it_runs_by_the_monotonic_clock_when_the_wall_clock_is_wrong_at_the_start() {
        for persisted in [ORIGIN.minus(days(4_000)), ORIGIN.plus(days(4_000))] {
            let hands = Hands::new();
            let (clock, _) = hands.start(Some(persisted));
            hands.pass(3_600.0);
            assert_eq!(clock.now(), persisted.plus(Interval::from_hours(1)));
            assert_eq!(clock.strayed(), None, "reported at the start");
        }
    }

    #[test]
    fn a_jump_of_years_is_not_followed_and_reported_once() {
        for wall in
            [ORIGIN.plus(days(3_650)), ORIGIN.minus(days(3_650)), ORIGIN.plus(Interval::from_hours(1))]
        {
            let hands = Hands::new();
            let (clock, _) = hands.start(None);
            hands.pass(10.0);
            assert_eq!(clock.strayed(), None);
            hands.set_wall(wall);
            assert_eq!(clock.now(), ORIGIN.plus(Interval::from_seconds(10)));
            let clock_showed = ORIGIN.plus(Interval::from_seconds(10));
            assert_eq!(clock.strayed(), Some(Strayed { clock: clock_showed, wall }));
            hands.pass(90.0);
            assert_eq!(clock.now(), ORIGIN.plus(Interval::from_seconds(100)));
            assert_eq!(clock.strayed(), None, "reported once");
            hands.set_wall(ORIGIN.plus(Interval::from_seconds(101)));
            assert_eq!(clock.now(), ORIGIN.plus(Interval::from_seconds(101)), "it came back");
            hands.set_wall(wall);
            assert!(clock.strayed().is_some(), "again");
        }
    }

    #[test]
    fn a_restart_after_a_jump_continues() {
        let hands = Hands::new();
        let (clock, _) = hands.start(None);
        hands.pass(50.0);
        let persisted = clock.now();
        hands.set_wall(ORIGIN.minus(days(9_000)));
        let (clock, start) = hands.start(Some(persisted));
        assert!(matches!(start, Start::WallBehind(_)));
        assert_eq!(clock.now(), persisted);
        hands.set_wall(ORIGIN.plus(days(9_000)));
        let (clock, start) = hands.start(Some(clock.now()));
        assert!(matches!(start, Start::WallBeyond(_)));
        assert_eq!(clock.now(), persisted);
        hands.set_wall(ORIGIN.plus(days(30)));
        let (clock, start) = hands.start(Some(clock.now()));
        assert_eq!((clock.now(), start), (ORIGIN.plus(days(30)), Start::Believed));
    }

    /// The monotonic clock stands while a machine sleeps: the next start makes up for it.
    #[test]
    fn sleep_is_made_up_for_by_the_next_start() {
        let hands = Hands::new();
        let (clock, _) = hands.start(None);
        let morning = ORIGIN.plus(Interval::from_hours(8));
        hands.set_wall(morning);
        assert_eq!(clock.now(), ORIGIN);
        assert!(clock.strayed().is_some());
        let (clock, start) = hands.start(Some(clock.now()));
        assert_eq!((clock.now(), start), (morning, Start::Believed));
    }

    #[test]
    fn small_steps_and_slews_are_followed() {
        let hands = Hands::new();
        let (clock, _) = hands.start(None);
        // A slew of 500 parts in a million, as a network time daemon makes, either way.
        for rate in [1.000_5, 0.999_5] {
            for _ in 0..1_000 {
                hands.pass_at(1.7, rate);
                let gap = clock.now().since(hands.wall()).plus(hands.wall().since(clock.now()));
                assert!(gap < Interval::from_millis(2), "{gap}");
            }
        }
        hands.set_wall(hands.wall().plus(Interval::from_seconds(30)));
        assert_eq!(clock.now(), hands.wall(), "a step forward");
        hands.set_wall(hands.wall().minus(Interval::from_seconds(5)));
        let before = clock.now();
        hands.pass(50.0);
        assert_eq!(clock.now().since(before), Interval::from_micros(47_500_000), "a step back, at 19/20");
        hands.pass(60.0);
        assert_eq!(clock.now(), hands.wall());
        assert_eq!(clock.strayed(), None);
    }

    #[test]
    fn frequent_readings_slow_it_as_well() {
        let hands = Hands::new();
        let (clock, _) = hands.start(None);
        hands.set_wall(ORIGIN.minus(Interval::from_seconds(1)));
        for _ in 0..1_000_000 {
            hands.pass(0.000_007);
            clock.now();
        }
        let passed = clock.now().since(ORIGIN).as_micros();
        assert_eq!(passed, 7_000_000 / 20 * 19);
    }

    #[test]
    fn a_wall_clock_that_runs_away_is_not_followed() {
        let hands = Hands::new();
        let (clock, _) = hands.start(None);
        for _ in 0..10_000 {
            hands.pass_at(0.1, 2.0);
            clock.now();
        }
        let passed = clock.now().since(ORIGIN);
        assert!(passed <= Interval::from_seconds(1_000 + 50 + 60), "{passed}");
        assert!(clock.strayed().is_some());
    }

    #[test]
    fn model_it_keeps_its_bounds_under_random_wall_clocks() {
        for round in 0..200 {
            let (hands, mut chance) = (Hands::new(), Chance::new(round));
            let (clock, _) = hands.start(None);
            let mut readings = vec![(hands.monotonic(), clock.now())];
            for _ in 0..200 {
                hands.pass_at(chance.unit() * 20.0, *chance.pick(&[0.0, 0.9, 1.0, 1.0, 1.0, 1.04, 3.0]));
                let step = Interval::from_seconds(chance.below(100));
                match chance.below(12) {
                    0 => hands.set_wall(ORIGIN.plus(days(chance.below(9_000)))),
                    1 => hands.set_wall(ORIGIN.minus(days(chance.below(9_000)))),
                    2 => hands.set_wall(hands.wall().plus(step)),
                    3 => hands.set_wall(hands.wall().minus(step)),
                    4 => hands.set_wall(clock.now()),
                    _ => {}
                }
                readings.push((hands.monotonic(), clock.now()));
            }
            for from in 0..readings.len() {
                for to in from..readings.len() {
                    let passed = Interval::from(readings[to].0 - readings[from].0).as_micros();
                    assert!(readings[to].1 >= readings[from].1, "never backwards");
                    let shown = readings[to].1.since(readings[from].1).as_micros();
                    assert!(shown + 20 >= passed / 20 * 19, "{shown} in {passed}");
                    assert!(shown <= passed / 20 * 21 + 60_000_021, "{shown} in {passed}");
                }
            }
        }
    }

    #[test]
    fn an_accelerated_clock_takes_only_its_start_from_the_wall_clock() {
        let hands = Hands::new();
        let watch = Arc::clone(&hands) as Arc<dyn Watch>;
        let ahead = ORIGIN.plus(days(100));
        let (clock, start) = CrawlClock::watching(watch, Some(ahead), 1_000);
        assert_eq!((clock.now(), start), (ahead, Start::Believed));
        hands.pass(10.0);
        assert_eq!(clock.now().since(ahead), Interval::from_seconds(10_000));
        hands.set_wall(ORIGIN);
        assert_eq!(clock.now().since(ahead), Interval::from_seconds(10_000));
        assert_eq!(clock.strayed(), None);
        assert_eq!(clock.real_wait(Interval::from_seconds(10)), Duration::from_millis(10));
        assert_eq!(clock.elapsed_in(Duration::from_millis(10)), Interval::from_seconds(10));
    }

    #[test]
    fn it_runs_on_this_machine() {
        let (clock, start) = CrawlClock::start(None, 1);
        let (first, second) = (clock.now(), clock.now());
        assert!(first <= second && start == Start::Believed && clock.pace() == 1);
    }
}
