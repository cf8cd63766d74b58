//! Takedown and import beside a running crawl: the process that crawls does them (D1), and a `kill -9` in the middle loses
//! nothing that was acknowledged.

use crate::crawl::{Running, directory, eventually};
use crate::made::{Made, PAGE, small_web};
use crate::program::{objects, on, utsushi};
use crate::site::Site;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A site that is crawled slowly enough to be interrupted.
fn slow() -> (Site, TempDir, PathBuf) {
    let site = Site::start("127.0.0.1");
    let (place, data) = directory(&site);
    fs::write(data.join("utsushi.toml"), site.settings().replace("pause=20ms", "pause=200ms")).unwrap();
    (site, place, data)
}

/// Pages that a crawl has archived.
fn archived(crawl: &mut Running, count: usize) -> Vec<String> {
    let lines = crawl.captures(count + 1);
    let pages = lines.iter().filter(|line| line["robots"] == false);
    pages.map(|line| line["url"].as_str().unwrap().to_owned()).collect()
}

fn state(data: &Path, url: &str) -> Value {
    objects(&on(data, &["--json", "explain", url]).stdout).remove(0)["state"].clone()
}

#[test]
fn a_running_crawl_takes_down_what_another_process_asks_for_and_goes_on() {
    let (site, _place, data) = slow();
    let mut crawl = Running::start(&data, &[&site.url("/")]);
    let page = archived(&mut crawl, 4).pop().unwrap();
    let said = on(&data, &["--json", "takedown", "--yes", "--url", &page, "--reason", "asked for"]).done();
    let receipt = objects(&said).remove(0)["receipt"].clone();
    assert_eq!((&receipt["pages"], &receipt["reason"]), (&1.into(), &"asked for".into()), "{receipt}");
    let before = site.asked().len();
    eventually("the crawl goes on", || site.asked().len() > before + 2);
    assert_eq!(state(&data, &page), "taken down");
    on(&data, &["history", &page]).found(&["is not archived"]);
    crawl.signal("TERM");
    let (rest, code) = crawl.end();
    assert_eq!(code, Some(0), "{rest:?}");
    let pages = rest.last().unwrap()["summary"]["pages"].as_u64().unwrap();
    assert!(pages > before as u64, "the summary covers the whole crawl: {pages}");
    on(&data, &["verify"]).done();
    on(&data, &["history", &page]).found(&["is not archived"]);
}

#[test]
fn a_running_crawl_imports_what_another_process_asks_for_and_goes_on() {
    let (site, place, data) = slow();
    let file = small_web().write(&place.path().join("made.warc.gz"));
    let mut crawl = Running::start(&data, &[&site.url("/")]);
    archived(&mut crawl, 4);
    let said = objects(&on(&data, &["--json", "import", file.to_str().unwrap()]).done());
    assert_eq!(said.last().unwrap()["summary"]["added"], 9, "{said:?}");
    assert_eq!(said.iter().filter(|line| line["url"].is_string()).count(), 9, "{said:?}");
    assert_eq!(on(&data, &["get", PAGE]).done(), "second");
    let again = objects(&on(&data, &["--json", "import", file.to_str().unwrap()]).done());
    assert_eq!(again.last().unwrap()["summary"]["known"], 9, "{again:?}");
    let before = site.asked().len();
    eventually("the crawl goes on", || site.asked().len() > before + 2);
    let missing = place.path().join("missing.warc.gz");
    on(&data, &["import", missing.to_str().unwrap()]).could_not(&["cannot import `"]);
    crawl.signal("TERM");
    assert_eq!(crawl.end().1, Some(0));
    on(&data, &["verify"]).done();
}

/// A stored scan whose description is a pipe: a takedown, which reads it before the archive decides and again afterwards,
/// waits there for the test.
fn obstacle(data: &Path) -> PathBuf {
    let scan = data.join("scans").join("obstacle");
    fs::create_dir_all(&scan).unwrap();
    let pipe = scan.join("job.json");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    pipe
}

/// Waits until the takedown reads the pipe; it waits until the result is dropped.
fn held(pipe: &Path) -> File {
    let mut held = None;
    eventually("the takedown looks at the scans", || {
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        held = File::options().write(true).custom_flags(nonblocking).open(pipe).ok();
        held.is_some()
    });
    held.unwrap()
}

fn kill_a_takedown(is_decided: bool) {
    let (site, _place, data) = slow();
    let mut crawl = Running::start(&data, &[&site.url("/")]);
    let page = archived(&mut crawl, 6).pop().unwrap();
    let pipe = obstacle(&data);
    let mut command = utsushi();
    command.arg("--data").arg(&data).args(["takedown", "--yes", "--url", &page]);
    let mut asking = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut holding = held(&pipe);
    if is_decided {
        drop(holding);
        eventually("the archive decides", || on(&data, &["takedown", "--list"]).stdout.contains(&page));
        holding = held(&pipe);
    }
    crawl.signal("KILL");
    assert_eq!(crawl.end().1, None);
    drop(holding);
    assert_eq!(asking.wait().unwrap().code(), Some(2), "it was not done");
    assert!(data.join("takedown.pending").exists());
    fs::remove_dir_all(pipe.parent().unwrap()).unwrap();
    // The next writer finishes what was decided; the rest is requested again.
    let history = on(&data, &["history", &page]);
    assert_eq!(history.stderr.contains("is not archived"), is_decided, "{history:?}");
    let again = on(&data, &["takedown", "--yes", "--url", &page]);
    assert_eq!(again.code, Some(i32::from(is_decided)), "{again:?}");
    assert!(!data.join("takedown.pending").exists());
    on(&data, &["history", &page]).found(&["is not archived"]);
    on(&data, &["verify"]).done();
    assert_eq!(state(&data, &page), "taken down");
}

#[test]
fn survives_m1_a_crawl_killed_before_a_takedown_is_decided() {
    kill_a_takedown(false);
}

#[test]
fn survives_m1_a_crawl_killed_after_a_takedown_was_decided() {
    kill_a_takedown(true);
}

#[test]
fn survives_m1_a_crawl_killed_in_the_middle_of_an_import() {
    let (site, place, data) = slow();
    let mut made = Made::new();
    for page in 0..5_000 {
        made.answer(
            &format!("http://example.org/{page}"),
            "2026-03-01T00:00:00Z",
            200,
            &format!("page {page}"),
        );
    }
    let file = made.write(&place.path().join("made.warc.gz"));
    let mut crawl = Running::start(&data, &[&site.url("/")]);
    archived(&mut crawl, 4);
    let mut command = utsushi();
    command.arg("--json").arg("--data").arg(&data).arg("import").arg(&file);
    let mut asking = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(asking.stdout.take().unwrap()).lines().map_while(Result::ok);
    let first = lines.next().unwrap();
    crawl.signal("KILL");
    assert_eq!(crawl.end().1, None);
    let said: Vec<Value> =
        std::iter::once(first).chain(lines).filter_map(|line| serde_json::from_str(&line).ok()).collect();
    asking.wait().unwrap();
    for line in said.iter().filter(|line| line["url"].is_string()).step_by(97) {
        let url = line["url"].as_str().unwrap();
        assert!(on(&data, &["get", url]).done().starts_with("page "), "{url} was acknowledged");
    }
    let again = objects(&on(&data, &["--json", "import", file.to_str().unwrap()]).done());
    let summary = &again.last().unwrap()["summary"];
    assert_eq!(summary["added"].as_u64().unwrap() + summary["known"].as_u64().unwrap(), 5_000, "{summary}");
    on(&data, &["verify"]).done();
}
