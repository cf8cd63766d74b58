//! Taking over what others archived (D4): in its own times, once, whatever the order, and through crashes.

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
        // Behind its answer, before it, and without any name for it.
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
fn captures_come_in_their_own_times_with_what_belongs_to_them() {
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
    let kinds: Vec<Kind> = warc::Reader::new(&*group, 1_000).map(|record| record.unwrap().kind()).collect();
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
fn what_others_revisit_finds_its_bytes() {
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
fn what_is_no_page_is_kept_and_what_is_broken_is_refused() {
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
            records.extend(warc::Reader::new(&*bytes, usize::MAX).map(Result::unwrap));
        }
    }
    records
}

/// An entry without what an import may change: its place.
fn told(entry: &Entry) -> String {
    let Entry { key, url, at, kind, flag, status, payload, content, truncated, .. } = entry;
    format!("{key} {url} {at} {kind:?} {flag:?} {status:?} {payload:?} {content:?} {truncated}")
}

#[test]
fn an_archive_of_our_own_is_the_same_elsewhere() {
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
    here.iter().zip(&there).for_each(|(here, there)| assert_eq!(told(here), told(there)));
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
    let expected: Vec<String> = all(&reader(&trial)).iter().map(told).collect();
    for point in (0..trial.points()).step_by(2) {
        let disk = SimulatedDisk::new(8);
        disk.fail_at(point, Fault::Cut);
        assert!(import(&disk, own_records()).is_err() || point + 1 >= trial.points(), "point {point}");
        disk.restart();
        import(&disk, own_records()).unwrap();
        let found: Vec<String> = all(&reader(&disk)).iter().map(told).collect();
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
fn what_others_revisit_is_found_again_from_the_files_alone() {
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
