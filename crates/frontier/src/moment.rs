//! Moments as the store counts them: minutes since 1970.

use base::Timestamp;
use sat::Minute;

/// The minute of a moment.
pub(crate) fn minute(at: Timestamp) -> Minute {
    let minutes = at.as_seconds().max(0) / 60;
    Minute(u32::try_from(minutes).unwrap_or(u32::MAX).min(Minute::MAX.0))
}

/// The first minute that does not begin before a moment, so that a page due then is not returned too early.
pub(crate) fn minute_from(at: Timestamp) -> Minute {
    let floor = minute(at);
    if moment(floor) < at { Minute((floor.0 + 1).min(Minute::MAX.0)) } else { floor }
}

/// The beginning of a minute.
pub(crate) fn moment(minute: Minute) -> Timestamp {
    Timestamp::from_seconds(i64::from(minute.0) * 60).unwrap_or(Timestamp::MAX)
}

/// Whole seconds since 1970.
pub(crate) fn seconds(at: Timestamp) -> u64 {
    u64::try_from(at.as_seconds()).unwrap_or(0)
}
/// The moment `seconds` after 1970.
pub(crate) fn at_seconds(seconds: u64) -> Timestamp {
    i64::try_from(seconds).ok().and_then(Timestamp::from_seconds).unwrap_or(Timestamp::MAX)
}
