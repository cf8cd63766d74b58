//! A full disk (M4): nothing acknowledged is lost, and once there is room the same call succeeds.

use crate::captures::{DIRECTORY, Records, START, entries, number_of, open, settings, workload};
use crate::model::Model;
use archive::{Archive, Error, Settings};
use base::Capture;
use base::disk::{Disk, Fault, Open, SimulatedDisk};
use std::path::Path;
use std::sync::Arc;

/// Repeats the call after making room, if it fails for lack of room.
fn patiently<T>(disk: &SimulatedDisk, mut call: impl FnMut() -> Result<T, Error>) -> (T, bool) {
    match call() {
        Ok(value) => (value, false),
        Err(error) => {
            assert!(error.is_disk_full(), "{error}");
            disk.make_room();
            (call().unwrap(), true)
        }
    }
}

/// Stores everything, the disk being full at `point`; how many calls failed.
fn store(disk: &SimulatedDisk, point: u64) -> usize {
    disk.fail_at(point, Fault::Full);
    let (mut archive, waited) = patiently(disk, || open(disk));
    let mut waits = usize::from(waited);
    for capture in &workload(4, 40) {
        waits += usize::from(patiently(disk, || archive.append(capture)).1);
        waits += usize::from(patiently(disk, || archive.commit()).1);
    }
    if archive.close().is_err() {
        disk.make_room();
        waits += 1;
        drop(open(disk).unwrap());
    }
    waits
}

/// Index and files say the same, and every document is what was stored.
#[track_caller]
fn agreed(disk: &SimulatedDisk, visits: &[Capture]) {
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let (reader, entries) = crate::model::agreed(&shared, Path::new(DIRECTORY)).unwrap();
    let expected = Model::of(visits);
    for entry in entries {
        let expected = &expected[number_of(&entry)];
        expected.check_entry(&entry).unwrap();
        expected.check_document(&reader.document(&entry).unwrap()).unwrap();
    }
}

#[test]
fn survives_a_full_disk_at_every_point() {
    let trial = SimulatedDisk::new(4);
    assert_eq!(store(&trial, u64::MAX), 0);
    let mut waits = 0;
    for point in 0..trial.points() {
        let disk = SimulatedDisk::new(4);
        waits += store(&disk, point);
        disk.restart();
        let (found, visits) = (entries(&disk), workload(4, 40));
        assert_eq!(found.len(), visits.len(), "point {point}");
        let records = Records::read(&disk).unwrap();
        found.iter().zip(&visits).for_each(|(entry, capture)| records.compare(entry, capture).unwrap());
        let paths = disk.list(Path::new(DIRECTORY)).unwrap();
        assert!(paths.iter().all(|path| path.extension().unwrap() != "open"), "{paths:?}");
        agreed(&disk, &visits);
    }
    assert!(waits > 40, "the disk was full only {waits} times");
}

#[test]
fn only_what_waits_for_room_is_lost_with_the_writer() {
    let visits = workload(5, 2);
    let disk = SimulatedDisk::new(5);
    let mut archive = open(&disk).unwrap();
    archive.append(&visits[0]).unwrap();
    archive.commit().unwrap();
    archive.append(&visits[1]).unwrap();
    let path = disk.list(Path::new(DIRECTORY)).unwrap().remove(0);
    let length = || disk.open(&path, Open::Read).unwrap().length().unwrap();
    let durable_bytes = length();
    disk.fail_at(disk.points(), Fault::Full);
    assert!(archive.commit().unwrap_err().is_disk_full());
    assert_eq!(length(), durable_bytes, "a half-written batch is cut off");
    drop(archive);
    disk.make_room();
    drop(open(&disk).unwrap());
    let found = entries(&disk);
    assert_eq!(found.len(), 1);
    Records::read(&disk).unwrap().compare(&found[0], &visits[0]).unwrap();
}

#[test]
fn the_reserve_is_left_free() {
    let disk = SimulatedDisk::new(6);
    let settings = Settings { disk_free_bytes_min: 10_000, ..settings() };
    let (mut archive, _) =
        Archive::open(Arc::new(disk.clone()), Path::new(DIRECTORY), settings, START).unwrap();
    disk.set_free_bytes(Some(10_100));
    archive.append(&workload(6, 1)[0]).unwrap();
    let error = archive.commit().unwrap_err();
    // The first few bytes of the checksums were written with the creation of the file.
    assert!(
        matches!(error, Error::DiskFull { free_bytes: 10_000..10_100, needed_bytes: 10_101.., .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("make room"), "{error}");
    assert!((10_000..10_100).contains(&archive.free_bytes().unwrap()));
    disk.set_free_bytes(Some(1_000_000));
    archive.commit().unwrap();
    assert_eq!(entries(&disk).len(), 1);
}
