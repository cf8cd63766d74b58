//! Strict timing at some length: tens of thousands of deliveries, each at its own minute (S3).

use crate::setup::{open, options};
use base::disk::SimulatedDisk;
use sat::{Batch, Minute};
use std::collections::BTreeMap;

const RECORDS: u32 = 12_000;

/// Scatters numbers over `1..=minutes`.
fn scattered(number: u32, minutes: u32) -> u32 {
    1 + number.wrapping_mul(2_654_435_761) % minutes
}

#[test]
fn every_record_comes_at_its_own_minute_for_500_minutes() {
    let disk = SimulatedDisk::new(1);
    let mut options = options();
    options.pending_max = RECORDS as usize;
    let mut store = open(&disk, options.clone()).unwrap();
    let mut due: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
    for number in 0..RECORDS {
        let (key, when) = (format!("key {number}").into_bytes(), scattered(number, 3_000));
        store.offer(&key, Minute(when), &[7; 150]).unwrap();
        due.insert(key, when);
        if number % 1_000 == 0 {
            store.commit().unwrap();
        }
    }
    assert!(store.settle().unwrap().iter().all(|answer| answer.is_new));
    let mut batch = Batch::new();
    for minute in 1..=500 {
        store.advance(Minute(minute));
        while store.next_due(&mut batch).unwrap() {
            for record in batch.records() {
                let expected = due.get_mut(record.key).unwrap();
                assert_eq!(*expected, minute, "{record:?}");
                *expected = minute + scattered(record.number.0 + minute, 900);
                store.update(record.number, record.key, Minute(*expected), record.value).unwrap();
            }
            store.commit().unwrap();
        }
    }
    drop(store);
    let mut store = open(&disk, options).unwrap();
    assert_eq!(store.count(), RECORDS.into());
    let mut seen = 0;
    store
        .for_each(|record| {
            seen += 1;
            assert_eq!(due[record.key], record.due.0);
            Ok::<(), sat::Error>(())
        })
        .unwrap();
    assert_eq!(seen, RECORDS);
    assert!(store.verify().unwrap().is_empty());
}
