//! Ordinary sites that look like traps are fully covered, and a trap beside them is not (H10).

use crate::rig::{frontier, seed, settings};
use crate::{PAUSE, drive_through};
use base::clock::SimulatedClock;
use base::door::{Door, Exchange, Failure, Found, Marks, Request, Times};
use base::http::Framing;
use base::url::Origin;
use base::{Interval, PageUrl};
use frontier::{Frontier, HoldReason, RevisitPolicy, Step};
use sim::ORIGIN;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::Duration;

/// The media type and the body of a path.
type Site = fn(&str) -> Option<(&'static str, String)>;

/// A door to one site, whatever its name.
struct SiteDoor(Site);

impl Door for SiteDoor {
    async fn look_up(&self, _: &Origin) -> Result<Found, Failure> {
        Ok(Found { addresses: vec![([10, 0, 0, 1], 80).into()], lifetime: Interval::from_hours(1) })
    }
    async fn exchange(&self, address: SocketAddr, request: &Request) -> Result<Exchange, Failure> {
        let (status, (media_type, body)) = match (self.0)(request.url.path()) {
            Some(page) => (200, page),
            None => (404, ("text/plain", String::new())),
        };
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status} X\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n");
        Ok(Exchange {
            address,
            request_head: Vec::new(),
            response_head: head.into_bytes(),
            framing: Framing::Length(length as u64),
            body: body.into_bytes().into(),
            status,
            truncated: None,
            marks: Marks::default(),
            times: Times { total: Duration::from_millis(50), ..Times::default() },
        })
    }
}

/// A page with this title and body.
fn page(title: &str, body: &str) -> Option<(&'static str, String)> {
    let text = format!("<!doctype html><title>{title}</title><body>{body}</body>");
    Some(("text/html; charset=utf-8", text))
}
/// Links to so many pages beneath a path.
fn links(path: &str, numbers: std::ops::Range<u32>, ending: &str) -> String {
    numbers
        .map(|number| format!("<li><a href=\"{path}{}{ending}\">{number}</a></li>", name(number)))
        .collect()
}
/// A name of letters for a number, such as `a_bcd`.
fn name(number: u32) -> String {
    format!("f_{}", number.to_string().bytes().map(|digit| char::from(digit + 49)).collect::<String>())
}
fn number(name: &str) -> Option<u32> {
    let letters = name.strip_prefix("f_")?;
    letters.bytes().map(|letter| char::from(letter.wrapping_sub(49))).collect::<String>().parse().ok()
}

/// Crawls a site from its home page for a day; which paths were visited.
fn crawled(site: Site) -> (Frontier, HashSet<String>) {
    let clock = SimulatedClock::new(ORIGIN);
    let mut queue = frontier(settings(PAUSE), RevisitPolicy::paper(), ORIGIN);
    seed(&mut queue, &PageUrl::parse("http://site.example/").unwrap(), ORIGIN);
    let mut seen = HashSet::new();
    let end = ORIGIN.plus(Interval::from_days(1));
    drive_through(
        &mut queue,
        &SiteDoor(site),
        &clock,
        end,
        |_| None,
        |task, _, _| {
            if let Step::Visit(_, _, request) = &task.step {
                seen.insert(request.url.path().to_owned());
            }
        },
    );
    (queue, seen)
}
#[track_caller]
fn check_whole(site: Site, pages: usize) {
    let (queue, seen) = crawled(site);
    assert_eq!(seen.len(), pages + 1, "with the home page; held back: {:?}", queue.held_back());
    assert_eq!(queue.held_back().total(), 0);
}

#[test]
fn api_documentation_with_the_same_labels_on_every_page_is_covered_whole() {
    check_whole(
        |path| match path {
            "/" => page("All items", &links("/api/", 0..1_500, ".html")),
            _ => {
                let name = path.strip_prefix("/api/")?.strip_suffix(".html")?;
                number(name)?;
                page(&format!("{name} in api"), &format!("<h1>Function {name}</h1><p>Available on x.</p>"))
            }
        },
        1_500,
    );
}

#[test]
fn the_same_documentation_under_two_names_is_covered_whole() {
    check_whole(
        |path| match path {
            "/" => page("All items", &(links("/std/", 0..700, "") + &links("/core/", 0..700, ""))),
            _ => {
                let (part, name) = path.strip_prefix('/')?.split_once('/')?;
                number(name)?;
                page(&format!("{name} in {part}"), &format!("<h1>Function {name}</h1><p>Available on x.</p>"))
            }
        },
        1_400,
    );
}

#[test]
fn a_site_of_files_without_text_is_covered_whole() {
    check_whole(
        |path| match path {
            "/" => page("Files", &links("/files/", 0..1_500, ".pdf")),
            _ => {
                let name = path.strip_prefix("/files/")?.strip_suffix(".pdf")?;
                Some(("application/pdf", format!("%PDF-1.7 {}", number(name)?)))
            }
        },
        1_500,
    );
}

#[test]
fn an_honest_path_that_repeats_itself_is_covered_whole() {
    check_whole(
        |path| match path {
            "/" => page("Echo", &links("/boost/detail/boost/detail/boost/", 0..500, ".html")),
            _ => {
                let name = path.strip_prefix("/boost/detail/boost/detail/boost/")?.strip_suffix(".html")?;
                number(name)?;
                page(name, &format!("<p>About {name}.</p>"))
            }
        },
        500,
    );
}

#[test]
fn one_file_under_ever_new_names_is_held_back_and_counted() {
    let (queue, seen) = crawled(|path| match path {
        "/" => page("Files", &links("/files/", 0..1_500, ".pdf")),
        _ => Some(("application/pdf", "%PDF-1.7 the same".to_owned())),
    });
    let held = queue.held_back();
    assert!(seen.len() < 400, "{}", seen.len());
    assert_eq!(held.of(HoldReason::Shape), 1_501 - seen.len() as u64);
}
