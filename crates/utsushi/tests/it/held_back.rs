//! Held-back pages are counted and named in every report on a crawl, and can still be added (H10).

use crate::program::{objects, on};
use crate::site::Site;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn schedule(data: &Path) -> Value {
    objects(&on(data, &["--json", "status"]).done()).remove(0)["schedule"].clone()
}

#[test]
fn an_endless_calendar_ends_with_exit_code_1_and_its_pages_are_counted_named_and_added() {
    let site = Site::start("127.0.0.1");
    let place = tempfile::TempDir::new().unwrap();
    let data = place.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("utsushi.toml"), site.settings()).unwrap();
    let crawl = ["--json", "crawl", &site.url("/calendar/1"), "--once", "--for", "120s"];
    let ended = on(&data, &crawl);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let summary = objects(&ended.stdout).pop().unwrap()["summary"].clone();
    let held = summary["held_back"]["shape"].as_u64().unwrap();
    assert!(held > 100 && summary["waiting"] == held, "{summary}");
    assert!(site.asked().len() < 400, "{}", site.asked().len());

    let counts = json!({ "shape": held });
    assert_eq!(schedule(&data)["held_back"], counts);
    let servers = objects(&on(&data, &["--json", "servers", "--held-back"]).done());
    assert_eq!((servers.len(), &servers[0]["held_back"]), (1, &counts));
    let text = on(&data, &["status"]).done();
    assert!(text.contains("held back       "), "{text}");
    let text = on(&data, &["servers"]).done();
    assert!(text.contains(" held back ("), "{text}");

    let asked = site.asked();
    let was_asked = |number: u32| asked.contains(&format!("/calendar/{number}"));
    // The page that links to a day is a third of it.
    let number = (4..5_000).find(|number| !was_asked(*number) && was_asked((number - 1) / 3)).unwrap();
    let page = site.url(&format!("/calendar/{number}"));
    let told = objects(&on(&data, &["--json", "explain", &page]).done()).remove(0);
    assert_eq!(told["limited_by"], "trap", "{told}");
    assert!(told["reason"].as_str().unwrap().contains("held back because"), "{told}");
    on(&data, &["add", &page]).done();
    assert_eq!(on(&data, &crawl[1..]).code, Some(1), "the others are still held back");
    assert!(site.asked().contains(&format!("/calendar/{number}")));

    let off = site.settings().replace("[crawl]", "[crawl]\ndetect_traps = false");
    fs::write(data.join("utsushi.toml"), off).unwrap();
    let before = site.asked().len();
    let said = on(&data, &["--json", "crawl", "--pages", "60"]).done();
    let summary = objects(&said).pop().unwrap()["summary"].clone();
    assert!(summary["pages"].as_u64() >= Some(60) && site.asked().len() >= before + 60, "{summary}");
}
