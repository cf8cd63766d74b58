//! Learning from captures, in the order in which the archive has them.
//!
//! **Invariant:** a capture is learned once: what was learned already is known by its moment. One that is older than the last
//! (an import brings such) changes nothing here: its page is folded anew from all of its captures ([`Frontier::refold`], D4).

use super::offer::Origin;
use super::{Frontier, Held};
use crate::error::Result;
use crate::hand::{Hand, split_key};
use crate::lesson::{self, Lesson, Told};
use crate::load::Load;
use crate::moment::{minute, moment, seconds};
use crate::state::State;
use crate::trap::shape;
use base::limits::{REVISIT_INTERVAL_MAX, SERVER_PAUSE_MAX};
use base::{Interval, Timestamp, chance};
use sat::Minute;

/// Whether a capture could be learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learned {
    /// It was, or had been before.
    Yes,
    /// The page is not known.
    Unknown,
    /// It is older than what the page has learned: fold the page anew.
    Older,
}

/// After so many changes of a server's load its division is looked at again, or after this part of its pages.
const DIVISION_CHANGES_MIN: u32 = 32;

impl Frontier {
    /// Learns from a capture that the archive holds.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn learn(&mut self, lesson: &Lesson<'_>) -> Result<Learned> {
        let learned = self.learn_one(lesson)?;
        // Only now: whatever was committed on the way belongs to the place before.
        self.pass(lesson.place);
        Ok(learned)
    }
    fn learn_one(&mut self, lesson: &Lesson<'_>) -> Result<Learned> {
        if lesson.told == Told::HeldBack {
            return Ok(Learned::Yes);
        }
        let Some((server, hand)) = self.page_of(lesson)? else {
            return Ok(Learned::Unknown);
        };
        let state = hand.state();
        let micros = lesson.at.as_micros();
        if micros <= state.last_visit {
            self.write_back(lesson, &hand, &state)?;
            return Ok(if micros == state.last_visit { Learned::Yes } else { Learned::Older });
        }
        if let Some(address) = lesson.address {
            self.move_load(server, address);
        }
        if let Told::Failed { retry_after: Some(wait), .. } = &lesson.told {
            // Said again in case that it was not heard while it happened: the crawl may have died just then.
            let wait = (*wait).min(SERVER_PAUSE_MAX);
            let until = lesson.at.plus(wait);
            let state = &mut self.servers[server as usize];
            state.leave_until(until);
            state.kept.not_before = state.kept.not_before.max(seconds(until) + 1);
            self.touch(server);
        }
        self.apply(server, &hand, state, lesson)?;
        Ok(Learned::Yes)
    }
    /// Notes a place in the archive behind something that teaches nothing.
    pub fn pass(&mut self, place: &str) {
        place.clone_into(&mut self.crawl.place);
    }

    /// A page in hand that learned nothing, because it has learned from a later capture, goes back for its own time.
    fn write_back(&mut self, lesson: &Lesson<'_>, hand: &Hand, state: &State) -> Result<()> {
        if lesson.page.is_none() {
            return Ok(());
        }
        let wait = Interval::from_seconds(state.interval.max(3_600));
        let due = state.next_due.max(minute(lesson.at.plus(wait)));
        self.update(hand.number, hand.key(), due, hand.value())
    }

    /// The page of a lesson, out of hand or out of the store.
    fn page_of(&mut self, lesson: &Lesson<'_>) -> Result<Option<(u32, Hand)>> {
        if let Some(number) = lesson.page
            && let Some(Held::Out(..)) = self.held.get(&number.0)
            && let Some(Held::Out(server, hand)) = self.held.remove(&number.0)
        {
            return Ok(Some((server, hand)));
        }
        let key = lesson.url.key();
        let (prefix, _) = split_key(key.as_str());
        let Some(record) = self.store.get(key.as_str().as_bytes())? else { return Ok(None) };
        let server = self.server_of(&lesson.url.server(), prefix);
        self.let_go(server, record.number.0);
        Ok(Some((server, Hand::new(record.number, &record.key, &record.value))))
    }
    /// Takes a page out of the queue that is about to be written anew.
    fn let_go(&mut self, server: u32, number: u32) {
        let state = &mut self.servers[server as usize];
        match self.held.get(&number) {
            Some(Held::Queued(rank)) => {
                if let Some(hand) = state.queue.remove(rank) {
                    self.release(&hand);
                    let state = hand.state();
                    self.untake(server, &hand, &state);
                }
            }
            Some(Held::Deferred) => {
                state.deferred.values_mut().for_each(|waiting| {
                    if let Some(at) = waiting.iter().position(|hand| hand.number.0 == number) {
                        state.deferred_count -= 1;
                        self.deferred_bytes -= waiting.remove(at).map_or(0, |hand| hand.memory_bytes());
                    }
                });
                self.held.remove(&number);
            }
            Some(Held::Out(..)) | None => {}
        }
    }

    fn apply(&mut self, server: u32, hand: &Hand, mut state: State, lesson: &Lesson<'_>) -> Result<()> {
        let before = state.clone();
        let at_once = lesson::learn(&mut state, lesson, &*self.policy, self.settings.seed);
        let (_, target) = split_key(hand.key_text());
        self.discover(hand, &state, lesson, at_once)?;
        if before.is_new() {
            self.servers[server as usize].shapes.visited(shape(target));
            self.servers[server as usize].is_map_dirty = true;
        }
        self.map(server, target, &state, lesson)?;
        // From here to the update nothing is committed: sums and states belong together.
        self.reserve()?;
        self.discount(server, &before);
        self.count(server, &state);
        let place = if at_once { state.next_due } else { self.place_for(server, &mut state) };
        let mut value = Vec::with_capacity(hand.value().len() + 64);
        state.write(&mut value);
        self.update(hand.number, hand.key(), place, &value)?;
        if at_once {
            self.enqueue(server, Hand::new(hand.number, hand.key(), &value), &state, lesson.at)?;
        }
        if target == "/" {
            let content = if let Told::Content(digest) = &lesson.told { Some(*digest) } else { None };
            let moved = if let Told::Moved { target, .. } = &lesson.told { *target } else { None };
            self.compare_home(server, content, moved);
        }
        Ok(())
    }
    /// What the server's map of itself learns: shapes with something new on them, directories whose pages are gone.
    fn map(&mut self, server: u32, target: &str, state: &State, lesson: &Lesson<'_>) -> Result<()> {
        let map = &mut self.servers[server as usize];
        let is_told = matches!(lesson.told, Told::Content(_) | Told::Same | Told::Gone(_));
        let mut is_new = false;
        if is_told {
            map.is_map_dirty |= map.places.saw(target, state.is_gone());
        }
        let shape = shape(target);
        if let Some(text) = &lesson.text {
            is_new = map.shapes.saw(shape, text.blocks);
            map.is_map_dirty |= is_new;
        }
        if is_new { self.forgive(server, lesson.at) } else { Ok(()) }
    }
    /// Takes up what a page points to.
    fn discover(&mut self, hand: &Hand, state: &State, lesson: &Lesson<'_>, at_once: bool) -> Result<()> {
        let origin = Origin { page: Some(hand.number), hops: 0 };
        for found in lesson.links {
            self.take_up(found, origin, None, lesson.at)?;
        }
        match &lesson.told {
            Told::Moved { target: Some(target), .. } if !at_once && target.key() != lesson.url.key() => {
                self.follow(hand.number, state.hops, target, lesson.at)
            }
            _ => Ok(()),
        }
    }

    /// Takes a page out of its server's sums.
    pub(super) fn discount(&mut self, server: u32, state: &State) {
        let kept = &mut self.servers[server as usize].kept;
        self.new -= u64::from(state.is_new() && kept.new > 0);
        kept.new = kept.new.saturating_sub(u64::from(state.is_new()));
        kept.gone = kept.gone.saturating_sub(u64::from(state.is_gone()));
        kept.dropped = kept.dropped.saturating_sub(u64::from(state.dropped));
        kept.pages = kept.pages.saturating_sub(1);
        if let Some(interval) = state.load_interval() {
            kept.load.remove(interval);
            let address = kept.address;
            if let Some(address) = address.and_then(|address| self.addresses.get_mut(address)) {
                address.load = address.load.saturating_sub(Load::share(interval));
            }
        }
        self.touch(server);
    }
    /// Puts it back with what it is now.
    fn count(&mut self, server: u32, state: &State) {
        let kept = &mut self.servers[server as usize].kept;
        kept.pages += 1;
        self.new += u64::from(state.is_new());
        kept.new += u64::from(state.is_new());
        kept.gone += u64::from(state.is_gone());
        kept.dropped += u64::from(state.dropped);
        if let Some(interval) = state.load_interval() {
            kept.load.add(interval);
            let address = kept.address;
            if let Some(address) = address.and_then(|address| self.addresses.get_mut(address)) {
                address.load += Load::share(interval);
            }
        }
        self.touch(server);
    }

    /// The minute for which a page goes to the store: its own, or the one that the division of its server's means gives it
    /// when they do not suffice (C5).
    fn place_for(&mut self, server: u32, state: &mut State) -> Minute {
        let Some(interval) = state.load_interval() else { return state.next_due };
        self.refresh_division(server);
        let kept = &self.servers[server as usize];
        let Some(division) = kept.division else { return state.next_due };
        let last = Timestamp::from_micros(state.last_visit).unwrap_or(Timestamp::MAX);
        let wait = division.interval(interval).map(Interval::from_seconds);
        let is_dropped = wait.is_none_or(|wait| wait > REVISIT_INTERVAL_MAX);
        if is_dropped != state.dropped {
            state.dropped = is_dropped;
            let kept = &mut self.servers[server as usize].kept;
            kept.dropped = if is_dropped { kept.dropped + 1 } else { kept.dropped.saturating_sub(1) };
        }
        if is_dropped {
            let draw = chance::hash_bytes(self.settings.seed, state.url.as_bytes()) % 100;
            return minute(last.plus(Interval::from_days(300 + draw)));
        }
        let divided = minute(last.plus(wait.unwrap_or_default()));
        // What is gone, or fails, is not kept fresh by looking at it more often.
        if state.is_live() { divided } else { divided.max(state.next_due) }
    }
    /// Looks anew how a server's means are divided, when enough has changed.
    fn refresh_division(&mut self, server: u32) {
        let state = &mut self.servers[server as usize];
        if state.division_good_for > 0 {
            state.division_good_for -= 1;
            return;
        }
        let means = self.means(server);
        let state = &mut self.servers[server as usize];
        let pages = u32::try_from(state.kept.pages / 32).unwrap_or(u32::MAX);
        state.division_good_for = pages.clamp(DIVISION_CHANGES_MIN, 1_024);
        state.division = state.kept.load.divide(means);
    }
    /// Requests a second that may be made of a server: what its pause allows, and its part of what that of its address
    /// allows (D6).
    pub(super) fn means(&self, server: u32) -> f64 {
        let state = &self.servers[server as usize];
        let of_pause = |pause: Interval, width: u32| {
            if pause == Interval::ZERO { f64::INFINITY } else { f64::from(width) / pause.as_seconds_f64() }
        };
        let own = of_pause(state.least_pause(), state.width);
        let a_day = self
            .settings
            .server_requests_per_day_max
            .map_or(f64::INFINITY, |most| f64::from(u32::try_from(most).unwrap_or(u32::MAX)) / 86_400.0);
        let address = state.kept.address.and_then(|address| self.addresses.get(address));
        let shared = address.map_or(f64::INFINITY, |address| {
            let (all, mine) = (crate::load::in_requests(address.load), state.kept.load.per_second());
            let most = of_pause(address.pause, address.width);
            if all > most { most * mine / all } else { f64::INFINITY }
        });
        own.min(a_day).min(shared)
    }

    /// Folds a page anew from all of its captures, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn refold(&mut self, lessons: &[Lesson<'_>]) -> Result<Learned> {
        let Some(first) = lessons.first() else { return Ok(Learned::Unknown) };
        let unowned = Lesson { page: None, ..first.clone() };
        let Some((server, hand)) = self.page_of(&unowned)? else { return Ok(Learned::Unknown) };
        let old = hand.state();
        self.discount(server, &old);
        let earliest = seconds(first.at);
        let mut state = State::new(first.url.as_str(), old.role, old.priority, moment(Minute(0)));
        state.first_seen = old.first_seen.min(earliest);
        (state.found_on, state.hops, state.announced) = (old.found_on, old.hops, old.announced);
        for lesson in lessons {
            lesson::learn(&mut state, lesson, &*self.policy, self.settings.seed);
        }
        self.count(server, &state);
        let place = self.place_for(server, &mut state);
        let mut value = Vec::new();
        state.write(&mut value);
        self.update(hand.number, hand.key(), place, &value)?;
        if let Some(Held::Out(_, out)) = self.held.get_mut(&hand.number.0) {
            // It is being visited: what comes of that is learned on top.
            *out = Hand::new(hand.number, hand.key(), &value);
        }
        Ok(Learned::Yes)
    }
}
