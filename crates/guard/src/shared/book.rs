//! The log as the shared uses it, and what happens when it cannot be written.

use super::{Desk, Ride, Shared, object};
use crate::answer::{Denied, seconds_up};
use crate::day::Day;
use crate::log;
use serde_json::{Map, Value, json};
use std::net::SocketAddr;

/// Lines of refusals a second; a client that asks in a loop would fill the disk with more. The rest are counted.
const REFUSED_LINES_PER_SECOND_MAX: u64 = 100;

impl Shared {
    /// Logs a refusal; returns the response for the client.
    pub(crate) fn refuse(&self, client: SocketAddr, about: Value, denied: Denied) -> Denied {
        let mut desk = self.desk();
        desk.counts.refused += 1;
        let second = self.started.elapsed().as_secs();
        desk.refused_second =
            (second, if desk.refused_second.0 == second { desk.refused_second.1 + 1 } else { 1 });
        if desk.refused_second.1 > REFUSED_LINES_PER_SECOND_MAX {
            desk.refused_unlisted += 1;
            return denied;
        }
        let mut fields = object(about);
        fields.extend(object(json!({
            "event": "refused",
            "client": client.to_string(),
            "status": denied.status,
            "reason": denied.reason,
            "retry_after": denied.retry_after.map(seconds_up),
            "unlisted": desk.refused_unlisted,
        })));
        if !self.write(&mut desk, fields) {
            return Denied::log_fails();
        }
        desk.refused_unlisted = 0;
        denied
    }

    /// Writes how many bytes went through a tunnel since the last line on it.
    pub(crate) fn carried(&self, ride: &Ride, bytes: u64) -> bool {
        let mut fields = ride.fields();
        fields.extend(object(json!({ "event": "carried", "bytes": bytes })));
        self.write(&mut self.desk(), fields)
    }

    /// Writes a line that concerns the guard itself.
    pub(crate) fn note(&self, value: Value) {
        self.write(&mut self.desk(), object(value));
    }

    /// Looks whether the log can be written; if it could not before, tries.
    pub(crate) fn look_at_log(&self) {
        let mut desk = self.desk();
        let day = self.today(&desk);
        let outcome = desk.log.check(day);
        match outcome {
            Ok(()) if desk.is_writable => {}
            Ok(()) => _ = self.resume(&mut desk, day),
            Err(error) => self.fail(&mut desk, &error),
        }
    }

    /// Makes sure that what was written survives a power cut.
    pub(crate) fn sync_log(&self) {
        let file = self.desk().log.file();
        let outcome = file.map_or(Ok(()), |file| file.sync_data());
        if let Err(error) = outcome {
            self.fail(&mut self.desk(), &error);
        }
    }

    /// Whether the line could be written.
    pub(super) fn write(&self, desk: &mut Desk, mut fields: Map<String, Value>) -> bool {
        let day = self.today(desk);
        if !desk.is_writable && !self.resume(desk, day) {
            return false;
        }
        fields.insert("at".to_owned(), self.clock.now().to_rfc3339().into());
        self.write_at(desk, day, fields)
    }

    fn write_at(&self, desk: &mut Desk, day: Day, fields: Map<String, Value>) -> bool {
        let line = log::to_line(&Value::Object(fields));
        match desk.log.write(day, &line) {
            Ok(()) => {
                // There may be no receiver.
                let _ = self.decisions.send(line.into());
                true
            }
            Err(error) => {
                self.fail(desk, &error);
                false
            }
        }
    }

    fn resume(&self, desk: &mut Desk, day: Day) -> bool {
        let fields = json!({ "event": "resumed", "at": self.clock.now().to_rfc3339() });
        desk.is_writable = desk.log.check(day).is_ok() && self.write_at(desk, day, object(fields));
        if desk.is_writable {
            tracing::warn!("the log can be written again; requests pass");
        }
        desk.is_writable
    }

    /// Nothing passes from now on.
    fn fail(&self, desk: &mut Desk, error: &std::io::Error) {
        if desk.is_writable {
            tracing::error!(%error, "the log cannot be written; nothing passes until it can");
        }
        desk.is_writable = false;
        self.cut.send_modify(|times| *times += 1);
        self.changed.notify_waiters();
    }

    /// The day that is counted: the calendar's, but never an earlier one than before.
    fn today(&self, desk: &Desk) -> Day {
        Day::of(self.clock.now()).max(desk.gate.day())
    }
}
