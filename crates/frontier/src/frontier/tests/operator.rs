//! Orders of an operator, changes of policy, and pages that are due now.

use super::*;
use crate::Selection;
use base::Refusal;

fn page(text: &str) -> Selection {
    Selection::page(&url(text))
}
fn prefix(text: &str) -> Selection {
    Selection::prefix(&url(text))
}
/// A world whose store can be opened again after a power cut.
fn world_on(disk: &SimulatedDisk, policy: RevisitPolicy, pages: u32) -> World {
    let mut world = World::new(settings(), site(pages));
    world.frontier = open_by(policy, disk, settings(), START);
    world
}
fn reopen(world: &mut World, disk: &SimulatedDisk, policy: RevisitPolicy) {
    world.frontier.commit_durably(world.now).unwrap();
    disk.cut_now();
    disk.restart();
    world.frontier = open_by(policy, disk, settings(), world.now);
}

#[test]
fn pages_waiting_from_the_last_run_are_visited_after_one_delay() {
    let disk = SimulatedDisk::new(1);
    let mut world = world_on(&disk, RevisitPolicy::paper(), 100);
    // The first second of a minute: the next one is far away.
    world.now = START.plus(Interval::from_minutes(1));
    world.add(&["http://a.example/p/0"]);
    world.run(Interval::from_seconds(15));
    assert_eq!(world.visits.len(), 1, "{:?}", world.visits);
    world.frontier.settle(world.now).unwrap();
    let restarted = world.now;
    reopen(&mut world, &disk, RevisitPolicy::paper());
    world.run(Interval::from_seconds(31));
    let waited: Vec<_> = world.visits[1..].iter().map(|(_, at)| at.since(restarted)).collect();
    assert!(waited.len() >= 2, "{waited:?}");
    // The robots file comes first, each after one pause.
    assert!(waited[0] <= PAUSE.times(2.0).plus(Interval::from_seconds(1)), "{waited:?}");
}

#[test]
fn a_page_is_visited_now_before_all_others_also_after_a_crash() {
    let disk = SimulatedDisk::new(1);
    let policy = RevisitPolicy::default();
    let mut world = world_on(&disk, policy, 1_000);
    world.add(&["http://a.example/p/0"]);
    world.run(Interval::from_minutes(5));
    let known = world.visits[3].0.clone();
    let before = world.visits.len();
    assert_eq!(world.frontier.visit_now(&[page(&known)], world.now).unwrap(), 1);
    assert!(!world.frontier.has_nothing_new());
    let told = world.frontier.explain(&url(&known), world.now).unwrap();
    assert!(told.reason.contains("was asked for"), "{told:?}");
    reopen(&mut world, &disk, policy);
    world.run(Interval::from_minutes(1));
    assert_eq!(world.visits[before].0, known, "{:?}", &world.visits[before..]);
    assert_eq!(world.frontier.visit_now(&[page("http://a.example/unknown")], world.now).unwrap(), 0);
    let count = world.frontier.visit_now(&[prefix("http://a.example/p/1")], world.now).unwrap();
    assert!(count > 50, "{count}");
    let before = world.visits.len();
    world.run(Interval::from_minutes(2));
    assert!(
        world.visits[before..].iter().all(|(url, _)| url.contains("/p/1")),
        "{:?}",
        &world.visits[before..]
    );
    for pair in world.visits.windows(2) {
        assert!(pair[1].1.since(pair[0].1) >= PAUSE, "{pair:?}");
    }
}

#[test]
fn a_removed_page_is_not_visited_until_it_is_added_also_after_a_crash() {
    let disk = SimulatedDisk::new(1);
    let mut world = world_on(&disk, RevisitPolicy::paper(), 60);
    world.add(&["http://a.example/p/0"]);
    let server = Selection::server(&base::ServerName::parse("b.example").unwrap()).unwrap();
    let removed = [page("http://a.example/p/7"), prefix("http://a.example/p/3"), server];
    world.frontier.remove(&removed, world.now).unwrap();
    reopen(&mut world, &disk, RevisitPolicy::paper());
    world.run(Interval::from_days(3));
    let is_removed = |url: &str| url.ends_with("/p/7") || url.contains("/p/3");
    assert!(world.visits.len() > 40 && !world.visits.iter().any(|(url, _)| is_removed(url)));
    assert!(world.frontier.has_nothing_new(), "what was removed does not wait");
    for (target, by) in
        [("/p/7", "remove http://a.example/p/7`"), ("/p/31", "remove --prefix http://a.example/p/3`")]
    {
        let told = world.frontier.explain(&url(&format!("http://a.example{target}")), world.now).unwrap();
        assert!(told.reason.contains(by) && told.reason.contains("2027-01-15T"), "{told:?}");
        assert_eq!(told.next_due, None);
    }
    world.frontier.restore(&[page("http://a.example/p/7")], world.now).unwrap();
    world.frontier.restore(&[prefix("http://a.example/p/3")], world.now).unwrap();
    world.add(&["http://a.example/p/31"]);
    world.run(Interval::from_minutes(2));
    assert_eq!((world.count("/p/7"), world.count("/p/31")), (1, 1), "{:?}", world.visits.last());
    // A page that was visited keeps its history, and leaves the loads.
    let load = |world: &World| world.frontier.servers(world.now)[0].load;
    let before = load(&world);
    assert_eq!(world.frontier.remove(&[page("http://a.example/p/1")], world.now).unwrap(), 1);
    assert_eq!(world.frontier.remove(&[page("http://a.example/p/1")], world.now).unwrap(), 0);
    assert!(load(&world) < before);
    let told = world.frontier.explain(&url("http://a.example/p/1"), world.now).unwrap();
    assert!(told.state == "removed" && told.visits > 0, "{told:?}");
}

#[test]
fn another_policy_counts_for_pages_that_are_scheduled() {
    let disk = SimulatedDisk::new(1);
    let monthly = RevisitPolicy::default();
    let mut world = world_on(&disk, monthly, 20);
    world.add(&["http://a.example/p/0"]);
    world.run(Interval::from_minutes(10));
    assert_eq!(world.visits.len(), 20);
    let often = RevisitPolicy { every: Interval::from_minutes(10), ..monthly };
    reopen(&mut world, &disk, often);
    world.run(Interval::from_minutes(15));
    assert!(world.visits.len() >= 35, "{}", world.visits.len());
    assert_eq!(Frontier::policy_of(&world.frontier.store), Some(often));
    // And back: nothing is due for weeks.
    world.frontier.set_policy(monthly).unwrap();
    let told = world.frontier.explain(&url("http://a.example/p/5"), world.now).unwrap();
    assert!(told.next_due.unwrap() > world.now.plus(Interval::from_days(5)), "{told:?}");
}

#[test]
fn a_refusal_is_judged_again_when_its_reason_may_be_gone() {
    let mut world = World::new(settings(), site(3));
    world.add(&["http://a.example/p/0"]);
    let at = world.now;
    let refused = url("http://a.example/p/0");
    let address = Refusal::NoContact;
    world.frontier.learn(&lesson(&refused, at, VisitResult::Refused(&address), &[])).unwrap();
    assert_eq!(world.frontier.judge_again("contact no", at).unwrap(), 1, "nothing was noted before");
    world.frontier.learn(&lesson(&refused, at.plus(TOOK), VisitResult::Refused(&address), &[])).unwrap();
    assert_eq!(world.frontier.judge_again("contact no", at).unwrap(), 0, "nothing changed");
    assert!(world.frontier.has_nothing_new());
    assert_eq!(world.frontier.judge_again("contact yes", at).unwrap(), 1);
    world.run(Interval::from_minutes(1));
    assert_eq!(world.count("/p/0"), 1);
    assert_eq!(world.frontier.judge_again("contact no", world.now).unwrap(), 0, "none is refused now");
}

#[test]
fn a_wider_scope_is_noticed_once() {
    let disk = SimulatedDisk::new(1);
    let widens = |mode: Mode, rules: &[&str]| {
        let rules = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        let settings = Settings { scope: CrawlScope::new(mode, rules), ..settings() };
        let mut frontier = open(&disk, settings, START);
        let widens = frontier.widens_scope().unwrap();
        frontier.close(START).unwrap();
        widens
    };
    assert!(!widens(Mode::Server, &[]), "nothing was left before");
    assert!(!widens(Mode::Prefix, &[]));
    assert!(widens(Mode::Server, &[]) && !widens(Mode::Server, &[]));
    assert!(widens(Mode::Server, &["also visit domain b.example"]));
}
