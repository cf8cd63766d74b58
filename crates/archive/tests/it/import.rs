//! Importing what others archived (D4): with its own dates, once, in any order, and through crashes.

use crate::captures::{DIRECTORY, START, open, reader, workload};
use archive::{Entry, Error, Flag, Group, Grouper, Imported, Reader, Stored};
use base::disk::{Disk, Fault, Open, SimulatedDisk};
use base::{Interval, Timestamp};
use std::path::Path;
use warc::header::name;
use warc::{Fields, Kind, Record};

fn at(seconds: u64) -> Timestamp {
    START.plus(Interval::from_seconds(seconds))
}

/// A record as another writer might have written it.
fn record(
    kind: &str,
    id: &str,
    url: &str,
    at: Timestamp,
    more: &[(&'static str, &str)],
    block: &[u8],
) -> Record {
    let fields = Fields::new()
        .text(name::TYPE, kind)
        .uri(name::RECORD_ID, &format!("<urn:uuid:{id}>"))
        .text(name::DATE, &at.to_rfc3339())
        .uri(name::TARGET_URI, url);
    let fields = more.iter().fold(fields, |fields, (name, value)| fields.text(name, value));
    let fields =
        fields.text(name::CONTENT_TYPE, if kind == "metadata" { "text/plain" } else { "application/http" });
    Record::new(fields, block.to_vec())
}

fn page(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}").into_bytes()
}

fn import(disk: &SimulatedDisk, records: Vec<Record>) -> Result<Vec<Imported>, Error> {
    let mut archive = open(disk)?;
    let mut grouper = Grouper::new();
    let mut groups: Vec<Group> = records.into_iter().flat_map(|record| grouper.push(record)).collect();
    groups.extend(grouper.finish());
    let imported = groups.iter().map(|group| archive.import(group)).collect::<Result<Vec<_>, _>>()?;
    archive.commit()?;
    archive.close()?;
    Ok(imported)
}

fn all(reader: &Reader) -> Vec<Entry> {
    let mut all: Vec<Entry> = reader.all().unwrap().map(Result::unwrap).collect();
    all.reverse();
    all
}

fn exchanges() -> Vec<Record> {
    let url = "http://a.example/";
    vec![
        // After its answer, before it, and without any name for it.
        record("response", "1", url, at(1), &[], &page("one")),
        record(
            "request",
            "2",
            url,
            at(1),
            &[(name::CONCURRENT_TO, "<urn:uuid:1>")],
            b"GET / HTTP/1.1\r\n\r\n",
        ),
        record("request", "3", url, at(2), &[], b"GET / HTTP/1.1\r\n\r\n"),
        record("response", "4", url, at(2), &[(name::CONCURRENT_TO, "<urn:uuid:3>")], &page("two")),
        record("metadata", "5", url, at(2), &[(name::CONCURRENT_TO, "<urn:uuid:4>")], b"seen by chance"),
        record("response", "6", url, at(3), &[("X-Own-Field", "kept")], &page("two")),
        record("request", "7", url, at(3), &[], b"GET / HTTP/1.1\r\n\r\n"),
    ]
}

#[test]
fn imported_captures_keep_their_dates_and_companions() {
    let disk = SimulatedDisk::new(1);
    let imported = import(&disk, exchanges()).unwrap();
    assert_eq!(imported.iter().filter(|one| matches!(one, Imported::Added(_))).count(), 3);
    let reader = reader(&disk);
    let found: Vec<_> = all(&reader).iter().map(|entry| (entry.at, entry.kind, entry.flag)).collect();
    let expected = [
        (at(1), Stored::Response, Flag::Changed),
        (at(2), Stored::Response, Flag::Changed),
        (at(3), Stored::Revisit, Flag::Unchanged),
    ];
    assert_eq!(found, expected);
    let [_, second, third] = &all(&reader)[..] else { panic!("three captures") };
    assert_eq!(reader.document(third).unwrap().payload(), &b"two"[..]);
    let group = reader.group(second).unwrap();
    let kinds: Vec<Kind> =
        warc::WarcReader::new(&*group, 1_000).map(|record| record.unwrap().kind()).collect();
    assert_eq!(kinds, [Kind::Response, Kind::Request, Kind::Metadata]);
    let record = reader.record(third).unwrap();
    assert_eq!(record.fields.get("X-Own-Field"), Some("kept"));
    assert_eq!(record.fields.get(name::RECORD_ID), Some("<urn:uuid:6>"));
}

#[test]
fn importing_twice_or_in_another_order_changes_nothing() {
    let disk = SimulatedDisk::new(2);
    import(&disk, exchanges()).unwrap();
    let first = all(&reader(&disk));
    for records in [exchanges(), exchanges().into_iter().rev().collect()] {
        let imported = import(&disk, records).unwrap();
        let is_known = |one: &Imported| matches!(one, Imported::Known(_));
        assert!(imported.iter().all(is_known), "{imported:?}");
        assert_eq!(all(&reader(&disk)), first);
    }
}

#[test]
fn old_captures_may_come_after_new_ones() {
    let disk = SimulatedDisk::new(3);
    import(&disk, vec![record("response", "9", "http://a.example/", at(9), &[], &page("two"))]).unwrap();
    import(&disk, exchanges()).unwrap();
    let found: Vec<_> = all(&reader(&disk)).iter().map(|entry| (entry.at, entry.flag)).collect();
    assert_eq!(found.len(), 4);
    assert!(found.is_sorted_by_key(|(at, _)| *at), "{found:?}");
    for entry in all(&reader(&disk)) {
        reader(&disk).document(&entry).unwrap();
    }
}

#[test]
fn imported_revisits_find_their_bytes() {
    let disk = SimulatedDisk::new(4);
    let (url, other) = ("http://a.example/", "http://b.example/");
    let profile = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest";
    let digest = base::Sha1Digest::of(&[b"one"]).to_string();
    let head = b"HTTP/1.1 200 OK\r\nX-Later: yes\r\n\r\n";
    let moment = at(1).to_rfc3339();
    let by_reference = [
        (name::PROFILE, profile),
        (name::REFERS_TO_TARGET_URI, url),
        (name::REFERS_TO_DATE, moment.as_str()),
    ];
    let by_digest = [(name::PROFILE, profile), (name::PAYLOAD_DIGEST, digest.as_str())];
    let records = vec![
        record("response", "1", url, at(1), &[], &page("one")),
        record("revisit", "2", url, at(2), &by_reference, head),
        record("revisit", "3", other, at(3), &by_digest, head),
        record(
            "revisit",
            "4",
            other,
            at(4),
            &[(name::PROFILE, profile), (name::PAYLOAD_DIGEST, "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ")],
            head,
        ),
    ];
    import(&disk, records).unwrap();
    let reader = reader(&disk);
    let [first, second, third, fourth] = &all(&reader)[..] else { panic!("four captures") };
    for entry in [first, second, third] {
        assert_eq!(reader.document(entry).unwrap().payload(), &b"one"[..], "{entry:?}");
    }
    assert!(matches!(reader.document(fourth), Err(Error::Damaged { .. })), "nothing is made up");
    let profile = reader.record(third).unwrap().fields.get(name::PROFILE).unwrap().to_owned();
    assert!(profile.contains("/warc/1.1/"), "{profile}");
}

#[test]
fn other_records_are_kept_and_broken_ones_are_refused() {
    let disk = SimulatedDisk::new(5);
    let wrong = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
    let records = vec![
        record("resource", "1", "dns:a.example", at(1), &[], b"20260331090000\na.example. 1 IN A 192.0.2.1"),
        record("response", "2", "http://a.example/", at(1), &[(name::BLOCK_DIGEST, wrong)], &page("x")),
        record("metadata", "3", "http://a.example/", at(5), &[], b"alone"),
    ];
    let imported = import(&disk, records).unwrap();
    let count = |is: fn(&Imported) -> bool| imported.iter().filter(|one| is(one)).count();
    assert_eq!(count(|one| matches!(one, Imported::Added(_))), 2, "{imported:?}");
    assert_eq!(count(|one| matches!(one, Imported::Unfit(_))), 1, "{imported:?}");
    let keys: Vec<String> = all(&reader(&disk)).iter().map(|entry| entry.key.to_string()).collect();
    assert_eq!(keys, ["!dns:a.example", "example,a)/"]);
}

/// The records of an archive of our own, to be imported elsewhere.
fn own_records() -> Vec<Record> {
    let disk = SimulatedDisk::new(6);
    let mut archive = open(&disk).unwrap();
    workload(6, 40).iter().for_each(|capture| _ = archive.append(capture).unwrap());
    archive.close().unwrap();
    let mut records = Vec::new();
    for path in disk.list(Path::new(DIRECTORY)).unwrap() {
        if path.extension().is_some_and(|extension| extension == "gz") {
            let file = disk.open(&path, Open::Read).unwrap();
            let mut bytes = vec![0; usize::try_from(file.length().unwrap()).unwrap()];
            file.read_at(0, &mut bytes).unwrap();
            records.extend(warc::WarcReader::new(&*bytes, usize::MAX).map(Result::unwrap));
        }
    }
    records
}

/// An entry without its location, which an import changes.
fn described(entry: &Entry) -> String {
    let Entry { key, url, at, kind, flag, status, payload, content, truncated, .. } = entry;
    format!("{key} {url} {at} {kind:?} {flag:?} {status:?} {payload:?} {content:?} {truncated}")
}

#[test]
fn our_own_archive_imports_unchanged() {
    let source = SimulatedDisk::new(6);
    let mut archive = open(&source).unwrap();
    workload(6, 40).iter().for_each(|capture| _ = archive.append(capture).unwrap());
    archive.close().unwrap();
    let disk = SimulatedDisk::new(7);
    import(&disk, own_records()).unwrap();
    let visits = |disk: &SimulatedDisk| -> Vec<Entry> {
        all(&reader(disk)).into_iter().filter(Entry::is_visit).collect()
    };
    let (here, there) = (visits(&source), visits(&disk));
    assert_eq!(here.len(), there.len());
    here.iter().zip(&there).for_each(|(here, there)| assert_eq!(described(here), described(there)));
    for (here, there) in here.iter().zip(&there).filter(|(entry, _)| entry.kind != Stored::Metadata) {
        let (here, there) = (reader(&source).document(here).unwrap(), reader(&disk).document(there).unwrap());
        assert_eq!(
            (here.head.clone(), here.payload().into_owned()),
            (there.head.clone(), there.payload().into_owned())
        );
    }
}

#[test]
fn survives_a_power_cut_at_every_point_of_an_import() {
    let trial = SimulatedDisk::new(8);
    import(&trial, own_records()).unwrap();
    let expected: Vec<String> = all(&reader(&trial)).iter().map(described).collect();
    for point in (0..trial.points()).step_by(2) {
        let disk = SimulatedDisk::new(8);
        disk.fail_at(point, Fault::Cut);
        assert!(import(&disk, own_records()).is_err() || point + 1 >= trial.points(), "point {point}");
        disk.restart();
        import(&disk, own_records()).unwrap();
        let found: Vec<String> = all(&reader(&disk)).iter().map(described).collect();
        let difference = found.iter().zip(&expected).find(|(found, expected)| found != expected);
        assert!(
            found.len() == expected.len() && difference.is_none(),
            "point {point}: {} of {}, {difference:?}",
            found.len(),
            expected.len()
        );
    }
}

#[test]
fn a_note_of_another_archive_takes_nothing_down() {
    let disk = SimulatedDisk::new(9);
    import(&disk, exchanges()).unwrap();
    let file = all(&reader(&disk))[0].location.file.clone();
    let note = format!("utsushi-takedown 1\nwhat server\nscope a.example\npart 1 of 1\ngroup {file} 0 300\n");
    for (id, uri) in [("n1", "urn:utsushi:takedown:1-0:0"), ("n2", "URN:Utsushi:takedown:1-0:0")] {
        let imported =
            import(&disk, vec![record("resource", id, uri, at(50), &[], note.as_bytes())]).unwrap();
        assert!(matches!(imported[..], [Imported::Unfit(_)]), "{imported:?}");
    }
    let archive = open(&disk).unwrap();
    assert_eq!(archive.taken_down().count(), 0);
    assert_eq!(all(&reader(&disk)).len(), 3);
}

#[test]
fn imported_revisits_are_resolved_from_the_files_alone() {
    let disk = SimulatedDisk::new(10);
    let url = "http://a.example/";
    let profile = "http://netpreserve.org/warc/1.0/revisit/server-not-modified";
    let unmodified = b"HTTP/1.1 304 Not Modified\r\n\r\n";
    let records = vec![
        record("response", "1", url, at(1), &[], &page("one")),
        // It says neither what it refers to nor the digest of that.
        record("revisit", "2", url, at(2), &[(name::PROFILE, profile)], unmodified),
    ];
    import(&disk, records).unwrap();
    let before = all(&reader(&disk));
    let shared: std::sync::Arc<dyn Disk> = std::sync::Arc::new(disk.clone());
    archive::rebuild_index(&shared, Path::new(DIRECTORY), true, &mut |_, _| {}).unwrap();
    let after = all(&reader(&disk));
    assert_eq!(after, before);
    let document = reader(&disk).document(&after[1]).unwrap();
    assert_eq!(document.payload(), &b"one"[..]);
    let kept = reader(&disk).record(&after[1]).unwrap();
    assert!(kept.fields.get(name::PROFILE).unwrap().ends_with("/server-not-modified"));
}

/// A record with this date.
fn dated(id: &str, date: &str) -> Record {
    let record = record("response", id, "http://a.example/dated", at(1), &[], &page(id));
    let fields = record.fields.iter().fold(Fields::new(), |fields, (name, value)| {
        fields.foreign(name, if name == "WARC-Date" { date } else { value })
    });
    Record { fields, ..record }
}

#[test]
fn a_date_of_low_precision_is_kept_as_given_and_means_its_beginning() {
    let disk = SimulatedDisk::new(11);
    let dates = [
        ("2014", "2014-01-01T00:00:00Z"),
        ("2014-02", "2014-02-01T00:00:00Z"),
        ("2014-02-05", "2014-02-05T00:00:00Z"),
        ("2014-02-05T10:30Z", "2014-02-05T10:30:00Z"),
    ];
    let records = || dates.iter().map(|(date, _)| dated(date, date)).collect::<Vec<_>>();
    let imported = import(&disk, records()).unwrap();
    assert!(imported.iter().all(|one| matches!(one, Imported::Added(_))), "{imported:?}");
    let shared: std::sync::Arc<dyn Disk> = std::sync::Arc::new(disk.clone());
    archive::rebuild_index(&shared, Path::new(DIRECTORY), true, &mut |_, _| {}).unwrap();
    let reader = reader(&disk);
    for (entry, (given, expected)) in all(&reader).iter().zip(dates) {
        assert_eq!(entry.at.to_rfc3339(), expected);
        assert_eq!(reader.record(entry).unwrap().fields.get(name::DATE), Some(given));
    }
    let again = import(&disk, records()).unwrap();
    assert!(again.iter().all(|one| matches!(one, Imported::Known(_))), "{again:?}");
    assert!(matches!(import(&disk, vec![dated("x", "2014-13")]).unwrap()[..], [Imported::Unfit(_)]));
}

const WRONG: &str = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";

#[test]
fn a_wrong_block_digest_beside_a_right_payload_digest_is_kept_and_marked() {
    let disk = SimulatedDisk::new(12);
    let url = "http://a.example/";
    let right = base::Sha1Digest::of(&[b"one"]).to_string();
    let (wrong_block, right_payload) = ((name::BLOCK_DIGEST, WRONG), (name::PAYLOAD_DIGEST, right.as_str()));
    let records = vec![
        record("response", "1", url, at(1), &[wrong_block, right_payload], &page("one")),
        record("request", "2", url, at(1), &[], b"GET / HTTP/1.1\r\n\r\n"),
        record("response", "3", url, at(2), &[wrong_block, (name::PAYLOAD_DIGEST, WRONG)], &page("one")),
        record("response", "4", url, at(3), &[wrong_block], &page("one")),
    ];
    let imported = import(&disk, records).unwrap();
    let [Imported::Added(added), Imported::Unfit(_), Imported::Unfit(_)] = &imported[..] else {
        panic!("{imported:?}")
    };
    let reader = reader(&disk);
    let kept = reader.record(added).unwrap();
    assert_eq!(kept.fields.get("Utsushi-Stated-Block-Digest"), Some(WRONG));
    assert_eq!((kept.digest_holds(), kept.block), (Some(true), page("one")));
    assert_eq!(warc::WarcReader::new(&*reader.group(added).unwrap(), 1_000).count(), 2, "with its request");
}

#[test]
fn a_damaged_request_does_not_cost_its_answer() {
    let url = "http://a.example/";
    let wrong = [(name::BLOCK_DIGEST, WRONG)];
    let mut group = Group {
        main: record("response", "1", url, at(1), &[], &page("one")),
        companions: vec![
            record("request", "2", url, at(1), &wrong, b"GET / HTTP/1.1\r\n\r\n"),
            record("metadata", "3", url, at(1), &[], b"fine"),
        ],
    };
    let unfit = group.take_unfit();
    assert_eq!(unfit.iter().map(|(record, _)| record.kind()).collect::<Vec<_>>(), [Kind::Request]);
    assert_eq!(group.companions.len(), 1);
    let mut archive = open(&SimulatedDisk::new(13)).unwrap();
    assert!(matches!(archive.import(&group).unwrap(), Imported::Added(_)));
}

/// An answer with a field of its own to a form that was sent with `sent`.
fn posted(id: u64, own: &str, sent: &str) -> Vec<Record> {
    let (url, ids) = ("http://a.example/form", [format!("a{id}"), format!("q{id}")]);
    let answer = format!("HTTP/1.1 200 OK\r\nX-Own: {own}\r\n\r\nthanks");
    let names = format!("<urn:uuid:{}>", ids[0]);
    let request = format!("POST /form HTTP/1.1\r\n\r\n{sent}");
    vec![
        record("response", &ids[0], url, at(1), &[], answer.as_bytes()),
        record("request", &ids[1], url, at(1), &[(name::CONCURRENT_TO, &names)], request.as_bytes()),
    ]
}

#[test]
fn captures_of_one_moment_differ_by_their_heads_and_by_what_was_sent() {
    let disk = SimulatedDisk::new(14);
    let records = || [posted(1, "a", "x=1"), posted(2, "b", "x=1"), posted(3, "a", "x=2")].concat();
    let imported = import(&disk, records()).unwrap();
    assert!(imported.iter().all(|one| matches!(one, Imported::Added(_))), "{imported:?}");
    let first = all(&reader(&disk));
    assert_eq!(first.len(), 3);
    let again = import(&disk, records()).unwrap();
    assert!(again.iter().all(|one| matches!(one, Imported::Known(_))), "{again:?}");
    assert_eq!(all(&reader(&disk)), first, "importing twice changes nothing");
    // The same answer without its request is no other capture.
    let bare = posted(9, "b", "x=1").into_iter().take(1).collect();
    assert!(matches!(import(&disk, bare).unwrap()[..], [Imported::Known(_)]));
}

#[test]
fn the_lines_of_an_arc_file_are_kept() {
    let file = b"filedesc://a.arc 0.0.0.0 20260331090000 text/plain 12\n1 0 Example\n\n\
        http://a.example/ 192.0.2.1 20260331090001 text/html 21\nHTTP/1.0 200 OK\r\n\r\nhi\n";
    let arcs = warc::arc::ArcReader::new(std::io::Cursor::new(file), 1_000).with_file_headers();
    let records = || arcs_to_records(file);
    assert_eq!(arcs.count(), 2);
    let disk = SimulatedDisk::new(15);
    let imported = import(&disk, records()).unwrap();
    assert!(imported.iter().all(|one| matches!(one, Imported::Added(_))), "{imported:?}");
    let reader = reader(&disk);
    let line = |entry: &Entry| {
        let record = reader.record(entry).unwrap();
        (record.fields.get("Utsushi-ARC-Header").unwrap().to_owned(), record.block)
    };
    let [header, page] = &all(&reader)[..] else { panic!("two captures") };
    let expected = "filedesc://a.arc 0.0.0.0 20260331090000 text/plain 12";
    assert_eq!(line(header), (expected.to_owned(), b"1 0 Example\n".to_vec()));
    assert_eq!(line(page).0, "http://a.example/ 192.0.2.1 20260331090001 text/html 21");
    let again = import(&disk, records()).unwrap();
    assert!(again.iter().all(|one| matches!(one, Imported::Known(_))), "{again:?}");
}

fn arcs_to_records(file: &[u8]) -> Vec<Record> {
    let arcs = warc::arc::ArcReader::new(std::io::Cursor::new(file), 1_000).with_file_headers();
    arcs.map(|arc| Group::of_arc(arc.unwrap()).unwrap().main).collect()
}
