//! Small things that a new user tries: each gets the behaviour that one expects.

use crate::made::{Made, PAGE, imported, small_web};
use crate::program::{objects, on};
use crate::site::Site;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use warc::{Draft, Kind, Level, RecordId, WarcWriter};

fn directory(site: &Site) -> (TempDir, PathBuf) {
    let place = TempDir::new().unwrap();
    let data = place.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("utsushi.toml"), site.settings()).unwrap();
    (place, data)
}

#[test]
fn a_bad_line_of_a_seeds_file_is_left_out_and_named() {
    let site = Site::start("127.0.0.1");
    let (place, data) = directory(&site);
    let seeds = place.path().join("seeds.txt");
    fs::write(&seeds, format!("{}\nftp://files.example/\n", site.url("/page/29"))).unwrap();
    let file = seeds.to_str().unwrap();
    let parts = ["1 line of the seeds skipped", "line 2 (`ftp://files.example/`)"];
    on(&data, &["crawl", "--seeds", file, "--once", "--for", "60s"]).found(&parts);
    assert!(site.asked().contains(&"/page/29".to_owned()));
    on(&data, &["add", "--seeds", file]).found(&parts);
    fs::write(&seeds, "ftp://files.example/\n").unwrap();
    on(&data, &["add", "--seeds", file]).could_not(&["it contains no URL", "line 1"]);
}

#[test]
fn pause_and_resume_say_whether_anything_changed() {
    let (_place, data) = imported(&small_web());
    let say = |command: &str| on(&data, &[command]).done();
    assert_eq!(say("resume"), "the crawl was not paused; nothing to resume\n");
    assert!(say("pause").starts_with("the crawl is paused; `utsushi resume` continues it"));
    assert!(say("pause").starts_with("the crawl was paused already"));
    assert!(say("resume").starts_with("the crawl is resumed"));
    assert_eq!(on(&data, &["--json", "resume"]).done(), "{\"paused\":false,\"was_paused\":false}\n");
}

#[test]
fn a_status_is_a_number_or_a_class() {
    let (_place, data) = imported(&small_web());
    let ended = on(&data, &["snapshot", "--at", "2026-03-06", "--status", "abc"]);
    ended.wrong(&["`abc` is not a status", "`404`", "`4xx`"]);
    let count = |status: &str| {
        let said =
            on(&data, &["--json", "snapshot", "--during", "..", "--unit", "visit", "--status", status]);
        objects(&said.done()).len()
    };
    assert_eq!((count("404"), count("4xx"), count("2xx,410")), (1, 2, 8));
}

#[test]
fn history_marks_truncated_captures() {
    let place = TempDir::new().unwrap();
    let (data, file) = (place.path().join("data"), place.path().join("cut.warc.gz"));
    let (mut bytes, at) = (Vec::new(), "2026-03-01T00:00:00Z".parse().unwrap());
    let id = RecordId::at("cut.warc.gz", 0, at, &Kind::Response);
    let draft = Draft::new(&Kind::Response, &id, at).target(PAGE).text("WARC-Truncated", "length");
    let block: [&[u8]; 1] =
        [b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\nbegin"];
    WarcWriter::new(Level::DEFAULT).append(draft, warc::HTTP_RESPONSE, &block, &mut bytes);
    fs::write(&file, bytes).unwrap();
    on(&data, &["import", file.to_str().unwrap()]);
    let text = on(&data, &["history", PAGE]).done();
    assert!(text.lines().nth(1).unwrap().ends_with("truncated"), "{text}");
    assert_eq!(objects(&on(&data, &["--json", "history", PAGE]).done())[0]["truncated"], true);
    let mut whole = Made::new();
    let (_place, data) = imported(whole.answer(PAGE, "2026-03-01T00:00:00Z", 200, "whole"));
    assert!(!on(&data, &["history", PAGE]).done().contains("truncated"));
}

#[test]
fn the_pages_of_a_package_have_titles() {
    let site = Site::start("127.0.0.1");
    let (place, data) = directory(&site);
    on(&data, &["crawl", &site.url("/"), "--pages", "5", "--for", "60s"]).done();
    let package = place.path().join("web.wacz");
    on(&data, &["export", "--format", "wacz", "-o", package.to_str().unwrap()]).done();
    let bytes = String::from_utf8_lossy(&fs::read(package).unwrap()).into_owned();
    assert!(bytes.contains("\"title\": \"front\""), "the list of pages is stored without compression");
}

/// Every file and directory below `path`, with its permissions.
fn modes(path: &Path, found: &mut Vec<(PathBuf, bool, u32)>) {
    let metadata = fs::symlink_metadata(path).unwrap();
    found.push((path.to_owned(), metadata.is_dir(), metadata.permissions().mode() & 0o777));
    if metadata.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| modes(&entry.unwrap().path(), found));
    }
}

#[test]
fn what_the_program_makes_is_private_and_what_a_user_names_is_not() {
    let place = TempDir::new().unwrap();
    let (data, results) = (place.path().join("new/data"), place.path().join("all.warc.gz"));
    let file = small_web().write(&place.path().join("made.warc.gz"));
    on(&data, &["import", file.to_str().unwrap()]).done();
    on(&data, &["pause"]).done();
    on(
        &data,
        &["scan", "--at", "2026-03-06", "-o", place.path().join("x.jsonl").to_str().unwrap(), "--", "cat"],
    );
    on(&data, &["export", "-o", results.to_str().unwrap()]).done();
    let mut found = Vec::new();
    modes(&data, &mut found);
    assert!(found.len() > 12, "{found:?}");
    for (path, is_directory, mode) in found {
        let most = if is_directory { 0o750 } else { 0o640 };
        assert_eq!(mode & !most, 0, "{}: {mode:o}", path.display());
    }
    let plain = place.path().join("plain");
    fs::write(&plain, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&results), mode(&plain), "a result follows the umask");
}

#[test]
fn metrics_for_other_machines_must_be_meant() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    let crawl = |more: &[&str]| {
        let seed = site.url("/page/29");
        on(&data, &[&["crawl", &seed, "--once", "--for", "60s", "--metrics", "0.0.0.0:0"], more].concat())
    };
    crawl(&[]).could_not(&["cannot serve metrics on 0.0.0.0:0", "`--metrics-public`"]);
    assert!(site.asked().is_empty());
    let ended = crawl(&["--metrics-public"]);
    assert!(ended.stderr.contains("metrics: http://0.0.0.0:"), "{ended:?}");
}
