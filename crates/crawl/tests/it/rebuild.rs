//! The archive is the source of truth: what a crawl learned can be rebuilt from its archive (D3, D4, C17).

use crate::rig::{at_once, findings, frontier, next, reads, settings, step};
use crate::{PAUSE, plan};
use archive::{Archive, Learned, Reader};
use base::clock::SimulatedClock;
use base::disk::SimulatedDisk;
use base::{Clock, Interval, PageUrl, Timestamp};
use crawl::{Added, DerivedStage, Evidence, FrontierStage, StepContent, learn_all};
use frontier::{
    Allocation, Estimator, FoundUrl, Frontier, Next, ResultUse, RevisitPolicy, Role, Selection, Step,
    StepResult,
};
use robots::RobotsAnswer;
use sim::door::SimulatedDoor;
use sim::{ORIGIN, Plan, Web};
use stage::{Runner, Stage as _};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

const DIRECTORY: &str = "/data/archive";

/// A crawl of a simulated web into an archive, step by step.
struct World {
    web: Arc<Web>,
    clock: Arc<SimulatedClock>,
    disk: SimulatedDisk,
    archive: Archive,
    frontier: Frontier,
    policy: RevisitPolicy,
}

fn open_archive(disk: &SimulatedDisk, now: Timestamp) -> Archive {
    let settings = archive::Settings { file_captures_max: 3_000, ..archive::Settings::default() };
    Archive::open(Arc::new(disk.clone()), Path::new(DIRECTORY), settings, now).unwrap().0
}

impl World {
    fn new(plan: Plan) -> Self {
        Self::by(RevisitPolicy::paper(), plan)
    }
    fn by(policy: RevisitPolicy, plan: Plan) -> Self {
        let (disk, clock) = (SimulatedDisk::new(1), SimulatedClock::new(ORIGIN));
        let mut archive = open_archive(&disk, ORIGIN);
        let web = Arc::new(Web::new(plan));
        let mut frontier = frontier(settings(PAUSE), policy, ORIGIN);
        let home = Added::page(PageUrl::parse(&format!("http://{}/", web.host(0))).unwrap());
        let note = format!("page 0 {}\n", home.url);
        let noted = archive.note("add", ORIGIN, &note).unwrap();
        archive.commit().unwrap();
        frontier.add(&[FoundUrl::page(home.url)], 0, ORIGIN).unwrap();
        frontier.settle(ORIGIN).unwrap();
        frontier.pass(&noted.checkpoint().to_string());
        Self { web, clock, disk, archive, frontier, policy }
    }

    fn run(&mut self, days: u64) {
        let door = SimulatedDoor::new(Arc::clone(&self.web), Arc::clone(&self.clock) as Arc<dyn Clock>);
        let end = self.clock.now().plus(Interval::from_days(days));
        while self.clock.now() < end {
            match next(&mut self.frontier, self.clock.now()) {
                Next::Do(task) => {
                    let ended = at_once(step(&door, &self.clock, &task));
                    self.clock.advance(ended.took);
                    self.finish(&task, ended);
                }
                Next::Wait(at) => self.clock.advance_to(at.min(end)),
                Next::Idle => self.clock.advance_to(end),
            }
        }
        self.frontier.commit(self.clock.now()).unwrap();
    }
    fn finish(&mut self, task: &frontier::Task, ended: crawl::FinishedStep) {
        let is_refusal = matches!(task.step, Step::Refuse(..));
        let done = if is_refusal { StepResult::Refused } else { ended.done() };
        let worth = self.frontier.complete(task, &done, ended.took, self.clock.now()).unwrap();
        let Some(capture) = ended.capture.filter(|_| worth == ResultUse::ArchiveAndLearn) else { return };
        let stored = self.archive.append(&capture).unwrap();
        self.archive.commit().unwrap();
        let (learned, place) = (Learned::of(&capture, &stored.entry), stored.checkpoint().to_string());
        match (task.step.page(), ended.what) {
            (None, StepContent::Robots(RobotsAnswer::Rules(rules))) => {
                let found = |text: &String| {
                    let url = capture.url.join(text).ok()?;
                    Some(FoundUrl { url, role: Role::Sitemap, announced: None })
                };
                let sitemaps: Vec<FoundUrl> = rules.sitemaps().iter().filter_map(found).collect();
                self.frontier.found(&sitemaps, capture.at).unwrap();
            }
            (None, _) => {}
            (page, what) => {
                let findings = findings(&capture, what);
                let evidence = Evidence { url: capture.url.clone(), learned, findings, place: place.clone() };
                self.frontier.learn(&evidence.lesson(page)).unwrap();
            }
        }
        self.frontier.pass(&place);
    }

    /// Writes a note to the archive, and carries it out.
    fn note(&mut self, kind: &str, text: &str, act: impl Fn(&mut Frontier, Timestamp)) {
        let now = self.clock.now();
        let noted = self.archive.note(kind, now, text).unwrap();
        self.archive.commit().unwrap();
        act(&mut self.frontier, now);
        self.frontier.pass(&noted.checkpoint().to_string());
        self.clock.advance(Interval::from_seconds(1));
    }
    fn reader(&self) -> Reader {
        Reader::open(Arc::new(self.disk.clone()), Path::new(DIRECTORY)).unwrap()
    }
    /// A frontier that learned everything from the archive.
    fn rebuilt(&self) -> Frontier {
        let mut rebuilt = frontier(settings(PAUSE), self.policy, ORIGIN);
        learn_all(&mut rebuilt, None, &self.reader(), &reads(), self.clock.now(), |_| {}).unwrap();
        rebuilt.settle(self.clock.now()).unwrap();
        rebuilt
    }
}

/// When every page is due.
fn schedule(frontier: &mut Frontier) -> BTreeMap<String, Timestamp> {
    let mut all = BTreeMap::new();
    frontier.schedule(|key, due| _ = all.insert(key.to_owned(), due)).unwrap();
    all
}

#[track_caller]
fn check(live: &mut Frontier, learned: &mut Frontier) {
    let (live, learned) = (schedule(live), schedule(learned));
    let differences: Vec<_> = live
        .iter()
        .filter(|(key, due)| learned.get(*key) != Some(due))
        .map(|(key, due)| (key, due.to_string(), learned.get(key).map(ToString::to_string)))
        .take(5)
        .collect();
    assert!(differences.is_empty(), "{differences:#?}");
    assert_eq!(live.len(), learned.len());
}

#[test]
fn a_frontier_that_is_rebuilt_has_the_same_schedule() {
    check_rebuilt(RevisitPolicy::paper());
}

#[test]
fn a_frontier_with_a_budget_that_is_rebuilt_has_the_same_schedule() {
    check_rebuilt(RevisitPolicy { every: Interval::from_hours(12), ..RevisitPolicy::default() });
    check_rebuilt(RevisitPolicy {
        every: Interval::from_hours(12),
        ..RevisitPolicy::new(Estimator::Activity, Allocation::Age)
    });
}

fn check_rebuilt(policy: RevisitPolicy) {
    let mut world = World::by(policy, plan(14));
    world.run(4);
    assert!(world.reader().count() > 800);
    let mut rebuilt = world.rebuilt();
    world.frontier.settle(world.clock.now()).unwrap();
    check(&mut world.frontier, &mut rebuilt);
    let told = |frontier: &Frontier| {
        let servers = frontier.servers(ORIGIN);
        let load =
            |server: &frontier::ServerReport| (server.server.clone(), server.load.to_bits(), server.pages);
        let mut loads: Vec<_> = servers.iter().filter(|server| server.pages > 0).map(load).collect();
        loads.sort();
        loads
    };
    assert_eq!(told(&world.frontier), told(&rebuilt), "the counts of servers too");
}

#[test]
fn orders_and_another_policy_are_replayed() {
    let policy = RevisitPolicy { every: Interval::from_hours(12), ..RevisitPolicy::default() };
    let mut world = World::by(policy, plan(0));
    world.run(2);
    let url = |world: &World, server| PageUrl::parse(&format!("http://{}/", world.web.host(server))).unwrap();
    let visits = vec![Selection::prefix(&url(&world, 0)), Selection::page(&url(&world, 2))];
    let text = format!("{}\n{}\n", visits[0], visits[1]);
    world.note("visit", &text, |frontier, now| assert!(frontier.visit_now(&visits, now).unwrap() > 5));
    world.run(1);
    let server = Selection::server(&url(&world, 1).server()).unwrap();
    world.note("remove", &format!("{server}\n"), |frontier, now| {
        assert!(frontier.remove(std::slice::from_ref(&server), now).unwrap() > 0);
    });
    world.run(1);
    let mut rebuilt = world.rebuilt();
    check(&mut world.frontier, &mut rebuilt);
    let often = RevisitPolicy { every: Interval::from_hours(3), ..policy };
    let settings = "crawl.policy = \"kin/root\"\ncrawl.every = \"3h\"\ncrawl.budget_counts_new = false\n";
    world.note("settings", settings, |frontier, _| frontier.set_policy(often).unwrap());
    world.frontier.settle(world.clock.now()).unwrap();
    let mut rebuilt = world.rebuilt();
    check(&mut world.frontier, &mut rebuilt);
    let home = Selection::page(&url(&world, 1));
    world.note("restore", &format!("{home}\n"), |frontier, now| {
        frontier.restore(std::slice::from_ref(&home), now).unwrap();
    });
    world.run(1);
    world.frontier.settle(world.clock.now()).unwrap();
    let mut rebuilt = world.rebuilt();
    check(&mut world.frontier, &mut rebuilt);
}

#[test]
fn what_was_archived_and_not_learned_is_learned_at_the_next_start() {
    let mut world = World::new(plan(0));
    world.run(2);
    // A frontier that knows half of it, as after a crash.
    let place = {
        let reader = world.reader();
        let arrivals: Vec<_> = reader.since(None).unwrap().map(Result::unwrap).collect();
        arrivals[arrivals.len() / 2].1.to_string()
    };
    let mut half = world.rebuilt();
    let before = schedule(&mut half);
    half.pass(&place);
    learn_all(&mut half, None, &world.reader(), &reads(), world.clock.now(), |_| {}).unwrap();
    half.settle(world.clock.now()).unwrap();
    assert_eq!(schedule(&mut half), before, "what was learned already changes nothing");
    world.frontier.settle(world.clock.now()).unwrap();
    check(&mut world.frontier, &mut half);
}

#[test]
fn imported_captures_become_known_pages_with_estimates() {
    let mut world = World::new(plan(0));
    world.run(4);
    // A foreign archive: the same captures, without anything that shows how their pages were found.
    let disk = SimulatedDisk::new(2);
    let mut other = open_archive(&disk, world.clock.now());
    let reader = world.reader();
    let mut entries: Vec<_> =
        reader.all().unwrap().map(Result::unwrap).filter(archive::Entry::is_visit).collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.at));
    let mut pages = 0;
    for entry in entries.iter().filter(|entry| entry.status == Some(200)) {
        let document = reader.document(entry).unwrap();
        let block = [document.head.as_slice(), &document.payload()].concat();
        let group = archive::Group::of_answer(&entry.url, None, entry.at, block);
        other.import(&group).unwrap();
        pages += 1;
    }
    other.commit().unwrap();
    other.close().unwrap();
    let mut learned = frontier(settings(PAUSE), RevisitPolicy::paper(), ORIGIN);
    let reader = Reader::open(Arc::new(disk), Path::new(DIRECTORY)).unwrap();
    let learning = learn_all(&mut learned, None, &reader, &reads(), world.clock.now(), |_| {}).unwrap();
    assert!(learning.captures >= pages && learning.foreign > 100 && learning.refolded > 50, "{learning:?}");
    // They came newest first, and every page knows all of its versions.
    for entry in entries.iter().filter(|entry| entry.status == Some(200)).take(200) {
        let url = PageUrl::parse(&entry.url).unwrap();
        if url.target() == "/robots.txt" {
            continue;
        }
        let versions = entries.iter().filter(|it| it.key == entry.key && it.status == Some(200)).count();
        let told = learned.explain(&url, world.clock.now()).unwrap();
        assert_eq!(told.visits as usize, versions, "{url}");
    }
}

#[test]
fn a_checkpoint_that_cannot_be_read_stops_the_frontier_and_names_the_remedy() {
    let mut world = World::new(plan(0));
    world.run(1);
    let mut broken = world.rebuilt();
    broken.pass("not a checkpoint");
    let error = learn_all(&mut broken, None, &world.reader(), &reads(), world.clock.now(), |_| {});
    let error = error.unwrap_err();
    assert!(error.to_string().contains("`utsushi rebuild frontier`"), "{error}");
    assert_eq!(broken.place(), "not a checkpoint", "nothing was learned");
}

#[test]
fn the_runner_rebuilds_a_frontier_and_refuses_to_clear_one_in_use() {
    let mut world = World::new(plan(0));
    world.run(2);
    let (reader, options, now) = (world.reader(), reads(), world.clock.now());
    let runner = Runner::new(reader.clone(), options.parser());
    let mut rebuilt = world.rebuilt();
    let mut in_use = FrontierStage::new(&mut rebuilt, &options, now).over(&reader);
    let error = runner.rebuild(&mut [&mut in_use], |_| {}).unwrap_err();
    assert!(matches!(error, stage::Error::InUse { stage: "frontier" }), "{error}");
    drop(in_use);
    let policy = world.policy;
    let fresh = move || Ok(frontier(settings(PAUSE), policy, ORIGIN));
    let mut stage = FrontierStage::new(&mut rebuilt, &options, now).over(&reader).with_fresh(fresh);
    let progress = runner.rebuild(&mut [&mut stage], |_| {}).unwrap();
    assert_eq!(progress.captures, reader.count());
    drop(stage);
    rebuilt.settle(now).unwrap();
    world.frontier.settle(now).unwrap();
    check(&mut world.frontier, &mut rebuilt);
}

#[test]
fn frontier_and_derived_table_catch_up_in_one_run_and_the_table_is_rebuilt_the_same() {
    let mut world = World::new(plan(0));
    world.run(2);
    let (reader, options, now) = (world.reader(), reads(), world.clock.now());
    let directory = Path::new(DIRECTORY);
    let mut derived = DerivedStage::open(Arc::new(world.disk.clone()), directory).unwrap();
    let mut learned = frontier(settings(PAUSE), world.policy, ORIGIN);
    let learning = learn_all(&mut learned, Some(&mut derived), &reader, &options, now, |_| {}).unwrap();
    assert_eq!(learning.captures, reader.count());
    let checkpoint = derived.checkpoint().unwrap();
    assert_eq!(checkpoint.as_ref().map(ToString::to_string).as_deref(), Some(learned.place()));
    learned.settle(now).unwrap();
    world.frontier.settle(now).unwrap();
    check(&mut world.frontier, &mut learned);
    let all = || {
        let entries = reader.all().unwrap().map(Result::unwrap);
        entries.map(|entry| reader.derived().get(&entry.location).unwrap()).collect::<Vec<_>>()
    };
    let before = all();
    assert!(before.iter().flatten().filter(|facts| facts.language.is_some()).count() > 100);
    crawl::rebuild_derived(&mut derived, &reader, &options, |_| {}).unwrap();
    assert_eq!((all(), derived.checkpoint().unwrap()), (before, checkpoint));
}
