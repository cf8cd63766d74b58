//! Space is freed (S5): however long a store is used, its data files stay in proportion to what is in them.

use crate::model::Entry;
use crate::player::Player;
use crate::setup::options;
use base::Chance;
use base::disk::SimulatedDisk;
use std::sync::Arc;

const RECORDS: u32 = 2_000;
const VALUE_BYTES: usize = 500;

fn filled(seed: u64) -> Player {
    let mut player = Player::new(Arc::new(SimulatedDisk::new(seed)), options());
    player.open().unwrap();
    for number in 0..RECORDS {
        let entry = Entry {
            key: number.to_string().into_bytes(),
            due: 1 + number % 100,
            value: vec![1; VALUE_BYTES],
        };
        player.offer(entry).unwrap();
    }
    player.settle().unwrap();
    player
}

/// Takes what is due in each of some minutes; `judge` says when a record is due next, or that it is kept.
fn cycle(player: &mut Player, minutes: u32, mut judge: impl FnMut(u32, u32) -> Option<u32>) {
    for _ in 0..minutes {
        let now = player.store().minute().0 + 1;
        player.advance(now);
        loop {
            let numbers = player.next_due(now).unwrap();
            if numbers.is_empty() {
                break;
            }
            for number in numbers {
                if let Some(due) = judge(number, now) {
                    player.update(number, due, &[2; VALUE_BYTES]).unwrap();
                }
            }
        }
        player.commit().unwrap();
    }
}

#[track_caller]
fn check_space(player: &mut Player) {
    player.checkpoint().unwrap();
    let live = u64::from(RECORDS) * VALUE_BYTES as u64;
    let (bytes, needed) = player.store().data_bytes();
    let segment = u64::from(player.options.segment_bytes);
    assert!(bytes <= 3 * live + 12 * segment, "{bytes} bytes of files, {needed} needed, {live} live");
}

#[test]
fn after_many_cycles_the_data_files_are_in_proportion_to_live_records() {
    let mut player = filled(1);
    let mut chance = Chance::new(1);
    for _ in 0..8 {
        cycle(&mut player, 200, |_, now| {
            let ahead = *chance.pick(&[30, 100, 200, 400]);
            Some(now + 1 + u32::try_from(chance.below(ahead)).unwrap())
        });
        check_space(&mut player);
    }
    let written = player.store().statistics().data_bytes_written;
    assert!(written > 8 * u64::from(RECORDS) * VALUE_BYTES as u64, "only {written} bytes were written");
    player.check_all().unwrap();
}

#[test]
fn updates_out_of_turn_free_their_space() {
    let mut player = filled(2);
    let mut chance = Chance::new(2);
    for _ in 0..12 {
        for _ in 0..RECORDS {
            let number = u32::try_from(chance.below(RECORDS.into())).unwrap();
            let due = 1_000 + u32::try_from(chance.below(5_000)).unwrap();
            player.update(number, due, &[3; VALUE_BYTES]).unwrap();
        }
        player.commit().unwrap();
    }
    check_space(&mut player);
    player.check_all().unwrap();
}

/// A day-long queue: one record in twenty is handed out and not written back for a day.
#[test]
fn records_held_for_a_day_block_no_space_and_come_again_after_reopening() {
    let mut player = filled(3);
    let mut chance = Chance::new(3);
    cycle(&mut player, 1_440, |number, now| {
        let due = now + 1 + u32::try_from(chance.below(200)).unwrap();
        (number % 20 != 0).then(|| due.next_multiple_of(60))
    });
    check_space(&mut player);
    let held: Vec<u32> = player.handed().iter().copied().collect();
    assert_eq!(held.len(), 100);
    let options = player.options.clone();
    player.close_and_open(options).unwrap();
    let now = player.store().minute().0;
    let mut again = Vec::new();
    loop {
        let numbers = player.next_due(now).unwrap();
        if numbers.is_empty() {
            break;
        }
        again.extend(numbers);
    }
    again.sort_unstable();
    assert_eq!(again, held);
}
