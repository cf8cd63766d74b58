//! Where the links of a page lead.
//!
//! | where | to |
//! |---|---|
//! | navigation | the first eight sections |
//! | trail | the pages above |
//! | listing, in the main text | the children |
//! | related | 12 to 24 pages of the server, half of them neighbours |
//! | elsewhere | 3 to 6 pages of other servers, the low-numbered ones most |
//! | partners, on the home page | the home pages of eight servers, so that all are reachable from server 0 |
//!
//! A link is left out until its target is born. A listing also drops deleted pages; elsewhere the link stays and is
//! broken. Links follow a directory that moves.
//!
//! **Invariant:** the targets of a page never change; only whether and how they are written changes, at instants that
//! every [`Link`] knows.

use crate::change::Second;
use crate::draw::{below, draw, unit};
use crate::page::Page;
use crate::server::{FAN, Server};

/// The part of a page that a link is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    Navigation,
    Trail,
    Listing,
    Related,
    Elsewhere,
    Partners,
}

/// A link to a page, and when it appears, changes and disappears.
#[derive(Clone, Copy)]
pub(crate) struct Link<'w> {
    pub(crate) spot: Spot,
    pub(crate) target: Page<'w>,
    /// When it appears.
    born: Second,
    /// When its URL changes.
    moved: Option<Second>,
    /// When it disappears.
    dropped: Option<Second>,
}

const NAVIGATION_MAX: u64 = 8;
const PARTNERS: u64 = 8;

// Salts of the draws from a page's seed.
const RELATED: u64 = 30;
const ELSEWHERE: u64 = 31;

impl<'w> Link<'w> {
    fn new(spot: Spot, target: Page<'w>) -> Self {
        let dropped = if spot == Spot::Listing { target.deleted() } else { None };
        Self { spot, target, born: target.born(), moved: target.moved(), dropped }
    }
    /// Whether it is on the page at `now`.
    pub(crate) fn is_there(&self, now: Second) -> bool {
        self.born <= now && self.dropped.is_none_or(|at| now < at)
    }
    /// Appends the path and query it leads to at `now`.
    pub(crate) fn push_target(&self, out: &mut String, now: Second) {
        self.target.push_target(out, self.moved.is_some_and(|at| at <= now));
    }
    /// When the text of the page changes because of it.
    pub(crate) fn text_instants(&self) -> impl Iterator<Item = Second> + use<> {
        let listed = (self.spot == Spot::Listing).then_some(self.born);
        listed.into_iter().chain(self.dropped)
    }
    /// When the bytes of the page change because of it.
    pub(crate) fn instants(&self) -> impl Iterator<Item = Second> + use<'w> {
        let link = *self;
        let moved = self.moved.filter(move |at| link.is_there(*at));
        [self.born].into_iter().chain(moved).chain(self.dropped)
    }
}

/// All links of a page, those not yet or no longer there included.
pub(crate) fn of<'w>(page: &Page<'w>) -> Vec<Link<'w>> {
    let mut links = Vec::with_capacity(96);
    let mut add = |spot, target: Page<'w>| {
        if (target.server.number, target.number) != (page.server.number, page.number) {
            links.push(Link::new(spot, target));
        }
    };
    navigation(page).for_each(|target| add(Spot::Navigation, target));
    trail(page).for_each(|target| add(Spot::Trail, target));
    page.children().for_each(|target| add(Spot::Listing, target));
    related(page).for_each(|target| add(Spot::Related, target));
    elsewhere(page).for_each(|target| add(Spot::Elsewhere, target));
    partners(page).for_each(|target| add(Spot::Partners, target));
    links
}

fn navigation<'w>(page: &Page<'w>) -> impl Iterator<Item = Page<'w>> + use<'w> {
    let server = page.server;
    (1..server.pages.min(NAVIGATION_MAX + 1)).map(move |number| Page::new(server, number))
}

fn trail<'w>(page: &Page<'w>) -> impl Iterator<Item = Page<'w>> + use<'w> {
    std::iter::successors(page.parent(), Page::parent).take_while(|page| page.number > 0)
}

fn related<'w>(page: &Page<'w>) -> impl Iterator<Item = Page<'w>> + use<'w> {
    let (server, number, seed) = (page.server, page.number, page.draw(RELATED));
    let count = (12 + below(seed, 13)).min(server.pages / 2);
    let first = number.saturating_sub(1) / FAN * FAN + 1;
    let neighbours = server.pages.saturating_sub(first).min(FAN);
    (0..count).map(move |n| {
        let draw = draw(seed, n);
        let far = n % 2 == 0 || neighbours == 0;
        Page::new(server, if far { below(draw, server.pages) } else { first + below(draw, neighbours) })
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a share of a count is below the count"
)]
fn elsewhere<'w>(page: &Page<'w>) -> impl Iterator<Item = Page<'w>> + use<'w> {
    let (layout, seed) = (page.server.layout, page.draw(ELSEWHERE));
    let (own, servers) = (page.server.number, layout.plan().servers);
    (0..3 + below(seed, 4)).filter_map(move |n| {
        let (server, popular) = (unit(draw(seed, 2 * n)), unit(draw(seed, 2 * n + 1)));
        let server = Server::new(layout, (f64::from(servers) * server * server * server) as u32);
        let number = (server.pages as f64 * popular * popular * popular * popular) as u64;
        (server.number != own).then(|| Page::new(server, number))
    })
}

fn partners<'w>(page: &Page<'w>) -> impl Iterator<Item = Page<'w>> + use<'w> {
    let layout = page.server.layout;
    let (first, servers) = (u64::from(page.server.number) * PARTNERS + 1, u64::from(layout.plan().servers));
    let last = if page.number == 0 { (first + PARTNERS).min(servers) } else { 0 };
    (first..last).filter_map(move |number| Some(Page::home(layout, u32::try_from(number).ok()?)))
}
