//! What a crawl reports, over real HTTP.

use crate::rig;
use crate::server::{Act, Net, Script};
use archive::{Archive, Reader, Settings};
use base::clock::RealClock;
use base::disk::RealDisk;
use base::{Clock, Interval, PageUrl};
use crawl::{Added, CrawlReport, Parts};
use std::path::Path;
use std::sync::Arc;

/// Crawls one page, whose bodies are these, the last again and again, until it was archived four times.
async fn crawl(directory: &Path, bodies: &'static [&'static str]) -> CrawlReport {
    crawl_pages(directory, bodies, &["/page"], 4).await
}

/// Crawls pages with the same bodies until `pages_max` answers are archived; each minute of its clock takes a tenth of a second.
async fn crawl_pages(
    directory: &Path,
    bodies: &'static [&'static str],
    pages: &'static [&'static str],
    pages_max: u64,
) -> CrawlReport {
    let script: Script = Arc::new(move |_, target, before| {
        if target == "/robots.txt" {
            return robots();
        }
        let body = bodies.get(before).or(bodies.last()).filter(|_| pages.contains(&target));
        let (status, body) = body.map_or((404, ""), |body| (200, *body));
        let length = body.len();
        Act::Send(
            format!(
                "HTTP/1.1 {status} X\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{body}"
            )
            .into_bytes(),
        )
    });
    let net = Net::start(script).await;
    let (clock, path) = (RealClock::accelerated(600), directory.join("archive"));
    let (archive, _) = Archive::open(Arc::new(RealDisk), &path, Settings::default(), clock.now()).unwrap();
    let policy = frontier::RevisitPolicy::fixed(Interval::from_minutes(1));
    let (_, orders) = tokio::sync::mpsc::channel(1);
    let parts = Parts {
        door: Arc::new(net.door()),
        archive,
        reader: Reader::open(Arc::new(RealDisk), &path).unwrap(),
        derived: None,
        frontier: rig::frontier(rig::settings(Interval::from_seconds(10)), policy, clock.now()),
        clock,
        orders,
    };
    let settings = crawl::Settings {
        reads: rig::reads(),
        seeds: pages.iter().map(|page| Added::page(url(page))).collect(),
        connections_max: 4,
        captures_max: 64,
        bytes_max: 1 << 20,
        pages_max: Some(pages_max),
        once: false,
    };
    crawl::crawl(parts, settings, std::future::pending(), |_, _| {}).await.unwrap()
}

fn url(target: &str) -> PageUrl {
    PageUrl::parse(&format!("http://a.example{target}")).unwrap()
}

fn robots() -> Act {
    let body = "User-agent: *\nDisallow: /private\n";
    let length = body.len();
    Act::Send(
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{body}")
            .into_bytes(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_visit_is_new_or_a_duplicate_and_never_unchanged() {
    let place = tempfile::tempdir().unwrap();
    let report = crawl_pages(place.path(), &["same"], &["/one", "/two", "/three"], 3).await;
    assert_eq!((report.new, report.duplicates, report.unchanged), (1, 2, 0), "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_neither_a_page_nor_a_request() {
    let place = tempfile::tempdir().unwrap();
    let report = crawl_pages(place.path(), &["one", "two"], &["/private", "/page"], 4).await;
    assert_eq!((report.pages, report.refused, report.robots), (4, 1, 1), "{report:?}");
    assert_eq!(
        report.requests,
        report.pages + report.robots + report.unanswered + report.cut_off,
        "{report:?}"
    );
    assert_eq!((report.unanswered, report.unreachable), (0, 0), "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn new_changed_and_unchanged_pages_are_distinguished() {
    let place = tempfile::tempdir().unwrap();
    let report = crawl(place.path(), &["one", "two", "two", "three"]).await;
    assert_eq!((report.new, report.changed, report.unchanged), (1, 2, 1), "{report:?}");
}
