//! A page can link to any number of hosts that cannot be reached. That does not mean that our own network is down; over
//! real sockets.

use crate::rig;
use crate::server::{Act, Net, Script};
use archive::{Archive, Reader, Settings};
use base::clock::RealClock;
use base::disk::RealDisk;
use base::{Clock, Interval, PageUrl, Timestamp};
use crawl::{Added, Event, Parts};
use std::net::SocketAddr;
use std::sync::Arc;

/// How many hosts of each kind the page links to, and how many pages two good servers have.
const HOSTS: u8 = 30;
const PAGES: usize = 30;

/// Hosts with private addresses, and hosts that refuse every connection. Any other name does not exist.
fn address(host: &str) -> Option<SocketAddr> {
    let number = |prefix: &str| host.strip_prefix(prefix)?.strip_suffix(".example")?.parse::<u8>().ok();
    let private = number("private-").map(|number| SocketAddr::from(([10, 0, 0, number], 80)));
    // Port 1 is reserved, and nobody listens there.
    private.or_else(|| number("closed-").map(|number| SocketAddr::from(([127, 0, 2, number], 1))))
}

fn page(host: &str, target: &str) -> Option<String> {
    let bad = |kind: &str| (1..=HOSTS).map(|n| format!("http://{kind}-{n}.example/")).collect::<Vec<_>>();
    let own = (0..PAGES).map(|n| format!("http://{host}/{n}"));
    let links: Vec<String> = match (host, target) {
        ("a.example", "/") => ["private", "unknown", "closed"].into_iter().flat_map(bad).chain(own).collect(),
        ("b.example", "/") => own.collect(),
        _ => {
            target.strip_prefix('/')?.parse::<usize>().ok().filter(|n| *n < PAGES)?;
            Vec::new()
        }
    };
    let links: String = links.iter().map(|link| format!("<a href=\"{link}\">{link}</a> ")).collect();
    Some(format!("<title>{host}{target}</title><p>The text of {host}{target} alone.</p>{links}"))
}

#[tokio::test]
async fn links_to_hosts_that_cannot_be_reached_do_not_stop_a_crawl() {
    let script: Script = Arc::new(|host, target, _| {
        let (status, body) = page(host, target).map_or((404, String::new()), |body| (200, body));
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status} X\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n");
        Act::Send((head + &body).into_bytes())
    });
    let net = Net::start(script).await;
    let directory = tempfile::TempDir::new().unwrap();
    let (clock, path) = (RealClock::accelerated(20), directory.path().join("archive"));
    let (archive, _) = Archive::open(Arc::new(RealDisk), &path, Settings::default(), clock.now()).unwrap();
    let (_, orders) = tokio::sync::mpsc::channel(1);
    let parts = Parts {
        door: Arc::new(net.door_to(address)),
        archive,
        reader: Reader::open(Arc::new(RealDisk), &path).unwrap(),
        derived: None,
        frontier: rig::frontier(
            rig::settings(Interval::from_seconds(2)),
            frontier::RevisitPolicy::paper(),
            clock.now(),
        ),
        clock,
        orders,
    };
    let seed = |url| Added::page(PageUrl::parse(url).unwrap());
    let settings = crawl::Settings {
        reads: rig::reads(),
        seeds: vec![seed("http://a.example/"), seed("http://b.example/")],
        connections_max: 16,
        captures_max: 64,
        bytes_max: 1 << 20,
        // More than the two servers have: it ends when nothing new is left.
        pages_max: None,
        once: true,
    };
    let mut visits: Vec<(String, Timestamp)> = Vec::new();
    let crawl = crawl::crawl(parts, settings, std::future::pending(), |event, _| {
        if let Event::Kept(kept) = event {
            visits.extend(kept.iter().map(|kept| (kept.url.as_str().to_owned(), kept.at)));
        }
    });
    let report = crawl.await.unwrap();
    assert_eq!(report.new, 2 * PAGES as u64 + 2, "{report:?}");
    // Private addresses, and unreachable robots files.
    assert_eq!((report.refused, report.unreachable), (2 * u64::from(HOSTS), u64::from(HOSTS)), "{report:?}");
    for host in ["http://a.example/", "http://b.example/"] {
        let mut times: Vec<Timestamp> =
            visits.iter().filter(|(url, _)| url.starts_with(host)).map(|(_, at)| *at).collect();
        times.sort_unstable();
        let gap = times.windows(2).map(|pair| pair[1].since(pair[0])).max().unwrap();
        assert!(gap < Interval::from_seconds(40), "{host} waited for {gap}");
    }
}
