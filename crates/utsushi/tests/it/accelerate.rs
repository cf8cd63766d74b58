//! `crawl --accelerate`: the schedule runs faster than real time, on this machine alone, and its time never goes back.

use crate::crawl::{Running, directory, summary};
use crate::program::{objects, on};
use crate::site::{PAGES, Site};
use base::clock::{Clock as _, RealClock};
use base::{Interval, Timestamp};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

const LOOPBACK: [&str; 2] = ["--allow-address", "127.0.0.0/8"];

/// The moments of captures, in the order of their acknowledgement.
fn moments(lines: &[Value]) -> Vec<Timestamp> {
    lines.iter().filter_map(|line| line["at"].as_str()?.parse().ok()).collect()
}

#[track_caller]
fn web_of(data: &Path) -> String {
    let format = std::fs::read_to_string(data.join("FORMAT")).unwrap();
    format.lines().find(|line| line.starts_with("web")).unwrap().to_owned()
}

#[test]
fn days_pass_in_seconds_and_pages_are_visited_again() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    let seed = site.url("/");
    let wanted = ["--accelerate", "100000", "--every", "1d", "--pages", "90", "--for", "60s"];
    let ended = on(&data, &[&["--json", "crawl", &seed], &wanted[..]].concat());
    assert!(ended.stderr.contains("it runs 100000 times as fast as real time"), "{ended:?}");
    let said = ended.done();
    let told = summary(&said);
    assert_eq!((&told["new"], &told["pages"]), (&(PAGES + 1).into(), &90.into()), "{told}");
    assert!(told["unchanged"].as_u64().unwrap() > 50, "{told}");
    let (lines, seconds) = (objects(&said), told["seconds"].as_f64().unwrap());
    let moments = moments(&lines);
    let (first, last) = (moments.iter().min().unwrap(), moments.iter().max().unwrap());
    let days = last.since(*first).as_seconds_f64() / 86_400.0;
    assert!(days > 1.0, "58 visits out of a budget of about 32 a day took {days} days");
    assert!(days < seconds * 100_000.0 / 86_400.0 + 1.0, "{days} days in {seconds} s");
    assert_eq!(web_of(&data), "web = \"accelerated\"");
    let status = on(&data, &["status"]).done();
    assert!(status.contains("accelerated: all times, loads and delays are in its own time"), "{status}");
    on(&data, &["verify"]).done();
}

#[test]
fn what_could_reach_another_machine_is_refused_before_anything_is_written() {
    let site = Site::start("127.0.0.1");
    let (seed, place) = (site.url("/"), TempDir::new().unwrap());
    let data = place.path().join("data");
    let cases: [(&[&str], &str); 5] = [
        (&[], "public addresses are not visited without a contact"),
        (&["--contact", "https://example.net/about"], "no range of loopback addresses is allowed"),
        (&["--allow-address", "127.0.0.0/8", "--allow-address", "10.0.0.0/8"], "`10.0.0.0/8` is allowed"),
        (&["--allow-address", "0.0.0.0/0"], "`0.0.0.0/0` is allowed"),
        (
            &["--allow-address", "127.0.0.1", "--proxy", "http://127.0.0.1:1"],
            "the proxy `http://127.0.0.1:1`",
        ),
    ];
    for (given, why) in cases {
        let ended = on(&data, &[&["crawl", &seed, "--accelerate", "60", "--for", "1s"], given].concat());
        ended.could_not(&[why]);
        assert!(!data.exists(), "{given:?}");
    }
    on(&data, &[&["crawl", &seed, "--accelerate", "0"], &LOOPBACK[..]].concat()).wrong(&["1..=1000000"]);
    assert!(site.asked().is_empty());
}

#[test]
fn an_accelerated_directory_never_becomes_one_of_the_public_web() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    let seed = site.url("/");
    on(&data, &["crawl", &seed, "--accelerate", "1000", "--pages", "5", "--for", "60s"]).done();
    // Nor with other ranges, with or without the flag: its dates are not those of the world.
    on(&data, &["crawl", "--allow-address", "10.0.0.0/8", "--for", "1s"])
        .could_not(&["`10.0.0.0/8` is allowed"]);
    let (_place, public) = directory(&site);
    on(&public, &["crawl", &seed, "--pages", "3", "--for", "60s"]).done();
    on(&public, &["crawl", "--accelerate", "60", "--for", "1s"])
        .could_not(&["it contains the public web, not the accelerated one"]);
    assert_eq!(web_of(&public), "web = \"public\"");
    let file = std::fs::read_dir(public.join("archive")).unwrap().map(|entry| entry.unwrap().path());
    let file = file.filter(|path| path.to_string_lossy().ends_with(".warc.gz")).min().unwrap();
    on(&data, &["import", file.to_str().unwrap()])
        .could_not(&["it contains the accelerated web, not the public one"]);
}

#[test]
fn after_kill_9_time_goes_on_from_the_last_capture_at_any_speed() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    let seed = site.url("/");
    let mut latest = Timestamp::MIN;
    // Killed twice at high speed; then continued at the speed of real time, and killed; then continued at high speed.
    for (round, pace) in [Some("50000"), Some("50000"), None, Some("50000")].into_iter().enumerate() {
        let mut given = vec!["--every", "2d"];
        given.extend(pace.iter().flat_map(|pace| ["--accelerate", pace]));
        given.extend((round == 0 || pace.is_none()).then_some(&*seed));
        let mut crawl = Running::start(&data, &given);
        let mut lines = crawl.captures(if pace.is_some() { 25 } else { 1 });
        crawl.signal("KILL");
        lines.extend(crawl.end().0);
        let moments = moments(&lines);
        let first = *moments.iter().min().unwrap();
        assert!(first > latest, "round {round}: {first} is not after {latest}");
        latest = *moments.iter().max().unwrap();
    }
    let ahead = latest.since(RealClock::start().now());
    assert!(ahead > Interval::from_hours(1), "{ahead}");
    let ended = on(&data, &["crawl", "--for", "1ms"]);
    assert!(
        ended.stderr.contains("at the speed of real time, because `--accelerate` is not given"),
        "{ended:?}"
    );
    on(&data, &["verify"]).done();
    // Nothing that was acknowledged is lost, and the schedule can be rebuilt.
    let told = objects(&on(&data, &["--json", "status"]).done()).remove(0);
    assert!(told["archive"]["captures"].as_u64().unwrap() >= 76, "{told}");
    on(&data, &["rebuild", "frontier"]).done();
    let explained = on(&data, &["explain", &seed]).done();
    assert!(explained.contains("state       live"), "{explained}");
}
