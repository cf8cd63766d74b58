//! A server that refuses requests as too frequent gets fewer, and later carefully more again (H13).
//!
//! Each 429 or 503 doubles the delay. Each answer shortens it a little: by 2 %, or by 0.2 % while it is a little longer
//! than the delay that was refused last. The delay is stored, so a killed crawl does not restart at full speed.
//!
//! **Invariant:** the delay in effect is never shorter than what was configured, agreed or asked for by `Crawl-delay`.

use crate::codec::{Fields, put};
use crate::moment::seconds;
use base::{Interval, Timestamp};

/// The first delay of a server whose configured delay is zero.
const DELAY_FIRST: Interval = Interval::from_millis(250);
/// The longest delay; above it a server that continues to refuse is treated as failing.
const DELAY_MAX: Interval = Interval::from_minutes(1);
const GROWTH: f64 = 2.0;
/// The factor by which an answer shortens the delay, and the one near the refused delay.
const EASE: f64 = 0.98;
const EASE_CAREFUL: f64 = 0.998;
/// How near that is.
const NEAR: f64 = 1.25;
/// A shorter delay than this counts as zero.
const DELAY_LEAST: Interval = Interval::from_millis(5);
/// A refusal older than this no longer counts.
const FORGOTTEN_AFTER: Interval = Interval::from_days(1);

/// By how much the requests to a server are slowed down, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slowdown {
    /// The delay between requests; zero if the configured delay is used.
    delay: Interval,
    /// The delay that it last refused.
    refused: Interval,
    /// When that was, in microseconds, and with which status.
    refused_at: u64,
    status: u16,
}

impl Slowdown {
    /// The delay that the server's answers ask for.
    pub(crate) fn delay(&self) -> Interval {
        self.delay
    }
    /// The status that asked for it, if one does.
    pub(crate) fn status(&self) -> Option<u16> {
        (self.delay > Interval::ZERO).then_some(self.status)
    }
    /// A request that began at `began` was refused as too frequent. Of concurrent requests one counts.
    pub(crate) fn refuse(&mut self, status: u16, configured: Interval, began: Timestamp, now: Timestamp) {
        if micros(began) < self.refused_at {
            return;
        }
        self.forget_old(now);
        self.refused = self.delay.max(configured);
        self.delay = self.refused.times(GROWTH).max(DELAY_FIRST).min(DELAY_MAX.max(configured));
        (self.refused_at, self.status) = (micros(now), status);
    }
    /// A request was answered. Returns whether the delay changed.
    pub(crate) fn ease(&mut self, configured: Interval, now: Timestamp) -> bool {
        if self.delay == Interval::ZERO {
            return false;
        }
        self.forget_old(now);
        // A shorter delay than the refused one works, so the refusal no longer counts.
        let is_near = (self.refused..=self.refused.times(NEAR)).contains(&self.delay);
        self.delay = self.delay.times(if is_near { EASE_CAREFUL } else { EASE });
        if self.delay <= configured.max(DELAY_LEAST) {
            self.delay = Interval::ZERO;
        }
        true
    }
    fn forget_old(&mut self, now: Timestamp) {
        let ends = Interval::from_micros(self.refused_at).plus(FORGOTTEN_AFTER);
        if ends.as_seconds() < seconds(now) {
            *self = Self::default();
        }
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        for number in [self.delay.as_micros(), self.refused.as_micros(), self.refused_at, self.status.into()]
        {
            put(bytes, number);
        }
    }
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            delay: Interval::from_micros(fields.number()).min(DELAY_MAX),
            refused: Interval::from_micros(fields.number()),
            refused_at: fields.number(),
            status: fields.small(u16::MAX),
        }
    }
}

/// How long a server's answers take. If they take much longer than the shortest, requests are slowed down, even below
/// the agreed rate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Latency {
    /// Seconds: the recent mean, and about the shortest.
    mean: f64,
    shortest: f64,
}

/// Answers within this time, in seconds, are never slow.
const QUICK: f64 = 1.0;
/// Answers that take this many times the shortest are slow.
const SLOW: f64 = 4.0;

impl Latency {
    /// Learns how long an answer took.
    pub(crate) fn learn(&mut self, took: Interval) {
        let took = took.as_seconds_f64();
        let is_first = self.shortest == 0.0;
        self.mean = if is_first { took } else { self.mean + (took - self.mean) / 8.0 };
        // An old shortest time slowly loses its effect.
        self.shortest = if is_first { took } else { took.min(self.shortest * 1.001) };
    }
    /// The delay that slow answers ask for: as long as they take.
    pub(crate) fn delay(&self) -> Interval {
        if self.mean > QUICK && self.mean > SLOW * self.shortest {
            Interval::from_seconds(1).times(self.mean)
        } else {
            Interval::ZERO
        }
    }
}

fn micros(at: Timestamp) -> u64 {
    u64::try_from(at.as_micros()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_seconds(1_800_000_000).expect("in range");

    fn at(number: u64) -> Timestamp {
        START.plus(Interval::from_seconds(number))
    }

    #[test]
    fn refusals_double_the_delay_and_answers_shorten_it_to_what_was_configured() {
        for configured in [Interval::ZERO, Interval::from_millis(100), Interval::from_seconds(10)] {
            let mut slow = Slowdown::default();
            assert!(!slow.ease(configured, START), "nothing to shorten");
            let mut last = configured;
            for number in 0..3 {
                slow.refuse(429, configured, at(number), at(number));
                assert_eq!(slow.delay(), last.times(2.0).clamp(DELAY_FIRST, DELAY_MAX), "{slow:?}");
                last = slow.delay();
            }
            assert_eq!(slow.status(), Some(429));
            let answers = (0..5_000).take_while(|_| slow.ease(configured, at(60))).count();
            assert_eq!((slow.delay(), slow.status()), (Interval::ZERO, None));
            assert!(answers > 90, "carefully: {answers}");
        }
    }

    #[test]
    fn requests_under_way_together_count_once_and_there_is_a_longest_delay() {
        let mut slow = Slowdown::default();
        (0..32).for_each(|_| slow.refuse(503, Interval::ZERO, at(0), at(1)));
        assert_eq!(slow.delay(), DELAY_FIRST);
        (2..40).for_each(|number| slow.refuse(503, Interval::ZERO, at(number), at(number)));
        assert_eq!(slow.delay(), DELAY_MAX);
    }

    #[test]
    fn few_requests_are_refused_by_a_server_that_allows_ten_a_second() {
        let (mut slow, mut refused) = (Slowdown::default(), 0);
        for number in 0..1_000 {
            if slow.delay() < Interval::from_millis(100) {
                slow.refuse(429, Interval::ZERO, at(number), at(number));
                refused += 1;
            } else {
                slow.ease(Interval::ZERO, at(number));
            }
        }
        assert!(refused <= 12, "{refused}");
    }

    #[test]
    fn growing_latency_slows_requests_down_and_recovery_speeds_them_up() {
        let (mut latency, quick) = (Latency::default(), Interval::from_millis(50));
        (0..100).for_each(|_| latency.learn(quick));
        assert_eq!(latency.delay(), Interval::ZERO);
        (0..30).for_each(|_| latency.learn(Interval::from_seconds(4)));
        assert!(latency.delay() > Interval::from_seconds(3), "{latency:?}");
        (0..30).for_each(|_| latency.learn(quick));
        assert_eq!(latency.delay(), Interval::ZERO);
    }

    #[test]
    fn it_is_read_as_it_was_written_and_expires_after_a_day() {
        let mut slow = Slowdown::default();
        slow.refuse(429, Interval::from_seconds(1), at(0), at(0));
        let mut bytes = Vec::new();
        slow.write(&mut bytes);
        assert_eq!(Slowdown::read(&mut Fields(&bytes)), slow);
        assert_eq!(Slowdown::read(&mut Fields(&[])), Slowdown::default());
        slow.ease(Interval::from_seconds(1), at(2 * 86_400));
        assert_eq!(slow.delay(), Interval::ZERO);
    }
}
