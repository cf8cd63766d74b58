//! The store used correctly and incorrectly.

use crate::model::Entry;
use crate::player::Player;
use crate::setup::{open, options};
use base::disk::SimulatedDisk;
use sat::{Batch, Error, Minute, Number, RECORD_BYTES_MAX, Store, StoreRecovery};
use std::sync::Arc;

fn player(seed: u64) -> Player {
    let mut player = Player::new(Arc::new(SimulatedDisk::new(seed)), options());
    player.open().unwrap();
    player
}

fn entry(key: &str, due: u32, value: &[u8]) -> Entry {
    Entry { key: key.as_bytes().to_vec(), due, value: value.to_vec() }
}

/// A store with one record, due at minute 5.
fn with_one() -> (SimulatedDisk, Store) {
    let disk = SimulatedDisk::new(1);
    let mut store = open(&disk, options()).unwrap();
    store.offer(b"one", Minute(5), b"value").unwrap();
    assert_eq!(store.settle().unwrap().len(), 1);
    (disk, store)
}

/// Everything that is due up to `now`: key and the minute at which it came.
fn due_until(store: &mut Store, now: u32) -> Vec<(String, u32)> {
    let (mut batch, mut due) = (Batch::new(), Vec::new());
    store.advance(Minute(now));
    while store.next_due(&mut batch).unwrap() {
        let minute = store.minute().0;
        due.extend(batch.records().map(|record| (String::from_utf8_lossy(record.key).into_owned(), minute)));
    }
    due
}

#[track_caller]
fn check_error<T: std::fmt::Debug>(result: Result<T, Error>, message: &str) {
    assert_eq!(result.unwrap_err().to_string(), message);
}

#[test]
fn a_record_that_is_too_long_is_refused_and_the_longest_is_kept() {
    let (_disk, mut store) = with_one();
    let (longest, longer) = (vec![1; RECORD_BYTES_MAX - 3], vec![1; RECORD_BYTES_MAX - 2]);
    let message = "a record of `49153` bytes is too long; key and value together may have `49152`";
    check_error(store.update(Number(0), b"one", Minute(9), &longer), message);
    check_error(store.offer(b"two", Minute(9), &longer), message);
    store.update(Number(0), b"one", Minute(9), &longest).unwrap();
    store.commit().unwrap();
    assert_eq!(store.get(b"one").unwrap().unwrap().value, longest);
}

#[test]
fn an_unknown_number_is_refused() {
    let (_disk, mut store) = with_one();
    let message = |number: u32| format!("no record has the number `{number}`; offer its key again");
    check_error(store.update(Number(1), b"one", Minute(9), b""), &message(1));
    check_error(store.delete(Number(u32::MAX)), &message(u32::MAX));
    store.delete(Number(0)).unwrap();
    check_error(store.delete(Number(0)), &message(0));
    assert_eq!(store.get_number(Number(0)).unwrap(), None);
    assert_eq!(store.count(), 0);
}

#[test]
fn a_full_commit_is_reported_and_nothing_is_lost() {
    let (disk, mut store) = with_one();
    let full = (0..).find_map(|number: u32| store.set(&number.to_le_bytes(), &[7; 10_000]).err());
    let Some(Error::CommitFull { bytes, bytes_max }) = full else { panic!("{full:?}") };
    assert!(bytes <= bytes_max && bytes_max >= 2 * RECORD_BYTES_MAX, "{bytes} of {bytes_max}");
    let entries = store.table().len();
    store.commit().unwrap();
    store.set(b"more", b"").unwrap();
    drop(store);
    assert_eq!(open(&disk, options()).unwrap().table().len(), entries);
}

#[test]
fn too_many_offers_are_refused_until_they_are_settled() {
    let (_disk, mut store) = with_one();
    let full = (0..).find_map(|number: u32| store.offer(&number.to_le_bytes(), Minute(1), b"").err());
    assert_eq!(full.unwrap().to_string(), "`400` offered keys wait to be judged; settle them, then continue");
    assert!(store.should_settle());
    assert_eq!(store.settle().unwrap().len(), 400);
    store.offer(b"again", Minute(1), b"").unwrap();
}

#[test]
fn names_in_the_table_are_bounded() {
    let (_disk, mut store) = with_one();
    let too_long = vec![0; 65_536];
    assert!(matches!(store.set(&too_long, b""), Err(Error::TooLong { bytes: 65_536, bytes_max: 65_535 })));
    assert!(matches!(store.unset(&too_long), Err(Error::TooLong { .. })));
    store.unset(b"never set").unwrap();
    store.commit().unwrap();
}

#[test]
fn of_equal_keys_the_first_offer_wins_and_a_deleted_key_keeps_its_number() {
    let mut player = player(2);
    for round in 0..3_u8 {
        for key in ["a", "b", "a", "", "b"] {
            player.offer(entry(key, 7, &[round])).unwrap();
        }
    }
    player.settle().unwrap();
    player.delete(1).unwrap();
    player.offer(entry("b", 9, b"again")).unwrap();
    player.offer(entry("b", 9, b"too late")).unwrap();
    player.settle().unwrap();
    assert_eq!(player.model.records[&1].value, b"again");
    player.look(b"").unwrap();
    player.check_all().unwrap();
}

#[test]
fn an_overdue_record_is_due_in_the_next_minute() {
    let (_disk, mut store) = with_one();
    assert_eq!(due_until(&mut store, 100), [("one".to_owned(), 5)]);
    store.update(Number(0), b"one", Minute(3), b"").unwrap();
    assert_eq!(store.get(b"one").unwrap().unwrap().due, Minute(101));
    assert!(due_until(&mut store, 100).is_empty());
    assert_eq!(due_until(&mut store, 101), [("one".to_owned(), 101)]);
    store.offer(b"two", Minute(0), b"").unwrap();
    store.settle().unwrap();
    assert_eq!(due_until(&mut store, 102), [("two".to_owned(), 102)]);
}

#[test]
fn a_record_due_in_400_days_comes_then() {
    let (disk, mut store) = with_one();
    assert_eq!(due_until(&mut store, 5).len(), 1);
    let far = 5 + 400 * 24 * 60;
    store.update(Number(0), b"one", Minute(far), b"").unwrap();
    store.close().unwrap();
    let mut store = open(&disk, options()).unwrap();
    assert!(due_until(&mut store, far - 1).is_empty());
    assert_eq!(due_until(&mut store, far), [("one".to_owned(), far)]);
}

#[test]
fn catching_up_over_a_gap_goes_minute_by_minute() {
    let mut player = player(3);
    for number in 0..350_u32 {
        player.offer(entry(&number.to_string(), 1 + number * 1_000, b"value")).unwrap();
    }
    player.settle().unwrap();
    let gap = 400_000;
    player.advance(gap);
    let mut came = 0;
    loop {
        let numbers = player.next_due(gap).unwrap();
        if numbers.is_empty() {
            break;
        }
        came += numbers.len();
        // Some come again within the gap.
        for number in numbers.iter().filter(|number| **number % 10 == 0) {
            player.update(*number, gap, b"later").unwrap();
        }
    }
    assert_eq!(came, 350 + 35);
    assert_eq!(player.store().minute(), Minute(gap));
}

#[test]
fn time_never_goes_back() {
    let (_disk, mut store) = with_one();
    store.advance(Minute(50));
    store.advance(Minute(10));
    assert_eq!(due_until(&mut store, 0).len(), 1);
    assert_eq!(store.minute(), Minute(50));
}

#[test]
fn a_store_that_was_closed_has_nothing_to_replay_and_one_that_was_dropped_has() {
    let (disk, mut store) = with_one();
    assert_eq!(due_until(&mut store, 5).len(), 1);
    store.set(b"place", b"1").unwrap();
    store.close().unwrap();
    let mut store = open(&disk, options()).unwrap();
    assert_eq!(store.recovery(), StoreRecovery::default());
    // Handed out and not written back.
    assert_eq!(due_until(&mut store, 5), [("one".to_owned(), 5)]);
    store.set(b"place", b"2").unwrap();
    store.commit().unwrap();
    store.set(b"place", b"3").unwrap();
    drop(store);
    let store = open(&disk, options()).unwrap();
    assert_eq!((store.recovery().frames_replayed, store.recovery().bytes_cut), (1, 0));
    assert_eq!(store.table()[&b"place"[..]], b"2");
}

#[test]
fn an_empty_commit_writes_nothing() {
    let (disk, mut store) = with_one();
    let points = disk.points();
    let frame = store.commit().unwrap();
    assert_eq!(store.commit().unwrap(), frame);
    assert_eq!(store.durable().unwrap(), frame);
    assert_eq!(disk.points(), points);
}

/// Delivered records of an earlier session must not cause a second delivery of this session's.
#[test]
fn a_delivered_record_is_not_delivered_again_with_the_held_ones() {
    let mut player = player(4);
    for number in 0..300_u32 {
        player.offer(entry(&format!("a{number}"), 10, &[1; 1_500])).unwrap();
    }
    player.settle().unwrap();
    for number in 0..300_u32 {
        player.offer(entry(&format!("b{number}"), 20, &[2; 1_500])).unwrap();
    }
    player.settle().unwrap();
    drain(&mut player, 10);
    (30..300).for_each(|number| player.update(number, 100_000, b"").unwrap());
    player.checkpoint().unwrap();
    assert_eq!(player.store().statistics().compacted, 30);
    drain(&mut player, 20);
    player.close_and_open(options()).unwrap();
    let mut left: Vec<u32> = (300..600).collect();
    while !left.is_empty() {
        let numbers = player.next_due(20).unwrap();
        assert!(numbers.iter().all(|number| *number >= 300), "the held come last here, or nothing is shown");
        left.retain(|number| !numbers.contains(number));
    }
    (320..600).for_each(|number| player.update(number, 100_000, b"").unwrap());
    player.checkpoint().unwrap();
    assert_eq!(player.store().statistics().compacted, 20);
    drain(&mut player, 30);
    player.check_all().unwrap();
}

fn drain(player: &mut Player, now: u32) {
    player.advance(now);
    while !player.next_due(now).unwrap().is_empty() {}
}
