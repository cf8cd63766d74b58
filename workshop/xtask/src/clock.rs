//! The machine's clock, which the tasks read to time their steps and to know how old a table is.
#![expect(clippy::disallowed_methods, reason = "a task is run by people: it has no simulated time")]

use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, ensure};

const DAY_SECONDS: u64 = 24 * 60 * 60;

/// What `work` gives, and how long it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

/// Days from 1970-01-01 until today.
pub(crate) fn today() -> Result<i64> {
    let since =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).context("the clock is before 1970")?;
    i64::try_from(since.as_secs() / DAY_SECONDS).context("the clock is implausibly late")
}

/// Days from 1970-01-01 until `date`, written `2026-01-31`.
pub(crate) fn day(date: &str) -> Result<i64> {
    let numbers: Option<Vec<i64>> = date.split('-').map(|part| part.parse().ok()).collect();
    let Some(&[year, month, day]) = numbers.as_deref() else {
        anyhow::bail!("`{date}` is not a date like `2026-01-31`")
    };
    ensure!((1..=12).contains(&month) && (1..=31).contains(&day), "`{date}` is not a day of the calendar");
    // The year is counted from March, so that a leap day is the last of its year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Ok(year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468)
}

#[cfg(test)]
mod tests {
    use super::day;

    #[test]
    fn days_are_counted_from_1970() {
        for (date, expected) in [
            ("1970-01-01", 0),
            ("1969-12-31", -1),
            ("2000-02-29", 11_016),
            ("2000-03-01", 11_017),
            ("2024-12-31", 20_088),
            ("2025-01-01", 20_089),
        ] {
            assert_eq!(day(date).unwrap(), expected, "{date}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "2026", "2026-13-01", "2026-00-01", "2026-01-32", "yesterday", "2026-01-01-01"] {
            assert!(day(text).is_err(), "{text}");
        }
    }
}
