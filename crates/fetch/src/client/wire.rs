//! Reading and writing within the time limits (H6).
//!
//! **Invariant:** every wait is bounded by four limits: the first byte, the time between bytes, the average rate and the
//! whole visit. The earliest one applies.

use super::connect::{Stream, cause};
use super::{ExchangeLimits, Trouble, Visit};
use base::door::{Cause, Phase};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};

/// The minimum and maximum size of a read buffer.
const READ_BYTES: usize = 16 * 1024;
const READ_BYTES_MAX: usize = 256 * 1024;

/// A connection during one exchange.
pub(super) struct Wire<'a> {
    stream: Stream,
    limits: &'a ExchangeLimits,
    visit_ends: Instant,
    /// The time limit for the first byte, a proxy's delay included.
    first_byte_time_max: Duration,
    sent: Instant,
    first_byte: Option<Instant>,
    received: u64,
}

/// The result of a read.
pub(super) enum Got {
    /// More bytes.
    More,
    /// The other side closed cleanly.
    End,
    /// The connection broke.
    Broken(Cause),
    /// No bytes, or too few, arrived in this time.
    TimeOut(Duration),
}

impl<'a> Wire<'a> {
    pub(super) fn new(stream: Stream, limits: &'a ExchangeLimits, visit: &Visit<'_>) -> Self {
        Self {
            stream,
            limits,
            visit_ends: visit.ends,
            first_byte_time_max: visit.first_byte_time_max,
            sent: Instant::now(),
            first_byte: None,
            received: 0,
        }
    }

    pub(super) async fn send(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let limit = self.limits.idle_time_max;
        let ends = (Instant::now() + limit).min(self.visit_ends);
        let io = self.stream.io();
        let sending = async {
            io.write_all(bytes).await?;
            io.flush().await
        };
        let result = timeout_at(ends, sending).await;
        self.sent = Instant::now();
        match result {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Trouble { lost: true, ..Trouble::new(Phase::Send, cause(&error)) }),
            Err(_) => Err(Trouble::new(Phase::Send, Cause::TimeOut(limit))),
        }
    }

    /// Appends the next bytes to `into`; `expected` is their number, if known.
    pub(super) async fn more(&mut self, into: &mut Vec<u8>, expected: usize) -> Got {
        into.reserve(expected.clamp(READ_BYTES, READ_BYTES_MAX));
        let (ends, limit) = self.patience();
        match timeout_at(ends, self.stream.io().read_buf(into)).await {
            Ok(Ok(0)) => Got::End,
            Ok(Ok(count)) => {
                self.received += count as u64;
                self.first_byte.get_or_insert_with(Instant::now);
                Got::More
            }
            Ok(Err(error)) => Got::Broken(cause(&error)),
            Err(_) => Got::TimeOut(limit),
        }
    }

    /// The deadline of the next byte, and the limit that sets it.
    fn patience(&self) -> (Instant, Duration) {
        let limits = self.limits;
        let visit = (self.visit_ends, limits.visit_time_max);
        let Some(first_byte) = self.first_byte else {
            return earlier(visit, (self.sent + self.first_byte_time_max, self.first_byte_time_max));
        };
        let idle = (Instant::now() + limits.idle_time_max, limits.idle_time_max);
        // The time at which the average since the first byte falls below the minimum rate if nothing arrives.
        let paid_for = self.received.checked_div(limits.bytes_per_second_min).map(Duration::from_secs);
        let slow =
            paid_for.map_or(visit, |time| (first_byte + time.max(limits.slow_grace), limits.slow_grace));
        earlier(visit, earlier(idle, slow))
    }

    /// The time until the first byte; `None` if none arrived.
    pub(super) fn first_byte_time(&self) -> Duration {
        self.first_byte.map_or(Duration::ZERO, |at| at.saturating_duration_since(self.sent))
    }

    /// Whether nothing has been received yet.
    pub(super) fn is_untouched(&self) -> bool {
        self.first_byte.is_none()
    }

    pub(super) fn into_stream(self) -> Stream {
        self.stream
    }
}

fn earlier(a: (Instant, Duration), b: (Instant, Duration)) -> (Instant, Duration) {
    if a.0 <= b.0 { a } else { b }
}
