//! An operator's orders about known pages: visit them now, remove them, restore them.
//!
//! **Invariant:** the effect depends only on what was learned before, on the order and on its moment. Orders are noted
//! in the archive, so a schedule that is rebuilt from it is the same (D3).

use super::Frontier;
use crate::Role;
use crate::error::Result;
use crate::loaded_page::{LoadedPage, split_key};
use crate::moment::{minute, seconds};
use crate::selection::Selection;
use crate::state::{LastOutcome, State};
use base::limits::REVISIT_INTERVAL_MAX;
use base::{PageUrl, Timestamp};
use sat::{Minute, OwnedRecord};
use std::collections::HashSet;

/// Up to this many pages are looked up one by one; otherwise all pages are scanned.
const LOOKED_UP_MAX: usize = 32;
const RULE: &[u8] = b"r/";
const ACCESS: &[u8] = b"access";
const SCOPE: &[u8] = b"scope";

/// A prefix or a server that was removed or restored; the latest that contains a page counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Removal {
    pub selection: Selection,
    pub at: u64,
    pub is_removed: bool,
}

impl Removal {
    fn write(&self) -> String {
        let word = if self.is_removed { "remove" } else { "restore" };
        format!("{word} {} {}", self.at, self.selection)
    }
    fn read(text: &str) -> Option<Self> {
        let mut words = text.splitn(3, ' ');
        let is_removed = words.next()? == "remove";
        let at = words.next()?.parse().ok()?;
        Some(Self { selection: Selection::read(words.next()?)?, at, is_removed })
    }
}

impl Frontier {
    /// Schedules known pages before all others. Returns how many; removed pages stay removed.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn visit_now(&mut self, selections: &[Selection], at: Timestamp) -> Result<u64> {
        self.settle(at)?;
        let mut count = 0;
        for record in self.select(selections)? {
            count += u64::from(self.ask(&record, at)?);
        }
        Ok(count)
    }
    fn ask(&mut self, record: &OwnedRecord, at: Timestamp) -> Result<bool> {
        let Some(before) = State::read(&record.value).filter(|state| state.removed == 0) else {
            return Ok(false);
        };
        let state = State {
            asked: seconds(at).max(1),
            next_due: minute(at),
            vouched: true,
            held: None,
            ..before.clone()
        };
        self.rewrite(record, &before, &state, minute(at), at)?;
        Ok(true)
    }

    /// Removes pages from the crawl: they are not visited until they are added again, and links do not bring them back.
    /// Returns how many known pages that concerns.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn remove(&mut self, selections: &[Selection], at: Timestamp) -> Result<u64> {
        self.settle(at)?;
        let mut count = 0;
        for record in self.select(selections)? {
            count += u64::from(self.remove_page(&record, at)?);
        }
        for selection in selections {
            match selection.url() {
                Some(url) => self.remove_unknown(&url, at)?,
                None => self.add_removal(selection, at, true)?,
            }
        }
        self.settle(at)?;
        Ok(count)
    }
    fn remove_page(&mut self, record: &OwnedRecord, at: Timestamp) -> Result<bool> {
        let Some(before) = State::read(&record.value).filter(|state| state.removed == 0) else {
            return Ok(false);
        };
        let state = State { removed: seconds(at).max(1), asked: 0, held: None, ..before.clone() };
        self.rewrite(record, &before, &state, far(at), at)?;
        Ok(true)
    }
    /// Stores an unknown page as removed, so that links to it do not count.
    fn remove_unknown(&mut self, url: &PageUrl, at: Timestamp) -> Result<()> {
        let proper = self.by_proper_name(url, &url.key());
        let url = proper.as_ref().unwrap_or(url);
        if self.knows(url)? {
            return Ok(());
        }
        let state = State { removed: seconds(at).max(1), ..State::new(url.as_str(), Role::Page, 0, at) };
        self.offer(&url.key(), &state)
    }

    /// Restores removed pages, which are due at once. Returns how many.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn restore(&mut self, selections: &[Selection], at: Timestamp) -> Result<u64> {
        for selection in selections {
            if selection.url().is_none() && self.intake.has_removal_of(selection) {
                self.add_removal(selection, at, false)?;
            }
        }
        let mut count = 0;
        if self.census.orders().removed > 0 {
            for record in self.select(selections)? {
                count += u64::from(self.restore_page(&record, at)?);
            }
        }
        Ok(count)
    }
    fn restore_page(&mut self, record: &OwnedRecord, at: Timestamp) -> Result<bool> {
        let Some(before) = State::read(&record.value).filter(|state| state.removed > 0) else {
            return Ok(false);
        };
        let state = State { removed: 0, next_due: minute(at), vouched: true, ..before.clone() };
        self.rewrite(record, &before, &state, minute(at), at)?;
        Ok(true)
    }

    /// Notes a prefix or a server; earlier ones that it covers are dropped.
    fn add_removal(&mut self, selection: &Selection, at: Timestamp, is_removed: bool) -> Result<()> {
        self.intake.add_removal(Removal { selection: selection.clone(), at: seconds(at), is_removed });
        let stored: Vec<Vec<u8>> = self.removal_entries().map(|(name, _)| name).collect();
        for name in stored {
            self.write(|store| store.unset(&name))?;
        }
        for (place, removal) in (0_u32..).zip(self.intake.removals().to_vec()) {
            let name = [RULE, &place.to_be_bytes()].concat();
            self.write(|store| store.set(&name, removal.write().as_bytes()))?;
        }
        Ok(())
    }
    fn removal_entries(&self) -> impl Iterator<Item = (Vec<u8>, String)> + '_ {
        let entries = self.store.table().range(RULE.to_vec()..);
        let own = entries.take_while(|(name, _)| name.starts_with(RULE));
        own.map(|(name, value)| (name.clone(), String::from_utf8_lossy(value).into_owned()))
    }
    pub(super) fn recall_removals(&mut self) {
        let removals = self.removal_entries().filter_map(|(_, text)| Removal::read(&text)).collect();
        self.intake.set_removals(removals);
    }

    /// Schedules pages that were refused for a reason that may no longer hold: because of the settings in `access`, if
    /// they differ from those of the last call, or because a robots file could not be fetched. Returns how many.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn judge_again(&mut self, access: &str, at: Timestamp) -> Result<u64> {
        let is_same = self.store.table().get(ACCESS).is_some_and(|told| told == access.as_bytes());
        let refused = if is_same { 0 } else { self.census.orders().refused };
        let mut count = 0;
        if refused + self.census.orders().without_robots > 0 {
            for record in self.refused_pages(!is_same)? {
                count += u64::from(self.ask(&record, at)?);
            }
        }
        if !is_same {
            self.write(|store| store.set(ACCESS, access.as_bytes()))?;
        }
        Ok(count)
    }
    /// Stores the extent of the scope. Returns whether an earlier run had a narrower one, so that links which it left
    /// may belong to the crawl now.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn widens_scope(&mut self) -> Result<bool> {
        let scope = &self.settings.scope;
        let rules: Vec<String> = scope.rules().iter().map(ToString::to_string).collect();
        let told = format!("{} {}", scope.mode(), rules.join("\n"));
        let before = self.store.table().get(SCOPE).map(|told| String::from_utf8_lossy(told).into_owned());
        let is_wider = before.as_ref().is_some_and(|before| match before.split_once(' ') {
            Some((mode, before)) if before == rules.join("\n") => {
                mode.parse().is_ok_and(|mode: crate::Mode| mode.reach() < scope.mode().reach())
            }
            _ => true,
        });
        if before.as_ref() != Some(&told) {
            self.write(|store| store.set(SCOPE, told.as_bytes()))?;
        }
        Ok(is_wider)
    }
    fn refused_pages(&mut self, by_settings: bool) -> Result<Vec<OwnedRecord>> {
        let (mut found, opt_out) = (Vec::new(), std::sync::Arc::clone(&self.settings.opt_out));
        let is_listed = |url: &str| PageUrl::parse(url).is_ok_and(|url| opt_out.refuses(&url).is_some());
        self.store.for_each(|record| -> Result<()> {
            let state = State::read(record.value).unwrap_or_default();
            let is_meant = match state.outcome {
                LastOutcome::RobotsUnreachable => true,
                LastOutcome::OptOut => by_settings && !is_listed(&state.url),
                outcome => by_settings && outcome.is_by_settings(),
            };
            if is_meant {
                found.push(record.into());
            }
            Ok(())
        })?;
        found.sort_unstable_by_key(|record: &OwnedRecord| record.number.0);
        Ok(found)
    }

    /// Known pages, in the order of their numbers.
    fn select(&mut self, selections: &[Selection]) -> Result<Vec<OwnedRecord>> {
        let pages = selections.iter().filter_map(Selection::url);
        let pages = pages.map(|url| self.by_proper_name(&url, &url.key()).unwrap_or(url).key());
        let pages: HashSet<Box<[u8]>> = pages.map(|key| key.as_str().as_bytes().into()).collect();
        let others: Vec<&Selection> = selections.iter().filter(|one| one.url().is_none()).collect();
        let mut found: Vec<OwnedRecord> = Vec::new();
        if others.is_empty() && pages.len() <= LOOKED_UP_MAX {
            for page in &pages {
                found.extend(self.store.get(page)?);
            }
        } else {
            let is_below = |key: &str| others.iter().any(|selection| selection.holds(key));
            self.store.for_each(|record| -> Result<()> {
                if pages.contains(record.key) || std::str::from_utf8(record.key).is_ok_and(is_below) {
                    found.push(record.into());
                }
                Ok(())
            })?;
        }
        found.sort_unstable_by_key(|record| record.number.0);
        Ok(found)
    }
    /// Writes a page as it is now, and puts it into the queue of its server if it is due.
    fn rewrite(
        &mut self,
        record: &OwnedRecord,
        before: &State,
        state: &State,
        place: Minute,
        at: Timestamp,
    ) -> Result<()> {
        let key = String::from_utf8_lossy(&record.key).into_owned();
        let Some(server) = self.server_in_key(split_key(&key).0, state) else { return Ok(()) };
        self.workbench.unload(record.number);
        self.reserve()?;
        self.leave(server, before);
        self.enter(server, state);
        let mut value = Vec::with_capacity(record.value.len() + 16);
        state.write(&mut value);
        self.update(record.number, &record.key, place, &value)?;
        let loaded = LoadedPage::new(record.number, &record.key, &value);
        let is_visited = self.workbench.visiting(record.number).is_some();
        if is_visited || state.removed > 0 { Ok(()) } else { self.load(loaded, at) }
    }
}

/// The due minute of a removed page: the latest possible.
pub(super) fn far(at: Timestamp) -> Minute {
    minute(at.plus(REVISIT_INTERVAL_MAX))
}
