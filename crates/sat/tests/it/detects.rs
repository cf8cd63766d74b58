//! Bytes that are not what was written are reported, never returned (M5): one bit flips anywhere, or the hardware loses
//! or misplaces a write.

use crate::driver::{Driver, Habits};
use crate::examine::{Verdict, build, examine, reported};
use crate::player::{Failure, Played, Player};
use crate::setup::{DIRECTORY, options, torture};
use base::Chance;
use base::disk::{Fault, SimulatedDisk};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

#[test]
fn detects_a_bit_that_flips_anywhere() {
    let (count, seed) = torture(150, 1);
    let built = build(seed);
    assert_eq!(examine(&built.image.disk(0), &built), Ok(Verdict::Right));
    let places = built.image.written_places();
    let kinds = ["checkpoint", "data", "index", "log", "superblock"];
    let mut verdicts: BTreeMap<(&str, Verdict), u64> = BTreeMap::new();
    for number in 0..count {
        let mut chance = Chance::of(&[seed, number]);
        let kind = kinds[usize::try_from(number).unwrap() % kinds.len()];
        let paths: Vec<_> =
            built.image.named(kind).into_iter().filter(|path| !places[path].is_empty()).collect();
        let path = chance.pick(&paths);
        let place = *chance.pick(&places[path]) + chance.index(64);
        let bit = place as u64 * 8 + chance.below(8);
        let disk = built.image.disk(number);
        if disk.flip_bit(path, bit).is_err() {
            continue;
        }
        let verdict = examine(&disk, &built);
        let verdict =
            verdict.unwrap_or_else(|what| panic!("{what}: bit {bit} (byte {place}) of {}", path.display()));
        *verdicts.entry((kind, verdict)).or_default() += 1;
    }
    println!("{verdicts:?}");
    for kind in ["checkpoint", "data", "index", "log"] {
        assert!(
            verdicts.contains_key(&(kind, Verdict::Reported)),
            "no flip in {kind} was reported: {verdicts:?}"
        );
    }
}

/// Every byte of the last frame and of the superblock.
#[test]
fn detects_a_flip_in_the_last_commit_or_reports_it_as_cut() {
    let built = build(3);
    let places = built.image.written_places();
    for path in built.image.named("log-") {
        let Some(last) = places[&path].last().map(|place| place / 4096 * 4096) else { continue };
        let ends = (last..last + 64).chain(last + 4_080..last + 4_096);
        for byte in ends.chain((last + 64..last + 4_080).step_by(397)) {
            let disk = built.image.disk(1);
            disk.flip_bit(&path, byte as u64 * 8 + 3).unwrap();
            let verdict = examine(&disk, &built);
            assert!(verdict.is_ok(), "{verdict:?}: byte {byte} of {}", path.display());
        }
    }
}

#[test]
fn detects_a_flip_in_the_superblock_or_uses_the_other_copy() {
    let built = build(4);
    for byte in (0..64).chain((4_096..4_160).step_by(3)) {
        let disk = built.image.disk(1);
        disk.flip_bit(&Path::new(DIRECTORY).join("superblock"), byte * 8 + 5).unwrap();
        let verdict = examine(&disk, &built);
        assert!(verdict.is_ok(), "{verdict:?}: byte {byte}");
    }
}

/// A workload on hardware that fails silently once. Returns whether the fault was reported.
fn work_on_faulty_hardware(seed: u64, point: u64, fault: Fault) -> Result<Verdict, String> {
    let disk = SimulatedDisk::new(seed);
    disk.fail_at(point, fault);
    let mut player = Player::new(Arc::new(disk.clone()), options());
    match use_and_reopen(&disk, &mut player, seed).1 {
        Ok(()) => Ok(Verdict::Right),
        Err(Failure::Store(error)) => reported(&error),
        Err(Failure::Wrong(what)) => Err(what),
    }
}

/// Uses a store, drops it and opens it again, several times. Also returns the points at which the last commit before
/// each opening was written: that one may be lost without a trace.
fn use_and_reopen(disk: &SimulatedDisk, player: &mut Player, seed: u64) -> (Vec<u64>, Played) {
    let habits = Habits { keys: 1_500, value_bytes_max: 1_500, gathered_minutes: 60, ..Habits::DEFAULT };
    let mut driver = Driver::new(seed, habits);
    let mut last_writes = Vec::new();
    let mut play = || {
        player.open()?;
        for round in 0..4 {
            for _ in 0..50 {
                driver.step(player)?;
            }
            if round == 1 {
                driver.burst(player, 5_000)?;
            }
            player.commit()?;
            player.set(b"round", &[round])?;
            last_writes.push(disk.points());
            player.commit()?;
            player.drop_store();
            player.open()?;
            player.check_all()?;
        }
        Ok(())
    };
    let played = play();
    (last_writes, played)
}

#[track_caller]
fn check_lies(fault: Fault) {
    let (count, seed) = torture(120, 5);
    let honest = SimulatedDisk::new(seed);
    let mut player = Player::new(Arc::new(honest.clone()), options());
    let (last_writes, played) = use_and_reopen(&honest, &mut player, seed);
    played.unwrap();
    let points = honest.points();
    let mut told = 0;
    for number in 0..count.min(points) {
        let point = number * points / count.min(points);
        if last_writes.contains(&point) {
            continue;
        }
        let verdict = work_on_faulty_hardware(seed, point, fault);
        assert!(verdict.is_ok(), "{}: {fault:?} at point {point} of {points}", verdict.unwrap_err());
        told += u64::from(verdict == Ok(Verdict::Reported));
    }
    assert!(told > 0, "none of {count} faults was reported");
}

#[test]
fn detects_a_write_that_the_hardware_loses() {
    check_lies(Fault::Lost);
}

#[test]
fn detects_a_write_that_the_hardware_misplaces() {
    check_lies(Fault::Misdirected);
}
