//! The site by its own rules, the score by arithmetic, and both with a real crawl over HTTP.

use super::serve::{Logged, Server};
use super::site::{Answer, Dates, HintShare, Request, Site, Subject};
use super::verdict::score;
use crate::revisit::trace::{Event, Trace};
use archive::{Archive, Reader};
use base::clock::RealClock;
use base::disk::RealDisk;
use base::{AddressRange, Clock as _, Interval, PageUrl, Timestamp};
use crawl::{Added, CrawlReport, Filter, Parts, ReadOptions};
use fetch::{AddressPolicy, WebDoor};
use frontier::{CrawlScope, Frontier, Mode, RevisitPolicy};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const DAY: f64 = 86_400.0;
const DATES: Dates = Dates { origin: Timestamp::from_micros(1_800_000_000_000_000).unwrap(), from: 0.0 };
const CHANGED: u32 = 1;
const VANISHED: u32 = 3;
const BORN: u32 = 8;
const STEADY: u32 = 2;

/// Nine pages over eight weeks: one changes on day 20, one vanishes on day 25, one appears on day 30.
fn trace() -> Trace {
    let events = vec![
        (20.0 * DAY, CHANGED, Event::Changed),
        (25.0 * DAY, VANISHED, Event::Vanished),
        (30.0 * DAY, BORN, Event::Appeared),
    ];
    let paths = (0..9).map(|page| format!("part/{page}.html")).collect();
    let mut trace = Trace::of("t", (0.0, 56.0 * DAY), paths, events);
    trace.begins.iter_mut().take(8).for_each(|begins| *begins = true);
    trace
}

fn answer(site: &Site, target: &str, day: f64) -> Answer {
    site.answer(&Request { target, ..Request::default() }, day * DAY, DATES, "127.0.0.1:1")
}

/// The digest of the main text of an answer.
fn text(answer: &Answer) -> u64 {
    let url = PageUrl::parse("http://a.example/").unwrap();
    html::read(&url, Some(answer.media_type), answer.body.as_bytes(), "utsushi").text.main
}

#[test]
fn a_page_is_there_while_it_lives_and_changes_when_its_trace_says() {
    let site = Site::new(trace(), HintShare::None);
    let status = |page: u32, day: f64| answer(&site, &format!("/part/{page}.html"), day).status;
    assert_eq!((status(VANISHED, 24.0), status(VANISHED, 26.0)), (200, 410));
    assert_eq!((status(BORN, 29.0), status(BORN, 31.0), status(99, 31.0)), (404, 200, 404));
    let page = |day| answer(&site, &format!("/part/{CHANGED}.html"), day);
    assert_eq!(text(&page(19.0)), text(&page(1.0)));
    assert_ne!(text(&page(21.0)), text(&page(19.0)));
    assert_ne!(page(21.0).validators, page(19.0).validators);
}

#[test]
fn adverts_and_footers_change_the_content_and_not_the_text() {
    let site = Site::new(trace(), HintShare::None);
    let page = |day| answer(&site, &format!("/part/{STEADY}.html"), day);
    let (before, after) = (page(49.0), page(51.0));
    assert_eq!(text(&before), text(&after));
    assert_ne!(before.body, after.body, "the footer is exchanged on day 50");
    assert_ne!(before.validators, after.validators);
    let contents = site.contents();
    let changes = |trace: &Trace| trace.events.iter().filter(|event| event.1 == STEADY).count();
    assert_eq!(changes(&trace()), 0);
    assert!(changes(&contents) >= 1);
    // Every event of the contents is a difference of bytes, and nothing differs between two of them.
    for (number, target) in (0..9).map(|page| (page, format!("/part/{page}.html"))) {
        let moments: Vec<f64> =
            contents.events.iter().filter(|event| event.1 == number).map(|event| event.0).collect();
        let body = |at: f64| answer(&site, &target, at / DAY).body;
        for at in &moments {
            assert_ne!(body(at - 1.0), body(at + 1.0), "{target} at day {}", at / DAY);
        }
        let edges: Vec<f64> = std::iter::once(0.0).chain(moments).chain([56.0 * DAY]).collect();
        for pair in edges.windows(2).filter(|pair| pair[1] - pair[0] > 10.0) {
            assert_eq!(body(pair[0] + 2.0), body(pair[1] - 2.0), "{target} from day {}", pair[0] / DAY);
        }
    }
}

#[test]
fn validators_lead_to_304_only_while_nothing_changed() {
    let site = Site::new(trace(), HintShare::None);
    let target = format!("/part/{CHANGED}.html");
    let (tag, modified) = answer(&site, &target, 19.0).validators.unwrap();
    let status = |day: f64, none_match, modified_since| {
        let request = Request { target: &target, none_match, modified_since };
        site.answer(&request, day * DAY, DATES, "h").status
    };
    assert_eq!((status(19.9, Some(&*tag), None), status(20.1, Some(&*tag), None)), (304, 200));
    assert_eq!((status(19.9, None, Some(modified)), status(20.1, None, Some(modified))), (304, 200));
    assert_eq!(status(19.9, Some("\"other\""), Some(modified)), 200, "the tag decides");
}

#[test]
fn listings_sitemap_and_feed_tell_what_they_should() {
    let site = Site::new(trace(), HintShare::All);
    let vanished = format!("/part/{VANISHED}.html");
    for aid in ["/all-pages/0", "/sitemap.xml"] {
        let body = |day| answer(&site, aid, day).body;
        assert!(body(24.0).contains(&vanished) && !body(26.0).contains(&vanished), "{aid}");
        assert!(!body(29.0).contains("/part/8.html") && body(31.0).contains("/part/8.html"), "{aid}");
    }
    assert!(answer(&site, "/", 0.0).body.contains("/all-pages/0"));
    assert!(answer(&site, "/robots.txt", 0.0).body.contains("Sitemap: http://127.0.0.1:1/sitemap.xml"));
    let changed = DATES.of(20.0 * DAY).to_string();
    assert!(answer(&site, "/sitemap.xml", 21.0).body.contains(&changed));
    assert!(answer(&site, "/feed.xml", 21.0).body.contains(&changed));
    assert!(!answer(&site, "/feed.xml", 40.0).body.contains(&changed), "feeds hold the latest");
    let silent = Site::new(trace(), HintShare::None);
    assert_eq!(
        (answer(&silent, "/sitemap.xml", 1.0).status, answer(&silent, "/feed.xml", 1.0).status),
        (404, 404)
    );
    assert!(!answer(&silent, "/robots.txt", 0.0).body.contains("Sitemap"));
}

fn visits(of: &[(f64, u32)]) -> Vec<Logged> {
    of.iter()
        .map(|(day, page)| Logged { at: day * DAY, subject: Subject::Page(*page), status: 200 })
        .collect()
}

#[test]
fn the_score_of_a_log_is_that_of_its_visits() {
    let everything: Vec<(f64, u32)> = (0..8).map(|page| (1.0, page)).collect();
    let scored = |more: &[(f64, u32)]| score(&trace(), &visits(&[&everything[..], more].concat()));
    // Scored are days 14 to 56, of eight pages, one until it is seen to be gone, and one from day 30: days of pages.
    let (changed, vanished, born) = ((23.0, CHANGED), (26.0, VANISHED), (32.0, BORN));
    let pages = 42.0 * 7.0 + 26.0;
    let all = scored(&[changed, vanished, born]);
    let expected = (3.0 + 1.0 + 2.0) / (pages + 12.0);
    assert!((all.staleness() - expected).abs() < 1e-9, "{} {expected}", all.staleness());
    assert!((all.age_days() - (4.5 + 0.5 + 2.0) / (pages + 12.0)).abs() < 1e-9, "{}", all.age_days());
    // A visit before the change, the deletion or the birth does not count as one after it.
    let none = scored(&[(19.0, CHANGED), (24.0, VANISHED), (29.0, BORN)]);
    let expected = (36.0 + 31.0 + 26.0) / (42.0 * 8.0 + 26.0);
    assert!((none.staleness() - expected).abs() < 1e-9, "{} {expected}", none.staleness());
}

/// The budget of the crawl: a page every two days. Eight weeks take fourteen seconds.
const EVERY: Interval = Interval::from_days(2);
const PACE: u32 = 350_000;

/// Crawls a site from its home page until its trace ends, as `utsushi crawl` does it.
async fn crawl_site(place: &Path, server: &Server, to: f64) -> CrawlReport {
    let origin = DATES.origin;
    let clock = RealClock::starting_at(origin, PACE);
    server.begin(origin, PACE);
    let path = place.join("archive");
    let (archive, _) =
        Archive::open(Arc::new(RealDisk), &path, archive::Settings::default(), origin).unwrap();
    let store = sat::Store::open(Arc::new(RealDisk), &place.join("frontier"), small(origin)).unwrap();
    let scope = CrawlScope::new(Mode::Server, Vec::new());
    let settings =
        frontier::Settings { pause: Interval::from_seconds(1), scope, ..frontier::Settings::default() };
    let policy = RevisitPolicy { every: EVERY, ..RevisitPolicy::default() };
    let (_, orders) = tokio::sync::mpsc::channel(1);
    let door = fetch::Settings {
        addresses: AddressPolicy::only(vec![AddressRange::LOOPBACK]),
        ..fetch::Settings::default()
    };
    let parts = Parts {
        door: Arc::new(WebDoor::new(door).unwrap()),
        archive,
        reader: Reader::open(Arc::new(RealDisk), &path).unwrap(),
        derived: None,
        frontier: Frontier::open(store, settings, policy, origin).unwrap(),
        clock: Arc::clone(&clock) as Arc<dyn base::Clock>,
        orders,
    };
    let settings = crawl::Settings {
        reads: ReadOptions {
            agent: "utsushi".into(),
            requisites: false,
            filter: Arc::new(Filter::default()),
        },
        seeds: vec![Added::page(PageUrl::parse(&format!("http://{}/", server.address)).unwrap())],
        connections_max: 4,
        captures_max: 64,
        bytes_max: 1 << 20,
        pages_max: None,
        once: false,
    };
    let over =
        tokio::time::sleep(clock.real_wait(Interval::from_seconds(1).times(to)) + Duration::from_millis(100));
    crawl::crawl(parts, settings, over, |_, _| {}).await.unwrap()
}

fn small(now: Timestamp) -> sat::Options {
    let mut options = frontier::store_options(now);
    (options.log_bytes, options.segment_bytes) = (1 << 20, 512 << 10);
    (options.pool_bytes, options.read_bytes) = (512 << 10, 512 << 10);
    options
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_crawl_sees_what_changes_vanishes_and_appears() {
    let place = tempfile::tempdir().unwrap();
    let site = Arc::new(Site::new(trace(), HintShare::None));
    let server = Server::start(Arc::clone(&site), IpAddr::V4(Ipv4Addr::new(127, 20, 99, 1))).unwrap();
    let report = crawl_site(place.path(), &server, site.trace.to).await;
    let log = server.log();
    let first = |page, status, after: f64| {
        let of_page = |logged: &&Logged| logged.subject == Subject::Page(page) && logged.at >= after * DAY;
        log.iter().filter(of_page).find(|logged| logged.status == status).map(|logged| logged.at / DAY)
    };
    assert!(first(CHANGED, 200, 20.0).is_some(), "its change is fetched");
    assert!(first(VANISHED, 410, 25.0).is_some(), "its end is noticed");
    assert!(first(BORN, 200, 30.0).is_some_and(|day| day < 56.0), "a listing leads to it");
    assert!(first(STEADY, 304, 0.0).is_some(), "requests are conditional");
    assert!(report.unchanged > 20 && report.unreachable == 0, "{report:?}");
    let real = score(&site.trace, &log);
    assert!(real.freshness() > 0.7, "{} of {} answers", real.freshness(), log.len());
    // Were the crawler blind from day 19 on, or its visits all before what happens, the score would show it.
    let blind: Vec<Logged> = log.iter().filter(|logged| logged.at < 19.0 * DAY).copied().collect();
    let blind = score(&site.trace, &blind);
    assert!(blind.staleness() > 1.5 * real.staleness(), "{} {}", blind.staleness(), real.staleness());
    assert!(
        (blind.staleness() - (36.0 + 31.0 + 26.0) / (42.0 * 8.0 + 26.0)).abs() < 0.02,
        "{}",
        blind.staleness()
    );
}
