//! Damage in the archive does not stop a rebuild: it is skipped, counted and reported, and the crawl continues (M5).

use crate::program::{objects, on};
use crate::site::Site;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A crawled site whose records of `damaged` pages have flipped bytes, and whose schedule is lost.
fn damaged_crawl(site: &Site, damaged: &[&str]) -> (TempDir, PathBuf) {
    let place = TempDir::new().unwrap();
    let data = place.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("utsushi.toml"), site.settings()).unwrap();
    let _ = on(&data, &["crawl", &site.url("/"), "--once", "--for", "60s"]);
    for url in damaged {
        flip(&data, url);
    }
    fs::remove_dir_all(data.join("frontier")).unwrap();
    (place, data)
}

/// Flips bytes inside the latest record of a URL.
fn flip(data: &Path, url: &str) {
    let line: Value = objects(&on(data, &["--json", "history", url]).done()).pop().unwrap();
    let path = data.join("archive").join(line["file"].as_str().unwrap());
    let mut bytes = fs::read(&path).unwrap();
    let offset = usize::try_from(line["offset"].as_u64().unwrap()).unwrap();
    bytes[offset + 60..offset + 64].iter_mut().for_each(|byte| *byte ^= 0x5a);
    fs::write(&path, bytes).unwrap();
}

fn frontier(said: &str) -> Value {
    objects(said).pop().unwrap()["frontier"].clone()
}

#[test]
fn survives_m5_a_damaged_record_and_a_lost_schedule_end_in_a_working_crawl() {
    let site = Site::start("127.0.0.1");
    let damaged = [site.url("/"), site.url("/page/3")];
    let (_place, data) = damaged_crawl(&site, &[&damaged[0], &damaged[1]]);
    let advice = ["2 damaged captures skipped", "`utsushi verify`", "`utsushi rebuild index --deep`"];
    let rebuilt = frontier(&on(&data, &["--json", "rebuild", "frontier"]).found(&advice));
    assert_eq!(rebuilt["damaged"], 2, "{rebuilt}");
    for url in &damaged {
        let said = on(&data, &["--json", "explain", url]).done();
        assert_ne!(objects(&said)[0]["state"], "unknown", "{said}");
    }
    fs::remove_dir_all(data.join("frontier")).unwrap();
    // The crawl does the same at its start, and then continues.
    let crawled = on(&data, &["crawl", "--once", "--for", "60s"]);
    assert_eq!(crawled.code, Some(1), "{crawled:?}");
    advice.iter().for_each(|part| assert!(crawled.stderr.contains(part), "{crawled:?}"));
    on(&data, &["--json", "status"]).done();
    // Once the schedule has passed the damage, it is not reported again.
    let again = on(&data, &["crawl", "--once", "--for", "60s"]);
    assert!(!again.stderr.contains("damaged"), "{again:?}");
}

#[test]
fn survives_m5_the_index_is_rebuilt_without_damaged_records() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = damaged_crawl(&site, &[&site.url("/page/3")]);
    on(&data, &["rebuild", "index"]).done();
    let said = on(&data, &["--json", "rebuild", "index", "--deep"]).found(&["is damaged"]);
    assert_eq!(objects(&said).pop().unwrap()["index"]["damaged"], 1, "{said}");
    let rebuilt = frontier(&on(&data, &["--json", "rebuild", "frontier"]).done());
    assert_eq!(rebuilt["damaged"], 0, "{rebuilt}");
    on(&data, &["verify"]).found(&["restore damaged archive files"]);
}

#[test]
fn survives_m5_damaged_notes_of_seeds_stop_nothing() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = damaged_crawl(&site, &["urn:utsushi:note:add"]);
    let rebuilt =
        frontier(&on(&data, &["--json", "rebuild", "frontier"]).found(&["1 damaged capture skipped"]));
    assert!(rebuilt["pages"].as_u64().unwrap() > 30, "{rebuilt}");
}
