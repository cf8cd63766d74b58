//! Moments, and how they are written.
//!
//! **Invariant:** every [`Timestamp`] lies between [`Timestamp::MIN`] (1970) and [`Timestamp::MAX`] (the end of
//! 9999), so it prints in every format that is used here. `MAX` also stands for "never ends" (D7).

use crate::Interval;
use crate::limits::{WEB_YEAR_MAX, WEB_YEAR_MIN};
use jiff::SignedDuration;
use jiff::civil::{Date, DateTime};
use std::fmt;
use std::str::FromStr;

/// A moment in microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

const MICROS: i64 = 1_000_000;
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

impl Timestamp {
    /// The first moment there is.
    pub const MIN: Self = Self(0);
    /// The last moment there is; as an end it means "forever".
    pub const MAX: Self = Self(253_402_300_799 * MICROS + 999_999);

    /// The moment this many microseconds after 1970, if it is in range.
    pub const fn from_micros(micros: i64) -> Option<Self> {
        if micros >= Self::MIN.0 && micros <= Self::MAX.0 { Some(Self(micros)) } else { None }
    }
    /// The moment this many seconds after 1970, if it is in range.
    pub const fn from_seconds(seconds: i64) -> Option<Self> {
        match seconds.checked_mul(MICROS) {
            Some(micros) => Self::from_micros(micros),
            None => None,
        }
    }
    /// Microseconds since 1970.
    pub const fn as_micros(self) -> i64 {
        self.0
    }
    /// Whole seconds since 1970.
    pub const fn as_seconds(self) -> i64 {
        self.0 / MICROS
    }
    /// Whole minutes since 1970, the unit of the schedule.
    pub const fn as_minutes(self) -> i64 {
        self.as_seconds() / 60
    }
    /// The moment `interval` later, at most [`Timestamp::MAX`].
    pub fn plus(self, interval: Interval) -> Self {
        let micros = i64::try_from(interval.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(micros).min(Self::MAX.0))
    }
    /// The moment `interval` earlier, at least [`Timestamp::MIN`].
    pub fn minus(self, interval: Interval) -> Self {
        let micros = i64::try_from(interval.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(micros).max(Self::MIN.0))
    }
    /// The time from `earlier` to this moment; zero if that comes later.
    pub fn since(self, earlier: Self) -> Interval {
        Interval::from_micros(u64::try_from(self.0 - earlier.0).unwrap_or(0))
    }

    /// Reads what people write: RFC 3339, a date, a 14-digit stamp, `now`, or an age such as `3d ago`.
    pub fn parse(text: &str, now: Self) -> Result<Self, TimeError> {
        let text = text.trim();
        if text == "now" {
            return Ok(now);
        }
        if let Some(age) = text.strip_suffix("ago") {
            return age.trim().parse().map(|age| now.minus(age)).map_err(|_| TimeError(text.to_owned()));
        }
        parse_stamp(text).or_else(|| parse_date(text)).map_or_else(|| text.parse(), Ok)
    }
    /// Reads a date field of HTTP in any of its three forms; years outside 1995–2100 are rejected (M9).
    pub fn parse_http_date(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() > 64 || !text.is_ascii() {
            return None;
        }
        let moment = parse_http_words(text)?;
        (WEB_YEAR_MIN..=WEB_YEAR_MAX).contains(&moment.civil().year()).then_some(moment)
    }

    /// RFC 3339 in UTC with a fraction only if there is one, as `WARC-Date` requires.
    pub fn to_rfc3339(self) -> String {
        let c = self.civil();
        let mut text = format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
            c.year(),
            c.month(),
            c.day(),
            c.hour(),
            c.minute(),
            c.second()
        );
        let fraction = self.0 % MICROS;
        if fraction != 0 {
            text.push_str(&format!(".{fraction:06}"));
        }
        text.push('Z');
        text
    }
    /// The 14 digits of web archives, `20260331090000`.
    pub fn to_stamp(self) -> String {
        let c = self.civil();
        format!(
            "{:04}{:02}{:02}{:02}{:02}{:02}",
            c.year(),
            c.month(),
            c.day(),
            c.hour(),
            c.minute(),
            c.second()
        )
    }
    /// The fixed-length form of HTTP, `Tue, 31 Mar 2026 09:00:00 GMT`.
    pub fn to_http_date(self) -> String {
        let c = self.civil();
        let weekday = WEEKDAYS[usize::try_from(c.weekday().to_monday_zero_offset()).unwrap_or(0)];
        let month = MONTHS[usize::try_from(c.month() - 1).unwrap_or(0)];
        format!(
            "{weekday}, {:02} {month} {:04} {:02}:{:02}:{:02} GMT",
            c.day(),
            c.year(),
            c.hour(),
            c.minute(),
            c.second()
        )
    }
    /// The calendar date and time of day in UTC.
    pub fn civil(self) -> DateTime {
        // Not by jiff's timestamp, which ends a day before the end of 9999.
        EPOCH.checked_add(SignedDuration::from_micros(self.0)).expect("the range lies inside the calendar's")
    }

    fn from_civil(civil: DateTime) -> Option<Self> {
        Self::from_micros(i64::try_from(civil.duration_since(EPOCH).as_micros()).ok()?)
    }
}

fn parse_stamp(text: &str) -> Option<Timestamp> {
    if text.len() != 14 || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part = |from: usize, to: usize| text.get(from..to)?.parse::<i16>().ok();
    let small = |from, to| i8::try_from(part(from, to)?).ok();
    let date = Date::new(part(0, 4)?, small(4, 6)?, small(6, 8)?).ok()?;
    let time = jiff::civil::Time::new(small(8, 10)?, small(10, 12)?, small(12, 14)?, 0).ok()?;
    Timestamp::from_civil(date.to_datetime(time))
}

fn parse_date(text: &str) -> Option<Timestamp> {
    if text.len() != 10 {
        return None;
    }
    let date: Date = text.parse().ok()?;
    Timestamp::from_civil(date.to_datetime(jiff::civil::Time::midnight()))
}

/// `Tue, 31 Mar 2026 09:00:00 GMT`, `Tuesday, 31-Mar-26 09:00:00 GMT`, `Tue Mar 31 09:00:00 2026`.
fn parse_http_words(text: &str) -> Option<Timestamp> {
    let words: Vec<&str> = text.split([' ', ',', '-']).filter(|w| !w.is_empty()).collect();
    let ([_, day, month, year, clock, "GMT" | "UTC" | "+0000"] | [_, month, day, clock, year]) =
        *words.as_slice()
    else {
        return None;
    };
    let month = MONTHS.iter().position(|m| m.eq_ignore_ascii_case(month))? + 1;
    let year: i16 = match (year.len(), year.parse::<i16>().ok()?) {
        (4, year) => year,
        (2, year @ 0..70) => 2000 + year,
        (2, year) => 1900 + year,
        _ => return None,
    };
    let mut parts = clock.split(':').map(|part| part.parse::<i8>().ok());
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let date = Date::new(year, i8::try_from(month).ok()?, day.parse().ok()?).ok()?;
    let time = jiff::civil::Time::new(hour, minute, second.min(59), 0).ok()?;
    Timestamp::from_civil(date.to_datetime(time))
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_rfc3339())
    }
}

/// Why a text is not a moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a time; write RFC 3339 (`2026-03-31T09:00:00Z`), a date (`2026-03-31`), \
     a 14-digit stamp (`20260331090000`) or an age (`3d ago`), between 1970 and 9999"
)]
pub struct TimeError(String);

/// Reads RFC 3339 only; people's forms are read by [`Timestamp::parse`].
impl FromStr for Timestamp {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let moment = match text.parse::<jiff::Timestamp>() {
            Ok(moment) => Self::from_micros(moment.as_microsecond()),
            Err(_) => parse_last_days(text),
        };
        moment.ok_or_else(|| TimeError(text.to_owned()))
    }
}

/// Reads the last days of 9999, which jiff's timestamps do not reach.
fn parse_last_days(text: &str) -> Option<Timestamp> {
    let civil = text.strip_suffix('Z').filter(|text| text.starts_with("9999-12-3"))?;
    Timestamp::from_civil(civil.parse().ok().filter(|_| civil.contains('T'))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_774_947_600 * MICROS); // 2026-03-31T09:00:00Z

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Timestamp::parse(text, NOW).unwrap().to_rfc3339(), expected);
    }

    #[test]
    fn people_write_times_in_many_ways() {
        check("2026-03-31T09:00:00Z", "2026-03-31T09:00:00Z");
        check("2026-03-31T18:00:00+09:00", "2026-03-31T09:00:00Z");
        check("2026-03-31T09:00:00.25Z", "2026-03-31T09:00:00.250000Z");
        check("2026-03-31", "2026-03-31T00:00:00Z");
        check("20260331090000", "2026-03-31T09:00:00Z");
        check("3d ago", "2026-03-28T09:00:00Z");
        check("90m ago", "2026-03-31T07:30:00Z");
        check("now", "2026-03-31T09:00:00Z");
    }

    #[test]
    fn other_texts_are_not_times() {
        for text in ["", "yesterday", "2026-13-01", "20261301000000", "2026-03-31T09:00", "ago", "-1d ago"] {
            assert!(Timestamp::parse(text, NOW).is_err(), "{text}");
        }
    }

    #[test]
    fn every_format_prints_the_bounds() {
        assert_eq!(Timestamp::MAX.to_rfc3339(), "9999-12-31T23:59:59.999999Z");
        assert_eq!(Timestamp::MIN.to_stamp(), "19700101000000");
        assert_eq!(NOW.to_http_date(), "Tue, 31 Mar 2026 09:00:00 GMT");
        assert_eq!(Timestamp::MAX.plus(Interval::from_days(1)), Timestamp::MAX);
        assert_eq!(Timestamp::MIN.minus(Interval::from_days(1)), Timestamp::MIN);
        assert!(Timestamp::from_micros(-1).is_none() && Timestamp::from_seconds(i64::MAX).is_none());
    }

    #[test]
    fn http_dates_have_three_forms_and_a_believable_year() {
        for text in [
            "Tue, 31 Mar 2026 09:00:00 GMT",
            "Tuesday, 31-Mar-26 09:00:00 GMT",
            "Tue Mar 31 09:00:00 2026",
            "tue, 31 mar 2026 09:00:00 UTC",
        ] {
            assert_eq!(Timestamp::parse_http_date(text), Some(NOW), "{text}");
        }
        for text in
            ["0", "-1", "", "Thu, 01 Jan 1970 00:00:00 GMT", "Tue, 31 Mar 2999 09:00:00 GMT", "31 Mar"]
        {
            assert_eq!(Timestamp::parse_http_date(text), None, "{text}");
        }
    }

    #[test]
    fn printing_and_reading_agree() {
        for micros in [0, 1, 999_999, NOW.0, NOW.0 + 123_456, Timestamp::MAX.0] {
            let moment = Timestamp(micros);
            assert_eq!(moment.to_rfc3339().parse(), Ok(moment));
        }
    }
}
