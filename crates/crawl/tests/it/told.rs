//! What a crawl tells of what it found, over real HTTP.

use crate::rig;
use crate::server::{Act, Net, Script};
use archive::{Archive, Reader, Settings};
use base::clock::RealClock;
use base::disk::RealDisk;
use base::{Clock, Interval, PageUrl};
use crawl::{Added, Parts, Report};
use std::path::Path;
use std::sync::Arc;

/// Crawls one page, whose bodies are these, the last again and again, until it was archived four times; each minute of its
/// clock takes a tenth of a second.
async fn crawl(directory: &Path, bodies: &'static [&'static str]) -> Report {
    let script: Script = Arc::new(move |_, target, before| {
        let body = bodies.get(before).or(bodies.last()).filter(|_| target == "/page");
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
    let policy = frontier::Policy::fixed(Interval::from_minutes(1));
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
        seeds: vec![Added::page(PageUrl::parse("http://a.example/page").unwrap())],
        connections_max: 4,
        captures_max: 64,
        bytes_max: 1 << 20,
        pages_max: Some(4),
        once: false,
    };
    crawl::crawl(parts, settings, std::future::pending(), |_, _| {}).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_new_changed_and_unchanged_is_told_apart() {
    let place = tempfile::tempdir().unwrap();
    let report = crawl(place.path(), &["one", "two", "two", "three"]).await;
    assert_eq!((report.new, report.changed, report.unchanged), (1, 2, 1), "{report:?}");
}
