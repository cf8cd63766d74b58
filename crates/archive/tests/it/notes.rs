//! Notes of the crawl, and facts learned from visits: live, and from the archive.

use crate::captures::{
    DIRECTORY, START, answer, damaged, entries, failed, gone, moved, not_modified, open, reader, refused,
    truncated, unreachable, url, visit_at,
};
use archive::{Choice, Ended, Entry, Grouper, Imported, Key, Learned, Stored};
use base::disk::{Disk, SimulatedDisk};
use base::door::{Cause, Failure, Phase, Truncation};
use base::{Capture, Chance, Interval, Outcome, Refusal, Timestamp};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn at(seconds: u64) -> Timestamp {
    START.plus(Interval::from_seconds(seconds))
}

const TEXT: &str = "{\"url\":\"http://example.org/\",\n \"写\":\"\\u0000\"}\r\n\r\nWARC/1.1\r\n";

/// A page and two notes.
fn noted() -> (SimulatedDisk, Vec<Entry>) {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let stored = [
        archive.note("seed", at(1), TEXT).unwrap(),
        archive.append(&answer("a", at(2), "", b"a page")).unwrap(),
        archive.note("seed", at(3), "").unwrap(),
    ];
    archive.commit().unwrap();
    for pair in stored.windows(2) {
        assert!(pair[0].checkpoint() < pair[1].checkpoint());
    }
    (disk, stored.into_iter().map(|appended| appended.entry).collect())
}

#[test]
fn a_note_arrives_and_is_found_and_read_as_it_was_written() {
    let (disk, stored) = noted();
    let reader = reader(&disk);
    let arrived: Vec<Entry> = reader.since(None).unwrap().map(|arrival| arrival.unwrap().0).collect();
    assert_eq!(arrived, stored);
    let note = |entry: &Entry| reader.note(entry).unwrap();
    assert_eq!(note(&stored[0]), Some(("seed".to_owned(), TEXT.to_owned())));
    assert_eq!(note(&stored[1]), None);
    assert_eq!(stored[2].note_kind(), Some("seed"));
    let found: Vec<Entry> = reader.notes("seed").unwrap().map(Result::unwrap).collect();
    assert_eq!(found, [stored[2].clone(), stored[0].clone()], "the latest first");
    assert_eq!(reader.notes("see").unwrap().count(), 0);
    assert!(stored[0].key.as_str().starts_with('!'), "no page has such a key");
    assert_eq!(reader.learned(&stored[0]).unwrap(), None, "it is no visit");
}

#[test]
fn a_note_has_checksums_and_is_restored_from_its_record() {
    let (disk, stored) = noted();
    assert_eq!(damaged(&disk), 0);
    drop(open(&disk).unwrap());
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    archive::rebuild_index(&shared, Path::new(DIRECTORY), true, &mut |_, _| {}).unwrap();
    let arrived: Vec<Entry> = reader(&disk).since(None).unwrap().map(|arrival| arrival.unwrap().0).collect();
    assert_eq!(arrived, stored);
    assert_eq!(damaged(&disk), 0);
}

#[test]
fn a_note_is_in_no_snapshot_and_is_not_imported() {
    let (disk, stored) = noted();
    let reader = reader(&disk);
    let versions = reader.snapshot(&Choice::as_of(at(9)).unwrap()).unwrap();
    let chosen: Vec<Key> = versions.map(|version| version.unwrap().payload.key).collect();
    assert_eq!(chosen, [stored[1].key.clone()]);
    let mut grouper = Grouper::new();
    let mut groups = grouper.push(reader.record(&stored[0]).unwrap());
    groups.extend(grouper.finish());
    let other = SimulatedDisk::new(2);
    let imported = open(&other).unwrap().import(&groups[0]).unwrap();
    assert!(matches!(imported, Imported::Unfit(_)), "{imported:?}");
}

#[test]
fn an_imported_note_is_ignored() {
    let (disk, stored) = noted();
    let forged = Entry { key: Key::of("urn:utsushi:note:seed"), ..stored[1].clone() };
    assert_eq!(reader(&disk).note(&forged).unwrap(), None, "an answer");
    let forged = Entry { kind: Stored::Other, key: Key::of("urn:utsushi:note:Seed"), ..stored[1].clone() };
    assert_eq!(forged.note_kind(), None);
}

#[test]
#[should_panic(expected = "`Se ed` is not a kind of note")]
fn a_kind_is_a_plain_word() {
    let _ = open(&SimulatedDisk::new(1)).unwrap().note("Se ed", START, "");
}

fn silent(path: &str, number: u64, outcome: Outcome) -> Capture {
    Capture { url: url(path), at: at(number), outcome, exchange: None }
}

fn failure(phase: Phase, cause: Cause) -> Outcome {
    let failure = Failure::new(phase, cause, Duration::from_millis(7));
    Outcome::Unreachable(Failure { address: Some("[2001:db8::1]:443".parse().unwrap()), ..failure })
}

/// Captures of every kind that leave something to learn.
fn every_kind() -> Vec<Capture> {
    let validators = "ETag: \"a\"\r\nLast-Modified: Tue, 31 Mar 2026 09:00:00 GMT\r\n";
    let long = "x".repeat(3_000);
    let mut captures = vec![
        answer("a", at(1), validators, b"one"),
        answer("a", at(2), validators, b"one"),
        not_modified("a", at(3)),
        not_modified("never-seen", at(4)),
        answer("a", at(5), &format!("ETag: {long}\r\nContent-Encoding: gzip\r\n"), b"no gzip"),
        truncated("a", at(6), b"beginning"),
        moved("a", at(7), "/b?c=d", b""),
        moved("a", at(8), "no scheme://", b""),
        moved("a", at(9), "https://example.org/a", b""),
        gone("a", at(10), b"not here"),
        failed("a", at(11), b"no"),
        refused("a", at(12), "Disallow: /\r\n\0%41 写 "),
        refused("a", at(13), &"写\n".repeat(2_000)),
        unreachable("a", at(14)),
        unreachable("bb", at(15)),
    ];
    let mut by_chance = truncated("a", at(20), b"cut");
    by_chance.exchange.as_mut().unwrap().truncated = Some(Truncation::Disconnect);
    captures.push(by_chance);
    let mut busy = failed("a", at(21), b"");
    let exchange = busy.exchange.as_mut().unwrap();
    exchange.response_head = b"HTTP/1.1 503 x\r\nRetry-After: 120\r\n\r\n".to_vec();
    captures.push(busy);
    let asks = |micros| Some(Interval::from_micros(micros));
    let proxy = |retry_after| Refusal::Proxy { reason: "too soon".into(), retry_after };
    let refusals = [
        Refusal::RobotsUnreachable,
        Refusal::Address("`127.0.0.1` may not be visited: loopback".into()),
        Refusal::OptOut("example.org".into()),
        Refusal::NoContact,
        proxy(None),
        proxy(asks(59_999_999)),
        proxy(asks(86_400_000_001)),
    ];
    captures.extend((30..).zip(refusals).map(|(number, why)| silent("r", number, Outcome::Refused(why))));
    let text = || "broken".to_owned();
    let failures = [
        (Phase::LookUp, Cause::NoSuchName),
        (Phase::LookUp, Cause::NameServer(text())),
        (Phase::Proxy, Cause::Broken(text())),
        (Phase::Connect, Cause::TimeOut(Duration::from_secs(10))),
        (Phase::Connect, Cause::Machine(text())),
        (Phase::Tls, Cause::Tls(text())),
        (Phase::Send, Cause::Broken(text())),
        (Phase::Head, Cause::Malformed("no status line")),
    ];
    let failures = failures.into_iter().map(|(phase, cause)| failure(phase, cause));
    captures.extend((50..).zip(failures).map(|(number, outcome)| silent("u", number, outcome)));
    captures
}

/// Stores captures; what is learned live, and what from the archive.
fn learn(captures: &[Capture]) -> Vec<(Learned, Learned)> {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let live = |capture: &Capture| Learned::of(capture, &archive.append(capture).unwrap().entry);
    let live: Vec<Learned> = captures.iter().map(live).collect();
    archive.close().unwrap();
    assert_eq!(entries(&disk).len(), captures.len());
    let reader = reader(&disk);
    let told =
        reader.since(None).unwrap().map(|arrival| reader.learned(&arrival.unwrap().0).unwrap().unwrap());
    live.into_iter().zip(told).collect()
}

#[test]
fn what_is_learned_live_and_from_the_archive_is_the_same() {
    let learned = learn(&every_kind());
    assert_eq!(learned.len(), every_kind().len());
    learned.iter().for_each(|(live, told)| assert_eq!(live, told));
}

#[test]
fn model_what_is_learned_from_random_visits_is_the_same() {
    let mut chance = Chance::new(5);
    let captures: Vec<Capture> = (0..400).map(|number| visit_at(&mut chance, at(number))).collect();
    for ((live, told), capture) in learn(&captures).iter().zip(&captures) {
        assert_eq!(live, told);
        assert_eq!(live.status, capture.outcome.status());
    }
}

#[test]
fn what_is_learned_follows_from_the_outcome() {
    for ((live, _), capture) in learn(&every_kind()).iter().zip(every_kind()) {
        let is_so = match (&capture.outcome, &live.ended) {
            (Outcome::Fetched { truncated, .. }, Ended::Fetched { truncated: is_cut }) => {
                truncated.is_some() == *is_cut && (live.content.is_none() == (live.at == at(20)))
            }
            (Outcome::Moved { target, .. }, Ended::Moved { target: learned }) => target == learned,
            (Outcome::Failed { .. }, Ended::Failed { retry_after }) => {
                *retry_after == (live.at == at(21)).then(|| Interval::from_seconds(120))
            }
            (Outcome::Refused(refusal), Ended::Refused(learned)) => refusal == learned || live.at == at(13),
            (Outcome::Unreachable(failure), Ended::Unreachable(kind)) => {
                *kind == failure.kind() && live.address == failure.address.map(|address| address.ip())
            }
            (Outcome::NotModified, Ended::NotModified) | (Outcome::Gone { .. }, Ended::Gone) => true,
            _ => false,
        };
        assert!(is_so, "{live:?} {:?}", capture.outcome);
        let is_ours = matches!(
            capture.outcome,
            Outcome::Refused(Refusal::Proxy { retry_after: Some(_), .. })
                | Outcome::Unreachable(
                    Failure { phase: Phase::Proxy, .. } | Failure { cause: Cause::Machine(_), .. }
                )
        );
        assert_eq!(live.ended.is_held_back(), is_ours, "{live:?}");
    }
    let (first, _) = &learn(&every_kind())[0];
    assert_eq!(first.etag.as_deref(), Some("\"a\""));
    assert_eq!(first.last_modified.as_deref(), Some("Tue, 31 Mar 2026 09:00:00 GMT"));
}

#[test]
fn an_archived_answer_equals_the_exchange() {
    let captures = [every_kind(), {
        let mut chance = Chance::new(8);
        (100..300).map(|number| visit_at(&mut chance, at(number))).collect()
    }];
    let captures = captures.concat();
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let stored: Vec<Entry> = captures.iter().map(|capture| archive.append(capture).unwrap().entry).collect();
    archive.close().unwrap();
    let reader = reader(&disk);
    for (capture, entry) in captures.iter().zip(&stored) {
        let found = reader.exchange(entry).unwrap();
        let Some(exchange) = &capture.exchange else {
            assert!(found.is_none());
            continue;
        };
        let found = found.unwrap();
        assert_eq!((found.status, found.truncated), (exchange.status, exchange.truncated));
        assert_eq!(found.address.ip(), exchange.address.ip());
        if exchange.status != 304 {
            assert_eq!(found.response_head, exchange.response_head);
            assert_eq!(found.payload().unwrap(), exchange.payload().unwrap());
        }
    }
}
