//! Every change of the disk that a stage makes is the last before a power cut, or fails, in turn. Afterwards the stage is
//! opened again and catches up, and has what it would have without the fault.

use crate::web::{import, runner, visits};
use base::disk::{Disk, Fault, SimulatedDisk, Survival};
use document::documents::{DocumentRows, DocumentStage};
use document::links::{LinkRows, LinkStage};
use runs::{KeyBounds, Names, PublishedRuns, Rows, Walk};
use stage::Stage;
use std::path::Path;
use std::sync::Arc;

/// A stage on trial: catches up with a commit every few captures; then everything that is stored.
type Trial = fn(&SimulatedDisk, &SimulatedDisk) -> Result<Vec<String>, String>;

fn links(archive: &SimulatedDisk, disk: &SimulatedDisk) -> Result<Vec<String>, String> {
    let directory = crate::links::directory();
    let opened = LinkStage::open(Arc::new(disk.clone()), &directory);
    let (mut stage, damage) = opened.map_err(|error| error.to_string())?;
    // After a crash nothing is damaged: what was published is whole.
    assert!(damage.is_none(), "{damage:?}");
    catch_up::<LinkRows>(&mut stage, archive, disk, &directory)
}

fn documents(archive: &SimulatedDisk, disk: &SimulatedDisk) -> Result<Vec<String>, String> {
    let directory = crate::documents::directory();
    let opened = DocumentStage::open(Arc::new(disk.clone()), &directory);
    let (mut stage, damage) = opened.map_err(|error| error.to_string())?;
    assert!(damage.is_none(), "{damage:?}");
    catch_up::<DocumentRows>(&mut stage, archive, disk, &directory)
}

fn catch_up<R: Rows>(
    stage: &mut dyn Stage,
    archive: &SimulatedDisk,
    disk: &SimulatedDisk,
    directory: &Path,
) -> Result<Vec<String>, String> {
    let run = runner(archive).commit_every(5).catch_up(&mut [&mut *stage], |_| {});
    run.map_err(|error| error.to_string())?;
    let published = PublishedRuns::<R>::open(disk, directory, &mut Names::default()).unwrap();
    published.runs.iter().for_each(|run| run.verify().unwrap());
    let mut walk = Walk::new(&published.sources(), &Arc::default(), &KeyBounds::all()).unwrap();
    let mut rows = vec![format!("{:?}", stage.checkpoint().unwrap())];
    while let Some((key, row)) = walk.current() {
        rows.push(format!("{key:?} {row:?}"));
        walk.step().unwrap();
    }
    Ok(rows)
}

fn disk(seed: u64) -> SimulatedDisk {
    let disk = SimulatedDisk::new(seed);
    disk.create_directory(Path::new("/data")).unwrap();
    disk.sync_directory(Path::new("/")).unwrap();
    disk
}

/// What is stored after a fault at every point in turn, each time after a restart; and what should be.
fn after_faults(run: Trial, fault: Fault, survival: Survival) -> (Vec<String>, Vec<Vec<String>>) {
    let archive = SimulatedDisk::new(1);
    import(&archive, &visits(9, 45));
    let trial = disk(2);
    let begin = trial.points();
    let expected = run(&archive, &trial).unwrap();
    assert!(expected.len() > 30 && trial.points() > begin + 50);
    let after = |point| {
        let disk = disk(point);
        disk.set_survival(survival);
        disk.fail_at(point, fault);
        assert!(run(&archive, &disk).is_err(), "the fault was met at {point}");
        disk.restart();
        run(&archive, &disk).unwrap_or_else(|error| vec![error])
    };
    (expected, (begin..trial.points()).map(after).collect())
}

fn check(run: Trial, fault: Fault, survival: Survival) {
    let (expected, found) = after_faults(run, fault, survival);
    for (point, found) in found.iter().enumerate() {
        assert_eq!(*found, expected, "{fault:?} at {point}, {survival:?}");
    }
}

#[test]
fn links_survive_a_power_cut_at_every_write() {
    for survival in [Survival::None, Survival::All, Survival::Random] {
        check(links, Fault::Cut, survival);
    }
}

#[test]
fn links_survive_a_disk_that_fails_at_every_write() {
    check(links, Fault::Error, Survival::Random);
}

#[test]
fn documents_survive_a_power_cut_at_every_write() {
    for survival in [Survival::None, Survival::All, Survival::Random] {
        check(documents, Fault::Cut, survival);
    }
}

#[test]
fn documents_survive_a_disk_that_fails_at_every_write() {
    check(documents, Fault::Error, Survival::Random);
}
