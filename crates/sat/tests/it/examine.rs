//! A store with something of everything, and a check of all of it.
//!
//! Whatever was done to its files: what is returned must be right, and what is missing must be reported.

use crate::driver::{Driver, Habits};
use crate::image::Image;
use crate::model::{Entry, Model, shown};
use crate::player::{Failure, Played, Player};
use crate::setup::{DIRECTORY, open, options};
use base::disk::SimulatedDisk;
use sat::{Batch, Error, Minute, Store};
use std::collections::BTreeMap;
use std::sync::Arc;

const HABITS: Habits = Habits { keys: 1_500, value_bytes_max: 900, ..Habits::DEFAULT };

/// A store with checkpoint, log, data, index and offers that wait.
pub(crate) struct Built {
    pub(crate) image: Image,
    last: Model,
    /// Before the last commit.
    previous: Model,
}

fn use_much(player: &mut Player, driver: &mut Driver) -> Played {
    player.open()?;
    for _ in 0..150 {
        driver.step(player)?;
    }
    driver.burst(player, 5_000)?;
    driver.burst(player, 50_000)?;
    player.checkpoint()?;
    for _ in 0..25 {
        driver.step(player)?;
    }
    Ok(())
}

pub(crate) fn build(seed: u64) -> Built {
    let disk = SimulatedDisk::new(seed);
    let mut player = Player::new(Arc::new(disk.clone()), options());
    use_much(&mut player, &mut Driver::new(seed, HABITS)).unwrap();
    let mut offer = |number: u32| {
        let entry = Entry { key: format!("offered {number}").into_bytes(), due: number, value: vec![9; 50] };
        player.offer(entry).unwrap();
        player.set(b"place", &number.to_le_bytes()).unwrap();
        player.commit().unwrap();
        player.model.clone()
    };
    offer(1);
    let (previous, last) = (offer(2), offer(3));
    player.drop_store();
    Built { image: Image::of(&disk), last, previous }
}

/// The result of checking everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// All is right.
    Right,
    /// The last commit is missing, and reported as cut.
    Cut,
    /// An error says what is wrong; what was returned is right.
    Reported,
}

/// An error must name a file, or the directory if one is missing from it.
pub(crate) fn reported(error: &Error) -> Result<Verdict, String> {
    match error {
        Error::Damaged { .. } | Error::NotAStore { .. } | Error::Version { .. } | Error::Io { .. }
            if error.to_string().contains(DIRECTORY) =>
        {
            Ok(Verdict::Reported)
        }
        _ => Err(format!("an unclear error: {error}")),
    }
}

/// Opens a store and looks at everything in it.
pub(crate) fn examine(disk: &SimulatedDisk, built: &Built) -> Result<Verdict, String> {
    let mut store = match open(disk, options()) {
        Ok(store) => store,
        Err(error) => return reported(&error),
    };
    let is_cut = store.recovery().bytes_cut > 0;
    let model = if is_cut { &built.previous } else { &built.last };
    let mut verdict = if is_cut { Verdict::Cut } else { Verdict::Right };
    let found = (shown(store.table()), store.minute().0, store.pending(), store.count());
    let expected = (shown(&model.table), model.minute, model.pending.len(), model.records.len() as u64);
    if found != expected {
        return Err(format!("{found:?} instead of {expected:?} ({:?})", store.recovery()));
    }
    for error in store.verify().map_err(|error| error.to_string())? {
        verdict = verdict.max(reported(&error)?);
    }
    verdict = verdict.max(look_at_all(&mut store, model)?);
    verdict = verdict.max(look_at_some(&mut store, model)?);
    verdict = verdict.max(take_all(&mut store, model)?);
    Ok(verdict.max(settle(&mut store, model)?))
}

fn check_record(record: &sat::DueRecord<'_>, model: &Model) -> Result<(), String> {
    let found = Entry { key: record.key.to_vec(), due: record.due.0, value: record.value.to_vec() };
    let expected = model.records.get(&record.number.0);
    if expected == Some(&found) { Ok(()) } else { Err(format!("{found:?} instead of {expected:?}")) }
}

fn look_at_all(store: &mut Store, model: &Model) -> Result<Verdict, String> {
    let mut seen = BTreeMap::new();
    let visited = store.for_each(|record| {
        *seen.entry(record.number.0).or_insert(0) += 1;
        check_record(&record, model).map_err(Failure::Wrong)
    });
    if let Some((number, _)) = seen.iter().find(|(_, times)| **times > 1) {
        return Err(format!("{number} is there twice"));
    }
    match visited {
        Ok(()) if seen.len() == model.records.len() => Ok(Verdict::Right),
        Ok(()) => Err(format!("{} records instead of {}", seen.len(), model.records.len())),
        Err(Failure::Store(error)) => reported(&error),
        Err(Failure::Wrong(what)) => Err(what),
    }
}

fn look_at_some(store: &mut Store, model: &Model) -> Result<Verdict, String> {
    let mut verdict = Verdict::Right;
    for (number, expected) in model.records.iter().step_by(11) {
        match store.get(&expected.key) {
            Ok(Some(one))
                if one.number.0 == *number && one.value == expected.value && one.due.0 == expected.due => {}
            Ok(found) => return Err(format!("{found:?} instead of {expected:?}")),
            Err(error) => verdict = verdict.max(reported(&error)?),
        }
    }
    Ok(verdict)
}

/// Takes everything as it becomes due.
fn take_all(store: &mut Store, model: &Model) -> Result<Verdict, String> {
    let mut verdict = Verdict::Right;
    let mut seen = BTreeMap::new();
    let mut batch = Batch::new();
    store.advance(Minute(model.minute + 600_000));
    loop {
        match store.next_due(&mut batch) {
            Ok(true) => {
                for record in batch.records() {
                    check_record(&record, model)?;
                    *seen.entry(record.number.0).or_insert(0) += 1;
                }
            }
            Ok(false) => break,
            Err(error) => verdict = verdict.max(reported(&error)?),
        }
    }
    if let Some((number, _)) = seen.iter().find(|(_, times)| **times > 1) {
        return Err(format!("{number} was handed out twice"));
    }
    if verdict == Verdict::Right && seen.len() != model.records.len() {
        return Err(format!("{} of {} were handed out", seen.len(), model.records.len()));
    }
    Ok(verdict)
}

fn settle(store: &mut Store, model: &Model) -> Result<Verdict, String> {
    let mut model = model.clone();
    let expected = model.settle();
    match store.settle() {
        Ok(answers) if answers.iter().map(|one| (one.number.0, one.is_new)).eq(expected.iter().copied()) => {
            Ok(Verdict::Right)
        }
        Ok(answers) => Err(format!("{answers:?} instead of {expected:?}")),
        Err(error) => reported(&error),
    }
}
