//! The frontier and its steps against the simulated web in process: days of crawling in seconds, in a plain loop.
#![cfg(test)]

mod guarded;
mod http;
mod outage;
mod rebuild;
mod requisites;
mod restart;
mod rig;
mod server;
mod sites;
mod ssrf;
mod text;
mod told;
mod traps;
mod year;

use base::chance::hash_bytes;
use base::clock::SimulatedClock;
use base::door::Door;
use base::{Clock, Interval, Outcome, PageUrl, Timestamp};
use crawl::FinishedStep;
use frontier::{Frontier, Next, RevisitPolicy, Step, Task};
use rig::{at_once, finish, frontier, next, seed, settings, step};
use robots::{Need, Standing};
use sim::door::SimulatedDoor;
use sim::log::LogEntry;
use sim::observe::{Observer, PolitenessReport, PolitenessRules};
use sim::{ORIGIN, Plan, Web};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;

const PAUSE: Interval = Interval::from_seconds(10);

/// The result of a simulated crawl.
struct Crawl {
    /// Every request in order, folded into one number.
    trace: u64,
    requests: u64,
    fetched: HashSet<PageUrl>,
    unchanged: u64,
    changed: u64,
    politeness: PolitenessReport,
}

/// Crawls a simulated web for `days`, with this pause.
fn crawl(plan: Plan, days: u64, pause: Interval) -> Crawl {
    let web = Arc::new(Web::new(plan));
    let clock = SimulatedClock::new(ORIGIN);
    let door = SimulatedDoor::new(Arc::clone(&web), Arc::clone(&clock) as Arc<dyn Clock>);
    let mut queue = frontier(settings(pause), RevisitPolicy::paper(), ORIGIN);
    seed(&mut queue, &PageUrl::parse(&format!("http://{}/", web.host(0))).unwrap(), ORIGIN);
    let mut entries: Vec<LogEntry> = Vec::new();
    let mut contents = HashMap::new();
    let rules = PolitenessRules { pause: PAUSE, ..PolitenessRules::default() };
    let mut crawl = Crawl {
        trace: 0,
        requests: 0,
        fetched: HashSet::new(),
        unchanged: 0,
        changed: 0,
        politeness: PolitenessReport::default(),
    };
    let end = ORIGIN.plus(Interval::from_days(days));
    drive(
        &mut queue,
        &door,
        &clock,
        end,
        |_| None,
        |task, ended, now| {
            entries.extend(entry(&web, task, ended, now));
            crawl.learn(ended, &mut contents);
        },
    );
    let mut observer = Observer::new(Arc::clone(&web), rules);
    observer.replay(&entries);
    crawl.politeness = observer.report();
    crawl
}

/// Drives the frontier through the door until `end`, many visits at once; `recall` returns robots files known from
/// before, `on_step` sees each step and how it will end.
fn drive(
    queue: &mut Frontier,
    door: &SimulatedDoor,
    clock: &SimulatedClock,
    end: Timestamp,
    recall: impl FnMut(&PageUrl) -> Option<Standing>,
    on_step: impl FnMut(&Task, &FinishedStep, Timestamp),
) {
    drive_through(queue, door, clock, end, recall, on_step);
}

/// The same through any door that never waits.
fn drive_through<D: Door>(
    queue: &mut Frontier,
    door: &D,
    clock: &SimulatedClock,
    end: Timestamp,
    mut recall: impl FnMut(&PageUrl) -> Option<Standing>,
    mut on_step: impl FnMut(&Task, &FinishedStep, Timestamp),
) {
    let mut running: BinaryHeap<Reverse<(Timestamp, usize)>> = BinaryHeap::new();
    let mut tasks: Vec<Option<(Task, FinishedStep)>> = Vec::new();
    while clock.now() < end {
        let now = clock.now();
        let wake = match next(queue, now) {
            Next::Do(task) => {
                if let Step::Robots(_, request) = &task.step
                    && let Some(standing) = recall(&request.url)
                    && !matches!(standing.needs(now), Need::Ask(place) if place == request.url)
                {
                    queue.complete_from_archive(&task, &standing, now);
                    continue;
                }
                let ended = at_once(step(door, clock, &task));
                on_step(&task, &ended, now);
                running.push(Reverse((now.plus(ended.took), tasks.len())));
                tasks.push(Some((task, ended)));
                continue;
            }
            Next::Wait(at) => at,
            Next::Idle => end,
        };
        match running.peek() {
            Some(Reverse((done, _))) if *done <= wake => {
                let Some(Reverse((done, place))) = running.pop() else { unreachable!("it was just seen") };
                clock.advance_to(done);
                let (task, ended) = tasks[place].take().unwrap();
                finish(queue, &task, ended, clock.now());
            }
            _ => clock.advance_to(wake.min(end)),
        }
    }
}

/// The request as the server saw it.
fn entry(web: &Web, task: &Task, ended: &FinishedStep, now: Timestamp) -> Option<LogEntry> {
    let (Step::Robots(to, request) | Step::Visit(_, to, request)) = &task.step else { return None };
    let mut entry = LogEntry::new(request.url.host(), request.url.target(), "utsushi", now);
    assert_eq!(web.address(request.url.host()).map(IpAddr::V4), Some(to.ip()));
    entry.server = web.address(request.url.host());
    entry.scheme = request.url.scheme();
    entry.finished = now.plus(ended.took);
    if let Some(Outcome::Failed { retry_after, .. }) = ended.capture.as_ref().map(|capture| &capture.outcome)
    {
        entry.retry_after = *retry_after;
    }
    Some(entry)
}

impl Crawl {
    fn learn(&mut self, ended: &FinishedStep, contents: &mut HashMap<PageUrl, Option<base::ContentDigest>>) {
        let Some(capture) = &ended.capture else { return };
        self.requests += u64::from(capture.exchange.is_some());
        let told = format!("{} {} {}", capture.at, capture.outcome.as_str(), capture.url);
        self.trace = hash_bytes(self.trace, told.as_bytes());
        match &capture.outcome {
            Outcome::Fetched { content, .. } => {
                self.fetched.insert(capture.url.clone());
                match contents.insert(capture.url.clone(), *content) {
                    Some(last) if last == *content => self.unchanged += 1,
                    Some(_) => self.changed += 1,
                    None => {}
                }
            }
            Outcome::NotModified => self.unchanged += 1,
            _ => {}
        }
    }
}

fn plan(hostile: u32) -> Plan {
    Plan { seed: 5, pages: 400, servers: 20, hostile, ..Plan::default() }
}

#[test]
fn days_pass_in_seconds_and_every_page_is_found_politely() {
    let crawl = crawl(plan(0), 3, PAUSE);
    assert_eq!(crawl.politeness.violations(), 0, "{}", crawl.politeness.to_json());
    assert!(crawl.changed > 50 && crawl.unchanged > 200, "{} {}", crawl.changed, crawl.unchanged);
    let web = Web::new(plan(0));
    for server in 0..20 {
        for page in 0..web.server_pages(server) {
            let url = PageUrl::parse(&web.page_url(server, page, ORIGIN)).unwrap();
            let truth = web.truth(&url, ORIGIN, ORIGIN.plus(Interval::from_days(1))).unwrap();
            let gone = truth.deleted.is_some_and(|(at, _)| at <= ORIGIN.plus(Interval::from_days(1)));
            if truth.born <= ORIGIN && !gone && truth.robots_allow {
                let seen = crawl.fetched.iter().any(|seen| seen.key() == url.key());
                assert!(seen, "{url} was never fetched");
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_crawl() {
    let (first, second) = (crawl(plan(14), 1, PAUSE), crawl(plan(14), 1, PAUSE));
    assert_eq!((first.trace, first.requests), (second.trace, second.requests));
    assert_ne!(first.trace, crawl(Plan { seed: 6, ..plan(14) }, 1, PAUSE).trace);
}

#[test]
fn survives_hostile_servers_politely() {
    let crawl = crawl(plan(28), 1, PAUSE);
    assert_eq!(crawl.politeness.violations(), 0, "{}", crawl.politeness.to_json());
    assert!(crawl.requests > 1_000, "{}", crawl.requests);
}

#[test]
fn a_crawl_with_a_shorter_delay_is_detected() {
    let crawl = crawl(plan(0), 1, Interval::from_seconds(3));
    assert!(crawl.politeness.violations() > 100, "{}", crawl.politeness.to_json());
}
