//! A whole web: from a plan to the one function that answers every request.
//!
//! **Invariant:** memory is one number a server, whatever the number of pages; an answer depends on nothing but plan,
//! question and moment.

use crate::answer::{Answer, Asked, Head, Source};
use crate::name::{Names, Owner};
use crate::page::Page;
use crate::path::{self, Place};
use crate::server::Server;
use crate::{Plan, document, feed, hostile, requisite, robots, sitemap};
use base::Timestamp;
use base::url::Scheme;
use std::net::Ipv4Addr;

/// A simulated web.
#[derive(Clone, Debug)]
pub struct Web {
    plan: Plan,
    names: Names,
    /// The number of the first page of each server among all pages, and the number of all pages at the end.
    first_pages: Vec<u64>,
}

impl Web {
    /// The web of a plan. Every server has a home page, so there are at least as many pages as servers.
    ///
    /// # Panics
    /// When the plan has no server, or more servers than there are addresses.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        assert!(plan.servers > 0, "a web has a server");
        let names = Names::new(plan.seed, plan.servers, plan.hostile);
        let first_pages = first_pages(plan.pages, plan.servers);
        Self { plan, names, first_pages }
    }

    /// What it was made from.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// How many pages its honest servers have, those not yet born included.
    #[must_use]
    pub fn pages(&self) -> u64 {
        *self.first_pages.last().expect("a web has a server")
    }

    /// How many bytes of memory it takes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.first_pages.capacity() * size_of::<u64>()
    }

    /// The address of `host`, if there is such a server.
    #[must_use]
    pub fn address(&self, host: &str) -> Option<Ipv4Addr> {
        self.names.owner(host).map(|owner| self.names.address(owner))
    }

    /// The host of honest server `number`.
    ///
    /// # Panics
    /// When there are fewer servers.
    #[must_use]
    pub fn host(&self, number: u32) -> String {
        assert!(number < self.plan.servers, "server {number} of {}", self.plan.servers);
        let mut host = String::new();
        self.names.push_host(&mut host, number);
        host
    }

    /// The other host under which honest server `number` answers, if it has one.
    #[must_use]
    pub fn alias(&self, number: u32) -> Option<String> {
        self.names.alias(number)
    }

    /// The URL of page `page` of honest server `number` as it is written at `now`.
    ///
    /// # Panics
    /// When there is no such page.
    #[must_use]
    pub fn page_url(&self, number: u32, page: u64, now: Timestamp) -> String {
        let page = self.page(number, page);
        let mut url = String::new();
        page.push_url(&mut url, now.as_seconds());
        url
    }

    /// How many pages honest server `number` has, those not yet born included.
    ///
    /// # Panics
    /// When there are fewer servers.
    #[must_use]
    pub fn server_pages(&self, number: u32) -> u64 {
        self.server(number).pages
    }

    /// Whether the robots file of `host` lets a polite visitor see `target` (path and query); a host that does
    /// not exist forbids nothing.
    #[must_use]
    pub fn robots_allows(&self, host: &str, target: &str) -> bool {
        match self.names.owner(host) {
            Some(Owner::Honest { number, .. }) => robots::allows(&self.server(number), target),
            Some(Owner::Hostile(number)) => hostile::robots_allows(number, target),
            None => true,
        }
    }

    /// What is answered to `asked` at `now`.
    #[must_use]
    pub fn answer(&self, asked: &Asked<'_>, now: Timestamp) -> Answer {
        self.complete(self.head(asked, now))
    }

    /// The head of what is answered to `asked` at `now`. The body of a page is left to [`Web::complete`], which may
    /// be called on another thread, and later.
    #[must_use]
    pub fn head(&self, asked: &Asked<'_>, now: Timestamp) -> Head {
        match self.names.owner(asked.host) {
            Some(Owner::Honest { number, .. }) => head_of_honest(&self.server(number), asked, now),
            Some(Owner::Hostile(number)) => hostile::answer(self.plan.seed, number, asked, now).into(),
            None => Answer::plain(421, "text/plain", "no such server\n").into(),
        }
    }

    /// The answer with this head.
    #[must_use]
    pub fn complete(&self, head: Head) -> Answer {
        let Head { status, fields, manner, source } = head;
        let body = match source {
            Source::Made(body) => body,
            Source::Page { server, page, now, compressed } => {
                document::body(&self.page(server, page), now, compressed)
            }
            Source::Feed { server, now } => feed::body(&self.server(server), now),
            Source::Sitemap { server, part, now, compressed } => {
                sitemap::body(&self.server(server), part, now, compressed)
            }
        };
        Answer { status, fields, body, manner }
    }

    pub(crate) fn server(&self, number: u32) -> Server<'_> {
        let at = number as usize;
        let pages = self.first_pages[at + 1] - self.first_pages[at];
        Server::new(self, number, pages)
    }

    pub(crate) fn page(&self, server: u32, number: u64) -> Page<'_> {
        Page::new(self.server(server), number)
    }
}

fn head_of_honest(server: &Server<'_>, asked: &Asked<'_>, now: Timestamp) -> Head {
    if server.scheme() == Scheme::Https && asked.scheme == Scheme::Http {
        return document::redirect(server, &format!("https://{}{}", asked.host, asked.target)).into();
    }
    let file = match path::read(server, asked.target) {
        Some(Place::Page { page, moved }) => return document::head(&page, moved, asked, now),
        Some(Place::Sitemap(part)) => return sitemap::head(server, part, asked, now),
        Some(Place::Feed) => return feed::head(server, asked, now),
        Some(Place::Robots) => robots::answer(server),
        Some(Place::Style(number)) => requisite::style(server, number, asked),
        Some(Place::Image(number)) => requisite::image(server, number, asked),
        None => document::missing(server, 404),
    };
    file.into()
}

/// Divides the pages: one each, the rest in proportion to (rank + 1)^−¾, so that a few servers have most.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares are estimated in doubles and made exact in whole numbers"
)]
fn first_pages(pages: u64, servers: u32) -> Vec<u64> {
    let weight = |rank: u32| 1.0 / (f64::from(rank + 1).sqrt() * f64::from(rank + 1).sqrt().sqrt());
    let all: f64 = (0..servers).map(weight).sum();
    let spare = pages.saturating_sub(u64::from(servers));
    let share = |rank: u32| (spare as f64 * (weight(rank) / all)) as u64;
    let mut left = spare.saturating_sub((0..servers).map(share).sum());
    let mut first_pages = vec![0];
    let mut total = 0;
    for rank in 0..servers {
        // What rounding left over goes to the first servers, one page each, and all that is still left to the last.
        let extra = if rank + 1 == servers { left } else { left.min(1) };
        left -= extra;
        total += 1 + share(rank) + extra;
        first_pages.push(total);
    }
    first_pages
}
