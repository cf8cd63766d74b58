//! The worked example in `docs/formats/archive.md` is what is really written.

use crate::captures::{DIRECTORY, Records};
use archive::{Archive, Settings};
use base::disk::SimulatedDisk;
use base::door::{Exchange, Times};
use base::http::Framing;
use base::{Capture, Interval, Outcome, PageUrl, Refusal, Timestamp};
use std::path::Path;
use std::sync::Arc;

const PAGE: &str = include_str!("../../../../docs/formats/archive.md");

fn answer(url: &PageUrl, at: Timestamp) -> Capture {
    let exchange = Exchange {
        address: "192.0.2.7:443".parse().unwrap(),
        request_head: b"GET /a HTTP/1.1\r\nHost: example.org\r\nUser-Agent: utsushi\r\n\r\n".to_vec(),
        response_head: b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n".to_vec(),
        body: b"hello".to_vec(),
        status: 200,
        framing: Framing::Length(5),
        truncated: None,
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
