//! The ground truth about pages and servers, which a crawler's findings are compared with.
//!
//! **Invariant:** the changes listed for a page are those that show in its responses: between two of them every
//! response has the same body.

use crate::Web;
use crate::change::{ChangeProcess, Second, timestamp};
use crate::history::History;
use crate::name::Owner;
use crate::page::Page;
use crate::path::{self, Place};
use crate::server::{Robots, Server, Validators};
use base::{Interval, PageUrl, Timestamp};
use serde_json::{Value, json};

/// Maximum length of the period whose changes are listed: a page that changes every few minutes changes a million times in it.
const LISTED_SECONDS_MAX: Second = 10 * 365 * 86_400;

/// The truth about a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    /// The number of its server.
    pub server: u32,
    /// Its number on its server.
    pub page: u64,
    /// Its title.
    pub title: String,
    /// Its URLs before and after its directory moves; equal if it does not.
    pub urls: [String; 2],
    /// How its main text, or its advert block, changes.
    pub process: ChangeProcess,
    /// The mean time between two changes by that process.
    pub mean_interval: Option<Interval>,
    /// When it is created.
    pub born: Timestamp,
    /// When it is deleted, and the status from then on.
    pub deleted: Option<(Timestamp, u16)>,
    /// When its directory gets another name.
    pub moved: Option<Timestamp>,
    /// Whether its server's robots file allows it.
    pub robots_allow: bool,
    /// Changes of the bytes in the period, its birth included; in its first ten years if it is longer.
    pub byte_changes: Vec<Timestamp>,
    /// Changes of the main text in the period, its birth included; each is a byte change too.
    pub text_changes: Vec<Timestamp>,
    /// When the bytes last changed before the end of the period; none if it was not born then.
    pub bytes_changed_at: Option<Timestamp>,
    /// When the main text last changed before the end of the period.
    pub text_changed_at: Option<Timestamp>,
}

/// The truth about a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTruth {
    /// Its number.
    pub number: u32,
    /// Its host.
    pub host: String,
    /// Its alias, if it has one.
    pub alias: Option<String>,
    /// Its address.
    pub address: std::net::Ipv4Addr,
    /// `http` or `https`.
    pub scheme: &'static str,
    /// `ja` or `en`.
    pub language: &'static str,
    /// The charset of its pages.
    pub charset: &'static str,
    /// How many pages it has, those not yet born included.
    pub pages: u64,
    /// What its robots file says, in words.
    pub robots: &'static str,
    /// The `Crawl-delay` of its robots file.
    pub crawl_delay: Option<Interval>,
    /// Whether it sends `ETag` and `Last-Modified`.
    pub validators: (bool, bool),
    /// Where its feed is.
    pub feed: &'static str,
    /// Whether it has a news sitemap.
    pub news: bool,
    /// Whether URLs of a moved directory redirect to the new ones.
    pub leaves_redirects: bool,
}

impl Web {
    /// The truth about the page at `url`, with what happens in `[from, to)`; none if there never is such a page.
    #[must_use]
    pub fn truth(&self, url: &PageUrl, from: Timestamp, to: Timestamp) -> Option<Truth> {
        self.page_at(url).map(|page| truth_of(&page, from, to))
    }

    /// The truth about page `page` of honest server `server`.
    ///
    /// # Panics
    /// When there is no such page.
    #[must_use]
    pub fn truth_of(&self, server: u32, page: u64, from: Timestamp, to: Timestamp) -> Truth {
        truth_of(&self.page(server, page), from, to)
    }

    /// The truth about the server called `host`; none if it is not an honest one.
    #[must_use]
    pub fn server_truth(&self, host: &str) -> Option<ServerTruth> {
        let Some(Owner::Honest { number, .. }) = self.names().owner(host) else { return None };
        Some(server_truth(&self.server(number)))
    }

    /// When the bytes of the page at `url` change next after `now`, if they do before `end`; its birth counts.
    #[must_use]
    pub fn next_change(&self, url: &PageUrl, now: Timestamp, end: Timestamp) -> Option<Timestamp> {
        let page = self.page_at(url)?;
        History::of(&page).next_change(now.as_seconds(), first_second(end)).map(timestamp)
    }

    fn page_at(&self, url: &PageUrl) -> Option<Page<'_>> {
        let Some(Owner::Honest { number, .. }) = self.names().owner(url.host()) else { return None };
        match path::read(&self.server(number), url.target()) {
            Some(Place::Page { page, .. }) => Some(page),
            _ => None,
        }
    }
}

fn truth_of(page: &Page<'_>, from: Timestamp, to: Timestamp) -> Truth {
    let history = History::of(page);
    let (first, last) = (first_second(from).max(page.born()), first_second(to));
    let listed = last.min(first.saturating_add(LISTED_SECONDS_MAX));
    let is_born = page.born() < last;
    let process = page.process();
    let urls = [false, true].map(|moved| url(page, moved && page.moved().is_some()));
    let mut title = String::new();
    page.push_title(&mut title);
    let end = page.deleted().map_or(last, |at| at.min(last)) - 1;
    Truth {
        server: page.server.number,
        page: page.number,
        title,
        urls,
        process,
        mean_interval: process.mean_interval(),
        born: timestamp(page.born()),
        deleted: page.deleted().map(|at| (timestamp(at), page.deleted_status())),
        moved: page.moved().map(timestamp),
        robots_allow: page.server.private.is_none_or(|slot| slot != page.slot()),
        byte_changes: moments(&history.byte_changes(first, listed)),
        text_changes: moments(&history.text_changes(first, listed)),
        bytes_changed_at: is_born.then(|| timestamp(history.bytes_changed(end))),
        text_changed_at: is_born.then(|| timestamp(history.text_changed(end))),
    }
}

/// The first whole second at or after a moment.
fn first_second(at: Timestamp) -> Second {
    let second = at.as_seconds();
    if at.as_micros() % 1_000_000 == 0 { second } else { second + 1 }
}

fn moments(seconds: &[Second]) -> Vec<Timestamp> {
    seconds.iter().map(|second| timestamp(*second)).collect()
}

fn url(page: &Page<'_>, moved: bool) -> String {
    let mut url = String::new();
    page.server.push_origin(&mut url, page.server.scheme());
    page.push_target(&mut url, moved);
    url
}

fn server_truth(server: &Server<'_>) -> ServerTruth {
    let names = server.layout.names();
    let kind = server.robots();
    let validators = server.validators();
    ServerTruth {
        number: server.number,
        host: names.host(server.number),
        alias: names.alias(server.number),
        address: names.address(Owner::Honest { number: server.number, alias: false }),
        scheme: server.scheme().as_str(),
        language: server.language.code(),
        charset: server.charset().name,
        pages: server.pages,
        robots: robots_words(kind),
        crawl_delay: if let Robots::Delay(seconds) = kind {
            Some(Interval::from_seconds(seconds))
        } else {
            None
        },
        validators: (validators != Validators::None, validators == Validators::Both),
        feed: server.feed().path(),
        news: server.is_news(),
        leaves_redirects: server.leaves_redirects(),
    }
}

fn robots_words(kind: Robots) -> &'static str {
    match kind {
        Robots::Missing => "missing",
        Robots::Open => "everything allowed",
        Robots::Private => "/private/ disallowed",
        Robots::OtherRobot => "another robot disallowed",
        Robots::Delay(_) => "/private/ disallowed, with a delay",
    }
}

impl Truth {
    /// The truth as JSON; times are RFC 3339, intervals seconds.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "server": self.server,
            "page": self.page,
            "title": self.title,
            "url": self.urls[0],
            "url_after_move": self.urls[1],
            "process": self.process.as_str(),
            "mean_interval_seconds": self.mean_interval.map(Interval::as_seconds),
            "born": self.born.to_rfc3339(),
            "deleted": self.deleted.map(|(at, _)| at.to_rfc3339()),
            "deleted_status": self.deleted.map(|(_, status)| status),
            "moved": self.moved.map(Timestamp::to_rfc3339),
            "robots_allow": self.robots_allow,
            "byte_changes": texts(&self.byte_changes),
            "text_changes": texts(&self.text_changes),
            "bytes_changed_at": self.bytes_changed_at.map(Timestamp::to_rfc3339),
            "text_changed_at": self.text_changed_at.map(Timestamp::to_rfc3339),
        })
    }
}

impl ServerTruth {
    /// The truth as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "number": self.number,
            "host": self.host,
            "alias": self.alias,
            "address": self.address.to_string(),
            "scheme": self.scheme,
            "language": self.language,
            "charset": self.charset,
            "pages": self.pages,
            "robots": self.robots,
            "crawl_delay_seconds": self.crawl_delay.map(Interval::as_seconds),
            "etag": self.validators.0,
            "last_modified": self.validators.1,
            "feed": self.feed,
            "news": self.news,
            "leaves_redirects": self.leaves_redirects,
        })
    }
}

fn texts(moments: &[Timestamp]) -> Vec<String> {
    moments.iter().map(|moment| moment.to_rfc3339()).collect()
}
