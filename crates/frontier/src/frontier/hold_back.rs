//! Pages that are held back while they look like those of a trap (H10).
//!
//! A new page is judged when it is loaded and again at its turn. A suspected one is marked in the store with the
//! reason, counted by its server, and waits: in memory by its number, or, without room there, in the store for a day.
//! When pages like it bring something new, it is released. A few of the waiting pages are visited every day anyway.
//!
//! **Invariant:** a page is marked if, and only if, it is held back and counted; mark and count are in one commit.

use super::Frontier;
use crate::Role;
use crate::error::Result;
use crate::held_back::{HeldBack, HoldReason};
use crate::loaded_page::{LoadedPage, Rank, split_key};
use crate::moment::minute;
use crate::servers::ServerId;
use crate::state::State;
use crate::trap::UrlShape;
use base::{Interval, PageUrl, Timestamp, chance};
use sat::{Minute, Number};

/// How long a page waits in the store if memory has no room for it.
const WAIT_IN_STORE: Interval = Interval::from_days(1);
/// Released pages are queued only while a server's queue has fewer pages than this.
const QUEUE_ENOUGH: usize = 64;
/// The maximum number of pages that are visited as a sample at once.
const SAMPLE_AT_ONCE: u32 = 8;

/// A shape and why it is suspected.
pub(super) type Suspicion = (UrlShape, HoldReason);

impl Frontier {
    /// Why a page must be held back, if it must.
    pub(super) fn suspicion(&self, server: ServerId, target: &str, state: &State) -> Option<Suspicion> {
        let is_exempt = state.vouched || state.role == Role::Requisite;
        if !state.is_new() || is_exempt || !self.settings.detects_traps {
            return None;
        }
        let shape = UrlShape::of(target);
        let reason = self.servers[server].shapes.suspects(shape)?;
        let is_asked_for = PageUrl::parse(&state.url).is_ok_and(|url| self.settings.scope.asks_for(&url));
        (!is_asked_for).then_some((shape, reason))
    }

    /// Holds back a page that is in no queue.
    pub(super) fn hold(
        &mut self,
        server: ServerId,
        loaded: &LoadedPage,
        mut state: State,
        (shape, reason): Suspicion,
        now: Timestamp,
    ) -> Result<()> {
        let has_room = self.workbench.has_room_to_hold(self.settings.queue_bytes_max);
        let due = if has_room { state.next_due } else { later(loaded, now) };
        if state.held != Some(reason) || !has_room {
            self.reserve()?;
            self.mark(server, &mut state, Some(reason));
            self.write_state(loaded.number, loaded.key(), due, &state)?;
        }
        if has_room {
            self.workbench.hold(server, shape, loaded.number);
        }
        Ok(())
    }
    /// Holds back a queued page if it is suspected now. Returns whether it was.
    pub(super) fn hold_queued(
        &mut self,
        server: ServerId,
        rank: Rank,
        state: &State,
        now: Timestamp,
    ) -> Result<bool> {
        let queue = self.workbench.queue(server);
        let Some(loaded) = queue.get(rank) else { return Ok(false) };
        if !state.is_new() || queue.is_sampled(loaded.number) {
            return Ok(false);
        }
        let (_, target) = split_key(loaded.key_text());
        let Some(suspicion) = self.suspicion(server, target, state) else { return Ok(false) };
        let Some(loaded) = self.workbench.dequeue(server, rank) else { return Ok(false) };
        self.hold(server, &loaded, state.clone(), suspicion, now)?;
        Ok(true)
    }

    /// Releases a page that is held back and in no queue.
    pub(super) fn release(
        &mut self,
        server: ServerId,
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
    fn release_by_number(&mut self, server: ServerId, page: Number, now: Timestamp) -> Result<()> {
        let Some(record) = self.store.get_number(page)? else { return Ok(()) };
        let loaded = LoadedPage::new(record.number, &record.key, &record.value);
        let state = loaded.state();
        if state.is_new() { self.release(server, &loaded, state, now) } else { Ok(()) }
    }

    /// Releases pages that no longer need to wait, and takes samples of those that do. Returns whether there were any.
    ///
    /// A crawl that ends when nothing new is left calls this before it ends.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn release_held(&mut self, now: Timestamp) -> Result<bool> {
        let mut released = 0;
        for server in self.servers.ids() {
            if self.workbench.queue(server).held_back_count() > 0 {
                released += self.release_unsuspected(server, now)?;
                released += self.take_sample(server, now)?;
            }
        }
        Ok(released > 0)
    }
    /// Releases pages of a server whose shape is no longer suspected, as far as its queue needs them. Returns how many.
    pub(super) fn release_unsuspected(&mut self, server: ServerId, now: Timestamp) -> Result<u32> {
        let enough = QUEUE_ENOUGH.min(self.queue_length_max(server));
        let mut released = 0;
        while self.workbench.queue(server).len() < enough {
            let Some(shape) = self.unsuspected(server) else { break };
            if let Some(number) = self.workbench.take_held(server, shape, 0) {
                self.release_by_number(server, number, now)?;
                released += 1;
            }
        }
        Ok(released)
    }
    /// A shape with pages that no longer need to wait.
    fn unsuspected(&self, server: ServerId) -> Option<UrlShape> {
        let state = &self.servers[server];
        let is_free =
            |shape: &UrlShape| !self.settings.detects_traps || state.shapes.suspects(*shape).is_none();
        self.workbench.queue(server).held_back_shapes().find(is_free)
    }
    /// Takes some of the day's remaining samples from a server that has nothing else new to do. Returns how many.
    fn take_sample(&mut self, server: ServerId, now: Timestamp) -> Result<u32> {
        let has_new = self.workbench.queue(server).has_free();
        let wanted = self.servers[server].shapes.samples_left(Self::day(now)).min(SAMPLE_AT_ONCE);
        if has_new || wanted == 0 {
            return Ok(0);
        }
        let mut taken = 0;
        while taken < wanted {
            let shapes: Vec<UrlShape> = self.workbench.queue(server).held_back_shapes().collect();
            for shape in shapes.iter().take((wanted - taken) as usize) {
                let draw = chance::hash(&[self.settings.seed, u64::from(Self::day(now)), taken.into()]);
                let Some(number) = self.workbench.take_held(server, *shape, draw) else { continue };
                let state = &mut self.servers[server];
                state.shapes.sampled();
                state.is_map_dirty = true;
                self.workbench.sample(server, number);
                self.release_by_number(server, number, now)?;
                taken += 1;
            }
            if shapes.is_empty() {
                break;
            }
        }
        self.servers.touch(server);
        Ok(taken)
    }
    /// Notes that a page is worth a visit whatever its shape: it was named, or it is listed or linked elsewhere. A page
    /// that is held back is released.
    pub(super) fn vouch(&mut self, key: &[u8], origin: Option<Number>, now: Timestamp) -> Result<()> {
        let Some(record) = self.store.get(key)? else { return Ok(()) };
        let loaded = LoadedPage::new(record.number, &record.key, &record.value);
        let mut state = loaded.state();
        let is_out = self.workbench.visiting(record.number).is_some();
        if !state.is_new() || state.vouched || is_out || origin == Some(record.number) {
            return Ok(());
        }
        let (prefix, _) = split_key(loaded.key_text());
        let Some(server) = self.servers.by_prefix(prefix) else { return Ok(()) };
        self.workbench.unload(record.number);
        self.reserve()?;
        self.mark(server, &mut state, None);
        state.vouched = true;
        let value = self.write_state(record.number, key, state.next_due, &state)?;
        self.load(LoadedPage::new(record.number, key, &value), now)
    }

    /// Sets or removes the mark of a page, and counts.
    fn mark(&mut self, server: ServerId, state: &mut State, reason: Option<HoldReason>) {
        self.census.set_hold(&mut self.servers[server].kept.counts, state, reason);
        self.servers.touch(server);
    }
    fn write_state(&mut self, number: Number, key: &[u8], due: Minute, state: &State) -> Result<Vec<u8>> {
        let mut value = Vec::with_capacity(128);
        state.write(&mut value);
        self.update(number, key, due, &value)?;
        Ok(value)
    }

    /// What a server holds back: pages that wait, and links that were not accepted.
    pub(super) fn held_back_of(&self, server: ServerId) -> HeldBack {
        let state = &self.servers[server];
        let mut held = state.kept.counts.held;
        for reason in [HoldReason::TooLong, HoldReason::ServerFull] {
            held.set(reason, state.shapes.left_out(reason));
        }
        held
    }
    /// What is held back, by reason: pages that wait until similar pages bring something new, and links that were not
    /// accepted. The latter are estimated.
    #[must_use]
    pub fn held_back(&self) -> HeldBack {
        self.servers.ids().fold(HeldBack::default(), |mut all, server| {
            all.add(&self.held_back_of(server));
            all
        })
    }
}

/// When a page without room in memory is judged again.
fn later(loaded: &LoadedPage, now: Timestamp) -> Minute {
    let spread = chance::hash_bytes(u64::from(loaded.number.0), loaded.key()) % 1_024;
    let spread = WAIT_IN_STORE.times(f64::from(u32::try_from(spread).unwrap_or(0)) / 4_096.0);
    minute(now.plus(WAIT_IN_STORE).plus(spread))
}
