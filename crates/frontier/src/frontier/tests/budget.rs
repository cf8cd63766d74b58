//! The budget: how visits are spread over a server's pages, and what is visited before its time.

use super::*;
use crate::{Allocation, Estimator};
use std::collections::BTreeSet;

/// Every page once in ten days on average.
fn ten_days() -> RevisitPolicy {
    RevisitPolicy { every: Interval::from_days(10), ..RevisitPolicy::default() }
}

impl World {
    fn by(
        policy: RevisitPolicy,
        disk: &SimulatedDisk,
        page: impl Fn(&PageUrl, Timestamp) -> Page + 'static,
    ) -> Self {
        let mut world = Self::new(settings(), page);
        world.frontier = open_by(policy, disk, settings(), START);
        world
    }
    /// Ends after a commit, and restarts after `after`.
    fn restart(&mut self, policy: RevisitPolicy, disk: &SimulatedDisk, after: Interval) {
        self.frontier.commit_durably(self.now).unwrap();
        self.die(policy, disk, after);
    }
    /// Ends without a commit, and restarts after `after`.
    fn die(&mut self, policy: RevisitPolicy, disk: &SimulatedDisk, after: Interval) {
        disk.cut_now();
        disk.restart();
        self.now = self.now.plus(after);
        self.frontier = open_by(policy, disk, settings(), self.now);
    }
    /// Learns from the archive what was visited since a moment.
    fn learn_since(&mut self, moment: Timestamp) {
        for (page, at) in self.visits.iter().filter(|(_, at)| *at >= moment) {
            let page = url(page);
            let (_, _, blocks) = (self.page)(&page, *at);
            let digest = base::ContentDigest::of(format!("{page} {blocks:?}").as_bytes());
            let told = VisitResult::Content(*digest.as_bytes().first_chunk().unwrap());
            assert_eq!(self.frontier.learn(&lesson(&page, *at, told, &[])).unwrap(), LearnResult::Learned);
        }
    }
    /// Crawls until a page is requested, and crashes after the commit that stores the charge; the visit reaches the
    /// archive.
    fn crash_in_a_visit(&mut self, policy: RevisitPolicy, disk: &SimulatedDisk) {
        loop {
            match self.frontier.next(self.now).unwrap() {
                Next::Do(task) => match &task.step {
                    Step::Visit(_, _, request) => {
                        self.now = self.now.plus(TOOK);
                        self.visits.push((request.url.as_str().to_owned(), self.now));
                        return self.restart(policy, disk, Interval::ZERO);
                    }
                    _ => self.take(&task),
                },
                Next::Wait(at) => self.now = at.max(self.now),
                Next::Idle => unreachable!("there is something to visit"),
            }
        }
    }
    fn hint(&mut self, page: &str) {
        let found = FoundUrl { announced: Some(self.now), ..FoundUrl::page(url(page)) };
        self.frontier.found(&[found], self.now).unwrap();
    }
    /// Visits of pages with this part in their URL since a moment.
    fn since(&self, moment: Timestamp, part: &str) -> Vec<&(String, Timestamp)> {
        self.visits.iter().filter(|(url, at)| *at >= moment && url.contains(part)).collect()
    }
    /// How many pages with this part in their URL were visited since a moment.
    fn distinct(&self, moment: Timestamp, part: &str) -> usize {
        let pages = self.since(moment, part).into_iter().map(|(url, _)| url.as_str());
        pages.collect::<BTreeSet<&str>>().len()
    }
}

/// Pages `/DIRECTORY/NUMBER`, none of which links to another.
fn add(world: &mut World, directory: &str, numbers: std::ops::Range<u32>) {
    let pages: Vec<String> = numbers.map(|number| format!("http://a.example/{directory}/{number}")).collect();
    world.add(&pages.iter().map(String::as_str).collect::<Vec<_>>());
}
/// A world whose twenty pages `/p/NUMBER` never change, after twenty days.
fn visited_world(disk: &SimulatedDisk) -> World {
    let mut world = World::by(ten_days(), disk, |page, now| text(page, &[], now));
    add(&mut world, "p", 0..20);
    world.run(days(20));
    world
}

/// Text of its own for every page, another one from each of these moments on.
fn text(page: &PageUrl, changes: &[Timestamp], now: Timestamp) -> Page {
    let version = changes.iter().filter(|change| **change <= now).count();
    let hash = base::chance::hash_bytes(version as u64, page.as_str().as_bytes());
    (200, Vec::new(), vec![u32::try_from(hash >> 32).unwrap()])
}
fn days(days: u64) -> Interval {
    Interval::from_days(days)
}

#[test]
fn the_budget_is_spent_and_spread() {
    let mut world = World::by(ten_days(), &SimulatedDisk::new(1), |page, now| text(page, &[], now));
    add(&mut world, "p", 0..100);
    world.run(days(20));
    let from = world.now;
    world.run(days(40));
    let visits = world.since(from, "/p/");
    assert!((380..=420).contains(&visits.len()), "{} of 400", visits.len());
    for hours in visits.windows(4) {
        // One visit every 2.4 hours; up to two missed ones are made up for.
        assert!(hours[3].1.since(hours[0].1) >= Interval::from_hours(2), "{hours:?}");
    }
    let fewest = (0..100).map(|page| world.count(&format!("/p/{page}"))).min().unwrap();
    assert!(fewest >= 3, "every page is visited: {fewest}");
}

#[test]
fn changing_pages_are_visited_more_often() {
    let busy = |page: &PageUrl, now: Timestamp| {
        let every: Vec<Timestamp> = (1..200).map(|day| START.plus(days(3 * day))).collect();
        text(page, if page.path().ends_with('0') { &every } else { &[] }, now)
    };
    // Without co-change, which would follow the changes of one page to all.
    let policy = RevisitPolicy { estimator: Estimator::Gamma, ..ten_days() };
    let mut world = World::by(policy, &SimulatedDisk::new(1), busy);
    add(&mut world, "p", 0..100);
    world.run(days(100));
    let from = world.now;
    world.run(days(100));
    let often = world.since(from, "0").iter().filter(|(url, _)| url.ends_with('0')).count();
    let all = world.since(from, "/p/").len();
    assert!(often * 10 > all * 15 / 10, "{often} of {all} visits go to a tenth of the pages");
}

#[test]
fn an_overloaded_server_visits_all_kinds_of_pages() {
    let policy = RevisitPolicy { every: Interval::from_minutes(1), ..RevisitPolicy::default() };
    let mut world = World::by(policy, &SimulatedDisk::new(1), |page, now| text(page, &[], now));
    add(&mut world, "p", 0..50);
    let feed = FoundUrl { url: url("http://a.example/feed"), role: Role::Feed, announced: None };
    world.frontier.add(&[feed], 0, world.now).unwrap();
    world.frontier.settle(world.now).unwrap();
    world.run(days(2));
    assert!(world.frontier.servers(world.now)[0].overloaded);
    let from = world.now;
    world.run(days(3));
    assert!(world.since(from, "/feed").len() >= 3, "the feed is looked at once a day");
    let from = world.now;
    add(&mut world, "new", 0..100);
    world.run(Interval::from_hours(1));
    // Once visited, a new page counts as one of the others and may come again within the hour.
    let (new, old) = (world.distinct(from, "/new/"), world.since(from, "/p/").len());
    assert!(new == 100 && old >= 100, "{new} new ones, {old} others in between");
}

#[test]
fn a_change_leads_to_the_pages_beside_it() {
    let changed = START.plus(days(60));
    let site = move |page: &PageUrl, now: Timestamp| {
        let changes = [changed];
        text(page, if page.path().starts_with("/a/") { &changes } else { &[] }, now)
    };
    let unseen = |policy: RevisitPolicy| {
        let mut world = World::by(policy, &SimulatedDisk::new(1), site);
        // Pages of the two directories alternate, so that by schedule alone their visits are spread over all days.
        for page in 0..30 {
            add(&mut world, "a", page..page + 1);
            add(&mut world, "b", 100 + 10 * page..110 + 10 * page);
        }
        world.run(days(63));
        30 - world.distinct(changed, "/a/")
    };
    let alone = unseen(RevisitPolicy { estimator: Estimator::Gamma, ..ten_days() });
    let together = unseen(ten_days());
    assert!(
        together <= 3 && alone >= 12,
        "{together} are unseen after three days, {alone} without co-change"
    );
}

#[test]
fn a_hint_brings_a_visit_forward_and_wrong_hints_lose_their_effect() {
    let changed = START.plus(days(30));
    let site = move |page: &PageUrl, now: Timestamp| {
        let changes = [changed];
        text(page, if page.path() == "/p/7" { &changes } else { &[] }, now)
    };
    let mut world = World::by(ten_days(), &SimulatedDisk::new(1), site);
    add(&mut world, "p", 0..100);
    world.run(days(30));
    let from = world.now;
    world.hint("http://a.example/p/7");
    let told = world.frontier.explain(&url("http://a.example/p/7"), world.now).unwrap();
    assert!(told.reason.contains("a sitemap says that it changed"), "{}", told.reason);
    world.run(Interval::from_hours(6));
    assert_eq!(world.since(from, "/p/7").iter().filter(|(url, _)| url.ends_with("/7")).count(), 1);
    assert_eq!(world.frontier.servers(world.now)[0].hints, (1, 0, 0));
    // From here on a sitemap says every day that everything changed, and nothing has.
    for _ in 0..60 {
        (0..100).for_each(|page| world.hint(&format!("http://a.example/p/{page}")));
        world.run(days(1));
    }
    let (right, wrong, _) = world.frontier.servers(world.now)[0].hints;
    assert!(right <= 1 && wrong > 40, "{right} {wrong}");
    let from = world.now;
    world.run(days(10));
    assert!((90..=110).contains(&world.since(from, "/p/").len()), "the budget is kept");
}

#[test]
fn the_budget_outlives_restarts() {
    let disk = SimulatedDisk::new(1);
    let mut world = World::by(ten_days(), &disk, |page, now| text(page, &[], now));
    add(&mut world, "p", 0..20);
    world.run(Interval::from_hours(1));
    let from = world.now;
    for _ in 0..60 {
        world.restart(ten_days(), &disk, Interval::from_hours(23));
        world.run(Interval::from_hours(1));
    }
    // Two a day if it ran all day; missed visits are made up for, at most two at once.
    let visits = world.since(from, "/p/").len();
    assert!((90..=125).contains(&visits), "{visits}");
}

#[test]
fn a_part_of_a_visit_outlives_restarts() {
    let disk = SimulatedDisk::new(1);
    let policy = RevisitPolicy { every: days(16), ..RevisitPolicy::default() };
    let mut world = World::by(policy, &disk, |page, now| text(page, &[], now));
    add(&mut world, "p", 0..20);
    world.run(days(20));
    let from = world.now;
    for _ in 0..60 {
        world.restart(policy, &disk, Interval::from_hours(23));
        world.run(Interval::from_hours(1));
    }
    // 1.25 a day: one is made, and the rest accumulates for three days.
    let visits = world.since(from, "/p/").len();
    assert!((72..=76).contains(&visits), "{visits} of 75");
}

#[test]
fn repeated_crashes_cause_no_more_requests() {
    let disk = SimulatedDisk::new(1);
    let mut world = visited_world(&disk);
    // All pages are due by now.
    world.restart(ten_days(), &disk, days(10));
    let from = world.now;
    for _ in 0..100 {
        world.run(Interval::from_minutes(10));
        world.die(ten_days(), &disk, Interval::from_minutes(1));
        world.learn_since(from);
    }
    // Two missed ones, and those of eighteen hours.
    let visits = world.since(from, "/p/").len();
    assert!((2..=4).contains(&visits), "{visits}");
}

#[test]
fn a_charged_visit_is_not_charged_again_when_it_is_learned_late() {
    let disk = SimulatedDisk::new(1);
    let mut world = visited_world(&disk);
    // All pages are due, and two visits are missing.
    world.restart(ten_days(), &disk, days(10));
    let from = world.now;
    world.crash_in_a_visit(ten_days(), &disk);
    world.learn_since(from);
    world.run(Interval::from_hours(1));
    assert_eq!(world.since(from, "/p/").len(), 2);
}

#[test]
fn a_capture_from_the_future_does_not_stop_the_visits() {
    let disk = SimulatedDisk::new(1);
    let mut world = visited_world(&disk);
    let (page, later) = (url("http://a.example/p/7"), world.now.plus(days(9_000)));
    let imported = lesson(&page, later, VisitResult::Content([7; 16]), &[]);
    assert_eq!(world.frontier.learn(&imported).unwrap(), LearnResult::Learned);
    let from = world.now;
    world.run(days(20));
    world.restart(ten_days(), &disk, Interval::ZERO);
    world.run(days(20));
    let visits = world.since(from, "/p/").len();
    assert!((70..=82).contains(&visits), "{visits} of 80");
}

#[test]
fn another_policy_counts_loads_again() {
    let disk = SimulatedDisk::new(1);
    let mut world = World::by(RevisitPolicy::paper(), &disk, |page, now| text(page, &[], now));
    add(&mut world, "p", 0..50);
    world.run(days(30));
    let load = |world: &World| world.frontier.servers(world.now)[0].load;
    let by_paper = load(&world);
    world.restart(ten_days(), &disk, Interval::ZERO);
    assert!((load(&world) * 864_000.0 - 50.0).abs() < 1e-3, "fifty pages every ten days: {}", load(&world));
    world.restart(RevisitPolicy::paper(), &disk, Interval::ZERO);
    assert_eq!(load(&world), by_paper);
}

#[test]
fn every_policy_keeps_visiting() {
    for estimator in Estimator::ALL {
        for allocation in Allocation::ALL {
            let policy = RevisitPolicy { every: days(2), ..RevisitPolicy::new(estimator, allocation) };
            let busy = |page: &PageUrl, now: Timestamp| {
                let every: Vec<Timestamp> = (1..40).map(|day| START.plus(days(day))).collect();
                text(page, if page.path().ends_with('3') { &every } else { &[] }, now)
            };
            let mut world = World::by(policy, &SimulatedDisk::new(1), busy);
            add(&mut world, "p", 0..20);
            world.run(days(30));
            let visits = world.visits.len();
            // As printed there is no budget: pages of an unknown server are assumed to change every hundred days, and
            // need no second visit within the month.
            let fewest = if allocation == Allocation::Printed { 20 } else { 30 };
            assert!((fewest..2_000).contains(&visits), "{policy}: {visits}");
        }
    }
}
