//! Stores that are opened to read: beside a writer, without writing, with everything that was committed.

use crate::setup::{DIRECTORY, open, options};
use base::disk::{Disk, RealDisk, SimulatedDisk};
use sat::{Error, Minute, Options, Store};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn to_read(disk: &SimulatedDisk) -> Store {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    Store::open_to_read(&disk, Path::new(DIRECTORY), &options()).unwrap()
}

/// Minute and value by key.
type Records = BTreeMap<Vec<u8>, (u32, Vec<u8>)>;

/// Every record.
fn records(store: &mut Store) -> Result<Records, Error> {
    let mut found = BTreeMap::new();
    store.for_each(|record| -> Result<(), Error> {
        assert!(found.insert(record.key.to_vec(), (record.due.0, record.value.to_vec())).is_none());
        Ok(())
    })?;
    Ok(found)
}

#[test]
fn what_was_committed_is_read_and_nothing_is_written() {
    let disk = SimulatedDisk::new(1);
    let mut store = open(&disk, options()).unwrap();
    for key in 0..300_u32 {
        store.offer(&key.to_le_bytes(), Minute(5 + key), b"committed").unwrap();
    }
    store.settle().unwrap();
    store.set(b"name", b"value").unwrap();
    store.commit().unwrap();
    let committed = records(&mut store).unwrap();
    store.offer(b"late", Minute(5), b"not committed").unwrap();
    store.set(b"name", b"other").unwrap();
    let points = disk.points();
    let mut view = to_read(&disk);
    assert_eq!(records(&mut view).unwrap(), committed);
    assert_eq!(view.table()[&b"name"[..]], b"value");
    assert_eq!(view.get(&7_u32.to_le_bytes()).unwrap().unwrap().value, b"committed");
    // Changes are its own, also after they are committed.
    let number = view.find(&7_u32.to_le_bytes()).unwrap().unwrap();
    view.update(number, &7_u32.to_le_bytes(), Minute(900), b"mine").unwrap();
    view.commit().unwrap();
    assert_eq!(view.get(&7_u32.to_le_bytes()).unwrap().unwrap().value, b"mine");
    view.close().unwrap();
    assert_eq!(records(&mut to_read(&disk)).unwrap(), committed);
    assert_eq!(disk.points(), points, "a reader writes nothing");
    store.commit().unwrap();
    assert_eq!(to_read(&disk).table()[&b"name"[..]], b"other");
}

#[test]
fn a_missing_store_is_empty() {
    let disk = SimulatedDisk::new(1);
    let points = disk.points();
    let mut view = to_read(&disk);
    assert_eq!((view.count(), records(&mut view).unwrap().len()), (0, 0));
    view.offer(b"one", Minute(5), b"").unwrap();
    view.settle().unwrap();
    view.commit().unwrap();
    assert_eq!((view.count(), disk.points()), (1, points));
}

#[test]
fn damage_is_still_found() {
    let disk = SimulatedDisk::new(1);
    let mut store = open(&disk, options()).unwrap();
    store.offer(b"one", Minute(5), b"").unwrap();
    store.close().unwrap();
    for path in disk.list(Path::new(DIRECTORY)).unwrap() {
        if path.to_string_lossy().contains("checkpoint-") {
            disk.open(&path, base::disk::Open::Write).unwrap().write_at(100, &[1; 50]).unwrap();
        }
    }
    let below: Arc<dyn Disk> = Arc::new(disk);
    let opened = Store::open_to_read(&below, Path::new(DIRECTORY), &options());
    assert!(matches!(opened, Err(Error::Damaged { .. })), "{opened:?}");
}

const KEYS: u32 = 200;
const VALUE_BYTES: usize = 600;

/// Rewrites every record with the number of the round and commits, round after round: checkpoints come often, and log and
/// space are used again.
fn write_rounds(directory: &Path, options: Options, is_enough: &AtomicBool) -> u32 {
    let mut store = Store::open(Arc::new(RealDisk), directory, options).unwrap();
    let mut round = 0_u32;
    while !is_enough.load(Ordering::Relaxed) && round < 100_000 {
        round += 1;
        for key in 0..KEYS {
            let number = store.find(&key.to_le_bytes()).unwrap().unwrap();
            let mut value = round.to_le_bytes().to_vec();
            value.resize(VALUE_BYTES, 0);
            store.update(number, &key.to_le_bytes(), Minute(1 + (key + round) % 5_000), &value).unwrap();
        }
        store.commit().unwrap();
    }
    round
}

#[test]
fn a_reader_beside_a_busy_writer_sees_one_commit() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("store");
    let mut options = options();
    options.read_threads = 1;
    {
        let mut store = Store::open(Arc::new(RealDisk), &directory, options.clone()).unwrap();
        for key in 0..KEYS {
            store.offer(&key.to_le_bytes(), Minute(5), &[0; VALUE_BYTES]).unwrap();
        }
        store.settle().unwrap();
        store.close().unwrap();
    }
    let is_enough = AtomicBool::new(false);
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let mut seen = Vec::new();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| write_rounds(&directory, options.clone(), &is_enough));
        let mut tries = 0;
        while seen.len() < 30 && !writer.is_finished() && tries < 1_000 {
            tries += 1;
            // This writer makes a checkpoint after every few commits, so it may be faster than the reader; and it may
            // reuse the space of old records, which are then reported as damaged. What can be read is of one commit.
            let Ok(mut view) = Store::open_to_read(&disk, &directory, &options) else { continue };
            let Ok(found) = records(&mut view) else { continue };
            assert_eq!(found.len(), KEYS as usize);
            let rounds: Vec<u32> =
                found.values().map(|(_, value)| u32::from_le_bytes(*value.first_chunk().unwrap())).collect();
            assert!(rounds.iter().all(|round| *round == rounds[0]), "of several commits: {rounds:?}");
            seen.push(rounds[0]);
        }
        is_enough.store(true, Ordering::Relaxed);
        assert!(writer.join().unwrap() >= *seen.last().unwrap());
    });
    assert_eq!(seen.len(), 30);
    assert!(seen.is_sorted() && seen[29] > seen[0], "{seen:?}");
    assert!(fs::read_dir(&directory).unwrap().count() > 0);
}
