//! Discovery: links are judged, offered to the store, and added if they are new (C1).
//!
//! The store judges offers in batches ([`Frontier::settle`]); the caller says when. What was offered is durable with
//! the next commit even if it is judged later (D5).

use super::Frontier;
use super::learn::site_of;
use crate::error::Result;
use crate::held_back::HoldReason;
use crate::lesson::Lesson;
use crate::loaded_page::{LoadedPage, split_key};
use crate::moment::seconds;
use crate::scope::ScopeVerdict;
use crate::servers::ServerId;
use crate::state::State;
use crate::{FoundUrl, Role};
use base::limits::REDIRECTS_MAX;
use base::{PageUrl, Timestamp, UrlKey, chance};
use sat::Number;

/// Maximum number of offers that wait before they are judged automatically.
const OFFERED_MAX: usize = 200_000;
/// What is needed to show a page comes before other pages: it is small, and the page is incomplete without it.
const REQUISITE_PRIORITY: i8 = 1;

/// A page needs a style sheet, which imports another, which needs a font. More steps than this are a trap or a mistake.
const REQUISITE_DEPTH_MAX: u8 = 6;

/// Where a link was found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Origin {
    pub(super) page: Option<Number>,
    /// Number of redirects and requisites that led to it.
    pub(super) hops: u8,
    /// Whether that makes it worth a visit whatever its shape (H10).
    pub(super) vouched: bool,
    /// Whether it was named, or a seed led to it.
    pub(super) is_seed: bool,
}

impl Frontier {
    /// Adds pages by name, such as seeds: their surroundings belong to the crawl, and they are visited soon. Returns
    /// how many were offered; known ones are not.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn add(&mut self, pages: &[FoundUrl], priority: i8, at: Timestamp) -> Result<usize> {
        let mut offered = 0;
        for found in pages {
            self.settings.scope.add_seed(&found.url);
            let origin = Origin { vouched: true, is_seed: true, ..Origin::default() };
            if self.accept(found, origin, Some(priority), at)? {
                offered += 1;
            }
        }
        Ok(offered)
    }
    /// Accepts links that are on no page of ours, such as those found by the owner of another partition (C15), or the
    /// sitemaps in a robots file.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn found(&mut self, links: &[FoundUrl], at: Timestamp) -> Result<()> {
        for found in links {
            self.accept(found, Origin::default(), None, at)?;
        }
        Ok(())
    }

    /// Adds a page under the server's proper name that was known under an alias (C10).
    pub(super) fn accept_again(&mut self, url: &PageUrl, state: &State) -> Result<()> {
        let found = FoundUrl { url: url.clone(), role: state.role, announced: None };
        let origin =
            Origin { page: state.found_on, hops: state.hops, vouched: state.vouched, is_seed: state.is_seed };
        self.accept(&found, origin, Some(state.priority), state.first_seen()).map(|_| ())
    }

    /// Offers a URL to the store, unless it was offered recently or is not wanted. Returns whether it was offered.
    pub(super) fn accept(
        &mut self,
        found: &FoundUrl,
        origin: Origin,
        priority: Option<i8>,
        at: Timestamp,
    ) -> Result<bool> {
        let key = found.url.key();
        let proper = self.by_proper_name(&found.url, &key);
        let (url, key) = match &proper {
            Some(proper) => (proper, proper.key()),
            None => (&found.url, key),
        };
        let hash = chance::hash_bytes(self.settings.seed, key.as_str().as_bytes());
        if let Some(announced) = found.announced.filter(|announced| *announced <= at) {
            self.hint(key.as_str().as_bytes(), announced, at)?;
        }
        if self.should_vouch(key.as_str(), origin, priority.is_some()) {
            self.vouch(key.as_str().as_bytes(), origin.page, at)?;
        }
        if self.intake.recent.holds(hash) {
            return Ok(false);
        }
        if priority.is_none() && self.is_full(key.as_str(), hash) {
            self.intake.count_dropped();
            return Ok(false);
        }
        let Some(priority) = self.judge_url(url, &key, found.role, priority) else {
            self.intake.count_dropped();
            return Ok(false);
        };
        self.intake.recent.add(hash);
        if !self.intake.owns(&url.server()) {
            self.intake.pass_on(FoundUrl { url: url.clone(), ..found.clone() }, at);
            return Ok(false);
        }
        let is_requisite = found.role == Role::Requisite;
        let priority = if is_requisite { priority.saturating_add(REQUISITE_PRIORITY) } else { priority };
        let mut state = State::new(url.as_str(), found.role, priority, at);
        (state.found_on, state.hops, state.vouched) = (origin.page, origin.hops, origin.vouched);
        state.is_seed = origin.is_seed;
        state.announced = found.announced.map_or(0, seconds);
        if state.announced > 0 {
            (state.hinted, state.heard) = (state.announced, seconds(at));
        }
        self.offer(&key, &state)?;
        Ok(true)
    }
    /// Whether a link may have to vouch for a known page. Links between sites are many; for them the store is read only
    /// if pages are held back.
    fn should_vouch(&self, key: &str, origin: Origin, is_named: bool) -> bool {
        let server = self.servers.of_key(key);
        let holds = |server| self.servers[server].kept.counts.held.total() > 0;
        origin.vouched && server.is_some_and(|server| is_named || holds(server))
    }
    /// Whether the server of a key has as many pages as it may have; the link is counted then.
    fn is_full(&mut self, key: &str, hash: u64) -> bool {
        let Some(server) = self.servers.of_key(key) else { return false };
        let state = &mut self.servers[server];
        if state.kept.counts.pages < self.settings.server_pages_max {
            return false;
        }
        #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
        state.shapes.leave_out(HoldReason::ServerFull, hash as u32);
        state.is_map_dirty = true;
        self.servers.touch(server);
        true
    }
    /// The priority of a URL that is wanted.
    fn judge_url(&self, url: &PageUrl, key: &UrlKey, role: Role, priority: Option<i8>) -> Option<i8> {
        let is_removed = priority.is_none() && self.intake.removal(key.as_str()).is_some();
        if is_removed || self.intake.is_excluded(key.as_str()) || url.target() == "/robots.txt" {
            return None;
        }
        match (priority, self.judge_scope(url, role)) {
            (Some(given), ScopeVerdict::Visit { priority }) => Some(given.saturating_add(priority)),
            (None, ScopeVerdict::Visit { priority }) => Some(priority),
            (_, ScopeVerdict::Leave(_)) => None,
        }
    }
    /// The scope's verdict on a URL in this role. Requisites may be anywhere.
    pub(super) fn judge_scope(&self, url: &PageUrl, role: Role) -> ScopeVerdict {
        match role {
            Role::Requisite if self.settings.requisites => self.settings.scope.judge_requisite(url),
            _ => self.settings.scope.judge(url),
        }
    }
    /// Whether a URL belongs to the crawl as a page.
    fn is_in_scope(&self, url: &PageUrl) -> bool {
        matches!(self.settings.scope.judge(url), ScopeVerdict::Visit { .. })
    }
    /// Accepts the links of a page. A page outside the scope never leads to pages, and leads to further requisites only
    /// if it is one itself, up to a bounded depth.
    pub(super) fn accept_links(&mut self, from: Number, state: &State, lesson: &Lesson<'_>) -> Result<()> {
        if lesson.links.is_empty() {
            return Ok(());
        }
        // Links in feeds and sitemaps, and from other sites, are worth a visit.
        let is_list = matches!(state.role, Role::Feed | Role::Sitemap);
        let site = site_of(lesson.url);
        let is_requisite = state.role == Role::Requisite;
        let is_in_scope = self.is_in_scope(lesson.url);
        let depth = if is_requisite { state.hops.saturating_add(1) } else { 0 };
        for found in lesson.links {
            let (is_wanted, hops) = match found.role {
                Role::Requisite => ((is_in_scope || is_requisite) && depth <= REQUISITE_DEPTH_MAX, depth),
                _ => (is_in_scope || !is_requisite, 0),
            };
            if is_wanted {
                let vouched = is_list || found.announced.is_some() || site_of(&found.url) != site;
                self.accept(
                    found,
                    Origin { page: Some(from), hops, vouched, is_seed: false },
                    None,
                    lesson.at,
                )?;
            } else {
                self.intake.count_dropped();
            }
        }
        Ok(())
    }
    pub(super) fn offer(&mut self, key: &UrlKey, state: &State) -> Result<()> {
        if self.intake.offered().len() >= OFFERED_MAX {
            self.settle(state.first_seen())?;
        }
        let mut value = Vec::with_capacity(128);
        state.write(&mut value);
        let key = key.as_str().as_bytes();
        self.write(|store| store.offer(key, state.next_due, &value))?;
        self.intake.offer(LoadedPage::new(Number(0), key, &value));
        Ok(())
    }

    /// Number of offers that wait to be judged.
    #[must_use]
    pub fn offered(&self) -> usize {
        self.intake.offered().len()
    }
    /// Whether enough offers wait to be worth judging.
    #[must_use]
    pub fn should_settle(&self) -> bool {
        self.store.should_settle() || self.intake.offered().len() >= OFFERED_MAX / 2
    }
    /// Judges the offers that wait. New pages are loaded at once: they are due.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn settle(&mut self, now: Timestamp) -> Result<()> {
        if self.store.pending() == 0 {
            return Ok(());
        }
        self.write_kept()?;
        let answers = self.store.settle()?;
        let offered = self.intake.take_offered();
        for (offer, answer) in offered.iter().zip(&answers).filter(|(_, answer)| answer.is_new) {
            let loaded = LoadedPage::new(answer.number, offer.key(), offer.value());
            self.count_new(&loaded);
            if self.workbench.bytes() < self.settings.queue_bytes_max {
                self.load(loaded, now)?;
            }
        }
        Ok(())
    }
    /// Judges what was offered before a crash.
    pub(super) fn settle_recalled(&mut self) -> Result<()> {
        let answers = self.store.settle()?;
        for answer in answers.iter().filter(|answer| answer.is_new) {
            if let Some(record) = self.store.get_number(answer.number)? {
                self.count_new(&LoadedPage::new(record.number, &record.key, &record.value));
            }
        }
        Ok(())
    }
    fn count_new(&mut self, loaded: &LoadedPage) {
        let state = loaded.state();
        let prefix = split_key(loaded.key_text()).0;
        let Some(server) = self.server_in_key(prefix, &state) else { return };
        self.enter(server, &state);
    }

    /// Ensures that these pages are known, for captures that were made elsewhere or before (C17).
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn know(&mut self, pages: &[(PageUrl, Timestamp)]) -> Result<()> {
        for (url, at) in pages {
            let key = url.key();
            let hash = chance::hash_bytes(self.settings.seed, key.as_str().as_bytes());
            let is_left =
                self.intake.is_excluded(key.as_str()) || self.intake.removal(key.as_str()).is_some();
            if self.intake.recent.holds(hash) || is_left || url.target() == "/robots.txt" {
                continue;
            }
            self.intake.recent.add(hash);
            self.offer(&key, &State::new(url.as_str(), Role::Page, 0, *at))?;
        }
        self.settle_quietly()
    }
    /// Judges the offers that wait, without loading pages.
    fn settle_quietly(&mut self) -> Result<()> {
        if self.store.pending() == 0 {
            return Ok(());
        }
        self.write_kept()?;
        let answers = self.store.settle()?;
        let offered = self.intake.take_offered();
        for (offer, answer) in offered.iter().zip(&answers).filter(|(_, answer)| answer.is_new) {
            self.count_new(&LoadedPage::new(answer.number, offer.key(), offer.value()));
        }
        Ok(())
    }

    /// Follows a redirect to another page, which is judged like any page, up to a limit (H4).
    ///
    /// The target of a requisite is a requisite, too.
    pub(super) fn follow(
        &mut self,
        from: Number,
        state: &State,
        target: &PageUrl,
        at: Timestamp,
    ) -> Result<()> {
        let Some(hops) = self.next_hop(state) else { return Ok(()) };
        let origin = Origin { page: Some(from), hops, vouched: state.vouched, is_seed: false };
        let role = if state.role == Role::Requisite { Role::Requisite } else { Role::Page };
        let found = FoundUrl { role, ..FoundUrl::page(target.clone()) };
        self.accept(&found, origin, None, at).map(|_| ())
    }

    /// The number of hops to the target of a page's redirect. Above the limit (H4) the link is counted as dropped.
    pub(super) fn next_hop(&mut self, state: &State) -> Option<u8> {
        let hops = state.hops.checked_add(1).filter(|hops| usize::from(*hops) <= REDIRECTS_MAX);
        if hops.is_none() {
            self.intake.count_dropped();
        }
        hops
    }

    /// Deletes a page.
    pub(super) fn forget(&mut self, server: ServerId, number: Number, state: &State) -> Result<()> {
        self.write(|store| store.delete(number))?;
        self.leave(server, state);
        Ok(())
    }
}
