//! The frontier on a web of a few lines: every behaviour that a crawl relies on, in simulated time.

mod budget;
mod failing;
mod operator;
mod pages;
mod seeds;
mod traps;

use super::complete::{ResultUse, StepResult};
use super::learn::LearnResult;
use super::{Frontier, Next, Step};
use crate::census::{Census, PageCounts};
use crate::state::State;
use crate::{
    AgreedRate, CrawlScope, FoundUrl, Lesson, Mode, Owned, RevisitPolicy, Role, Settings, TextFeatures,
    VisitResult, partition,
};
use base::disk::SimulatedDisk;
use base::door::{Cause, Failure, Found as Address, Phase};
use base::{Interval, Outcome, PageUrl, Timestamp};
use robots::{RobotsAnswer, RobotsRules};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const START: Timestamp = Timestamp::from_seconds(1_800_000_000).expect("in range");
const PAUSE: Interval = Interval::from_seconds(10);
const TOOK: Interval = Interval::from_millis(100);

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}
fn settings() -> Settings {
    let scope = CrawlScope::new(Mode::Any, Vec::new());
    Settings { scope, pause: PAUSE, links_remembered: 1 << 12, ..Settings::default() }
}
fn open(disk: &SimulatedDisk, settings: Settings, now: Timestamp) -> Frontier {
    open_by(RevisitPolicy::paper(), disk, settings, now)
}
fn open_by(policy: RevisitPolicy, disk: &SimulatedDisk, settings: Settings, now: Timestamp) -> Frontier {
    let mut options = crate::store_options(now);
    (options.log_bytes, options.segment_bytes, options.read_threads) = (4 << 20, 1 << 20, 0);
    let store = sat::Store::open(Arc::new(disk.clone()), Path::new("/f"), options).unwrap();
    Frontier::open(store, settings, policy, now).unwrap()
}

/// What a page answers: its status, its links, its blocks of text.
type Page = (u16, Vec<PageUrl>, Vec<u32>);

/// What every page answers at a moment.
type Pages = dyn Fn(&PageUrl, Timestamp) -> Page;

/// A web, and a frontier that crawls it.
struct World {
    frontier: Frontier,
    now: Timestamp,
    /// The address of every server; by default one each.
    address: fn(&str) -> [u8; 4],
    robots: String,
    page: Box<Pages>,
    /// Every visit, and when.
    visits: Vec<(String, Timestamp)>,
    is_down: bool,
    /// What a server that fails asks for.
    retry_after: Option<Interval>,
}

impl World {
    fn new(settings: Settings, page: impl Fn(&PageUrl, Timestamp) -> Page + 'static) -> Self {
        let frontier = open(&SimulatedDisk::new(1), settings, START);
        let address = |host: &str| {
            let hash = base::chance::hash_bytes(1, host.as_bytes()).to_le_bytes();
            [10, hash[0], hash[1], hash[2]]
        };
        Self {
            frontier,
            now: START,
            address,
            robots: String::new(),
            page: Box::new(page),
            visits: Vec::new(),
            is_down: false,
            retry_after: Some(Interval::from_minutes(5)),
        }
    }
    fn add(&mut self, pages: &[&str]) {
        let pages: Vec<FoundUrl> = pages.iter().map(|page| FoundUrl::page(url(page))).collect();
        self.frontier.add(&pages, 0, self.now).unwrap();
        self.frontier.settle(self.now).unwrap();
    }
    /// Crawls for `time`, step by step.
    fn run(&mut self, time: Interval) {
        let end = self.now.plus(time);
        while self.now < end {
            match self.frontier.next(self.now).unwrap() {
                Next::Do(task) => self.take(&task),
                _ if self.frontier.offered() > 0 => self.frontier.settle(self.now).unwrap(),
                Next::Wait(at) => self.now = at.max(self.now).min(end),
                Next::Idle => self.now = end,
            }
        }
        self.check();
    }
    /// Checks the invariants of the parts by counting everything again.
    fn check(&mut self) {
        let frontier = &mut self.frontier;
        frontier.workbench.check();
        let (mut census, mut servers) = (Census::default(), PageCounts::default());
        frontier.servers.iter().for_each(|(_, server)| census.recall(&server.kept.counts));
        assert_eq!(census.all(), frontier.census.all(), "the whole is the sum of the servers");
        let mut census = Census::default();
        frontier
            .store
            .for_each(|record| -> crate::Result<()> {
                census.enter(&mut servers, &State::read(record.value).unwrap());
                Ok(())
            })
            .unwrap();
        assert_eq!(census.all(), frontier.census.all(), "every page entered once, as it is stored");
        assert_eq!(census.orders(), frontier.census.orders());
    }
    fn take(&mut self, task: &super::Task) {
        let failure = || Failure::new(Phase::Connect, Cause::Broken("down".to_owned()), Duration::ZERO);
        match &task.step {
            Step::LookUp(_, _, origin) => {
                let address = ((self.address)(origin.server.host()), 80).into();
                let found = Address { addresses: vec![address], lifetime: Interval::from_hours(1) };
                self.frontier
                    .complete(task, &StepResult::LookedUp(Ok(found)), Interval::ZERO, self.now)
                    .unwrap();
            }
            Step::Robots(..) if self.is_down => {
                let outcome = Outcome::Unreachable(failure());
                let done = StepResult::Robots(&outcome, &RobotsAnswer::Unreachable(None));
                self.frontier.complete(task, &done, TOOK, self.now).unwrap();
            }
            Step::Robots(..) => {
                let rules = Arc::new(RobotsRules::for_agent(self.robots.as_bytes(), "utsushi"));
                let outcome = Outcome::Fetched { status: 200, content: None, truncated: None };
                let done = StepResult::Robots(&outcome, &RobotsAnswer::Rules(rules));
                self.now = self.now.plus(TOOK);
                self.frontier.complete(task, &done, TOOK, self.now).unwrap();
            }
            Step::Visit(page, _, request) => self.visit(task, *page, &request.url),
            Step::Refuse(page, url, refusal) => {
                self.frontier.complete(task, &StepResult::Refused, Interval::ZERO, self.now).unwrap();
                let lesson =
                    Lesson { page: *page, ..lesson(url, self.now, VisitResult::Refused(refusal), &[]) };
                self.frontier.learn(&lesson).unwrap();
            }
        }
    }
    fn visit(&mut self, task: &super::Task, page: sat::Number, url: &PageUrl) {
        self.visits.push((url.as_str().to_owned(), self.now));
        let began = self.now;
        self.now = self.now.plus(TOOK);
        if self.is_down {
            let cause = Cause::Broken("down".to_owned());
            let outcome = Outcome::Unreachable(Failure::new(Phase::Connect, cause, Duration::ZERO));
            let worth =
                self.frontier.complete(task, &StepResult::Visited(&outcome, 0), TOOK, self.now).unwrap();
            if worth == ResultUse::ArchiveAndLearn {
                let lesson = Lesson {
                    page: Some(page),
                    ..lesson(url, began, VisitResult::Unreachable { may_pass: true }, &[])
                };
                self.frontier.learn(&lesson).unwrap();
            }
            return;
        }
        let (status, links, blocks) = (self.page)(url, began);
        let target = links.first().cloned();
        let (outcome, told) = match status {
            200 => {
                let digest = base::ContentDigest::of(format!("{url} {blocks:?}").as_bytes());
                let told = VisitResult::Content(*digest.as_bytes().first_chunk().unwrap());
                (Outcome::Fetched { status, content: Some(digest), truncated: None }, told)
            }
            301 => {
                let told = VisitResult::Moved { status, target: target.as_ref() };
                (Outcome::Moved { status, target: target.clone() }, told)
            }
            404 => (Outcome::Gone { status }, VisitResult::Gone(status)),
            _ => {
                let retry_after = self.retry_after;
                (Outcome::Failed { status, retry_after }, VisitResult::Failed { status, retry_after })
            }
        };
        self.frontier.complete(task, &StepResult::Visited(&outcome, 1_000), TOOK, self.now).unwrap();
        let found: Vec<FoundUrl> = links.into_iter().map(FoundUrl::page).collect();
        let main = blocks.iter().fold(1, |main, block| base::chance::hash(&[main, (*block).into()]));
        let text = (status == 200).then_some(TextFeatures { main, features: &blocks });
        let links = if status == 200 { &found[..] } else { &[] };
        let lesson = Lesson { page: Some(page), text, ..lesson(url, began, told, links) };
        assert_eq!(self.frontier.learn(&lesson).unwrap(), LearnResult::Learned);
    }
    fn count(&self, part: &str) -> usize {
        self.visits.iter().filter(|(url, _)| url.contains(part)).count()
    }
}

fn lesson<'a>(url: &'a PageUrl, at: Timestamp, told: VisitResult<'a>, links: &'a [FoundUrl]) -> Lesson<'a> {
    Lesson {
        page: None,
        url,
        at,
        result: told,
        address: None,
        etag: None,
        last_modified: None,
        text: None,
        filtered: "",
        links,
        too_long: &[],
        place: "",
    }
}

/// A site of `pages` pages, each with its own text.
fn site(pages: u32) -> impl Fn(&PageUrl, Timestamp) -> Page {
    move |at, _| {
        let number: u32 = at.path().trim_start_matches("/p/").parse().unwrap_or(0);
        let links = (number * 10 + 1..number * 10 + 11).filter(|next| *next < pages);
        let links = links.map(|next| at.join(&format!("/p/{next}")).unwrap()).collect();
        (200, links, vec![number.wrapping_mul(0x9E37_79B1)])
    }
}

#[test]
fn the_first_request_comes_after_one_delay_and_the_others_one_delay_apart() {
    let mut world = World::new(settings(), site(100));
    world.add(&["http://a.example/p/0"]);
    world.run(Interval::from_minutes(30));
    assert_eq!(world.count("a.example"), 100);
    // The robots file was first, after one pause.
    assert!(world.visits[0].1 >= START.plus(PAUSE.times(2.0)));
    for pair in world.visits.windows(2) {
        assert!(pair[1].1.since(pair[0].1) >= PAUSE.plus(TOOK), "{pair:?}");
    }
}

#[test]
fn servers_of_one_address_take_turns() {
    let mut world = World::new(settings(), site(30));
    world.address = |_| [10, 0, 0, 1];
    world.add(&["http://a.example/p/0", "http://b.example/p/0", "http://c.example/p/0"]);
    world.run(Interval::from_minutes(20));
    for pair in world.visits.windows(2) {
        assert!(pair[1].1.since(pair[0].1) >= PAUSE, "{pair:?}");
    }
    for host in ["a", "b", "c"] {
        assert_eq!(world.count(&format!("{host}.example")), 30, "none starves another");
    }
}

#[test]
fn a_crawl_delay_is_kept_and_an_owner_who_agreed_is_asked_faster() {
    let mut world = World::new(settings(), site(30));
    world.robots = "User-agent: *\nCrawl-delay: 60\n".to_owned();
    world.add(&["http://a.example/p/0"]);
    world.run(Interval::from_minutes(40));
    for pair in world.visits.windows(2) {
        assert!(pair[1].1.since(pair[0].1) >= Interval::from_seconds(60), "{pair:?}");
    }
    let agreed: Vec<AgreedRate> =
        ["a.example pause=1s width=1", "10.0.0.1 pause=1s"].map(|text| text.parse().unwrap()).to_vec();
    let mut world = World::new(Settings { agreed, ..settings() }, site(30));
    world.address = |_| [10, 0, 0, 1];
    world.add(&["http://a.example/p/0"]);
    world.run(Interval::from_minutes(1));
    assert_eq!(world.count("a.example"), 30);
    let told = world.frontier.servers(world.now);
    assert!(told[0].agreed && told[0].pause == Interval::from_seconds(1));
}

#[test]
fn a_wide_agreement_is_used_in_its_whole_width() {
    let agreed = vec!["127.0.0.1:8080 pause=0s width=32".parse().unwrap()];
    let mut frontier = open(&SimulatedDisk::new(1), Settings { agreed, ..settings() }, START);
    let pages: Vec<FoundUrl> =
        (0..100).map(|page| FoundUrl::page(url(&format!("http://127.0.0.1:8080/{page}")))).collect();
    frontier.add(&pages, 0, START).unwrap();
    frontier.settle(START).unwrap();
    let Next::Do(look_up) = frontier.next(START).unwrap() else { panic!("at once") };
    assert!(matches!(look_up.step, Step::LookUp(..)));
    assert!(!matches!(frontier.next(START).unwrap(), Next::Do(_)), "one look-up is enough");
    let address = ([127, 0, 0, 1], 8080).into();
    let found = Address { addresses: vec![address], lifetime: Interval::from_hours(1) };
    frontier.complete(&look_up, &StepResult::LookedUp(Ok(found)), Interval::ZERO, START).unwrap();
    let Next::Do(robots) = frontier.next(START).unwrap() else { panic!("the robots file comes first") };
    assert!(!matches!(frontier.next(START).unwrap(), Next::Do(_)), "and alone");
    let outcome = Outcome::Gone { status: 404 };
    frontier.complete(&robots, &StepResult::Robots(&outcome, &RobotsAnswer::Absent), TOOK, START).unwrap();
    let mut under_way = Vec::new();
    while let Next::Do(task) = frontier.next(START).unwrap() {
        under_way.push(task);
    }
    assert_eq!(under_way.len(), 32);
}

#[test]
fn forbidden_pages_are_not_requested_and_are_explained() {
    let mut world = World::new(settings(), site(30));
    world.robots = "User-agent: *\nDisallow: /p/7\n".to_owned();
    world.add(&["http://a.example/p/0", "http://a.example/p/7"]);
    world.run(Interval::from_hours(1));
    assert_eq!((world.count("/p/7"), world.count("/p/8")), (0, 1));
    let told = world.frontier.explain(&url("http://a.example/p/7"), world.now).unwrap();
    assert_eq!(told.state, "refused");
    assert!(told.reason.contains("Disallow: /p/7"), "{}", told.reason);
    let told = world.frontier.explain(&url("http://a.example/p/77"), world.now).unwrap();
    assert_eq!(told.state, "unknown");
    assert!(told.reason.contains("Disallow: /p/7"), "{}", told.reason);
}

#[test]
fn an_overloaded_server_is_divided_and_what_was_dropped_is_counted() {
    // Every page changes at every visit, so the intervals shrink until the server cannot follow.
    let changing = |at: &PageUrl, now: Timestamp| {
        let number: u32 = at.path().trim_start_matches("/p/").parse().unwrap_or(0);
        let links = (number * 10 + 1..number * 10 + 11).filter(|next| *next < 400);
        let links = links.map(|next| at.join(&format!("/p/{next}")).unwrap()).collect();
        let moment = u32::try_from(now.as_seconds() / 60).unwrap();
        (
            200,
            links,
            vec![number.wrapping_mul(0x9E37_79B1), if number.is_multiple_of(2) { moment } else { 0 }],
        )
    };
    let mut world = World::new(settings(), changing);
    world.add(&["http://a.example/p/0"]);
    world.run(Interval::from_days(40));
    let told = &world.frontier.servers(world.now)[0];
    assert!(told.overloaded && told.load > 0.1, "{told:?}");
    assert!(told.resolved_load <= 0.1 && told.resolved_load > 0.05, "{told:?}");
    assert_eq!(world.frontier.overview().overloaded, 1);
    for pair in world.visits.windows(2) {
        assert!(pair[1].1.since(pair[0].1) >= PAUSE, "{pair:?}");
    }
    let slow = world.frontier.explain(&url("http://a.example/p/1"), world.now).unwrap();
    assert!(slow.changes == 0 && slow.visits > 1, "{slow:?}");
}

#[test]
fn a_trap_is_left_and_a_site_beside_it_is_covered() {
    let web = |at: &PageUrl, now: Timestamp| {
        if at.host() == "site.example" {
            return site(3_000)(at, now);
        }
        let number: u64 = at.path().trim_start_matches("/day/").parse().unwrap_or(0);
        let links = (1..6).map(|step| at.join(&format!("/day/{}", number * 7 + step)).unwrap()).collect();
        (200, links, vec![4_711])
    };
    let mut world = World::new(settings(), web);
    world.add(&["http://site.example/p/0", "http://trap.example/day/1"]);
    world.run(Interval::from_hours(10));
    assert!(world.frontier.pages() - 3_000 > 500);
    let covered = (0..3_000).filter(|page| world.count(&format!("site.example/p/{page}")) > 0).count();
    assert_eq!(covered, 3_000);
    assert!(world.count("trap.example") < 300, "{}", world.count("trap.example"));
    let told = world.frontier.servers(world.now);
    let trap = told.iter().find(|server| server.server == "trap.example").unwrap();
    assert!(trap.new > 100, "they are known and wait: {trap:?}");
}

/// A world with one server whose `/old/` is gone after the first day, and visits to `/old/` and `/new/` in twelve days after it.
fn visits_to_a_dead_directory(spares_dead: bool) -> (World, usize, usize) {
    let web = |at: &PageUrl, now: Timestamp| {
        let is_dead = at.path().starts_with("/old/") && now > START.plus(Interval::from_days(1));
        let links = if at.path() == "/" {
            let old = (0..200).map(|page| at.join(&format!("/old/{page}")).unwrap());
            old.chain((0..200).map(|page| at.join(&format!("/new/{page}")).unwrap())).collect()
        } else {
            Vec::new()
        };
        let hash = base::chance::hash_bytes(1, at.path().as_bytes()).to_le_bytes();
        (if is_dead { 404 } else { 200 }, links, vec![u32::from_le_bytes(*hash.first_chunk().unwrap())])
    };
    let mut world = World::new(Settings { spares_dead, ..settings() }, web);
    world.add(&["http://a.example/"]);
    world.run(Interval::from_days(1));
    assert_eq!((world.count("/old/"), world.count("/new/")), (200, 200));
    world.run(Interval::from_days(12));
    let (old, new) = (world.count("/old/") - 200, world.count("/new/") - 200);
    (world, old, new)
}

#[test]
fn a_dead_directory_is_visited_out_and_then_looked_for_by_sample() {
    let (mut world, old, new) = visits_to_a_dead_directory(Settings::default().spares_dead);
    assert!(new >= 200 && (200..300).contains(&old), "{old} visits to the dead, {new} to the living");
    let waiting = (0..200).map(|page| url(&format!("http://a.example/old/{page}")));
    let told: Vec<_> = waiting.map(|page| world.frontier.explain(&page, world.now).unwrap()).collect();
    assert!(told.iter().all(|told| told.state == "gone"), "each of them was looked at, none was slowed");
    assert!(told.iter().filter(|told| told.limited_by == Some("neighbourhood")).count() > 100);
    let (mut world, more, _) = visits_to_a_dead_directory(false);
    assert!(more > old + 50, "without the rule {more} visits to the dead, {old} with it");
    let page = url("http://a.example/old/7");
    assert_ne!(world.frontier.explain(&page, world.now).unwrap().limited_by, Some("neighbourhood"));
}

#[test]
fn a_failing_server_is_not_visited_also_after_a_restart() {
    let disk = SimulatedDisk::new(1);
    let mut world = World::new(settings(), |_, _| (503, Vec::new(), Vec::new()));
    world.frontier = open(&disk, settings(), START);
    world.add(&["http://a.example/1", "http://a.example/2"]);
    world.run(Interval::from_minutes(1));
    assert_eq!(world.visits.len(), 1, "it asked for five minutes");
    let failed = world.visits[0].1;
    world.frontier.commit_durably(world.now).unwrap();
    disk.cut_now();
    disk.restart();
    world.frontier = open(&disk, settings(), world.now);
    world.run(Interval::from_minutes(20));
    assert!(world.visits[1].1.since(failed) >= Interval::from_minutes(5), "{:?}", world.visits);
}

#[test]
fn nothing_is_learned_during_an_outage() {
    let mut world = World::new(settings(), |_, _| (200, Vec::new(), vec![1]));
    let pages: Vec<String> = (0..60).map(|number| format!("http://s{number}.example/")).collect();
    world.add(&pages.iter().map(String::as_str).collect::<Vec<_>>());
    world.run(Interval::from_minutes(5));
    assert_eq!(world.visits.len(), 60);
    world.is_down = true;
    world.run(Interval::from_days(8));
    assert!(world.frontier.overview().network_down);
    let tried = world.visits.len() - 60;
    assert!(tried < 8 * 24 * 60 + 60, "one a minute at most: {tried}");
    world.is_down = false;
    let before = world.visits.len();
    world.run(Interval::from_hours(2));
    assert!(!world.frontier.overview().network_down);
    assert!(
        world.visits.len() - before >= 45,
        "every page is visited again: {}",
        world.visits.len() - before
    );
    let told: Vec<_> =
        pages.iter().map(|page| world.frontier.explain(&url(page), world.now).unwrap().state).collect();
    assert!(told.iter().filter(|state| **state == "live").count() >= 45, "{told:?}");
}

#[test]
fn budgets_of_a_day_are_kept() {
    let limited =
        Settings { requests_per_day_max: Some(50), server_requests_per_day_max: Some(20), ..settings() };
    let mut world = World::new(limited, site(1_000));
    world.add(&[
        "http://a.example/p/0",
        "http://b.example/p/0",
        "http://c.example/p/0",
        "http://d.example/p/0",
    ]);
    world.run(Interval::from_days(4));
    let mut days: BTreeMap<(i64, String), usize> = BTreeMap::new();
    for (page, at) in &world.visits {
        let day = at.as_seconds() / 86_400;
        *days.entry((day, url(page).host().to_owned())).or_default() += 1;
        *days.entry((day, String::new())).or_default() += 1;
    }
    for ((_, host), count) in days {
        assert!(count <= if host.is_empty() { 50 } else { 20 }, "{host}: {count}");
    }
    assert!(world.visits.len() > 120, "{}", world.visits.len());
}

#[test]
fn one_server_has_one_name() {
    let web = |at: &PageUrl, now: Timestamp| match (at.host(), at.path()) {
        ("example.jp", path) => (301, vec![url(&format!("http://www.example.jp{path}"))], Vec::new()),
        (_, "/") => (200, vec![url("http://example.jp/p/1"), url("http://www.example.jp/p/2")], vec![5]),
        _ => site(10)(at, now),
    };
    let mut world = World::new(settings(), web);
    world.add(&["http://example.jp/", "http://www.example.jp/"]);
    world.run(Interval::from_hours(1));
    let told = world.frontier.servers(world.now);
    let other = told.iter().find(|server| server.server == "example.jp").unwrap();
    assert_eq!(other.alias_of.as_deref(), Some("www.example.jp"));
    assert!(world.count("//www.example.jp/p/1") >= 1, "{:?}", world.visits);
    let explained = world.frontier.explain(&url("http://example.jp/p/1"), world.now).unwrap();
    assert_eq!(explained.url, "http://www.example.jp/p/1");
}

#[test]
fn links_to_other_partitions_leave_in_batches() {
    let links = |at: &PageUrl, _: Timestamp| {
        let servers = (0..2_000).map(|server| url(&format!("http://s{server}.example/")));
        (200, if at.path() == "/" { servers.collect() } else { Vec::new() }, vec![1])
    };
    let mut world = World::new(Settings { links_remembered: 1 << 16, ..settings() }, links);
    let seed = url("http://a.example/");
    let mine: Owned = Owned::Some([partition(&seed.server())].into());
    world.frontier.own(mine.clone());
    world.add(&[seed.as_str()]);
    world.run(Interval::from_minutes(1));
    let sent: Vec<_> = world.frontier.links_of_others(true);
    let count: usize = sent.iter().map(|batch| batch.links.len()).sum();
    let own = (0..2_000).filter(|server| mine.holds(&url(&format!("http://s{server}.example/")).server()));
    assert_eq!(count, 2_000 - own.count());
    for batch in &sent {
        assert!(batch.links.iter().all(|(found, _)| partition(&found.url.server()) == batch.partition));
    }
    assert!(world.frontier.links_of_others(true).is_empty(), "each leaves once");
}

#[test]
fn a_pause_is_durable_and_stops_requests() {
    let disk = SimulatedDisk::new(1);
    let mut world = World::new(settings(), site(50));
    world.frontier = open(&disk, settings(), START);
    world.add(&["http://a.example/p/0"]);
    world.frontier.pause(true);
    world.frontier.commit_durably(world.now).unwrap();
    disk.cut_now();
    disk.restart();
    world.frontier = open(&disk, settings(), world.now);
    world.run(Interval::from_hours(1));
    assert!(world.frontier.is_paused() && world.visits.is_empty());
    world.frontier.pause(false);
    world.run(Interval::from_hours(1));
    assert_eq!(world.visits.len(), 50);
}

#[test]
fn pages_beyond_a_day_are_put_off_and_come_back() {
    let many = |at: &PageUrl, _: Timestamp| {
        let links = (0..9_000).map(|page| at.join(&format!("/p/{page}")).unwrap());
        let hash = base::chance::hash_bytes(1, at.path().as_bytes()).to_le_bytes();
        let blocks = vec![u32::from_le_bytes(*hash.first_chunk().unwrap()), u32::from(hash[7])];
        (200, if at.path() == "/" { links.collect() } else { Vec::new() }, blocks)
    };
    let slow = Settings { pause: Interval::from_seconds(100), ..settings() };
    let mut world = World::new(slow, many);
    world.add(&["http://a.example/"]);
    world.run(Interval::from_days(1));
    let told = &world.frontier.servers(world.now)[0];
    assert!(told.queued <= 864 && told.pages == 9_001, "{told:?}");
    world.run(Interval::from_days(13));
    let visited: std::collections::BTreeSet<&str> =
        world.visits.iter().map(|(url, _)| url.as_str()).collect();
    assert!(visited.len() > 7_000, "{}", visited.len());
}
