use super::*;
use crate::chance::Chance;
use crate::disk::{BLOCK_BYTES, RealDisk, SimulatedDisk};

fn below() -> (Arc<SimulatedDisk>, PathBuf) {
    let disk = Arc::new(SimulatedDisk::new(1));
    disk.create_directory(Path::new("/data")).unwrap();
    (disk, PathBuf::from("/data/file"))
}

fn put(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Arc<dyn DiskFile> {
    let file = disk.open(path, Open::CreateNew).unwrap();
    file.write_at(0, bytes).unwrap();
    file
}

fn whole(file: &dyn DiskFile) -> Vec<u8> {
    let mut bytes = vec![7; usize::try_from(file.length().unwrap()).unwrap()];
    file.read_at(0, &mut bytes).unwrap();
    bytes
}

#[test]
fn names_change_only_in_the_overlay() {
    let (below, path) = below();
    let other = Path::new("/data/other");
    put(&*below, &path, b"old");
    put(&*below, other, b"other");
    let points = below.points();
    let disk = OverlayDisk::new(Arc::clone(&below) as Arc<dyn Disk>);
    assert_eq!(disk.open(&path, Open::CreateNew).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    disk.remove(&path).unwrap();
    assert_eq!(disk.open(&path, Open::Read).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert_eq!(disk.remove(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
    disk.rename(other, &path).unwrap();
    assert_eq!(disk.list(Path::new("/data")).unwrap(), std::slice::from_ref(&path));
    put(&disk, other, b"new");
    assert_eq!(whole(&*disk.open(other, Open::Read).unwrap()), b"new");
    assert_eq!(whole(&*disk.open(&path, Open::Write).unwrap()), b"other");
    assert_eq!(disk.list(Path::new("/nowhere")).unwrap_err().kind(), io::ErrorKind::NotFound);
    disk.create_directory(Path::new("/nowhere/at/all")).unwrap();
    assert!(disk.list(Path::new("/nowhere/at")).unwrap().is_empty());
    disk.sync_directory(Path::new("/nowhere")).unwrap();
    assert_eq!(below.points(), points, "nothing was written below");
    assert_eq!(whole(&*below.open(&path, Open::Read).unwrap()), b"old");
}

#[test]
fn every_handle_sees_the_same_file() {
    let (below, path) = below();
    put(&*below, &path, &[1; 10]);
    let disk = OverlayDisk::new(below);
    let early = disk.open(&path, Open::Read).unwrap();
    disk.open(&path, Open::Write).unwrap().write_at(2, &[2; 20]).unwrap();
    assert_eq!(whole(&*early), whole(&*disk.open(&path, Open::Read).unwrap()));
    assert_eq!(early.length().unwrap(), 22);
    let mut beyond = [0; 23];
    assert_eq!(early.read_at(0, &mut beyond).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    assert!(early.read_at(u64::MAX, &mut beyond).is_err());
}

/// Random changes to a file, with the same on plain bytes.
fn model(seed: u64, memory_bytes_max: usize) {
    let mut chance = Chance::new(seed);
    let mut random = |below: usize| chance.index(below);
    let (below, path) = below();
    let mut expected: Vec<u8> =
        (0..random(5 * BLOCK_BYTES)).map(|at| u8::try_from(at % 251).unwrap()).collect();
    put(&*below, &path, &expected);
    let disk = OverlayDisk::with_memory(below, memory_bytes_max);
    let file = disk.open(&path, Open::Write).unwrap();
    for step in 0..200_u8 {
        let (at, length) = (random(6 * BLOCK_BYTES), random(3 * BLOCK_BYTES));
        match random(5) {
            0 => {
                file.truncate(at as u64).unwrap();
                expected.resize(at, 0);
            }
            1 => {
                file.allocate(at as u64).unwrap();
                expected.resize(expected.len().max(at), 0);
            }
            _ => {
                file.write_at(at as u64, &vec![step; length]).unwrap();
                if length > 0 {
                    expected.resize(expected.len().max(at + length), 0);
                    expected[at..at + length].fill(step);
                }
            }
        }
        assert!(whole(&*file) == expected, "seed {seed}, step {step}");
    }
}

#[test]
fn model_of_a_file() {
    for seed in 0..20 {
        model(seed, MEMORY_BYTES_MAX);
        // All of it, or nearly all of it, in the temporary file.
        model(seed, 0);
        model(seed, 2 * BLOCK_BYTES);
    }
}

#[test]
fn a_read_only_file_below_can_be_changed_in_the_overlay() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    std::fs::write(&path, "below").unwrap();
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    let disk = OverlayDisk::new(Arc::new(RealDisk));
    let file = disk.open(&path, Open::Write).unwrap();
    file.write_at(0, b"above all").unwrap();
    file.sync().unwrap();
    assert_eq!(whole(&*file), b"above all");
    drop((file, disk));
    assert_eq!(std::fs::read(&path).unwrap(), b"below");
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), before);
}
