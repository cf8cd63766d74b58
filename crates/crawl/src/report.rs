//! What a walk has done so far.

use archive::Stored;
use base::{Interval, Outcome, PageUrl, Timestamp};

/// A capture that is durable: what may be told to anyone (D2).
#[derive(Clone, Debug)]
pub struct Kept {
    /// The page.
    pub url: PageUrl,
    /// When the visit began.
    pub at: Timestamp,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether it was a robots file rather than a page.
    pub robots: bool,
    /// What is known of the change, for a page that was there before.
    pub changed: Option<bool>,
    /// As what it was stored.
    pub stored: Stored,
    /// Where it is.
    pub location: archive::Location,
}

/// Counts of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Requests that were sent, robots files included.
    pub requests: u64,
    /// Captures of pages that are durable.
    pub pages: u64,
    /// Captures of robots files that are durable.
    pub robots: u64,
    /// Pages that were archived for the first time.
    pub new: u64,
    /// Visits that found a page changed.
    pub changed: u64,
    /// Visits that found a page as it was.
    pub unchanged: u64,
    /// Visits that were sent elsewhere.
    pub moved: u64,
    /// Visits that found no page any more.
    pub gone: u64,
    /// Visits that met another error.
    pub failed: u64,
    /// Pages that were not asked for because robots rules or the opt-out list forbid it.
    pub refused: u64,
    /// Visits that nobody answered.
    pub unreachable: u64,
    /// Bytes received from servers.
    pub bytes_received: u64,
    /// Bytes added to the archive.
    pub bytes_written: u64,
    /// Servers known.
    pub servers: u64,
    /// Pages known.
    pub known: u64,
    /// Pages known and never visited.
    pub waiting: u64,
    /// Links that were not taken up: a trap's shape, or the queue was full.
    pub dropped: u64,
    /// Captures that could not be kept because the disk was full when the walk ended.
    pub lost: u64,
    /// The longest time that the archive had to wait for room on the disk.
    pub full: Interval,
}

impl Report {
    /// Counts one durable capture.
    pub fn count(&mut self, kept: &Kept, bytes_written: u64) {
        self.bytes_written += bytes_written;
        if kept.robots {
            self.robots += 1;
            return;
        }
        self.pages += 1;
        match (&kept.outcome, kept.changed) {
            (Outcome::Fetched { .. }, None) => self.new += 1,
            (Outcome::Fetched { .. }, Some(true)) => self.changed += 1,
            (Outcome::Fetched { .. }, Some(false)) | (Outcome::NotModified, _) => self.unchanged += 1,
            (Outcome::Moved { .. }, _) => self.moved += 1,
            (Outcome::Gone { .. }, _) => self.gone += 1,
            (Outcome::Failed { .. }, _) => self.failed += 1,
            (Outcome::Refused(_), _) => self.refused += 1,
            (Outcome::Unreachable(_), _) => self.unreachable += 1,
        }
    }
}
