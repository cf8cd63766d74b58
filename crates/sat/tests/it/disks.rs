//! The same use with threads, and on the machine's own disk.

use crate::driver::{Driver, Habits};
use crate::player::{Failure, Played, Player};
use crate::setup::{options, torture};
use crate::slow::SlowDisk;
use base::Chance;
use base::disk::{DirectDisk, Disk, Fault, RealDisk, SimulatedDisk};
use sat::{Error, Options};
use std::path::Path;
use std::sync::Arc;

fn threaded() -> Options {
    let mut options = options();
    options.read_threads = 4;
    options
}

/// Plays, and now and then lets the store go without closing it.
fn play(player: &mut Player, seed: u64, calls: u64) -> Played {
    let mut driver = Driver::new(seed, Habits::default());
    player.open()?;
    let mut made = 0;
    while made < calls {
        made += driver.step(player)?;
        match driver.chance.below(400) {
            0 => {
                player.drop_store();
                player.open()?;
            }
            1 => player.close_and_open(threaded())?,
            2 => driver.burst(player, 5_000)?,
            _ => {}
        }
    }
    player.check_all()
}

fn play_on_the_machine(disk: Arc<dyn Disk>, seed: u64) {
    let (calls, seed) = torture(8_000, seed);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let mut player = Player::at(disk, Path::new(&path), threaded());
    let played = play(&mut player, seed, calls.min(100_000) / 4);
    assert!(played.is_ok(), "{played:?}");
}

#[test]
fn model_agrees_on_the_machine_s_disk_through_the_page_cache() {
    play_on_the_machine(Arc::new(RealDisk), 1);
}

#[test]
fn model_agrees_on_the_machine_s_disk_without_the_page_cache() {
    play_on_the_machine(Arc::new(DirectDisk), 2);
}

/// The order of the threads differs from run to run; the invariants hold anyway.
#[test]
fn model_agrees_with_threads_and_faults() {
    let (calls, seed) = torture(30_000, 3);
    let disk = SimulatedDisk::new(seed);
    let player = Player::new(Arc::new(disk.clone()), threaded());
    play_with_faults(&disk, player, seed, calls);
}

#[test]
fn model_agrees_when_checkpoints_take_long() {
    let (calls, seed) = torture(15_000, 4);
    let disk = SimulatedDisk::new(seed);
    let player = Player::new(Arc::new(SlowDisk::new(disk.clone())), threaded());
    play_with_faults(&disk, player, seed, calls / 4);
}

fn play_with_faults(disk: &SimulatedDisk, mut player: Player, seed: u64, calls: u64) {
    let (mut driver, mut chance) = (Driver::new(seed, Habits::default()), Chance::of(&[seed]));
    let mut made = 0;
    while made < calls {
        let step = if player.is_open() { driver.step(&mut player) } else { player.open().map(|()| 0) };
        match step.and_then(|steps| extra(&mut player, &mut driver, &mut chance).map(|()| steps)) {
            Ok(steps) => made += steps,
            Err(Failure::Store(Error::Io { .. } | Error::Stopped { .. })) => {
                player.drop_store();
                if disk.is_cut() || chance.below(2) == 0 {
                    disk.restart();
                }
            }
            Err(failure) => panic!("{failure:?}"),
        }
        match chance.below(500) {
            0 => disk.fail_at(disk.points() + chance.below(50), Fault::Cut),
            1 => disk.fail_at(disk.points() + chance.below(50), Fault::Error),
            2 => disk.cut_now(),
            _ => {}
        }
    }
}

/// Sometimes many commits without waiting, small or large.
fn extra(player: &mut Player, driver: &mut Driver, chance: &mut Chance) -> Played {
    match chance.below(100) {
        0 => {
            for number in 0..chance.below(1_500) {
                player.set(b"number", &number.to_le_bytes())?;
                player.begin_commit()?;
            }
        }
        1 => driver.burst(player, 5_000)?,
        _ => {}
    }
    Ok(())
}
