//! Where a document points to.

use super::json;
use super::subject::Subject;
use base::PageUrl;
use html::kind::BodyKind;
use html::{feed, sitemap};

/// The name by which a page could ask a robot for something. Nothing is asked of an analysis, so it has none.
pub(super) const NO_AGENT: &str = "";

/// Appends the links of a page, a feed or a sitemap.
pub(super) fn write(subject: &Subject<'_>, out: &mut Vec<u8>) {
    let Some(url) = subject.url() else { return out.extend_from_slice(b"[]") };
    match subject.kind() {
        BodyKind::Page => {
            let page = html::read(&url, subject.content_type, subject.body, NO_AGENT);
            json::list(out, &page.links, |out, link| one(out, &link.url, link.kind.as_str(), link.nofollow));
        }
        BodyKind::Feed => {
            let feed = feed::read(&url, subject.content_type, subject.body).unwrap_or_default();
            let entries = feed.entries.iter().map(|entry| (&entry.url, "entry"));
            plain(out, entries.chain(feed.next.iter().map(|url| (url, "next"))));
        }
        BodyKind::Sitemap => {
            let sitemap = sitemap::read(&url, subject.body).unwrap_or_default();
            let pages = sitemap.pages.iter().map(|page| (&page.url, "page"));
            plain(out, pages.chain(sitemap.sitemaps.iter().map(|url| (url, "sitemap"))));
        }
        BodyKind::Text | BodyKind::Other(_) => out.extend_from_slice(b"[]"),
    }
}

fn plain<'a>(out: &mut Vec<u8>, links: impl Iterator<Item = (&'a PageUrl, &'static str)>) {
    json::list(out, links, |out, (url, kind)| one(out, url, kind, false));
}

fn one(out: &mut Vec<u8>, url: &PageUrl, kind: &str, nofollow: bool) {
    out.extend_from_slice(b"{\"url\":");
    json::text(out, url.as_str());
    out.extend_from_slice(b",\"kind\":");
    json::text(out, kind);
    out.extend_from_slice(if nofollow { b",\"nofollow\":true}" } else { b"}" });
}
