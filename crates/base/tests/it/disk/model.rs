//! Random operations on the disks, compared with an independent model.

mod certainty;

use super::{contents, direct};
use base::Chance;
use base::disk::{DirectDisk, Disk, DiskFile, Fault, Open, RealDisk, SimulatedDisk};
use certainty::{Model, NAMES, path};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(super) fn operations() -> u64 {
    crate::number("UTSUSHI_TORTURE_COUNT", 3_000)
}

pub(super) fn seed() -> u64 {
    crate::number("UTSUSHI_TORTURE_SEED", 1)
}

#[test]
fn model_the_real_disk_is_a_map_of_names_to_bytes() {
    let directory = tempfile::tempdir().unwrap();
    play_against_map(&RealDisk, directory.path());
}

#[test]
fn model_the_direct_disk_is_a_map_of_names_to_bytes() {
    let directory = direct::directory();
    play_against_map(&DirectDisk, directory.path());
}

#[test]
fn model_the_simulated_disk_is_a_map_of_names_to_bytes() {
    play_against_map(&SimulatedDisk::new(seed()), Path::new("/"));
}

#[test]
fn model_a_power_cut_keeps_what_was_synced_and_mixes_the_rest_legally() {
    assert_eq!(play_with_cuts(false), Ok(()), "seed {}", seed());
}

/// The negative control: the same test detects a disk that ignores syncs.
#[test]
fn model_a_disk_that_ignores_syncs_is_detected() {
    let loss = play_with_cuts(true).unwrap_err();
    eprintln!("found, as expected: {loss}");
}

fn play_against_map(disk: &dyn Disk, root: &Path) {
    let mut chance = Chance::new(seed());
    let mut map: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    for _ in 0..operations() {
        let path = root.join(chance.index(6).to_string());
        match chance.below(10) {
            0 => {
                let is_new = !map.contains_key(&path);
                assert_eq!(disk.open(&path, Open::CreateNew).is_ok(), is_new);
                map.entry(path.clone()).or_default();
            }
            1 => assert_eq!(disk.remove(&path).is_ok(), map.remove(&path).is_some()),
            2 => {
                let to = root.join(chance.index(6).to_string());
                assert_eq!(disk.rename(&path, &to).is_ok(), map.contains_key(&path));
                if let Some(bytes) = map.remove(&path) {
                    map.insert(to, bytes);
                }
            }
            _ => change_both(disk, &path, map.get_mut(&path), &mut chance),
        }
        assert_eq!(contents(disk, &path).as_ref(), map.get(&path));
    }
    assert_eq!(disk.list(root).unwrap(), map.into_keys().collect::<Vec<_>>());
}

fn change_both(disk: &dyn Disk, path: &Path, bytes: Option<&mut Vec<u8>>, chance: &mut Chance) {
    let (Ok(file), Some(bytes)) = (disk.open(path, Open::Write), bytes) else { return };
    let (place, data) = (chance.index(10_000), random_bytes(chance, 2_000));
    match chance.below(6) {
        0 => {
            file.truncate(place as u64).unwrap();
            bytes.resize(place, 0);
        }
        1 => {
            file.allocate(place as u64).unwrap();
            bytes.resize(bytes.len().max(place), 0);
        }
        _ => {
            file.write_at(place as u64, &data).unwrap();
            let end = if data.is_empty() { 0 } else { place + data.len() };
            bytes.resize(bytes.len().max(end), 0);
            bytes.get_mut(place..end).unwrap_or_default().copy_from_slice(&data);
        }
    }
}

fn random_bytes(chance: &mut Chance, below: usize) -> Vec<u8> {
    let length = chance.index(below);
    random_bytes_of(chance, length)
}

fn random_bytes_of(chance: &mut Chance, length: usize) -> Vec<u8> {
    // No zeros: those mean bytes that were never written.
    (0..length).map(|_| chance.bits().to_le_bytes()[0] | 1).collect()
}

fn play_with_cuts(liar: bool) -> Result<(), String> {
    let mut chance = Chance::new(seed());
    let disk = SimulatedDisk::new(seed());
    ["/0", "/1"].iter().for_each(|directory| disk.create_directory(Path::new(directory)).unwrap());
    disk.sync_directory(Path::new("/")).unwrap();
    disk.ignore_syncs(liar);
    let mut model = Model::default();
    for number in 0..operations() {
        change(&disk, &mut model, &mut chance);
        let is_last = number + 1 == operations();
        if is_last || chance.happens(0.02) {
            disk.cut_now();
            disk.restart();
            model.check(&disk).map_err(|loss| format!("operation {number}: {loss}"))?;
            model = Model::adopt(&disk);
        }
    }
    Ok(())
}

/// One random operation on the disk and the model.
fn change(disk: &SimulatedDisk, model: &mut Model, chance: &mut Chance) {
    let (name, other) = (chance.index(NAMES), chance.index(NAMES));
    match chance.below(20) {
        0..3 => {
            if disk.open(&path(name), Open::CreateNew).is_ok() {
                model.create(name);
            }
        }
        3 => {
            if disk.remove(&path(name)).is_ok() {
                model.remove(name);
            }
        }
        4..6 => {
            if name != other && disk.rename(&path(name), &path(other)).is_ok() {
                model.rename(name, other);
            }
        }
        6..8 => {
            let directory = chance.index(2);
            disk.sync_directory(Path::new(&format!("/{directory}"))).unwrap();
            model.sync_directory(directory);
        }
        _ => change_file(disk, model, name, chance),
    }
}

fn change_file(disk: &SimulatedDisk, model: &mut Model, name: usize, chance: &mut Chance) {
    let Ok(file) = disk.open(&path(name), Open::Write) else { return };
    let place = chance.index(5_000);
    match chance.below(8) {
        0 => {
            file.truncate(place as u64).unwrap();
            model.truncate(name, place);
        }
        1 => {
            file.allocate(place as u64).unwrap();
            model.allocate(name, place);
        }
        2..5 => sync(disk, model, &*file, name, chance.happens(0.1)),
        5 => {
            // A whole page.
            let (place, data) = (chance.index(2) * 4_096, random_bytes_of(chance, 4_096));
            file.write_at(place as u64, &data).unwrap();
            model.write(name, place, data);
        }
        _ => {
            let data = random_bytes(chance, 2_000);
            file.write_at(place as u64, &data).unwrap();
            model.write(name, place, data);
        }
    }
}

fn sync(disk: &SimulatedDisk, model: &mut Model, file: &dyn DiskFile, name: usize, fails: bool) {
    if fails {
        disk.fail_at(disk.points(), Fault::Error);
        file.sync().unwrap_err();
        model.fail_sync(name);
    } else {
        file.sync().unwrap();
        model.sync(name);
    }
}
