//! Synthetic traffic, and what an observer reports about it.

use super::*;
use crate::Plan;
use crate::hostile::HostileKind;
use crate::server::Robots;

const SECOND: Interval = Interval::from_seconds(1);

fn at(millis: u64) -> Timestamp {
    crate::ORIGIN.plus(Interval::from_millis(millis))
}

fn observer(rules: PolitenessRules) -> Observer {
    let plan = Plan { seed: 3, pages: 4_000, servers: 200, hostile: 36, ..Plan::default() };
    Observer::new(Arc::new(Web::new(plan)), rules)
}

fn plain_rules() -> PolitenessRules {
    PolitenessRules { pause: SECOND, crawl_delay: false, double_window: Interval::from_minutes(1) }
}

impl Observer {
    fn entry(&self, host: &str, target: &str, (from, to): (u64, u64)) -> LogEntry {
        let server = self.web.address(host);
        assert!(server.is_some(), "{host}");
        let mut entry = LogEntry::new(host, target, "tester", at(from));
        (entry.server, entry.status, entry.finished) = (server, 200, at(to));
        entry
    }
    /// Plays requests to one server, each given by its arrival and end in milliseconds, for a new page each.
    fn play(mut self, host: &str, times: &[(u64, u64)]) -> PolitenessReport {
        let entries: Vec<LogEntry> =
            times.iter().enumerate().map(|(n, times)| self.entry(host, &format!("/{n}"), *times)).collect();
        self.replay(&entries);
        self.report()
    }
    /// The first honest server with this robots file, or any.
    fn host_with(&self, wanted: impl Fn(Robots) -> bool) -> String {
        let number = (0..200).find(|n| wanted(self.web.server(*n).robots())).unwrap();
        self.web.host(number)
    }
}

#[track_caller]
fn check(times: &[(u64, u64)], overlaps: u64, short_gaps: u64, gap_min_millis: Option<u64>) {
    let observer = observer(plain_rules());
    let host = observer.web.host(0);
    let report = observer.play(&host, times);
    for counts in [&report.at_servers, &report.at_addresses] {
        assert_eq!(counts.requests, times.len() as u64);
        assert_eq!((counts.overlaps, counts.short_gaps), (overlaps, short_gaps));
        assert_eq!(counts.gap_min, gap_min_millis.map(Interval::from_millis));
    }
    assert_eq!(report.violations(), 2 * (overlaps + short_gaps), "once at the server, once at its address");
}

#[test]
fn clean_traffic_is_clean() {
    check(&[(0, 100), (1_100, 1_200), (2_200, 9_000), (10_000, 10_000), (11_000, 11_000)], 0, 0, Some(1_000));
    check(&[], 0, 0, None);
    check(&[(5, 6)], 0, 0, None);
}

#[test]
fn short_gaps_are_counted_exactly() {
    check(&[(0, 100), (1_099, 1_200), (2_200, 2_300), (2_300, 2_400)], 0, 2, Some(0));
}

#[test]
fn overlaps_are_counted_exactly() {
    check(&[(0, 1_000), (500, 600)], 1, 0, None);
    check(&[(0, 10_000), (1_000, 2_000), (3_000, 4_000), (12_000, 12_500)], 2, 0, Some(2_000));
    check(&[(0, 100), (100, 200)], 0, 1, Some(0));
}

#[test]
fn pauses_are_kept_by_address_too() {
    let mut observer = observer(plain_rules());
    let crowd: Vec<u32> = (0..36).filter(|n| hostile::kind(*n) == HostileKind::Crowd).collect();
    let entries: Vec<LogEntry> = crowd
        .iter()
        .zip([(0, 10), (20, 30)])
        .map(|(number, times)| observer.entry(&hostile::host(*number), "/", times))
        .collect();
    observer.replay(&entries);
    let report = observer.report();
    assert_eq!((report.servers, report.addresses), (2, 1));
    assert_eq!((report.at_servers.violations(), report.at_addresses.short_gaps), (0, 1));
    assert_eq!(report.offenders[0].name, entries[0].server.unwrap().to_string());
}

#[test]
fn a_longer_crawl_delay_counts_when_it_should() {
    for (counts, expected) in [(false, 0), (true, 1)] {
        let observer = observer(PolitenessRules {
            crawl_delay: counts,
            pause: Interval::from_millis(10),
            ..plain_rules()
        });
        let host = observer.host_with(|robots| matches!(robots, Robots::Delay(_)));
        assert_eq!(with_robots(observer, &host).at_servers.short_gaps, expected);
    }
}

/// Two pages, then the robots file, then a page, half a second apart.
fn with_robots(mut observer: Observer, host: &str) -> PolitenessReport {
    let entries = [("/a", 0), ("/b", 500), ("/robots.txt", 1_000), ("/c", 1_500)]
        .map(|(target, at)| observer.entry(host, target, (at, at + 1)));
    observer.replay(&entries);
    observer.report()
}

#[test]
fn what_robots_forbids_is_counted_and_the_robots_file_is_not() {
    let mut observer = observer(plain_rules());
    let host = observer.host_with(|robots| robots == Robots::Private);
    let broken = hostile::host((0..36).find(|n| hostile::kind(*n) == HostileKind::RobotsBroken).unwrap());
    let entries = [
        observer.entry(&host, "/robots.txt", (0, 1)),
        observer.entry(&host, "/private/x", (2_000, 2_001)),
        observer.entry(&host, "/", (4_000, 4_001)),
        observer.entry(&broken, "/robots.txt", (0, 1)),
        observer.entry(&broken, "/", (2_000, 2_001)),
    ];
    observer.replay(&entries);
    let report = observer.report();
    assert_eq!((report.at_servers.forbidden, report.violations()), (2, 2));
}

#[test]
fn a_retry_after_is_to_be_waited_for() {
    let mut observer = observer(plain_rules());
    let host = observer.web.host(0);
    let mut refused = observer.entry(&host, "/a", (0, 1_000));
    (refused.status, refused.retry_after) = (429, Some(Interval::from_seconds(60)));
    let entries = [
        refused,
        observer.entry(&host, "/a", (60_999, 60_999)),
        observer.entry(&host, "/a", (122_000, 122_000)),
    ];
    observer.replay(&entries);
    let counts = observer.report().at_servers;
    assert_eq!((counts.early, counts.short_gaps), (1, 0));
}

#[test]
fn asking_twice_is_noted_unless_there_was_no_answer() {
    let mut observer = observer(plain_rules());
    let host = observer.web.host(0);
    let mut failed = observer.entry(&host, "/f", (0, 0));
    failed.status = 503;
    let mut entries = vec![failed, observer.entry(&host, "/f", (2_000, 2_000))];
    entries.extend(
        [(10_000, 10_000), (20_000, 20_000), (80_000, 80_000)].map(|t| observer.entry(&host, "/p", t)),
    );
    observer.replay(&entries);
    let report = observer.report();
    assert_eq!((report.at_servers.doubles, report.violations()), (1, 0));
    assert_eq!(report.to_json()["at_servers"]["doubles"], 1);
}

#[test]
fn servers_that_do_not_exist_are_nobody_s_concern() {
    let mut observer = observer(plain_rules());
    observer.replay(&[LogEntry::new("", "", "", at(0)), LogEntry::new("other.example", "/", "", at(0))]);
    assert_eq!(observer.report(), PolitenessReport::default());
}
