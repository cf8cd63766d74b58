//! Reading needs no write permission and no lock: without a writer, beside a crawl, and after a `kill -9`.

use crate::program::{Ended, objects, on, run, utsushi};
use crate::site::Site;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A user without rights: `nobody`.
const NOBODY: u32 = 65534;

/// A place that others may enter, with a data directory whose settings suit a site. Its group, to which new files
/// belong too, is that of the reader.
fn directory(site: &Site) -> (TempDir, PathBuf) {
    let place = TempDir::new().unwrap();
    fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
    let data = place.path().join("data");
    fs::create_dir(&data).unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&data, None, Some(NOBODY)).unwrap();
    }
    fs::set_permissions(&data, Permissions::from_mode(0o2750)).unwrap();
    fs::write(data.join("utsushi.toml"), site.settings()).unwrap();
    (place, data)
}

/// Takes every right to write from a directory and what is in it.
fn seal(path: &Path) {
    let metadata = fs::symlink_metadata(path).unwrap();
    if metadata.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| seal(&entry.unwrap().path()));
        fs::set_permissions(path, Permissions::from_mode(0o2550)).unwrap();
    } else if metadata.is_file() {
        fs::set_permissions(path, Permissions::from_mode(0o440)).unwrap();
    }
}

/// Lets the owner write again.
fn unseal(path: &Path) {
    if path.is_dir() {
        fs::set_permissions(path, Permissions::from_mode(0o2750)).unwrap();
        fs::read_dir(path).unwrap().for_each(|entry| unseal(&entry.unwrap().path()));
    } else {
        fs::set_permissions(path, Permissions::from_mode(0o640)).unwrap();
    }
}

/// Every file with its bytes and the moment of its last change.
fn marks(path: &Path) -> BTreeMap<PathBuf, (i64, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::metadata(&path).unwrap();
        let bytes = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        if metadata.is_dir() {
            found.extend(marks(&path));
        }
        found.insert(path, (metadata.mtime(), metadata.mtime_nsec(), bytes));
    }
    found
}

/// The program as a user who may not write to the data directory.
fn as_reader(data: &Path, arguments: &[&str]) -> Command {
    let mut command = utsushi();
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.arg("--data").arg(data).args(arguments).current_dir(std::env::temp_dir());
    command
}

fn read(data: &Path, arguments: &[&str]) -> Ended {
    run(&mut as_reader(data, arguments))
}

fn schedule(data: &Path) -> Value {
    objects(&read(data, &["--json", "status"]).done()).remove(0)["schedule"].take()
}

/// The servers. Their delays count from the moment of opening.
fn servers(data: &Path) -> Vec<Value> {
    let mut told = objects(&read(data, &["--json", "servers"]).done());
    told.iter_mut().for_each(|server| server["resting_until"] = Value::Null);
    told
}

/// What a reader may ask; each ends with 0 and leaves the directory as it was.
#[track_caller]
fn check_readers(site: &Site, data: &Path) {
    let out = TempDir::new().unwrap();
    fs::set_permissions(out.path(), Permissions::from_mode(0o777)).unwrap();
    let file = |name: &str| out.path().join(name).to_str().unwrap().to_owned();
    let (page, front) = (site.url("/page/7"), site.url("/"));
    let before = marks(data);
    let wacz = file("web.wacz");
    let questions: [&[&str]; 11] = [
        &["status"],
        &["status", "--figures", &file("figures")],
        &["explain", &page],
        &["servers"],
        &["history", &page],
        &["get", &front],
        &["snapshot", "--at", "9d"],
        &["snapshot", "--at", "2099-01-01"],
        &["export", "-o", &file("all.warc.gz")],
        &["snapshot", "--at", "2099-01-01", "--format", "wacz", "-o", &wacz],
        &["verify"],
    ];
    for question in questions {
        let ended = read(data, question);
        let expected = if question.contains(&"9d") { 2 } else { 0 };
        assert_eq!(ended.code, Some(expected), "{question:?}: {ended:?}");
        assert!(!ended.stderr.contains("nothing can be said"), "{question:?}: {ended:?}");
    }
    let text = read(data, &["status"]).done();
    assert!(text.contains("known ") && !text.contains("none yet"), "{text}");
    assert!(marks(data) == before, "a reader changed the directory");
}

#[test]
fn a_directory_that_cannot_be_written_to_can_be_read() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    on(&data, &["crawl", &site.url("/"), "--once", "--for", "60s"]);
    seal(&data);
    check_readers(&site, &data);
    unseal(&data);
}

/// A crawl that is killed once it has acknowledged some captures: its log is to be replayed, and some captures were not
/// learned from.
fn killed_crawl(site: &Site, data: &Path) {
    let mut command = utsushi();
    command.args(["--json", "--data"]).arg(data).args(["crawl", &site.url("/"), "--for", "60s"]);
    let mut crawl = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(crawl.stdout.take().unwrap()).lines();
    assert_eq!(lines.take(12).filter(Result::is_ok).count(), 12);
    crawl.kill().unwrap();
    crawl.wait().unwrap();
}

#[test]
fn after_a_kill_a_reader_says_what_the_next_writer_says() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    killed_crawl(&site, &data);
    seal(&data);
    check_readers(&site, &data);
    let page = site.url("/page/3");
    let seen = (schedule(&data), read(&data, &["--json", "explain", &page]).stdout);
    let before = servers(&data);
    assert!(seen.0["pages"].as_u64().unwrap() >= 10, "{seen:?}");
    unseal(&data);
    // A writer replays the log, learns, and keeps what it learned.
    on(&data, &["resume"]).done();
    assert_eq!((schedule(&data), read(&data, &["--json", "explain", &page]).stdout), seen);
    assert_eq!(servers(&data), before);
}

#[test]
fn a_reader_beside_a_crawl_that_it_cannot_reach_reads_what_is_on_disk() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    let mut command = utsushi();
    command.args(["--json", "--data"]).arg(&data).args(["crawl", &site.url("/"), "--for", "60s"]);
    let mut crawl = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(crawl.stdout.take().unwrap()).lines();
    assert!(lines.by_ref().take(8).all(|line| line.is_ok()));
    // The control socket is its owner's alone.
    let pages = schedule(&data)["pages"].as_u64().unwrap();
    assert!(pages >= 8, "{pages}");
    let readers: Vec<_> = ["status", "servers", "status", "servers"]
        .iter()
        .map(|question| {
            let mut command = as_reader(&data, &[question]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for reader in readers {
        Ended::from(reader.wait_with_output().unwrap()).done();
    }
    let told = read(&data, &["--json", "explain", &site.url("/")]).done();
    assert_eq!(objects(&told)[0]["visits"], 1, "{told}");
    assert!(crawl.try_wait().unwrap().is_none(), "the crawl goes on");
    crawl.kill().unwrap();
    crawl.wait().unwrap();
}
