//! Every request is entered when it arrives and closed when it ends, also if it fails.
//!
//! **Invariant:** every entered request is closed exactly once, also when its connection breaks or the server stops.

use crate::WebResponse;
use crate::log::{Log, LogEntry};
use crate::observe::{Observer, PolitenessReport};
use base::{Clock, Interval, Timestamp};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The log, the observer and the counters of one server.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) log: Log,
    pub(super) clock: Arc<dyn Clock>,
    observer: Mutex<Observer>,
    pub(super) accepted: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) open: AtomicU64,
    bytes: AtomicU64,
    in_progress: AtomicU64,
}

/// What a server has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServeStats {
    /// Connections accepted.
    pub connections: u64,
    /// Connections open now.
    pub connections_open: u64,
    /// Connections dropped because they did not come over loopback.
    pub connections_refused: u64,
    /// Requests finished.
    pub requests: u64,
    /// Requests in progress.
    pub requests_open: u64,
    /// Bytes sent.
    pub bytes: u64,
}

impl Ledger {
    pub(super) fn new(clock: Arc<dyn Clock>, log: Log, observer: Observer) -> Self {
        let [accepted, refused, open, bytes, in_progress] = std::array::from_fn(|_| AtomicU64::new(0));
        Self { log, clock, observer: Mutex::new(observer), accepted, refused, open, bytes, in_progress }
    }

    /// Enters a request.
    pub(super) fn enter(self: &Arc<Self>, entry: LogEntry) -> Pending {
        self.observer().arrived(&entry);
        self.in_progress.fetch_add(1, Ordering::Relaxed);
        let active = entry.arrived;
        Pending { ledger: self.clone(), entry: Some(entry), active }
    }

    /// A request that is answered without being entered.
    pub(super) fn off_the_record(self: &Arc<Self>) -> Pending {
        Pending { ledger: self.clone(), entry: None, active: Timestamp::MIN }
    }

    pub(super) fn report(&self) -> PolitenessReport {
        self.observer().report()
    }

    pub(super) fn stats(&self) -> ServeStats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ServeStats {
            connections: read(&self.accepted),
            connections_open: read(&self.open),
            connections_refused: read(&self.refused),
            requests: self.log.count(),
            requests_open: read(&self.in_progress),
            bytes: read(&self.bytes),
        }
    }

    fn close(&self, mut entry: LogEntry, finished: Timestamp) {
        entry.finished = finished.max(entry.arrived);
        self.observer().finished(&entry);
        self.in_progress.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_add(entry.bytes, Ordering::Relaxed);
        self.log.append(entry);
    }

    /// The observer is consistent between any two calls, so a panic elsewhere does not corrupt it.
    fn observer(&self) -> MutexGuard<'_, Observer> {
        self.observer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is entered and not yet closed.
#[derive(Debug)]
pub(super) struct Pending {
    ledger: Arc<Ledger>,
    entry: Option<LogEntry>,
    /// When the client was last known to be there.
    active: Timestamp,
}

impl Pending {
    /// Records the response that is being sent.
    pub(super) fn answered(&mut self, answer: &WebResponse) {
        if let Some(entry) = &mut self.entry {
            entry.status = answer.status;
            (entry.retry_after, entry.retry_at) = retry_after(answer);
        }
    }
    /// Records that no response will be sent.
    pub(super) fn unanswered(&mut self) {
        if let Some(entry) = &mut self.entry {
            entry.status = 0;
        }
    }
    /// The present moment.
    pub(super) fn now(&self) -> Timestamp {
        self.ledger.clock.now()
    }
    /// Records that a write that began at `moment` reached the client, so the client was still connected.
    pub(super) fn reached(&mut self, moment: Timestamp) {
        self.active = self.active.max(moment);
    }
    /// Counts bytes that are sent.
    pub(super) fn sent(&mut self, bytes: usize) {
        if let Some(entry) = &mut self.entry {
            entry.bytes += bytes as u64;
        }
    }
    /// Closes the entry. Call it before the last bytes are sent: after them the client may already send another request.
    pub(super) fn close(&mut self) {
        let now = self.ledger.clock.now();
        self.close_at(now);
    }

    fn close_at(&mut self, finished: Timestamp) {
        if let Some(entry) = self.entry.take() {
            self.ledger.close(entry, finished);
        }
    }
}

/// A client that disconnects early does so some time after the last write that reached it. The exact time is
/// unknown, so the earliest is taken.
impl Drop for Pending {
    fn drop(&mut self) {
        self.close_at(self.active);
    }
}

/// The `Retry-After` of a response.
fn retry_after(answer: &WebResponse) -> (Option<Interval>, Option<Timestamp>) {
    let field = answer.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
    let Some((_, value)) = field else { return (None, None) };
    let seconds = value.parse().ok().map(Interval::from_seconds);
    (seconds, if seconds.is_none() { Timestamp::parse_http_date(value) } else { None })
}
