//! What is held back, and what is not (H10).

use super::*;
use crate::{HoldReason, Rule};

/// An endless calendar on every server; `/doc/` is an ordinary directory.
fn calendar(at: &PageUrl, _: Timestamp) -> Page {
    if let Some(number) = at.path().strip_prefix("/doc/").and_then(|number| number.parse::<u32>().ok()) {
        return (200, Vec::new(), vec![number.wrapping_mul(0x9E37_79B1)]);
    }
    let number: u64 = at.path().trim_start_matches("/day/").parse().unwrap_or(0);
    let links = (1..6).map(|step| at.join(&format!("/day/{}", number * 7 + step)).unwrap()).collect();
    (200, links, vec![4_711])
}
/// A world whose calendar is held back.
fn held_calendar(settings: Settings) -> World {
    let mut world = World::new(settings, calendar);
    world.add(&["http://trap.example/day/1"]);
    world.run(Interval::from_hours(2));
    world
}
/// A page of the calendar that is held back.
fn a_held_page(world: &mut World) -> PageUrl {
    let World { frontier, now, .. } = world;
    let pages = (0..1_000_000).map(|number| url(&format!("http://trap.example/day/{number}")));
    let mut known = pages.filter(|page| frontier.knows(page).unwrap()).collect::<Vec<_>>().into_iter();
    known
        .find(|page| frontier.explain(page, *now).unwrap().limited_by == Some("trap"))
        .expect("some are held back")
}
fn held_back(world: &World) -> u64 {
    world.frontier.held_back().total()
}

#[test]
fn what_is_held_back_is_counted_by_server_and_reason_and_explained() {
    let mut world = held_calendar(settings());
    world.add(&["http://a.example/doc/1"]);
    let held = world.frontier.held_back();
    assert!(held.of(HoldReason::Shape) > 100, "{held:?}");
    assert_eq!(held.total(), held.of(HoldReason::Shape), "there is no other reason");
    assert_eq!(world.frontier.overview().held_back, held);
    assert_eq!(world.frontier.overview().new, held.total() + 1, "one page was added");
    let servers = world.frontier.servers(world.now);
    let of = |name: &str| servers.iter().find(|told| told.server == name).unwrap().held_back;
    assert_eq!((of("trap.example"), of("a.example").total()), (held, 0));
    let page = a_held_page(&mut world);
    let told = world.frontier.explain(&page, world.now).unwrap();
    assert_eq!((told.state, told.limited_by), ("new", Some("trap")));
    assert!(told.reason.contains("held back because pages with URLs of its shape"), "{}", told.reason);
}

#[test]
fn counts_survive_a_restart_and_a_power_cut() {
    for is_cut in [false, true] {
        let disk = SimulatedDisk::new(1);
        let mut world = World::new(settings(), calendar);
        world.frontier = open(&disk, settings(), START);
        world.add(&["http://trap.example/day/1"]);
        world.run(Interval::from_hours(2));
        let held = world.frontier.held_back();
        assert!(held.total() > 100, "{held:?}");
        let now = world.now;
        let closed = std::mem::replace(&mut world.frontier, open(&SimulatedDisk::new(2), settings(), START));
        if is_cut {
            let mut closed = closed;
            closed.commit_durably(now).unwrap();
            disk.cut_now();
            drop(closed);
            disk.restart();
        } else {
            closed.close(now).unwrap();
        }
        world.frontier = open(&disk, settings(), now);
        assert_eq!(world.frontier.held_back(), held, "before anything is loaded");
        let before = world.visits.len();
        world.run(Interval::from_minutes(10));
        assert!(world.frontier.held_back().total() >= held.total() - 8, "still held back, samples aside");
        assert!(
            world.visits.len() - before <= 32,
            "only samples are visited: {}",
            world.visits.len() - before
        );
        assert!(world.frontier.has_nothing_new() || world.visits.len() > before);
    }
}

#[test]
fn a_named_page_is_visited_although_it_was_held_back() {
    let mut world = held_calendar(settings());
    let page = a_held_page(&mut world);
    let before = held_back(&world);
    assert_eq!(world.count(page.as_str()), 0);
    world.add(&[page.as_str()]);
    assert_eq!(held_back(&world), before - 1);
    world.run(Interval::from_minutes(2));
    assert!(world.visits.iter().any(|(visited, _)| visited == page.as_str()));
    // And one that was unknown.
    world.add(&["http://trap.example/day/99999999"]);
    world.run(Interval::from_minutes(2));
    assert_eq!(world.count("/day/99999999"), 1);
}

/// Whether a link from a page with this role releases a held page.
fn is_released_by(from: &str, role: Role) -> bool {
    let mut world = held_calendar(settings());
    let page = a_held_page(&mut world);
    let list = FoundUrl { url: url(from), role, announced: None };
    world.frontier.add(std::slice::from_ref(&list), 0, world.now).unwrap();
    world.frontier.settle(world.now).unwrap();
    let links = [FoundUrl::page(page.clone())];
    world.frontier.learn(&lesson(&list.url, world.now, VisitResult::Content([1; 16]), &links)).unwrap();
    world.frontier.explain(&page, world.now).unwrap().limited_by != Some("trap")
}

#[test]
fn evidence_from_elsewhere_releases_a_page() {
    assert!(is_released_by("http://trap.example/map.xml", Role::Sitemap));
    assert!(is_released_by("http://trap.example/feed", Role::Feed));
    assert!(is_released_by("http://other.example/", Role::Page), "another site links to it");
    assert!(!is_released_by("http://trap.example/more", Role::Page), "its own server proves nothing");
    assert!(!is_released_by("http://www.trap.example/", Role::Page), "nor does its own site");
}

#[test]
fn requisites_rules_and_the_setting_hold_nothing_back() {
    let rule = |text: &str| vec![text.parse::<Rule>().unwrap()];
    for rules in [rule("also visit server trap.example"), rule("visit first server trap.example")] {
        let scope = CrawlScope::new(Mode::Any, rules);
        assert_eq!(held_back(&held_calendar(Settings { scope, ..settings() })), 0);
    }
    assert_eq!(held_back(&held_calendar(Settings { detects_traps: false, ..settings() })), 0);
    let mut world = held_calendar(settings());
    let images = (0..50).map(|number| FoundUrl {
        role: Role::Requisite,
        ..FoundUrl::page(url(&format!("http://trap.example/day/{}", 900_000_000 + number)))
    });
    let images: Vec<FoundUrl> = images.collect();
    world.frontier.found(&images, world.now).unwrap();
    world.frontier.settle(world.now).unwrap();
    world.run(Interval::from_hours(1));
    assert_eq!(world.count("/day/9000000"), 50);
}

#[test]
fn the_setting_releases_what_an_earlier_run_held_back() {
    let disk = SimulatedDisk::new(1);
    let mut world = World::new(settings(), calendar);
    world.frontier = open(&disk, settings(), START);
    world.add(&["http://trap.example/day/1"]);
    world.run(Interval::from_hours(2));
    let (now, held) = (world.now, held_back(&world));
    std::mem::replace(&mut world.frontier, open(&SimulatedDisk::new(2), settings(), START))
        .close(now)
        .unwrap();
    world.frontier = open(&disk, Settings { detects_traps: false, ..settings() }, now);
    let before = world.visits.len();
    world.run(Interval::from_hours(2));
    assert!(held > 100 && held_back(&world) == 0);
    assert!(world.visits.len() - before > 500, "{}", world.visits.len() - before);
}

#[test]
fn a_daily_sample_with_something_new_releases_the_others() {
    // From the third day on the calendar has entries.
    let awakes = START.plus(Interval::from_days(2));
    let web = move |at: &PageUrl, now: Timestamp| {
        let (status, links, features) = calendar(at, now);
        if now < awakes {
            return (status, links, features);
        }
        let own = base::chance::hash_bytes(1, at.path().as_bytes()).to_le_bytes();
        (status, Vec::new(), vec![4_711, u32::from_le_bytes(*own.first_chunk().unwrap())])
    };
    let mut world = World::new(settings(), web);
    world.add(&["http://trap.example/day/1"]);
    world.run(Interval::from_days(1));
    let (first, held) = (world.visits.len(), held_back(&world));
    assert!(first < 300 && held > 500, "{first} {held}");
    world.run(Interval::from_hours(23));
    let second = world.visits.len() - first;
    assert!((1..=64).contains(&second), "{second} on the second day");
    world.run(Interval::from_days(3));
    assert_eq!(held_back(&world), 0);
}

#[test]
fn unusual_urls_are_added_and_judged_by_their_content() {
    // Every path echoes; half of the sites have new content.
    let web = |at: &PageUrl, _: Timestamp| {
        let number: u32 = at.path().trim_start_matches("/x/x/x/").parse().unwrap_or(0);
        let links = (number * 5 + 1..number * 5 + 6).filter(|next| *next < 600);
        let links = links.map(|next| at.join(&format!("/x/x/x/{next}")).unwrap()).collect();
        let is_honest = at.host() == "honest.example";
        (200, links, vec![if is_honest { number.wrapping_mul(0x9E37_79B1) } else { 4_711 }])
    };
    let mut world = World::new(settings(), web);
    world.add(&["http://honest.example/x/x/x/0", "http://trap.example/x/x/x/0"]);
    world.run(Interval::from_hours(3));
    assert_eq!(world.count("honest.example"), 600);
    assert!(world.count("trap.example") < 200, "{}", world.count("trap.example"));
    let held = world.frontier.held_back();
    assert!(held.of(HoldReason::Echo) > 50 && held.total() == held.of(HoldReason::Echo), "{held:?}");
}

#[test]
fn links_of_a_full_server_are_counted() {
    let mut world = World::new(Settings { server_pages_max: 50, ..settings() }, site(200));
    world.add(&["http://a.example/p/0"]);
    world.run(Interval::from_hours(1));
    let held = world.frontier.held_back();
    // The count is an estimate.
    assert!((80..=220).contains(&held.of(HoldReason::ServerFull)), "{held:?}");
}

#[test]
fn held_pages_without_room_in_memory_wait_in_the_store_and_are_counted() {
    let settings = || Settings { queue_bytes_max: 64 << 10, ..settings() };
    let mut world = held_calendar(settings());
    assert!(held_back(&world) > 200, "{}", held_back(&world));
    let (servers, bench) = (&world.frontier.servers, &world.frontier.workbench);
    assert!(servers.ids().map(|server| bench.queue(server).held_back_count()).sum::<usize>() <= 128);
    let counted = world.frontier.overview();
    world.run(Interval::from_days(3));
    let after = world.frontier.overview();
    assert!(after.held_back.total() >= counted.held_back.total() / 2, "{after:?}");
    assert!(after.held_back.total() <= after.new, "no page is counted twice: {after:?}");
}

#[test]
fn links_that_are_too_long_are_counted_once() {
    let mut world = World::new(settings(), site(1));
    world.add(&["http://a.example/p/0"]);
    let too_long: Vec<u32> = (0..40_u32).map(|link| link.wrapping_mul(0x9E37_79B1)).collect();
    for visit in 1..4 {
        let at = START.plus(Interval::from_days(visit));
        let page = url("http://a.example/p/0");
        let lesson = Lesson { too_long: &too_long, ..lesson(&page, at, VisitResult::Content([1; 16]), &[]) };
        world.frontier.learn(&lesson).unwrap();
    }
    let count = world.frontier.servers(world.now)[0].held_back.of(HoldReason::TooLong);
    assert!((30..=50).contains(&count), "{count}");
}
