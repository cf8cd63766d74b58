//! The figures of paper 003, from directories without a running crawl, with one, and never crawled.

use crate::made::{imported, small_web};
use crate::program::{on, utsushi};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;

/// Draws the figures, looks at their form, and gives their numbers, from figure 3 on.
fn drawn(data: &Path, place: &Path) -> [Value; 3] {
    on(data, &["status", "--figures", place.to_str().unwrap()]).done();
    [3, 4, 5].map(|number| {
        let read = |form: &str| fs::read_to_string(place.join(format!("figure-{number}.{form}"))).unwrap();
        let (svg, csv) = (read("svg"), read("csv"));
        assert!(svg.contains(&format!("<title>Figure {number}: ")) && svg.ends_with("</svg>\n"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        let json: Value = serde_json::from_str(&read("json")).unwrap();
        let bins = json["bins"].as_array().unwrap();
        assert_eq!((&json["figure"], csv.lines().count()), (&number.into(), bins.len() + 1));
        // The columns of a table are the keys of an object, and the bins follow one another.
        let head: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        assert!(bins.iter().all(|bin| head.iter().all(|column| bin[column].is_number())), "{head:?}");
        assert!(bins.windows(2).all(|pair| pair[0]["to_seconds"] == pair[1]["from_seconds"]));
        json
    })
}

fn sum(figure: &Value, column: &str) -> u64 {
    figure["bins"].as_array().unwrap().iter().map(|bin| bin[column].as_u64().unwrap()).sum()
}

/// The bin of an interval.
fn bin(figure: &Value, seconds: f64) -> &Value {
    let is_it = |bin: &&Value| {
        (bin["from_seconds"].as_f64().unwrap()..bin["to_seconds"].as_f64().unwrap()).contains(&seconds)
    };
    figure["bins"].as_array().unwrap().iter().find(is_it).unwrap()
}

#[test]
fn what_was_imported_is_drawn_without_any_crawl() {
    let (place, data) = imported(&small_web());
    let [pages, changes, servers] = drawn(&data, &place.path().join("figures"));
    // After a day: one visit saw the same, one something else; after two days, as the page had been gone, once more.
    let day = bin(&changes, 86_400.0);
    assert_eq!(
        (&day["visits"], &day["visits_changed"], &day["changed_ratio"]),
        (&2.into(), &1.into(), &0.5.into())
    );
    let days = bin(&changes, 2.0 * 86_400.0);
    assert_eq!((&days["visits"], &days["visits_changed"]), (&1.into(), &1.into()));
    assert_eq!((sum(&changes, "visits"), sum(&changes, "visits_changed")), (3, 2));
    assert_eq!(sum(&pages, "pages"), sum(&changes, "pages"));
    assert!(sum(&pages, "pages") >= 1 && sum(&servers, "servers") >= 1);
}

#[test]
fn figures_are_drawn_beside_a_crawl_and_after_it() {
    let place = TempDir::new().unwrap();
    let (data, figures) = (place.path().join("data"), place.path().join("figures"));
    let mut crawl = utsushi()
        .arg("--data")
        .arg(&data)
        .args(["--json", "demo", "--for", "60s", "--accelerate", "3000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Until pages were seen again.
    let lines = BufReader::new(crawl.stdout.take().unwrap()).lines();
    let changed = lines.map(|line| line.unwrap()).filter(|line| line.contains("\"changed\":true")).nth(20);
    assert!(changed.is_some(), "the demo ended");
    let [pages, changes, _] = drawn(&data, &figures);
    assert!(sum(&pages, "pages") > 0 && sum(&changes, "visits_changed") >= 20, "{changes}");
    crawl.kill().unwrap();
    crawl.wait().unwrap();
    let [_, after, servers] = drawn(&data, &figures);
    assert!(sum(&after, "visits") >= sum(&changes, "visits") && sum(&servers, "servers") > 0, "{after}");
}
