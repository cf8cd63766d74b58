//! Times and periods as written on the command line.
//!
//! `now` and ages such as `3d ago` count from the current time of the data directory, which for the simulated web is not
//! that of this machine. So a time is kept as written until the directory is known.

use crate::commands::Context;
use anyhow::Context as _;
use base::clock::{Clock as _, RealClock};
use base::interval::PeriodError;
use base::time::TimeError;
use base::{Period, Timestamp};
use std::marker::PhantomData;

/// The last valid time; [`Timestamp::MAX`] itself is infinity.
pub(crate) fn latest() -> Timestamp {
    Timestamp::MAX.minus(base::Interval::from_micros(1))
}

/// All of time.
pub(crate) fn always() -> Period {
    Period::new(Timestamp::MIN, Timestamp::MAX).expect("time has a beginning and an end")
}

/// A moment or a period as written, already checked.
#[derive(Clone, Debug)]
pub(crate) struct Said<T> {
    text: String,
    kind: PhantomData<T>,
}

impl<T> Said<T> {
    fn new(text: &str) -> Self {
        Self { text: text.to_owned(), kind: PhantomData }
    }
    /// The text.
    pub(crate) fn as_written(&self) -> &str {
        &self.text
    }
    /// Whether it is relative to the current time.
    pub(crate) fn is_relative(&self) -> bool {
        self.text.contains("now") || self.text.contains("ago")
    }
    /// The current time for it, which is reported if it is not that of this machine.
    fn present(&self, context: &Context) -> anyhow::Result<Timestamp> {
        if self.is_relative() { context.tell_present() } else { Ok(machine()) }
    }
}

impl Said<Timestamp> {
    /// Accepts a valid moment.
    pub(crate) fn moment(text: &str) -> Result<Self, TimeError> {
        Timestamp::parse(text, machine()).map(|_| Self::new(text))
    }
    /// The moment, by the current time of the data directory.
    pub(crate) fn read(&self, context: &Context) -> anyhow::Result<Timestamp> {
        self.read_at(self.present(context)?)
    }
    /// The moment, by a given current time.
    pub(crate) fn read_at(&self, present: Timestamp) -> anyhow::Result<Timestamp> {
        Timestamp::parse(&self.text, present).context("cannot read the time")
    }
}

impl Said<Period> {
    /// Accepts a valid period `FROM..TO`.
    pub(crate) fn period(text: &str) -> Result<Self, PeriodError> {
        match Period::parse(text, machine()) {
            // By another current time it may not be empty.
            Ok(_) | Err(PeriodError::Empty(_)) if Self::new(text).is_relative() => Ok(Self::new(text)),
            other => other.map(|_| Self::new(text)),
        }
    }
    /// The period, by a given current time.
    pub(crate) fn read_at(&self, present: Timestamp) -> anyhow::Result<Period> {
        Period::parse(&self.text, present).context("cannot read the period")
    }
}

/// The current time of this machine.
fn machine() -> Timestamp {
    RealClock::start().now()
}

/// The end of a validity in words.
pub(crate) fn until(validity: Period) -> String {
    if validity.to() == Timestamp::MAX {
        "still valid".to_owned()
    } else {
        format!("until {}", validity.to())
    }
}

/// The end of a validity for programs: `None` is infinity.
pub(crate) fn end(validity: Period) -> Option<String> {
    (validity.to() != Timestamp::MAX).then(|| validity.to().to_rfc3339())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_count_from_the_present_that_is_given() {
        let present: Timestamp = "2030-01-10T00:00:00Z".parse().unwrap();
        for (text, expected) in [
            ("now", "2030-01-10T00:00:00Z"),
            ("3d ago", "2030-01-07T00:00:00Z"),
            ("2026-03-01", "2026-03-01T00:00:00Z"),
        ] {
            let said = Said::moment(text).unwrap();
            assert_eq!(said.read_at(present).unwrap().to_rfc3339(), expected);
            assert_eq!(said.is_relative(), !text.starts_with("2026"));
        }
        let period = Said::period("2030-01-01..now").unwrap().read_at(present).unwrap();
        assert_eq!(period.to(), present);
        assert!(Said::moment("soon").is_err() && Said::period("now").is_err());
        assert!(Said::period("2026-03-02..2026-03-01").is_err());
    }
}
