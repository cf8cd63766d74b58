//! Bit rot in any file of the archive (M5): reading everything detects it, and nothing wrong is returned.

use crate::captures::{DIRECTORY, START, damaged, settings, verified, workload};
use crate::model_tests::number;
use archive::{Archive, Document, Entry, Location, Reader};
use base::Chance;
use base::disk::{Disk, SimulatedDisk};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Known = BTreeMap<Location, (Entry, Document, Vec<u8>)>;

/// An archive with runs of two levels, and with captures that are in no run.
fn archive(disk: &SimulatedDisk) {
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let (mut archive, _) = Archive::open(shared, Path::new(DIRECTORY), settings(), START).unwrap();
    for capture in &workload(21, 48) {
        archive.append(capture).unwrap();
        archive.commit().unwrap();
    }
    let paths: Vec<_> = disk.files().into_iter().map(|(path, _)| path.display().to_string()).collect();
    let count = |end: &str| paths.iter().filter(|path| path.ends_with(end)).count();
    assert!(count(".run") > 1 && count(".open") == 1, "{paths:?}");
}

fn known(disk: &SimulatedDisk) -> Known {
    let reader = Reader::open(Arc::new(disk.clone()), Path::new(DIRECTORY)).unwrap();
    let entries = reader.all().unwrap().map(Result::unwrap);
    let known = entries.map(|entry| {
        let (document, group) = (reader.document(&entry).unwrap(), reader.group(&entry).unwrap());
        (entry.location.clone(), (entry, document, group))
    });
    known.collect()
}

/// Reads everything through the index. Whatever is returned must be what was stored. Returns whether something is
/// missing.
fn check_served(disk: &SimulatedDisk, known: &Known, bit: &str) -> bool {
    let Ok(reader) = Reader::open(Arc::new(disk.clone()), Path::new(DIRECTORY)) else { return true };
    let Ok(entries) = reader.all() else { return true };
    let (mut seen, mut is_damaged) = (0, false);
    for entry in entries {
        let Ok(entry) = entry else { return true };
        let (whole, document, group) = &known[&entry.location];
        // Rows read from the file itself do not know what they refer to.
        let body = if entry.body.is_none() { None } else { whole.body.clone() };
        assert_eq!(entry, Entry { body, ..whole.clone() }, "{bit}");
        match reader.document(&entry) {
            Ok(found) => assert_eq!(found, *document, "{bit}: {entry:?}"),
            Err(_) => is_damaged = true,
        }
        match reader.group(&entry) {
            // Fields about compression in a companion's gzip header are not content.
            Ok(found) => assert_eq!(found.len(), group.len(), "{bit}: {entry:?}"),
            Err(_) => is_damaged = true,
        }
        seen += 1;
    }
    is_damaged || seen != known.len()
}

#[test]
fn detects_any_flipped_bit_of_any_file() {
    let (flips, seed) = (number("UTSUSHI_TORTURE_COUNT", 300), number("UTSUSHI_TORTURE_SEED", 1));
    let disk = SimulatedDisk::new(21);
    archive(&disk);
    let (known, files) = (known(&disk), disk.files());
    let is_open = |path: &&PathBuf| path.extension().is_some_and(|end| end == "open");
    let open = files.iter().map(|(path, _)| path).find(is_open).unwrap();
    let mut chance = Chance::of(&[seed, 3]);
    assert_eq!(damaged(&disk), 0);
    for _ in 0..flips {
        // Each kind of file as often as the others, however long it is.
        let end = *chance.pick(&[".warc.gz", ".open", ".sums", ".run", "CURRENT"]);
        let of_kind: Vec<_> =
            files.iter().filter(|(path, _)| path.to_str().unwrap().ends_with(end)).collect();
        let (path, length) = chance.pick(&of_kind);
        let bit = chance.below(length * 8);
        disk.flip_bit(path, bit).unwrap();
        let name = format!("bit {bit} of {}", path.display());
        check_served(&disk, &known, &name);
        let verified = verified(&disk);
        // The checksums of an unfinished file are read as far as they are whole, and rebuilt after that.
        let is_of_open = path.with_extension("open") == *open && end == ".sums";
        let is_noticed = verified.damaged > 0 || (is_of_open && verified.unfinished > 0);
        assert!(is_noticed, "{name} is not noticed: {verified:?}");
        disk.flip_bit(path, bit).unwrap();
    }
    assert_eq!((verified(&disk).damaged, verified(&disk).unfinished), (0, 0));
}

/// Fields about compression in a gzip header are not content, and gzip readers ignore them; only the checksums cover
/// them.
#[test]
fn detects_every_bit_of_a_gzip_header() {
    let disk = SimulatedDisk::new(22);
    archive(&disk);
    let known = known(&disk);
    assert_eq!(damaged(&disk), 0);
    for (entry, _, _) in
        known.values().filter(|(entry, ..)| entry.group_bytes > entry.location.length).take(2)
    {
        let closed = Path::new(DIRECTORY).join(&*entry.location.file);
        for start in [entry.location.offset, entry.location.offset + entry.location.length] {
            for bit in start * 8..(start + 10) * 8 {
                disk.flip_bit(&closed, bit).unwrap();
                assert!(damaged(&disk) > 0, "bit {bit}");
                disk.flip_bit(&closed, bit).unwrap();
            }
        }
    }
}

/// A block of a run rots while a writer is open: the index is rebuilt, and the capture is kept.
#[test]
fn a_writer_rebuilds_an_index_found_damaged() {
    let disk = SimulatedDisk::new(77);
    let mut archive = crate::captures::open(&disk).unwrap();
    crate::captures::workload(77, 40).iter().for_each(|capture| _ = archive.append(capture).unwrap());
    archive.commit().unwrap();
    let runs: Vec<_> = disk
        .files()
        .into_iter()
        .filter(|(path, _)| path.extension().is_some_and(|end| end == "run"))
        .collect();
    assert!(!runs.is_empty());
    // After the head of the first block, in every run.
    runs.iter().for_each(|(path, _)| disk.flip_bit(path, 40 * 8).unwrap());
    let later = crate::captures::workload(78, 60);
    later.iter().skip(41).for_each(|capture| _ = archive.append(capture).unwrap());
    archive.close().unwrap();
    let reader = crate::captures::reader(&disk);
    assert_eq!(reader.count(), 59);
    reader.all().unwrap().for_each(|entry| drop(entry.unwrap()));
}
