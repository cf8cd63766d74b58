//! Servers that send `Retry-After`, servers whose robots file fails, and many well-behaved servers on one address
//! (H12, H13).

use super::{CROWD_NAMES, Place, crowd_host};
use crate::WebResponse;
use base::{Interval, Timestamp, chance};

/// Length of the busy and the normal periods of a busy server.
const SPELL_SECONDS: i64 = 60;
/// Number of pages of these servers besides the home page.
const PAGES: u64 = 12;

/// In a third of the minutes the server sends 429 or 503, with `Retry-After` in seconds or as a date.
pub(super) fn too_many(place: &Place<'_>) -> WebResponse {
    if place.path() == "/" || place.numbered("/item/").is_none() {
        return small_site(place, "/item/");
    }
    let spell = place.now.as_seconds() / SPELL_SECONDS;
    let draw = place.hash(chance::hash(&[spell.unsigned_abs(), 0x0b5e]));
    if !draw.is_multiple_of(3) {
        return small_site(place, "/item/");
    }
    let over = Timestamp::from_seconds((spell + 1) * SPELL_SECONDS).unwrap_or(Timestamp::MAX);
    let wait = over.since(place.now).plus(Interval::from_micros(999_999)).as_seconds();
    let status = if (draw / 3).is_multiple_of(2) { 429 } else { 503 };
    let value = if (draw / 6).is_multiple_of(2) { wait.to_string() } else { over.to_http_date() };
    WebResponse::plain(status, "text/plain; charset=utf-8", "please wait\n").with("Retry-After", value)
}

/// robots.txt returns 500 or 503; the pages work, but a polite crawler does not fetch them.
pub(super) fn robots_broken(place: &Place<'_>) -> WebResponse {
    if place.path() != "/robots.txt" {
        return small_site(place, "/page/");
    }
    let status = if place.hash(0).is_multiple_of(2) { 500 } else { 503 };
    WebResponse::plain(status, "text/plain; charset=utf-8", "out of order\n")
}

/// Many names on one address, all linked from the home page.
pub(super) fn crowd(place: &Place<'_>) -> WebResponse {
    if place.path() != "/" {
        return small_site(place, "/page/");
    }
    let names = (0..CROWD_NAMES).map(|member| format!("http://{}/page/0", crowd_host(place.number, member)));
    let links: Vec<String> = names.chain((0..PAGES).map(|page| format!("/page/{page}"))).collect();
    place.home(&links.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A home page and a dozen pages in a ring.
fn small_site(place: &Place<'_>, prefix: &str) -> WebResponse {
    let link = |page: u64| format!("{prefix}{page}");
    if place.path() == "/" {
        let links: Vec<String> = (0..PAGES).map(link).collect();
        return place.home(&links.iter().map(String::as_str).collect::<Vec<_>>());
    }
    match place.numbered(prefix).filter(|page| *page < PAGES) {
        Some(page) => {
            let next = link((page + 1) % PAGES);
            let body = format!("{}<p><a href=\"{next}\">{next}</a></p>", place.filler(400));
            place.page(&format!("Page {page}"), &body)
        }
        None => place.missing(),
    }
}
