//! Captures in the order of arrival, from a checkpoint on: against a plain list, through takedowns, lost checksums and
//! crashes.

use crate::captures::{DIRECTORY, START, answer, entries, open, reader, url, visit_at, workload};
use archive::{Archive, Checkpoint, Entry, Error, Group, Imported, Location, Reader, Target};
use base::disk::{Disk, Fault, Open, SimulatedDisk, Survival};
use base::{Chance, Interval, Timestamp};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What arrived at a checkpoint or later, without notes of takedowns.
#[track_caller]
fn since(reader: &Reader, checkpoint: Option<&Checkpoint>) -> Vec<(Entry, Checkpoint)> {
    let all = reader.since(checkpoint).unwrap().map(Result::unwrap);
    all.filter(|(entry, _)| !entry.key.as_str().starts_with("!urn:utsushi:takedown:")).collect()
}

fn locations(arrivals: &[(Entry, Checkpoint)]) -> Vec<Location> {
    arrivals.iter().map(|(entry, _)| entry.location.clone()).collect()
}

/// What was stored, in order, and which of it is still there.
#[derive(Default)]
struct Stored {
    all: Vec<(Entry, bool)>,
    /// How many of them were certainly durable.
    durable: usize,
    /// Places and how many arrived before each.
    checkpoints: Vec<(Checkpoint, usize)>,
}

impl Stored {
    fn add(&mut self, entry: &Entry) {
        self.all.push((entry.clone(), true));
        self.checkpoints.push((Checkpoint::after(entry), self.all.len()));
    }
    fn remove(&mut self, is_gone: impl Fn(&Entry) -> bool) {
        self.all.iter_mut().filter(|(entry, _)| is_gone(entry)).for_each(|(_, is_there)| *is_there = false);
    }
    /// What is still there, from a number of arrival on.
    fn rest(&self, from: usize) -> Vec<Location> {
        let there = self.all.iter().skip(from).filter(|(_, is_there)| *is_there);
        there.map(|(entry, _)| entry.location.clone()).collect()
    }

    #[track_caller]
    fn check(&self, disk: &SimulatedDisk) {
        let reader = reader(disk);
        let found = since(&reader, None);
        let whole = self.rest(0);
        let durable = self.all.iter().take(self.durable).filter(|(_, is_there)| *is_there).count();
        assert!(found.len() >= durable && whole.starts_with(&locations(&found)), "{found:?}");
        for (number, (_, checkpoint)) in found.iter().enumerate() {
            assert_eq!(since(&reader, Some(checkpoint)), found[number + 1..]);
        }
        let durable_checkpoints = self.checkpoints.iter().filter(|(_, from)| *from <= self.durable);
        for (checkpoint, from) in durable_checkpoints {
            let rest = self.rest(*from);
            assert!(rest.starts_with(&locations(&since(&reader, Some(checkpoint)))), "{checkpoint}");
            let missing = whole.len() - found.len();
            assert_eq!(
                since(&reader, Some(checkpoint)).len(),
                rest.len() - missing.min(rest.len()),
                "{checkpoint}"
            );
        }
    }
}

/// A page that someone else archived, with its own date.
fn group(chance: &mut Chance) -> Group {
    let at = START.minus(Interval::from_seconds(chance.below(1_000_000)));
    let path = format!("page-{}", chance.below(9));
    let block = format!("HTTP/1.1 200 OK\r\n\r\nbody {}", chance.below(5));
    Group::of_answer(url(&path).as_str(), None, at, block.into_bytes())
}

/// Removes a page; captures that referred to its bytes arrive again.
fn take_down(archive: &mut Archive, stored: &mut Stored, path: &str, at: Timestamp) {
    let target = Target::url(url(path).as_str()).unwrap();
    let receipt = archive.takedown(&target, "", at, &mut |_, _| {}).unwrap();
    stored.remove(|entry| target.holds(&entry.key));
    for moved in receipt.moved {
        stored.remove(|entry| (&entry.key, entry.at) == (&moved.key, moved.at));
        stored.add(&moved);
    }
    stored.durable = stored.all.len();
}

fn step(disk: &SimulatedDisk, mut archive: Archive, stored: &mut Stored, chance: &mut Chance) -> Archive {
    let at = START.plus(Interval::from_micros(chance.below(1 << 40)));
    match chance.below(42) {
        0..=22 => match archive.append(&visit_at(chance, at)) {
            Ok(appended) => {
                assert_eq!(appended.checkpoint(), Checkpoint::after(&appended.entry));
                stored.add(&appended.entry);
            }
            Err(Error::TakenDown { .. }) => {}
            Err(error) => panic!("{error}"),
        },
        23..=28 => {
            if let Imported::Added(entry) = archive.import(&group(chance)).unwrap() {
                stored.add(&entry);
            }
        }
        29..=34 => {
            archive.commit().unwrap();
            stored.durable = stored.all.len();
        }
        35 => {
            let path = format!("page-{}", 5 + chance.below(4));
            take_down(&mut archive, stored, &path, at);
        }
        36 => {
            archive.close().unwrap();
            stored.durable = stored.all.len();
            archive = open(disk).unwrap();
        }
        37 | 38 => stored.add(&archive.note("seed", at, "http://example.org/").unwrap().entry),
        _ => stored.check(disk),
    }
    archive
}

#[test]
fn model_reading_from_any_checkpoint_gives_exactly_the_rest() {
    for round in 0..14 {
        let (disk, mut chance) = (SimulatedDisk::new(round), Chance::of(&[round, 11]));
        let (mut archive, mut stored) = (open(&disk).unwrap(), Stored::default());
        for _ in 0..130 {
            archive = step(&disk, archive, &mut stored, &mut chance);
        }
        archive.close().unwrap();
        stored.durable = stored.all.len();
        stored.check(&disk);
        assert!(disk.files().len() > 8, "over many files");
        lose_sums(&disk, &mut chance);
        stored.check(&disk);
    }
}

/// Removes the checksums of some files, cuts those of others, and flips a bit of others.
fn lose_sums(disk: &SimulatedDisk, chance: &mut Chance) {
    let paths = disk.files().into_iter().map(|(path, _)| path);
    let sums: Vec<PathBuf> = paths.filter(|path| path.to_str().unwrap().ends_with(".sums")).collect();
    for path in sums {
        let file = disk.open(&path, Open::Write).unwrap();
        let length = file.length().unwrap();
        match chance.below(4) {
            0 => disk.remove(&path).unwrap(),
            1 => file.truncate(chance.below(length)).unwrap(),
            2 => disk.flip_bit(&path, chance.below(length * 8)).unwrap(),
            _ => {}
        }
    }
}

#[test]
fn captures_come_in_order_of_arrival_whatever_their_dates() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let later = answer("a", START.plus(Interval::from_days(9)), "", b"later");
    let earlier = answer("a", START, "", b"earlier");
    let first = archive.append(&later).unwrap();
    let second = archive.append(&earlier).unwrap();
    assert!(since(&reader(&disk), None).is_empty(), "nothing is durable");
    archive.commit().unwrap();
    let found = since(&reader(&disk), None);
    let expected = [&first, &second].map(|appended| (appended.entry.clone(), appended.checkpoint()));
    assert_eq!(found, expected);
    assert!(since(&reader(&disk), Some(&second.checkpoint())).is_empty(), "the end of a file that grows");
    archive.close().unwrap();
    assert!(since(&reader(&disk), Some(&second.checkpoint())).is_empty(), "the end of a finished one");
    let mut archive = open(&disk).unwrap();
    let third = archive.append(&answer("b", START, "", b"")).unwrap();
    archive.commit().unwrap();
    assert_eq!(
        since(&reader(&disk), Some(&second.checkpoint())),
        [(third.entry.clone(), third.checkpoint())]
    );
}

#[test]
fn a_file_that_is_finished_meanwhile_is_read_to_its_end() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let visits = workload(5, 12);
    visits[..4].iter().for_each(|capture| _ = archive.append(capture).unwrap());
    archive.commit().unwrap();
    let mut arrivals = reader(&disk).since(None).unwrap();
    visits[4..].iter().for_each(|capture| _ = archive.append(capture).unwrap());
    archive.close().unwrap();
    let first: Vec<(Entry, Checkpoint)> = arrivals.by_ref().map(Result::unwrap).collect();
    assert!((4..12).contains(&first.len()), "{}", first.len());
    let rest = since(&reader(&disk), Some(&first.last().unwrap().1));
    assert_eq!(first.len() + rest.len(), 12);
    let all: Vec<Location> = entries(&disk).into_iter().map(|entry| entry.location).collect();
    assert_eq!([locations(&first), locations(&rest)].concat(), all);
}

/// A reader that follows the archive, and what it has seen.
#[derive(Default)]
struct Follower {
    checkpoint: Option<Checkpoint>,
    seen: Vec<Location>,
}

impl Follower {
    fn follow(&mut self, disk: &SimulatedDisk) -> Result<(), Error> {
        let reader = Reader::open(Arc::new(disk.clone()), Path::new(DIRECTORY))?;
        for arrival in reader.since(self.checkpoint.as_ref())? {
            let (entry, checkpoint) = arrival?;
            self.seen.push(entry.location);
            self.checkpoint = Some(checkpoint);
        }
        Ok(())
    }
}

/// Stores captures and follows them, until something fails.
fn store_and_follow(disk: &SimulatedDisk, seed: u64, follower: &mut Follower) -> Result<(), Error> {
    let mut chance = Chance::new(seed);
    let mut archive = open(disk)?;
    for capture in workload(seed, 24) {
        archive.append(&capture)?;
        if chance.below(3) == 0 {
            archive.commit()?;
        }
        follower.follow(disk)?;
    }
    archive.close()?;
    follower.follow(disk)
}

/// Whether a follower of an archive sees each capture once, in order, despite a power cut at a point.
fn follows(point: u64, survival: Survival, ignores_syncs: bool) -> Result<(), String> {
    let (disk, mut follower) = (SimulatedDisk::new(point), Follower::default());
    disk.set_survival(survival);
    disk.ignore_syncs(ignores_syncs);
    disk.fail_at(point, Fault::Cut);
    let _ = store_and_follow(&disk, 3, &mut follower);
    disk.restart();
    follower.follow(&disk).map_err(|error| error.to_string())?;
    let mut archive = open(&disk).map_err(|error| error.to_string())?;
    for capture in workload(4, 7) {
        archive.append(&capture).map_err(|error| error.to_string())?;
    }
    archive.close().map_err(|error| error.to_string())?;
    follower.follow(&disk).map_err(|error| error.to_string())?;
    let all: Vec<Location> = entries(&disk).into_iter().map(|entry| entry.location).collect();
    if follower.seen == all { Ok(()) } else { Err(format!("saw {:?} of {all:?}", follower.seen)) }
}

fn points() -> u64 {
    let disk = SimulatedDisk::new(0);
    store_and_follow(&disk, 3, &mut Follower::default()).unwrap();
    disk.points()
}

#[test]
fn survives_a_power_cut_at_every_point_with_its_checkpoint() {
    for point in 0..points() {
        for survival in [Survival::All, Survival::None, Survival::Random] {
            let result = follows(point, survival, false);
            assert!(result.is_ok(), "{point} {survival:?}: {}", result.unwrap_err());
        }
    }
}

/// The negative control: on a disk whose syncs do nothing, the same check must fail.
#[test]
fn does_not_survive_on_a_disk_that_ignores_syncs() {
    let failures = (0..points()).filter(|point| follows(*point, Survival::None, true).is_err()).count();
    assert!(failures > 10, "only {failures}");
}

/// A batch that is written, whose sync fails, and that cannot be taken back looks whole and is lost with the power.
#[test]
fn survives_a_batch_that_only_looks_written() {
    let disk = SimulatedDisk::new(5);
    disk.set_survival(Survival::None);
    let visits = workload(3, 3);
    let mut archive = open(&disk).unwrap();
    let first = archive.append(&visits[0]).unwrap();
    archive.commit().unwrap();
    visits[1..].iter().for_each(|capture| _ = archive.append(capture).unwrap());
    disk.fail_at(disk.points() + 1, Fault::Error);
    disk.fail_at(disk.points() + 2, Fault::Error);
    archive.commit().unwrap_err();
    assert!(entries(&disk).len() > 1, "it looks written");
    assert_eq!(locations(&since(&reader(&disk), None)), [first.entry.location]);
}
