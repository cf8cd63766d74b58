//! Days, by which requests and bytes are counted.

use base::{Interval, Timestamp};
use std::fmt;
use std::time::Duration;

const DAY: Interval = Interval::from_days(1);

/// A day in UTC, as the number of days since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Day(i64);

impl Day {
    /// The day of a moment.
    pub(crate) fn of(at: Timestamp) -> Self {
        Self(at.as_minutes() / (24 * 60))
    }
    /// Reads `2026-11-16`.
    pub(crate) fn parse(date: &str) -> Option<Self> {
        Timestamp::parse(date, Timestamp::MIN).ok().map(Self::of).filter(|day| day.to_string() == date)
    }
    /// How long the day lasts from `at` on; a whole day if `at` does not lie in it.
    pub(crate) fn left(self, at: Timestamp) -> Duration {
        let left = self.begin().plus(DAY).since(at);
        if Self::of(at) == self { left.into() } else { DAY.into() }
    }

    fn begin(self) -> Timestamp {
        Timestamp::from_seconds(self.0.saturating_mul(24 * 60 * 60)).unwrap_or(Timestamp::MAX)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.begin().to_rfc3339().get(..10).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_and_printed() {
        let at: Timestamp = "2026-11-16T23:59:30Z".parse().unwrap();
        assert_eq!(Day::of(at).to_string(), "2026-11-16");
        assert_eq!(Day::parse("2026-11-16"), Some(Day::of(at)));
        assert_eq!(Day::of(at).left(at), Duration::from_secs(30));
        assert!(Day::parse("2026-11-17").unwrap() > Day::of(at));
        for nonsense in ["", "now", "2026-13-01", "2026-1-1", "3d ago", "20261116000000"] {
            assert_eq!(Day::parse(nonsense), None, "{nonsense}");
        }
    }
}
