//! Traps: redirect loops, an endless calendar, links that are new on every visit (H1, H4, H10).

use super::Place;
use crate::WebResponse;
use base::url::Scheme;
use base::{Timestamp, chance};

const DAY_SECONDS: i64 = 86_400;
/// Number of different pages under all session ids.
pub(super) const PAGES: u64 = 20;

/// Redirects: to itself, in a pair, without end, to the other scheme and back, and to forbidden targets.
pub(super) fn redirects(place: &Place<'_>) -> WebResponse {
    let elsewhere = [
        ("/to-metadata", "http://169.254.169.254/latest/meta-data/"),
        ("/to-private", "http://192.168.0.1/"),
        ("/to-loopback", "http://127.0.0.1/"),
        ("/to-mapped", "http://[::ffff:10.0.0.1]/"),
        ("/to-file", "file:///etc/passwd"),
        ("/to-script", "javascript:alert(1)"),
        ("/self", "/self"),
        ("/a", "/b"),
        ("/b", "/a"),
        ("/nowhere", ""),
        ("/garbled", "http://[broken"),
    ];
    if place.path() == "/" {
        let mut links: Vec<&str> = elsewhere.iter().map(|(from, _)| *from).collect();
        links.extend(["/r/1", "/scheme", "/longer"]);
        return place.home(&links);
    }
    if let Some((_, to)) = elsewhere.iter().find(|(from, _)| *from == place.path()) {
        return redirect(to);
    }
    match (place.numbered("/r/"), place.path()) {
        (Some(step), _) => redirect(&format!("/r/{}", step.saturating_add(1))),
        (None, "/scheme") => redirect(&other_scheme(place)),
        (None, "/longer") => redirect(&format!("{}x", place.request.target)),
        (None, path) if path.starts_with("/longer") => redirect(&format!("{}x", place.request.target)),
        _ => place.missing(),
    }
}

fn redirect(to: &str) -> WebResponse {
    let answer = WebResponse::plain(302, "text/plain; charset=utf-8", "elsewhere\n");
    if to.is_empty() { answer } else { answer.with("Location", to) }
}

fn other_scheme(place: &Place<'_>) -> String {
    let other = if place.request.scheme == Scheme::Http { Scheme::Https } else { Scheme::Http };
    format!("{}://{}{}", other.as_str(), place.request.host, place.request.target)
}

/// A page for every day, with the days and months around it.
pub(super) fn calendar(place: &Place<'_>) -> WebResponse {
    if place.path() == "/" {
        return place.home(&["/calendar/2026/01/01", "/calendar/2026/01/01?view=week"]);
    }
    let Some(day) = place.path().strip_prefix("/calendar/").and_then(read_day) else {
        return place.missing();
    };
    let mut links = String::new();
    for (label, days) in [
        ("previous day", -1),
        ("next day", 1),
        ("previous month", -30),
        ("next month", 30),
        ("next year", 365),
    ] {
        let seconds = day.as_seconds() + days * DAY_SECONDS;
        if let Some(other) = Timestamp::from_seconds(seconds) {
            let path = day_path(other);
            links.push_str(&format!(
                "<a href=\"{path}\">{label}</a> <a href=\"{path}?view=week\">(week)</a> "
            ));
        }
    }
    place.page(&day_path(day), &format!("<p>Nothing happens on this day.</p><p>{links}</p>"))
}

fn read_day(text: &str) -> Option<Timestamp> {
    let date = text.replace('/', "-");
    format!("{date}T00:00:00Z").parse().ok().filter(|day| day_path(*day).ends_with(text))
}

fn day_path(day: Timestamp) -> String {
    let civil = day.civil();
    format!("/calendar/{:04}/{:02}/{:02}", civil.year(), civil.month(), civil.day())
}

/// The same few pages with a new session id in every link, half of them in the path, half in the query.
pub(super) fn sessions(place: &Place<'_>) -> WebResponse {
    let path = place.path().split(';').next().unwrap_or_default();
    let page = path.strip_prefix("/page/").and_then(|page| page.parse().ok());
    let (title, from) = match page {
        Some(page) if page < PAGES => (format!("Page {page}"), page),
        None if path == "/" => ("Home".to_owned(), 0),
        _ => return place.missing(),
    };
    let mut links = String::new();
    for step in 1..=4 {
        let to = (from + step) % PAGES;
        links.push_str(&format!("<li><a href=\"{}\">Page {to}</a></li>", with_session(place, to)));
    }
    place.page(&title, &format!("{}<ul>{links}</ul>", place.filler(300)))
}

fn with_session(place: &Place<'_>, page: u64) -> String {
    let asked = chance::hash_bytes(place.seed, place.request.target.as_bytes());
    let moment = place.now.as_micros().unsigned_abs();
    let half = |part| place.hash(chance::hash(&[asked, moment, page, part]));
    let id = format!("{:016x}{:016x}", half(0), half(1));
    if page.is_multiple_of(2) {
        format!("/page/{page};jsessionid={id}")
    } else {
        format!("/page/{page}?sid={id}")
    }
}
