//! The clock that is passed to everything else: the real one, one that runs faster, and one that stands until it is
//! moved; and the [clock of a crawl](CrawlClock), which continues across restarts and ignores jumps of the wall clock.
//!
//! **Invariant:** only this module reads the machine's clocks. A clock never runs backwards.

mod crawl;

pub use crawl::{CrawlClock, MachineWatch, Start, Strayed, Watch};

use crate::{Interval, Timestamp};
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// A source of the current time.
pub trait Clock: Debug + Send + Sync {
    /// The present moment of the schedule and of captures.
    fn now(&self) -> Timestamp;
    /// The real time to wait until `interval` has passed on this clock.
    fn real_wait(&self, interval: Interval) -> Duration;
    /// How much time passes on this clock while `real` passes.
    fn elapsed_in(&self, real: Duration) -> Interval;
}

/// Time that advances by the machine's monotonic clock from the wall clock at the start, so a jump of the wall clock
/// has no effect (M6). It may run faster than real time, for servers of this machine only.
#[derive(Debug)]
pub struct RealClock {
    origin: Timestamp,
    started: Instant,
    pace: u32,
}

impl RealClock {
    /// A clock that starts now and runs in real time.
    #[must_use]
    pub fn start() -> Arc<Self> {
        Self::accelerated(1)
    }
    /// A clock that starts now and runs `pace` times as fast.
    ///
    /// # Panics
    /// When the pace is zero: time would stand still and every pause last forever.
    #[must_use]
    pub fn accelerated(pace: u32) -> Arc<Self> {
        Self::starting_at(wall_clock(), pace)
    }
    /// A clock that starts at `origin` and runs `pace` times as fast.
    ///
    /// # Panics
    /// When the pace is zero.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the monotonic clock")]
    pub fn starting_at(origin: Timestamp, pace: u32) -> Arc<Self> {
        assert!(pace > 0, "a clock must run");
        Arc::new(Self { origin, started: Instant::now(), pace })
    }
    /// How much faster than real time it runs.
    #[must_use]
    pub fn pace(&self) -> u32 {
        self.pace
    }
    /// Real time since the clock was started.
    #[must_use]
    pub fn real_elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

impl Clock for RealClock {
    fn now(&self) -> Timestamp {
        self.origin.plus(self.elapsed_in(self.started.elapsed()))
    }
    fn real_wait(&self, interval: Interval) -> Duration {
        Duration::from(interval) / self.pace
    }
    fn elapsed_in(&self, real: Duration) -> Interval {
        Interval::from(real.saturating_mul(self.pace))
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let micros = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(micros).unwrap_or(Timestamp::MAX)
}

/// Time that stands still until the simulation moves it: a year passes in minutes.
#[derive(Debug)]
pub struct SimulatedClock(AtomicI64);

impl SimulatedClock {
    /// A clock that shows `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(start.as_micros())))
    }
    /// Moves the clock forward to `moment`; an earlier moment changes nothing.
    pub fn advance_to(&self, moment: Timestamp) {
        self.0.fetch_max(moment.as_micros(), Ordering::Relaxed);
    }
    /// Moves the clock forward by `interval`.
    pub fn advance(&self, interval: Interval) {
        self.advance_to(self.now().plus(interval));
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::Relaxed)).unwrap_or(Timestamp::MAX)
    }
    fn real_wait(&self, _: Interval) -> Duration {
        Duration::ZERO
    }
    fn elapsed_in(&self, real: Duration) -> Interval {
        Interval::from(real)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simulated_clock_moves_only_forward_and_only_when_moved() {
        let start = Timestamp::from_seconds(1_000).unwrap();
        let clock = SimulatedClock::new(start);
        assert_eq!(clock.now(), start);
        clock.advance(Interval::from_days(365));
        clock.advance_to(start);
        assert_eq!(clock.now().since(start), Interval::from_days(365));
    }

    #[test]
    fn an_accelerated_clock_shortens_waits() {
        let clock = RealClock::accelerated(60);
        assert_eq!(clock.real_wait(Interval::from_minutes(1)), Duration::from_secs(1));
        assert_eq!(clock.elapsed_in(Duration::from_secs(1)), Interval::from_minutes(1));
        let (first, second) = (clock.now(), clock.now());
        assert!(first <= second);
    }
}
