//! Every change of the disk fails, or finds the disk full, or is the last before a power cut, in turn (M1–M4). The
//! store is opened again, also with a further cut while it recovers. It must be at one commit, from the last
//! acknowledged one on: every record once, at its state of that commit, with the table of that commit. Then it
//! continues to work.

use crate::driver::{Driver, Habits};
use crate::player::{Failure, Played, Player, ensure};
use crate::setup::{options, torture};
use base::Chance;
use base::disk::{Disk, Fault, SimulatedDisk, Survival};
use sat::{Error, Statistics};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

const HABITS: Habits = Habits {
    keys: 1_500,
    value_bytes_max: 2_000,
    kept_of_thousand: 50,
    gathered_minutes: 60,
    long_of_thousand: 1,
};
/// Steps of the workload.
const STEPS: u64 = 600;
/// Steps after recovery.
const STEPS_AFTER: u64 = 40;

/// One trial of a store: use, failure, recovery.
#[derive(Clone, Copy, Debug)]
struct Trial {
    seed: u64,
    point: u64,
    fault: Fault,
    survival: Survival,
    /// At which step of the recovery the same happens again.
    second: Option<u64>,
    ignores_syncs: bool,
}

const TRIAL: Trial = Trial {
    seed: 1,
    point: u64::MAX,
    fault: Fault::Cut,
    survival: Survival::Random,
    second: None,
    ignores_syncs: false,
};

/// Uses a store until something fails.
fn work(player: &mut Player, driver: &mut Driver, steps: u64) -> Played {
    if !player.is_open() {
        player.open()?;
    }
    for step in 0..steps {
        driver.step(player)?;
        match step {
            200 | 400 => driver.burst(player, 5_000)?,
            300 => driver.burst(player, 40)?,
            _ if step % 100 == 99 => player.checkpoint()?,
            _ => {}
        }
    }
    Ok(())
}

fn run_trial(trial: &Trial) -> Result<(), String> {
    let played = std::panic::catch_unwind(AssertUnwindSafe(|| try_trial(trial)));
    let played = played.map_err(|_| "panicked".to_owned())?;
    played.map_err(|failure| match failure {
        Failure::Store(error) => format!("failed by itself: {error}"),
        Failure::Wrong(what) => what,
    })
}

fn try_trial(trial: &Trial) -> Played {
    let disk = SimulatedDisk::new(trial.seed);
    disk.set_survival(trial.survival);
    disk.ignore_syncs(trial.ignores_syncs);
    disk.fail_at(trial.point, trial.fault);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut player = Player::new(shared, options());
    let mut driver = Driver::new(trial.seed, HABITS);
    match work(&mut player, &mut driver, STEPS) {
        // Without power there is nothing to check.
        Err(Failure::Store(_)) if disk.is_cut() => {}
        Err(Failure::Store(error)) => check_stopped(&mut player, &error)?,
        Err(wrong) => return Err(wrong),
        Ok(()) => {}
    }
    recover(&disk, &mut player, trial)?;
    let may_fail = trial.second.is_some();
    work_on(&disk, &mut player, &mut driver, may_fail)?;
    // What recovery relied on must be durable.
    player.drop_store();
    disk.restart();
    work_on(&disk, &mut player, &mut driver, may_fail)
}

/// Opens the store and uses it some more. It may fail once if a second fault is planned.
fn work_on(disk: &SimulatedDisk, player: &mut Player, driver: &mut Driver, may_fail: bool) -> Played {
    match work(player, driver, STEPS_AFTER) {
        Err(Failure::Store(Error::Io { .. })) if may_fail => {
            player.drop_store();
            if disk.is_cut() {
                disk.restart();
            }
            work(player, driver, STEPS_AFTER)?;
        }
        done => done?,
    }
    player.check_all()
}

/// After a failure the store reports it, at every call (M3).
fn check_stopped(player: &mut Player, error: &Error) -> Played {
    ensure!(matches!(error, Error::Io { .. }), "not an error of the disk: {error}");
    if player.is_open() {
        let again = player.store().commit();
        ensure!(matches!(again, Err(Error::Stopped { .. })), "not stopped after `{error}`: {again:?}");
        let again = player.store().set(b"name", b"value");
        ensure!(matches!(again, Err(Error::Stopped { .. })), "not stopped after `{error}`: {again:?}");
    }
    Ok(())
}

fn recover(disk: &SimulatedDisk, player: &mut Player, trial: &Trial) -> Played {
    player.drop_store();
    if trial.fault == Fault::Cut {
        disk.restart();
    }
    if trial.fault == Fault::Full {
        match player.open() {
            // Full, and it says so.
            Err(Failure::Store(Error::Io { .. })) | Ok(()) => player.drop_store(),
            failed => return failed,
        }
        disk.make_room();
    }
    if let Some(point) = trial.second {
        disk.fail_at(disk.points() + point, trial.fault);
    }
    Ok(())
}

/// How many changes the workload asks the disk for, and what it does.
fn workload(seed: u64) -> (u64, Statistics, usize) {
    let disk = SimulatedDisk::new(seed);
    let mut player = Player::new(Arc::new(disk.clone()), options());
    let played = work(&mut player, &mut Driver::new(seed, HABITS), STEPS);
    assert!(played.is_ok(), "nothing fails by itself: {played:?}");
    let data: Vec<String> = disk.files().iter().map(|(path, _)| path.display().to_string()).collect();
    let data: Vec<&String> = data.iter().filter(|path| path.contains("data-")).collect();
    let last: usize = data.last().map_or(0, |path| path[path.len() - 8..].parse().unwrap());
    (disk.points(), player.store().statistics(), last + 1 - data.len())
}

#[track_caller]
fn must_survive(trial: &Trial) {
    let result = run_trial(trial);
    assert!(result.is_ok(), "{}: {trial:?}", result.unwrap_err());
}

#[test]
fn survives_tests_play_a_workload_in_which_everything_happens() {
    let (points, statistics, deleted) = workload(1);
    println!("{points} points, {statistics:?}, {deleted} deleted");
    assert!(points >= 700, "{points}");
    assert!(
        statistics.flushes > 5 && statistics.checkpoints > 10 && statistics.compacted > 0,
        "{statistics:?}"
    );
    assert!(deleted > 0, "no data file was deleted");
    assert!(statistics.moved > 0 && statistics.from_memory > 0 && statistics.reads > 0, "{statistics:?}");
}

/// The point of a trial: the points of creation are few and all different, so they come first; the others are spread
/// over the rest of the workload.
fn point(number: u64, count: u64, points: u64) -> u64 {
    const CREATION: u64 = 24;
    let first = CREATION.min(count / 3);
    if number < first { number } else { first + (number - first) * (points - first) / (count - first) }
}

fn survive_everywhere(fault: Fault, count: u64, seed: u64) {
    let (points, ..) = workload(seed);
    for number in 0..count.min(points) {
        let mut chance = Chance::of(&[seed, number]);
        let survival = *chance.pick(&[Survival::Random, Survival::Random, Survival::All, Survival::None]);
        let second = (fault != Fault::Full && chance.below(2) == 0).then(|| chance.below(40));
        let point = point(number, count.min(points), points);
        must_survive(&Trial { seed, point, fault, survival, second, ..TRIAL });
    }
}

#[test]
fn survives_a_power_cut_at_every_point() {
    let (count, seed) = torture(50, 1);
    survive_everywhere(Fault::Cut, count, seed);
}

#[test]
fn survives_an_error_at_every_point() {
    let (count, seed) = torture(50, 2);
    survive_everywhere(Fault::Error, count, seed);
}

#[test]
fn survives_a_full_disk_at_every_point() {
    let (count, seed) = torture(30, 3);
    survive_everywhere(Fault::Full, count, seed);
}

/// A failing read is reported and loses nothing: after reopening the store is whole.
#[test]
fn survives_a_failing_read_anywhere() {
    let (count, seed) = torture(30, 4);
    let disk = SimulatedDisk::new(seed);
    let mut player = Player::new(Arc::new(disk.clone()), options());
    work(&mut player, &mut Driver::new(seed, HABITS), STEPS).unwrap();
    let reads = disk.reads();
    let mut told = 0;
    for number in 0..count.min(reads) {
        let read = number * reads / count.min(reads);
        let failed = fail_a_read(seed, read);
        assert!(failed.is_ok(), "{failed:?}: read {read} of {reads}");
        told += u64::from(matches!(failed, Ok(true)));
    }
    assert!(told > count.min(reads) / 4, "only {told} were told");
}

/// Returns whether the failed read was reported.
fn fail_a_read(seed: u64, read: u64) -> Played<bool> {
    let disk = SimulatedDisk::new(seed);
    disk.fail_read_at(read);
    let mut player = Player::new(Arc::new(disk.clone()), options());
    let mut driver = Driver::new(seed, HABITS);
    let told = match work(&mut player, &mut driver, STEPS) {
        Err(Failure::Store(Error::Io { action: "read", .. })) => true,
        Err(failure) => return Err(failure),
        Ok(()) => false,
    };
    player.drop_store();
    work_on(&disk, &mut player, &mut driver, false)?;
    Ok(told)
}

/// The negative control: on a disk whose syncs do nothing, the same check must fail.
#[test]
fn does_not_survive_a_disk_that_ignores_syncs() {
    let (points, ..) = workload(1);
    let lying = |point| Trial { point, survival: Survival::None, ignores_syncs: true, ..TRIAL };
    let chosen = (0..10).map(|place| points / 2 + place * points / 25);
    let failures = chosen.filter(|point| run_trial(&lying(*point)).is_err()).count();
    assert!(failures > 5, "only {failures}");
}
