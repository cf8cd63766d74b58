//! The demo from end to end: real HTTP, real files, a real `kill -9`.

use crate::program::{self, Ended, on, run, utsushi};
use archive::{Entry, Stored};
use base::Chance;
use base::disk::RealDisk;
use serde_json::Value;
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn summary(stdout: &str) -> Value {
    let last = stdout.lines().last().unwrap();
    serde_json::from_str::<Value>(last).unwrap()["summary"].clone()
}

/// All captures in their order; what the archive notes of itself is none.
fn captures(data: &Path) -> Vec<Entry> {
    let entries = archive::list(&RealDisk, &data.join("archive")).unwrap().map(|entry| entry.unwrap());
    entries.filter(Entry::is_visit).collect()
}

/// What a capture's line says of its place; by this the record is found again.
fn place(line: &str) -> Option<(String, u64, u64, String)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let file = value["file"].as_str()?.to_owned();
    Some((file, value["offset"].as_u64()?, value["length"].as_u64()?, value["url"].as_str()?.to_owned()))
}

fn places(data: &Path) -> Vec<(String, u64, u64, String)> {
    let of = |entry: Entry| {
        let location = entry.location;
        (location.file.to_string(), location.offset, location.length, entry.url.clone())
    };
    captures(data).into_iter().map(of).collect()
}

#[test]
fn the_demo_ends_by_itself_and_what_it_says_is_in_the_archive() {
    let place = TempDir::new().unwrap();
    let data = place.path().join("data");
    let ended = on(&data, &["--json", "demo", "--for", "4s", "--accelerate", "200"]);
    let said = ended.done();
    let summary = summary(&said);
    assert!(summary["pages"].as_u64().unwrap() > 50, "{summary}");
    assert_eq!(summary["politeness"]["violations"], 0, "{summary}");
    assert_eq!(summary["lost"], 0, "{summary}");
    assert!(summary["scan"]["documents"].as_u64().unwrap() > 50, "{summary}");
    assert!(summary["scan"]["languages"][0][1].as_u64().unwrap() > 10, "{summary}");
    let acknowledged: Vec<_> = said.lines().filter_map(self::place).collect();
    assert_eq!(acknowledged, places(&data), "one line a capture, in order");
    assert_eq!(summary["read_back"].as_u64().unwrap(), acknowledged.len() as u64);
    assert!(captures(&data).iter().any(|entry| entry.kind == Stored::Metadata), "refusals are recorded");
    check_by_peer(&data);
    looks_back(&data, &summary);
}

/// What the demo shows at its end is in the archive: a page's history and bytes, and the web in the middle of the run.
fn looks_back(data: &Path, summary: &Value) {
    let (page, at) = (summary["page"].as_str().unwrap(), summary["snapshot"]["at"].as_str().unwrap());
    let history = on(data, &["--json", "history", page]).done();
    assert!(history.lines().count() >= 1, "{history}");
    // Its charset is left as it came, so it need not be UTF-8.
    let copy = data.with_extension("page");
    on(data, &["get", page, "-o", copy.to_str().unwrap()]).done();
    assert!(std::fs::read(&copy).unwrap().starts_with(b"<!DOCTYPE html>"), "its codings are removed");
    let snapshot = on(data, &["--json", "snapshot", "--at", at]).done();
    assert_eq!(snapshot.lines().count() as u64, summary["snapshot"]["versions"].as_u64().unwrap());
    on(data, &["verify"]).done();
}

/// The commonest checker of WARC files finds nothing wrong but the payload digests of chunked answers, of which it digests the
/// chunks and all.
fn check_by_peer(data: &Path) {
    let Some(warcio) = std::env::var_os("UTSUSHI_WARCIO") else {
        program::not_tested("our files by a peer, for `UTSUSHI_WARCIO` does not say where warcio is");
        return;
    };
    let files = std::fs::read_dir(data.join("archive")).unwrap().map(|file| file.unwrap().path());
    for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "gz")) {
        let said = Command::new(&warcio).arg("check").arg("-v").arg(&path).output().unwrap();
        let text = String::from_utf8_lossy(&said.stdout);
        let chunked = chunked_answers(&path);
        let mut id = "";
        for line in text.lines() {
            if let Some((_, rest)) = line.split_once("WARC-Record-ID ") {
                id = rest.split(' ').next().unwrap();
            }
            let is_known = line.contains("payload digest failed") && chunked.contains(id);
            assert!(!line.contains("failed") || is_known, "{}: {id}: {line}", path.display());
        }
        assert!(text.contains("digest pass"), "it compared digests: {text}");
    }
}

/// The ids of the chunked answers in a file.
fn chunked_answers(path: &Path) -> HashSet<String> {
    let records = warc::WarcReader::new(std::fs::File::open(path).unwrap(), usize::MAX).map(Result::unwrap);
    let is_chunked = |record: &warc::Record| {
        record.kind() == warc::Kind::Response
            && base::http::is_chunked(archive::split_answer(&record.block).0)
    };
    let id = |record: warc::Record| record.fields.get("WARC-Record-ID").unwrap().to_owned();
    records.filter(is_chunked).map(id).collect()
}

#[test]
fn the_demo_shows_people_what_it_found() {
    let place = TempDir::new().unwrap();
    let data = place.path().join("data");
    let ended = on(&data, &["demo", "--for", "4s", "--accelerate", "400"]);
    let stderr = ended.stderr.clone();
    let said = ended.done();
    for part in [
        "Visits in ",
        " of simulated time\n",
        "violations                0",
        "One page's life: http",
        "still valid",
        "The web as of the middle of the run",
        "Languages of the ",
        "Next visits, in simulated time\n  load  ",
        "of live and unvisited pages are fresh",
        "utsushi snapshot --at now ",
    ] {
        assert!(said.contains(part), "`{part}` is not in {said}");
    }
    assert!(said.lines().count() <= 50, "two screens: {} lines\n{said}", said.lines().count());
    let path = data.display().to_string();
    for line in said.lines().filter(|line| !line.contains(&path) && !line.contains("http")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(stderr.contains("its truth: http://127.0.0.1:"), "{stderr}");
    // About one line a second, not one a page.
    assert!((3..=10).contains(&stderr.lines().count()), "{stderr}");
    assert!(stderr.contains(" pages archived, "), "{stderr}");
    let ended = on(&data, &["demo", "--for", "2s", "--accelerate", "400", "--verbose"]);
    assert!(ended.stderr.lines().count() > 50, "a line a page: {}", ended.stderr);
}

#[test]
fn after_the_demo_every_command_agrees_with_it() {
    let place = TempDir::new().unwrap();
    let data = place.path().join("data");
    let summary = summary(&on(&data, &["--json", "demo", "--for", "4s", "--accelerate", "1000"]).done());
    let count = |name: &str| summary[name].as_u64().unwrap();
    let kinds = ["new", "duplicates", "changed", "unchanged", "moved", "gone", "failed"];
    assert_eq!(count("pages"), kinds.map(count).iter().sum::<u64>(), "{summary}");
    let answered = count("pages") + count("robots");
    assert_eq!(count("requests"), answered + count("unanswered") + count("cut_off"), "{summary}");
    // The simulated web is more than an hour ahead. Its `now` is meant, and said so.
    let scan = on(&data, &["scan", "--at", "now", "--type", "text/html", "--builtin", "language"]);
    assert_eq!(scan.stderr.matches("times are those of the simulated web").count(), 1, "{scan:?}");
    assert_eq!(scan.done().lines().count() as u64, summary["scan"]["documents"].as_u64().unwrap());
    let now = on(&data, &["--json", "snapshot", "--at", "now"]).done().lines().count();
    let latest = on(&data, &["--json", "snapshot", "--at", "2099-01-01"]).done().lines().count();
    assert_eq!(now, latest);
    let page = summary["page"].as_str().unwrap();
    on(&data, &["get", page, "--at", "1s ago", "-o", data.with_extension("now").to_str().unwrap()]).done();
    // The whole simulated web belongs to the crawl, whichever command asks.
    let explained = on(&data, &["explain", page]);
    assert!(explained.stderr.contains("times are those of the simulated web"), "{explained:?}");
    let explained = explained.done();
    assert!(explained.contains("state       live") && !explained.contains("outside"), "{explained}");
    let status: Value = serde_json::from_str(&on(&data, &["--json", "status"]).done()).unwrap();
    let (schedule, archive) = (&status["schedule"], &status["archive"]);
    assert_eq!(
        (&schedule["new"], &archive["captures"]),
        (&summary["waiting"], &summary["read_back"]),
        "{status}"
    );
    let known = (schedule["pages"].as_f64().unwrap(), schedule["new"].as_f64().unwrap());
    assert!(schedule["expected_freshness"].as_f64().unwrap() <= 1.0 - known.1 / known.0, "{status}");
    let text = on(&data, &["status"]).done();
    assert!(text.contains("all times, loads and delays are in its own time"), "{text}");
}

#[test]
fn twenty_seconds_of_demo_end_within_twenty_five() {
    let place = TempDir::new().unwrap();
    let mut command = Command::new("timeout");
    command
        .args(["--signal=KILL", "25", env!("CARGO_BIN_EXE_utsushi"), "--data"])
        .arg(place.path().join("data"));
    let ended = run(command.args(["demo", "--for", "20s"]).stdin(Stdio::null()));
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn a_second_run_goes_on_from_the_first_and_logs_what_it_does() {
    let place = TempDir::new().unwrap();
    let data = place.path().join("data");
    let arguments = ["--json", "--log-level", "crawl=debug", "demo", "--for", "3s", "--accelerate", "300"];
    on(&data, &arguments).done();
    let before = captures(&data);
    let ended = on(&data, &arguments);
    assert!(ended.stderr.contains("visited url=http"), "{}", ended.stderr);
    let summary = summary(&ended.done());
    let after = captures(&data);
    assert_eq!(summary["read_back"], after.len() - before.len());
    assert!(summary["unchanged"].as_u64().unwrap() > 0, "{summary}");
    let (last, first) = (before.last().unwrap().at, after[before.len()].at);
    assert!(last < first, "the clock never goes back: {last} {first}");
}

#[test]
fn the_demo_stops_after_so_many_pages() {
    let place = TempDir::new().unwrap();
    let data = place.path().join("data");
    let said = on(&data, &["--json", "demo", "--for", "60s", "--pages", "25", "--accelerate", "200"]).done();
    assert_eq!(summary(&said)["pages"], 25);
}

#[test]
fn survives_hostile_servers_beside_the_honest_ones() {
    let place = TempDir::new().unwrap();
    let data = place.path().join("data");
    let said = on(&data, &["--json", "demo", "--for", "6s", "--accelerate", "200", "--hostile"]).done();
    let summary = summary(&said);
    assert!(summary["pages"].as_u64().unwrap() > 50, "{summary}");
    assert_eq!(summary["politeness"]["violations"], 0, "{summary}");
    assert_eq!(summary["read_back"].as_u64().unwrap(), captures(&data).len() as u64);
    check_by_peer(&data);
}

#[test]
fn a_demo_whose_output_nobody_reads_ends_well_all_the_same() {
    let place = TempDir::new().unwrap();
    let mut command = demo(&place.path().join("data"), &["--for", "3s"]);
    let mut child = command.spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(self::place(&first).is_some(), "{first}");
    // The pipe is closed now, in the middle of the run.
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_demo_whose_output_goes_to_a_file_ends_well() {
    let place = TempDir::new().unwrap();
    let path = place.path().join("said");
    let mut command = demo(&place.path().join("data"), &["--for", "3s"]);
    let status = command.stdout(std::fs::File::create(&path).unwrap()).status().unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(summary(&std::fs::read_to_string(&path).unwrap())["lost"], 0);
}

fn demo(data: &Path, arguments: &[&str]) -> Command {
    let mut command = utsushi();
    command.arg("--json").arg("--data").arg(data).args(["demo", "--accelerate", "200"]).args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Reads lines of captures until there are `count` of them.
fn acknowledged(child: &mut Child, count: usize) -> Vec<String> {
    let reader = BufReader::new(child.stdout.as_mut().unwrap());
    reader.lines().map(|line| line.unwrap()).take(count).collect()
}

#[test]
fn a_second_demo_is_told_who_writes_and_status_reads_beside_it() {
    let place = TempDir::new().unwrap();
    let data = place.path().join("data");
    let mut first = demo(&data, &["--for", "60s"]).spawn().unwrap();
    acknowledged(&mut first, 20);
    on(&data, &["demo", "--for", "1s"]).could_not(&[&first.id().to_string(), "demo"]);
    let status: Value = serde_json::from_str(&on(&data, &["--json", "status"]).done()).unwrap();
    assert_eq!(status["writer"]["pid"], first.id(), "{status}");
    signal(&first, "TERM");
    let mut rest = String::new();
    first.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
    assert_eq!(first.wait().unwrap().code(), Some(0), "SIGTERM ends it in good order");
    assert!(summary(&rest)["pages"].as_u64().is_some());
    let unfinished = std::fs::read_dir(data.join("archive")).unwrap().map(|file| file.unwrap().path());
    assert_eq!(unfinished.filter(|path| path.extension().is_some_and(|end| end == "open")).count(), 0);
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status().unwrap();
    assert!(status.success());
}

#[test]
fn kill_in_the_middle_loses_nothing_that_was_acknowledged() {
    let place = TempDir::new().unwrap();
    let data = place.path().join("data");
    let mut chance = Chance::new(number("UTSUSHI_TORTURE_SEED", 1));
    let mut all: Vec<(String, u64, u64, String)> = Vec::new();
    for round in 0..number("UTSUSHI_TORTURE_COUNT", 4) {
        let mut child = demo(&data, &["--for", "60s"]).spawn().unwrap();
        let count = 1 + chance.index(400);
        let lines = acknowledged(&mut child, count);
        signal(&child, "KILL");
        // Lines that were printed before the kill were acknowledged too.
        let mut rest = String::new();
        child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
        child.wait().unwrap();
        all.extend(lines.iter().map(String::as_str).chain(rest.lines()).filter_map(self::place));
        let listed = places(&data);
        let kept: HashSet<_> = listed.iter().collect();
        let lost: Vec<_> = all.iter().filter(|place| !kept.contains(place)).collect();
        assert!(lost.is_empty(), "round {round}: {lost:?}");
        assert_eq!(kept.len(), listed.len(), "round {round}: nothing is there twice");
    }
    // The next writer finishes what was left, and a peer can read all of it.
    on(&data, &["demo", "--for", "1s"]).done();
    let kept: HashSet<_> = places(&data).into_iter().collect();
    assert!(all.iter().all(|place| kept.contains(place)));
    check_by_peer(&data);
}

/// Robots files among the lines of captures.
fn robots_files(lines: &[String]) -> Vec<String> {
    let files = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let files = files.filter(|line| line["robots"] == true);
    files.map(|line| line["url"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn kill_in_the_middle_forgets_no_robots_file() {
    let place = TempDir::new().unwrap();
    let data = place.path().join("data");
    let mut known: HashSet<String> = HashSet::new();
    for round in 0..3 {
        let mut child = demo(&data, &["--for", "60s"]).spawn().unwrap();
        let lines = acknowledged(&mut child, 250);
        signal(&child, "KILL");
        let mut rest = String::new();
        child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
        child.wait().unwrap();
        let lines: Vec<String> = lines.into_iter().chain(rest.lines().map(str::to_owned)).collect();
        // All of it happens within a few hours of the web's own time.
        let asked = robots_files(&lines);
        let again: Vec<_> = asked.iter().filter(|url| known.contains(*url)).collect();
        assert!(again.is_empty(), "round {round}: {again:?}");
        assert!(round > 0 || asked.len() > 20, "{asked:?}");
        known.extend(asked);
    }
    let summary = summary(&on(&data, &["--json", "demo", "--for", "2s"]).done());
    assert_eq!(summary["politeness"]["violations"], 0, "the rules hold: {summary}");
}

#[test]
fn survives_m4_a_disk_that_fills_up_in_the_middle() {
    let place = TempDir::new().unwrap();
    // The floor leaves room for the schedule, which is no longer written to once the archive waits; the archive is on
    // the disk, the output not.
    let script = "mkdir disk && mount -t tmpfs -o size=40m tmpfs disk || exit 77\n\
                  printf '[archive]\\ndisk_free_bytes_min = \"26MiB\"\\ndisk_free_percent_min = 0\\n[store]\\n' > c.toml\n\
                  printf 'pool_bytes = \"1MiB\"\\nlog_bytes = \"1MiB\"\\nsegment_bytes = \"1MiB\"\\n' >> c.toml\n\
                  \"$0\" --json --config c.toml --data disk/data demo --for 8s --accelerate 400 > said\n\
                  code=$?; mkdir kept && cp disk/data/archive/* kept/; exit $code";
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_utsushi")]).current_dir(place.path());
    let ended: Ended = run(&mut unshare);
    if ended.code == Some(77) || ended.stderr.starts_with("unshare: ") {
        program::not_tested("a disk that fills up, for no small disk can be mounted here");
        return;
    }
    assert!(ended.stderr.contains("waiting for space on disk"), "{ended:?}");
    assert_eq!(ended.code, Some(0), "it ends in time all the same: {ended:?}");
    let said = std::fs::read_to_string(place.path().join("said")).unwrap();
    assert!(summary(&said)["lost"].as_u64().unwrap() > 0, "{}", summary(&said));
    let kept = archive::list(&RealDisk, &place.path().join("kept")).unwrap();
    let kept: HashSet<u64> = kept.map(|entry| entry.unwrap().location.offset).collect();
    let acknowledged: Vec<_> = said.lines().filter_map(self::place).collect();
    assert!(!acknowledged.is_empty(), "nothing fitted on the disk");
    assert!(acknowledged.iter().all(|place| kept.contains(&place.1)), "what was acknowledged is kept");
}
