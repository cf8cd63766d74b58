//! The estimate of paper 003 (C4), exact in its edge cases.
//!
//! The history is five numbers (paper 003, section 2.1): T, the time since the first visit; U, the intervals without a
//! change together; m, the changes seen; the shortest interval that showed one; the last interval. For 0 < U < T
//!
//! ```text
//! 1/λ ≈ t̄c / ln(T/U)        t̄c = √(shortest · (T − U)/m)
//! ```
//!
//! Where that says nothing (nothing changed, or everything did) the last interval is doubled or halved. While no change
//! was seen, `Last-Modified` stands in for what was not (paper 004): the time since then is what the interval is expected
//! to be.

use super::History;
use base::limits::{REVISIT_INTERVAL_MAX, REVISIT_INTERVAL_MIN};
use base::{Chance, Interval};

/// How often a page changes, where the formula says something.
pub(crate) fn estimate(history: &History) -> Option<Interval> {
    let History { changes, elapsed, unchanged, change_min, .. } = *history;
    if unchanged == Interval::ZERO || unchanged >= elapsed || changes == 0 {
        return None;
    }
    let mean = elapsed.minus(unchanged).as_seconds_f64() / f64::from(changes);
    let typical = (change_min.as_seconds_f64() * mean).sqrt();
    let rate = (elapsed.as_seconds_f64() / unchanged.as_seconds_f64()).ln();
    Some(Interval::from_seconds(1).times(typical / rate))
}

/// The estimate of paper 003.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// What the last interval is multiplied or divided by when nothing can be estimated.
    pub factor: f64,
    /// The interval after the first visit is drawn from this range.
    pub first: (Interval, Interval),
    /// An interval beyond the longest is drawn from here up to the longest.
    pub long: Interval,
}

impl Default for Paper {
    fn default() -> Self {
        Self {
            factor: 2.0,
            first: (Interval::from_days(1), Interval::from_days(7)),
            long: Interval::from_days(300),
        }
    }
}

impl Paper {
    /// The time until the next visit.
    pub fn next(&self, history: &History, chance: &mut Chance) -> Interval {
        let estimate = match (estimate(history), history.age) {
            (Some(estimate), _) => estimate,
            (None, _) if history.changes > 0 => history.last.times(1.0 / self.factor),
            // Never seen to change: by its own word, or ever longer.
            (None, Some(age)) => age.max(history.last),
            (None, None) if history.visits > 1 => history.last.times(self.factor),
            (None, None) => between(self.first.0, self.first.1, chance),
        };
        if estimate > REVISIT_INTERVAL_MAX {
            between(self.long, REVISIT_INTERVAL_MAX, chance)
        } else {
            estimate.max(REVISIT_INTERVAL_MIN)
        }
    }
}

/// An interval drawn evenly from a range.
fn between(from: Interval, to: Interval, chance: &mut Chance) -> Interval {
    from.plus(to.minus(from).times(chance.unit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays `visits` (`c` changed, `.` not) with `hours` between them, after a first visit.
    fn played(hours: u64, visits: &str) -> History {
        let gap = Interval::from_hours(hours);
        let mut history = History { visits: 1, ..History::default() };
        for visit in visits.chars() {
            history.visits += 1;
            history.elapsed = history.elapsed.plus(gap);
            history.last = gap;
            if visit == 'c' {
                history.changes += 1;
                history.change_min = gap;
            } else {
                history.unchanged = history.unchanged.plus(gap);
            }
        }
        history
    }

    #[track_caller]
    fn check(hours: u64, visits: &str, expected_hours: u64) {
        let next = Paper::default().next(&played(hours, visits), &mut Chance::new(1));
        assert_eq!(next.as_seconds() / 3_600, expected_hours, "{visits}: {next}");
    }

    #[test]
    fn a_page_that_changed_half_the_time_follows_the_formula() {
        check(24, "c.c.", 34); // 24 h / ln 2
        check(24, "c...", 83); // 24 h / ln(4/3)
        check(24, "ccc.", 17); // 24 h / ln 4
        check(24, "ccccccc.", 11);
    }

    #[test]
    fn singular_histories_double_and_halve() {
        check(24, ".", 48);
        check(24, "....", 48);
        check(24, "c", 12);
        check(24, "cccc", 12);
    }

    #[test]
    fn intervals_stay_within_their_bounds() {
        let paper = Paper::default();
        for seed in 0..200 {
            let mut chance = Chance::new(seed);
            let first = paper.next(&played(1, ""), &mut chance);
            assert!(first >= Interval::from_days(1) && first < Interval::from_days(7));
            let long = paper.next(&played(24 * 399, "."), &mut chance);
            assert!(long >= Interval::from_days(300) && long <= REVISIT_INTERVAL_MAX);
            let hasty = History { last: Interval::from_seconds(3), changes: 4, ..played(0, "") };
            assert_eq!(paper.next(&hasty, &mut chance), REVISIT_INTERVAL_MIN);
        }
    }

    #[test]
    fn the_servers_word_counts_until_a_change_was_seen() {
        let mut history = History { age: Some(Interval::from_days(40)), ..played(24, "") };
        let mut chance = Chance::new(1);
        assert_eq!(Paper::default().next(&history, &mut chance), Interval::from_days(40));
        history.changes = 1;
        history.last = Interval::from_days(2);
        assert_eq!(Paper::default().next(&history, &mut chance), Interval::from_days(1));
    }

    #[test]
    fn shortest_and_mean_interval_meet_in_the_middle() {
        let day = |days| Interval::from_days(days);
        let history = History {
            visits: 4,
            changes: 2,
            elapsed: day(30),
            unchanged: day(10),
            change_min: day(4),
            last: day(16),
            age: None,
        };
        // √(4 · 10) / ln 3
        let estimate = estimate(&history).unwrap();
        assert_eq!(estimate.as_seconds() / 3_600, 138);
    }
}
