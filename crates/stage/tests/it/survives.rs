//! Every change of the disk that a stage makes is the last before a power cut, or fails, in turn. Afterwards the stage is
//! opened again and catches up. No capture may count twice, and none may be missing.

use crate::counts::Counts;
use crate::{import, runner, some};
use base::disk::{Disk, Fault, SimulatedDisk, Survival};
use std::path::Path;

/// Catches up, with a commit every other capture, until something fails.
fn catch_up(archive: &SimulatedDisk, disk: &SimulatedDisk) -> Result<String, String> {
    let mut counts = Counts::open(disk, "counts").map_err(|error| error.to_string())?;
    let progress = runner(archive).commit_every(2).catch_up(&mut [&mut counts], |_| {});
    progress.map_err(|error| error.to_string())?;
    Ok(counts.to_string())
}

/// The counts after a fault at every point in turn, each time after a restart.
fn after_faults(fault: Fault, survival: Survival, ignores_syncs: bool) -> Vec<String> {
    let archive = SimulatedDisk::new(1);
    import(&archive, some());
    let trial = disk(2);
    let begin = trial.points();
    catch_up(&archive, &trial).unwrap();
    let run = |point| {
        let disk = disk(point);
        disk.set_survival(survival);
        disk.ignore_syncs(ignores_syncs);
        disk.fail_at(point, fault);
        let first = catch_up(&archive, &disk);
        assert!(first.is_err(), "the fault was met at {point}");
        disk.restart();
        catch_up(&archive, &disk).unwrap_or_else(|error| error)
    };
    assert!(trial.points() > begin + 20);
    (begin..trial.points()).map(run).collect()
}

/// A disk with the directory of the stage.
fn disk(seed: u64) -> SimulatedDisk {
    let disk = SimulatedDisk::new(seed);
    disk.create_directory(Path::new("/data")).unwrap();
    disk.sync_directory(Path::new("/")).unwrap();
    disk
}

const EXPECTED: &str = "apache 5, nginx 7";

#[test]
fn survives_a_power_cut_between_take_and_commit() {
    for survival in [Survival::None, Survival::All, Survival::Random] {
        for (point, found) in after_faults(Fault::Cut, survival, false).iter().enumerate() {
            assert_eq!(found, EXPECTED, "cut at {point}, {survival:?}");
        }
    }
}

#[test]
fn survives_a_disk_that_fails() {
    for (point, found) in after_faults(Fault::Error, Survival::Random, false).iter().enumerate() {
        assert_eq!(found, EXPECTED, "failed at {point}");
    }
}

#[test]
fn negative_control_without_syncs_captures_would_be_lost() {
    let found = after_faults(Fault::Cut, Survival::Random, true);
    assert!(found.iter().any(|found| found != EXPECTED), "{found:?}");
}
