//! What enters the crawl: offers that wait to be judged, links for other owners, and what is not accepted.
//!
//! **Invariant:** offers are judged in the order in which they were made, which is the order of the store's answers.

use crate::found_url::FoundUrl;
use crate::frontier::operator::Removal;
use crate::loaded_page::LoadedPage;
use crate::partition::{LinkBatch, Outbox, Owned};
use crate::recent_links::RecentLinks;
use crate::selection::Selection;
use base::{ServerName, Timestamp};

/// Offers, and what decides whether a URL is offered.
pub(crate) struct Intake {
    /// URLs that were offered recently.
    pub(crate) recent: RecentLinks,
    offered: Vec<LoadedPage>,
    owned: Owned,
    outbox: Outbox,
    excluded: Box<dyn Fn(&str) -> bool + Send>,
    /// Prefixes and servers that were removed or restored, in the order of the commands.
    removals: Vec<Removal>,
    dropped_links: u64,
}

impl Intake {
    /// Remembers about this many links.
    pub(crate) fn new(links_remembered: usize) -> Self {
        Self {
            recent: RecentLinks::new(links_remembered),
            offered: Vec::new(),
            owned: Owned::All,
            outbox: Outbox::default(),
            excluded: Box::new(|_| false),
            removals: Vec::new(),
            dropped_links: 0,
        }
    }
    pub(crate) fn set_excluded(&mut self, is_excluded: Box<dyn Fn(&str) -> bool + Send>) {
        self.excluded = is_excluded;
    }
    /// Whether the page of a key was taken down.
    pub(crate) fn is_excluded(&self, key: &str) -> bool {
        (self.excluded)(key)
    }
    pub(crate) fn set_owned(&mut self, owned: Owned) {
        self.owned = owned;
    }
    pub(crate) fn owns(&self, server: &ServerName) -> bool {
        self.owned.holds(server)
    }
    /// Keeps a link for the owner of its server.
    pub(crate) fn pass_on(&mut self, found: FoundUrl, at: Timestamp) {
        self.outbox.put(found, at);
    }
    /// Links for other owners: the batches that are full, or all.
    pub(crate) fn take_passed_on(&mut self, all: bool) -> Vec<LinkBatch> {
        self.outbox.take(all)
    }

    /// Adds an offer that the store will judge.
    pub(crate) fn offer(&mut self, page: LoadedPage) {
        self.offered.push(page);
    }
    /// The offers that wait, in their order.
    pub(crate) fn offered(&self) -> &[LoadedPage] {
        &self.offered
    }
    /// Takes the offers that the store has judged.
    pub(crate) fn take_offered(&mut self) -> Vec<LoadedPage> {
        std::mem::take(&mut self.offered)
    }

    /// The removal that a page with this key belongs to, unless it was restored since.
    pub(crate) fn removal(&self, key: &str) -> Option<&Removal> {
        let latest = self.removals.iter().rev().find(|removal| removal.selection.holds(key));
        latest.filter(|removal| removal.is_removed)
    }
    /// Whether a removal covers a part of a selection.
    pub(crate) fn has_removal_of(&self, selection: &Selection) -> bool {
        let touches =
            |removal: &Removal| removal.selection.covers(selection) || selection.covers(&removal.selection);
        self.removals.iter().any(touches)
    }
    /// Adds a removal, or a restoration. It replaces those that it covers.
    pub(crate) fn add_removal(&mut self, added: Removal) {
        self.removals.retain(|removal| !added.selection.covers(&removal.selection));
        let is_covered = self.removals.iter().any(|removal| removal.selection.covers(&added.selection));
        if added.is_removed || is_covered {
            self.removals.push(added);
        }
    }
    pub(crate) fn removals(&self) -> &[Removal] {
        &self.removals
    }
    pub(crate) fn set_removals(&mut self, removals: Vec<Removal>) {
        self.removals = removals;
    }

    /// A link is not accepted.
    pub(crate) fn count_dropped(&mut self) {
        self.dropped_links += 1;
    }
    /// How many links were not accepted.
    pub(crate) fn dropped_links(&self) -> u64 {
        self.dropped_links
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::PageUrl;

    fn removal(text: &str, is_removed: bool) -> Removal {
        Removal { selection: Selection::read(text).unwrap(), at: 1, is_removed }
    }

    #[test]
    fn the_latest_removal_counts_and_replaces_what_it_covers() {
        let mut intake = Intake::new(8);
        let key = PageUrl::parse("http://a.example/x/1").unwrap().key();
        let server = Selection::read("server a.example");
        assert!(server.is_some());
        intake.add_removal(removal("server a.example", true));
        assert!(intake.removal(key.as_str()).is_some());
        intake.add_removal(removal("server a.example", false));
        assert!(intake.removal(key.as_str()).is_none() && intake.removals().is_empty());
    }

    #[test]
    fn offers_are_taken_once_in_their_order() {
        let mut intake = Intake::new(8);
        for number in 0..3 {
            intake.offer(LoadedPage::new(sat::Number(number), b"k", b""));
        }
        assert_eq!(intake.offered().len(), 3);
        let taken: Vec<u32> = intake.take_offered().iter().map(|page| page.number.0).collect();
        assert_eq!((taken, intake.offered().len()), (vec![0, 1, 2], 0));
    }
}
