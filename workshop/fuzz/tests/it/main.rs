//! Replays what the fuzzer found: seeds, corpora, and inputs that once failed.
#![cfg(test)]

use fuzz::{FuzzTarget, TARGETS};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// The inputs in a directory of the target, each with its path.
fn inputs(kind: &str, target: &FuzzTarget) -> Vec<(PathBuf, Vec<u8>)> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(kind).join(target.name);
    let Ok(entries) = fs::read_dir(&directory) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Runs the targets on the inputs that `inputs` finds, and says how many there were.
fn replay(inputs: impl Fn(&FuzzTarget) -> Vec<(PathBuf, Vec<u8>)>) -> usize {
    let (mut count, mut failed) = (0, Vec::new());
    for target in TARGETS {
        for (path, input) in inputs(target) {
            let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(&input)));
            failed.extend(outcome.is_err().then_some((target.name, path)));
            count += 1;
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
    count
}

#[test]
fn seeds_are_decoded() {
    replay(|target| {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty(), "`{}` has no seeds", target.name);
        assert!(seeds.iter().all(|seed| seed.len() <= target.bytes_max), "`{}`", target.name);
        seeds.into_iter().map(|seed| (PathBuf::from("seed"), seed)).collect()
    });
}

#[test]
fn corpora_are_decoded() {
    let count = replay(|target| {
        let inputs = inputs("corpus", target);
        assert!(!inputs.is_empty(), "`{}` has no corpus", target.name);
        inputs
    });
    assert!(count > TARGETS.len());
}

#[test]
fn inputs_that_once_failed_are_decoded() {
    replay(|target| inputs("regressions", target));
}

#[test]
fn every_directory_belongs_to_a_target() {
    for kind in ["corpus", "regressions"] {
        let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(kind);
        for entry in fs::read_dir(directory).into_iter().flatten() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(fuzz::find(&name).is_some(), "`{kind}/{name}`");
        }
    }
}

#[test]
fn targets_are_in_order_and_no_two_share_a_name() {
    assert!(TARGETS.is_sorted_by(|a, b| a.name < b.name));
}
