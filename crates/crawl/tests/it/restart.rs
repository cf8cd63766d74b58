//! A crawl that crashes and restarts: what it knew about robots files is in the archive, and they are not requested
//! again.

use crate::rig::{frontier, seed, settings};
use crate::{PAUSE, drive, entry, plan};
use archive::{Archive, Reader, Settings};
use base::clock::SimulatedClock;
use base::disk::SimulatedDisk;
use base::door::Exchange;
use base::{Capture, Clock, Interval, Outcome, PageUrl};
use crawl::recall_robots;
use frontier::{RevisitPolicy, Step};
use robots::Need;
use sim::door::SimulatedDoor;
use sim::log::LogEntry;
use sim::observe::{Observer, PolitenessRules};
use sim::{ORIGIN, Web};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

const DIRECTORY: &str = "/data/archive";

/// A simulated web, a disk, and all requests to the web's servers.
struct World {
    web: Arc<Web>,
    clock: Arc<SimulatedClock>,
    disk: SimulatedDisk,
    log: Vec<LogEntry>,
}

impl World {
    fn new() -> Self {
        let (web, clock) = (Arc::new(Web::new(plan(0))), SimulatedClock::new(ORIGIN));
        Self { web, clock, disk: SimulatedDisk::new(1), log: Vec::new() }
    }

    fn reader(&self) -> Reader {
        Reader::open(Arc::new(self.disk.clone()), Path::new(DIRECTORY)).unwrap()
    }

    fn archive(&self) -> Archive {
        let disk = Arc::new(self.disk.clone());
        Archive::open(disk, Path::new(DIRECTORY), Settings::default(), self.clock.now()).unwrap().0
    }

    /// Crawls for `hours` from the first page and crashes in the middle of a visit. From earlier runs it recalls
    /// archived robots files, if `recalls`, and no page, so it needs every file.
    fn live(&mut self, hours: u64, recalls: bool) {
        let mut archive = self.archive();
        let mut queue = frontier(settings(PAUSE), RevisitPolicy::paper(), self.clock.now());
        let targets: Vec<archive::Target> = archive.taken_down().cloned().collect();
        queue.exclude(Box::new(move |key| {
            let key = archive::Key::from_stored(key);
            targets.iter().any(|target| target.holds(&key))
        }));
        let home = PageUrl::parse(&format!("http://{}/", self.web.host(0))).unwrap();
        seed(&mut queue, &home, self.clock.now());
        let (reader, mut asked) = (self.reader(), BTreeSet::new());
        let recall = |url: &PageUrl| {
            let is_first = recalls && asked.insert(url.clone());
            let known = is_first.then(|| recall_robots(&reader, "utsushi", [url.clone()]).unwrap())?;
            known.into_iter().next().map(|(_, standing)| standing)
        };
        let door = SimulatedDoor::new(Arc::clone(&self.web), Arc::clone(&self.clock) as Arc<dyn Clock>);
        let end = self.clock.now().plus(Interval::from_hours(hours));
        drive(&mut queue, &door, &self.clock, end, recall, |task, ended, now| {
            self.log.extend(entry(&self.web, task, ended, now));
            let refused = |(url, refusal): (&PageUrl, &base::Refusal)| {
                let outcome = Outcome::Refused(refusal.clone());
                Capture { url: url.clone(), at: now, outcome, exchange: None }
            };
            let capture = match &task.step {
                Step::Refuse(_, url, refusal) => Some(refused((url, refusal))),
                _ => ended.capture.clone(),
            };
            if let Some(capture) = capture.filter(|capture| !queue_excludes(&archive, &capture.url)) {
                archive.append(&capture).unwrap();
                archive.commit().unwrap();
            }
        });
        self.disk.cut_now();
        drop(archive);
        self.disk.restart();
    }

    /// The shortest time between two requests for one robots file, and how many robots files were asked for.
    fn robots(&self) -> (Option<Interval>, usize) {
        let (mut last, mut shortest) = (HashMap::new(), None::<Interval>);
        for entry in self.log.iter().filter(|entry| entry.target() == "/robots.txt") {
            if let Some(before) = last.insert((entry.host().to_owned(), entry.scheme), entry.arrived) {
                let between = entry.arrived.since(before);
                shortest = Some(shortest.map_or(between, |shortest| shortest.min(between)));
            }
        }
        (shortest, last.len())
    }

    fn violations(&self) -> u64 {
        let mut observer = Observer::new(
            Arc::clone(&self.web),
            PolitenessRules { pause: PAUSE, ..PolitenessRules::default() },
        );
        observer.replay(&self.log);
        observer.report().violations()
    }
}

fn queue_excludes(archive: &Archive, url: &PageUrl) -> bool {
    archive.taken_down().any(|target| target.holds(&url.key().into()))
}

#[test]
fn after_a_power_cut_no_robots_file_is_asked_for_again_within_the_day() {
    let mut world = World::new();
    for hours in [1, 2, 1, 21, 1] {
        world.live(hours, true);
    }
    let (shortest, files) = world.robots();
    assert!(files >= 15, "{files}");
    let shortest = shortest.expect("a day has passed, so some were asked for again");
    assert!(shortest >= Interval::from_hours(24), "{shortest}");
    assert_eq!(world.violations(), 0, "the rules hold as before");
}

#[test]
fn a_crawl_that_recalls_nothing_is_detected() {
    let mut world = World::new();
    world.live(2, false);
    world.live(2, false);
    let (shortest, _) = world.robots();
    assert!(shortest.is_some_and(|shortest| shortest < Interval::from_hours(3)), "{shortest:?}");
}

#[test]
fn a_robots_file_that_was_taken_down_is_forgotten() {
    let mut world = World::new();
    world.live(2, true);
    let (_, files) = world.robots();
    let url = format!("http://{}/robots.txt", world.web.host(0));
    let home = PageUrl::parse(&url).unwrap();
    let known = |world: &World| recall_robots(&world.reader(), "utsushi", [home.clone()]).unwrap().len();
    assert_eq!(known(&world), 1);
    let mut archive = world.archive();
    let target = archive::Target::url(&url).unwrap();
    archive.takedown(&target, "it was asked for", world.clock.now(), &mut |_, _| {}).unwrap();
    archive.close().unwrap();
    assert_eq!(known(&world), 0);
    world.live(2, true);
    assert_eq!((world.robots().1, known(&world)), (files, 0), "it is asked for, obeyed, and not kept");
    assert!(world.robots().0.is_some_and(|between| between < Interval::from_hours(3)));
    assert_eq!(world.violations(), 0);
}

/// An answer to a request for `url`, so many hours after the beginning; status 0 is none.
fn answer(url: &str, hours: u64, status: u16, field: &str, body: &str) -> Capture {
    let url = PageUrl::parse(url).unwrap();
    let result = if status == 0 {
        let cause = base::door::Cause::Broken("connection reset".to_owned());
        Err(base::door::Failure::new(base::door::Phase::Head, cause, std::time::Duration::ZERO))
    } else {
        Ok(Exchange {
            address: ([127, 0, 0, 1], 80).into(),
            request_head: b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            response_head: format!("HTTP/1.1 {status} X\r\n{field}\r\n").into_bytes(),
            body: body.as_bytes().to_vec().into(),
            status,
            framing: base::http::Framing::UntilClose,
            truncated: None,
            marks: base::door::Marks::default(),
            times: base::door::Times::default(),
        })
    };
    let at = ORIGIN.plus(Interval::from_hours(hours));
    Capture { outcome: fetch::outcome(&url, &result), url, at, exchange: result.ok() }
}

/// What is remembered of `http://a.example/robots.txt` after so many hours.
#[track_caller]
fn check(captures: &[Capture], hours: u64, expected: &str) {
    let world = World::new();
    let mut archive = world.archive();
    for capture in captures {
        archive.append(capture).unwrap();
    }
    archive.commit().unwrap();
    archive.close().unwrap();
    let home = PageUrl::parse("http://a.example/robots.txt").unwrap();
    let known = recall_robots(&world.reader(), "utsushi", [home]).unwrap();
    let now = ORIGIN.plus(Interval::from_hours(hours));
    let told = match known.first().map(|(_, standing)| standing.needs(now)) {
        None => "nothing".to_owned(),
        Some(Need::Ask(url)) => format!("ask {url}"),
        Some(Need::Known(rules)) => rules.judge("/x").to_string(),
        Some(Need::Unreachable(until)) => format!("none until {}h", until.since(ORIGIN).as_seconds() / 3_600),
    };
    assert_eq!(told, expected);
}

#[test]
fn recalled_robots_files_are_what_was_learned() {
    const HOME: &str = "http://a.example/robots.txt";
    let rules = "User-agent: *\nDisallow: /x";
    let came = || answer(HOME, 0, 200, "", rules);
    let by_rule = "line 2: `Disallow: /x`";
    let again = "ask http://a.example/robots.txt";
    check(&[], 0, "nothing");
    check(&[answer("https://a.example/robots.txt", 0, 200, "", rules)], 0, "nothing");
    check(&[came()], 23, by_rule);
    check(&[came()], 24, again);
    check(&[answer(HOME, 0, 404, "", "no")], 23, "no rule matches");
    check(&[came(), answer(HOME, 24, 503, "", ""), answer(HOME, 25, 0, "", "")], 26, by_rule);
    check(&[came(), answer(HOME, 24, 503, "", ""), answer(HOME, 25, 0, "", "")], 27, again);
    check(&[came(), answer(HOME, 721, 0, "", "")], 721, "none until 722h");
    check(&[answer(HOME, 0, 429, "Retry-After: 18000\r\n", "")], 1, "none until 5h");
    check(&[came(), answer(HOME, 24, 404, "", ""), answer(HOME, 48, 0, "", "")], 48, "none until 49h");
}

#[test]
fn redirects_of_robots_files_are_followed_in_the_archive_too() {
    const HOME: &str = "http://a.example/robots.txt";
    const OTHER: &str = "https://b.example/ours";
    let sent = |hours| answer(HOME, hours, 301, "Location: https://b.example/ours\r\n", "");
    let rules = "User-agent: *\nDisallow: /x";
    check(&[sent(0)], 1, "ask https://b.example/ours");
    check(&[sent(0), answer(OTHER, 0, 200, "", rules)], 23, "line 2: `Disallow: /x`");
    check(&[answer(OTHER, 0, 200, "", rules), sent(5)], 23, "line 2: `Disallow: /x`");
    check(&[answer(OTHER, 0, 200, "", rules), sent(5)], 24, "ask http://a.example/robots.txt");
    let failed = [sent(0), answer(OTHER, 0, 200, "", rules), sent(24), answer(OTHER, 24, 500, "", "")];
    check(&failed, 24, "line 2: `Disallow: /x`");
    check(&failed, 25, "ask http://a.example/robots.txt");
    let circle = answer(HOME, 0, 302, "Location: /robots.txt\r\n", "");
    check(&[circle], 1, "no rule matches");
}
