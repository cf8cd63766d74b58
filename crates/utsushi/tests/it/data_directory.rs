//! Data directories that cannot be used: each is refused with what to do about it, and left exactly as it was.

use crate::program::{Ended, contents, format_text, on, run, utsushi};
use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

/// A writer; refused, it does not get as far as crawling.
const WRITE: [&str; 3] = ["demo", "--for", "1s"];

/// Settings for disks that are small by intention.
const NO_FLOOR: &str = "[archive]\ndisk_free_bytes_min = 0\ndisk_free_percent_min = 0\n";

/// Runs a writer and checks that it left `data` as it was.
fn write_refused(data: &Path) -> Ended {
    let before = contents(data);
    let ended = on(data, &WRITE);
    assert_eq!(contents(data), before, "{ended:?}");
    ended
}

#[test]
fn a_second_writer_is_told_the_process_and_command_of_the_first() {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join("FORMAT"), format_text(1, "simulated")).unwrap();
    let _lock = held_lock(data.path());
    write_refused(data.path()).could_not(&["in use by process 4711 (`utsushi crawl`)", "kill 4711"]);
}

/// The lock, held by this process and signed by another.
fn held_lock(data: &Path) -> File {
    fs::write(data.join("lock"), "pid = 4711\ncommand = \"crawl\"\nsince = \"2026-03-31T09:00:00Z\"\n")
        .unwrap();
    let lock = File::options().read(true).write(true).open(data.join("lock")).unwrap();
    lock.lock().unwrap();
    lock
}

#[test]
fn status_reads_beside_a_writer_and_knows_when_it_has_gone() {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join("FORMAT"), format_text(1, "public")).unwrap();
    let status = || serde_json::from_str::<Value>(&on(data.path(), &["status", "--json"]).done()).unwrap();
    let lock = held_lock(data.path());
    assert_eq!(status()["writer"]["pid"], 4711);
    drop(lock);
    assert_eq!((&status()["writer"], &status()["web"]), (&Value::Null, &"public".into()));
    assert!(on(data.path(), &["status"]).done().contains("writer          none"));
}

#[test]
fn a_newer_format_asks_for_an_upgrade() {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join("FORMAT"), format_text(99, "simulated")).unwrap();
    let parts = ["it has format 99", "what to do: upgrade utsushi"];
    write_refused(data.path()).could_not(&parts);
    on(data.path(), &["status"]).could_not(&parts);
}

#[test]
fn a_damaged_format_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let damaged = format_text(1, "simulated").replace("2026", "2025");
    fs::write(data.path().join("FORMAT"), damaged).unwrap();
    let parts = ["`FORMAT` is damaged", "restore `FORMAT`"];
    write_refused(data.path()).could_not(&parts);
    on(data.path(), &["status"]).could_not(&parts);
}

#[test]
fn a_foreign_directory_is_refused() {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join("thesis.tex"), "mine").unwrap();
    write_refused(data.path())
        .could_not(&["it contains `thesis.tex` but no `FORMAT`", "a new or empty directory"]);
    on(data.path(), &["status"]).could_not(&["`thesis.tex`"]);
}

#[test]
fn an_archive_of_the_public_web_is_refused_by_the_demo() {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join("FORMAT"), format_text(1, "public")).unwrap();
    write_refused(data.path()).could_not(&["it contains the public web, not the simulated one", "--data"]);
}

#[test]
fn a_reader_makes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    on(&data, &["status"]).could_not(&["it does not exist", "utsushi demo"]);
    assert!(contents(place.path()).is_empty());
}

#[test]
fn an_empty_directory_holds_nothing_yet_and_can_be_filled() {
    let data = tempfile::tempdir().unwrap();
    let page = "http://example.org/";
    let readers: [&[&str]; 6] = [
        &["status"],
        &["explain", page],
        &["servers"],
        &["history", page],
        &["get", page],
        &["snapshot", "--at", "2026-01-01"],
    ];
    for question in readers {
        let said = on(data.path(), question).found(&["it is empty", "what to do: fill it with"]);
        assert_eq!(said, "", "{question:?}");
    }
    assert!(contents(data.path()).is_empty());
    let file = crate::made::small_web().write(&data.path().with_extension("warc.gz"));
    on(data.path(), &["import", file.to_str().unwrap()]).done();
    fs::remove_file(file).unwrap();
    on(data.path(), &["status"]).done();
}

#[test]
fn a_path_that_is_a_file_or_lies_under_one_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("file");
    fs::write(&file, "mine").unwrap();
    on(&file, &WRITE).could_not(&["it is not a directory", "--data"]);
    on(&file.join("data"), &WRITE).could_not(&["one of its parents is a file", "--data"]);
    assert_eq!(fs::read(file).unwrap(), b"mine");
}

#[test]
fn a_place_where_nothing_can_be_made_is_refused() {
    on(Path::new("/proc/utsushi"), &WRITE).could_not(&["cannot write to the data directory `/proc/utsushi`"]);
}

#[test]
fn survives_m4_too_little_room_is_refused_at_the_start() {
    let place = tempfile::tempdir().unwrap();
    let config = place.path().join("mine.toml");
    fs::write(&config, "[archive]\ndisk_free_bytes_min = \"64TiB\"\n").unwrap();
    let data = place.path().join("data");
    let ended = run(utsushi().arg("--config").arg(&config).arg("--data").arg(&data).args(WRITE));
    ended.could_not(&["the disk is full", "70368744177664 are needed", "archive.disk_free_bytes_min"]);
    assert!(!data.exists());
}

/// Runs a writer on a small file system mounted with `options`, after `prepare`, in a mount name space of
/// its own; nothing when this machine does not allow that.
fn on_small_disk(options: &str, prepare: &str, config: &str) -> Option<Ended> {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("mine.toml"), config).unwrap();
    fs::create_dir(place.path().join("disk")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=1m none disk || exit 77\n{prepare}\nmount -o remount,{options} none disk || exit 77\n\
         find disk -type f -exec cksum {{}} + > before\n\
         \"$0\" --config mine.toml --data disk/data demo --for 1s; code=$?\n\
         find disk -type f -exec cksum {{}} + | cmp - before || exit 78\nexit $code"
    );
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "sh", "-c", &script, env!("CARGO_BIN_EXE_utsushi")]).current_dir(place.path());
    let ended = unshare.output().ok().map(Ended::from);
    let allowed = ended.filter(|ended| ended.code != Some(77) && !ended.stderr.starts_with("unshare: "));
    if allowed.is_none() {
        crate::program::not_tested("a small disk, for mounting one takes more rights than there are");
    }
    allowed
}

/// Shell commands that make a data directory on the small disk.
fn making_data() -> String {
    let format = format_text(1, "simulated").replace('\n', "\\n");
    format!("mkdir disk/data; printf '{format}' > disk/data/FORMAT")
}

#[test]
fn a_read_only_file_system_is_refused() {
    if let Some(ended) = on_small_disk("ro", "", NO_FLOOR) {
        ended.could_not(&["cannot write to the data directory `disk/data`", "the file system is read-only"]);
    }
    if let Some(ended) = on_small_disk("ro", &making_data(), NO_FLOOR) {
        ended.could_not(&["cannot write to the data directory `disk/data`", "the file system is read-only"]);
    }
}

#[test]
fn survives_m4_a_small_disk_is_refused_and_a_lower_floor_is_named() {
    if let Some(ended) = on_small_disk("rw", "", "") {
        ended.could_not(&["the disk is full", "1073741824 are needed", "archive.disk_free_bytes_min"]);
    }
}

#[test]
fn survives_m4_a_disk_without_a_single_byte_is_refused() {
    let fill = format!("{}; : > disk/data/lock; cat /dev/zero > disk/filler 2> /dev/null", making_data());
    if let Some(ended) = on_small_disk("rw", &fill, NO_FLOOR) {
        ended.could_not(&["disk/data", "free some space"]);
    }
}
