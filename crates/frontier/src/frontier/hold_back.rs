//! Pages that are held back while they look like those of a trap (H10).
//!
//! A new page is judged when it is loaded and again when it is its turn. One that is suspected is marked in the
//! store with the reason, counted by its server, and waits: in memory by its number, or, when there is no room, in the
//! store for a day. When others like it bring something new, it goes on. A few of those that wait are visited every day
//! all the same.
//!
//! **Invariant:** a page is marked if, and only if, it is held back and counted; mark and count are in one commit.

use super::{Frontier, PageLocation};
use crate::Role;
use crate::error::Result;
use crate::held_back::{HeldBack, HoldReason};
use crate::loaded_page::{LoadedPage, Rank, split_key};
use crate::moment::minute;
use crate::state::State;
use crate::trap::UrlShape;
use base::{Interval, PageUrl, Timestamp, chance};
use sat::{Minute, Number};

/// What a page that waits takes of memory.
const WAITING_BYTES: usize = 128;
/// How long a page waits in the store for which memory has no room.
const WAIT_IN_STORE: Interval = Interval::from_days(1);
/// As many pages as are in the queue of a server before more that no longer wait are put there.
const QUEUE_ENOUGH: usize = 64;
/// The maximum number of pages that are visited as a sample at once.
const SAMPLE_AT_ONCE: u32 = 8;

/// A shape and why it is suspected.
pub(super) type Suspicion = (UrlShape, HoldReason);

impl Frontier {
    /// Why a page is held back, if it is to be.
    pub(super) fn suspicion(&self, server: u32, target: &str, state: &State) -> Option<Suspicion> {
        let is_exempt = state.vouched || state.role == Role::Requisite;
        if !state.is_new() || is_exempt || !self.settings.detects_traps {
            return None;
        }
        let shape = UrlShape::of(target);
        let reason = self.servers[server as usize].shapes.suspects(shape)?;
        let is_asked_for = PageUrl::parse(&state.url).is_ok_and(|url| self.settings.scope.asks_for(&url));
        (!is_asked_for).then_some((shape, reason))
    }

    /// Holds a page back that is in no queue.
    pub(super) fn hold(
        &mut self,
        server: u32,
        loaded: &LoadedPage,
        mut state: State,
        (shape, reason): Suspicion,
        now: Timestamp,
    ) -> Result<()> {
        let has_room = self.waiting < self.settings.queue_bytes_max / 4 / WAITING_BYTES;
        let due = if has_room { state.next_due } else { later(loaded, now) };
        if state.held != Some(reason) || !has_room {
            self.reserve()?;
            self.mark(server, &mut state, Some(reason));
            self.write_state(loaded.number, loaded.key(), due, &state)?;
        }
        if has_room {
            self.waiting += 1;
            self.held.insert(loaded.number.0, PageLocation::HeldBack);
            let server = &mut self.servers[server as usize];
            server.waiting_count += 1;
            server.waiting.entry(shape).or_default().push_back(loaded.number.0);
        }
        Ok(())
    }
    /// Holds a page of a queue back if it is suspected by now; tells whether it was.
    pub(super) fn hold_queued(
        &mut self,
        server: u32,
        rank: Rank,
        state: &State,
        now: Timestamp,
    ) -> Result<bool> {
        let queue = &self.servers[server as usize];
        let Some(loaded) = queue.queue.get(&rank) else { return Ok(false) };
        if !state.is_new() || queue.sampled.contains(&loaded.number.0) {
            return Ok(false);
        }
        let (_, target) = split_key(loaded.key_text());
        let Some(suspicion) = self.suspicion(server, target, state) else { return Ok(false) };
        let Some(loaded) = self.servers[server as usize].queue.remove(&rank) else { return Ok(false) };
        self.unqueue(server, &loaded);
        self.hold(server, &loaded, state.clone(), suspicion, now)?;
        Ok(true)
    }

    /// Lets a page go on that was held back and is in no queue.
    pub(super) fn release(
        &mut self,
        server: u32,
        loaded: &LoadedPage,
        mut state: State,
        now: Timestamp,
    ) -> Result<()> {
        self.reserve()?;
        self.mark(server, &mut state, None);
        let value = self.write_state(loaded.number, loaded.key(), state.next_due, &state)?;
        self.enqueue(server, LoadedPage::new(loaded.number, loaded.key(), &value), &state, now)
    }
    /// The same for one that memory has by its number.
    fn release_waiting(&mut self, server: u32, number: u32, now: Timestamp) -> Result<()> {
        let Some(record) = self.store.get_number(Number(number))? else { return Ok(()) };
        let loaded = LoadedPage::new(record.number, &record.key, &record.value);
        let state = loaded.state();
        if state.is_new() { self.release(server, &loaded, state, now) } else { Ok(()) }
    }

    /// Lets pages go on that no longer need to wait, and takes samples of those that do; tells whether there were any.
    ///
    /// A crawl that ends when nothing new is left calls this before it ends.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn release_held(&mut self, now: Timestamp) -> Result<bool> {
        let mut released = 0;
        for server in 0..u32::try_from(self.servers.len()).unwrap_or(u32::MAX) {
            if self.servers[server as usize].waiting_count > 0 {
                released += self.release_unsuspected(server, now)?;
                released += self.take_sample(server, now)?;
            }
        }
        Ok(released > 0)
    }
    /// Lets pages of a server go on whose shape is no longer suspected, as far as its queue needs them; tells how many.
    pub(super) fn release_unsuspected(&mut self, server: u32, now: Timestamp) -> Result<u32> {
        let enough = QUEUE_ENOUGH.min(self.queue_length_max(server));
        let mut released = 0;
        while self.servers[server as usize].queue.len() < enough {
            let Some(shape) = self.unsuspected(server) else { break };
            if let Some(number) = self.next_waiting(server, shape, 0) {
                self.release_waiting(server, number, now)?;
                released += 1;
            }
        }
        Ok(released)
    }
    /// A shape with pages that no longer need to wait.
    fn unsuspected(&self, server: u32) -> Option<UrlShape> {
        let state = &self.servers[server as usize];
        let is_free =
            |shape: &&UrlShape| !self.settings.detects_traps || state.shapes.suspects(**shape).is_none();
        state.waiting.keys().find(is_free).copied()
    }
    /// Takes some of the samples that are left of the day from a server that has nothing else new to do; tells how many.
    fn take_sample(&mut self, server: u32, now: Timestamp) -> Result<u32> {
        let state = &mut self.servers[server as usize];
        let has_new = state.queue.first_key_value().is_some_and(|(rank, _)| !rank.is_gated);
        let wanted = state.shapes.samples_left(Self::day(now)).min(SAMPLE_AT_ONCE);
        if has_new || wanted == 0 {
            return Ok(0);
        }
        let mut taken = 0;
        while taken < wanted {
            let shapes: Vec<UrlShape> = self.servers[server as usize].waiting.keys().copied().collect();
            for shape in shapes.iter().take((wanted - taken) as usize) {
                let draw = chance::hash(&[self.settings.seed, u64::from(Self::day(now)), taken.into()]);
                let Some(number) = self.next_waiting(server, *shape, draw) else { continue };
                let state = &mut self.servers[server as usize];
                state.sampled.push(number);
                state.shapes.sampled();
                state.is_map_dirty = true;
                self.release_waiting(server, number, now)?;
                taken += 1;
            }
            if shapes.is_empty() {
                break;
            }
        }
        self.touch(server);
        Ok(taken)
    }
    /// One page of a shape that waits, which no longer does: the first, or any by a draw.
    fn next_waiting(&mut self, server: u32, shape: UrlShape, draw: u64) -> Option<u32> {
        let state = &mut self.servers[server as usize];
        let waiting = state.waiting.get_mut(&shape)?;
        let at = usize::try_from(draw).unwrap_or(0) % waiting.len().max(1);
        let number = waiting.swap_remove_front(at);
        if waiting.is_empty() {
            state.waiting.remove(&shape);
        }
        state.waiting_count -= usize::from(number.is_some());
        self.waiting -= usize::from(number.is_some());
        self.held.remove(&number?);
        number
    }
    /// Takes a page out of those that wait in memory.
    pub(super) fn unwait(&mut self, server: u32, number: u32) {
        let state = &mut self.servers[server as usize];
        let found = state.waiting.iter_mut().find_map(|(shape, waiting)| {
            let at = waiting.iter().position(|other| *other == number)?;
            waiting.remove(at);
            Some((*shape, waiting.is_empty()))
        });
        let Some((shape, is_empty)) = found else { return };
        if is_empty {
            state.waiting.remove(&shape);
        }
        state.waiting_count -= 1;
        self.waiting -= 1;
        self.held.remove(&number);
    }

    /// Notes that a page is worth a visit whatever its shape: somebody named it, or it is listed or linked elsewhere.
    /// One that is held back goes on.
    pub(super) fn vouch(&mut self, key: &[u8], origin: Option<Number>, now: Timestamp) -> Result<()> {
        let Some(record) = self.store.get(key)? else { return Ok(()) };
        let loaded = LoadedPage::new(record.number, &record.key, &record.value);
        let mut state = loaded.state();
        let is_out = matches!(self.held.get(&record.number.0), Some(PageLocation::Visiting(..)));
        if !state.is_new() || state.vouched || is_out || origin == Some(record.number) {
            return Ok(());
        }
        let (prefix, _) = split_key(loaded.key_text());
        let Some(server) = self.by_prefix.get(prefix).copied() else { return Ok(()) };
        self.unload(server, record.number.0);
        self.reserve()?;
        self.mark(server, &mut state, None);
        state.vouched = true;
        let value = self.write_state(record.number, key, state.next_due, &state)?;
        self.load(LoadedPage::new(record.number, key, &value), now)
    }

    /// Sets or removes the mark of a page, and counts.
    fn mark(&mut self, server: u32, state: &mut State, reason: Option<HoldReason>) {
        let before = std::mem::replace(&mut state.held, reason);
        self.count_held(server, before, reason);
        self.touch(server);
    }
    /// A page was held back for one reason, and is for another.
    pub(super) fn count_held(&mut self, server: u32, before: Option<HoldReason>, now: Option<HoldReason>) {
        let held = &mut self.servers[server as usize].kept.held;
        if let Some(before) = before {
            held.discount(before);
        }
        if let Some(now) = now {
            held.count(now);
        }
        self.held_back = self.held_back.saturating_sub(before.is_some().into()) + u64::from(now.is_some());
    }
    fn write_state(&mut self, number: Number, key: &[u8], due: Minute, state: &State) -> Result<Vec<u8>> {
        let mut value = Vec::with_capacity(128);
        state.write(&mut value);
        self.update(number, key, due, &value)?;
        Ok(value)
    }

    /// What is held back of a server: pages that wait, and links that were not taken up.
    pub(super) fn held_back_of(&self, server: u32) -> HeldBack {
        let state = &self.servers[server as usize];
        let mut held = state.kept.held;
        for reason in [HoldReason::TooLong, HoldReason::ServerFull] {
            held.set(reason, state.shapes.left_out(reason));
        }
        held
    }
    /// What is held back, by reason: pages that wait for others like them to bring something new, and links that were not
    /// taken up. The latter are estimated.
    #[must_use]
    pub fn held_back(&self) -> HeldBack {
        let servers = 0..u32::try_from(self.servers.len()).unwrap_or(u32::MAX);
        servers.fold(HeldBack::default(), |mut all, server| {
            all.add(&self.held_back_of(server));
            all
        })
    }
}

/// When a page is judged again for which memory has no room.
fn later(loaded: &LoadedPage, now: Timestamp) -> Minute {
    let spread = chance::hash_bytes(u64::from(loaded.number.0), loaded.key()) % 1_024;
    let spread = WAIT_IN_STORE.times(f64::from(u32::try_from(spread).unwrap_or(0)) / 4_096.0);
    minute(now.plus(WAIT_IN_STORE).plus(spread))
}
