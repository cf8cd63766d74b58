//! Learning from captures, in the order in which the archive has them.
//!
//! **Invariant:** a capture is learned once; its moment shows whether it was learned already. One that is older than
//! the last, as after an import, changes nothing here: its page is folded again from all of its captures
//! ([`Frontier::refold`], D4).

use super::Frontier;
use super::early::early_plan;
use super::operator::far;
use crate::Role;
use crate::error::Result;
use crate::held_back::HoldReason;
use crate::lesson::{self, Lesson, NextVisit, VisitResult};
use crate::loaded_page::{LoadedPage, split_key};
use crate::moment::{minute, moment, seconds};
use crate::servers::ServerId;
use crate::state::{State, Version};
use crate::trap::UrlShape;
use base::limits::SERVER_PAUSE_MAX;
use base::{Interval, PageUrl};
use sat::Minute;

/// Novelty is written after this many more pages; a crash may lose the rest.
const NOVELTY_PAGES: u32 = 128;

/// Whether a capture could be learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LearnResult {
    /// It was learned now, or before.
    Learned,
    /// The page is not known.
    UnknownPage,
    /// It is older than what the page has learned: call [`Frontier::refold`].
    Outdated,
}

impl Frontier {
    /// Learns from a capture that the archive holds.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn learn(&mut self, lesson: &Lesson<'_>) -> Result<LearnResult> {
        let learned = self.learn_one(lesson)?;
        // Only now: commits on the way belong to the checkpoint before.
        self.pass(lesson.place);
        Ok(learned)
    }
    fn learn_one(&mut self, lesson: &Lesson<'_>) -> Result<LearnResult> {
        if lesson.result == VisitResult::NotSent {
            return Ok(LearnResult::Learned);
        }
        let Some((server, loaded)) = self.page_of(lesson)? else {
            return Ok(LearnResult::UnknownPage);
        };
        let state = loaded.state();
        let micros = lesson.at.as_micros();
        if micros <= state.last_visit {
            self.write_back(lesson, &loaded, &state)?;
            return Ok(if micros == state.last_visit { LearnResult::Learned } else { LearnResult::Outdated });
        }
        if let Some(address) = lesson.address {
            self.move_load(server, address);
        }
        self.repeat_server_signals(server, lesson);
        self.apply(server, &loaded, state, lesson)?;
        Ok(LearnResult::Learned)
    }
    /// Applies a server's requests to wait again, in case the crawl crashed before they were stored.
    fn repeat_server_signals(&mut self, server: ServerId, lesson: &Lesson<'_>) {
        if let (None, VisitResult::Failed { status: status @ (429 | 503), .. }) =
            (lesson.page, &lesson.result)
        {
            let state = &mut self.servers[server];
            let pause = state.least_pause();
            state.kept.slow.refuse(*status, pause, lesson.at, lesson.at);
            self.servers.touch(server);
        }
        if let VisitResult::Failed { retry_after: Some(wait), .. } = &lesson.result {
            let wait = (*wait).min(SERVER_PAUSE_MAX);
            let until = lesson.at.plus(wait);
            let state = &mut self.servers[server];
            state.leave_until(until);
            state.kept.not_before = state.kept.not_before.max(seconds(until) + 1);
            self.servers.touch(server);
        }
    }
    /// Advances the checkpoint past a capture from which nothing is learned.
    pub fn pass(&mut self, place: &str) {
        place.clone_into(&mut self.crawl.place);
    }

    /// Writes back a loaded page that learned nothing because it has learned from a later capture.
    fn write_back(&mut self, lesson: &Lesson<'_>, loaded: &LoadedPage, state: &State) -> Result<()> {
        if lesson.page.is_none() {
            return Ok(());
        }
        let wait = Interval::from_seconds(state.wait.max(3_600));
        let due = state.next_due.max(minute(lesson.at.plus(wait)));
        self.update(loaded.number, loaded.key(), due, loaded.value())
    }

    /// The page of a lesson, loaded or from the store.
    fn page_of(&mut self, lesson: &Lesson<'_>) -> Result<Option<(ServerId, LoadedPage)>> {
        if let Some(number) = lesson.page
            && let Some(page) = self.workbench.end_visit(number)
        {
            return Ok(Some(page));
        }
        let key = lesson.url.key();
        let (prefix, _) = split_key(key.as_str());
        let Some(record) = self.store.get(key.as_str().as_bytes())? else { return Ok(None) };
        let server = self.server_of(&lesson.url.server(), prefix);
        self.workbench.unload(record.number);
        Ok(Some((server, LoadedPage::new(record.number, &record.key, &record.value))))
    }

    fn apply(
        &mut self,
        server: ServerId,
        loaded: &LoadedPage,
        mut state: State,
        lesson: &Lesson<'_>,
    ) -> Result<()> {
        let before = state.clone();
        // It was visited, whatever the result.
        state.held = None;
        if lesson.page.is_none() && !matches!(lesson.result, VisitResult::Refused(_)) {
            self.pay_late(server, loaded, &before, lesson.at);
        }
        let pace = &mut self.servers[server].kept.pace;
        let again = lesson::learn(&mut state, lesson, self.budget.policy(), pace, self.settings.seed);
        let at_once = again == NextVisit::AtOnce;
        let (_, target) = split_key(loaded.key_text());
        self.discover(loaded, &state, lesson, at_once)?;
        self.map(server, target, &before, &state, lesson)?;
        if self.workbench.queue(server).held_back_count() > 0 {
            self.release_unsuspected(server, lesson.at)?;
        }
        // Nothing is committed between here and the update: counts and states belong together.
        self.reserve()?;
        self.leave(server, &before);
        self.enter_load(server, &state);
        self.compare(server, loaded.number, target, (&before, &mut state), again);
        let planned = self.plan(server, &mut state, lesson.at, again);
        self.servers[server].co_change.planned(loaded.number.0, early_plan(&state));
        self.enter_census(server, &state);
        let place = if state.removed > 0 { far(lesson.at) } else { planned };
        let mut value = Vec::with_capacity(loaded.value().len() + 64);
        state.write(&mut value);
        self.update(loaded.number, loaded.key(), place, &value)?;
        match again {
            _ if state.removed > 0 => {}
            NextVisit::AtOnce => {
                self.enqueue(
                    server,
                    LoadedPage::new(loaded.number, loaded.key(), &value),
                    &state,
                    lesson.at,
                )?;
            }
            // A page that is learned from the archive waits in the store.
            NextVisit::Soon(wait) if lesson.page.is_some() => {
                let loaded = LoadedPage::new(loaded.number, loaded.key(), &value);
                self.workbench.retry_at(server, loaded, lesson.at.plus(wait));
            }
            _ => {}
        }
        if target == "/" {
            let content =
                if let VisitResult::Content(digest) = &lesson.result { Some(*digest) } else { None };
            let moved = if let VisitResult::Moved { target, .. } = &lesson.result { *target } else { None };
            self.compare_home(server, content, moved);
        }
        Ok(())
    }
    /// Updates the server's maps: shapes with something new, directories whose pages are gone.
    fn map(
        &mut self,
        server: ServerId,
        target: &str,
        before: &State,
        state: &State,
        lesson: &Lesson<'_>,
    ) -> Result<()> {
        let map = &mut self.servers[server];
        if matches!(lesson.result, VisitResult::Content(_) | VisitResult::NotModified | VisitResult::Gone(_))
        {
            map.is_map_dirty |= map.places.saw(target, state.is_gone());
        }
        for link in lesson.too_long {
            map.shapes.leave_out(HoldReason::TooLong, *link);
            map.is_map_dirty = true;
        }
        let VisitResult::Content(digest) = &lesson.result else { return Ok(()) };
        if state.role == Role::Requisite {
            return Ok(());
        }
        let [first, second, third, fourth, ..] = *digest;
        let content = [u32::from_le_bytes([first, second, third, fourth])];
        let features = lesson.text.map_or(&content[..], |text| text.features);
        if matches!(before.version, Version::Content(_)) {
            map.shapes.saw(features);
        } else {
            map.shapes.visited(UrlShape::of(target), features);
            map.is_map_dirty = true;
        }
        map.novelty_unwritten += 1;
        if map.novelty_unwritten >= NOVELTY_PAGES { self.write_novelty(server) } else { Ok(()) }
    }
    /// Accepts the links of a page.
    fn discover(
        &mut self,
        loaded: &LoadedPage,
        state: &State,
        lesson: &Lesson<'_>,
        at_once: bool,
    ) -> Result<()> {
        self.accept_links(loaded.number, state, lesson)?;
        match &lesson.result {
            VisitResult::Moved { target: Some(target), .. }
                if !at_once && target.key() != lesson.url.key() =>
            {
                if state.is_seed && state.visits == 1 {
                    self.follow_seed(loaded.number, state, target, lesson.at)
                } else {
                    self.follow(loaded.number, state, target, lesson.at)
                }
            }
            _ => Ok(()),
        }
    }

    /// A page is no longer counted with this state.
    pub(super) fn leave(&mut self, server: ServerId, state: &State) {
        let kept = &mut self.servers[server].kept;
        self.census.leave(&mut kept.counts, state);
        let share = self.budget.leave(&mut kept.load, state);
        if let Some(address) = kept.address.and_then(|address| self.addresses.get_mut(address)) {
            address.remove_load(share);
        }
        self.servers.touch(server);
    }
    /// A page is counted with this state.
    pub(super) fn enter(&mut self, server: ServerId, state: &State) {
        self.enter_load(server, state);
        self.enter_census(server, state);
    }
    /// A page joins the load of its server. Its plan depends on that, and its other counts on the plan.
    pub(super) fn enter_load(&mut self, server: ServerId, state: &State) {
        let kept = &mut self.servers[server].kept;
        let share = self.budget.enter(&mut kept.load, state);
        if let Some(address) = kept.address.and_then(|address| self.addresses.get_mut(address)) {
            address.add_load(share);
        }
    }
    pub(super) fn enter_census(&mut self, server: ServerId, state: &State) {
        self.census.enter(&mut self.servers[server].kept.counts, state);
        self.servers.touch(server);
    }

    /// Folds a page again from all of its captures, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn refold(&mut self, lessons: &[Lesson<'_>]) -> Result<LearnResult> {
        let Some(first) = lessons.first() else { return Ok(LearnResult::UnknownPage) };
        let unowned = Lesson { page: None, ..first.clone() };
        let Some((server, loaded)) = self.page_of(&unowned)? else { return Ok(LearnResult::UnknownPage) };
        let old = loaded.state();
        self.leave(server, &old);
        let earliest = seconds(first.at);
        let mut state = State::new(first.url.as_str(), old.role, old.priority, moment(Minute(0)));
        state.first_seen = old.first_seen.min(earliest);
        (state.found_on, state.hops, state.announced) = (old.found_on, old.hops, old.announced);
        (state.hinted, state.heard, state.vouched) = (old.hinted, old.heard, old.vouched);
        (state.removed, state.event) = (old.removed, old.event);
        state.is_seed = old.is_seed;
        // The server's pace was or will be learned from these captures when they arrive; they count once.
        let mut pace = self.servers[server].kept.pace.clone();
        let (mut again, mut last) = (NextVisit::ByPlan, first.at);
        for lesson in lessons.iter().filter(|lesson| lesson.result != VisitResult::NotSent) {
            again = lesson::learn(&mut state, lesson, self.budget.policy(), &mut pace, self.settings.seed);
            last = lesson.at;
            // A later capture depends on it; the last one is planned below.
            state.wait = match again {
                NextVisit::After(wait) | NextVisit::Soon(wait) => wait.as_seconds(),
                NextVisit::AtOnce | NextVisit::ByPlan => state.interval,
            };
        }
        // An order that was not carried out yet remains.
        if old.asked > seconds(last) {
            state.asked = old.asked;
        }
        self.enter_load(server, &state);
        let planned = self.plan(server, &mut state, last, again);
        self.enter_census(server, &state);
        let place = if state.removed > 0 { far(last) } else { planned };
        let mut value = Vec::new();
        state.write(&mut value);
        self.update(loaded.number, loaded.key(), place, &value)?;
        Ok(LearnResult::Learned)
    }
}

/// The registrable domain of a URL, or its host where there is none, as for an address.
pub(super) fn site_of(url: &PageUrl) -> &str {
    base::server::registrable_domain(url.host()).unwrap_or_else(|| url.host())
}
