//! When a page changes: by its own process, by the pages it lists, and by its server.
//!
//! The *main text* changes by the page's process, and when a child is born or deleted (the listing is part of the main
//! text). The *bytes* change then too, and also with the advert block, the date line, a new template of the
//! server, the birth of the target of any link, and the move of a directory that the page links to or lies in.
//!
//! **Invariant:** the body of a page at two moments of its life is the same exactly when no byte change lies between;
//! likewise its main text and the text changes.

use crate::ORIGIN;
use crate::change::{Instants, Second};
use crate::links::{self, Link};
use crate::page::Page;

/// Number of the latest text changes that a page shows; older ones are ignored.
pub(crate) const SHOWN: usize = 8;
/// Before any page is born.
const FOUNDED: Second = ORIGIN.as_seconds() - 6 * 365 * 86_400;

/// The history of one page.
pub(crate) struct History<'w> {
    page: Page<'w>,
    born: Second,
    /// All links of the page.
    pub(crate) links: Vec<Link<'w>>,
    text: Instants,
    advert: Instants,
    rebuilds: Instants,
    days: Instants,
}

impl<'w> History<'w> {
    pub(crate) fn of(page: &Page<'w>) -> Self {
        let process = page.process();
        Self {
            page: *page,
            born: page.born(),
            links: links::of(page),
            text: Instants::of_text(process, page.seed),
            advert: Instants::of_advert(process, page.seed),
            rebuilds: page.server.rebuilds(),
            days: page.day_changes(),
        }
    }

    /// When the main text last changed, at or before `now`; the birth if it never did.
    pub(crate) fn text_changed(&self, now: Second) -> Second {
        let own = self.text.last(self.born, now).unwrap_or(self.born);
        let listed = self.links.iter().flat_map(Link::text_instants).filter(|at| *at <= now);
        listed.fold(own, Second::max)
    }
    /// When anything in the bytes last changed, at or before `now`; the birth if nothing ever did.
    pub(crate) fn bytes_changed(&self, now: Second) -> Second {
        let own = [self.advert_changed(now), self.template_since(now), self.day_since(now)];
        let instants = self.links.iter().flat_map(Link::instants).chain(self.page.moved());
        let linked = instants.filter(|at| *at <= now);
        linked.chain(own).fold(self.text_changed(now), Second::max)
    }
    /// The last changes of its own process, the latest first.
    pub(crate) fn recent(&self, now: Second, found: &mut [Second; SHOWN]) -> usize {
        self.text.recent(self.born, now, found)
    }
    pub(crate) fn advert_changed(&self, now: Second) -> Second {
        self.advert.last(self.born, now).unwrap_or(self.born)
    }
    /// When the server got the template it has; it is the same for all of its pages.
    pub(crate) fn template_since(&self, now: Second) -> Second {
        self.rebuilds.last(FOUNDED, now).unwrap_or(FOUNDED)
    }
    pub(crate) fn day_since(&self, now: Second) -> Second {
        self.days.last(self.born, now).unwrap_or(self.born)
    }

    /// When anything in the bytes changes next, in `(after, before)`, while the page lives.
    pub(crate) fn next_change(&self, after: Second, before: Second) -> Option<Second> {
        let after = after.max(self.born - 1);
        let end = self.page.deleted().map_or(before, |at| at.min(before));
        let processes = [&self.text, &self.advert, &self.rebuilds, &self.days];
        let linked = self.links.iter().flat_map(Link::instants).chain(self.page.moved()).chain([self.born]);
        let linked = linked.filter(|at| *at > after && *at < end);
        processes.iter().filter_map(|process| process.next(after, end)).chain(linked).min()
    }

    /// All text changes in `[from, to)` while the page lives, its birth included.
    pub(crate) fn text_changes(&self, from: Second, to: Second) -> Vec<Second> {
        let mut all = Vec::new();
        self.text.all(from, to, &mut all);
        all.extend(self.links.iter().flat_map(Link::text_instants));
        self.within_life(all, from, to)
    }
    /// All byte changes in `[from, to)` while the page lives, its birth included.
    pub(crate) fn byte_changes(&self, from: Second, to: Second) -> Vec<Second> {
        let mut all = self.text_changes(from, to);
        for instants in [&self.advert, &self.rebuilds, &self.days] {
            instants.all(from, to, &mut all);
        }
        all.extend(self.links.iter().flat_map(Link::instants).chain(self.page.moved()));
        self.within_life(all, from, to)
    }

    fn within_life(&self, mut all: Vec<Second>, from: Second, to: Second) -> Vec<Second> {
        let end = self.page.deleted().map_or(to, |at| at.min(to));
        all.push(self.born);
        all.retain(|at| *at >= from.max(self.born) && *at < end);
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// When the main text of a page last changed, without computing the rest of its history.
pub(crate) fn text_changed(page: &Page<'_>, now: Second) -> Second {
    let born = page.born();
    let own = Instants::of_text(page.process(), page.seed).last(born, now).unwrap_or(born);
    let listed = page.children().flat_map(|child| [Some(child.born()), child.deleted()]).flatten();
    listed.filter(|at| *at <= now).fold(own, Second::max)
}
