//! Files that are missing, cut short, or another store's: a clear error, and nothing on the disk is changed.

use crate::examine::{Verdict, build, examine};
use crate::image::Image;
use crate::setup::{DIRECTORY, open, options};
use sat::{Error, Options};
use std::path::{Path, PathBuf};

fn in_store(name: &str) -> PathBuf {
    Path::new(DIRECTORY).join(name)
}

/// The error of opening, after which every byte is as it was.
#[track_caller]
fn refused(image: &Image, options: Options) -> Error {
    let disk = image.disk(1);
    let error = open(&disk, options).map(drop).unwrap_err();
    assert!(Image::of(&disk) == *image, "the refused store was changed: {error}");
    error
}

#[test]
fn detects_that_a_file_is_missing() {
    let built = build(11);
    for path in built.image.0.keys().cloned().collect::<Vec<_>>() {
        let mut image = built.image.clone();
        image.0.remove(&path);
        let verdict = examine(&image.disk(1), &built);
        // A data file may be empty.
        let is_spare = path.display().to_string().contains("data-") && verdict == Ok(Verdict::Right);
        assert!(is_spare || verdict == Ok(Verdict::Reported), "{verdict:?} without {}", path.display());
        if verdict == Ok(Verdict::Reported) {
            let message = refused(&image, options()).to_string();
            assert!(message.contains(DIRECTORY), "{message}");
        }
    }
}

#[test]
fn detects_that_a_file_is_cut_short() {
    let built = build(12);
    for (path, bytes) in &built.image.0 {
        let written = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        for length in [0, 1, 4_095, 4_096, written / 2, written.saturating_sub(1)] {
            if length >= bytes.len() || written == 0 {
                continue;
            }
            let mut image = built.image.clone();
            image.bytes(path).truncate(length);
            let verdict = examine(&image.disk(1), &built);
            assert!(verdict.is_ok(), "{verdict:?}: {} cut to {length} of {written}", path.display());
        }
    }
}

#[test]
fn detects_the_files_of_another_store() {
    let (built, other) = (build(13), build(14));
    for (path, bytes) in &other.image.0 {
        if !built.image.0.contains_key(path) {
            continue;
        }
        let mut image = built.image.clone();
        *image.bytes(path) = bytes.clone();
        let verdict = examine(&image.disk(1), &built);
        assert!(verdict.is_ok(), "{verdict:?}: {} is another store's", path.display());
    }
}

#[test]
fn detects_a_format_of_another_version() {
    let mut image = build(15).image;
    for offset in [0_u64, 4_096] {
        let at = usize::try_from(offset).unwrap();
        let block = &mut image.bytes(&in_store("superblock"))[at..at + 4_096];
        block[8] = 2;
        // As docs/formats/state-store.md has it: the place, the version, everything after the checksum.
        let place = [0, 1, 0, offset].map(u64::to_le_bytes).concat();
        let sum = [&place, &block[8..12], &block[16..]]
            .iter()
            .fold(0, |sum, part| crc32c::crc32c_append(sum, part));
        block[12..16].copy_from_slice(&sum.to_le_bytes());
    }
    let error = refused(&image, options());
    assert!(matches!(error, Error::Version { found: 2, known: 1, .. }), "{error}");
    let message = "`/store/superblock` has format version `2` and this program reads `1`; use the program that wrote it";
    assert_eq!(error.to_string(), message);
}

#[test]
fn detects_a_superblock_that_is_none() {
    let mut image = build(16).image;
    image.bytes(&in_store("superblock")).fill(b'x');
    assert!(matches!(refused(&image, options()), Error::Damaged { .. }));
    image.0.remove(&in_store("superblock"));
    let error = refused(&image, options());
    assert!(matches!(error, Error::NotAStore { .. }), "{error}");
}

/// Foreign files are not touched, and do not interfere.
#[test]
fn other_files_in_the_directory_are_not_touched() {
    let built = build(17);
    let mut image = built.image.clone();
    for name in ["notes.txt", "data-old", "checkpoint-", "index-x", "log-9"] {
        image.0.insert(in_store(name), b"mine".to_vec());
    }
    let disk = image.disk(1);
    assert_eq!(examine(&disk, &built), Ok(Verdict::Right));
    let after = Image::of(&disk);
    for name in ["notes.txt", "data-old", "checkpoint-", "index-x", "log-9"] {
        assert_eq!(after.0.get(&in_store(name)).map(Vec::as_slice), Some(&b"mine"[..]), "{name}");
    }
}
