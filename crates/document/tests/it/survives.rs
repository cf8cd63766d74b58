//! Every change of the disk that a stage makes is the last before a power cut, or fails, in turn. Afterwards the stage is
//! opened again and catches up, and has what it would have without the fault.

use crate::links::directory;
use crate::web::{import, runner, visits};
use base::disk::{Disk, Fault, SimulatedDisk, Survival};
use document::links::{LinkGraph, LinkRows, LinkStage};
use runs::{KeyBounds, Names, PublishedRuns, Walk};
use stage::Stage;
use std::path::Path;
use std::sync::Arc;

/// Catches up with a commit every few captures; then everything that is stored.
fn catch_up(archive: &SimulatedDisk, disk: &SimulatedDisk) -> Result<Vec<String>, String> {
    let opened = LinkStage::open(Arc::new(disk.clone()), &directory());
    let (mut stage, damage) = opened.map_err(|error| error.to_string())?;
    // After a crash nothing is damaged: what was published is whole.
    assert!(damage.is_none(), "{damage:?}");
    let run = runner(archive).commit_every(5).catch_up(&mut [&mut stage], |_| {});
    run.map_err(|error| error.to_string())?;
    LinkGraph::open(disk, &directory()).unwrap().verify().unwrap();
    let published = PublishedRuns::<LinkRows>::open(disk, &directory(), &mut Names::default()).unwrap();
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
fn after_faults(fault: Fault, survival: Survival, ignores_syncs: bool) -> (Vec<String>, Vec<Vec<String>>) {
    let archive = SimulatedDisk::new(1);
    import(&archive, &visits(9, 45));
    let trial = disk(2);
    let begin = trial.points();
    let expected = catch_up(&archive, &trial).unwrap();
    assert!(expected.len() > 100 && trial.points() > begin + 50);
    let run = |point| {
        let disk = disk(point);
        disk.set_survival(survival);
        disk.ignore_syncs(ignores_syncs);
        disk.fail_at(point, fault);
        assert!(catch_up(&archive, &disk).is_err(), "the fault was met at {point}");
        disk.restart();
        catch_up(&archive, &disk).unwrap_or_else(|error| vec![error])
    };
    (expected, (begin..trial.points()).map(run).collect())
}

#[test]
fn survives_a_power_cut_at_every_write() {
    for survival in [Survival::None, Survival::All, Survival::Random] {
        let (expected, found) = after_faults(Fault::Cut, survival, false);
        for (point, found) in found.iter().enumerate() {
            assert_eq!(*found, expected, "cut at {point}, {survival:?}");
        }
    }
}

#[test]
fn survives_a_disk_that_fails_at_every_write() {
    let (expected, found) = after_faults(Fault::Error, Survival::Random, false);
    for (point, found) in found.iter().enumerate() {
        assert_eq!(*found, expected, "failed at {point}");
    }
}
