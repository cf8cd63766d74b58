//! Dates: `YYYY-MM-DDThh:mm:ssZ` in 1.0; in 1.1 any precision of the W3C's profile of ISO 8601, from the year to
//! nine digits of a second.

use super::clause::Edition;
use super::report::Severity;

/// Checks that `value` is a date; otherwise returns severity and reason.
pub(super) fn check(value: &str, edition: Edition) -> Result<(), (Severity, &'static str)> {
    let date = Date::read(value)
        .ok_or((Severity::Error, "is not a date; expected the form `2026-03-31T09:00:00Z`"))?;
    date.check_ranges().map_err(|what| (Severity::Error, what))?;
    match (date.zone, date.precision) {
        (Zone::Other, _) => Err((Severity::Error, "is not in UTC; expected `Z` at its end")),
        (_, Precision::Day | Precision::Minute) if edition == Edition::V1_0 => {
            Err((Severity::Error, "is not given to the second, as 1.0 requires"))
        }
        (Zone::Offset, _) => Err((Severity::Advice, "writes UTC as an offset; expected `Z`")),
        (_, Precision::Fraction) if edition == Edition::V1_0 => {
            Err((Severity::Advice, "has a fraction of a second, which 1.0 does not know"))
        }
        _ => Ok(()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Precision {
    /// Or month, or year.
    Day,
    Minute,
    Second,
    Fraction,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Zone {
    /// None, or `Z`.
    Utc,
    /// `+00:00`.
    Offset,
    Other,
}

struct Date {
    year: u32,
    month: u32,
    day: u32,
    time: [u32; 3],
    precision: Precision,
    zone: Zone,
}

impl Date {
    fn read(value: &str) -> Option<Self> {
        let mut rest = Rest(value.as_bytes());
        let mut date = Self {
            year: rest.digits(4)?,
            month: 1,
            day: 1,
            time: [0; 3],
            precision: Precision::Day,
            zone: Zone::Utc,
        };
        if rest.is_over() {
            return Some(date);
        }
        date.month = rest.after(b'-')?.digits(2)?;
        if rest.is_over() {
            return Some(date);
        }
        date.day = rest.after(b'-')?.digits(2)?;
        if rest.is_over() {
            return Some(date);
        }
        let hour = rest.after(b'T')?.digits(2)?;
        let minute = rest.after(b':')?.digits(2)?;
        date.time = [hour, minute, 0];
        date.precision = Precision::Minute;
        if rest.after(b':').is_some() {
            date.time = [hour, minute, rest.digits(2)?];
            date.precision = Precision::Second;
            if rest.after(b'.').is_some() {
                date.precision = rest.fraction()?;
            }
        }
        date.zone = rest.zone()?;
        Some(date)
    }

    fn check_ranges(&self) -> Result<(), &'static str> {
        let [hour, minute, second] = self.time;
        if !(1..=12).contains(&self.month) || !(1..=days(self.year, self.month)).contains(&self.day) {
            return Err("is not a day of the calendar");
        }
        if hour > 23 || minute > 59 || second > 59 {
            return Err("is not a time of day; expected `00:00:00` to `23:59:59`");
        }
        Ok(())
    }
}

fn days(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn is_over(&self) -> bool {
        self.0.is_empty()
    }
    fn after(&mut self, byte: u8) -> Option<&mut Self> {
        self.0 = self.0.strip_prefix(&[byte])?;
        Some(self)
    }
    fn digits(&mut self, count: usize) -> Option<u32> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        let digits = Some(digits).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    }
    /// One to nine digits.
    fn fraction(&mut self) -> Option<Precision> {
        let count = self.0.iter().take_while(|b| b.is_ascii_digit()).count();
        self.0 = self.0.get(count..)?;
        (1..=9).contains(&count).then_some(Precision::Fraction)
    }
    fn zone(&mut self) -> Option<Zone> {
        match *self.0 {
            [b'Z'] => Some(Zone::Utc),
            [b'+' | b'-', b'0', b'0', b':', b'0', b'0'] => Some(Zone::Offset),
            [b'+' | b'-', a, b, b':', c, d] if [a, b, c, d].iter().all(u8::is_ascii_digit) => {
                Some(Zone::Other)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Edition::{V1_0, V1_1};
    use Severity::{Advice, Error};

    #[track_caller]
    fn check_both(value: &str, in_1_0: Option<Severity>, in_1_1: Option<Severity>) {
        let severity = |edition| check(value, edition).err().map(|(severity, _)| severity);
        assert_eq!((severity(V1_0), severity(V1_1)), (in_1_0, in_1_1), "{value}");
    }

    #[test]
    fn the_precision_depends_on_the_edition() {
        check_both("2026-03-31T09:00:00Z", None, None);
        for fraction in ["1", "123", "123456789"] {
            check_both(&format!("2026-03-31T09:00:00.{fraction}Z"), Some(Advice), None);
        }
        for reduced in ["2026", "2026-03", "2026-03-31", "2026-03-31T09:00Z"] {
            check_both(reduced, Some(Error), None);
        }
        check_both("2026-03-31T09:00:00+00:00", Some(Advice), Some(Advice));
    }

    #[test]
    fn days_and_times_must_exist() {
        for possible in ["2024-02-29T00:00:00Z", "2000-02-29T23:59:59Z", "1996-12-31T12:00:00Z"] {
            check_both(possible, None, None);
        }
        for impossible in [
            "2023-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2024-02-30T00:00:00Z",
            "2024-04-31T00:00:00Z",
            "2024-00-10T00:00:00Z",
            "2024-13-10T00:00:00Z",
            "2024-01-00T00:00:00Z",
            "2024-01-32T00:00:00Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:60:00Z",
            "2024-01-01T00:00:60Z",
        ] {
            check_both(impossible, Some(Error), Some(Error));
        }
    }

    #[test]
    fn other_forms_are_not_dates() {
        for wrong in [
            "",
            "yesterday",
            "20240101000000",
            "2024-1-1T00:00:00Z",
            "24-01-01T00:00:00Z",
            "2024-01-01 00:00:00Z",
            "2024-01-01T00:00:00",
            "2024-01-01T00:00:00z",
            "2024-01-01t00:00:00Z",
            "2024-01-01T00:00:00.Z",
            "2024-01-01T00:00:00.1234567890Z",
            "2024-01-01T00:00:00,5Z",
            "2024-01-01T00:00:00+0000",
            "2024-01-01T00:00:00+09:00",
            "2024-01-01T00:00:00ZZ",
            "2024-01-01T00Z",
            "2024-01-01Z",
            "2024-01-01T00:00",
            "2024-",
            "+024-01-01T00:00:00Z",
            "2008-10-294T05:21:46-0700",
            "Mon, 01 Jan 2024 00:00:00 GMT",
        ] {
            check_both(wrong, Some(Error), Some(Error));
        }
    }
}
