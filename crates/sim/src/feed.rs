//! Feeds: the latest changes among the first pages of a server.
//!
//! **Invariant:** the entries are the [`ENTRIES`] pages, among the first [`CANDIDATES`], whose main text changed last, the
//! latest first; their moments are exact.

use crate::change::{Second, timestamp};
use crate::document;
use crate::draw::push_all;
use crate::history;
use crate::page::Page;
use crate::response::{Source, WebRequest, WebResponseHead};
use crate::server::{Feed, Server};
use crate::sitemap::{self, CANDIDATES};
use crate::text;
use base::Timestamp;
use serde_json::json;

/// Maximum number of entries in a feed.
pub(crate) const ENTRIES: usize = 20;

/// One entry.
struct FeedEntry {
    url: String,
    title: String,
    summary: String,
    changed: Timestamp,
}

/// Salt of the feed's `ETag`.
const TAG: u64 = 0x6665_6564_0001;

/// The response head for the feed.
pub(crate) fn head(server: &Server<'_>, request: &WebRequest<'_>, now: Timestamp) -> WebResponseHead {
    let now = now.as_seconds();
    let changed = sitemap::list_changed(server, 1, CANDIDATES, now);
    let source = Source::Feed { server: server.number, now };
    document::list(server, server.feed().media_type(), (TAG, changed), request, source)
}

/// The feed as it is sent.
pub(crate) fn body(server: &Server<'_>, now: Second) -> Vec<u8> {
    let latest: Vec<FeedEntry> =
        latest(server, now).iter().map(|(changed, page)| entry(page, *changed, now)).collect();
    let body = match server.feed() {
        Feed::Rss => rss(server, &latest),
        Feed::Atom => atom(server, &latest),
        Feed::Json => json_feed(server, &latest),
    };
    body.into_bytes()
}

/// The pages of the feed and when they changed.
fn latest<'w>(server: &Server<'w>, now: Second) -> Vec<(Second, Page<'w>)> {
    let candidates = sitemap::listed(server, 1, CANDIDATES, now);
    let mut latest: Vec<_> = candidates.map(|page| (history::text_changed(&page, now), page)).collect();
    latest.sort_by_key(|(changed, page)| (-changed, page.number));
    latest.truncate(ENTRIES);
    latest
}

fn entry(page: &Page<'_>, changed: Second, now: Second) -> FeedEntry {
    let (mut url, mut title, mut summary) = (String::new(), String::new(), String::new());
    page.push_url(&mut url, now);
    page.push_title(&mut title);
    text::sentence(&mut summary, page.server.language, page.topic());
    FeedEntry { url, title, summary, changed: timestamp(changed) }
}

fn site(server: &Server<'_>) -> (String, String) {
    let (mut name, mut home) = (String::new(), String::new());
    server.push_site_name(&mut name);
    server.push_origin(&mut home, server.scheme());
    home.push('/');
    (name, home)
}

fn rss(server: &Server<'_>, entries: &[FeedEntry]) -> String {
    let (name, home) = site(server);
    let mut xml = String::with_capacity(10 * 1_024);
    push_all(
        &mut xml,
        &["<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\">\n<channel>\n<title>", &name],
    );
    push_all(&mut xml, &["</title>\n<link>", &home, "</link>\n<description>", &name, "</description>\n"]);
    for entry in entries {
        let url = entry.url.replace('&', "&amp;");
        push_all(&mut xml, &["<item>\n<title>", &entry.title, "</title>\n<link>", &url, "</link>\n"]);
        push_all(
            &mut xml,
            &["<guid>", &url, "</guid>\n<pubDate>", &entry.changed.to_http_date(), "</pubDate>\n"],
        );
        push_all(&mut xml, &["<description>", &entry.summary, "</description>\n</item>\n"]);
    }
    xml.push_str("</channel>\n</rss>\n");
    xml
}

fn atom(server: &Server<'_>, entries: &[FeedEntry]) -> String {
    let (name, home) = site(server);
    let updated = entries.first().map_or(crate::ORIGIN, |entry| entry.changed).to_rfc3339();
    let mut xml = String::with_capacity(10 * 1_024);
    push_all(
        &mut xml,
        &["<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n"],
    );
    push_all(&mut xml, &["<title>", &name, "</title>\n<id>", &home, "</id>\n<link href=\"", &home, "\"/>\n"]);
    push_all(&mut xml, &["<updated>", &updated, "</updated>\n"]);
    for entry in entries {
        let url = entry.url.replace('&', "&amp;");
        push_all(
            &mut xml,
            &["<entry>\n<title>", &entry.title, "</title>\n<link href=\"", &url, "\"/>\n<id>", &url],
        );
        push_all(&mut xml, &["</id>\n<updated>", &entry.changed.to_rfc3339(), "</updated>\n<summary>"]);
        push_all(&mut xml, &[&entry.summary, "</summary>\n</entry>\n"]);
    }
    xml.push_str("</feed>\n");
    xml
}

fn json_feed(server: &Server<'_>, entries: &[FeedEntry]) -> String {
    let (name, home) = site(server);
    let item = |entry: &FeedEntry| {
        json!({
            "id": entry.url, "url": entry.url, "title": entry.title, "content_text": entry.summary,
            "date_modified": entry.changed.to_rfc3339(),
        })
    };
    let items: Vec<_> = entries.iter().map(item).collect();
    json!({
        "version": "https://jsonfeed.org/version/1.1", "title": name, "home_page_url": home, "items": items,
    })
    .to_string()
}
