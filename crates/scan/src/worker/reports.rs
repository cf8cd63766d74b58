//! What a worker has to report, until the dispatcher has taken it.
//!
//! **Invariant:** reports go out whole and in their order; half a report is followed by its other half and nothing else.

use crate::wire::Report;
use std::io;
use std::os::fd::AsFd as _;
use std::time::Duration;

/// Reports are sent when this many bytes are waiting,
const ENOUGH_BYTES: usize = 16 * 1024;
/// or after this time.
pub(super) const PATIENCE: Duration = Duration::from_millis(2);
/// While this many bytes are waiting, no input is read that would produce more.
const FULL_BYTES: usize = 4 * 1024 * 1024;

/// Reports on their way.
#[derive(Debug, Default)]
pub(super) struct Reports {
    bytes: Vec<u8>,
    sent: usize,
    /// Answers among them.
    answers: usize,
    /// Since when the first of them waits.
    since: Duration,
    has_told_busy: bool,
    is_blocked: bool,
}

impl Reports {
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() >= FULL_BYTES
    }
    /// Whether the dispatcher could not take all of them at once.
    pub(super) fn is_blocked(&self) -> bool {
        self.is_blocked
    }
    pub(super) fn put(&mut self, report: &Report, now: Duration) {
        if self.bytes.is_empty() {
            self.since = now;
        }
        self.answers += usize::from(matches!(report, Report::Answered(..)));
        report.put(&mut self.bytes);
    }
    /// Answers are sent in batches, small enough that the dispatcher need not wait to send more: `left` are still at
    /// hand.
    pub(super) fn are_due(&self, left: usize, now: Duration) -> bool {
        let is_enough = self.answers >= left || self.bytes.len() >= ENOUGH_BYTES;
        !self.is_empty() && (self.is_blocked || is_enough || now.saturating_sub(self.since) >= PATIENCE)
    }

    /// Sends as much as the pipe takes, with how long the worker has had a document in hand so far.
    pub(super) fn send(&mut self, busy: Duration) -> io::Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        if !self.has_told_busy {
            self.has_told_busy = true;
            Report::Busy(u64::try_from(busy.as_micros()).unwrap_or(u64::MAX)).put(&mut self.bytes);
        }
        match rustix::io::write(io::stdout().as_fd(), self.bytes.get(self.sent..).unwrap_or_default()) {
            Ok(written) => self.sent += written,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        self.is_blocked = self.sent < self.bytes.len();
        if !self.is_blocked {
            self.bytes.clear();
            (self.sent, self.answers, self.has_told_busy) = (0, 0, false);
        }
        Ok(())
    }
}
