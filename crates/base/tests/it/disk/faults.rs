//! The faults of the simulated disk, one by one.

use super::{contents, create};
use base::disk::{Disk, DiskFile, Fault, Open, SimulatedDisk, Survival};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

const FILE: &str = "/file";

/// A disk with a durable file of 1,000 `a`.
fn disk_with_file(seed: u64) -> (SimulatedDisk, std::sync::Arc<dyn DiskFile>) {
    let disk = SimulatedDisk::new(seed);
    let file = create(&disk, Path::new(FILE), &[b'a'; 1_000]);
    file.sync().unwrap();
    disk.sync_directory(Path::new("/")).unwrap();
    (disk, file)
}

#[test]
fn every_change_is_one_point() {
    let (disk, file) = disk_with_file(1);
    assert_eq!(disk.points(), 4);
    file.truncate(10).unwrap();
    file.allocate(20).unwrap();
    disk.rename(Path::new(FILE), Path::new("/b")).unwrap();
    disk.create_directory(Path::new("/c/d")).unwrap();
    disk.remove(Path::new("/b")).unwrap();
    assert_eq!(disk.points(), 9);
    file.read_at(0, &mut [0; 5]).unwrap();
    disk.list(Path::new("/")).unwrap();
    assert_eq!((disk.points(), disk.clone().points()), (9, 9));
}

#[test]
fn an_error_happens_once() {
    let (disk, file) = disk_with_file(1);
    disk.fail_at(disk.points() + 1, Fault::Error);
    file.truncate(900).unwrap();
    assert!(file.truncate(0).is_err());
    assert_eq!(file.length().unwrap(), 900);
    file.truncate(0).unwrap();
}

#[test]
fn after_a_failed_sync_only_rewritten_data_is_durable() {
    let survived = |seed, rewrites: bool| {
        let (disk, file) = disk_with_file(seed);
        file.write_at(0, b"bbb").unwrap();
        disk.fail_at(disk.points(), Fault::Error);
        file.sync().unwrap_err();
        assert_eq!(&contents(&disk, Path::new(FILE)).unwrap()[..3], b"bbb", "readers see it");
        if rewrites {
            file.write_at(0, b"bbb").unwrap();
        }
        file.sync().unwrap();
        disk.restart();
        contents(&disk, Path::new(FILE)).unwrap().starts_with(b"bbb")
    };
    assert!((0..50).all(|seed| survived(seed, true)));
    assert!((0..50).any(|seed| survived(seed, false)) && (0..50).any(|seed| !survived(seed, false)));
}

#[test]
fn a_cut_ends_everything_until_the_restart() {
    let (disk, file) = disk_with_file(1);
    disk.fail_at(disk.points(), Fault::Cut);
    assert_eq!(file.write_at(0, b"b").unwrap_err().to_string(), "the power is cut");
    assert!(
        disk.is_cut()
            && disk.list(Path::new("/")).is_err()
            && disk.open(Path::new(FILE), Open::Read).is_err()
    );
    assert!(file.read_at(0, &mut [0]).is_err() && file.length().is_err());
    disk.restart();
    assert!(
        !disk.is_cut() && file.read_at(0, &mut [0]).is_err() && file.sync().is_err(),
        "the file stays closed"
    );
    assert!(contents(&disk, Path::new(FILE)).is_some());
}

#[test]
fn survival_can_be_chosen() {
    for (survival, expected) in [(Survival::All, b'b'), (Survival::None, b'a')] {
        let (disk, file) = disk_with_file(1);
        disk.set_survival(survival);
        file.write_at(0, &[b'b'; 1_000]).unwrap();
        disk.restart();
        assert_eq!(contents(&disk, Path::new(FILE)).unwrap(), [expected; 1_000]);
    }
}

#[test]
fn the_same_seed_leaves_the_same_disk_and_each_restart_another() {
    let played = |seed| {
        let (disk, file) = disk_with_file(seed);
        file.write_at(0, &[b'b'; 100_000]).unwrap();
        disk.restart();
        let first = contents(&disk, Path::new(FILE)).unwrap();
        disk.open(Path::new(FILE), Open::Write).unwrap().write_at(0, &[b'c'; 100_000]).unwrap();
        disk.restart();
        (first, contents(&disk, Path::new(FILE)).unwrap())
    };
    assert_eq!(played(3), played(3));
    assert!((0..9).any(|seed| played(seed) != played(seed + 1)));
}

#[test]
fn a_full_disk_takes_part_of_a_write_and_no_new_name() {
    let (disk, file) = disk_with_file(1);
    file.allocate(2_000).unwrap();
    disk.fail_at(disk.points(), Fault::Full);
    let full = |result: std::io::Result<()>| assert_eq!(result.unwrap_err().kind(), ErrorKind::StorageFull);
    full(file.write_at(1_500, &[b'b'; 1_000]));
    assert!((1_999..2_500).contains(&file.length().unwrap()));
    file.write_at(1_000, &[b'c'; 1_000]).unwrap();
    file.sync().unwrap();
    full(file.allocate(9_000));
    full(disk.open(Path::new("/new"), Open::CreateNew).map(drop));
    full(disk.create_directory(Path::new("/directory")));
    assert_eq!(disk.free_bytes(Path::new("/")).unwrap(), 0);
    disk.make_room();
    file.write_at(2_000, &[b'b'; 1_000]).unwrap();
    assert_eq!(file.length().unwrap(), 3_000);
}

#[test]
fn room_is_taken_and_given_back() {
    let (disk, file) = disk_with_file(1);
    let free = || disk.free_bytes(Path::new("/")).unwrap();
    disk.set_free_bytes(Some(500));
    file.write_at(500, &[b'b'; 700]).unwrap();
    assert_eq!(free(), 300);
    assert_eq!(file.write_at(1_200, &[b'b'; 400]).unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!((free(), file.length().unwrap()), (0, 1_500));
    file.truncate(100).unwrap();
    assert_eq!(free(), 1_400);
    disk.remove(Path::new(FILE)).unwrap();
    assert_eq!(free(), 1_500);
    disk.sync_directory(Path::new("/")).unwrap();
    disk.restart();
    assert_eq!(free(), 1_500);
}

#[test]
fn bits_rot() {
    let (disk, _) = disk_with_file(1);
    disk.flip_bit(Path::new(FILE), 8 * 999).unwrap();
    assert!(
        disk.flip_bit(Path::new(FILE), 8 * 1_000).is_err() && disk.flip_bit(Path::new("/none"), 0).is_err()
    );
    assert_eq!(contents(&disk, Path::new(FILE)).unwrap()[998..], *b"a`");
    disk.restart();
    assert_eq!(contents(&disk, Path::new(FILE)).unwrap()[998..], *b"a`");
}

#[test]
fn many_changes_are_fast_and_a_large_hole_takes_no_room() {
    let (disk, file) = disk_with_file(1);
    file.allocate(1 << 40).unwrap();
    for number in 0..50_000_u64 {
        file.write_at(number * 100, &[b'b'; 100]).unwrap();
        file.sync().unwrap();
    }
    disk.restart();
    assert_eq!(disk.open(Path::new(FILE), Open::Read).unwrap().length().unwrap(), 1 << 40);
}

const BLOCK: usize = 4096;

/// A disk with a durable file of eight blocks, the first of `a`, the second of `b` and so on.
fn disk_with_blocks(seed: u64) -> (SimulatedDisk, std::sync::Arc<dyn DiskFile>) {
    let disk = SimulatedDisk::new(seed);
    let blocks: Vec<u8> = (b'a'..=b'h').flat_map(|letter| [letter; BLOCK]).collect();
    let file = create(&disk, Path::new(FILE), &blocks);
    file.sync().unwrap();
    disk.sync_directory(Path::new("/")).unwrap();
    (disk, file)
}

/// The file after one write of `bytes` with a fault, a sync and a power cut: a letter for each block, and the letters
/// in turn for a block of several.
fn blocks_after(fault: Fault, seed: u64, offset: u64, bytes: &[u8]) -> String {
    let (disk, file) = disk_with_blocks(seed);
    disk.fail_at(disk.points(), fault);
    file.write_at(offset, bytes).unwrap();
    let seen = contents(&disk, Path::new(FILE)).unwrap();
    file.sync().unwrap();
    disk.restart();
    assert!(contents(&disk, Path::new(FILE)).unwrap() == seen, "what is synced stays as it was seen");
    let letters = |block: &[u8]| {
        let mut letters = block.to_vec();
        letters.dedup();
        let letters = letters.iter().map(|letter| char::from((*letter).max(b'0')));
        letters.collect::<String>()
    };
    seen.chunks(BLOCK).map(letters).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_lost_write_stores_nothing_and_reports_success() {
    let lost = |offset, bytes: &[u8]| blocks_after(Fault::Lost, 1, offset, bytes);
    assert_eq!(lost(0, &[b'X'; 2 * BLOCK]), "a b c d e f g h");
    assert_eq!(lost(5_000, b"X"), "a b c d e f g h");
    assert_eq!(lost(8 * 4096, &[b'X'; 2 * BLOCK]), "a b c d e f g h 0 0");
    assert_eq!(lost(u64::MAX >> 1, b""), "a b c d e f g h");
}

#[test]
fn a_misdirected_write_lands_at_another_block() {
    let outcomes = |offset, bytes: &[u8]| -> BTreeSet<String> {
        (0..200).map(|seed| blocks_after(Fault::Misdirected, seed, offset, bytes)).collect()
    };
    let one = outcomes(3 * 4096, &[b'X'; BLOCK]);
    assert_eq!(one.len(), 7, "{one:?}");
    assert!(one.contains("X b c d e f g h") && one.contains("a b c d e f g X"));
    assert!(!one.contains("a b c X e f g h"));
    let two = outcomes(6 * 4096, &[b'X'; 2 * BLOCK]);
    assert!(two.len() == 7 && two.contains("X X c d e f g h") && two.contains("a b c d e f g X"), "{two:?}");
    let part = outcomes(4_000, b"X");
    assert!(part.len() == 7 && part.contains("a b c dXd e f g h"), "{part:?}");
    let appended = outcomes(8 * 4096, &[b'X'; BLOCK]);
    assert!(appended.len() == 8 && appended.contains("X b c d e f g h 0"), "{appended:?}");
}

#[test]
fn a_misdirected_write_without_another_block_is_lost() {
    let disk = SimulatedDisk::new(1);
    let file = create(&disk, Path::new(FILE), b"");
    for bytes in [&b""[..], b"hello"] {
        disk.fail_at(disk.points(), Fault::Misdirected);
        file.write_at(0, bytes).unwrap();
        assert_eq!(contents(&disk, Path::new(FILE)).unwrap(), vec![0; bytes.len()]);
    }
}

#[test]
fn lost_writes_take_room_as_well() {
    for fault in [Fault::Lost, Fault::Misdirected] {
        let (disk, file) = disk_with_file(1);
        disk.set_free_bytes(Some(500));
        disk.fail_at(disk.points(), fault);
        assert_eq!(file.write_at(1_000, &[b'b'; 501]).unwrap_err().kind(), ErrorKind::StorageFull);
        disk.fail_at(disk.points(), fault);
        file.write_at(1_000, &[b'b'; 400]).unwrap();
        assert_eq!(disk.free_bytes(Path::new("/")).unwrap(), 100);
    }
}

#[test]
fn only_writes_are_lost_or_misdirected() {
    for fault in [Fault::Lost, Fault::Misdirected] {
        let disk = SimulatedDisk::new(1);
        (0..7).filter(|point| *point != 3).for_each(|point| disk.fail_at(point, fault));
        disk.create_directory(Path::new("/d")).unwrap();
        disk.sync_directory(Path::new("/")).unwrap();
        let file = disk.open(Path::new("/d/new"), Open::CreateNew).unwrap();
        file.write_at(0, b"hello").unwrap();
        file.truncate(4).unwrap();
        file.sync().unwrap();
        disk.rename(Path::new("/d/new"), Path::new("/d/old")).unwrap();
        disk.fail_at(disk.points(), fault);
        disk.sync_directory(Path::new("/d")).unwrap();
        disk.restart();
        assert_eq!(contents(&disk, Path::new("/d/old")).unwrap(), b"hell");
    }
}

#[test]
fn reads_are_counted_separately_and_a_planned_one_fails() {
    let (disk, file) = disk_with_file(1);
    let (points, reads) = (disk.points(), disk.reads());
    disk.fail_read_at(reads + 1);
    disk.fail_read_at(reads + 4);
    let mut bytes = [0; 3];
    file.read_at(0, &mut bytes).unwrap();
    let failed = file.read_at(0, &mut bytes).unwrap_err();
    assert!(failed.kind() != ErrorKind::UnexpectedEof && failed.raw_os_error().is_some());
    file.read_at(0, &mut bytes).unwrap();
    disk.restart();
    let file = disk.open(Path::new(FILE), Open::Read).unwrap();
    let [mut first, mut second] = [[0; 2]; 2];
    assert!(file.read_many(&mut [(0, &mut first), (2, &mut second)]).is_err());
    assert_eq!((disk.points() - points, disk.reads() - reads), (0, 5));
    file.read_at(999, &mut bytes).unwrap_err();
    assert_eq!((first, second, disk.reads() - reads), ([b'a'; 2], [0; 2], 6));
}

#[test]
fn all_files_are_listed_with_their_lengths() {
    let (disk, _) = disk_with_file(1);
    disk.create_directory(Path::new("/d/empty")).unwrap();
    create(&disk, Path::new("/d/x"), &[1; 5_000]);
    let files = [("/d/x", 5_000), (FILE, 1_000)];
    assert_eq!(disk.files(), files.map(|(path, length)| (path.into(), length)));
}
