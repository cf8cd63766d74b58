//! From the long-term queue to the short-term one (C7).
//!
//! Every minute the store hands out what is due. A page joins the queue of its server unless that is full: then the last in
//! it goes back to the store, for three times as long as the queue will take, three days at most. It goes back too when its
//! neighbours turned out gone (C16), and a new page waits while it looks like one of a trap (H10).

use super::operator::far;
use super::{Frontier, PageLocation};
use crate::Role;
use crate::error::{Error, Result};
use crate::loaded_page::{LoadedPage, Rank, split_key};
use crate::moment::{minute, moment};
use crate::state::State;
use base::{Interval, PageUrl, Timestamp, chance};
use sat::Minute;

/// The short-term queue holds what can be fetched within this.
const QUEUE_TIME_MAX: Interval = Interval::from_days(1);
/// How long a page is put off at least, and at most.
const PUT_OFF_MIN: Interval = Interval::from_minutes(30);
const PUT_OFF_MAX: Interval = Interval::from_days(3);
/// A server that is left alone for longer has one page loaded.
const LONG_REST: Interval = Interval::from_hours(1);
/// A page among the dead is put off for so many of its intervals, within these bounds.
const NEIGHBOUR_FACTOR: f64 = 4.0;
const NEIGHBOUR_MIN: Interval = Interval::from_days(14);
const NEIGHBOUR_MAX: Interval = Interval::from_days(200);
/// A server gets at least so much of the short-term queue, however many there are.
const QUEUE_LENGTH_MIN: usize = 16;

impl Frontier {
    /// Loads what is due by `now`, as far as there is room.
    pub(super) fn refill(&mut self, now: Timestamp) -> Result<()> {
        let to = minute(now);
        if self.filled.is_some_and(|filled| filled >= to) && !self.is_full {
            return Ok(());
        }
        self.store.advance(to);
        let mut batch = std::mem::take(&mut self.batch);
        let filled = self.refill_from(&mut batch, now);
        self.batch = batch;
        let is_first = self.filled.replace(to).is_none();
        filled?;
        if is_first {
            self.take_waiting(now)?;
        }
        self.release_held(now).map(|_| ())
    }
    /// Loads what an earlier run left waiting: the store keeps it for the next minute, and it is due now.
    fn take_waiting(&mut self, now: Timestamp) -> Result<()> {
        let (to, mut room) = (minute(now), self.settings.queue_bytes_max.saturating_sub(self.queue_bytes));
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
            if !self.held.contains_key(&loaded.number.0) {
                self.load(loaded, now)?;
            }
        }
        Ok(())
    }
    fn refill_from(&mut self, batch: &mut sat::Batch, now: Timestamp) -> Result<()> {
        while self.queue_bytes < self.settings.queue_bytes_max {
            match self.store.next_due(batch) {
                Ok(true) => {}
                Ok(false) => {
                    self.is_full = false;
                    return Ok(());
                }
                Err(damage @ sat::Error::Damaged { .. }) => {
                    tracing::error!(%damage, "some pages are lost to the schedule; `utsushi rebuild frontier` brings them back");
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            for record in batch.records() {
                if !self.held.contains_key(&record.number.0) {
                    self.load(LoadedPage::new(record.number, record.key, record.value), now)?;
                }
            }
        }
        self.is_full = true;
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
            return self.store_until(&loaded, &state, far(now));
        }
        let is_asked = state.asked > 0;
        let resting = self.servers[server as usize].pages_at();
        if !is_asked && resting > now.plus(LONG_REST) && !self.servers[server as usize].queue.is_empty() {
            // Whoever is left alone for long keeps one page loaded, and no room from others.
            return self.store_until(&loaded, &state, minute(resting));
        }
        if let Some(suspicion) = self.suspicion(server, target, &state) {
            return self.hold(server, &loaded, state, suspicion, now);
        }
        if state.held.is_some() {
            return self.release(server, &loaded, state, now);
        }
        if !is_asked && self.is_among_dead(server, target, &state) {
            let wait = Interval::from_seconds(state.wait).times(NEIGHBOUR_FACTOR);
            let until = moment(state.next_due).plus(wait.clamp(NEIGHBOUR_MIN, NEIGHBOUR_MAX));
            if now < until {
                return self.store_until(&loaded, &state, minute(until));
            }
        }
        if state.visits > 0 && state.role == Role::Page {
            self.join(server, loaded.number, target);
        }
        self.enqueue(server, loaded, &state, now)
    }
    pub(super) fn server_in_key(&mut self, prefix: &str, state: &State) -> Option<u32> {
        if let Some(known) = self.by_prefix.get(prefix) {
            return Some(*known);
        }
        let url = PageUrl::parse(&state.url).ok()?;
        Some(self.server_of(&url.server(), prefix))
    }
    fn is_among_dead(&self, server: u32, target: &str, state: &State) -> bool {
        let draw = || {
            let page = chance::hash_bytes(self.settings.seed, target.as_bytes());
            chance::hash(&[page, u64::from(state.next_due.0)])
        };
        let places = &self.servers[server as usize].places;
        self.settings.spares_dead && places.is_dead(target) && places.slows(target, draw())
    }

    /// Puts a page into the queue of its server; what does not fit goes back to the store.
    pub(super) fn enqueue(
        &mut self,
        server: u32,
        loaded: LoadedPage,
        state: &State,
        now: Timestamp,
    ) -> Result<()> {
        let rank = loaded.rank(state, &self.policy);
        self.held.insert(loaded.number.0, PageLocation::Queued(rank));
        self.queue_bytes += loaded.memory_bytes();
        self.queued += 1;
        let most = self.queue_length_max(server);
        let queue = &mut self.servers[server as usize].queue;
        queue.insert(rank, loaded);
        if queue.len() > most {
            // Neither new pages nor revisits take more than half from the other.
            let is_revisits = rank.is_gated && queue.range(Rank::GATED..).count() > most / 2;
            let free = queue.range(..Rank::GATED).next_back().map(|(rank, _)| *rank);
            let out = free.filter(|_| !is_revisits).or_else(|| queue.last_key_value().map(|(rank, _)| *rank));
            let last = out.and_then(|out| queue.remove(&out)).expect("it holds more than one");
            self.unqueue(server, &last);
            let state = last.state();
            self.postpone(server, &last, &state, now)?;
        }
        self.reschedule(server);
        Ok(())
    }
    /// How many pages of a server may be loaded: what can be fetched within a day, and a fair part of the memory.
    pub(super) fn queue_length_max(&self, server: u32) -> usize {
        let state = &self.servers[server as usize];
        let pause = state.least_pause().as_micros().max(1);
        let a_day = QUEUE_TIME_MAX.as_micros() / pause * u64::from(state.width);
        let fair = self.settings.queue_bytes_max / 256 / self.servers.len().min(4_096);
        usize::try_from(a_day).unwrap_or(usize::MAX).min(fair.max(QUEUE_LENGTH_MIN))
    }
    /// A page left the queue.
    pub(super) fn unqueue(&mut self, server: u32, loaded: &LoadedPage) {
        self.servers[server as usize].sampled.retain(|sampled| *sampled != loaded.number.0);
        self.held.remove(&loaded.number.0);
        self.queue_bytes -= loaded.memory_bytes();
        self.queued -= 1;
    }
    fn postpone(&mut self, server: u32, loaded: &LoadedPage, state: &State, now: Timestamp) -> Result<()> {
        let queue = &self.servers[server as usize];
        let length = f64::from(u32::try_from(queue.queue.len()).unwrap_or(u32::MAX));
        let wait = queue.least_pause().times(3.0 * length).clamp(PUT_OFF_MIN, PUT_OFF_MAX);
        let spread = chance::hash_bytes(u64::from(loaded.number.0), loaded.key()) % 1_024;
        let spread = wait.times(f64::from(u32::try_from(spread).unwrap_or(0)) / 4_096.0);
        self.store_until(loaded, state, minute(now.plus(wait).plus(spread)))
    }
    /// Writes a page back as it is, for another minute.
    pub(super) fn store_until(&mut self, loaded: &LoadedPage, _: &State, due: Minute) -> Result<()> {
        self.update(loaded.number, loaded.key(), due, loaded.value())
    }

    /// When the store may next have something, at the next minute, or a page that failed is tried again.
    pub(super) fn next_refill(&self) -> Timestamp {
        let filled = self.filled.map_or(Timestamp::MIN, |filled| moment(Minute(filled.0 + 1)));
        self.retries.next().map_or(filled, |retry| retry.min(filled))
    }
}
