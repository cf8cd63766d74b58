//! Taking pages down (A7, D13): removed from index, snapshots and files for good, with references to them kept valid,
//! and atomic despite a crash at any point.

use crate::captures::{DIRECTORY, START, answer, entries, not_modified, open, reader, refused, unreachable};
use archive::{Choice, Entry, Grouper, Imported, Key, Reader, Receipt, Stored, Target, VerifyEvent, verify};
use base::disk::{Disk, Fault, Open, SimulatedDisk, Survival};
use base::{Capture, Interval, Timestamp};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

fn at(seconds: u64) -> Timestamp {
    START.plus(Interval::from_seconds(seconds))
}

/// A body that names its page and is unique.
fn body(of: &str) -> Vec<u8> {
    format!("<p>the words of {of}</p>").repeat(40).into_bytes()
}

/// Pages below `/private/` and others; some of the others refer to bytes first stored for `/private/`.
fn captures() -> Vec<Capture> {
    let html = "Content-Type: text/html\r\n";
    let shared = body("both");
    let mut captures = vec![
        answer("public/1", at(1), html, &body("public one")),
        answer("private/1", at(2), html, &body("secret one")),
        answer("private/2", at(3), html, &shared),
        answer("public/2", at(4), &format!("{html}X-Own: second\r\n"), &shared),
        answer("public/3", at(5), "Transfer-Encoding: chunked\r\n", &crate::captures::chunked(&shared)),
        not_modified("public/2", at(6)),
        answer("private/1", at(7), html, &body("secret two")),
        unreachable("private/3", at(8)),
        refused("public/4", at(9), "Disallow: /"),
    ];
    captures.extend((10..30).map(|number| {
        let path = format!("{}/{number}", if number % 3 == 0 { "private" } else { "public" });
        answer(&path, at(number), html, &body(&format!("secret or not {number}")))
    }));
    captures
}

fn store(disk: &SimulatedDisk) {
    let mut archive = open(disk).unwrap();
    for batch in captures().chunks(3) {
        batch.iter().for_each(|capture| _ = archive.append(capture).unwrap());
        archive.commit().unwrap();
    }
    archive.close().unwrap();
}

fn target() -> Target {
    Target::prefix("http://example.org/private/").unwrap()
}

fn take_down(disk: &SimulatedDisk) -> Result<Receipt, archive::Error> {
    let mut archive = open(disk)?;
    let receipt = archive.takedown(&target(), "asked for by its owner", at(100), &mut |_, _| {})?;
    archive.close()?;
    Ok(receipt)
}

/// Head and payload of what was archived, by page and moment.
type Documents = BTreeMap<(String, Timestamp), Option<(Vec<u8>, Vec<u8>)>>;

/// The documents of all pages but those that are taken down, by page and moment: head and payload.
fn documents(reader: &Reader) -> Documents {
    let is_other = |entry: &Entry| entry.is_visit() && !target().holds(&entry.key);
    let entries: Vec<Entry> = reader.all().unwrap().map(Result::unwrap).filter(is_other).collect();
    let document = |entry: &Entry| {
        let document = reader.document(entry).unwrap();
        (document.head.clone(), document.payload().into_owned())
    };
    let found = entries.iter().map(|entry| {
        let document = (entry.kind != Stored::Metadata).then(|| document(entry));
        ((entry.url.clone(), entry.at), document)
    });
    found.collect()
}

/// Every byte of every file, decompressed where it is compressed.
fn everything(disk: &SimulatedDisk) -> Vec<u8> {
    let mut all = Vec::new();
    for (path, length) in disk.files() {
        let file = disk.open(&path, Open::Read).unwrap();
        let mut bytes = vec![0; usize::try_from(length).unwrap()];
        file.read_at(0, &mut bytes).unwrap();
        all.extend_from_slice(&bytes);
        if path.to_string_lossy().contains(".warc.") {
            for record in warc::WarcReader::new(&*bytes, usize::MAX).flatten() {
                record.fields.write_to(&mut all);
                all.extend_from_slice(&record.block);
            }
        }
    }
    all
}

fn holds(bytes: &[u8], words: &str) -> bool {
    bytes.windows(words.len()).any(|window| window == words.as_bytes())
}

/// What a verification finds.
fn damage(disk: &SimulatedDisk) -> Vec<String> {
    let (spool, mut damage) = (tempfile::tempdir().unwrap(), Vec::new());
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    verify(&shared, Path::new(DIRECTORY), spool.path(), &mut |told| {
        if let VerifyEvent::Damage(found) = told {
            damage.push(format!("{found:?}"));
        }
    })
    .unwrap();
    damage
}

/// Whether nothing of the pages is left, and everything else is what it was.
fn check_gone(disk: &SimulatedDisk, before: &Documents) -> Result<(), String> {
    let reader = reader(disk);
    let left: Vec<Entry> =
        reader.all().unwrap().map(Result::unwrap).filter(|entry| target().holds(&entry.key)).collect();
    if !left.is_empty() {
        return Err(format!("still in the index: {left:?}"));
    }
    let after = documents(&reader);
    let without_304 = |of: &Documents| -> Vec<_> {
        of.iter()
            .map(|(key, document)| (key.clone(), document.as_ref().map(|(_, payload)| payload.clone())))
            .collect()
    };
    if without_304(before) != without_304(&after) {
        return Err("another page is not what it was".to_owned());
    }
    let damage = damage(disk);
    if damage.is_empty() { Ok(()) } else { Err(format!("{damage:?}")) }
}

#[test]
fn taken_down_pages_are_gone_and_references_to_them_stay_valid() {
    let disk = SimulatedDisk::new(1);
    store(&disk);
    let before = documents(&reader(&disk));
    assert!(holds(&everything(&disk), "the words of secret one"));
    let receipt = take_down(&disk).unwrap();
    let private = captures().iter().filter(|capture| capture.url.path().starts_with("/private")).count();
    assert_eq!(receipt.captures, private as u64);
    assert!(receipt.files.len() > 2 && receipt.bytes > 1_000, "{receipt:?}");
    let moved: Vec<(&str, Stored)> =
        receipt.moved.iter().map(|entry| (entry.url.as_str(), entry.kind)).collect();
    let (second, third) = ("http://example.org/public/2", "http://example.org/public/3");
    assert_eq!(moved, [(second, Stored::Response), (third, Stored::Revisit), (second, Stored::Revisit)]);

    check_gone(&disk, &before).unwrap();
    let all = everything(&disk);
    assert!(!holds(&all, "secret one") && !holds(&all, "secret two") && !holds(&all, "secret or not 12"));
    assert!(holds(&all, "the words of both") && holds(&all, "secret or not 13"));
    assert!(!holds(&all, "http://example.org/private/2"), "no reference names it");
    let snapshot = reader(&disk).snapshot(&Choice::as_of(at(50)).unwrap()).unwrap();
    assert!(snapshot.map(Result::unwrap).all(|version| !target().holds(&version.payload.key)));
    let own = documents(&reader(&disk)).remove(&(second.to_owned(), at(4))).unwrap().unwrap();
    assert!(holds(&own.0, "X-Own: second"), "it keeps its own head");
}

#[test]
fn taken_down_pages_stay_gone_after_a_rebuild_and_an_import() {
    let disk = SimulatedDisk::new(2);
    store(&disk);
    let before = documents(&reader(&disk));
    let old: Vec<(String, Vec<u8>)> = disk
        .list(Path::new(DIRECTORY))
        .unwrap()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "gz"))
        .map(|path| {
            let file = disk.open(&path, Open::Read).unwrap();
            let mut bytes = vec![0; usize::try_from(file.length().unwrap()).unwrap()];
            file.read_at(0, &mut bytes).unwrap();
            (path.to_string_lossy().into_owned(), bytes)
        })
        .collect();
    take_down(&disk).unwrap();
    for deeply in [false, true] {
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        archive::rebuild_index(&shared, Path::new(DIRECTORY), deeply, &mut |_, _| {}).unwrap();
        check_gone(&disk, &before).unwrap();
    }
    let mut archive = open(&disk).unwrap();
    let (mut refused, mut known, mut grouper) = (0, 0, Grouper::new());
    for (_, bytes) in &old {
        let records = warc::WarcReader::new(&**bytes, usize::MAX).map(Result::unwrap);
        let groups: Vec<_> = records.flat_map(|record| grouper.push(record)).collect();
        for group in groups.into_iter().chain(grouper.finish()) {
            match archive.import(&group).unwrap() {
                Imported::TakenDown => refused += 1,
                Imported::Known(_) => known += 1,
                Imported::Added(entry) => {
                    assert_eq!(entry.kind, Stored::Other, "a description of a file: {entry:?}");
                }
                Imported::Unfit(why) => panic!("{why}"),
            }
        }
    }
    archive.close().unwrap();
    let private = captures().iter().filter(|capture| capture.url.path().starts_with("/private")).count();
    assert_eq!((refused, known), (private, captures().len() - private));
    check_gone(&disk, &before).unwrap();
    let mut archive = open(&disk).unwrap();
    let again = answer("private/1", at(200), "", b"again");
    assert!(matches!(archive.append(&again), Err(archive::Error::TakenDown { .. })));
    archive.append(&answer("public/1", at(200), "", b"again")).unwrap();
}

#[test]
fn a_page_and_a_server_can_be_taken_down_and_an_unknown_one_removes_nothing() {
    let disk = SimulatedDisk::new(3);
    store(&disk);
    let mut archive = open(&disk).unwrap();
    let none = Target::url("https://example.org/absent").unwrap();
    assert_eq!(archive.takedown(&none, "", at(90), &mut |_, _| {}).unwrap().captures, 0);
    let page = Target::url("https://EXAMPLE.org/public/1").unwrap();
    let receipt = archive.takedown(&page, "", at(91), &mut |_, _| {}).unwrap();
    assert_eq!((receipt.captures, receipt.pages), (1, 1));
    assert!(archive.is_taken_down(&Key::of("http://example.org/public/1")));
    assert!(!archive.is_taken_down(&Key::of("http://example.org/public/2")));
    let server = Target::server("example.org").unwrap();
    archive.takedown(&server, "", at(92), &mut |_, _| {}).unwrap();
    archive.close().unwrap();
    assert!(reader(&disk).all().unwrap().all(|entry| !entry.unwrap().is_visit()));
    assert!(damage(&disk).is_empty());
    assert_eq!(open(&disk).unwrap().taken_down().count(), 3);
}

/// The power is cut, or the disk fails, at every point of a takedown; then the archive is opened again.
fn survives(fault: Fault, survival: Survival, step: usize) {
    let trial = SimulatedDisk::new(4);
    store(&trial);
    let before = documents(&reader(&trial));
    let first = trial.points();
    take_down(&trial).unwrap();
    let (mut kept, mut gone) = (0, 0);
    for point in (first..trial.points()).step_by(step) {
        let disk = SimulatedDisk::new(4);
        disk.set_survival(survival);
        store(&disk);
        disk.fail_at(point, fault);
        let is_done = take_down(&disk).is_ok();
        if fault == Fault::Cut {
            disk.restart();
        }
        // A reader sees all or nothing, also before recovery.
        let seen = reader(&disk)
            .all()
            .unwrap()
            .map(Result::unwrap)
            .filter(|entry| target().holds(&entry.key))
            .count();
        drop(open(&disk).unwrap());
        let left = reader(&disk)
            .all()
            .unwrap()
            .map(Result::unwrap)
            .filter(|entry| target().holds(&entry.key))
            .count();
        assert!(left == 0 || !is_done, "point {point}: {left} are left of what was said to be gone");
        assert!(
            seen == 0 || left > 0 || fault == Fault::Error,
            "point {point}: seen {seen}, then left {left}"
        );
        if left == 0 {
            check_gone(&disk, &before).unwrap_or_else(|error| panic!("point {point}: {error}"));
            let all = everything(&disk);
            assert!(
                !holds(&all, "secret one") && !holds(&all, "secret or not 12"),
                "point {point}: bytes are left"
            );
            gone += 1;
        } else {
            assert_eq!(documents(&reader(&disk)).len(), before.len(), "point {point}");
            assert!(damage(&disk).is_empty(), "point {point}: {:?}", damage(&disk));
            kept += 1;
        }
    }
    assert!(kept > 0 && gone > 0, "{kept} {gone}");
}

#[test]
fn survives_a_power_cut_at_every_point_of_a_takedown() {
    survives(Fault::Cut, Survival::Random, 1);
    survives(Fault::Cut, Survival::None, 3);
}

#[test]
fn survives_an_error_at_every_point_of_a_takedown() {
    survives(Fault::Error, Survival::Random, 2);
}

#[test]
fn a_takedown_leaves_all_other_offsets() {
    let disk = SimulatedDisk::new(5);
    store(&disk);
    let moved = |entry: &Entry| ["/public/2", "/public/3"].iter().any(|path| entry.url.ends_with(path));
    let others = |disk: &SimulatedDisk| -> Vec<Entry> {
        entries(disk)
            .into_iter()
            .filter(|entry| !target().holds(&entry.key) && entry.is_visit() && !moved(entry))
            .collect()
    };
    let before = others(&disk);
    take_down(&disk).unwrap();
    assert_eq!(others(&disk), before);
}
