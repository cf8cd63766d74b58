//! Failures that may pass: retried within the run, named when they do not pass, and servers asked more slowly.

use super::*;

/// A site whose page `/p/1` answers with this status that many times before it succeeds.
fn failing(status: u16, times: usize) -> impl Fn(&PageUrl, Timestamp) -> Page {
    let tries = std::cell::Cell::new(0);
    move |at, now| {
        if at.path() == "/p/1" && tries.get() < times {
            tries.set(tries.get() + 1);
            return (status, Vec::new(), Vec::new());
        }
        site(20)(at, now)
    }
}
fn crawl(status: u16, times: usize, retry_after: Option<Interval>) -> World {
    let mut world = World::new(settings(), failing(status, times));
    world.retry_after = retry_after;
    world.add(&["http://a.example/p/0"]);
    world
}
fn times_of(world: &World, part: &str) -> Vec<Timestamp> {
    world.visits.iter().filter(|(url, _)| url.ends_with(part)).map(|(_, at)| *at).collect()
}

#[test]
fn a_failure_that_passes_is_retried_within_the_run() {
    for status in [429, 500, 503, 504] {
        let mut world = crawl(status, 3, None);
        world.run(Interval::from_minutes(30));
        assert_eq!(times_of(&world, "/p/1").len(), 4, "{status}");
        assert_eq!((world.frontier.failing_pages(), world.frontier.has_nothing_new()), (0, true), "{status}");
        let waits = times_of(&world, "/p/1");
        assert!(waits[3].since(waits[2]) >= Interval::from_seconds(50), "the waits grow: {waits:?}");
    }
}

#[test]
fn a_failure_that_stays_is_named_and_not_waited_for() {
    for status in [429, 500, 503] {
        let mut world = crawl(status, 1_000, None);
        world.run(Interval::from_minutes(30));
        assert_eq!(times_of(&world, "/p/1").len(), 4, "{status}");
        assert_eq!(world.visits.len(), 10 + 4, "all others came: {:?}", world.visits);
        assert!(world.frontier.has_nothing_new());
        let named = world.frontier.failing(10).unwrap();
        assert_eq!(named.len(), 1);
        assert_eq!((named[0].url.as_str(), named[0].failures), ("http://a.example/p/1", 4));
        assert_eq!(named[0].reason, format!("status {status}"));
        assert_eq!(world.frontier.servers(world.now)[0].failing, 1);
    }
}

#[test]
fn a_failing_page_that_was_removed_is_neither_named_nor_waited_for() {
    let mut world = crawl(500, 1_000, None);
    while times_of(&world, "/p/1").is_empty() {
        world.run(Interval::from_seconds(10));
    }
    world.run(Interval::from_minutes(1));
    assert_eq!(world.frontier.failing_pages(), 1);
    let page = crate::Selection::page(&url("http://a.example/p/1"));
    world.frontier.remove(&[page], world.now).unwrap();
    world.run(Interval::from_minutes(1));
    assert_eq!((world.frontier.failing_pages(), world.frontier.has_nothing_new()), (0, true));
    assert_eq!(world.frontier.failing(10).unwrap().len(), 0);
}

#[test]
fn missing_and_forbidden_pages_are_not_retried() {
    for (status, failing) in [(404, 0), (403, 1)] {
        let mut world = crawl(status, 1_000, None);
        world.run(Interval::from_minutes(10));
        assert_eq!(times_of(&world, "/p/1").len(), 1, "{status}");
        assert_eq!((world.frontier.failing_pages(), world.frontier.has_nothing_new()), (failing, true));
    }
}

#[test]
fn a_server_is_not_visited_for_exactly_as_long_as_it_asks() {
    for (asked, status) in [(2, 429), (25, 503), (25, 500)] {
        let asked = Interval::from_seconds(asked);
        let mut world = crawl(status, 1, Some(asked));
        world.run(Interval::from_minutes(10));
        let failed = world.visits.iter().position(|(url, _)| url.ends_with("/p/1")).unwrap();
        let gap = world.visits[failed + 1].1.since(world.visits[failed].1);
        // After a refusal the next page of the server is requested after twice the delay.
        let slowed = if status == 500 { PAUSE } else { PAUSE.times(2.0) };
        assert!(gap >= asked.max(PAUSE) && gap <= asked.max(slowed).plus(TOOK.times(2.0)), "{asked}: {gap}");
    }
}

#[test]
fn a_retry_survives_a_crash_and_so_does_the_slower_pace() {
    let disk = SimulatedDisk::new(1);
    let mut world = crawl(429, 1, None);
    world.frontier = open(&disk, settings(), START);
    world.add(&["http://a.example/p/0"]);
    while times_of(&world, "/p/1").is_empty() {
        world.run(Interval::from_seconds(1));
    }
    let slow = world.frontier.servers(world.now)[0].clone();
    assert_eq!(slow.slowed_by.as_deref(), Some("429"));
    assert!(slow.pause >= PAUSE.times(2.0), "{slow:?}");
    world.frontier.commit_durably(world.now).unwrap();
    disk.cut_now();
    disk.restart();
    world.frontier = open(&disk, settings(), world.now);
    assert!(!world.frontier.has_nothing_new(), "a page is to be retried");
    assert_eq!(world.frontier.servers(world.now)[0].pause, slow.pause);
    let told = world.frontier.explain(&url("http://a.example/p/2"), world.now).unwrap();
    assert!(told.reason.contains("its server answered 429"), "{}", told.reason);
    world.run(Interval::from_minutes(20));
    assert_eq!((times_of(&world, "/p/1").len(), world.frontier.failing_pages()), (2, 0));
    assert!(world.frontier.has_nothing_new());
}

#[test]
fn the_pace_recovers_and_is_never_faster_than_configured() {
    let mut world = World::new(settings(), |at, now| {
        let refuses = now < START.plus(Interval::from_minutes(2));
        if refuses && at.path() != "/p/0" { (429, Vec::new(), Vec::new()) } else { site(600)(at, now) }
    });
    world.retry_after = Some(Interval::from_seconds(1));
    world.add(&["http://a.example/p/0"]);
    world.run(Interval::from_hours(12));
    for pair in world.visits.windows(2) {
        assert!(pair[1].1.since(pair[0].1) >= PAUSE.plus(TOOK), "{pair:?}");
    }
    let told = &world.frontier.servers(world.now)[0];
    assert_eq!((told.pause, told.slowed_by.as_deref(), told.failing), (PAUSE, None, 0), "{told:?}");
}
