//! Times and periods as people write them on the command line.

use base::clock::{Clock as _, RealClock};
use base::interval::PeriodError;
use base::time::TimeError;
use base::{Period, Timestamp};

/// The last moment at which something can be seen; [`Timestamp::MAX`] itself is infinity.
pub(crate) fn latest() -> Timestamp {
    Timestamp::MAX.minus(base::Interval::from_micros(1))
}

/// All of time.
pub(crate) fn always() -> Period {
    Period::new(Timestamp::MIN, Timestamp::MAX).expect("time has a beginning and an end")
}

/// Reads a moment; ages count from now.
pub(crate) fn moment(text: &str) -> Result<Timestamp, TimeError> {
    Timestamp::parse(text, RealClock::start().now())
}

/// Reads a period `FROM..TO`; ages count from now.
pub(crate) fn period(text: &str) -> Result<Period, PeriodError> {
    Period::parse(text, RealClock::start().now())
}

/// The end of a validity in words.
pub(crate) fn until(validity: Period) -> String {
    if validity.to() == Timestamp::MAX {
        "still valid".to_owned()
    } else {
        format!("until {}", validity.to())
    }
}

/// The end of a validity for programs: nothing is for ever.
pub(crate) fn end(validity: Period) -> Option<String> {
    (validity.to() != Timestamp::MAX).then(|| validity.to().to_rfc3339())
}
