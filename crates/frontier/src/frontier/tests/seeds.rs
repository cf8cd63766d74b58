//! Seeds that lead elsewhere: their targets are seeds, too.

use super::*;

fn scoped(mode: Mode) -> Settings {
    Settings { scope: CrawlScope::new(mode, Vec::new()), ..settings() }
}
fn redirect(to: &str) -> Page {
    (301, vec![url(to)], Vec::new())
}
/// Seeds with redirects of every kind.
fn web(at: &PageUrl, now: Timestamp) -> Page {
    match (at.as_str(), at.host(), at.path()) {
        ("http://plain.example/", ..) => redirect("https://plain.example/"),
        (_, "example.jp", "/") => redirect("https://www.example.jp/"),
        (_, "old.example", "/") => redirect("http://hop.example/"),
        (_, "hop.example", "/") => redirect("http://new.example/docs/"),
        (_, "new.example", "/docs/") => {
            let links = ["http://new.example/docs/1", "http://new.example/other", "http://far.example/"];
            (200, links.map(url).to_vec(), vec![1, 2])
        }
        (_, "one.example", _) => redirect("http://two.example/"),
        (_, "two.example", _) => redirect("http://one.example/"),
        (_, "self.example", _) => redirect("http://self.example/"),
        (_, "lost.example", _) => (404, Vec::new(), Vec::new()),
        _ => site(5)(at, now),
    }
}

#[test]
fn the_target_of_a_redirected_seed_is_a_seed_and_chains_are_followed() {
    for (mode, other) in [(Mode::Server, 1), (Mode::Prefix, 0)] {
        let mut world = World::new(scoped(mode), web);
        world.add(&["http://old.example/"]);
        world.run(Interval::from_hours(1));
        assert_eq!(world.count("new.example/docs/1"), 1, "{mode}: {:?}", world.visits);
        assert_eq!((world.count("new.example/other"), world.count("far.example")), (other, 0), "{mode}");
        let told = world.frontier.seed(&url("http://old.example/")).unwrap();
        assert_eq!((told.target.as_deref(), told.is_lost), (Some("http://new.example/docs/"), false));
        let life = world.frontier.explain(&url("http://old.example/"), world.now).unwrap();
        assert_eq!(life.last_outcome.as_deref(), Some("moved (301) to http://hop.example/"));
        assert!(life.reason.contains("it redirects to http://hop.example/"), "{}", life.reason);
    }
}

#[test]
fn only_the_first_answer_of_a_seed_widens_the_crawl() {
    // On the first visit it is a page, later a redirect; so is a page that is not a seed.
    let late = |at: &PageUrl, now: Timestamp| match (at.host(), at.path()) {
        ("a.example", "/") if now < START.plus(Interval::from_hours(1)) => {
            (200, vec![url("http://a.example/out")], vec![1])
        }
        ("a.example", _) => redirect("http://elsewhere.example/"),
        _ => (200, Vec::new(), vec![2]),
    };
    let mut world = World::new(scoped(Mode::Server), late);
    world.add(&["http://a.example/"]);
    world.run(Interval::from_days(60));
    assert!(world.count("a.example/") > 2, "{:?}", world.visits);
    assert_eq!(world.count("elsewhere.example"), 0);
}

#[test]
fn other_schemes_and_names_of_a_seed_are_followed() {
    let mut world = World::new(scoped(Mode::Server), web);
    world.add(&["http://plain.example/", "http://example.jp/"]);
    world.run(Interval::from_hours(1));
    assert!(world.count("https://plain.example/p/1") == 1, "{:?}", world.visits);
    assert!(world.count("https://www.example.jp/p/1") == 1, "{:?}", world.visits);
    let told = world.frontier.seed(&url("http://plain.example/")).unwrap();
    assert!(!told.is_lost, "{told:?}");
}

#[test]
fn seeds_that_lead_nowhere_are_reported_with_their_cause() {
    let mut world = World::new(scoped(Mode::Server), web);
    let seeds =
        ["http://one.example/", "http://self.example/", "http://lost.example/", "http://new.example/docs/"];
    world.add(&seeds);
    world.run(Interval::from_hours(1));
    let told = seeds.map(|seed| world.frontier.seed(&url(seed)).unwrap());
    assert_eq!(told[0].ended, "redirect loop");
    assert_eq!(told[1].ended, "redirect loop");
    assert_eq!((told[2].ended, told[2].reason.as_deref()), ("gone", Some("status 404")));
    assert_eq!(told.map(|told| told.is_lost), [true, true, true, false]);
    assert!(world.visits.len() < 20, "a loop ends: {:?}", world.visits);
}

#[test]
fn the_wider_scope_survives_a_crash() {
    let disk = SimulatedDisk::new(1);
    let mut world = World::new(scoped(Mode::Server), web);
    world.frontier = open(&disk, scoped(Mode::Server), START);
    world.add(&["http://old.example/"]);
    while world.count("new.example/docs/") == 0 {
        world.run(Interval::from_seconds(1));
    }
    world.frontier.settle(world.now).unwrap();
    world.frontier.commit_durably(world.now).unwrap();
    disk.cut_now();
    disk.restart();
    world.frontier = open(&disk, scoped(Mode::Server), world.now);
    world.run(Interval::from_hours(1));
    assert_eq!(world.count("new.example/docs/1"), 1, "{:?}", world.visits);
}
