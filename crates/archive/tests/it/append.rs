//! What a capture becomes.

use crate::captures::{
    DIRECTORY, Records, START, answer, entries, not_modified, open, refused, truncated, unreachable, url,
    workload,
};
use archive::{Before, Stored, summary};
use base::disk::SimulatedDisk;
use base::{Interval, Sha1Digest};
use std::collections::BTreeMap;
use std::path::Path;
use warc::header::name;
use warc::{Kind, Record};

fn records(disk: &SimulatedDisk) -> Vec<Record> {
    Records::read(disk).unwrap().0.into_values().flat_map(BTreeMap::into_values).collect()
}

#[test]
fn what_is_stored_is_listed_in_order_over_many_files() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let visits = workload(1, 80);
    let appended: Vec<_> =
        visits.iter().map(|(capture, before)| archive.append(capture, before.as_ref()).unwrap()).collect();
    archive.commit().unwrap();
    archive.close().unwrap();
    let found = entries(&disk);
    assert_eq!(found.len(), 80);
    let records = Records::read(&disk).unwrap();
    for ((entry, appended), (capture, _)) in found.iter().zip(&appended).zip(&visits) {
        records.compare(entry, capture).unwrap();
        assert_eq!(
            (&entry.location, entry.kind, entry.payload),
            (&appended.location, appended.kind, appended.payload)
        );
    }
    let summary = summary(&disk, Path::new(DIRECTORY)).unwrap();
    assert!(summary.files > 3, "{summary:?}");
    assert_eq!((summary.captures(), summary.damaged), (80, 0));
    assert_eq!((summary.first, summary.last), (Some(visits[0].0.at), Some(visits[79].0.at)));
}

#[test]
fn an_answer_is_a_response_and_its_request() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let appended =
        archive.append(&answer("a", START, "Content-Type: Text/HTML; x\r\n", b"hi"), None).unwrap();
    archive.commit().unwrap();
    let [info, response, request] = &records(&disk)[..] else { panic!("three records") };
    assert_eq!(
        [info.kind(), response.kind(), request.kind()],
        [Kind::Warcinfo, Kind::Response, Kind::Request]
    );
    let field = |record: &Record, name| record.fields.get(name).unwrap_or_default().to_owned();
    assert_eq!(field(info, name::FILENAME), *appended.location.file);
    assert_eq!(field(response, name::WARCINFO_ID), field(info, name::RECORD_ID));
    assert_eq!(field(request, name::CONCURRENT_TO), field(response, name::RECORD_ID));
    assert_eq!(field(response, name::DATE), START.to_rfc3339());
    assert_eq!(field(response, name::IP_ADDRESS), "192.0.2.7");
    assert_eq!(field(response, name::PAYLOAD_DIGEST), Sha1Digest::of(&[b"hi"]).to_string());
    assert_eq!(field(response, name::CONTENT_TYPE), "application/http;msgtype=response");
    assert_eq!(appended.bytes_written, response.length + request.length);
    let entry = &entries(&disk)[0];
    assert_eq!((&*entry.media_type, entry.status, &*entry.outcome), ("text/html", Some(200), "fetched"));
}

/// What a capture is stored as when `before` had the body `same`.
#[track_caller]
fn check(capture: &base::Capture, expected: Stored, fields: [bool; 3]) -> Record {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let before = Before { url: url("before"), at: START, payload: Sha1Digest::of(&[b"same"]) };
    let appended = archive.append(capture, Some(&before)).unwrap();
    archive.commit().unwrap();
    assert_eq!(appended.kind, expected);
    let record = records(&disk).remove(1);
    let has = |name| record.fields.get(name).is_some();
    let found = [has(name::PAYLOAD_DIGEST), has(name::REFERS_TO_DATE), has(name::TRUNCATED)];
    assert_eq!(found, fields, "payload digest, refers to, truncated");
    assert_eq!(entries(&disk)[0].payload, appended.payload);
    record
}

#[test]
fn only_a_whole_body_that_is_stored_already_is_a_revisit() {
    let later = START.plus(Interval::from_days(1));
    let same = check(&answer("a", later, "", b"same"), Stored::Revisit, [true, true, false]);
    assert!(same.fields.get(name::PROFILE).unwrap().ends_with("/identical-payload-digest"));
    assert_eq!(same.fields.get(name::REFERS_TO_TARGET_URI), Some("http://example.org/before"));
    assert!(same.block.ends_with(b"\r\n\r\n") && same.block.starts_with(b"HTTP/1.1 200"), "the head is kept");
    let unchanged = check(&not_modified("a", later), Stored::Revisit, [true, true, false]);
    assert!(unchanged.fields.get(name::PROFILE).unwrap().ends_with("/server-not-modified"));
    let chunked = "Transfer-Encoding: chunked\r\n";
    check(&answer("a", later, chunked, b"4\r\nsame\r\n0\r\n\r\n"), Stored::Revisit, [true, true, false]);
    check(&answer("a", later, chunked, b"5\r\nother\r\n0\r\n\r\n"), Stored::Response, [false, false, false]);
    check(&answer("a", later, "", b"other"), Stored::Response, [true, false, false]);
    check(&truncated("a", later, b"same"), Stored::Response, [true, false, true]);
    check(&answer("a", later, "", b""), Stored::Response, [true, false, false]);
}

#[test]
fn a_304_without_anything_before_is_a_response() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let capture = not_modified("a", START);
    let appended = archive.append(&capture, None).unwrap();
    assert_eq!((appended.kind, appended.before_next(&capture, None)), (Stored::Response, None));
}

#[test]
fn the_next_visit_is_compared_with_the_last_body_that_was_stored() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let mut before = None;
    let mut visit = |capture: base::Capture| {
        let appended = archive.append(&capture, before.as_ref()).unwrap();
        before = appended.before_next(&capture, before.take());
        (appended.kind, before.as_ref().map(|before| before.at.since(START).as_seconds()))
    };
    let at = |seconds| START.plus(Interval::from_seconds(seconds));
    assert_eq!(visit(unreachable("a", at(1))), (Stored::Metadata, None));
    assert_eq!(visit(answer("a", at(2), "", b"one")), (Stored::Response, Some(2)));
    assert_eq!(visit(answer("a", at(3), "", b"one")), (Stored::Revisit, Some(2)));
    assert_eq!(visit(not_modified("a", at(4))), (Stored::Revisit, Some(2)));
    assert_eq!(visit(truncated("a", at(5), b"on")), (Stored::Response, Some(2)));
    assert_eq!(visit(answer("a", at(6), "", b"two")), (Stored::Response, Some(6)));
}

#[test]
fn a_visit_without_an_answer_says_why() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let rule = "Disallow: /\r\n\r\nWARC/1.1\r\nWARC-Type: response % 日本";
    archive.append(&refused("a", START, rule), None).unwrap();
    archive.append(&unreachable("b", START), None).unwrap();
    archive.commit().unwrap();
    let [refused, unreachable] = &entries(&disk)[..] else { panic!("two entries") };
    assert_eq!((&*refused.outcome, refused.why.as_deref()), ("refused", Some(rule)));
    assert_eq!(
        (&*unreachable.outcome, unreachable.why.as_deref()),
        ("unreachable", Some("no answer within 10s"))
    );
    assert_eq!((unreachable.status, unreachable.payload), (None, None));
    let block = String::from_utf8(records(&disk)[2].block.clone()).unwrap();
    assert_eq!(
        block,
        "outcome: unreachable\r\nphase: connect\r\ncause: no answer within 10s\r\ntook-seconds: 10.002000\r\n"
    );
}

#[test]
fn fields_in_a_body_are_not_those_of_the_head() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    archive.append(&answer("a", START, "", b"x\nContent-Type: image/png\n\n"), None).unwrap();
    archive.commit().unwrap();
    assert_eq!(entries(&disk)[0].media_type, "");
}
