//! What is known only after parsing (D11): beside a plain map, through takedowns, full disks and crashes.

use crate::captures::{
    DIRECTORY, START, answer, damaged, entries, not_modified, open, reader, refused, url, workload,
};
use archive::derived::{self, DerivedFacts, DerivedWriter, Facts};
use archive::{Checkpoint, Entry, Error, Location, Stored, Target};
use base::disk::{Disk, Fault, Open, SimulatedDisk, Survival};
use base::{Chance, Interval, Timestamp};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

fn at(seconds: u64) -> Timestamp {
    START.plus(Interval::from_seconds(seconds))
}

fn writer(disk: &SimulatedDisk) -> Result<DerivedWriter, Error> {
    DerivedWriter::open(Arc::new(disk.clone()), Path::new(DIRECTORY))
}

fn table(disk: &SimulatedDisk) -> derived::DerivedReader {
    derived::DerivedReader::open(Arc::new(disk.clone()), Path::new(DIRECTORY))
}

/// The facts of a capture: a function of its location; some have none.
fn facts(entry: &Entry) -> Option<Facts> {
    let mut chance = Chance::of(&[entry.location.offset, entry.group_bytes]);
    let is_content = matches!(entry.kind, Stored::Response | Stored::Resource) && chance.below(4) > 0;
    is_content.then(|| Facts {
        language: Some((*chance.pick(&["ja", "en"])).into()),
        title: (chance.below(2) == 0).then(|| format!("the title of {}", entry.url)),
        text: Some(chance.bits()),
        ..Facts::default()
    })
}

/// Reads at most `count` captures from the table's checkpoint on, as a crawl does.
fn learn(disk: &SimulatedDisk, writer: &mut DerivedWriter, count: usize) -> Result<(), Error> {
    let reader = archive::Reader::open(Arc::new(disk.clone()), Path::new(DIRECTORY))?;
    let arrivals: Result<Vec<(Entry, Checkpoint)>, Error> =
        reader.since(writer.checkpoint().as_ref())?.take(count).collect();
    let arrivals = arrivals?;
    writer.append(arrivals.iter().map(|(entry, _)| (entry, facts(entry))))
}

/// Whether the table has the facts of each capture up to its checkpoint, and nothing about the others.
fn check(disk: &SimulatedDisk, checkpoint: Option<&Checkpoint>) -> Result<(), String> {
    let table = table(disk);
    for entry in entries(disk) {
        let is_read = checkpoint.is_some_and(|checkpoint| checkpoint.is_after(&entry.location));
        let expected = facts(&entry).filter(|_| is_read);
        let found = table.get(&entry.location).map_err(|error| error.to_string())?;
        if found != expected {
            return Err(format!("`{}` at {:?}: {found:?}", entry.url, entry.location));
        }
        let said = table.is_read(&entry.location).map_err(|error| error.to_string())?;
        if said != is_read {
            return Err(format!("whether {:?} was read: {said}", entry.location));
        }
    }
    Ok(())
}

#[test]
fn model_the_table_has_the_facts_up_to_its_checkpoint() {
    for round in 0..8 {
        let (disk, mut chance) = (SimulatedDisk::new(round), Chance::of(&[round, 5]));
        let mut archive = open(&disk).unwrap();
        let mut writer = writer(&disk).unwrap();
        assert_eq!(writer.checkpoint(), None);
        for capture in workload(round, 120) {
            archive.append(&capture).unwrap();
            match chance.below(10) {
                0..=2 => archive.commit().unwrap(),
                3 => learn(&disk, &mut writer, usize::MAX).unwrap(),
                4 => learn(&disk, &mut writer, 1).unwrap(),
                5 => writer.sync().unwrap(),
                6 => writer = self::writer(&disk).unwrap(),
                7 => check(&disk, writer.checkpoint().as_ref()).unwrap(),
                _ => {}
            }
        }
        archive.close().unwrap();
        learn(&disk, &mut writer, usize::MAX).unwrap();
        check(&disk, writer.checkpoint().as_ref()).unwrap();
        assert!(reader(&disk).since(writer.checkpoint().as_ref()).unwrap().next().is_none());
        assert_eq!(damaged(&disk), 0);
        derived::clear(&disk, Path::new(DIRECTORY)).unwrap();
        check(&disk, None).unwrap();
        assert!(!table(&disk).exists().unwrap());
    }
}

#[test]
fn appending_again_changes_nothing() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let stored: Vec<Entry> =
        workload(1, 20).iter().map(|capture| archive.append(capture).unwrap().entry).collect();
    archive.close().unwrap();
    let mut writer = writer(&disk).unwrap();
    let rows = || stored.iter().map(|entry| (entry, facts(entry)));
    writer.append(rows()).unwrap();
    let (checkpoint, files) = (writer.checkpoint(), disk.files());
    writer.append(rows()).unwrap();
    assert_eq!((writer.checkpoint(), disk.files()), (checkpoint, files));
}

#[test]
fn a_revisit_has_the_facts_of_its_original() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let captures = [
        answer("a", at(1), "", b"the text"),
        answer("b", at(2), "", b"the text"),
        not_modified("a", at(3)),
        refused("c", at(4), ""),
        answer("d", at(5), "", b"not read yet"),
    ];
    let stored = captures.map(|capture| archive.append(&capture).unwrap().entry);
    archive.commit().unwrap();
    let known = Facts { language: Some("ja".into()), ..Facts::default() };
    let found = |entry: &Entry| (entry.kind == Stored::Response).then(|| known.clone());
    let mut writer = writer(&disk).unwrap();
    writer.append(stored[..4].iter().map(|entry| (entry, found(entry)))).unwrap();
    let (table, reader) = (table(&disk), reader(&disk));
    let told = stored.each_ref().map(|entry| table.of(entry, &reader).unwrap());
    let known = DerivedFacts::Known(known);
    assert_eq!(told, [known.clone(), known.clone(), known, DerivedFacts::Nothing, DerivedFacts::Unread]);
    // A reader sees what is appended later.
    writer.append([(&stored[4], None)]).unwrap();
    assert_eq!(table.of(&stored[4], &reader).unwrap(), DerivedFacts::Nothing);
}

/// Whether any file of the disk holds these bytes; archive files are compressed and not looked into.
fn holds(disk: &SimulatedDisk, words: &str) -> bool {
    disk.files().into_iter().any(|(path, length)| {
        let mut bytes = vec![0; usize::try_from(length).unwrap()];
        disk.open(&path, Open::Read).unwrap().read_at(0, &mut bytes).unwrap();
        bytes.windows(words.len()).any(|window| window == words.as_bytes())
    })
}

#[test]
fn a_takedown_reaches_the_table_and_the_writer_continues() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let mut rows = Vec::new();
    for number in 0..12 {
        let path = format!("{}/{number}", if number % 2 == 0 { "private" } else { "public" });
        let entry = archive.append(&answer(&path, at(number), "", path.as_bytes())).unwrap().entry;
        rows.push((entry, Facts { title: Some(format!("title of {path}")), ..Facts::default() }));
    }
    archive.commit().unwrap();
    let mut writer = writer(&disk).unwrap();
    writer.append(rows.iter().map(|(entry, facts)| (entry, Some(facts.clone())))).unwrap();
    assert!(holds(&disk, "title of private/4"));
    let target = Target::prefix(url("private/").as_str()).unwrap();
    archive.takedown(&target, "", at(100), &mut |_, _| {}).unwrap();
    assert!(!holds(&disk, "title of private/"));
    for (entry, facts) in &rows {
        let expected = Some(facts.clone()).filter(|_| !target.holds(&entry.key));
        assert_eq!(table(&disk).get(&entry.location).unwrap(), expected);
        assert!(table(&disk).is_read(&entry.location).unwrap());
    }
    // The writer was open meanwhile, and its last journal is another file now.
    let later = archive.append(&answer("public/later", at(101), "", b"x")).unwrap();
    archive.commit().unwrap();
    let arrivals: Vec<Entry> = reader(&disk)
        .since(writer.checkpoint().as_ref())
        .unwrap()
        .map(|arrival| arrival.unwrap().0)
        .collect();
    writer.append(arrivals.iter().map(|entry| (entry, None))).unwrap();
    assert_eq!(writer.checkpoint(), Some(later.checkpoint()));
    assert_eq!(self::writer(&disk).unwrap().checkpoint(), Some(later.checkpoint()));
}

#[test]
fn a_takedown_in_the_growing_journal_moves_its_end() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    let stored = ["gone", "a", "b"]
        .map(|path| archive.append(&answer(path, START, "", path.as_bytes())).unwrap().entry);
    archive.commit().unwrap();
    let titled = |text: &str| Some(Facts { title: Some(text.to_owned()), ..Facts::default() });
    let mut writer = writer(&disk).unwrap();
    writer.append([(&stored[0], titled("a long title of what goes")), (&stored[1], titled("a"))]).unwrap();
    let target = Target::url(url("gone").as_str()).unwrap();
    archive.takedown(&target, "", at(9), &mut |_, _| {}).unwrap();
    writer.append([(&stored[2], titled("b"))]).unwrap();
    let title = |entry: &Entry| table(&disk).get(&entry.location).unwrap().and_then(|facts| facts.title);
    assert_eq!(stored.each_ref().map(title), [None, Some("a".into()), Some("b".into())]);
}

#[test]
fn a_full_disk_is_waited_for() {
    let disk = SimulatedDisk::new(1);
    let mut archive = open(&disk).unwrap();
    workload(2, 20).iter().for_each(|capture| _ = archive.append(capture).unwrap());
    archive.close().unwrap();
    let mut writer = writer(&disk).unwrap();
    let mut failures = 0;
    loop {
        disk.fail_at(disk.points() + failures % 3, Fault::Full);
        match learn(&disk, &mut writer, usize::MAX) {
            Err(error) => assert!(error.is_disk_full(), "{error}"),
            Ok(()) => break,
        }
        disk.make_room();
        failures += 1;
        check(&disk, writer.checkpoint().as_ref()).unwrap();
        learn(&disk, &mut writer, 3).unwrap();
    }
    disk.make_room();
    assert!(failures > 2, "{failures}");
    check(&disk, writer.checkpoint().as_ref()).unwrap();
}

/// Stores captures and reads them, until something fails.
fn store_and_learn(disk: &SimulatedDisk, seed: u64) -> Result<(), Error> {
    let mut chance = Chance::new(seed);
    let mut archive = open(disk)?;
    let mut writer = writer(disk)?;
    for capture in workload(seed, 30) {
        archive.append(&capture)?;
        match chance.below(5) {
            0 | 1 => archive.commit()?,
            2 => learn(disk, &mut writer, usize::MAX)?,
            3 if chance.below(3) == 0 => writer.sync()?,
            _ => {}
        }
    }
    archive.close()?;
    learn(disk, &mut writer, usize::MAX)?;
    writer.sync()
}

fn live_and_die(point: u64, survival: Survival, ignores_syncs: bool) -> Result<(), String> {
    let disk = SimulatedDisk::new(point);
    disk.set_survival(survival);
    disk.ignore_syncs(ignores_syncs);
    disk.fail_at(point, Fault::Cut);
    let _ = store_and_learn(&disk, 6);
    disk.restart();
    let told = |error: Error| error.to_string();
    open(&disk).map_err(told)?.close().map_err(told)?;
    let mut writer = writer(&disk).map_err(told)?;
    check(&disk, writer.checkpoint().as_ref())?;
    // It is rebuilt from there, and then durable.
    learn(&disk, &mut writer, usize::MAX).map_err(told)?;
    writer.sync().map_err(told)?;
    disk.restart();
    check(&disk, writer.checkpoint().as_ref()).map_err(|error| format!("after another cut: {error}"))?;
    let left = reader(&disk).since(writer.checkpoint().as_ref()).map_err(told)?.count();
    if left == 0 { Ok(()) } else { Err(format!("{left} captures were not read")) }
}

fn points() -> u64 {
    let disk = SimulatedDisk::new(0);
    store_and_learn(&disk, 6).unwrap();
    disk.points()
}

#[test]
fn survives_a_power_cut_at_every_point_of_the_table() {
    for point in 0..points() {
        for survival in [Survival::All, Survival::None, Survival::Random] {
            let result = live_and_die(point, survival, false);
            assert!(result.is_ok(), "{point} {survival:?}: {}", result.unwrap_err());
        }
    }
}

/// The negative control: on a disk whose syncs do nothing, the same check must fail.
#[test]
fn the_table_does_not_survive_a_disk_that_ignores_syncs() {
    let fails = |point: &u64| {
        std::panic::catch_unwind(|| live_and_die(*point, Survival::Random, true)).is_ok_and(|it| it.is_err())
    };
    let failures = (0..points()).filter(fails).count();
    assert!(failures > 5, "only {failures}");
}

#[test]
fn a_damaged_frame_ends_its_journal_and_nothing_else() {
    let disk = SimulatedDisk::new(3);
    let mut archive = open(&disk).unwrap();
    let stored: Vec<Entry> =
        workload(7, 40).iter().map(|capture| archive.append(capture).unwrap().entry).collect();
    archive.close().unwrap();
    let mut writer = writer(&disk).unwrap();
    stored.iter().for_each(|entry| writer.append([(entry, facts(entry))]).unwrap());
    writer.sync().unwrap();
    let by_file: BTreeMap<Arc<str>, Vec<Location>> = stored.iter().fold(BTreeMap::new(), |mut map, entry| {
        map.entry(Arc::clone(&entry.location.file)).or_insert_with(Vec::new).push(entry.location.clone());
        map
    });
    let mut chance = Chance::new(1);
    for (file, locations) in &by_file {
        let path = Path::new(DIRECTORY).join(format!("{file}.derived"));
        let bits = disk.open(&path, Open::Read).unwrap().length().unwrap() * 8;
        let bit = chance.below(bits);
        disk.flip_bit(&path, bit).unwrap();
        let table = table(&disk);
        let read: Vec<bool> = locations.iter().map(|location| table.is_read(location).unwrap()).collect();
        assert!(read.is_sorted_by(|one, other| one >= other) && !read[read.len() - 1], "{read:?}");
        for (location, is_read) in locations.iter().zip(read) {
            let entry = stored.iter().find(|entry| entry.location == *location).unwrap();
            assert_eq!(table.get(location).unwrap(), facts(entry).filter(|_| is_read));
        }
        disk.flip_bit(&path, bit).unwrap();
    }
    check(&disk, writer.checkpoint().as_ref()).unwrap();
}
