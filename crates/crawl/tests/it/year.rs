//! A simulated year: the frontier over a web of known changes, judged from the servers' side.
//!
//! Short in every test run; at full length by `cargo xtask torture year`, where `UTSUSHI_TORTURE_COUNT` is the number
//! of pages: a million on ten thousand servers, 365 days.

mod drive;
mod machine;
mod reader;
mod starve;

use base::clock::Start;
use base::{Interval, Timestamp};
use drive::{Driver, Outcomes, Year};
use frontier::{Bin, Frontier};
use sim::{ChangeMix, ORIGIN, Plan, Web};
use std::path::Path;

/// The pause between requests to one server; that of the crawler's default settings.
const PAUSE: Interval = Interval::from_seconds(10);
/// Number of servers that change faster than their delay allows.
const BUSY: usize = 4;
/// The minimum delay that they ask for.
const LONG_DELAY: Interval = Interval::from_seconds(20);
/// Maximum memory of the whole run: web, observer, frontier, store, pages on their way.
const RESIDENT_BYTES_MAX: u64 = 1 << 30;

fn year(pages: u64, days: u64) -> Year {
    let seed = std::env::var("UTSUSHI_TORTURE_SEED").map_or(1, |seed| seed.parse().expect("a number"));
    let servers = u32::try_from(pages / 100).unwrap().max(20);
    let plan = Plan { seed, pages, servers, hostile: 18, mix: slow() };
    let busy = busy(&Web::new(plan.clone()));
    let plan = Plan { mix: ChangeMix { busy, ..plan.mix }, ..plan };
    Year { plan, days, pause: PAUSE, network_down: None, disk_full: None }
}

/// A young web in which few pages change by themselves, so that a year takes minutes. Pages still change because the
/// targets of their links appear, move or vanish, and because servers are rebuilt; young pages are visited often.
fn slow() -> ChangeMix {
    let mix = ChangeMix {
        poisson: 0,
        hourly: 0,
        daily: 0,
        weekly: 0,
        bursty: 1,
        advert_only: 0,
        ..ChangeMix::default()
    };
    ChangeMix { dated: 0, born_late: 60, deleted: 30, moved: 30, rebuilt: 150, age_days_max: 60, ..mix }
}

/// The largest servers that ask for a long delay. Their pages change faster than the delay allows visits.
fn busy(web: &Web) -> Vec<u32> {
    let delay = |number: u32| web.server_truth(&web.host(number)).and_then(|truth| truth.crawl_delay);
    (0..web.plan().servers)
        .filter(|number| delay(*number).is_some_and(|delay| delay >= LONG_DELAY))
        .take(BUSY)
        .collect()
}

fn run(year: &Year, directory: &Path) -> (Outcomes, Frontier) {
    let mut driver = Driver::start(year.clone(), directory);
    driver.seed(100);
    for month in 1..=year.days / 30 {
        driver.run(ORIGIN.plus(Interval::from_days(30 * month)));
        let (visits, bodies) = (driver.out.visits, driver.out.bodies);
        println!("day {}: {visits} visits, {bodies} bodies, {} pages", 30 * month, driver.frontier().pages());
    }
    driver.run(Timestamp::MAX);
    driver.end()
}

/// No rule of politeness may be violated.
#[track_caller]
fn check_politeness(out: &Outcomes) {
    let report = &out.politeness;
    assert_eq!(report.violations(), 0, "{:#}", report.to_json());
    assert_eq!(out.doubles, 0, "no page is out twice");
    let hostile: u64 = out.hostile.values().map(|(_, doubles)| doubles).sum();
    assert_eq!(report.at_servers.doubles, hostile, "{:#}", report.to_json());
}

fn tell(out: &Outcomes) {
    println!(
        "{} visits, {} with a body, {} unchanged, {} gone, {} failed; {} robots files; {} pages known; trace {:016x}",
        out.visits, out.bodies, out.unchanged, out.gone, out.failed, out.robots, out.pages_known, out.trace
    );
    println!("of these for feeds and sitemaps: {}, {} with a body", out.lists.0, out.lists.1);
    let longest = out.starvation.longest.as_ref();
    println!("free, with pages in hand, and not asked: {longest:?} at most");
    println!("resident: {} MB at most", resident_bytes_max() / 1_000_000);
    println!("hostile servers, requests and those that came twice in a minute: {:?}", out.hostile);
    println!("{}", out.politeness.to_json());
}

/// Figure 5 of paper 003: servers by the interval between requests that their schedules ask for, before and after
/// overload is resolved.
fn print_figure_5(frontier: &Frontier) {
    let figures = frontier.figure_5();
    println!("interval_seconds,servers,servers_resolved");
    for (Bin { from, count, .. }, resolved) in
        figures.server_intervals.iter().zip(&figures.server_intervals_resolved)
    {
        println!("{},{count},{}", from.as_seconds_f64(), resolved.count);
    }
    let servers = frontier.servers(Timestamp::MAX);
    let overloaded = servers.iter().filter(|server| server.overloaded);
    println!("server,pages,asks_per_second,resolved_per_second,pause_seconds,dropped");
    for server in overloaded {
        println!(
            "{},{},{:.5},{:.5},{},{}",
            server.server,
            server.pages,
            server.load,
            server.resolved_load,
            server.pause.as_seconds_f64(),
            server.dropped
        );
    }
}

fn resident_bytes_max() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// The whole year when torture asks for it, some weeks of a small web otherwise.
#[test]
fn year_is_polite_and_fresh_and_the_same_again() {
    let count = std::env::var("UTSUSHI_TORTURE_COUNT").ok().map(|count| count.parse().expect("a number"));
    let directory = tempfile::tempdir().unwrap();
    if let Some(pages) = count {
        let days = std::env::var("UTSUSHI_YEAR_DAYS").map_or(365, |days| days.parse().expect("a number"));
        let (out, frontier) = run(&year(pages, days), directory.path());
        tell(&out);
        print_figure_5(&frontier);
        check_politeness(&out);
        assert_eq!(out.starvation.longest, None, "no server waits for a day");
        assert!(resident_bytes_max() < RESIDENT_BYTES_MAX);
        return;
    }
    let year = year(1_500, 6);
    let (out, _) = run(&year, &directory.path().join("one"));
    tell(&out);
    check_politeness(&out);
    assert!(out.pages_known > 1_000, "{}", out.pages_known);
    let (again, _) = run(&year, &directory.path().join("other"));
    assert_eq!(out.trace, again.trace, "the same seed gives the same year");
}

/// A day without a network and a day with a full disk: politeness holds, and the crawl continues.
#[test]
fn year_survives_a_day_of_network_down_and_one_of_disk_full() {
    let directory = tempfile::tempdir().unwrap();
    let quiet = year(1_000, 7);
    let year = Year { network_down: Some((72, 96)), disk_full: Some((120, 144)), ..quiet };
    let mut driver = Driver::start(year, directory.path());
    driver.seed(100);
    let hour = |hour| ORIGIN.plus(Interval::from_hours(hour));
    driver.run(hour(72));
    let before = driver.out.visits;
    driver.run(hour(96));
    let during = driver.out.visits - before;
    driver.run(hour(98));
    let after = driver.out.visits - before - during;
    assert!(during < 24 * 60 + 100, "one try a minute: {during}");
    assert!(after > 50, "the first answer resumes the crawl: {after}");
    driver.run(Timestamp::MAX);
    let (out, _) = driver.end();
    tell(&out);
    check_politeness(&out);
}

/// The wall clock is set forward and back by years, during the crawl and between runs. Servers use true time and notice
/// nothing.
#[test]
fn year_survives_m6_a_wall_clock_set_by_years_both_ways() {
    const YEAR: i64 = 365 * 86_400;
    let directory = tempfile::tempdir().unwrap();
    let mut driver = Driver::start(year(1_000, 6), directory.path());
    driver.seed(100);
    let day = |day| ORIGIN.plus(Interval::from_days(day));
    let mut visits = Vec::new();
    for (number, (ahead, restarts, expected)) in [
        (0, false, None),
        (3 * YEAR, false, None),
        (-5 * YEAR, false, None),
        (3 * YEAR, true, Some(true)),
        (-10 * YEAR, true, Some(false)),
        (0, true, None),
    ]
    .into_iter()
    .enumerate()
    {
        driver.machine.set_wall(ahead);
        if restarts {
            let start = driver.restart();
            match expected {
                Some(true) => assert!(matches!(start, Start::WallBeyond(_)), "{start:?}"),
                Some(false) => assert!(matches!(start, Start::WallBehind(_)), "{start:?}"),
                None => {}
            }
        }
        let before = driver.out.visits;
        driver.run(day(number as u64 + 1));
        visits.push(driver.out.visits - before);
    }
    let (out, _) = driver.end();
    tell(&out);
    println!("visits a day: {visits:?}");
    check_politeness(&out);
    assert!(visits.iter().all(|visits| *visits > 10), "the crawl continues: {visits:?}");
    let (first, most) = (visits[0], visits.iter().skip(1).max().unwrap());
    assert!(*most < 3 * first, "nothing is due at once because of a clock: {visits:?}");
}
