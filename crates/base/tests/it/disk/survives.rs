//! A program with durable data, failed and cut at every point in turn.
//!
//! It appends records (length, checksum, number) to a log and syncs each; every fourth time it replaces a small file by
//! renaming. What it acknowledged is there after any fault, after a fault during recovery (M2), and after a last power
//! cut. On a disk that ignores syncs, and for a program that trusts the cache after a failed sync, the same check finds
//! a loss.

use super::contents;
use base::chance::hash_bytes;
use base::disk::{Disk, DiskFile, Fault, Open, SimulatedDisk};
use std::io;
use std::path::Path;
use std::sync::Arc;

const DIRECTORY: &str = "/kept";
const LOG: &str = "/kept/log";
const HEAD: &str = "/kept/head";
const HEAD_NEW: &str = "/kept/head.new";
const RECORDS: u64 = 20;
const RECORD_HEAD_BYTES: usize = 16;

/// A mistake that the check must detect.
#[derive(Clone, Copy, PartialEq)]
enum Mistake {
    None,
    /// The disk ignores syncs.
    LyingDisk,
    /// After a failed sync the program trusts what it reads back (M3).
    TrustingProgram,
}

#[derive(Debug, Default)]
struct Acknowledged {
    records: u64,
    head: u64,
}

#[test]
fn survives_any_fault_at_any_point() {
    for seed in 0..5 {
        for point in 0..points() {
            for fault in [Fault::Error, Fault::Full, Fault::Cut] {
                let outcome = survive(seed, Mistake::None, &[(point, fault)]);
                assert_eq!(outcome, Ok(()), "seed {seed}, {fault:?} at {point}");
            }
        }
    }
}

#[test]
fn survives_a_second_fault_during_recovery() {
    for point in 0..points() {
        for later in 1..8 {
            for (first, second) in
                [(Fault::Cut, Fault::Cut), (Fault::Cut, Fault::Error), (Fault::Error, Fault::Cut)]
            {
                let outcome = survive(point, Mistake::None, &[(point, first), (point + later, second)]);
                assert_eq!(outcome, Ok(()), "{first:?} at {point}, {second:?} {later} later");
            }
        }
    }
}

#[test]
fn survives_nothing_on_a_disk_that_ignores_syncs() {
    assert!(losses(Mistake::LyingDisk, Fault::Cut) > 10);
}

#[test]
fn survives_no_failed_sync_when_the_cache_is_trusted() {
    assert!(losses(Mistake::TrustingProgram, Fault::Error) > 2);
    assert_eq!(losses(Mistake::TrustingProgram, Fault::Cut), 0);
}

fn losses(mistake: Mistake, fault: Fault) -> usize {
    (0..points()).filter(|point| survive(*point, mistake, &[(*point, fault)]).is_err()).count()
}

/// Number of points of a run without faults.
fn points() -> u64 {
    let disk = prepared(0);
    let before = disk.points();
    play(&disk, &mut Acknowledged::default(), None).unwrap();
    disk.points() - before
}

fn prepared(seed: u64) -> SimulatedDisk {
    let disk = SimulatedDisk::new(seed);
    disk.create_directory(Path::new(DIRECTORY)).unwrap();
    disk.sync_directory(Path::new("/")).unwrap();
    disk
}

/// Runs until everything is written, with the given faults, and cuts the power at the end.
fn survive(seed: u64, mistake: Mistake, faults: &[(u64, Fault)]) -> Result<(), String> {
    let disk = prepared(seed);
    disk.ignore_syncs(mistake == Mistake::LyingDisk);
    faults.iter().for_each(|(point, fault)| disk.fail_at(disk.points() + point, *fault));
    let mut acknowledged = Acknowledged::default();
    let mut trusted = None;
    while let Err(error) = play(&disk, &mut acknowledged, trusted) {
        if disk.is_cut() {
            disk.restart();
            check(&disk, &acknowledged)?;
            trusted = None;
        } else if trusted == Some(acknowledged.records) {
            return Err(format!("no progress: {error}"));
        } else {
            disk.make_room();
            trusted = (mistake != Mistake::TrustingProgram).then_some(acknowledged.records);
        }
    }
    disk.restart();
    check(&disk, &acknowledged)
}

fn check(disk: &SimulatedDisk, acknowledged: &Acknowledged) -> Result<(), String> {
    let log = contents(disk, Path::new(LOG)).unwrap_or_default();
    let records = ends(&log).len() as u64;
    let head = contents(disk, Path::new(HEAD))
        .map_or(Some(0), |bytes| Some(u64::from_le_bytes(bytes.try_into().ok()?)));
    if records < acknowledged.records || head.is_none_or(|head| head < acknowledged.head) {
        return Err(format!("{records} records and head {head:?} are left of {acknowledged:?}"));
    }
    Ok(())
}

/// The program. After a failed sync, reading back proves nothing (M3), so at most `trusted` records are kept.
fn play(disk: &SimulatedDisk, acknowledged: &mut Acknowledged, trusted: Option<u64>) -> io::Result<()> {
    let (log, mut end, kept) = open_log(disk, trusted)?;
    for number in kept..RECORDS {
        let record = record(number);
        log.write_at(end, &record)?;
        log.sync()?;
        end += record.len() as u64;
        acknowledged.records = number + 1;
        if number % 4 == 3 {
            put_head(disk, number)?;
            acknowledged.head = number;
        }
    }
    Ok(())
}

/// The log without torn or untrusted records, its end and its number of records.
fn open_log(disk: &SimulatedDisk, trusted: Option<u64>) -> io::Result<(Arc<dyn DiskFile>, u64, u64)> {
    let log = match disk.open(Path::new(LOG), Open::Write) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            disk.open(Path::new(LOG), Open::CreateNew)?
        }
        opened => opened?,
    };
    let mut ends = ends(&contents(disk, Path::new(LOG)).unwrap_or_default());
    ends.truncate(trusted.map_or(usize::MAX, |trusted| usize::try_from(trusted).unwrap()));
    let end = ends.last().copied().unwrap_or(0);
    log.truncate(end)?;
    log.sync()?;
    disk.sync_directory(Path::new(DIRECTORY))?;
    Ok((log, end, ends.len() as u64))
}

fn put_head(disk: &SimulatedDisk, number: u64) -> io::Result<()> {
    match disk.remove(Path::new(HEAD_NEW)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = disk.open(Path::new(HEAD_NEW), Open::CreateNew)?;
    file.write_at(0, &number.to_le_bytes())?;
    file.sync()?;
    disk.rename(Path::new(HEAD_NEW), Path::new(HEAD))?;
    disk.sync_directory(Path::new(DIRECTORY))
}

/// Length, checksum, and a payload that only this number has.
fn record(number: u64) -> Vec<u8> {
    let payload = number.to_le_bytes().repeat(1 + usize::try_from(number * 37 % 100).unwrap());
    let length = payload.len() as u64;
    [&length.to_le_bytes(), &hash_bytes(length, &payload).to_le_bytes(), payload.as_slice()].concat()
}

/// Where the good records at the start of the log end. Each must be the one that belongs there.
fn ends(log: &[u8]) -> Vec<u64> {
    let mut ends = Vec::new();
    let mut rest = log;
    while let Some(length) = good_record_bytes(rest) {
        assert_eq!(rest[..length], record(ends.len() as u64), "a wrong record has a right checksum");
        rest = &rest[length..];
        ends.push((log.len() - rest.len()) as u64);
    }
    ends
}

fn good_record_bytes(log: &[u8]) -> Option<usize> {
    let length = u64::from_le_bytes(log.get(..8)?.try_into().ok()?);
    let checksum = u64::from_le_bytes(log.get(8..RECORD_HEAD_BYTES)?.try_into().ok()?);
    let end = RECORD_HEAD_BYTES.checked_add(usize::try_from(length).ok()?)?;
    let payload = log.get(RECORD_HEAD_BYTES..end).filter(|payload| !payload.is_empty())?;
    (hash_bytes(length, payload) == checksum).then_some(end)
}
