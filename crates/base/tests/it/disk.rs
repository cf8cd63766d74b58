//! What every disk does: the same facts on the machine's file system and on the simulated one.

mod direct;
mod faults;
mod model;
mod survives;

use base::disk::{DirectDisk, Disk, DiskFile, Open, RealDisk, SimulatedDisk};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

/// Each fact gets a disk and an empty directory on it.
const FACTS: [fn(&dyn Disk, &Path); 10] = [
    files_hold_what_is_written,
    files_end_where_they_end,
    files_are_opened_as_asked,
    files_are_cut_and_grown,
    rename_replaces,
    rename_goes_between_directories,
    remove_takes_the_name_only,
    lists_hold_files_in_order,
    directories_are_made_with_their_parents,
    free_room_is_reported,
];

#[test]
fn the_real_disk_does_what_a_disk_does() {
    let directory = tempfile::tempdir().unwrap();
    check(&RealDisk, directory.path());
}

#[test]
fn the_direct_disk_does_what_a_disk_does() {
    let directory = direct::directory();
    check(&DirectDisk, directory.path());
}

#[test]
fn the_simulated_disk_does_what_a_disk_does() {
    check(&SimulatedDisk::new(1), Path::new("/"));
}

fn check(disk: &dyn Disk, root: &Path) {
    for (number, fact) in FACTS.iter().enumerate() {
        let directory = root.join(number.to_string());
        disk.create_directory(&directory).unwrap();
        disk.sync_directory(root).unwrap();
        fact(disk, &directory);
    }
}

fn create(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Arc<dyn DiskFile> {
    let file = disk.open(path, Open::CreateNew).unwrap();
    file.write_at(0, bytes).unwrap();
    file
}

/// The whole file, if there is one.
fn contents(disk: &dyn Disk, path: &Path) -> Option<Vec<u8>> {
    let file = disk.open(path, Open::Read).ok()?;
    let mut bytes = vec![0; usize::try_from(file.length().unwrap()).unwrap()];
    file.read_at(0, &mut bytes).unwrap();
    Some(bytes)
}

fn files_hold_what_is_written(disk: &dyn Disk, root: &Path) {
    let path = root.join("file");
    let file = create(disk, &path, b"hello");
    file.write_at(8, b"world").unwrap();
    file.write_at(4, b"O").unwrap();
    file.sync().unwrap();
    disk.sync_directory(root).unwrap();
    assert_eq!(contents(disk, &path).unwrap(), b"hellO\0\0\0world");
    let (mut first, mut second) = ([0; 5], [0; 5]);
    file.read_many(&mut [(8, &mut first), (0, &mut second)]).unwrap();
    assert_eq!((&first, &second), (b"world", b"hellO"));
    let large: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    file.write_at(3, &large).unwrap();
    assert_eq!(contents(disk, &path).unwrap()[3..], large);
}

fn files_end_where_they_end(disk: &dyn Disk, root: &Path) {
    let file = create(disk, &root.join("file"), b"hello");
    for (offset, length) in [(0, 6), (4, 2), (5, 1), (100, 1), (u64::MAX, 1)] {
        assert!(file.read_at(offset, &mut vec![0; length]).is_err(), "{offset} {length}");
    }
    assert_eq!(file.read_at(4, &mut [0; 2]).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    file.read_at(100, &mut []).unwrap();
    file.write_at(100, b"").unwrap();
    assert_eq!(file.length().unwrap(), 5);
    assert!(file.write_at(u64::MAX, b"x").is_err());
    assert!(file.truncate(u64::MAX).is_err() && file.allocate(u64::MAX).is_err());
    assert_eq!(file.length().unwrap(), 5);
}

fn files_are_opened_as_asked(disk: &dyn Disk, root: &Path) {
    let path = root.join("file");
    let kind = |path: &Path, how| disk.open(path, how).unwrap_err().kind();
    assert_eq!(kind(&path, Open::Read), ErrorKind::NotFound);
    assert_eq!(kind(&path, Open::Write), ErrorKind::NotFound);
    let writer = create(disk, &path, b"one");
    assert_eq!(kind(&path, Open::CreateNew), ErrorKind::AlreadyExists);
    assert_eq!(kind(&root.join("none/file"), Open::CreateNew), ErrorKind::NotFound);
    assert_eq!(kind(&path.join("below"), Open::CreateNew), ErrorKind::NotADirectory);
    let reader = disk.open(&path, Open::Read).unwrap();
    assert!(reader.write_at(0, b"x").is_err() && reader.truncate(0).is_err() && reader.allocate(9).is_err());
    writer.write_at(0, b"two").unwrap();
    disk.open(&path, Open::Write).unwrap().write_at(3, b"!").unwrap();
    let mut bytes = [0; 4];
    reader.read_at(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"two!");
    reader.sync().unwrap();
}

fn files_are_cut_and_grown(disk: &dyn Disk, root: &Path) {
    let path = root.join("file");
    let file = create(disk, &path, b"0123456789");
    file.truncate(4).unwrap();
    file.truncate(6).unwrap();
    assert_eq!(contents(disk, &path).unwrap(), b"0123\0\0");
    file.allocate(3).unwrap();
    file.allocate(0).unwrap();
    assert_eq!(file.length().unwrap(), 6);
    file.allocate(8).unwrap();
    file.write_at(7, b"7").unwrap();
    file.sync().unwrap();
    assert_eq!(contents(disk, &path).unwrap(), b"0123\0\0\x007");
    file.truncate(0).unwrap();
    file.truncate(5_000).unwrap();
    assert_eq!(contents(disk, &path).unwrap(), [0; 5_000]);
}

fn rename_replaces(disk: &dyn Disk, root: &Path) {
    let [old, new, none] = ["old", "new", "none"].map(|name| root.join(name));
    let replaced = create(disk, &old, b"old");
    let file = create(disk, &new, b"new");
    disk.rename(&new, &old).unwrap();
    assert_eq!((contents(disk, &old), contents(disk, &new)), (Some(b"new".to_vec()), None));
    file.write_at(0, b"N").unwrap();
    replaced.write_at(0, b"O").unwrap();
    assert_eq!(contents(disk, &old).unwrap(), b"New");
    disk.rename(&old, &old).unwrap();
    assert_eq!(disk.rename(&none, &old).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(disk.rename(&old, &none.join("x")).unwrap_err().kind(), ErrorKind::NotFound);
    disk.create_directory(&none).unwrap();
    assert!(disk.rename(&old, &none).is_err());
    assert_eq!(contents(disk, &old).unwrap(), b"New");
}

fn rename_goes_between_directories(disk: &dyn Disk, root: &Path) {
    let [from, to] = ["a", "b"].map(|name| root.join(name));
    [&from, &to].iter().for_each(|directory| disk.create_directory(directory).unwrap());
    create(disk, &from.join("file"), b"x");
    disk.rename(&from.join("file"), &to.join("moved")).unwrap();
    [&from, &to].iter().for_each(|directory| disk.sync_directory(directory).unwrap());
    assert!(disk.list(&from).unwrap().is_empty());
    assert_eq!(disk.list(&to).unwrap(), [to.join("moved")]);
}

fn remove_takes_the_name_only(disk: &dyn Disk, root: &Path) {
    let path = root.join("file");
    let file = create(disk, &path, b"still here");
    disk.remove(&path).unwrap();
    assert_eq!(disk.remove(&path).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(contents(disk, &path).is_none() && disk.remove(root).is_err());
    create(disk, &path, b"another");
    let mut bytes = [0; 10];
    file.read_at(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"still here");
}

fn lists_hold_files_in_order(disk: &dyn Disk, root: &Path) {
    for name in ["b", "a.2", "a", "c"] {
        create(disk, &root.join(name), b"");
    }
    disk.create_directory(&root.join("ab/below")).unwrap();
    create(disk, &root.join("ab/below/file"), b"");
    assert_eq!(disk.list(root).unwrap(), ["a", "a.2", "b", "c"].map(|name| root.join(name)));
    assert_eq!(disk.list(&root.join("none")).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(disk.list(&root.join("a")).unwrap_err().kind(), ErrorKind::NotADirectory);
}

fn directories_are_made_with_their_parents(disk: &dyn Disk, root: &Path) {
    let deep = root.join("a/b/c");
    disk.create_directory(&deep).unwrap();
    disk.create_directory(&deep).unwrap();
    create(disk, &deep.join("file"), b"x");
    disk.sync_directory(&deep).unwrap();
    assert!(disk.create_directory(&deep.join("file")).is_err());
    assert!(disk.create_directory(&deep.join("file/below")).is_err());
    assert_eq!(disk.sync_directory(&root.join("none")).unwrap_err().kind(), ErrorKind::NotFound);
}

fn free_room_is_reported(disk: &dyn Disk, root: &Path) {
    assert!(disk.free_bytes(root).unwrap() > 0);
    assert_eq!(disk.free_bytes(&root.join("none")).unwrap_err().kind(), ErrorKind::NotFound);
}
