//! Dates as feeds and sitemaps write them: RFC 3339 and its shorter forms, RFC 822 and its longer ones.
//!
//! **Invariant:** the text is bounded, and only years from 1995 to 2100 are believed (M9).

use base::Timestamp;
use base::limits::{WEB_YEAR_MAX, WEB_YEAR_MIN};

/// Longer texts are not dates.
const DATE_BYTES_MAX: usize = 64;

/// Parses a date; without a zone it is UTC, without a time of day midnight.
pub(crate) fn read(text: &str) -> Option<Timestamp> {
    let text = text.trim_ascii();
    if text.len() > DATE_BYTES_MAX || !text.is_ascii() {
        return None;
    }
    let begins_with_year = text.len() >= 4 && text.bytes().take(4).all(|byte| byte.is_ascii_digit());
    let parts = if begins_with_year { numbers(text)? } else { words(text)? };
    parts.moment()
}

/// A date in parts.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    year: i64,
    month: i64,
    day: i64,
    seconds: i64,
    /// How far the zone is ahead of UTC, in seconds.
    ahead: i64,
}

impl Parts {
    fn moment(self) -> Option<Timestamp> {
        let Self { year, month, day, seconds, ahead } = self;
        let is_believed = (i64::from(WEB_YEAR_MIN)..=i64::from(WEB_YEAR_MAX)).contains(&year);
        if !is_believed || !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
            return None;
        }
        Timestamp::from_seconds(days_since_1970(year, month, day) * 86_400 + seconds - ahead)
    }
}

/// `2026-03-31T09:00:00+09:00`, or a prefix of it; a space may replace the `T`.
fn numbers(text: &str) -> Option<Parts> {
    let date_end = text.find(['T', 't', ' ']).unwrap_or(text.len());
    let (date, rest) = text.split_at_checked(date_end)?;
    let mut fields = date.split(['-', '/', '.']).map(number);
    let year = fields.next()??;
    let month = fields.next().unwrap_or(Some(1))?;
    let day = fields.next().unwrap_or(Some(1))?;
    let rest = rest.get(1..).unwrap_or_default().trim_ascii();
    if rest.is_empty() {
        return Some(Parts { year, month, day, ..Parts::default() });
    }
    let zone_at = rest.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(rest.len());
    let (time, zone) = rest.split_at_checked(zone_at)?;
    let ahead = if zone.is_empty() { 0 } else { zone_offset(zone.trim_ascii())? };
    Some(Parts { year, month, day, seconds: clock(time)?, ahead })
}

/// `Tue, 31 Mar 2026 09:00:00 GMT` with its words in any order; the weekday and the zone may be missing.
fn words(text: &str) -> Option<Parts> {
    let (mut year, mut month, mut day, mut parts) = (None, None, None, Parts::default());
    for word in text.split([' ', ',', '\t', '(', ')']).filter(|word| !word.is_empty()) {
        if word.contains(':') && !word.starts_with(['+', '-']) {
            parts.seconds = clock(word)?;
        } else if word.eq_ignore_ascii_case("pm") && parts.seconds < 43_200 {
            parts.seconds += 43_200;
        } else if let Some(found) = month_named(word) {
            month = Some(found);
        } else if let Some(value) = number(word) {
            if day.is_none() && word.len() <= 2 {
                day = Some(value);
            } else {
                year = Some(full_year(word, value));
            }
        } else if let [d, m, y] = *word.split('-').collect::<Vec<_>>() {
            (day, month, year) = (number(d), month_named(m), number(y).map(|value| full_year(y, value)));
        } else if let Some(ahead) = zone_offset(word) {
            parts.ahead = ahead;
        }
    }
    Some(Parts { year: year?, month: month?, day: day?, ..parts })
}

fn number(text: &str) -> Option<i64> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

fn full_year(text: &str, value: i64) -> i64 {
    match (text.len(), value) {
        (2, 0..70) => 2000 + value,
        (2, _) => 1900 + value,
        _ => value,
    }
}

/// The second of the day; fractions are ignored, and a leap second is the one before.
fn clock(text: &str) -> Option<i64> {
    let mut parts = text.split('.').next()?.split(':').map(number);
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().unwrap_or(Some(0))?;
    let fits = hour <= 24 && minute < 60 && second <= 60;
    fits.then(|| hour * 3_600 + minute * 60 + second.min(59))
}

/// The month of a name, in full or its first three letters.
fn month_named(word: &str) -> Option<i64> {
    const MONTHS: &str = "jan feb mar apr may jun jul aug sep oct nov dec";
    let start = word.get(..3).filter(|_| word.bytes().all(|byte| byte.is_ascii_alphabetic()))?;
    let start = start.to_ascii_lowercase();
    let place = MONTHS.split(' ').position(|month| month == start)?;
    i64::try_from(place + 1).ok()
}

/// How far a zone is ahead of UTC.
fn zone_offset(zone: &str) -> Option<i64> {
    if let Some(digits) = zone.strip_prefix('+') {
        return hours_and_minutes(digits);
    }
    if let Some(digits) = zone.strip_prefix('-') {
        return hours_and_minutes(digits).map(|ahead| -ahead);
    }
    let hours = match zone.to_ascii_uppercase().as_str() {
        "Z" | "GMT" | "UTC" | "UT" | "WET" => 0,
        "BST" | "CET" | "WEST" => 1,
        "CEST" | "EET" => 2,
        "EEST" | "MSK" => 3,
        "JST" | "KST" => 9,
        "EDT" => -4,
        "EST" | "CDT" => -5,
        "CST" | "MDT" => -6,
        "MST" | "PDT" => -7,
        "PST" => -8,
        _ => return None,
    };
    Some(hours * 3_600)
}

fn hours_and_minutes(digits: &str) -> Option<i64> {
    let digits = digits.replace(':', "");
    let value = number(&digits)?;
    let minutes = if digits.len() <= 2 { value * 60 } else { value / 100 * 60 + value % 100 };
    (minutes <= 24 * 60).then_some(minutes * 60)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days from 1970-01-01 to a day of the Gregorian calendar, counted in years that begin in March.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let months_since_march = (month + 9) % 12;
    let day_of_year = (153 * months_since_march + 2) / 5 + day - 1;
    365 * year + year / 4 - year / 100 + year / 400 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(read(text).map(Timestamp::to_rfc3339).unwrap_or_default(), expected, "{text}");
    }

    #[test]
    fn one_moment_is_written_in_many_ways() {
        for text in [
            "2026-03-31T09:00:00Z",
            "2026-03-31T18:00:00+09:00",
            "2026-03-31T18:00+0900",
            " 2026-03-31T09:00:00.123Z\n",
            "2026-03-31 09:00:00",
            "2026-03-31 09:00:00 UTC",
            "2026/03/31 18:00 JST",
            "Tue, 31 Mar 2026 09:00:00 GMT",
            "Tue, 31 Mar 2026 18:00:00 +0900",
            "31 Mar 2026 04:00 EST",
            "Tuesday, 31-Mar-26 09:00:00 UTC",
            "Tue Mar 31 09:00:00 2026",
            "March 31, 2026 9:00 AM",
            "Tue, 31 March 2026 01:00:00 -08:00",
        ] {
            check(text, "2026-03-31T09:00:00Z");
        }
        check("2026-03-31", "2026-03-31T00:00:00Z");
        check("2026-03", "2026-03-01T00:00:00Z");
        check("2026", "2026-01-01T00:00:00Z");
        check("2024-02-29T24:00:00Z", "2024-03-01T00:00:00Z");
        check("Mon, 1 Jan 2026 3:05 PM", "2026-01-01T15:05:00Z");
    }

    #[test]
    fn what_is_no_date_of_the_web_is_none() {
        for text in [
            "",
            "yesterday",
            "1994-12-31",
            "2101-01-01",
            "2026-13-01",
            "2026-02-29",
            "2026-00-01",
            "20260331",
            "Tue, 32 Mar 2026",
            "Mar 2026",
            "2026-03-31T25:00Z",
            "2026-03-31T09:00:00 nowhere",
            "２０２６",
            "1:2:3:4",
            "99999-01-01",
        ] {
            check(text, "");
        }
        check(&"2026-03-31 ".repeat(10), "");
    }

    #[test]
    fn every_day_is_counted_as_the_calendar_of_the_house_does() {
        for day in (9_131..47_847).step_by(7) {
            let moment = Timestamp::from_seconds(day * 86_400 + 3_661).unwrap();
            check(&moment.to_rfc3339(), &moment.to_rfc3339());
            check(&moment.to_http_date(), &moment.to_rfc3339());
        }
    }
}
