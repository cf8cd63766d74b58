//! Every change of the disk fails, or is the last before a power cut, in turn (M1–M3). Afterwards the archive is opened
//! again, also with further cuts while it recovers. What was acknowledged must be there, once, byte for byte; of the
//! rest each capture is there whole or not at all; every file can be read from end to end; and the index agrees with
//! the files, capture by capture. The settings cause many points in finishing files, writing checksums, and writing,
//! merging and publishing runs.

use crate::captures::{DIRECTORY, Records, damaged, entries, number_of, open, workload};
use crate::model::{Model, agreed};
use archive::Location;
use base::disk::{Disk, Fault, SimulatedDisk, Survival};
use base::{Capture, Chance};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use warc::Kind;

/// Enough for a merge of runs and a few more files.
const CAPTURES: u64 = 42;

/// Where the acknowledged captures are, by their number.
type Acknowledged = BTreeMap<usize, Location>;

/// Stores the visits in batches until something fails, and says what was acknowledged.
fn store(disk: &SimulatedDisk, visits: &[Capture], seed: u64) -> Acknowledged {
    let mut acknowledged = Acknowledged::new();
    let _ = try_to_store(disk, visits, seed, &mut acknowledged);
    acknowledged
}

fn try_to_store(
    disk: &SimulatedDisk,
    visits: &[Capture],
    seed: u64,
    acknowledged: &mut Acknowledged,
) -> Result<(), archive::Error> {
    let mut chance = Chance::new(seed);
    let (mut archive, mut batch) = (open(disk)?, Vec::new());
    for (number, capture) in visits.iter().enumerate() {
        batch.push((number, archive.append(capture)?.entry.location));
        if chance.below(4) == 0 {
            archive.commit()?;
            acknowledged.append(&mut batch.drain(..).collect());
        }
    }
    archive.close()?;
    acknowledged.append(&mut batch.drain(..).collect());
    Ok(())
}

/// Whether the archive holds what it must and nothing else.
fn check(disk: &SimulatedDisk, visits: &[Capture], acknowledged: &Acknowledged) -> Result<(), String> {
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let (reader, entries) = agreed(&shared, Path::new(DIRECTORY))?;
    let (records, expected) = (Records::read(disk)?, Model::of(visits));
    let mut found = BTreeMap::new();
    for entry in entries {
        let number = number_of(&entry);
        records.compare(&entry, &visits[number])?;
        expected[number].check_entry(&entry)?;
        let document = reader.document(&entry).map_err(|error| format!("{error}: {entry:?}"))?;
        expected[number].check_document(&document).map_err(|error| format!("{error}: {entry:?}"))?;
        if found.insert(number, entry.location).is_some() {
            return Err(format!("capture {number} is there twice"));
        }
    }
    match acknowledged.iter().find(|(number, location)| found.get(number) != Some(location)) {
        Some((number, _)) => Err(format!("capture {number} was acknowledged and is lost or elsewhere")),
        None if damaged(disk) > 0 => Err("a verification finds something".to_owned()),
        None => captures_are_whole(&records),
    }
}

/// Whether each answer has its request.
fn captures_are_whole(records: &Records) -> Result<(), String> {
    for (name, records) in &records.0 {
        let kinds: Vec<Kind> = records.values().map(warc::Record::kind).collect();
        let is_answer = |kind: &Kind| matches!(kind, Kind::Response | Kind::Revisit);
        let goes_together = |pair: &[Kind]| is_answer(&pair[0]) == (pair[1] == Kind::Request);
        let is_whole = kinds.windows(2).all(goes_together) && !kinds.last().is_none_or(is_answer);
        if kinds.first() != Some(&Kind::Warcinfo) || !is_whole {
            return Err(format!("`{name}`: half a capture: {kinds:?}"));
        }
    }
    Ok(())
}

/// Whether every file has its final name and its checksums, and the index covers it.
fn check_names(disk: &SimulatedDisk) -> Result<(), String> {
    let paths: Vec<_> = disk.files().into_iter().map(|(path, _)| path.display().to_string()).collect();
    let archive_files = paths.iter().filter(|path| path.ends_with(".warc.gz"));
    let is_summed = |path: &String| paths.contains(&format!("{path}.sums"));
    let is_finished = |path: &String| !path.ends_with(".open") && !path.ends_with(".tmp");
    let sums = paths.iter().filter(|path| path.ends_with(".sums")).count();
    let is_well = archive_files.clone().all(is_summed) && sums == archive_files.count();
    if is_well && paths.iter().all(is_finished) { Ok(()) } else { Err(format!("unfinished: {paths:?}")) }
}

/// Opens the archive, which finishes what was left. The power may be cut at the given steps of it, or in a later
/// attempt if there are fewer steps.
fn recover(disk: &SimulatedDisk, cuts: &[u64]) -> Result<(), String> {
    for cut in cuts {
        disk.fail_at(disk.points() + cut, Fault::Cut);
        let _ = open(disk);
        disk.restart();
    }
    for _ in cuts {
        if open(disk).is_ok() {
            return Ok(());
        }
        disk.restart();
    }
    open(disk).map(drop).map_err(|error| format!("cannot be opened again: {error}"))
}

/// One trial: store, fail, recover, check. The last power cut shows whether recovery itself made everything durable.
fn run_trial(trial: &Trial) -> Result<(), String> {
    let visits = workload(trial.seed, CAPTURES);
    let disk = SimulatedDisk::new(trial.seed);
    disk.set_survival(trial.survival);
    disk.ignore_syncs(trial.ignores_syncs);
    disk.fail_at(trial.point, trial.fault);
    let acknowledged = store(&disk, &visits, trial.seed);
    if trial.fault == Fault::Cut {
        disk.restart();
    }
    // What a cut leaves unfinished is no damage.
    if trial.fault == Fault::Cut && damaged(&disk) > 0 {
        return Err("a verification before recovery finds damage".to_owned());
    }
    recover(&disk, &trial.recovery_cuts)?;
    check_names(&disk)?;
    check(&disk, &visits, &acknowledged)?;
    // A rename whose sync failed may be undone here; contents are not.
    disk.restart();
    check(&disk, &visits, &acknowledged).map_err(|error| format!("after another cut: {error}"))
}

#[derive(Clone, Debug)]
struct Trial {
    seed: u64,
    point: u64,
    fault: Fault,
    survival: Survival,
    recovery_cuts: Vec<u64>,
    ignores_syncs: bool,
}

const TRIAL: Trial = Trial {
    seed: 1,
    point: 0,
    fault: Fault::Cut,
    survival: Survival::Random,
    recovery_cuts: Vec::new(),
    ignores_syncs: false,
};

/// How many changes the workload asks the disk for.
fn points(seed: u64) -> u64 {
    let disk = SimulatedDisk::new(seed);
    let acknowledged = store(&disk, &workload(seed, CAPTURES), seed);
    assert_eq!(acknowledged.len() as u64, CAPTURES, "nothing fails by itself");
    disk.points()
}

#[track_caller]
fn must_survive(trial: &Trial) {
    let result = run_trial(trial);
    assert!(result.is_ok(), "{}: {trial:?}", result.unwrap_err());
}

#[test]
fn survives_a_power_cut_at_every_point() {
    for point in 0..points(1) {
        for survival in [Survival::All, Survival::None, Survival::Random] {
            must_survive(&Trial { point, survival, ..TRIAL });
        }
    }
}

#[test]
fn survives_an_error_at_every_point() {
    for point in 0..points(1) {
        must_survive(&Trial { point, fault: Fault::Error, ..TRIAL });
    }
}

#[test]
fn survives_power_cuts_while_it_recovers() {
    for point in (0..points(2)).step_by(3) {
        for first in 0..7 {
            must_survive(&Trial {
                seed: 2,
                point,
                recovery_cuts: vec![first, (first * 5 + point) % 7],
                ..TRIAL
            });
        }
    }
}

#[test]
fn survives_random_faults() {
    let number = |name: &str, otherwise: u64| {
        std::env::var(name).map_or(otherwise, |value| value.parse().expect("a number"))
    };
    let (count, seed) = (number("UTSUSHI_TORTURE_COUNT", 150), number("UTSUSHI_TORTURE_SEED", 7));
    for number in 0..count {
        let mut chance = Chance::of(&[seed, number]);
        let seed = chance.bits();
        let trial = Trial {
            seed,
            point: chance.below(points(seed)),
            fault: *chance.pick(&[Fault::Cut, Fault::Cut, Fault::Error]),
            survival: *chance.pick(&[Survival::Random, Survival::Random, Survival::All, Survival::None]),
            recovery_cuts: (0..chance.below(4)).map(|_| chance.below(8)).collect(),
            ignores_syncs: false,
        };
        must_survive(&trial);
    }
}

/// The negative control: on a disk whose syncs do nothing, the same check must fail.
#[test]
fn does_not_survive_a_disk_that_ignores_syncs() {
    let lying = |point| Trial { point, survival: Survival::None, ignores_syncs: true, ..TRIAL };
    let failures = (0..points(1)).filter(|point| run_trial(&lying(*point)).is_err()).count();
    assert!(failures > 20, "only {failures}");
}

#[test]
fn after_a_failed_sync_nothing_more_is_written() {
    let visits = workload(3, 2);
    let disk = SimulatedDisk::new(3);
    let mut archive = open(&disk).unwrap();
    archive.append(&visits[0]).unwrap();
    disk.fail_at(disk.points() + 1, Fault::Error);
    assert!(matches!(archive.commit(), Err(archive::Error::Io { action: "sync", .. })));
    let stopped = |result: Result<(), archive::Error>| matches!(result, Err(archive::Error::Stopped { .. }));
    assert!(stopped(archive.append(&visits[1]).map(drop)));
    assert!(stopped(archive.commit()) && stopped(archive.close()));
    recover(&disk, &[]).unwrap();
    assert!(entries(&disk).is_empty(), "appending the batch again must not store it twice");
}

/// After a failed sync a batch may look written and be lost later, also for the next writer if the batch could not be
/// cut off.
#[test]
fn survives_a_failed_sync_whose_batch_cannot_be_cut_off() {
    let visits = workload(3, 3);
    let mut kept = 0;
    for seed in 0..60 {
        let disk = SimulatedDisk::new(seed);
        let mut archive = open(&disk).unwrap();
        let first = archive.append(&visits[0]).unwrap().entry.location;
        archive.commit().unwrap();
        visits[1..].iter().for_each(|capture| _ = archive.append(capture).unwrap());
        disk.fail_at(disk.points() + 1, Fault::Error);
        disk.fail_at(disk.points() + 2, Fault::Error);
        archive.commit().unwrap_err();
        recover(&disk, &[]).unwrap();
        kept += entries(&disk).len() - 1;
        disk.restart();
        check(&disk, &visits, &Acknowledged::from([(0, first)])).unwrap();
    }
    assert!(kept > 0, "the batch looked written");
}
