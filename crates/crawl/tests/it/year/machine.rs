//! The clocks of the simulated machine: true time, and a wall clock that somebody sets.

use base::Timestamp;
use base::clock::Watch;
use sim::ORIGIN;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// The clocks of the simulated machine: true time, and a wall clock that somebody sets.
#[derive(Debug, Default)]
pub(super) struct Machine {
    passed_micros: AtomicU64,
    wall_ahead_seconds: AtomicI64,
}

impl Machine {
    pub(super) fn is_at(&self, now: Timestamp) {
        self.passed_micros.store(now.since(ORIGIN).as_micros(), Ordering::Relaxed);
    }
    /// Sets the wall clock so far ahead of true time, or behind it.
    pub(super) fn set_wall(&self, ahead_seconds: i64) {
        self.wall_ahead_seconds.store(ahead_seconds, Ordering::Relaxed);
    }
}

impl Watch for Machine {
    fn wall(&self) -> Timestamp {
        let true_time = ORIGIN.as_micros() + self.passed_micros.load(Ordering::Relaxed).cast_signed();
        let ahead = self.wall_ahead_seconds.load(Ordering::Relaxed) * 1_000_000;
        Timestamp::from_micros(true_time + ahead).expect("a moment of this age")
    }
    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.passed_micros.load(Ordering::Relaxed))
    }
}
