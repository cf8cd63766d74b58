//! The disk around the page cache: whole blocks bypass it, the rest does not, and the contents are the same.

use super::{contents, model};
use base::Chance;
use base::disk::{AlignedBytes, BLOCK_BYTES, DirectDisk, Disk, DiskFile, Open, RealDisk};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

const BLOCK: u64 = BLOCK_BYTES as u64;

/// A directory on the file system of the build: that of other temporary files may not support direct access.
pub(super) fn directory() -> TempDir {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = DirectDisk.open(&directory.path().join("probe"), Open::CreateNew).unwrap();
    if format!("{file:?}").contains("direct: None") {
        let notice = "NOT TESTED: reading and writing around the page cache, which the file system refuses\n";
        std::io::stderr().write_all(notice.as_bytes()).unwrap();
    }
    DirectDisk.remove(&directory.path().join("probe")).unwrap();
    directory
}

fn create(directory: &TempDir) -> Arc<dyn DiskFile> {
    DirectDisk.open(&directory.path().join("file"), Open::CreateNew).unwrap()
}

fn filled(letter: u8, length: usize) -> AlignedBytes {
    let mut bytes = AlignedBytes::zeroed(length);
    bytes.fill(letter);
    bytes
}

/// Reads into whole blocks if `offset` and `length` allow.
fn read(file: &dyn DiskFile, offset: u64, length: usize) -> std::io::Result<AlignedBytes> {
    let mut bytes = AlignedBytes::zeroed(length);
    file.read_at(offset, &mut bytes)?;
    Ok(bytes)
}

#[test]
fn model_a_file_read_and_written_both_ways_is_a_vector_of_bytes() {
    let directory = directory();
    let file = create(&directory);
    let mut chance = Chance::new(model::seed());
    let mut bytes = Vec::new();
    for _ in 0..model::operations() {
        let is_whole = chance.happens(0.5);
        let mut pick = |blocks| {
            if is_whole { chance.index(blocks) * BLOCK_BYTES } else { chance.index(blocks * BLOCK_BYTES) }
        };
        let (offset, length) = (pick(16), pick(6));
        match chance.below(16) {
            0 => {
                file.truncate(offset as u64).unwrap();
                bytes.resize(offset, 0);
            }
            1 => {
                file.allocate(offset as u64).unwrap();
                bytes.resize(bytes.len().max(offset), 0);
            }
            2 => file.sync().unwrap(),
            3..9 => {
                let data = filled(chance.bits().to_le_bytes()[0], length);
                file.write_at(offset as u64, &data).unwrap();
                let end = if length == 0 { 0 } else { offset + length };
                bytes.resize(bytes.len().max(end), 0);
                bytes.get_mut(offset..end).unwrap_or_default().copy_from_slice(&data);
            }
            _ => match read(&*file, offset as u64, length) {
                Ok(found) if length > 0 => assert_eq!(*found, bytes[offset..offset + length]),
                Ok(_) => {}
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
                    assert!(offset + length > bytes.len());
                }
            },
        }
        assert_eq!(file.length().unwrap(), bytes.len() as u64);
    }
    assert!(contents(&RealDisk, &directory.path().join("file")).unwrap() == bytes);
}

#[test]
fn both_kinds_of_access_see_the_last_write() {
    let directory = directory();
    let file = create(&directory);
    for round in 0..100_u8 {
        file.write_at(0, &filled(round, 2 * BLOCK_BYTES)).unwrap();
        file.write_at(BLOCK - 1, &[round ^ 0x80; 2]).unwrap();
        let whole = read(&*file, 0, 2 * BLOCK_BYTES).unwrap();
        assert_eq!(whole[BLOCK_BYTES - 2..BLOCK_BYTES + 2], [round, round ^ 0x80, round ^ 0x80, round]);
        file.write_at(BLOCK, &filled(round, BLOCK_BYTES)).unwrap();
        let mut part = [0; 4];
        file.read_at(BLOCK - 2, &mut part).unwrap();
        assert_eq!(part, [round, round ^ 0x80, round, round]);
    }
}

#[test]
fn an_unaligned_buffer_is_read_and_written_as_well() {
    let directory = directory();
    let file = create(&directory);
    let mut bytes = AlignedBytes::zeroed(3 * BLOCK_BYTES);
    bytes[1..=BLOCK_BYTES].fill(b'x');
    file.write_at(BLOCK, &bytes[1..=BLOCK_BYTES]).unwrap();
    file.read_at(0, &mut bytes[512..512 + 2 * BLOCK_BYTES]).unwrap();
    assert_eq!(bytes[512..512 + BLOCK_BYTES], [0; BLOCK_BYTES]);
    assert_eq!(bytes[512 + BLOCK_BYTES..512 + 2 * BLOCK_BYTES], [b'x'; BLOCK_BYTES]);
}

#[test]
fn whole_blocks_end_where_the_file_ends() {
    let directory = directory();
    let file = create(&directory);
    for length in [0, 1, 511, 512, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK - 512, 2 * BLOCK] {
        file.truncate(length).unwrap();
        for (offset, blocks) in [(0, 1), (0, 2), (BLOCK, 1), (2 * BLOCK, 1), (1 << 40, 1)] {
            let outcome = read(&*file, offset, blocks * BLOCK_BYTES).map_err(|error| error.kind());
            let expected = offset + blocks as u64 * BLOCK <= length;
            assert_eq!(outcome.is_ok(), expected, "{length}: {blocks} from {offset}");
            assert!(expected || outcome == Err(ErrorKind::UnexpectedEof));
        }
        assert!(read(&*file, 3 * BLOCK, 0).unwrap().is_empty());
    }
    assert!(file.write_at(u64::MAX - (BLOCK - 1), &filled(1, BLOCK_BYTES)).is_err());
    assert!(read(&*file, u64::MAX - (BLOCK - 1), BLOCK_BYTES).is_err());
}

#[test]
fn a_file_opened_to_read_cannot_be_written() {
    let directory = directory();
    create(&directory).write_at(0, &filled(b'a', BLOCK_BYTES)).unwrap();
    let reader = DirectDisk.open(&directory.path().join("file"), Open::Read).unwrap();
    assert!(reader.write_at(0, &filled(b'b', BLOCK_BYTES)).is_err() && reader.write_at(1, b"b").is_err());
    assert_eq!(*read(&*reader, 0, BLOCK_BYTES).unwrap(), [b'a'; BLOCK_BYTES]);
}

#[test]
fn a_file_system_without_direct_access_is_used_through_the_cache() {
    // In memory; newer kernels support direct access even there.
    let Ok(directory) = tempfile::tempdir_in(Path::new("/dev/shm")) else { return };
    let file = create(&directory);
    file.write_at(BLOCK, &filled(b'a', BLOCK_BYTES)).unwrap();
    assert_eq!(*read(&*file, BLOCK, BLOCK_BYTES).unwrap(), [b'a'; BLOCK_BYTES]);
    assert_eq!(read(&*file, BLOCK, 2 * BLOCK_BYTES).unwrap_err().kind(), ErrorKind::UnexpectedEof);
}

/// Several threads read blocks that one writer does not touch, while it writes others both ways.
#[test]
fn readers_see_whole_blocks_beside_a_writer() {
    let directory = directory();
    let file = create(&directory);
    file.write_at(0, &filled(b'a', 64 * BLOCK_BYTES)).unwrap();
    std::thread::scope(|scope| {
        for seed in 0..3 {
            let file = &file;
            scope.spawn(move || {
                let mut chance = Chance::new(seed);
                for _ in 0..300 {
                    let block = read(&**file, 2 * chance.below(32) * BLOCK, BLOCK_BYTES).unwrap();
                    assert_eq!(*block, [b'a'; BLOCK_BYTES]);
                }
            });
        }
        for number in 0..300_u64 {
            let offset = (2 * (number % 32) + 1) * BLOCK;
            file.write_at(offset, &filled(b'b', BLOCK_BYTES)).unwrap();
            file.write_at(offset + 9, b"c").unwrap();
        }
    });
}
