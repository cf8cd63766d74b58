//! Our files, read by other programs. `UTSUSHI_WARCIO` names the `warcio` script; `UTSUSHI_SHARED` the directory with
//! the list of naughty strings.

use crate::captures::{START, answer, not_modified, refused, truncated, unreachable, workload};
use archive::{Archive, Grouper, Reader, Settings, Target};
use base::disk::RealDisk;
use base::{Chance, Interval};
use std::collections::HashSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use warc::{Compression, ZstdLevel};

/// Reports that something is not tested. Not by `eprintln!`, whose output is shown only for failed tests.
fn say_skipped(what: &str, variable: &str) {
    let _ = writeln!(std::io::stderr(), "NOT TESTED: {what}, because `{variable}` does not say where it is");
}

/// Strings that break programs; without the list, a few of our own.
fn naughty_strings() -> Vec<String> {
    let Some(shared) = std::env::var_os("UTSUSHI_SHARED") else {
        say_skipped("the list of naughty strings", "UTSUSHI_SHARED");
        return ["\r\n\r\nWARC/1.1\r\n", "\0", "%0A", "\u{85}\u{2028}", "日本"].map(str::to_owned).to_vec();
    };
    let path = PathBuf::from(shared).join("data/suites/blns.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Stores every kind of record; how many captures that are.
fn store(directory: &Path) -> u64 {
    let settings = Settings { file_bytes_max: 100_000, disk_free_bytes_min: 0, ..Settings::default() };
    let (mut archive, _) = Archive::open(Arc::new(RealDisk), directory, settings, START).unwrap();
    let mut chance = Chance::new(1);
    let binary: Vec<u8> = (0..70_000).map(|_| chance.bits().to_le_bytes()[0]).collect();
    let mut captures = vec![
        answer("binary", START, "Content-Type: image/png\r\n", &binary),
        answer("again", START.plus(Interval::from_days(1)), "Content-Type: image/png\r\n", &binary),
        not_modified("binary", START.plus(Interval::from_days(2))),
        answer("chunked", START, "Transfer-Encoding: chunked\r\n", b"4\r\nWiki\r\n5\r\npedia\r\n0\r\n\r\n"),
        answer("broken-chunks", START, "Transfer-Encoding: chunked\r\n", b"ffff\r\nWiki"),
        answer("empty", START, "", b""),
        truncated("truncated", START, b"the beginning"),
        unreachable("unreachable", START),
    ];
    for text in naughty_strings() {
        // A URL is shorter than some of them.
        let short: String = text.chars().take(200).collect();
        captures.push(refused(&format!("?{short}"), START, &text));
        captures.push(answer(&short, START, "Content-Type: text/plain\r\n", text.as_bytes()));
    }
    for capture in &captures {
        archive.append(capture).unwrap();
    }
    archive.commit().unwrap();
    for capture in &workload(2, 100) {
        archive.append(capture).unwrap();
    }
    archive.close().unwrap();
    captures.len() as u64 + 100
}

/// Checks the output of `warcio check -v`: it may reject only payload digests of chunked answers, for which it includes
/// the chunk framing (its issues 74 and 75). Returns how many it rejected.
fn check_warcio(said: &str, paths: &[PathBuf]) -> usize {
    let is_chunked = |record: &warc::Record| {
        record.kind() == warc::Kind::Response
            && base::http::is_chunked(archive::split_answer(&record.block).0)
    };
    let records = paths.iter().flat_map(|path| {
        warc::WarcReader::new(std::fs::File::open(path).unwrap(), usize::MAX).map(Result::unwrap)
    });
    let chunked = records.filter(is_chunked);
    let chunked: HashSet<String> =
        chunked.map(|record| record.fields.get("WARC-Record-ID").unwrap().to_owned()).collect();
    let (mut id, mut wrong) = ("", 0);
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("WARC-Record-ID ") {
            id = rest.split(' ').next().unwrap();
        } else if line.contains("failed") {
            assert!(line.contains("payload digest failed") && chunked.contains(id), "{id}: {line}");
            wrong += 1;
        }
    }
    wrong
}

#[test]
fn warcio_finds_nothing_wrong_but_chunked_payloads() {
    let directory = tempfile::tempdir().unwrap();
    let captures = store(directory.path());
    let reader = Reader::open(Arc::new(RealDisk), directory.path()).unwrap();
    let summary = reader.summary().unwrap();
    assert_eq!(summary.captures(), captures);
    // A visit without an answer may have a second record, with received bytes that are not an answer.
    let is_double = |entry: &archive::Entry| {
        entry.kind == archive::Stored::Metadata && entry.group_bytes > entry.location.length
    };
    let doubles = reader.all().unwrap().filter(|entry| is_double(entry.as_ref().unwrap())).count() as u64;
    let Some(warcio) = std::env::var_os("UTSUSHI_WARCIO") else {
        say_skipped("`warcio check`", "UTSUSHI_WARCIO");
        return;
    };
    let files = archive::files(&RealDisk, directory.path()).unwrap();
    let output = Command::new(warcio).args(["check", "-v"]).args(&files).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = check_warcio(&said, &files) as u64;
    assert!(
        wrong > 0 && output.status.code() == Some(1),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let pairs = summary.responses + summary.revisits;
    let records = said.lines().filter(|line| line.contains("WARC-Record-ID")).count() as u64;
    assert_eq!(records, summary.files + 2 * pairs + summary.unanswered + doubles);
    assert_eq!(said.matches("digest pass").count() as u64, records - summary.revisits - wrong);
}

/// Number of captures that other programs check.
fn accepted_count() -> u64 {
    std::env::var("UTSUSHI_TORTURE_COUNT").map_or(400, |count| count.parse().expect("a number"))
}

/// Stores as many captures of every kind, chunked ones included, takes some down, and imports them elsewhere too.
fn store_many(directory: &Path, compression: Compression) {
    let settings = Settings { compression, disk_free_bytes_min: 0, ..Settings::default() };
    let (mut archive, _) = Archive::open(Arc::new(RealDisk), directory, settings, START).unwrap();
    for number in 0..accepted_count() {
        let capture = crate::captures::visit(9, number);
        archive.append(&capture).unwrap();
        if number % 100 == 0 {
            archive.commit().unwrap();
        }
    }
    let target = Target::url("http://example.org/page-1").unwrap();
    archive.takedown(&target, "for the sake of it", START, &mut |_, _| {}).unwrap();
    archive.close().unwrap();
}

/// Imports everything from `from`.
fn import_all(from: &Path, into: &Path) {
    let settings = Settings { disk_free_bytes_min: 0, ..Settings::default() };
    let (mut archive, _) = Archive::open(Arc::new(RealDisk), into, settings, START).unwrap();
    let mut grouper = Grouper::new();
    for path in archive::files(&RealDisk, from).unwrap() {
        let file = std::fs::File::open(path).unwrap();
        for record in warc::WarcReader::new(file, usize::MAX) {
            for group in grouper.push(record.unwrap()) {
                archive.import(&group).unwrap();
            }
        }
    }
    for group in grouper.finish() {
        archive.import(&group).unwrap();
    }
    archive.close().unwrap();
}

/// What our own validator finds in a file; how many records it has.
fn validate(path: &Path) -> u64 {
    let mut check = warc::check::Check::new(std::fs::File::open(path).unwrap());
    let findings: Vec<String> = check.by_ref().take(5).map(|finding| finding.unwrap().to_string()).collect();
    assert!(findings.is_empty(), "{}: {findings:?}", path.display());
    check.summary().records
}

fn must_pass(command: &mut Command, path: &Path) -> String {
    let output = command.arg(path).output().unwrap();
    let said = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned();
    assert!(output.status.success(), "{}: {}", path.display(), &said[..said.len().min(2_000)]);
    said
}

#[test]
fn accepted_by_our_validator_and_by_peers_whatever_is_written() {
    let (gzip, zstd, imported) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    store_many(gzip.path(), Compression::default());
    store_many(zstd.path(), Compression::Zstd(ZstdLevel::DEFAULT));
    import_all(zstd.path(), imported.path());
    let (warcio, fastwarc) = (std::env::var_os("UTSUSHI_WARCIO"), std::env::var_os("UTSUSHI_FASTWARC"));
    if warcio.is_none() {
        say_skipped("`warcio check`", "UTSUSHI_WARCIO");
    }
    if fastwarc.is_none() {
        say_skipped("`fastwarc check`", "UTSUSHI_FASTWARC");
    }
    let mut records = 0;
    for directory in [&gzip, &zstd, &imported] {
        for path in archive::files(&RealDisk, directory.path()).unwrap() {
            records += validate(&path);
            let is_gzip = path.extension().is_some_and(|extension| extension == "gz");
            if let Some(warcio) = warcio.as_ref().filter(|_| is_gzip) {
                let output = Command::new(warcio).args(["check", "-v"]).arg(&path).output().unwrap();
                check_warcio(&String::from_utf8_lossy(&output.stdout), std::slice::from_ref(&path));
            }
            if let Some(fastwarc) = &fastwarc {
                let list = path.with_added_extension("said");
                must_pass(Command::new(fastwarc).args(["check", "--quiet", "--output"]).arg(&list), &path);
                assert!(!std::fs::read_to_string(&list).unwrap().contains("FAIL"), "{}", path.display());
            }
        }
    }
    assert!(records > 4 * accepted_count(), "{records}");
}
