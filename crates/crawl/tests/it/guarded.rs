//! The whole crawler with its pauses set to nothing, behind the guard: the servers of the simulated web still see the
//! guard's delay, and the crawl continues (C12, H13).

use crate::rig;
use archive::{Archive, Settings};
use base::clock::{Clock, RealClock};
use base::disk::RealDisk;
use base::{Interval, PageUrl};
use crawl::{Added, CrawlReport, Event, Parts};
use fetch::{AddressPolicy, AddressRange, Resolver, WebDoor};
use guard::Guard;
use sim::observe::PolitenessRules;
use sim::serve::{self, RunningWeb};
use sim::{Plan, Web};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(100);
const CRAWL: Duration = Duration::from_secs(6);

async fn serve(clock: &Arc<RealClock>) -> (Arc<Web>, RunningWeb) {
    let web = Arc::new(Web::new(Plan { seed: 12, pages: 2_000, servers: 50, ..Plan::default() }));
    let rules = PolitenessRules { pause: PAUSE.into(), crawl_delay: false, ..PolitenessRules::default() };
    let settings = serve::Settings { rules, ..serve::Settings::default() };
    let serving =
        serve::start(Arc::clone(&web), Arc::clone(clock) as Arc<dyn Clock>, settings).await.unwrap();
    (web, serving)
}

async fn guard(directory: &Path, wait_max: Duration) -> Guard {
    let settings = guard::Settings {
        listen: "127.0.0.1:0".parse().unwrap(),
        public_listen: false,
        directory: directory.join("guard"),
        addresses: guard::AddressRules { opened: vec!["127.0.0.0/8".parse().unwrap()] },
        limits: guard::TrafficLimits { pause: PAUSE, wait_max, ..guard::TrafficLimits::default() },
    };
    Guard::start(settings, RealClock::start()).await.unwrap()
}

/// Crawls without any delay of its own; returns the outcomes by name.
async fn crawl(
    web: &Arc<Web>,
    serving: &RunningWeb,
    clock: &Arc<RealClock>,
    guard: &Guard,
    directory: &Path,
) -> (CrawlReport, BTreeMap<&'static str, u64>) {
    let (known, http, https) = (Arc::clone(web), serving.http, serving.https.unwrap());
    let resolver = Resolver::new(move |origin| {
        let port = if origin.scheme == base::url::Scheme::Http { http } else { https };
        known.address(origin.server.host()).map(|address| (address, port).into())
    });
    let door = WebDoor::new(fetch::Settings {
        addresses: AddressPolicy::only(vec![AddressRange::LOOPBACK]),
        extra_roots_pem: serving.authority_pem.clone().into_bytes(),
        resolver,
        proxy: Some(format!("http://{}", guard.address()).parse().unwrap()),
        ..fetch::Settings::default()
    });
    let disk = Arc::new(RealDisk);
    let (archive, _) =
        Archive::open(disk, &directory.join("archive"), Settings::default(), clock.now()).unwrap();
    let reader = archive::Reader::open(Arc::new(RealDisk), &directory.join("archive")).unwrap();
    let seeds = (0..50).map(|server| PageUrl::parse(&format!("http://{}/", web.host(server))).unwrap());
    let settings = crawl::Settings {
        reads: rig::reads(),
        seeds: seeds.map(Added::page).collect(),
        connections_max: 64,
        captures_max: 1_024,
        bytes_max: 64 << 20,
        pages_max: None,
        once: false,
    };
    let (_, orders) = tokio::sync::mpsc::channel(1);
    let parts = Parts {
        door: Arc::new(door.unwrap()),
        archive,
        reader,
        derived: None,
        frontier: rig::frontier(
            rig::settings(Interval::ZERO),
            frontier::RevisitPolicy::fixed(Interval::ZERO),
            clock.now(),
        ),
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        orders,
    };
    let mut outcomes = BTreeMap::new();
    let stop = tokio::time::sleep(CRAWL);
    let walk = crawl::crawl(parts, settings, stop, |event, _| {
        if let Event::Kept(kept) = event {
            kept.iter().for_each(|kept| *outcomes.entry(kept.outcome.as_str()).or_default() += 1);
        }
    });
    (walk.await.unwrap(), outcomes)
}

#[tokio::test(flavor = "multi_thread")]
async fn survives_h13_a_crawler_without_pauses_behind_the_guard() {
    let (clock, place) = (RealClock::start(), tempfile::tempdir().unwrap());
    let (web, serving) = serve(&clock).await;
    let guard = guard(place.path(), Duration::from_secs(30)).await;
    let (report, outcomes) = crawl(&web, &serving, &clock, &guard, place.path()).await;
    let felt = serving.politeness();
    println!("{report:?} {outcomes:?} {:?} {:?}", felt.at_servers, felt.at_addresses);
    guard.stop().await;
    serving.stop().await;
    assert!(report.pages > 200, "{report:?}");
    for counts in [&felt.at_servers, &felt.at_addresses] {
        assert_eq!((counts.overlaps, counts.short_gaps), (0, 0), "{counts:?}");
        assert!(counts.requests > 200, "{counts:?}");
    }
    let shortest = felt.at_addresses.gap_min.unwrap();
    assert!(shortest < Interval::from_seconds(1), "the crawler has no manners of its own: {shortest}");
}

/// A guard that does not delay but refuses is learned from: its reasons are outcomes, the servers are not visited for
/// as long as it says, and the pages keep their turn.
#[tokio::test(flavor = "multi_thread")]
async fn a_crawler_refused_by_the_guard_retries_when_it_may() {
    let (clock, place) = (RealClock::start(), tempfile::tempdir().unwrap());
    let (web, serving) = serve(&clock).await;
    let guard = guard(place.path(), Duration::ZERO).await;
    let (report, outcomes) = crawl(&web, &serving, &clock, &guard, place.path()).await;
    let (felt, status) = (serving.politeness(), guard.status());
    println!("{report:?} {outcomes:?} {status}");
    guard.stop().await;
    serving.stop().await;
    assert!(outcomes["refused"] > 10, "{outcomes:?}");
    assert!(outcomes["fetched"] > 20, "{outcomes:?}");
    assert_eq!((felt.at_addresses.overlaps, felt.at_addresses.short_gaps), (0, 0), "{felt:?}");
}
