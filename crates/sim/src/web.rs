//! A whole web: from a plan to the function that answers every request.
//!
//! **Invariant:** memory is one number per server, however many pages there are; a response depends only on plan,
//! request and time.

use crate::layout::Layout;
use crate::name::{Names, Owner};
use crate::page::Page;
use crate::path::{self, Place};
use crate::response::{Source, WebRequest, WebResponse, WebResponseHead};
use crate::server::Server;
use crate::{Plan, document, feed, hostile, requisite, robots, sitemap};
use base::Timestamp;
use base::url::Scheme;
use std::net::Ipv4Addr;

/// A simulated web.
#[derive(Clone, Debug)]
pub struct Web {
    layout: Layout,
}

impl Web {
    /// The web of a plan. Every server has a home page, so there are at least as many pages as servers.
    ///
    /// # Panics
    /// When the plan has no server, or more servers than there are addresses.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        Self { layout: Layout::new(plan) }
    }

    /// The plan it was built from.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        self.layout.plan()
    }
    pub(crate) fn names(&self) -> &Names {
        self.layout.names()
    }

    /// Number of pages on its honest servers, those not yet born included.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.layout.pages()
    }

    /// Bytes of memory that it takes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.layout.heap_bytes()
    }

    /// The address of `host`, if there is such a server.
    #[must_use]
    pub fn address(&self, host: &str) -> Option<Ipv4Addr> {
        self.names().owner(host).map(|owner| self.names().address(owner))
    }

    /// The host of honest server `number`.
    ///
    /// # Panics
    /// When there are fewer servers.
    #[must_use]
    pub fn host(&self, number: u32) -> String {
        assert!(number < self.plan().servers, "server {number} of {}", self.plan().servers);
        self.names().host(number)
    }

    /// The alias of honest server `number`, if it has one.
    #[must_use]
    pub fn alias(&self, number: u32) -> Option<String> {
        self.names().alias(number)
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
        self.layout.server_pages(number)
    }

    /// Whether the robots file of `host` allows `target` (path and query); a host that does
    /// not exist disallows nothing.
    #[must_use]
    pub fn robots_allows(&self, host: &str, target: &str) -> bool {
        match self.names().owner(host) {
            Some(Owner::Honest { number, .. }) => robots::allows(&self.server(number), target),
            Some(Owner::Hostile(number)) => hostile::robots_allows(number, target),
            None => true,
        }
    }

    /// The response to `request` at `now`.
    #[must_use]
    pub fn answer(&self, request: &WebRequest<'_>, now: Timestamp) -> WebResponse {
        self.complete(self.head(request, now))
    }

    /// The response head for `request` at `now`. The body of a page is left to [`Web::complete`], which may
    /// be called later and on another thread.
    #[must_use]
    pub fn head(&self, request: &WebRequest<'_>, now: Timestamp) -> WebResponseHead {
        match self.names().owner(request.host) {
            Some(Owner::Honest { number, .. }) => head_of_honest(&self.server(number), request, now),
            Some(Owner::Hostile(number)) => hostile::answer(self.plan().seed, number, request, now).into(),
            None => WebResponse::plain(421, "text/plain", "no such server\n").into(),
        }
    }

    /// The response with this head.
    #[must_use]
    pub fn complete(&self, head: WebResponseHead) -> WebResponse {
        let WebResponseHead { status, fields, delivery, source } = head;
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
        WebResponse { status, fields, body, delivery }
    }

    pub(crate) fn server(&self, number: u32) -> Server<'_> {
        Server::new(&self.layout, number)
    }

    pub(crate) fn page(&self, server: u32, number: u64) -> Page<'_> {
        Page::new(self.server(server), number)
    }
}

fn head_of_honest(server: &Server<'_>, request: &WebRequest<'_>, now: Timestamp) -> WebResponseHead {
    if server.scheme() == Scheme::Https && request.scheme == Scheme::Http {
        return document::redirect(server, &format!("https://{}{}", request.host, request.target)).into();
    }
    let file = match path::read(server, request.target) {
        Some(Place::Page { page, moved }) => return document::head(&page, moved, request, now),
        Some(Place::Sitemap(part)) => return sitemap::head(server, part, request, now),
        Some(Place::Feed) => return feed::head(server, request, now),
        Some(Place::Robots) => robots::answer(server),
        Some(Place::Style(number)) => requisite::style(server, number, request),
        Some(Place::Image(number)) => requisite::image(server, number, request),
        None => document::missing(server, 404),
    };
    file.into()
}
