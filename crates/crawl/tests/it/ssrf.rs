//! No spelling of a forbidden address leads to it, by any route (H1, H3, H4, H25).
//!
//! In a network of the test's own every address of both families is a canary; only two public addresses are honest
//! servers. The product walks from thousands of seeds, links, redirects and names that lead to forbidden addresses:
//! no canary may see a connection. The same walks with the check removed show that the canaries can be reached.

mod cases;
mod names;
mod namespace;
mod one_reading;
mod schemes;
mod spellings;
mod walks;
mod web;

use base::clock::RealClock;
use cases::Route;
use fetch::{AddressPolicy, AddressRange};
use guard::Guard;
use names::Names;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::time::Duration;
use walks::{AnyDoor, Tally, Way, walk_all};
use web::Web;

/// The minimum number of spellings of a route, and of those that lead in without the check.
const SPELLINGS_MIN: usize = 200;

/// Walks the routes with the check and without it; what was seen, in lines for people.
fn check(way: Way, routes: &[Route]) -> Vec<String> {
    block_on(async |web, names| {
        let mut lines = Vec::new();
        for route in routes {
            let checked =
                walk_all(*route, &AnyDoor::new(way, AddressPolicy::public_web()), &web, &names).await;
            let control = walk_all(*route, &AnyDoor::new(way, everything()), &web, &names).await;
            lines.push(line(way, *route, &checked, &control));
            assert_eq!(checked.canary_hits, 0, "{way:?}, {route:?}: {:?}", checked.led_in);
            assert!(checked.spellings >= SPELLINGS_MIN, "{lines:?}");
            assert!(control.led_in.len() >= SPELLINGS_MIN, "the rig can fail: {lines:?}");
            let silent = control.led_in.difference(&checked.refused).filter(|text| !has_honest(*route, text));
            let silent: Vec<_> = silent.collect();
            assert!(silent.is_empty(), "{way:?}, {route:?}: what is refused is recorded: {silent:?}");
        }
        lines
    })
}

/// Of several addresses the forbidden ones are ignored: an honest one is visited, and nothing is refused.
fn has_honest(route: Route, text: &str) -> bool {
    route == Route::Name && web::honest().iter().any(|honest| text.contains(&honest.to_string()))
}

/// Whether an address lies in a range, or is a public one with an address inside that does.
fn leads_into(address: IpAddr, range: AddressRange) -> bool {
    let inside = |v6: Ipv6Addr| Ipv4Addr::from_octets(*v6.octets().last_chunk().unwrap());
    range.contains(address) || matches!(address, IpAddr::V6(v6) if range.contains(inside(v6).into()))
}

/// The check removed.
fn everything() -> AddressPolicy {
    AddressPolicy::only(vec!["0.0.0.0/0".parse().unwrap(), "::/0".parse().unwrap()])
}

/// Runs on one thread, whose clock can be moved on.
fn block_on(inside: impl AsyncFnOnce(Web, Names) -> Vec<String>) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (web, names) = (Web::start().await, Names::start().await);
        let this_machine = vec![[127, 0, 0, 1].into(), "::1".parse().unwrap()];
        for name in ["localhost", "localhost.localdomain", "ip6-localhost", "anything.localhost"] {
            names.set(name, vec![this_machine.clone()]);
        }
        names.set("metadata.google.internal", vec![vec![[169, 254, 169, 254].into()]]);
        inside(web, names).await
    })
}

fn line(way: Way, route: Route, checked: &Tally, control: &Tally) -> String {
    format!(
        "{way:?}, {route:?}: {} spellings, {} lead to a page; with the check {} canary hits, {} refused, {} honest \
         requests; without it {} canary hits by {} spellings, {} honest requests",
        checked.spellings,
        checked.walked,
        checked.canary_hits,
        checked.refused.len(),
        checked.honest_requests,
        control.canary_hits,
        control.led_in.len(),
        control.honest_requests,
    )
}

#[test]
fn survives_h1_every_spelling_of_a_forbidden_address() {
    namespace::run("ssrf::survives_h1_every_spelling_of_a_forbidden_address", || {
        check(Way::Plain, &[Route::Direct, Route::V4InV6, Route::Link])
    });
}

#[test]
fn allowing_one_range_allows_exactly_that_range() {
    namespace::run("ssrf::allowing_one_range_allows_exactly_that_range", || {
        block_on(async |web, names| {
            let mut lines = Vec::new();
            for hole in ["10.0.0.0/8", "169.254.169.254", "fd00::/8", "::1"] {
                let hole: AddressRange = hole.parse().unwrap();
                let door = AnyDoor::new(Way::Plain, AddressPolicy { public: true, allowed: vec![hole] });
                let tally = walk_all(Route::Direct, &door, &web, &names).await;
                assert!(!tally.canaries.is_empty(), "{hole}");
                assert!(tally.canaries.iter().all(|canary| leads_into(*canary, hole)), "{hole}: {tally:?}");
                lines.push(format!(
                    "{hole} allowed: {} canaries by {} spellings",
                    tally.canaries.len(),
                    tally.led_in.len()
                ));
            }
            lines
        })
    });
}

#[test]
fn survives_h1_through_a_proxy_that_would_connect_anywhere() {
    namespace::run("ssrf::survives_h1_through_a_proxy_that_would_connect_anywhere", || {
        check(Way::Proxy, &[Route::Direct, Route::Redirect, Route::Robots, Route::Flip])
    });
}

#[test]
fn survives_h1_behind_the_guard_with_no_check_of_its_own() {
    namespace::run("ssrf::survives_h1_behind_the_guard_with_no_check_of_its_own", || {
        block_on(async |web, names| {
            let directory = tempfile::TempDir::new().unwrap();
            let guard = Guard::start(unhurried(directory.path()), RealClock::start()).await.unwrap();
            let mut lines = Vec::new();
            for route in [Route::Direct, Route::Redirect, Route::Flip] {
                let guarded = walk_all(route, &AnyDoor::new(Way::Guard, everything()), &web, &names).await;
                let control = walk_all(route, &AnyDoor::new(Way::Proxy, everything()), &web, &names).await;
                lines.push(line(Way::Guard, route, &guarded, &control));
                assert_eq!(guarded.canary_hits, 0, "{route:?}: {:?}", guarded.led_in);
                assert!(control.led_in.len() >= SPELLINGS_MIN, "the rig can fail: {lines:?}");
                let silent: Vec<_> = control.led_in.difference(&guarded.refused).collect();
                assert!(silent.is_empty(), "{route:?}: what is refused is recorded: {silent:?}");
            }
            guard.stop().await;
            lines
        })
    });
}

/// A guard that judges addresses and limits nothing.
fn unhurried(directory: &Path) -> guard::Settings {
    let (all, limits) = (u64::MAX, guard::TrafficLimits::default());
    guard::Settings {
        listen: walks::GUARD.parse().unwrap(),
        public_listen: false,
        directory: directory.to_owned(),
        addresses: guard::AddressRules::default(),
        limits: guard::TrafficLimits {
            pause: Duration::ZERO,
            server_requests_per_day: all,
            address_requests_per_day: all,
            address_bytes_per_day: all,
            bytes_per_day: all,
            ..limits
        },
    }
}

#[test]
fn survives_h3_names_with_forbidden_or_changing_addresses() {
    namespace::run("ssrf::survives_h3_names_with_forbidden_or_changing_addresses", || {
        check(Way::Plain, &[Route::Name, Route::Flip, Route::RobotsFlip])
    });
}

#[test]
fn survives_h3_look_ups_that_judge_nothing() {
    namespace::run("ssrf::survives_h3_look_ups_that_judge_nothing", || {
        check(Way::Blind, &[Route::Direct, Route::Name, Route::Flip])
    });
}

#[test]
fn survives_h4_redirects_of_pages_and_robots_files() {
    namespace::run("ssrf::survives_h4_redirects_of_pages_and_robots_files", || {
        check(Way::Plain, &[Route::Redirect, Route::Robots])
    });
}

#[test]
fn survives_h4_other_schemes() {
    namespace::run("ssrf::survives_h4_other_schemes", || {
        block_on(async |web, _| schemes::check(&AnyDoor::new(Way::Plain, everything()), &web).await)
    });
}

#[test]
fn survives_h25_a_url_with_two_readings_has_one() {
    namespace::run("ssrf::survives_h25_a_url_with_two_readings_has_one", || {
        block_on(async |web, _| one_reading::check(&AnyDoor::new(Way::Plain, everything()), &web).await)
    });
}
