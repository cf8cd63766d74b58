//! Readers beside a writer: no lock, an unfinished file, a file that is finished under their hands.

use crate::captures::{DIRECTORY, START, answer, entries, open, reader};
use base::disk::{Disk, Open, SimulatedDisk};
use std::path::Path;

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
fn a_reader_does_not_mind_that_files_are_finished_meanwhile() {
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
fn every_opening_begins_files_with_names_of_their_own() {
    let disk = SimulatedDisk::new(4);
    for count in 1..4 {
        let mut archive = open(&disk).unwrap();
        archive.append(&answer("a", START, "", b"a")).unwrap();
        archive.close().unwrap();
        assert_eq!(archive::files(&disk, Path::new(DIRECTORY)).unwrap().len(), count);
    }
    assert_eq!(entries(&disk).len(), 3);
}
