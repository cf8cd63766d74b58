//! Sitemaps: every page that exists and is allowed by robots.txt, with the time its main text last changed.
//!
//! A server with more than [`PART_PAGES`] pages has an index of parts. A news server also lists what changed in the
//! last two days among its first pages.
//!
//! **Invariant:** `lastmod` is exact; a response needs at most [`PART_PAGES`] pages.

use crate::change::{Second, timestamp};
use crate::document;
use crate::draw::{push_all, push_number};
use crate::history;
use crate::page::Page;
use crate::path::Part;
use crate::response::{Source, WebRequest, WebResponseHead};
use crate::server::Server;
use base::Timestamp;

/// Maximum number of pages in one part.
pub(crate) const PART_PAGES: u64 = 1_000;
/// Number of pages, from the first, that feeds and news sitemaps choose from.
pub(crate) const CANDIDATES: u64 = 200;
/// How long something is news.
const NEWS_SECONDS: Second = 2 * 86_400;

const XML: &str = "application/xml";
const PROLOGUE: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
const NEWS_NAMESPACE: &str = "http://www.google.com/schemas/sitemap-news/0.9";

/// Salt of a part's `ETag`.
const TAG: u64 = 0x736d_6170_0001;

/// The response head for a part of the sitemap.
pub(crate) fn head(
    server: &Server<'_>,
    part: Part,
    request: &WebRequest<'_>,
    now: Timestamp,
) -> WebResponseHead {
    let now = now.as_seconds();
    let parts = server.pages.div_ceil(PART_PAGES);
    let xml = match part {
        Part::Whole if parts == 1 => return pages_head(server, 0, false, request, now),
        Part::Whole => index(server, parts),
        Part::Numbered { number, compressed }
            if parts > 1 && number < parts && compressed == server.compresses_sitemaps() =>
        {
            return pages_head(server, number, compressed, request, now);
        }
        Part::News if server.is_news() => news(server, now),
        _ => return document::missing(server, 404).into(),
    };
    document::tagged_file(server, XML, xml.into_bytes(), request).into()
}

fn pages_head(
    server: &Server<'_>,
    part: u64,
    compressed: bool,
    request: &WebRequest<'_>,
    now: Second,
) -> WebResponseHead {
    let changed = list_changed(server, part * PART_PAGES, PART_PAGES, now);
    let media_type = if compressed { "application/gzip" } else { XML };
    let source = Source::Sitemap { server: server.number, part, now, compressed };
    document::list(server, media_type, (TAG + part, changed), request, source)
}

/// A part that lists pages, as it is sent.
pub(crate) fn body(server: &Server<'_>, part: u64, now: Second, compressed: bool) -> Vec<u8> {
    let xml = pages(server, part, now).into_bytes();
    if compressed { document::gzip(&xml) } else { xml }
}

fn index(server: &Server<'_>, parts: u64) -> String {
    let mut xml = String::with_capacity(200 + 100 * 16);
    push_all(&mut xml, &[PROLOGUE, "<sitemapindex xmlns=\"", NAMESPACE, "\">\n"]);
    for part in 0..parts {
        xml.push_str("<sitemap><loc>");
        server.push_origin(&mut xml, server.scheme());
        xml.push_str("/sitemap-");
        push_number(&mut xml, part);
        xml.push_str(if server.compresses_sitemaps() { ".xml.gz" } else { ".xml" });
        xml.push_str("</loc></sitemap>\n");
    }
    xml.push_str("</sitemapindex>\n");
    xml
}

fn pages(server: &Server<'_>, part: u64, now: Second) -> String {
    let mut xml = String::with_capacity(160 * 1_024);
    push_all(&mut xml, &[PROLOGUE, "<urlset xmlns=\"", NAMESPACE, "\">\n"]);
    for page in listed(server, part * PART_PAGES, PART_PAGES, now) {
        xml.push_str("<url>");
        push_location(&mut xml, &page, now);
        let changed = timestamp(history::text_changed(&page, now)).to_rfc3339();
        push_all(&mut xml, &["<lastmod>", &changed, "</lastmod></url>\n"]);
    }
    xml.push_str("</urlset>\n");
    xml
}

fn news(server: &Server<'_>, now: Second) -> String {
    let mut xml = String::with_capacity(8 * 1_024);
    push_all(
        &mut xml,
        &[PROLOGUE, "<urlset xmlns=\"", NAMESPACE, "\" xmlns:news=\"", NEWS_NAMESPACE, "\">\n"],
    );
    for page in listed(server, 1, CANDIDATES, now) {
        let changed = history::text_changed(&page, now);
        if changed > now - NEWS_SECONDS {
            push_news(&mut xml, &page, changed, now);
        }
    }
    xml.push_str("</urlset>\n");
    xml
}

fn push_news(xml: &mut String, page: &Page<'_>, changed: Second, now: Second) {
    xml.push_str("<url>");
    push_location(xml, page, now);
    xml.push_str("<news:news><news:publication><news:name>");
    page.server.push_site_name(xml);
    push_all(xml, &["</news:name><news:language>", page.server.language.code(), "</news:language>"]);
    let date = timestamp(changed).to_rfc3339();
    push_all(
        xml,
        &["</news:publication><news:publication_date>", &date, "</news:publication_date><news:title>"],
    );
    page.push_title(xml);
    xml.push_str("</news:title></news:news></url>\n");
}

fn push_location(xml: &mut String, page: &Page<'_>, now: Second) {
    let mut url = String::with_capacity(80);
    page.push_url(&mut url, now);
    push_all(xml, &["<loc>", &url.replace('&', "&amp;"), "</loc>"]);
}

/// Of the `count` pages from `first` on, those that exist and are allowed by robots.txt.
pub(crate) fn listed<'w>(
    server: &Server<'w>,
    first: u64,
    count: u64,
    now: Second,
) -> impl Iterator<Item = Page<'w>> + use<'w> {
    let (server, private) = (*server, server.private);
    (first..first.saturating_add(count).min(server.pages))
        .map(move |number| Page::new(server, number))
        .filter(move |page| {
            let exists = page.born() <= now && page.deleted().is_none_or(|at| at > now);
            exists && (private.is_none() || private != Some(page.slot()))
        })
}

/// When a list of these pages last changed, at or before `now`: one was created, deleted or moved, or its main
/// text changed. It is the same at two moments only if every list of them is.
pub(crate) fn list_changed(server: &Server<'_>, first: u64, count: u64, now: Second) -> Second {
    let all = (first..first.saturating_add(count).min(server.pages)).map(|number| Page::new(*server, number));
    let of_page = |page: Page<'_>| {
        let text = (page.born() <= now).then(|| history::text_changed(&page, now));
        let others = page.deleted().into_iter().chain(page.moved()).filter(|at| *at <= now);
        others.chain(text).max()
    };
    all.filter_map(of_page).max().unwrap_or_default()
}
