//! Power cuts, errors and a full disk while pages are taken down, captures imported, and the index rebuilt (M1–M4,
//! D13). The next writer finds the work done, or not started, or finishes it.

use crate::captures::{DIRECTORY, Records, START, damaged, number_of, open, url, workload};
use crate::model::{Model, agreed};
use archive::{Archive, Entry, Error, Grouper, Imported, Key, Stored, Target};
use base::disk::{Disk, Fault, SimulatedDisk, Survival};
use base::{Capture, Interval, Timestamp};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

const CAPTURES: u64 = 36;
/// The page that is taken down.
const PAGE: &str = "page-1";

fn later() -> Timestamp {
    START.plus(Interval::from_days(1))
}

/// A disk with an archive on it, all of it durable.
fn filled(visits: &[Capture]) -> SimulatedDisk {
    let disk = SimulatedDisk::new(31);
    let mut archive = open(&disk).unwrap();
    visits.iter().for_each(|capture| _ = archive.append(capture).unwrap());
    archive.close().unwrap();
    disk
}

fn shared(disk: &SimulatedDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

/// The captures of pages, which the index and the files agree on and whose documents are what they were.
fn visits_of(disk: &SimulatedDisk, visits: &[Capture]) -> Result<Vec<Entry>, String> {
    let (reader, entries) = agreed(&shared(disk), Path::new(DIRECTORY))?;
    let expected = Model::of(visits);
    let entries: Vec<Entry> = entries.into_iter().filter(|entry| entry.kind != Stored::Other).collect();
    for entry in &entries {
        let document = reader.document(entry).map_err(|error| format!("{error}: {entry:?}"))?;
        let result = expected[number_of(entry)].check_document(&document);
        result.map_err(|error| format!("{error}: {entry:?}"))?;
    }
    if damaged(disk) > 0 { Err("a verification finds something".to_owned()) } else { Ok(entries) }
}

/// Runs `work` with faults at its points in turn, restarts the machine, opens the archive and calls `check`.
fn at_points(
    visits: &[Capture],
    work: impl Fn(&SimulatedDisk) -> Result<(), Error>,
    check: impl Fn(&SimulatedDisk, bool) -> Result<(), String>,
) {
    let trial = filled(visits);
    let before = trial.points();
    work(&trial).unwrap();
    let points = trial.points() - before;
    check(&trial, true).unwrap();
    // In short, every seventh point; the tortures try all.
    let step = if std::env::var_os("UTSUSHI_TORTURE_COUNT").is_some() { 1 } else { 7 };
    for point in (0..points).step_by(step) {
        let faults = [
            (
                Fault::Cut,
                [Survival::Random, Survival::None, Survival::All][usize::try_from(point % 3).unwrap()],
            ),
            (Fault::Error, Survival::Random),
            (Fault::Full, Survival::Random),
        ];
        for (fault, survival) in faults {
            let disk = filled(visits);
            disk.set_survival(survival);
            disk.fail_at(disk.points() + point, fault);
            let is_done = work(&disk).is_ok();
            disk.make_room();
            let said = |error| format!("{error}: {fault:?} at {point} of {points}, {survival:?}");
            if fault == Fault::Cut {
                disk.restart();
                // Recovery is cut as well, or, if it has fewer steps, the next one.
                disk.fail_at(disk.points() + point % 11, Fault::Cut);
                let _ = open(&disk);
                disk.restart();
            }
            for _ in 0..2 {
                if open(&disk).is_err() {
                    disk.restart();
                }
            }
            drop(open(&disk).map_err(|error| said(error.to_string())).unwrap());
            check(&disk, is_done).map_err(said).unwrap();
            disk.restart();
            check(&disk, is_done).map_err(|error| said(format!("after another cut: {error}"))).unwrap();
        }
    }
}

#[test]
fn survives_faults_while_a_page_is_taken_down() {
    let visits = workload(31, CAPTURES);
    let key = Key::of(url(PAGE).as_str());
    let of_page = visits.iter().filter(|capture| Key::from(capture.url.key()) == key).count();
    assert!(of_page > 2, "{of_page}");
    let take_down = |disk: &SimulatedDisk| {
        let mut archive = open(disk)?;
        let target = Target::url(url(PAGE).as_str()).unwrap();
        let receipt = archive.takedown(&target, "asked for", later(), &mut |_, _| {})?;
        assert_eq!(receipt.captures, of_page as u64);
        archive.close()
    };
    let check = |disk: &SimulatedDisk, is_done: bool| {
        let entries = visits_of(disk, &visits)?;
        let (gone, kept): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry.key == key);
        let numbers: BTreeSet<usize> = kept.iter().map(|entry| number_of(entry)).collect();
        if numbers.len() != visits.len() - of_page {
            return Err(format!("only {} captures of other pages are left", numbers.len()));
        }
        let records = Records::read(disk)?;
        let targets =
            records.0.values().flat_map(|records| records.values().filter_map(warc::Record::target));
        let stored = targets.filter(|target| Key::of(target) == key).count();
        match (gone.len(), stored) {
            (0, 0) if kept.len() == numbers.len() => Ok(()),
            (found, _) if found == of_page && !is_done => Ok(()),
            (found, stored) => {
                Err(format!("{found} captures and {stored} records are left, {} of others", kept.len()))
            }
        }
    };
    at_points(&visits, take_down, check);
}

#[test]
fn survives_faults_while_the_index_is_rebuilt() {
    let visits = workload(32, CAPTURES);
    let whole = visits_of(&filled(&visits), &visits).unwrap();
    for deeply in [false, true] {
        let rebuild = |disk: &SimulatedDisk| {
            archive::rebuild_index(&shared(disk), Path::new(DIRECTORY), deeply, &mut |_, _| {}).map(drop)
        };
        let check = |disk: &SimulatedDisk, _: bool| {
            let found = visits_of(disk, &visits)?;
            if found == whole { Ok(()) } else { Err("another index".to_owned()) }
        };
        at_points(&visits, rebuild, check);
    }
}

/// Imports everything that `from` holds, in batches; how many captures were acknowledged as added or known.
fn import(archive: &mut Archive, from: &Records) -> Result<u64, Error> {
    let (mut grouper, mut acknowledged, mut waiting) = (Grouper::new(), 0, 0);
    let records = from.0.values().flat_map(|records| records.values()).cloned();
    let records = records.filter(|record| record.kind() != warc::Kind::Warcinfo);
    let mut groups: Vec<_> = records.flat_map(|record| grouper.push(record)).collect();
    groups.extend(grouper.finish());
    for (number, group) in groups.iter().enumerate() {
        match archive.import(group)? {
            Imported::Added(_) | Imported::Known(_) => waiting += 1,
            other => panic!("{other:?}"),
        }
        if number % 4 == 3 {
            archive.commit()?;
            acknowledged += std::mem::take(&mut waiting);
        }
    }
    archive.commit()?;
    Ok(acknowledged + waiting)
}

#[test]
fn survives_faults_while_captures_are_imported() {
    let visits = workload(33, CAPTURES);
    let from = Records::read(&filled(&visits)).unwrap();
    let take_over = |disk: &SimulatedDisk| {
        let mut archive = open(disk)?;
        assert_eq!(import(&mut archive, &from)?, CAPTURES);
        archive.close()
    };
    let check = |disk: &SimulatedDisk, is_done: bool| {
        let found: BTreeSet<usize> = visits_of(disk, &visits)?.iter().map(number_of).collect();
        if is_done && found.len() as u64 != CAPTURES {
            return Err(format!("{} captures were imported", found.len()));
        }
        // A second import adds what is missing, and nothing twice (D4).
        let copy = open(disk).and_then(|mut archive| {
            import(&mut archive, &from)?;
            archive.close()
        });
        copy.map_err(|error| error.to_string())?;
        let found = visits_of(disk, &visits)?;
        let numbers: BTreeSet<usize> = found.iter().map(number_of).collect();
        let is_whole = numbers.len() as u64 == CAPTURES && found.len() == numbers.len();
        if is_whole { Ok(()) } else { Err(format!("{} entries of {} captures", found.len(), numbers.len())) }
    };
    at_points(&[], take_over, check);
}
