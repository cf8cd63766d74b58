//! The worked examples in `docs/formats/` are what is really written.

use crate::captures::{DIRECTORY, Records};
use archive::derived::{DerivedWriter, Facts};
use archive::{Archive, Asked, Settings};
use base::disk::{Disk, Open, SimulatedDisk};
use base::door::{Exchange, Marks, Times};
use base::http::Framing;
use base::{Capture, Interval, Outcome, PageUrl, Period, Refusal, Timestamp};
use std::path::Path;
use std::sync::Arc;

const PAGE: &str = include_str!("../../../../docs/formats/archive.md");
const SUMS_PAGE: &str = include_str!("../../../../docs/formats/sums.md");
const INDEX_PAGE: &str = include_str!("../../../../docs/formats/index.md");
const DERIVED_PAGE: &str = include_str!("../../../../docs/formats/derived.md");
const SNAPSHOTS_PAGE: &str = include_str!("../../../../docs/concepts/versions-and-snapshots.md");

fn answer(url: &PageUrl, at: Timestamp) -> Capture {
    let exchange = Exchange {
        address: "192.0.2.7:443".parse().unwrap(),
        request_head: b"GET /a HTTP/1.1\r\nHost: example.org\r\nUser-Agent: utsushi\r\n\r\n".to_vec(),
        response_head: b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n".to_vec(),
        body: b"hello".to_vec().into(),
        status: 200,
        framing: Framing::Length(5),
        truncated: None,
        marks: Marks::default(),
        times: Times::default(),
    };
    let outcome = Outcome::Fetched { status: 200, content: None, truncated: None };
    Capture { url: url.clone(), at, outcome, exchange: Some(exchange) }
}

/// The same page stored, found unchanged a day later in another batch, and forbidden another day later.
fn store(disk: &SimulatedDisk) {
    let (url, at) =
        (PageUrl::parse("https://example.org/a").unwrap(), "2026-11-15T23:16:00.123456Z".parse().unwrap());
    let settings = Settings { software: "utsushi/0.1.0".to_owned(), ..Settings::default() };
    let (mut archive, _) = Archive::open(Arc::new(disk.clone()), Path::new(DIRECTORY), settings, at).unwrap();
    let first = answer(&url, at);
    archive.append(&first).unwrap();
    archive.commit().unwrap();
    let day = |days| at.plus(Interval::from_days(days));
    archive.append(&answer(&url, day(1))).unwrap();
    let outcome = Outcome::Refused(Refusal::Robots("Disallow: /a".to_owned()));
    archive.append(&Capture { url, at: day(2), outcome, exchange: None }).unwrap();
    archive.close().unwrap();
}

#[test]
fn the_example_in_the_documentation_is_what_is_written() {
    let disk = SimulatedDisk::new(1);
    store(&disk);
    let records = Records::read(&disk).unwrap();
    let (name, records) = records.0.first_key_value().unwrap();
    assert!(PAGE.contains(&format!("`{name}`")), "{name}");
    for record in records.values() {
        let mut text = b"WARC/1.1\r\n".to_vec();
        record.fields.write_to(&mut text);
        text.extend_from_slice(b"\r\n");
        text.extend_from_slice(&record.block);
        let text = String::from_utf8(text).unwrap().replace('\r', "");
        assert!(PAGE.contains(text.trim_end()), "not in the page:\n{text}");
    }
}

fn read(disk: &SimulatedDisk, name: &str) -> Vec<u8> {
    let file = disk.open(&Path::new(DIRECTORY).join(name), Open::Read).unwrap();
    let mut bytes = vec![0; usize::try_from(file.length().unwrap()).unwrap()];
    file.read_at(0, &mut bytes).unwrap();
    bytes
}

/// Sixteen bytes per line: the offset of the first, the bytes in groups of four, and the same as text.
fn dump(bytes: &[u8]) -> String {
    let line = |(number, bytes): (usize, &[u8])| {
        let group = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let hex: Vec<String> = bytes.chunks(4).map(group).collect();
        let shown = |byte: &u8| if matches!(byte, b' '..=b'~') { char::from(*byte) } else { '.' };
        let text: String = bytes.iter().map(shown).collect();
        format!("{:04x}  {:<35}  {text}\n", number * 16, hex.join(" "))
    };
    bytes.chunks(16).enumerate().map(line).collect()
}

#[test]
fn the_checksums_in_the_documentation_are_what_is_written() {
    let disk = SimulatedDisk::new(1);
    store(&disk);
    let shown = dump(&read(&disk, "utsushi-20261115231600123456-00000.warc.gz.sums"));
    assert!(SUMS_PAGE.contains(&shown), "not in the page:\n{shown}");
}

#[test]
fn the_index_in_the_documentation_is_what_is_written() {
    let disk = SimulatedDisk::new(1);
    store(&disk);
    let current = String::from_utf8(read(&disk, "index/CURRENT")).unwrap();
    assert!(INDEX_PAGE.contains(&current), "not in the page:\n{current}");
    let shown = dump(&read(&disk, "index/0000000001.run"));
    assert!(INDEX_PAGE.contains(&shown), "not in the page:\n{shown}");
}

#[test]
fn the_derived_journal_in_the_documentation_is_what_is_written() {
    let disk = SimulatedDisk::new(1);
    store(&disk);
    let mut writer = DerivedWriter::open(Arc::new(disk.clone()), Path::new(DIRECTORY)).unwrap();
    let facts = Facts {
        language: Some("en".into()),
        media_type: Some("text/html".into()),
        title: Some("Hello".to_owned()),
        text: Some(0x0123_4567_89ab_cdef),
        main_text: Some(0x1122_3344_5566_7788),
        charset: Some(("utf-8".into(), "guess".into())),
    };
    let entries = crate::captures::entries(&disk);
    writer.append([(&entries[0], Some(facts))]).unwrap();
    writer.append(entries[1..].iter().map(|entry| (entry, None))).unwrap();
    let shown = dump(&read(&disk, "utsushi-20261115231600123456-00000.warc.gz.derived"));
    assert!(DERIVED_PAGE.contains(&shown), "not in the page:\n{shown}");
}

/// The visits in the page on snapshots: day, status, body; 0 is no answer.
const VISITS: [(&str, u16, &str); 8] = [
    ("2026-01-01", 200, "one"),
    ("2026-01-08", 304, ""),
    ("2026-01-15", 503, "sorry"),
    ("2026-01-22", 200, "two"),
    ("2026-01-29", 200, "one"),
    ("2026-02-05", 404, "nothing here"),
    ("2026-02-12", 200, "one"),
    ("2026-02-19", 0, ""),
];

fn store_visits(disk: &SimulatedDisk) {
    let moment = |day: &str| format!("{day}T00:00:00Z").parse().unwrap();
    let url = PageUrl::parse("https://example.org/a").unwrap();
    let (disk, at) = (Arc::new(disk.clone()), moment("2026-01-01"));
    let (mut archive, _) = Archive::open(disk, Path::new(DIRECTORY), Settings::default(), at).unwrap();
    for (day, status, body) in VISITS {
        let refused = || Capture {
            url: url.clone(),
            at: moment(day),
            outcome: Outcome::Refused(Refusal::RobotsUnreachable),
            exchange: None,
        };
        let answered = answer(&url, moment(day));
        let exchange = answered.exchange.clone().map(|exchange| Exchange {
            response_head: format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n", body.len()).into(),
            body: body.as_bytes().to_vec().into(),
            status,
            framing: Framing::Length(body.len() as u64),
            ..exchange
        });
        let capture = if status == 0 { refused() } else { Capture { exchange, ..answered } };
        archive.append(&capture).unwrap();
    }
    archive.close().unwrap();
}

/// What a line of flags asks for.
fn asked(flags: &[&str]) -> Asked {
    let now = Timestamp::MIN;
    let mut asked = Asked::default();
    for flag in flags.chunks(2) {
        match *flag {
            ["--at", at] => asked.at = Some(Timestamp::parse(at, now).unwrap()),
            ["--during", period] => asked.during = Some(Period::parse(period, now).unwrap()),
            ["--relation", relations] => asked.relations = Some(relations.parse().unwrap()),
            ["--recipe", recipe] => asked.recipe = Some(recipe.parse().unwrap()),
            ["--unit", unit] => asked.unit = Some(unit.parse().unwrap()),
            ["--flag", flag] => asked.flags.push(flag.parse().unwrap()),
            ["--status", status] => asked.statuses.push(status.parse().unwrap()),
            ["--changed-since", at] => asked.changed_since = Some(Timestamp::parse(at, now).unwrap()),
            _ => panic!("{flag:?}"),
        }
    }
    asked
}

#[test]
fn the_snapshots_in_the_documentation_are_what_is_chosen() {
    let disk = SimulatedDisk::new(1);
    store_visits(&disk);
    let reader = crate::captures::reader(&disk);
    let mut questions = 0;
    for line in SNAPSHOTS_PAGE.lines().filter(|line| line.starts_with("--")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let days = words.iter().rposition(|word| word.starts_with("--")).unwrap() + 2;
        let (flags, days) = words.split_at(days);
        let chosen = reader.snapshot(&asked(flags).check().unwrap()).unwrap();
        let chosen = chosen.map(|version| version.unwrap().validity.from().to_rfc3339()[5..10].to_owned());
        let mut chosen: Vec<String> = chosen.collect();
        chosen.reverse();
        assert_eq!(chosen, days, "{line}");
        questions += 1;
    }
    assert_eq!(questions, 16, "the page asks them all");
}
