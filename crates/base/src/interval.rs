//! Lengths of time, and half-open periods between two moments.

use crate::Timestamp;
use crate::limits::{REVISIT_INTERVAL_MAX, REVISIT_INTERVAL_MIN};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

const SECOND_MICROS: u64 = 1_000_000;
const UNITS: [(&str, u64); 8] = [
    ("w", 7 * 86_400 * SECOND_MICROS),
    ("d", 86_400 * SECOND_MICROS),
    ("h", 3_600 * SECOND_MICROS),
    ("min", 60 * SECOND_MICROS),
    ("m", 60 * SECOND_MICROS),
    ("s", SECOND_MICROS),
    ("ms", 1_000),
    ("us", 1),
];

/// A length of time in microseconds, never negative.
///
/// Arithmetic saturates: an interval that would leave the range is the longest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval(u64);

impl Interval {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest interval: from the first moment to the last.
    pub const MAX: Self = Self(Timestamp::MAX.as_micros().unsigned_abs());

    /// An interval of whole microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        if micros > Self::MAX.0 { Self::MAX } else { Self(micros) }
    }
    /// An interval of whole milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self::from_micros(millis.saturating_mul(1_000))
    }
    /// An interval of whole seconds.
    pub const fn from_seconds(seconds: u64) -> Self {
        Self::from_micros(seconds.saturating_mul(SECOND_MICROS))
    }
    /// An interval of whole minutes.
    pub const fn from_minutes(minutes: u64) -> Self {
        Self::from_seconds(minutes.saturating_mul(60))
    }
    /// An interval of whole hours.
    pub const fn from_hours(hours: u64) -> Self {
        Self::from_minutes(hours.saturating_mul(60))
    }
    /// An interval of whole days.
    pub const fn from_days(days: u64) -> Self {
        Self::from_hours(days.saturating_mul(24))
    }

    /// Whole microseconds.
    pub const fn as_micros(self) -> u64 {
        self.0
    }
    /// Whole seconds, rounded down.
    pub const fn as_seconds(self) -> u64 {
        self.0 / SECOND_MICROS
    }
    /// Seconds with their fraction.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a length for reading and estimating; 2^53 µs is 285 years"
    )]
    pub fn as_seconds_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The sum, at most [`Interval::MAX`].
    pub const fn plus(self, other: Self) -> Self {
        Self::from_micros(self.0.saturating_add(other.0))
    }
    /// The difference, at least [`Interval::ZERO`].
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// The interval scaled by `factor`; NaN and negative factors count as zero.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a float to integer cast saturates, which is what is wanted"
    )]
    pub fn times(self, factor: f64) -> Self {
        Self::from_micros((self.0 as f64 * factor) as u64)
    }
    /// The nearest interval at which a page may be visited again.
    pub fn within_revisit_bounds(self) -> Self {
        self.clamp(REVISIT_INTERVAL_MIN, REVISIT_INTERVAL_MAX)
    }
}

impl From<Interval> for Duration {
    fn from(interval: Interval) -> Self {
        Self::from_micros(interval.0)
    }
}

impl From<Duration> for Interval {
    fn from(duration: Duration) -> Self {
        Self::from_micros(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    }
}

/// Prints the two largest units, as in `3d4h`, `1h30m`, `250ms`.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        let mut printed = 0;
        for (name, micros) in UNITS.into_iter().filter(|(name, _)| !matches!(*name, "w" | "min")) {
            let count = rest / micros;
            rest %= micros;
            if count > 0 {
                write!(f, "{count}{name}")?;
                printed += 1;
            }
            if printed == 2 || (printed == 1 && count == 0) {
                return Ok(());
            }
        }
        if printed == 0 { f.write_str("0s") } else { Ok(()) }
    }
}

/// Why a text is not an interval.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a length of time; write numbers with units, such as `30s`, `10m`, `1h30m`, `3d` or `2w`"
)]
pub struct IntervalError(String);

impl FromStr for Interval {
    type Err = IntervalError;

    fn from_str(text: &str) -> Result<Self, IntervalError> {
        let refuse = || IntervalError(text.to_owned());
        let mut rest = text.trim();
        let mut total = 0_u64;
        if rest.is_empty() {
            return Err(refuse());
        }
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(refuse)?;
            let (number, tail) = rest.split_at(digits);
            let end = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
            let (unit, tail) = tail.split_at(end);
            let (_, micros) = UNITS.into_iter().find(|(name, _)| *name == unit).ok_or_else(refuse)?;
            let number: u64 = number.parse().map_err(|_| refuse())?;
            let part = number.checked_mul(micros).ok_or_else(refuse)?;
            total = total.checked_add(part).ok_or_else(refuse)?;
            rest = tail;
        }
        if total > Self::MAX.0 { Err(refuse()) } else { Ok(Self(total)) }
    }
}

/// A half-open period `[from, to)`. A period without an end lasts until [`Timestamp::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Period {
    from: Timestamp,
    to: Timestamp,
}

impl Period {
    /// The period from `from` until just before `to`; `None` if that is empty.
    pub fn new(from: Timestamp, to: Timestamp) -> Option<Self> {
        (from < to).then_some(Self { from, to })
    }
    /// The first moment of the period.
    pub fn from(self) -> Timestamp {
        self.from
    }
    /// The first moment after the period.
    pub fn to(self) -> Timestamp {
        self.to
    }
    /// Whether `at` lies in the period.
    pub fn contains(self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }
    /// Reads `FROM..TO`, each as [`Timestamp::parse`] reads it; either may be left out.
    pub fn parse(text: &str, now: Timestamp) -> Result<Self, PeriodError> {
        let (from, to) = text.split_once("..").ok_or_else(|| PeriodError::NoDots(text.to_owned()))?;
        let from = if from.is_empty() { Timestamp::MIN } else { Timestamp::parse(from, now)? };
        let to = if to.is_empty() { Timestamp::MAX } else { Timestamp::parse(to, now)? };
        Self::new(from, to).ok_or_else(|| PeriodError::Empty(text.to_owned()))
    }
}

/// Why a text is not a period.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeriodError {
    /// The two dots are missing.
    #[error("`{0}` is not a period; write `FROM..TO`, such as `2026-03-01..2026-04-01`")]
    NoDots(String),
    /// The end does not come after the beginning.
    #[error("the period `{0}` is empty: its end must come after its beginning")]
    Empty(String),
    /// One end cannot be read.
    #[error(transparent)]
    Time(#[from] crate::time::TimeError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, seconds: u64, printed: &str) {
        let interval: Interval = text.parse().unwrap();
        assert_eq!((interval.as_seconds(), interval.to_string().as_str()), (seconds, printed));
    }

    #[test]
    fn intervals_are_read_and_printed() {
        check("10s", 10, "10s");
        check("90s", 90, "1m30s");
        check("1h30m", 5_400, "1h30m");
        check("2w", 14 * 86_400, "14d");
        check("400d", 400 * 86_400, "400d");
        check("3d4h5m", 3 * 86_400 + 4 * 3_600 + 300, "3d4h");
        check("1d5m", 86_400 + 300, "1d");
        check("250ms", 0, "250ms");
        check("0s", 0, "0s");
    }

    #[test]
    fn other_texts_are_not_intervals() {
        for text in ["", "10", "s", "-1s", "1x", "1s2", "99999999999999999999s", "500000w", "1.5h", "１s"] {
            assert!(text.parse::<Interval>().is_err(), "{text}");
        }
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Interval::MAX.plus(Interval::from_days(1)), Interval::MAX);
        assert_eq!(Interval::from_days(1).minus(Interval::from_days(2)), Interval::ZERO);
        assert_eq!(Interval::from_days(1).times(f64::INFINITY), Interval::MAX);
        assert_eq!(Interval::from_days(1).times(f64::NAN), Interval::ZERO);
        assert_eq!(Interval::from_days(9_000).within_revisit_bounds(), REVISIT_INTERVAL_MAX);
        assert_eq!(Interval::ZERO.within_revisit_bounds(), REVISIT_INTERVAL_MIN);
    }

    #[test]
    fn periods_are_half_open_and_never_empty() {
        let now = Timestamp::from_seconds(1_800_000_000).unwrap();
        let march = Period::parse("2026-03-01..2026-04-01", now).unwrap();
        assert!(march.contains("2026-03-01T00:00:00Z".parse().unwrap()));
        assert!(!march.contains("2026-04-01T00:00:00Z".parse().unwrap()));
        assert_eq!(Period::parse("2026-03-01..", now).unwrap().to(), Timestamp::MAX);
        assert!(matches!(Period::parse("2026-03-01..2026-03-01", now), Err(PeriodError::Empty(_))));
        assert!(matches!(Period::parse("2026-03-01", now), Err(PeriodError::NoDots(_))));
    }
}
