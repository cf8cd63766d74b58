//! From the long-term queue to the short-term one (C7).
//!
//! Every minute the store returns what is due. A page joins the queue of its server. If that is full, its last page
//! goes back to the store for three times the duration of the queue, at most three days. A page also goes back if it is
//! gone and its neighbours are too (C16), and a new page waits while it looks like one of a trap (H10).

use super::Frontier;
use super::operator::far;
use crate::Role;
use crate::error::{Error, Result};
use crate::loaded_page::{LoadedPage, split_key};
use crate::moment::{minute, moment};
use crate::servers::ServerId;
use crate::state::State;
use base::{Interval, PageUrl, Timestamp, chance};
use sat::Minute;

/// The short-term queue holds what can be fetched within this.
const QUEUE_TIME_MAX: Interval = Interval::from_days(1);
/// Minimum and maximum time for which a page is put off.
const PUT_OFF_MIN: Interval = Interval::from_minutes(30);
const PUT_OFF_MAX: Interval = Interval::from_days(3);
/// A server that is not visited for longer has at most one loaded page.
const LONG_REST: Interval = Interval::from_hours(1);
/// A page that is gone, with neighbours that are gone, is put off for this many of its intervals, within these bounds.
const NEIGHBOUR_FACTOR: f64 = 4.0;
const NEIGHBOUR_MIN: Interval = Interval::from_days(14);
const NEIGHBOUR_MAX: Interval = Interval::from_days(200);
/// Minimum length of a server's queue, however many servers there are.
const QUEUE_LENGTH_MIN: usize = 16;

impl Frontier {
    /// Loads what is due by `now`, as far as there is room.
    pub(super) fn refill(&mut self, now: Timestamp) -> Result<()> {
        let to = minute(now);
        if self.workbench.refilled_to.is_some_and(|filled| filled >= to) && !self.workbench.is_full {
            return Ok(());
        }
        self.store.advance(to);
        let mut batch = sat::Batch::new();
        let filled = self.refill_from(&mut batch, now);
        let is_first = self.workbench.refilled_to.replace(to).is_none();
        filled?;
        if is_first {
            self.take_waiting(now)?;
        }
        self.release_held(now).map(|_| ())
    }
    /// Loads what an earlier run left waiting: the store keeps it for the next minute, and it is due now.
    fn take_waiting(&mut self, now: Timestamp) -> Result<()> {
        let (to, mut room) =
            (minute(now), self.settings.queue_bytes_max.saturating_sub(self.workbench.bytes()));
        let mut waiting = Vec::new();
        self.store.for_each_of_next_minute(|record| -> Result<()> {
            let is_due = State::read(record.value).is_some_and(|state| state.next_due <= to);
            if is_due && room > 0 {
                let loaded = LoadedPage::new(record.number, record.key, record.value);
                room = room.saturating_sub(loaded.memory_bytes());
                waiting.push(loaded);
            }
            Ok(())
        })?;
        for loaded in waiting {
            if self.workbench.location(loaded.number).is_none() {
                self.load(loaded, now)?;
            }
        }
        Ok(())
    }
    fn refill_from(&mut self, batch: &mut sat::Batch, now: Timestamp) -> Result<()> {
        while self.workbench.bytes() < self.settings.queue_bytes_max {
            match self.store.next_due(batch) {
                Ok(true) => {}
                Ok(false) => {
                    self.workbench.is_full = false;
                    return Ok(());
                }
                Err(damage @ sat::Error::Damaged { .. }) => {
                    tracing::error!(%damage, "some pages are lost to the schedule; `utsushi rebuild frontier` restores them");
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            for record in batch.records() {
                if self.workbench.location(record.number).is_none() {
                    self.load(LoadedPage::new(record.number, record.key, record.value), now)?;
                }
            }
        }
        self.workbench.is_full = true;
        Ok(())
    }

    /// Loads a page that is due.
    pub(super) fn load(&mut self, loaded: LoadedPage, now: Timestamp) -> Result<()> {
        let Some(state) = State::read(loaded.value()) else {
            return Err(Error::State { key: loaded.key_text().to_owned() });
        };
        let (prefix, target) = split_key(loaded.key_text());
        let Some(server) = self.server_in_key(prefix, &state) else { return Ok(()) };
        if state.removed > 0 {
            return self.store_until(&loaded, far(now));
        }
        let is_asked = state.asked > 0;
        let resting = self.servers[server].pages_at();
        if !is_asked && resting > now.plus(LONG_REST) && !self.workbench.queue(server).is_empty() {
            // A server that is not visited for long keeps one loaded page and takes no room from others.
            return self.store_until(&loaded, minute(resting));
        }
        if let Some(suspicion) = self.suspicion(server, target, &state) {
            return self.hold(server, &loaded, state, suspicion, now);
        }
        if state.held.is_some() {
            return self.release(server, &loaded, state, now);
        }
        if !is_asked && state.is_gone() && self.is_among_dead(server, target, &state) {
            let wait = Interval::from_seconds(state.wait).times(NEIGHBOUR_FACTOR);
            let until = moment(state.next_due).plus(wait.clamp(NEIGHBOUR_MIN, NEIGHBOUR_MAX));
            if now < until {
                return self.store_until(&loaded, minute(until));
            }
        }
        if state.visits > 0 && state.role == Role::Page {
            self.join(server, loaded.number, target, &state);
        }
        self.enqueue(server, loaded, &state, now)
    }
    pub(super) fn server_in_key(&mut self, prefix: &str, state: &State) -> Option<ServerId> {
        if let Some(known) = self.servers.by_prefix(prefix) {
            return Some(known);
        }
        let url = PageUrl::parse(&state.url).ok()?;
        Some(self.server_of(&url.server(), prefix))
    }
    fn is_among_dead(&self, server: ServerId, target: &str, state: &State) -> bool {
        let draw = || {
            let page = chance::hash_bytes(self.settings.seed, target.as_bytes());
            chance::hash(&[page, u64::from(state.next_due.0)])
        };
        let places = &self.servers[server].places;
        self.settings.spares_dead && places.is_dead(target) && places.slows(target, draw())
    }

    /// Puts a page into the queue of its server; a page that does not fit goes back to the store.
    pub(super) fn enqueue(
        &mut self,
        server: ServerId,
        loaded: LoadedPage,
        state: &State,
        now: Timestamp,
    ) -> Result<()> {
        let rank = loaded.rank(state, self.budget.policy());
        self.workbench.enqueue(server, rank, loaded);
        let surplus = self.workbench.queue(server).surplus(rank, self.queue_length_max(server));
        if let Some(last) = surplus.and_then(|rank| self.workbench.dequeue(server, rank)) {
            self.postpone(server, &last, now)?;
        }
        self.reschedule(server);
        Ok(())
    }
    /// How many pages of a server may be loaded: what can be fetched within a day, and a fair part of the memory.
    pub(super) fn queue_length_max(&self, server: ServerId) -> usize {
        let state = &self.servers[server];
        let pause = state.least_pause().as_micros().max(1);
        let a_day = QUEUE_TIME_MAX.as_micros() / pause * u64::from(state.width);
        let fair = self.settings.queue_bytes_max / 256 / self.servers.len().min(4_096);
        usize::try_from(a_day).unwrap_or(usize::MAX).min(fair.max(QUEUE_LENGTH_MIN))
    }
    fn postpone(&mut self, server: ServerId, loaded: &LoadedPage, now: Timestamp) -> Result<()> {
        let length = f64::from(u32::try_from(self.workbench.queue(server).len()).unwrap_or(u32::MAX));
        let wait = self.servers[server].least_pause().times(3.0 * length).clamp(PUT_OFF_MIN, PUT_OFF_MAX);
        let spread = chance::hash_bytes(u64::from(loaded.number.0), loaded.key()) % 1_024;
        let spread = wait.times(f64::from(u32::try_from(spread).unwrap_or(0)) / 4_096.0);
        self.store_until(loaded, minute(now.plus(wait).plus(spread)))
    }
    /// Writes a page back as it is, for another minute.
    pub(super) fn store_until(&mut self, loaded: &LoadedPage, due: Minute) -> Result<()> {
        self.update(loaded.number, loaded.key(), due, loaded.value())
    }

    /// When the store may next have something, at the next minute, or a page that failed is tried again.
    pub(super) fn next_refill(&self) -> Timestamp {
        let filled = self.workbench.refilled_to.map_or(Timestamp::MIN, |filled| moment(Minute(filled.0 + 1)));
        self.workbench.next_retry().map_or(filled, |retry| retry.min(filled))
    }
}
