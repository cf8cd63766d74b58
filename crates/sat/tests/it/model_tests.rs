//! Random use, compared with maps, with crashes at any moment (S3–S5, M1, M2).

use crate::driver::{Driver, Habits};
use crate::model::Entry;
use crate::player::{Failure, Played, Player};
use crate::setup::{options, torture};
use base::Chance;
use base::disk::{Disk, Fault, SimulatedDisk, Survival};
use sat::{Buffers, Minute, Number, Options, Resolution};
use std::sync::Arc;

/// Some options that a store may be opened with.
fn some_options(chance: &mut Chance) -> Options {
    let mut options = options();
    options.begin = Minute(77_777);
    options.strict = chance.below(4) != 0;
    options.pool_bytes = *chance.pick(&[0, 1 << 20, 4 << 20, 16 << 20]);
    options.read_bytes = *chance.pick(&[0, 256 << 10, 4 << 20]);
    options.log_bytes = *chance.pick(&[0, 1 << 20, 2 << 20, 4 << 20]);
    options.pending_max = *chance.pick(&[0, 100, 400, 3_000]);
    options.segment_bytes = *chance.pick(&[0, 512 << 10, 1 << 20, 8 << 20]);
    if chance.below(5) == 0 {
        options.resolution = Resolution::linear();
    }
    if chance.below(6) == 0 {
        options.buffers = Buffers::Fixed { bytes: 16 << 10 };
    }
    options
}

/// Runs until `calls` calls were made.
fn play(seed: u64, calls: u64, habits: Habits) -> Played {
    let disk = SimulatedDisk::new(seed);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut chance = Chance::of(&[seed, 1]);
    let mut player = Player::new(shared, some_options(&mut chance));
    let mut driver = Driver::new(seed, habits);
    player.open()?;
    let mut made = 0;
    while made < calls {
        match driver.step(&mut player) {
            Ok(steps) => made += steps,
            Err(Failure::Store(_)) if disk.is_cut() => come_back(&disk, &mut player, &mut chance)?,
            Err(failure) => return Err(failure),
        }
        match chance.below(1_200) {
            0 => {
                let options = some_options(&mut chance);
                match player.close_and_open(options) {
                    Err(Failure::Store(_)) if disk.is_cut() => come_back(&disk, &mut player, &mut chance)?,
                    done => done?,
                }
            }
            // Some time later, in the middle of any operation.
            1..6 => disk.fail_at(disk.points() + chance.below(60), Fault::Cut),
            7 | 8 => {
                let ahead = *chance.pick(&[30, 5_000]);
                match driver.burst(&mut player, ahead) {
                    Err(Failure::Store(_)) if disk.is_cut() => come_back(&disk, &mut player, &mut chance)?,
                    done => done?,
                }
            }
            6 => {
                disk.cut_now();
                come_back(&disk, &mut player, &mut chance)?;
            }
            _ => {}
        }
    }
    player.check_all()
}

/// Starts the machine again, perhaps to fail once more while the store is opened.
fn come_back(disk: &SimulatedDisk, player: &mut Player, chance: &mut Chance) -> Played {
    player.drop_store();
    loop {
        disk.set_survival(*chance.pick(&[Survival::Random, Survival::Random, Survival::All, Survival::None]));
        disk.restart();
        if chance.below(3) == 0 {
            disk.fail_at(disk.points() + chance.below(30), Fault::Cut);
        }
        player.options = some_options(chance);
        match player.open() {
            Err(Failure::Store(_)) if disk.is_cut() => player.drop_store(),
            done => return done,
        }
    }
}

#[track_caller]
fn must_agree(seed: u64, calls: u64, habits: Habits) {
    let played = play(seed, calls, habits);
    assert!(played.is_ok(), "seed {seed}: {played:?}");
}

#[test]
fn model_agrees_under_random_use_and_crashes() {
    let (calls, seed) = torture(100_000, 1);
    let habits = [
        Habits::default(),
        Habits { keys: 400, value_bytes_max: 2_000, ..Habits::default() },
        Habits { keys: 6_000, value_bytes_max: 120, long_of_thousand: 0, ..Habits::default() },
        Habits { kept_of_thousand: 400, ..Habits::default() },
        Habits { keys: 2_000, kept_of_thousand: 150, gathered_minutes: 50, ..Habits::default() },
    ];
    for (place, habits) in habits.into_iter().enumerate() {
        must_agree(seed + place as u64, calls / 5, habits);
    }
}

/// A player whose store holds two records, both committed.
fn with_two() -> Player {
    let mut player = Player::new(Arc::new(SimulatedDisk::new(1)), options());
    player.open().unwrap();
    for key in [b"one", b"two"] {
        player.offer(Entry { key: key.to_vec(), due: 5, value: Vec::new() }).unwrap();
    }
    player.settle().unwrap();
    player
}

#[track_caller]
fn check_is_wrong(played: Played, what: &str) {
    let Err(Failure::Wrong(wrong)) = played else { panic!("not noticed: {played:?}") };
    assert!(wrong.contains(what), "{wrong}");
}

/// The negative controls: what is compared notices a record that is lost, stale, too much, or handed out twice.
#[test]
fn the_comparison_notices_a_lost_record() {
    let mut player = with_two();
    player.store().delete(Number(1)).unwrap();
    check_is_wrong(player.check_all(), "1 is None");
    player.store().commit().unwrap();
    check_is_wrong(player.open(), "the store is at no commit");
}

#[test]
fn the_comparison_notices_a_stale_record_and_an_early_one() {
    let mut player = with_two();
    player.store().update(Number(0), b"one", Minute(3), b"new").unwrap();
    check_is_wrong(player.look(b"one"), "instead of");
    player.advance(3);
    check_is_wrong(player.next_due(3).map(drop), "0 was handed out at 3");
}

#[test]
fn the_comparison_notices_a_doubled_record() {
    let mut player = with_two();
    player.advance(5);
    while !player.next_due(5).unwrap().is_empty() {}
    let before = player.model.records[&0].clone();
    player.store().update(Number(0), b"one", Minute(6), b"").unwrap();
    player.model.records.insert(0, Entry { due: 6, ..before });
    player.advance(6);
    check_is_wrong(player.next_due(6).map(drop), "0 was handed out twice");
}

#[test]
fn the_comparison_notices_a_record_that_does_not_come() {
    let mut player = with_two();
    player.store().delete(Number(0)).unwrap();
    player.advance(5);
    player.next_due(5).unwrap();
    check_is_wrong(player.next_due(5).map(drop), "was not handed out by 5");
}
