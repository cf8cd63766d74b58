//! What a site has beside its pages: the home page, listings of all pages, robots file, sitemap and feed.

use super::prose::words;
use super::site::{Dates, HintShare, Site};
use base::chance;
use std::fmt::Write as _;

const LISTING: &str = "/all-pages/";
/// The feed announces the latest changes, so many at most and so old at most.
const FEED_ENTRIES_MAX: usize = 50;
const FEED_DAYS: f64 = 14.0;

/// The target of a listing.
pub(super) fn target(number: usize) -> String {
    format!("{LISTING}{number}")
}
/// The number of a listing.
pub(super) fn number(target: &str) -> Option<usize> {
    target.strip_prefix(LISTING)?.parse().ok()
}

/// The home page: it leads to the listings, and to the feed.
pub(super) fn home(site: &Site) -> String {
    let feed = match site.hints {
        HintShare::None => "",
        _ => "<link rel=\"alternate\" type=\"application/atom+xml\" href=\"/feed.xml\">",
    };
    let mut body = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Home</title>{feed}</head><body><main><h1>Home</h1>\
         <p>{}.</p><ul>",
        words(chance::hash(&[8]), 40)
    );
    for number in 0..site.listings() {
        let _ = write!(body, "<li><a href=\"{}\">pages, part {number}</a></li>", target(number));
    }
    body += "</ul></main></body></html>\n";
    body
}

/// A listing of the pages that exist.
pub(super) fn listing(site: &Site, number: usize, now: f64) -> String {
    let mut body = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Pages, part {number}</title></head><body><main><ul>"
    );
    for (page, target, _) in site.live(Some(number), now) {
        let name = words(chance::hash(&[3, page.into(), 0]), 4);
        let _ = write!(body, "<li><a href=\"{}\">{name}</a></li>", escaped(target));
    }
    body += "</ul></main>";
    site.end(&mut body, now);
    body
}

pub(super) fn robots(site: &Site, host: &str) -> String {
    match site.hints {
        HintShare::None => "User-agent: *\nDisallow:\n".to_owned(),
        _ => format!("User-agent: *\nDisallow:\nSitemap: http://{host}/sitemap.xml\n"),
    }
}

/// The sitemap: every covered page with the moment of its last change.
pub(super) fn sitemap(site: &Site, now: f64, dates: Dates, host: &str) -> String {
    let mut body = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                    <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
        .to_owned();
    for (_, target, version) in site.live(None, now).filter(|(page, ..)| site.covers(*page)) {
        let (target, modified) = (escaped(target), dates.of(version.since));
        let _ = writeln!(body, "<url><loc>http://{host}{target}</loc><lastmod>{modified}</lastmod></url>");
    }
    body += "</urlset>\n";
    body
}

/// The feed: the latest changes of covered pages.
pub(super) fn feed(site: &Site, now: f64, dates: Dates, host: &str) -> String {
    let covered = site.live(None, now).filter(|(page, ..)| site.covers(*page));
    let mut latest: Vec<(f64, &str)> = covered
        .map(|(_, target, version)| (version.since, target))
        .filter(|(since, _)| now - since < FEED_DAYS * 86_400.0)
        .collect();
    latest.sort_by(|a, b| b.0.total_cmp(&a.0));
    latest.truncate(FEED_ENTRIES_MAX);
    let updated = dates.of(latest.first().map_or(site.trace.from, |first| first.0));
    let mut body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\"><id>http://{host}/feed.xml</id>\
         <title>Changes</title><updated>{updated}</updated>\n"
    );
    for (since, target) in latest {
        let (target, updated) = (escaped(target), dates.of(since));
        let _ = writeln!(
            body,
            "<entry><id>http://{host}{target}</id><title>{target}</title><link href=\"http://{host}{target}\"/>\
             <updated>{updated}</updated></entry>"
        );
    }
    body += "</feed>\n";
    body
}

fn escaped(target: &str) -> String {
    target.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
