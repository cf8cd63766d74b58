//! Settings of a crawl are kept, and orders are carried out: visit now, remove, restore. Due pages are visited at once.

use crate::crawl::{Running, directory, eventually, summary};
use crate::program::{objects, on};
use crate::site::{PAGES, Site};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A data directory in which the owner of the site agrees to be asked quickly, and nothing else is set.
fn bare(site: &Site) -> (TempDir, PathBuf) {
    let (place, data) = directory(site);
    let text = site.settings().replace("allow_addresses = [\"127.0.0.0/8\"]\n", "");
    fs::write(data.join("utsushi.toml"), text).unwrap();
    (place, data)
}
fn explained(data: &Path, url: &str) -> Value {
    let ended = on(data, &["--json", "explain", url]);
    objects(&ended.stdout).remove(0)
}
fn setting(data: &Path, key: &str) -> (Value, Value) {
    let said = objects(&on(data, &["--json", "config"]).done());
    let found = said.into_iter().find(|line| line["key"] == key).unwrap();
    (found["value"].clone(), found["origin"].clone())
}

#[test]
fn a_crawl_goes_on_as_it_was_told() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = bare(&site);
    let seed = site.url("/page/0");
    let first =
        ["--json", "crawl", &seed, "--scope", "prefix", "--allow-address", "127.0.0.0/8", "--pages", "5"];
    let ended = on(&data, &[&first[..], &["--every", "9d", "--pause", "2s", "--for", "60s"]].concat());
    assert!(ended.stderr.contains("the settings of this crawl are stored in `"), "{ended:?}");
    ended.done();
    let later = on(&data, &["--json", "crawl", "--once", "--for", "60s"]);
    assert!(!later.stderr.contains("are stored in"), "{later:?}");
    let said = summary(&later.done());
    assert_eq!((&said["refused"], said["new"].as_u64()), (&0.into(), Some(PAGES as u64 - 5)), "{said}");
    let asked = site.asked();
    assert!(asked.len() == PAGES && asked.iter().all(|target| target.starts_with("/page/")), "{asked:?}");
    for (key, value) in [("crawl.scope", "prefix"), ("crawl.pause", "2s"), ("crawl.every", "9d")] {
        assert_eq!(setting(&data, key), (value.into(), "kept".into()));
    }
    // A new value replaces the old one, and pages outside the old scope are added.
    let wider = summary(
        &on(&data, &["--json", "crawl", &site.url("/"), "--scope", "server", "--once", "--for", "60s"])
            .done(),
    );
    assert_eq!(wider["new"], 1, "{wider}");
    assert_eq!(setting(&data, "crawl.scope").0, "server");
    on(&data, &["config", "--forget", "crawl.every"]).done();
    assert_eq!(setting(&data, "crawl.every"), ("30d".into(), "default".into()));
    on(&data, &["config", "--forget", "crawl.every"]).could_not(&["no earlier crawl stored it"]);
}

#[test]
fn a_wider_scope_takes_up_links_that_were_left() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    let rules =
        site.settings().replace("[fetch]", "rules = [\"never visit path containing /page/1\"]\n[fetch]");
    fs::write(data.join("utsushi.toml"), rules).unwrap();
    on(&data, &["crawl", &site.url("/"), "--once", "--for", "60s"]).done();
    assert!(!site.asked().contains(&"/page/1".to_owned()));
    fs::write(data.join("utsushi.toml"), site.settings()).unwrap();
    let said = summary(&on(&data, &["--json", "crawl", "--once", "--for", "60s"]).done());
    assert_eq!(said["new"], 11, "/page/1 and /page/10 to /page/19: {said}");
}

#[test]
fn a_refusal_whose_reason_is_gone_is_judged_again_at_once() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = bare(&site);
    let seed = site.url("/page/28");
    on(&data, &["crawl", &seed, "--contact", "https://example.net/about", "--once", "--for", "60s"])
        .found(&[]);
    assert_eq!(explained(&data, &seed)["state"], "refused");
    let again = on(&data, &["--json", "crawl", "--allow-address", "127.0.0.0/8", "--once", "--for", "60s"]);
    assert!(again.stderr.contains("judged again: 1 page refused before"), "{again:?}");
    assert_eq!(summary(&again.done())["new"], 2);
    // A page on the opt-out list, until it is taken off the list.
    fs::write(data.join("opt-out.txt"), format!("{}\n", site.url("/page/5"))).unwrap();
    on(&data, &["add", &site.url("/page/5")]).done();
    on(&data, &["crawl", "--once", "--for", "60s"]).found(&[]);
    fs::write(data.join("opt-out.txt"), "").unwrap();
    on(&data, &["crawl", "--once", "--for", "60s"]).done();
    assert!(site.asked().contains(&"/page/5".to_owned()), "{:?}", site.asked());
}

#[test]
fn what_waits_is_visited_after_one_delay() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    for round in 1..=4 {
        let (first, seed) = (round == 1, site.url("/"));
        let seeds: &[&str] = if first { &[&seed] } else { &[] };
        on(&data, &[&["crawl", "--pages", "1", "--for", "5s"], seeds].concat()).done();
        assert_eq!(site.asked().len(), round, "{:?}", site.asked());
    }
}

#[test]
fn known_pages_are_visited_now_when_that_is_asked_for() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    let (front, page) = (site.url("/"), site.url("/page/7"));
    on(&data, &["crawl", &front, "--once", "--for", "60s"]).done();
    let count = |target: &str| site.asked().iter().filter(|asked| *asked == target).count();
    // A seed that is named again.
    on(&data, &["crawl", &front, "--once", "--for", "60s"]).done();
    assert_eq!((count("/"), count("/page/7")), (2, 1));
    // Without a running crawl.
    let told = on(&data, &["add", "--now", &page]).done();
    assert!(told.contains("was asked for"), "{told}");
    on(&data, &["crawl", "--once", "--for", "60s"]).done();
    assert_eq!(count("/page/7"), 2);
    // With a running crawl; the schedule is the same after a rebuild.
    let mut crawl = Running::start(&data, &[&front]);
    crawl.captures(1);
    let said = objects(&on(&data, &["--json", "add", "--now", "--prefix", &site.url("/page/2")]).done());
    assert_eq!(said[0]["asked"], 11, "{said:?}");
    eventually("pages below the prefix are visited", || count("/page/2") == 2 && count("/page/29") == 2);
    on(&data, &["add", "--now", "--server", &site.address.to_string()]).done();
    eventually("all pages are visited", || (0..PAGES).all(|n| count(&format!("/page/{n}")) >= 2));
    crawl.signal("KILL");
    crawl.end();
    let before = explained(&data, &page)["next_due"].clone();
    on(&data, &["rebuild", "frontier"]).done();
    assert_eq!(explained(&data, &page)["next_due"], before);
    on(&data, &["add", "--now", "--prefix", "http://nowhere.example/x/"]).found(&[]);
}

#[test]
fn every_counts_for_pages_that_are_scheduled() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    on(&data, &["crawl", &site.url("/page/28"), "--once", "--for", "60s"]).done();
    let due = |data: &Path| explained(data, &site.url("/page/29"))["next_due"].as_str().unwrap().to_owned();
    let (before, archived) = (due(&data), site.asked().len());
    let mut crawl = Running::start(&data, &["--every", "1m", "--policy", "uniform", "--for", "240s"]);
    let url = crawl.captures(1)[0]["url"].clone();
    assert!(url.as_str().is_some() && site.asked().len() > archived, "{url}");
    crawl.signal("KILL");
    crawl.end();
    let after = due(&data);
    assert!(after < before, "{after} {before}");
    on(&data, &["rebuild", "frontier"]).done();
    assert_eq!(due(&data), after);
}

#[test]
fn a_removed_page_is_visited_again_only_when_it_is_added() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    on(&data, &["add", &site.url("/")]).done();
    on(&data, &["remove", &site.url("/page/3"), "--prefix", &site.url("/page/2")]).found(&[]);
    on(&data, &["crawl", "--once", "--for", "60s"]).done();
    let is_removed = |target: &String| target == "/page/3" || target.starts_with("/page/2");
    assert!(!site.asked().iter().any(is_removed), "{:?}", site.asked());
    let reason = |page: &str| explained(&data, &site.url(page))["reason"].as_str().unwrap().to_owned();
    assert!(reason("/page/3").contains("it was removed by `utsushi remove http://"), "{}", reason("/page/3"));
    assert!(reason("/page/21").contains("utsushi remove --prefix http://"), "{}", reason("/page/21"));

    // Known and archived pages, while a crawl runs that is killed; then from the archive alone.
    let crawl = Running::start(&data, &[]);
    let said = objects(&on(&data, &["--json", "remove", &site.url("/page/9")]).done());
    assert_eq!(said[0]["removed"], 1, "{said:?}");
    crawl.signal("KILL");
    crawl.end();
    for _ in 0..2 {
        let told = explained(&data, &site.url("/page/9"));
        assert_eq!((&told["state"], &told["visits"]), (&"removed".into(), &1.into()), "{told}");
        assert!(reason("/page/21").contains("utsushi remove --prefix http://"));
        on(&data, &["rebuild", "frontier"]).done();
    }
    assert!(on(&data, &["history", &site.url("/page/9")]).done().contains("200"), "captures stay");
    on(&data, &["add", &site.url("/page/3")]).done();
    on(&data, &["add", "--prefix", &site.url("/page/2")]).found(&[]);
    on(&data, &["add", &site.url("/page/21"), &site.url("/page/9")]).done();
    on(&data, &["crawl", "--once", "--for", "60s"]).done();
    let asked = site.asked();
    assert!(asked.contains(&"/page/3".to_owned()) && asked.contains(&"/page/21".to_owned()), "{asked:?}");
    on(&data, &["remove"]).could_not(&["no page given", "--prefix URL"]);
    on(&data, &["remove", "--server", "a/b"]).could_not(&["cannot look for `a/b`"]);
    on(&data, &["remove", "nonsense"]).could_not(&["does not look like a host", "`http://`"]);
    on(&data, &["add", "nonsense"]).could_not(&["does not look like a host", "`http://`"]);
}

#[test]
fn takedowns_are_listed_and_explained() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    on(&data, &["crawl", &site.url("/page/28"), "--once", "--for", "60s"]).done();
    let ended = on(&data, &["takedown", "--list"]);
    assert!(ended.stderr.contains("nothing was taken down"), "{ended:?}");
    ended.done();
    let page = site.url("/page/28");
    on(&data, &["takedown", "--url", &page, "--reason", "a request", "--yes"]).done();
    let listed = objects(&on(&data, &["--json", "takedown", "--list"]).done());
    assert_eq!((listed.len(), &listed[0]["reason"]), (1, &"a request".into()), "{listed:?}");
    assert_eq!(listed[0]["target"], format!("url {page}"));
    let told = explained(&data, &page);
    let reason = told["reason"].as_str().unwrap();
    assert!(told["state"] == "taken down" && reason.contains("it was taken down at 20"), "{told}");
    assert!(reason.contains("because a request"), "{told}");
    on(&data, &["add", &page]).found(&[]);
}
