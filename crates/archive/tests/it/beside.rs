//! Readers beside a writer: no lock, an unfinished file, a file that is finished meanwhile.

use crate::captures::{DIRECTORY, START, answer, entries, open, reader, refused, workload};
use crate::watched::WatchedDisk;
use archive::{Archive, Entry, Key, Reader, Settings};
use base::disk::{Disk, Open, SimulatedDisk};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

#[test]
fn a_reader_sees_what_is_whole_of_an_unfinished_file() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    archive.append(&answer("a", START, "", b"a")).unwrap();
    assert!(entries(&disk).is_empty(), "what waits in memory is not there");
    archive.commit().unwrap();
    assert_eq!(entries(&disk).len(), 1);
    let path = disk.list(Path::new(DIRECTORY)).unwrap().remove(0);
    let file = disk.open(&path, Open::Write).unwrap();
    let length = file.length().unwrap();
    for tail in [&b"\x1f\x8b\x08\0half"[..], b"\0\0\0\0\0\0\0\0\0\0\0\0", b"\x1f"] {
        file.write_at(length, tail).unwrap();
        assert_eq!(entries(&disk).len(), 1, "{}", tail.escape_ascii());
        file.truncate(length).unwrap();
    }
}

#[test]
fn a_reader_continues_when_files_are_finished_meanwhile() {
    let disk = SimulatedDisk::new(2);
    let mut archive = open(&disk).unwrap();
    for page in ["a", "b", "c"] {
        archive.append(&answer(page, START, "", &[b'x'; 13_000])).unwrap();
        archive.append(&answer(page, START, "", page.repeat(9_000).as_bytes())).unwrap();
    }
    archive.commit().unwrap();
    let mut reading = archive::list(&disk, Path::new(DIRECTORY)).unwrap();
    assert_eq!(reading.next().unwrap().unwrap().url, "http://example.org/a");
    archive.close().unwrap();
    assert_eq!(reading.map(Result::unwrap).count(), 5);
}

#[test]
fn a_directory_that_does_not_exist_holds_nothing() {
    let disk = SimulatedDisk::new(3);
    assert!(entries(&disk).is_empty());
    let summary = reader(&disk).summary().unwrap();
    assert_eq!(summary, archive::Summary::default());
}

#[test]
fn every_opening_uses_new_file_names() {
    let disk = SimulatedDisk::new(4);
    for count in 1..4 {
        let mut archive = open(&disk).unwrap();
        archive.append(&answer("a", START, "", b"a")).unwrap();
        archive.close().unwrap();
        assert_eq!(archive::files(&disk, Path::new(DIRECTORY)).unwrap().len(), count);
    }
    assert_eq!(entries(&disk).len(), 3);
}

/// Whether a reader that opens now sees every one of `acknowledged`, as it is.
#[track_caller]
fn sees(disk: &SimulatedDisk, acknowledged: &[Entry], when: &str) -> Reader {
    let reader =
        Reader::open(Arc::new(disk.clone()), Path::new(DIRECTORY)).unwrap_or_else(|e| panic!("{when}: {e}"));
    let found: HashMap<_, _> =
        reader.all().unwrap().map(|entry| entry.map(|e| (e.location.clone(), e)).unwrap()).collect();
    for entry in acknowledged {
        assert_eq!(found.get(&entry.location), Some(entry), "{when}");
    }
    if let Some(entry) = acknowledged.last() {
        reader.document(entry).unwrap_or_else(|error| panic!("{when}: {error}"));
        let newest = reader.newest_first(&entry.key).unwrap().next();
        assert!(newest.unwrap().unwrap().at >= entry.at, "{when}");
    }
    reader
}

#[test]
fn a_reader_sees_what_is_acknowledged_at_every_step_of_the_writer() {
    let disk = SimulatedDisk::new(5);
    let watched = WatchedDisk::new(&disk);
    let acknowledged = Arc::new(Mutex::new(Vec::<Entry>::new()));
    let looks = Arc::new(Mutex::new(0));
    let (known, count) = (Arc::clone(&acknowledged), Arc::clone(&looks));
    let (mut kept, looked_at) = (None::<(Reader, usize)>, disk.clone());
    watched.watch(move |when| {
        if when.contains("reading") || when.contains("measuring") {
            return;
        }
        let known = known.lock().unwrap();
        let reader = sees(&looked_at, &known, when);
        *count.lock().unwrap() += 1;
        // A reader from long ago still reads what it saw, though runs were merged and removed since.
        let (old, seen) = kept.get_or_insert((reader.clone(), known.len()));
        assert!(old.all().unwrap().map(Result::unwrap).count() >= *seen, "{when}");
        if known.len() > *seen + 15 {
            kept = Some((reader, known.len()));
        }
    });
    for visits in workload(5, 84).chunks(42) {
        let mut archive = open(&watched).unwrap();
        let mut batch = Vec::new();
        for (number, capture) in visits.iter().enumerate() {
            batch.push(archive.append(capture).unwrap().entry);
            if number % 3 == 0 {
                archive.commit().unwrap();
                acknowledged.lock().unwrap().append(&mut batch);
            }
        }
        archive.close().unwrap();
        acknowledged.lock().unwrap().append(&mut batch);
    }
    assert_eq!(acknowledged.lock().unwrap().len(), 84);
    assert!(*looks.lock().unwrap() > 1_000, "{looks:?}");
}

#[test]
fn a_reader_opens_while_files_are_finished_and_runs_merged() {
    let visits = workload(6, 70);
    // During the opening, the writer does much work.
    for step in 0.. {
        let disk = SimulatedDisk::new(6);
        let watched = WatchedDisk::new(&disk);
        let mut archive = open(&disk).unwrap();
        let mut acknowledged = Vec::new();
        for capture in &visits[..32] {
            acknowledged.push(archive.append(capture).unwrap().entry);
        }
        archive.commit().unwrap();
        let (mut left, mut writer, later) = (step, Some(archive), visits[32..].to_vec());
        let passed = Arc::new(Mutex::new(false));
        let has_passed = Arc::clone(&passed);
        watched.watch(move |_| {
            if left == 0 {
                let mut archive = writer.take().unwrap();
                for capture in &later {
                    archive.append(capture).unwrap();
                    archive.commit().unwrap();
                }
                archive.close().unwrap();
                *has_passed.lock().unwrap() = true;
            }
            left -= 1;
        });
        let reader = Reader::open(Arc::new(watched.clone()), Path::new(DIRECTORY)).unwrap();
        let found: Vec<_> = reader.all().unwrap().map(|entry| entry.unwrap().location).collect();
        let is_seen = |entry: &&Entry| found.contains(&entry.location);
        assert_eq!(acknowledged.iter().filter(is_seen).count(), 32, "step {step}");
        if !*passed.lock().unwrap() {
            assert!(step > 30, "the opening had only {step} steps");
            break;
        }
    }
}

#[test]
fn opening_does_not_read_the_blocks_of_the_index() {
    let disk = SimulatedDisk::new(7);
    let settings = Settings { file_captures_max: 400, ..Settings::default() };
    let shared = Arc::new(disk.clone());
    let (mut archive, _) = Archive::open(shared, Path::new(DIRECTORY), settings, START).unwrap();
    for number in 0..400 * 11 {
        archive.append(&refused(&format!("a/page/with/a/long/path/{number}"), START, "Disallow: /")).unwrap();
    }
    archive.close().unwrap();
    let index_bytes = reader(&disk).index_bytes();
    assert!(index_bytes > 80_000, "{index_bytes}");
    let watched = WatchedDisk::new(&disk);
    let reader = Reader::open(Arc::new(watched.clone()), Path::new(DIRECTORY)).unwrap();
    assert_eq!(reader.count(), 400 * 11);
    let opened = watched.read_bytes();
    assert!(opened < index_bytes / 8, "{opened} of {index_bytes}");
    let key = Key::of("http://example.org/a/page/with/a/long/path/777");
    assert_eq!(reader.newest_first(&key).unwrap().count(), 1);
    let looked = watched.read_bytes() - opened;
    assert!(looked < index_bytes / 4, "{looked} of {index_bytes}");
    let before = watched.read_bytes();
    drop(open(&watched).unwrap());
    let opened = watched.read_bytes() - before;
    assert!(opened < index_bytes / 8, "{opened} of {index_bytes}");
}

#[test]
fn a_reader_sees_what_a_power_cut_left_before_recovery() {
    for seed in 0..40 {
        let disk = SimulatedDisk::new(seed);
        let mut archive = open(&disk).unwrap();
        let mut acknowledged = Vec::new();
        for capture in &workload(seed, 4) {
            acknowledged.push(archive.append(capture).unwrap().entry);
            archive.commit().unwrap();
        }
        disk.restart();
        let reader = Reader::open(Arc::new(disk.clone()), Path::new(DIRECTORY)).unwrap();
        assert_eq!(reader.count(), 4, "seed {seed}");
        for entry in &acknowledged {
            let found: Vec<_> = reader.newest_first(&entry.key).unwrap().map(Result::unwrap).collect();
            assert!(found.iter().any(|found| found.location == entry.location), "seed {seed}");
        }
        reader.all().unwrap().for_each(|entry| _ = reader.document(&entry.unwrap()).unwrap());
    }
}
