//! Random use of an archive with tiny files, compared with plain maps; and index and checksums before a loss and after
//! rebuilding.

use crate::captures::{DIRECTORY, START, settings, visit_at};
use crate::model::{Model, agreed};
use archive::{Archive, Entry, Reader, Recovery};
use base::disk::{Disk, Open, SimulatedDisk};
use base::{Chance, Interval};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A number from the environment.
pub(crate) fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().expect("a number"))
}

fn open(disk: &SimulatedDisk) -> (Archive, Recovery) {
    Archive::open(Arc::new(disk.clone()), Path::new(DIRECTORY), settings(), START).unwrap()
}

/// Compares everything that the archive says with the model.
#[track_caller]
fn check(disk: &SimulatedDisk, model: &Model) -> Vec<Entry> {
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let (reader, entries) = agreed(&shared, Path::new(DIRECTORY)).unwrap();
    assert_eq!(entries.len(), model.all().count());
    for (entry, (key, at, expected)) in entries.iter().zip(model.all()) {
        assert_eq!((&entry.key, entry.at), (key, at));
        expected.check_entry(entry).unwrap();
        let document = reader.document(entry).unwrap();
        expected.check_document(&document).unwrap_or_else(|error| panic!("{error}: {entry:?}"));
        reader.group(entry).unwrap();
    }
    entries
}

/// Fills an archive with captures in any order of dates, with ties, and checks it on the way.
fn fill(disk: &SimulatedDisk, seed: u64, captures: u64) -> Model {
    let mut chance = Chance::of(&[seed, 1]);
    let (mut model, mut archive) = (Model::default(), open(disk).0);
    for _ in 0..captures {
        let at = START.plus(Interval::from_seconds(chance.below(captures / 2)));
        let capture = visit_at(&mut chance, at);
        let expected = model.append(&capture);
        assert_eq!(archive.append(&capture).unwrap().entry.kind, expected.kind);
        match chance.below(16) {
            0..4 => archive.commit().unwrap(),
            4 => {
                archive.commit().unwrap();
                check(disk, &model);
            }
            5 => {
                archive.close().unwrap();
                check(disk, &model);
                archive = open(disk).0;
            }
            6 => {
                // The process dies with an empty batch.
                archive.commit().unwrap();
                drop(archive);
                archive = open(disk).0;
                check(disk, &model);
            }
            _ => {}
        }
    }
    archive.close().unwrap();
    model
}

#[test]
fn model_reading_agrees_with_plain_maps() {
    let (rounds, seed) = (number("UTSUSHI_TORTURE_COUNT", 12), number("UTSUSHI_TORTURE_SEED", 1));
    for round in 0..rounds {
        let disk = SimulatedDisk::new(round);
        let model = fill(&disk, seed.wrapping_add(round), 150);
        check(&disk, &model);
    }
}

/// What can happen to what is derived.
#[derive(Clone, Copy, Debug)]
enum Loss {
    Index,
    IndexAndSums,
    Current,
    OneRun,
    AllSums,
    /// A bit of the file that says what the index is made of.
    CurrentRots,
    /// A bit of a run.
    RunRots,
    /// A bit of the checksums of a file, when there is no index either.
    SumsRot,
    /// The end of the checksums of a file, when there is no index either.
    SumsAreCut,
}

const LOSSES: [Loss; 9] = [
    Loss::Index,
    Loss::IndexAndSums,
    Loss::Current,
    Loss::OneRun,
    Loss::AllSums,
    Loss::CurrentRots,
    Loss::RunRots,
    Loss::SumsRot,
    Loss::SumsAreCut,
];

fn paths(disk: &SimulatedDisk, end: &str) -> Vec<PathBuf> {
    let paths = disk.files().into_iter().map(|(path, _)| path);
    paths.filter(|path| path.to_str().unwrap().ends_with(end)).collect()
}

fn remove(disk: &SimulatedDisk, paths: &[PathBuf]) {
    paths.iter().for_each(|path| disk.remove(path).unwrap());
}

fn rot(disk: &SimulatedDisk, path: &Path, chance: &mut Chance) {
    let bits = disk.open(path, Open::Read).unwrap().length().unwrap() * 8;
    disk.flip_bit(path, chance.below(bits)).unwrap();
}

fn lose(disk: &SimulatedDisk, loss: Loss, chance: &mut Chance) {
    let (runs, sums, current) = (paths(disk, ".run"), paths(disk, ".sums"), paths(disk, "CURRENT"));
    match loss {
        Loss::Index => remove(disk, &[runs, current].concat()),
        Loss::IndexAndSums => remove(disk, &[runs, current, sums].concat()),
        Loss::Current => remove(disk, &current),
        Loss::OneRun => remove(disk, &[chance.pick(&runs).clone()]),
        Loss::AllSums => remove(disk, &sums),
        Loss::CurrentRots => rot(disk, &current[0], chance),
        Loss::RunRots => rot(disk, &chance.pick(&runs).clone(), chance),
        Loss::SumsRot => {
            rot(disk, &chance.pick(&sums).clone(), chance);
            remove(disk, &[runs, current].concat());
        }
        Loss::SumsAreCut => {
            let file = disk.open(chance.pick::<PathBuf>(&sums), Open::Write).unwrap();
            file.truncate(chance.below(file.length().unwrap())).unwrap();
            remove(disk, &[runs, current].concat());
        }
    }
}

/// Whether a reader returns what it returned before, or an error.
fn check_reader(disk: &SimulatedDisk, whole: &[Entry], loss: Loss) {
    let Ok(reader) = Reader::open(Arc::new(disk.clone()), Path::new(DIRECTORY)) else {
        assert!(matches!(loss, Loss::OneRun | Loss::CurrentRots | Loss::RunRots), "{loss:?}");
        return;
    };
    let mut found = Vec::new();
    let entries = match reader.all() {
        Ok(entries) => entries,
        Err(error) => return assert!(matches!(loss, Loss::RunRots), "{loss:?}: {error}"),
    };
    for entry in entries {
        match entry {
            Ok(entry) => found.push(entry),
            Err(error) => {
                assert!(matches!(loss, Loss::RunRots), "{loss:?}: {error}");
                return;
            }
        }
    }
    found.reverse();
    assert_eq!(found.len(), whole.len(), "{loss:?}");
    for (found, whole) in found.iter().zip(whole) {
        // Until the checksums are rebuilt, the targets of revisits are unknown.
        let body = if found.body.is_none() { None } else { whole.body.clone() };
        assert_eq!(*found, Entry { body, ..whole.clone() }, "{loss:?}");
    }
}

#[test]
fn model_what_is_rebuilt_is_what_was_lost() {
    let (rounds, seed) = (number("UTSUSHI_TORTURE_COUNT", 6), number("UTSUSHI_TORTURE_SEED", 1));
    for round in 0..rounds {
        let disk = SimulatedDisk::new(round);
        let mut chance = Chance::of(&[seed, round, 2]);
        let model = fill(&disk, seed.wrapping_add(round), 120);
        let whole = check(&disk, &model);
        for loss in LOSSES {
            lose(&disk, loss, &mut chance);
            check_reader(&disk, &whole, loss);
            let (archive, recovery) = open(&disk);
            drop(archive);
            let says = (recovery.index.is_some(), !recovery.summed.is_empty());
            match loss {
                Loss::Index | Loss::Current => assert_eq!(says, (false, false)),
                Loss::IndexAndSums | Loss::AllSums | Loss::SumsRot | Loss::SumsAreCut => {
                    assert_eq!(says, (false, true), "{loss:?}");
                }
                Loss::OneRun | Loss::CurrentRots => assert_eq!(says, (true, false), "{loss:?}"),
                // What is in the blocks of a run is seen when they are read.
                Loss::RunRots if !says.0 => {
                    assert!(Reader::open(Arc::new(disk.clone()), Path::new(DIRECTORY)).is_ok());
                    remove(&disk, &[paths(&disk, ".run"), paths(&disk, "CURRENT")].concat());
                    drop(open(&disk));
                }
                Loss::RunRots => {}
            }
            assert!(recovery.files.is_empty(), "{recovery:?}");
            let again = check(&disk, &model);
            assert_eq!(again, whole, "{loss:?}");
        }
    }
}
