//! State shared by all connections: the gate, the log, and the order in which they are used.
//!
//! **Invariant:** a decision is logged before it takes effect. If logging fails, nothing passes: new
//! requests are refused and every open tunnel is closed, until a line can be written again.

mod book;
mod status;

use crate::answer::Denied;
use crate::day::Day;
use crate::gate::{Answer, Gate, Moment, Now, Overrun, Refusal, Target, TunnelNumber, Turn, WishNumber};
use crate::log::Log;
use crate::settings::Settings;
use base::Clock;
use serde_json::{Map, Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, broadcast, watch};
use tokio::time::Instant;

/// Maximum number of log lines buffered for a slow reader of decisions.
const DECISIONS_KEPT_MAX: usize = 4_096;

/// State shared by all connections.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) listens_on: SocketAddr,
    /// Changes when every open tunnel must end.
    pub(crate) cut: watch::Sender<u64>,
    /// Notified when a waiting request may go.
    changed: Notify,
    decisions: broadcast::Sender<Arc<str>>,
    clock: Arc<dyn Clock>,
    started: Instant,
    desk: Mutex<Desk>,
}

/// The part that one connection at a time may change.
#[derive(Debug)]
struct Desk {
    gate: Gate,
    log: Log,
    /// Whether the last line could be written.
    is_writable: bool,
    counts: Counts,
    last_tunnel: TunnelNumber,
    refused_second: (u64, u64),
    refused_unlisted: u64,
}

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    tunnels_open: u64,
    passed: u64,
    delayed: u64,
    refused: u64,
}

/// A tunnel as the log knows it.
#[derive(Clone, Debug)]
pub(crate) struct Ride {
    pub(crate) number: TunnelNumber,
    pub(crate) client: SocketAddr,
    pub(crate) target: Target,
    pub(crate) port: u16,
}

impl Ride {
    fn fields(&self) -> Map<String, Value> {
        let fields = json!({
            "tunnel": self.number,
            "client": self.client.to_string(),
            "address": self.target.address().to_string(),
            "port": self.port,
            "server": self.target.server().as_str(),
        });
        object(fields)
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

impl Shared {
    /// Opens the log and takes up the day where it was left.
    pub(crate) fn open(
        settings: Settings,
        listens_on: SocketAddr,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, crate::Error> {
        let (log, day, past) = Log::open(&settings.directory, Day::of(clock.now()))?;
        let mut gate = Gate::new(settings.limits, day);
        for (target, requests, bytes) in past.targets() {
            gate.restore(&target, requests, bytes);
        }
        let unread = past.unread;
        if unread > 0 {
            tracing::warn!(unread, "lines of today's log were cut off and do not count");
        }
        if day > Day::of(clock.now()) {
            tracing::warn!(%day, "the log is ahead of the clock; its last day is counted on until the clock is there");
        }
        let shared = Self {
            listens_on,
            cut: watch::Sender::new(0),
            changed: Notify::new(),
            decisions: broadcast::Sender::new(DECISIONS_KEPT_MAX),
            clock,
            started: Instant::now(),
            desk: Mutex::new(Desk {
                gate,
                log,
                is_writable: true,
                counts: Counts::default(),
                last_tunnel: 0,
                refused_second: (0, 0),
                refused_unlisted: 0,
            }),
            settings,
        };
        shared.note(json!({ "event": "started", "pid": std::process::id(), "listen": listens_on.to_string(), "unread": unread }));
        Ok(shared)
    }

    /// The decisions from now on, as the log has them.
    pub(crate) fn decisions(&self) -> broadcast::Receiver<Arc<str>> {
        self.decisions.subscribe()
    }

    /// A number for a tunnel to be.
    pub(crate) fn number(&self) -> TunnelNumber {
        let mut desk = self.desk();
        desk.last_tunnel += 1;
        desk.last_tunnel
    }

    /// Waits until a request of a tunnel may leave. What is written is that it left, how long it was held up, and how
    /// many bytes went through the tunnel since the last line on it.
    pub(crate) async fn turn(&self, ride: &Ride, request: u64, bytes: u64) -> Result<(), Denied> {
        let wish = self.enter(ride)?;
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let until = match self.try_pass(&wish, request, bytes)? {
                Turn::Go { .. } => return Ok(()),
                Turn::Wait { until } => self.started + until,
            };
            tokio::select! {
                () = changed => {}
                () = tokio::time::sleep_until(until) => {}
            }
        }
    }

    fn enter<'h>(&'h self, ride: &'h Ride) -> Result<Waiting<'h>, Denied> {
        let mut desk = self.desk();
        let entered = desk.gate.enter(ride.number, &ride.target, self.now());
        drop(desk);
        entered.map(|number| Waiting { shared: self, ride, number }).map_err(denied)
    }

    fn try_pass(&self, wish: &Waiting<'_>, request: u64, bytes: u64) -> Result<Turn, Denied> {
        let (mut desk, now, ride) = (self.desk(), self.now(), wish.ride);
        let turn = desk.gate.try_pass(wish.number, now).map_err(denied)?;
        let Turn::Go { waited } = turn else { return Ok(turn) };
        let mut fields = ride.fields();
        fields.extend(object(json!({
            "event": "passed", "request": request, "delayed_ms": millis(waited), "bytes": bytes,
        })));
        if !self.write(&mut desk, fields) {
            desk.gate.ended(ride.number, &ride.target, now);
            return Err(Denied::log_fails());
        }
        desk.counts.passed += 1;
        desk.counts.delayed += u64::from(millis(waited) > 0);
        self.changed.notify_waiters();
        Ok(turn)
    }

    /// What is said of a tunnel when something of it is refused.
    pub(crate) fn about(ride: &Ride) -> Value {
        Value::Object(ride.fields())
    }

    /// Bytes came from the server.
    pub(crate) fn heard(&self, ride: &Ride, bytes: u64, answer: Answer) -> Result<(), Overrun> {
        let outcome = self.desk().gate.heard(ride.number, &ride.target, bytes, answer, self.now());
        if answer != Answer::No {
            self.changed.notify_waiters();
        }
        outcome
    }

    /// Bytes went to the server.
    pub(crate) fn said(&self, ride: &Ride, bytes: u64) -> Result<(), Overrun> {
        self.desk().gate.carried(&ride.target, bytes, self.now())
    }

    /// A tunnel is open.
    pub(crate) fn opened(&self) {
        self.desk().counts.tunnels_open += 1;
    }

    /// A tunnel, or what would have become one, is over.
    pub(crate) fn closed(&self, ride: &Ride, why: &str, requests: u64, bytes: u64, was_open: bool) {
        let mut desk = self.desk();
        desk.gate.ended(ride.number, &ride.target, self.now());
        desk.counts.tunnels_open -= u64::from(was_open);
        let mut fields = ride.fields();
        fields.extend(object(json!({ "event": "closed", "why": why, "requests": requests, "bytes": bytes })));
        self.write(&mut desk, fields);
        drop(desk);
        self.changed.notify_waiters();
    }

    fn now(&self) -> Now {
        let at = self.clock.now();
        let day = Day::of(at);
        Now { moment: self.started.elapsed(), day, day_left: day.left(at) }
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        // After a panic of a holder of the lock, the counts are at worst too high.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that waits, until this is dropped.
#[derive(Debug)]
struct Waiting<'h> {
    shared: &'h Shared,
    ride: &'h Ride,
    number: WishNumber,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.shared.desk().gate.leave(self.number);
        self.shared.changed.notify_waiters();
    }
}

fn denied(refusal: Refusal) -> Denied {
    let (status, retry_after) = match refusal {
        Refusal::TooSoon { retry_after } | Refusal::Cap { retry_after, .. } => (429, Some(retry_after)),
        Refusal::Full => (503, None),
    };
    Denied { status, reason: refusal.to_string(), retry_after }
}

pub(crate) fn millis(time: Moment) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
