//! From the archive to the forms: a snapshot of what was really stored.

use crate::warc_file::about;
use archive::{Archive, Asked, Choice, Reader, Settings, Unit};
use base::disk::RealDisk;
use base::door::{Exchange, Marks, Times};
use base::http::Framing;
use base::{Capture, Interval, Outcome, PageUrl, Period, Timestamp};
use formats::wacz::{self, Package};
use formats::warc_file::Copied;
use formats::{Coding, Picker, Picks, Row, cdxj, warc_file};
use std::io::{Cursor, Read as _};
use std::path::Path;
use std::sync::Arc;
use warc::{Compression, Kind, Record, ZstdLevel};

const START: Timestamp = Timestamp::from_micros(1_795_129_200_123_456).unwrap();

fn day(days: u64) -> Timestamp {
    START.plus(Interval::from_days(days))
}

fn answer(url: &str, at: Timestamp, body: &[u8]) -> Capture {
    let url = PageUrl::parse(url).unwrap();
    let length = body.len() as u64;
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n");
    let exchange = Exchange {
        address: "192.0.2.7:80".parse().unwrap(),
        request_head: format!("GET {} HTTP/1.1\r\n\r\n", url.target()).into_bytes(),
        response_head: head.into_bytes(),
        body: body.to_vec().into(),
        status: 200,
        framing: Framing::Length(length),
        truncated: None,
        marks: Marks::default(),
        times: Times::default(),
    };
    let outcome = Outcome::Fetched { status: 200, content: None, truncated: None };
    Capture { url, at, outcome, exchange: Some(exchange) }
}

fn not_modified(url: &str, at: Timestamp) -> Capture {
    let mut capture = answer(url, at, b"");
    let exchange = capture.exchange.as_mut().unwrap();
    exchange.response_head = b"HTTP/1.1 304 Not Modified\r\n\r\n".to_vec();
    (exchange.status, exchange.framing) = (304, Framing::None);
    capture.outcome = Outcome::NotModified;
    capture
}

const PAGE: &str = "http://www.example.org/page";
const COPY: &str = "http://other.example.org/copy";

/// A page that is unchanged, by a 304 and by its bytes, then changes; and a copy of it elsewhere.
fn store(directory: &Path, compression: Compression) -> Reader {
    let settings =
        Settings { file_captures_max: 2, disk_free_bytes_min: 0, compression, ..Settings::default() };
    let (mut archive, _) = Archive::open(Arc::new(RealDisk), directory, settings, START).unwrap();
    let captures = [
        answer(PAGE, day(0), b"<p>the page"),
        answer(PAGE, day(1), b"<p>the page"),
        not_modified(PAGE, day(2)),
        answer(COPY, day(3), b"<p>the page"),
        answer(PAGE, day(4), b"<p>another"),
    ];
    for capture in &captures {
        archive.append(capture).unwrap();
    }
    archive.close().unwrap();
    Reader::open(Arc::new(RealDisk), directory).unwrap()
}

fn visits_during(from: u64, to: u64) -> Choice {
    let during = Period::new(day(from), day(to));
    Asked { during, unit: Some(Unit::Visit), ..Asked::default() }.check().unwrap()
}

fn rows(reader: &Reader, choice: &Choice) -> Vec<Row> {
    reader.snapshot(choice).unwrap().map(|version| Row::of(&version.unwrap(), reader).unwrap()).collect()
}

fn pick(rows: &[Row], directory: &Path) -> Picks {
    let mut picker = Picker::new(directory);
    rows.iter().for_each(|row| picker.add(row).unwrap());
    picker.finish().unwrap()
}

fn warc(rows: &[Row], reader: &Reader, spool: &Path) -> Result<(Copied, Vec<Record>), formats::Error> {
    let mut out = Vec::new();
    let picks = pick(rows, spool);
    let copied = warc_file::write(picks, reader, "snapshot.warc.gz", Coding::Gzip, &about(), &mut out)?;
    Ok((copied, warc::WarcReader::new(out.as_slice(), 1_000).map(Result::unwrap).collect()))
}

/// The page as of the 304 and the copy: all revisits of a record that is not chosen.
fn revisits(reader: &Reader) -> Vec<Row> {
    rows(reader, &visits_during(2, 4))
}

#[test]
fn rows_say_what_the_index_knows() {
    let directory = tempfile::tempdir().unwrap();
    let reader = store(directory.path(), Compression::default());
    let rows = rows(&reader, &Choice::as_of(day(3)).unwrap());
    let found: Vec<_> = rows.iter().map(|row| (row.url.as_str(), row.at, row.valid_to, &row.kind)).collect();
    let page = (PAGE, day(0), day(4), &Kind::Response);
    assert_eq!(found, [page, (COPY, day(3), Timestamp::MAX, &Kind::Revisit)]);
}

#[test]
fn originals_are_included_although_they_were_not_chosen() {
    let directory = tempfile::tempdir().unwrap();
    let reader = store(directory.path(), Compression::default());
    let rows = revisits(&reader);
    assert!(rows.len() == 2 && rows.iter().all(Row::is_revisit), "{rows:?}");
    let (copied, records) = warc(&rows, &reader, directory.path()).unwrap();
    assert_eq!((copied.captures, copied.originals), (2, 1));
    let mut kinds: Vec<String> = records.iter().map(|record| record.kind().as_str().to_owned()).collect();
    kinds.sort();
    assert_eq!(kinds, ["request", "request", "response", "revisit", "revisit", "warcinfo"]);

    let mut out = Vec::new();
    cdxj::write(pick(&rows, directory.path()), &reader, directory.path(), &mut out).unwrap();
    let lines = String::from_utf8(out).unwrap();
    let starts: Vec<String> = lines.lines().map(|line| line.split_once(" {").unwrap().0.to_owned()).collect();
    let key = |key: &str, days| format!("{key} {}", day(days).to_stamp());
    let page = "org,example)/page";
    assert_eq!(starts, [key(page, 0), key(page, 2), key("org,example,other)/copy", 3)]);
}

#[test]
fn an_archive_in_zstandard_becomes_a_package_in_gzip() {
    let directory = tempfile::tempdir().unwrap();
    let reader = store(directory.path(), Compression::Zstd(ZstdLevel::DEFAULT));
    let mut file = Cursor::new(Vec::new());
    let picks = pick(&revisits(&reader), directory.path());
    wacz::write(picks, &reader, directory.path(), &about(), &mut file).unwrap();
    let mut package = Package::open(file).unwrap();
    assert_eq!(package.check().unwrap(), []);
    let warcs = package.warcs();
    let content = package.read(&warcs[0]).unwrap();
    let mut records: Vec<u8> = Vec::new();
    flate2::read::MultiGzDecoder::new(content).read_to_end(&mut records).unwrap();
    assert!(records.windows(11).any(|window| window == b"<p>the page"));
}

#[test]
fn damaged_records_are_not_exported() {
    let directory = tempfile::tempdir().unwrap();
    let reader = store(directory.path(), Compression::default());
    let rows = revisits(&reader);
    let whole = warc(&rows, &reader, directory.path()).unwrap().1;
    let original = rows[0].body.clone().unwrap();
    for place in [&rows[0].place, &rows[1].place, &original] {
        let path = directory.path().join(&*place.file);
        let good = std::fs::read(&path).unwrap();
        for at in 0..place.group_bytes {
            let mut bad = good.clone();
            bad[usize::try_from(place.offset + at).unwrap()] ^= 4;
            std::fs::write(&path, bad).unwrap();
            match warc(&rows, &reader, directory.path()) {
                Err(formats::Error::Source { file, offset, .. }) => {
                    assert_eq!((file.as_str(), offset), (&*place.file, place.offset));
                }
                Err(error) => panic!("{error}"),
                // What no checksum covers: the time, the system and the effort in the header of a companion.
                Ok((_, records)) => assert!(at >= place.record_bytes && records == whole, "byte {at}"),
            }
        }
        std::fs::write(&path, good).unwrap();
    }
}
