//! The records of a capture.

use crate::captures::{
    Records, START, answer, chunked, entries, gone, not_modified, open, reader, refused, truncated,
    unreachable, workload,
};
use archive::{ContentKey, Stored, why};
use base::disk::SimulatedDisk;
use base::door::Marks;
use base::{ContentDigest, Interval, Outcome, Sha1Digest};
use std::collections::BTreeMap;
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
    let appended: Vec<_> = visits.iter().map(|capture| archive.append(capture).unwrap()).collect();
    archive.commit().unwrap();
    archive.close().unwrap();
    let found = entries(&disk);
    assert_eq!(found.len(), 80);
    let records = Records::read(&disk).unwrap();
    for ((entry, appended), capture) in found.iter().zip(&appended).zip(&visits) {
        records.compare(entry, capture).unwrap();
        // Its record gives the same entry as storing it.
        assert_eq!(*entry, archive::Entry { sum: 0, body: None, ..appended.entry.clone() });
    }
    let summary = reader(&disk).summary().unwrap();
    assert!(summary.files > 3, "{summary:?}");
    assert_eq!(summary.captures(), 80);
    assert_eq!((summary.first, summary.last), (Some(visits[0].at), Some(visits[79].at)));
}

#[test]
fn an_answer_is_a_response_and_its_request() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let appended = archive.append(&answer("a", START, "Content-Type: Text/HTML; x\r\n", b"hi")).unwrap();
    archive.commit().unwrap();
    let [info, response, request] = &records(&disk)[..] else { panic!("three records") };
    assert_eq!(
        [info.kind(), response.kind(), request.kind()],
        [Kind::Warcinfo, Kind::Response, Kind::Request]
    );
    let field = |record: &Record, name| record.fields.get(name).unwrap_or_default().to_owned();
    assert_eq!(field(info, name::FILENAME), *appended.entry.location.file);
    assert_eq!(field(response, name::WARCINFO_ID), field(info, name::RECORD_ID));
    assert_eq!(field(request, name::CONCURRENT_TO), field(response, name::RECORD_ID));
    assert_eq!(field(response, name::DATE), START.to_rfc3339());
    assert_eq!(field(response, name::IP_ADDRESS), "192.0.2.7");
    assert_eq!(field(response, name::PAYLOAD_DIGEST), Sha1Digest::of(&[b"hi"]).to_string());
    assert_eq!(field(response, name::CONTENT_TYPE), "application/http;msgtype=response");
    assert_eq!(appended.bytes_written, response.length + request.length);
    let entry = &entries(&disk)[0];
    assert_eq!((&*entry.media_type, entry.status, entry.outcome()), ("text/html", Some(200), "fetched"));
}

#[test]
fn a_digest_from_the_visit_equals_the_computed_one() {
    let coded = "Transfer-Encoding: chunked\r\n";
    for (fields, body) in [("", &b"hi"[..]), (coded, b"2\r\nhi\r\n0\r\n\r\n")] {
        let mut capture = answer("a", START, fields, body);
        let append =
            |capture: &base::Capture| open(&SimulatedDisk::new(1)).unwrap().append(capture).unwrap().entry;
        let unknown = append(&capture);
        let content = Some(ContentDigest::of(b"hi"));
        capture.outcome = Outcome::Fetched { status: 200, content, truncated: None };
        assert_eq!(append(&capture), unknown);
        assert_eq!(unknown.content, content.map(ContentKey::from));
    }
}

/// What a capture of the page `a` is stored as when that page had the body `same`.
#[track_caller]
fn check(capture: &base::Capture, expected: Stored, fields: [bool; 3]) -> Record {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    archive.append(&answer("a", START, "", b"same")).unwrap();
    let appended = archive.append(capture).unwrap();
    archive.commit().unwrap();
    assert_eq!(appended.entry.kind, expected);
    let record = records(&disk).remove(3);
    let has = |name| record.fields.get(name).is_some();
    let found = [has(name::PAYLOAD_DIGEST), has(name::REFERS_TO_DATE), has(name::TRUNCATED)];
    assert_eq!(found, fields, "payload digest, refers to, truncated");
    assert_eq!(entries(&disk)[1].payload, appended.entry.payload);
    record
}

#[test]
fn only_a_whole_body_that_is_stored_already_is_a_revisit() {
    let later = START.plus(Interval::from_days(1));
    for page in ["a", "b"] {
        let same = check(&answer(page, later, "", b"same"), Stored::Revisit, [true, true, true]);
        assert!(same.fields.get(name::PROFILE).unwrap().ends_with("/identical-payload-digest"));
        assert_eq!(same.fields.get(name::REFERS_TO_TARGET_URI), Some("http://example.org/a"));
        assert_eq!(same.fields.get(name::REFERS_TO_DATE), Some(&*START.to_rfc3339()));
        let block = &same.block;
        assert!(block.ends_with(b"\r\n\r\n") && block.starts_with(b"HTTP/1.1 200"), "the head is kept");
        let coded = "Transfer-Encoding: chunked\r\n";
        check(&answer(page, later, coded, &chunked(b"same")), Stored::Revisit, [true, true, true]);
        check(&gone(page, later, b"same"), Stored::Revisit, [true, true, true]);
        let other =
            check(&answer(page, later, coded, &chunked(b"other")), Stored::Response, [true, false, false]);
        let payload = Sha1Digest::of(&[b"other"]).to_string();
        assert_eq!(other.fields.get(name::PAYLOAD_DIGEST), Some(&*payload), "of the body without its chunks");
        check(&answer(page, later, "", b"other"), Stored::Response, [true, false, false]);
        check(&truncated(page, later, b"same"), Stored::Response, [true, false, true]);
        check(&answer(page, later, "", b""), Stored::Response, [true, false, false]);
    }
    let unchanged = check(&not_modified("a", later), Stored::Revisit, [true, true, false]);
    assert!(unchanged.fields.get(name::PROFILE).unwrap().ends_with("/server-not-modified"));
    check(&not_modified("b", later), Stored::Response, [true, false, false]);
}

#[test]
fn a_304_without_an_earlier_body_is_a_response() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let at = |seconds| START.plus(Interval::from_seconds(seconds));
    for capture in [not_modified("a", at(1)), not_modified("a", at(2)), answer("a", at(4), "", b"later")] {
        assert_eq!(archive.append(&capture).unwrap().entry.kind, Stored::Response);
    }
    // It came before the body, whenever it arrives.
    assert_eq!(archive.append(&not_modified("a", at(3))).unwrap().entry.kind, Stored::Response);
    assert_eq!(archive.append(&not_modified("a", at(5))).unwrap().entry.kind, Stored::Revisit);
}

#[test]
fn a_304_refers_to_the_last_stored_body() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let mut visit = |capture: base::Capture| {
        let entry = archive.append(&capture).unwrap().entry;
        archive.commit().unwrap();
        let body = entry.body.is_some().then(|| reader(&disk).document(&entry).unwrap().body);
        (entry.kind, body.map(|body| String::from_utf8(body).unwrap()))
    };
    let at = |seconds| START.plus(Interval::from_seconds(seconds));
    let stands_for = |body: &str| (Stored::Revisit, Some(body.to_owned()));
    assert_eq!(visit(unreachable("a", at(1))), (Stored::Metadata, None));
    assert_eq!(visit(answer("a", at(2), "", b"one")), (Stored::Response, None));
    assert_eq!(visit(answer("a", at(3), "", b"one")), stands_for("one"));
    assert_eq!(visit(not_modified("a", at(4))), stands_for("one"));
    assert_eq!(visit(truncated("a", at(5), b"on")), (Stored::Response, None));
    assert_eq!(visit(not_modified("a", at(6))), stands_for("one"));
    assert_eq!(visit(answer("a", at(7), "", b"two")), (Stored::Response, None));
    assert_eq!(visit(gone("a", at(8), b"no")), (Stored::Response, None));
    assert_eq!(visit(not_modified("a", at(9))), stands_for("two"));
    assert_eq!(visit(answer("a", at(10), "", b"")), (Stored::Response, None));
    assert_eq!(visit(not_modified("a", at(11))), stands_for(""));
}

#[test]
fn a_visit_without_an_answer_says_why() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let rule = "Disallow: /\r\n\r\nWARC/1.1\r\nWARC-Type: response % 日本";
    archive.append(&refused("a", START, rule)).unwrap();
    archive.append(&unreachable("b", START)).unwrap();
    archive.commit().unwrap();
    let found = entries(&disk);
    let [_, refused, unreachable] = &records(&disk)[..] else { panic!("three records") };
    assert_eq!(why(refused), Some(("refused".to_owned(), Some(rule.to_owned()))));
    assert_eq!(why(unreachable), Some(("unreachable".to_owned(), Some("no answer within 10s".to_owned()))));
    assert!(found.iter().all(|entry| entry.outcome() == "unanswered"), "{found:?}");
    assert!(found.iter().all(|entry| (entry.status, entry.payload) == (None, None)), "{found:?}");
    let block = String::from_utf8(records(&disk)[2].block.clone()).unwrap();
    assert_eq!(
        block,
        "outcome: unreachable\r\nphase: connect\r\ncause: no answer within 10s\r\ncause-kind: time-out\r\n\
         took-seconds: 10.002000\r\n"
    );
}

#[test]
fn fields_in_a_body_are_not_those_of_the_head() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    archive.append(&answer("a", START, "", b"x\nContent-Type: image/png\n\n")).unwrap();
    archive.commit().unwrap();
    assert_eq!(&*entries(&disk)[0].media_type, "");
}

#[test]
fn irregularities_of_an_answer_are_in_its_record_head() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let mut odd = answer("odd", START, "Content-Length: 4\r\nContent-Length: 5\r\n", b"page");
    odd.exchange.as_mut().unwrap().marks =
        Marks { framing_in_doubt: true, certificate_in_doubt: true, ..Marks::default() };
    archive.append(&odd).unwrap();
    archive.append(&answer("plain", START, "", b"page 2")).unwrap();
    archive.close().unwrap();
    let marks = |path: &str| {
        let is_answer = |record: &&Record| record.fields.get(name::TYPE) == Some("response");
        let records = records(&disk);
        let mut answers = records.iter().filter(is_answer);
        let found =
            answers.find(|record| record.fields.get(name::TARGET_URI).is_some_and(|url| url.ends_with(path)));
        found.unwrap().fields.get("Utsushi-Marks").map(ToOwned::to_owned)
    };
    assert_eq!(marks("odd").as_deref(), Some("framing-in-doubt, certificate-in-doubt"));
    assert_eq!(marks("plain"), None);
}
