//! ARC files of every form, and what can be read of broken ones.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Cursor, Write as _};
use warc::arc::{ArcReader, ArcRecord};

const ANSWER: &str = "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>hi\n";

fn read(file: &[u8]) -> (Vec<ArcRecord>, Vec<String>) {
    let (mut records, mut errors) = (Vec::new(), Vec::new());
    for result in ArcReader::new(Cursor::new(file), 1_000_000) {
        match result {
            Ok(record) => records.push(record),
            Err(error) => errors.push(error.to_string()),
        }
    }
    (records, errors)
}

/// The record that describes a file of this version.
fn description(version: &str) -> String {
    let definition = match version {
        "2 0" => {
            "URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length"
        }
        _ => "URL IP-address Archive-date Content-type Archive-length",
    };
    let block = format!("{version} InternetArchive\n{definition}\n");
    format!("filedesc://a.arc 0.0.0.0 20260331090000 text/plain {}\n{block}\n", block.len())
}

/// A record whose line is `line`, with the length in place of `#`.
fn record(line: &str, block: &str) -> String {
    format!("{}\n{block}\n", line.replace('#', &block.len().to_string()))
}

fn page(name: &str) -> String {
    record(&format!("http://example.org/{name} 192.0.2.1 20260331090001 text/html #"), ANSWER)
}

fn gzip(content: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// How a line is read: URL, address, date, media type.
#[track_caller]
fn check(line: &str, expected: [&str; 4]) {
    let file = format!("{}{}", description("1 0"), record(line, ANSWER));
    let (records, errors) = read(file.as_bytes());
    assert_eq!(errors, [""; 0], "{line}");
    let [found] = records.as_slice() else { panic!("{line}: {records:?}") };
    let address = found.address.map(|address| address.to_string()).unwrap_or_default();
    let date = found.date.map(base::Timestamp::to_stamp).unwrap_or_default();
    assert_eq!([found.url.as_str(), &address, &date, &found.media_type], expected, "{line}");
    assert_eq!(found.block, ANSWER.as_bytes());
}

#[test]
fn lines_are_read_from_their_right_end() {
    let url = "http://example.org/";
    let date = "20260331090001";
    check("http://example.org/ 192.0.2.1 20260331090001 text/html #", [url, "192.0.2.1", date, "text/html"]);
    check(
        "http://example.org/\t192.0.2.1\t20260331090001\ttext/html\t#",
        [url, "192.0.2.1", date, "text/html"],
    );
    check(
        "http://example.org/  192.0.2.1   20260331090001 text/html #  ",
        [url, "192.0.2.1", date, "text/html"],
    );
    check(
        "http://example.org/ 192.0.2.1 20260331090001 text/html #\r",
        [url, "192.0.2.1", date, "text/html"],
    );
    check(
        "http://example.org/a b?c=20260101000000 d 192.0.2.1 20260331090001 text/html #",
        ["http://example.org/a b?c=20260101000000 d", "192.0.2.1", date, "text/html"],
    );
    check("http://example.org/ 2001:db8::1 20260331090001 no-type #", [url, "2001:db8::1", date, "no-type"]);
    check(
        "http://example.org/ 192.0.2.1 20260331090001 text/html;charset=x #",
        [url, "192.0.2.1", date, "text/html"],
    );
    check(
        "http://example.org/ 192.0.2.1 20260331090001 text/html; charset=x #",
        [url, "192.0.2.1", date, "text/html"],
    );
    check("http://example.org/ 192.0.2.1 20260331090001 #", [url, "192.0.2.1", date, ""]);
    check("http://example.org/ - 20260331090001 text/html #", [url, "", date, "text/html"]);
    check(
        "dns:example.org 192.0.2.53 20260331090001 text/dns #",
        ["dns:example.org", "192.0.2.53", date, "text/dns"],
    );
    check(
        "http://example.org/ 192.0.2.1 20260331090001 text/html 200 a1b2c3 - 1234567890 a.arc #",
        [url, "192.0.2.1", date, "text/html"],
    );
    check(
        "http://example.org/ 192.0.2.1 20260331 text/html #",
        [url, "192.0.2.1", "20260331000000", "text/html"],
    );
    check(
        "http://example.org/ 192.0.2.1 202603310900010000 text/html #",
        [url, "192.0.2.1", date, "text/html"],
    );
    check("http://example.org/ 192.0.2.1 20269931090001 text/html #", [url, "192.0.2.1", "", "text/html"]);
    check(
        "http://例え.example/ 192.0.2.1 20260331090001 text/html #",
        ["http://例え.example/", "192.0.2.1", date, "text/html"],
    );
}

#[test]
fn every_version_is_read_plain_and_compressed() {
    for version in ["1 0", "1 1", "2 0"] {
        let parts = [description(version), page("a"), page("b"), page("c")];
        let plain = parts.concat();
        let (records, errors) = read(plain.as_bytes());
        assert_eq!((records.len(), errors.len()), (3, 0), "{errors:?}");
        let place = plain.find("http://example.org/b").unwrap();
        assert_eq!((records[1].offset, records[1].length), (place as u64, page("b").len() as u64));

        let members = parts.clone().map(|part| gzip(&part));
        let (compressed, errors) = read(&members.concat());
        assert_eq!((compressed.len(), errors.len()), (3, 0), "{errors:?}");
        let offsets: Vec<_> = compressed.iter().map(|record| (record.offset, record.length)).collect();
        let mut expected = Vec::new();
        members.iter().fold(0, |offset, member| {
            expected.push((offset, member.len() as u64));
            offset + member.len() as u64
        });
        assert_eq!(offsets, expected[1..]);
        assert_eq!(compressed[2].block, ANSWER.as_bytes());

        let (at_once, errors) = read(&gzip(&plain));
        assert_eq!((at_once.len(), errors.len()), (3, 0), "{errors:?}");
    }
}

#[test]
fn files_can_be_joined_and_lack_their_description() {
    let joined = [description("1 0"), page("a"), description("1 1"), page("b")].concat();
    assert_eq!(read(joined.as_bytes()).0.len(), 2);
    assert_eq!(read(page("a").as_bytes()).0.len(), 1);
    assert_eq!(read(description("1 0").as_bytes()), (Vec::new(), Vec::new()));
    assert_eq!(read(b""), (Vec::new(), Vec::new()));
    assert_eq!(read(b"\n\n"), (Vec::new(), Vec::new()));
}

#[test]
fn a_block_is_kept_as_far_as_wanted() {
    let file = page("a");
    let record = ArcReader::new(Cursor::new(file.as_bytes()), 4).next().unwrap().unwrap();
    assert_eq!((record.block.as_slice(), record.block_bytes), (&b"HTTP"[..], ANSWER.len() as u64));
    assert!(!record.is_whole());
}

/// The names of the pages that are read, and how often damage is told.
#[track_caller]
fn check_damage(file: &[u8], expected: &[&str], damages: usize) {
    let (records, errors) = read(file);
    let names: Vec<_> = records.iter().map(|record| record.url.rsplit('/').next().unwrap()).collect();
    assert_eq!((names.as_slice(), errors.len()), (expected, damages), "{errors:?}");
}

#[test]
fn reading_continues_after_damage() {
    let (a, c) = (page("a"), page("c"));
    let around = |b: &str| format!("{a}{b}{c}").into_bytes();
    check_damage(&around(&page("b")), &["a", "b", "c"], 0);
    check_damage(&around("garbage\n"), &["a", "c"], 1);
    check_damage(&around("\0\0\0\n\0\n"), &["a", "c"], 1);
    for line in [
        "http://example.org/b 192.0.2.1 20260331090001 text/html -1",
        "http://example.org/b 192.0.2.1 20260331090001 text/html abc",
        "http://example.org/b 192.0.2.1 20260331090001 text/html +5",
        "http://example.org/b 192.0.2.1 20260331090001 text/html 99999999999999999999",
        "http://example.org/b",
        "/b 192.0.2.1 20260331090001 text/html #",
        "http://example.org/b 192.0.2.1 yesterday text/html #",
    ] {
        check_damage(&around(&record(line, ANSWER)), &["a", "c"], 1);
    }
    let long = format!("http://example.org/{} 192.0.2.1 20260331090001 text/html #", "b".repeat(100_000));
    check_damage(&around(&record(&long, ANSWER)), &["a", "c"], 1);
    // A length that is too short leaves a rest of the block.
    check_damage(
        &around(&record("http://example.org/b 192.0.2.1 20260331090001 text/html 5", ANSWER)),
        &["a", "b", "c"],
        1,
    );
    // One that is too long swallows what follows.
    check_damage(
        &around(&record("http://example.org/b 192.0.2.1 20260331090001 text/html 9999", ANSWER)),
        &["a"],
        1,
    );
}

#[test]
fn damaged_members_are_not_returned() {
    let (a, b, c) = (gzip(&page("a")), gzip(&page("b")), gzip(&page("c")));
    let around = |b: &[u8]| [a.as_slice(), b, &c].concat();
    check_damage(&around(&b), &["a", "b", "c"], 0);
    check_damage(&around(b"garbage"), &["a", "c"], 1);
    check_damage(&around(&b[..b.len() / 2]), &["a", "c"], 1);
    check_damage(
        &around(&gzip("http://example.org/b 192.0.2.1 20260331090001 text/html 99\nx\n")),
        &["a", "c"],
        1,
    );
    for place in [b.len() - 1, b.len() - 8, b.len() / 2] {
        let mut damaged = b.clone();
        damaged[place] ^= 0x10;
        let (records, errors) = read(&around(&damaged));
        assert!(
            !errors.is_empty() && records.iter().all(|record| !record.url.ends_with('b')),
            "{place}: {records:?}"
        );
        assert_eq!(records.last().unwrap().url, "http://example.org/c");
    }
    let cut = around(&b);
    check_damage(&cut[..cut.len() - 3], &["a", "b"], 1);
}

#[test]
fn no_byte_makes_it_panic_or_run_on() {
    let plain = [description("1 0"), page("a"), page("b")].concat().into_bytes();
    let packed = [gzip(&description("1 0")), gzip(&page("a")), gzip(&page("b"))].concat();
    for file in [plain, packed] {
        for place in 0..file.len() {
            for flip in [1, 0x55, 0xff] {
                let mut damaged = file.clone();
                damaged[place] ^= flip;
                let (records, errors) = read(&damaged);
                // A description with another first letter is an ordinary record.
                assert!(records.len() <= 3 && errors.len() <= 3, "{errors:?}");
            }
            read(&file[..place]);
        }
    }
}
