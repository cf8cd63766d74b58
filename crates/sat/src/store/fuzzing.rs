//! Gives the fuzz targets access to the private decoders of a store's files.
//!
//! Commits are validated when they are replayed, so they are tried with right checksums. Checkpoints and data files are
//! trusted after their checksum matches, so they are tried with damage.

use super::Store;
use crate::checksum::{Kind, Place};
use crate::files::Files;
use crate::log::operation::{self, Operation};
use crate::log::{FILE_HEAD_BYTES, FrameHead, HEAD_BYTES, seal, whole_blocks};
use crate::superblock::Superblock;
use crate::{Batch, Minute, Options};
use base::disk::{AlignedBytes, Disk, Open, OverlayDisk, SimulatedDisk};
use std::path::Path;
use std::sync::{Arc, LazyLock};

const DIRECTORY: &str = "/store";
const KEYS: u32 = 20;

/// A small store as the start of every run.
struct Start {
    disk: Arc<dyn Disk>,
    superblock: Superblock,
    part: u64,
    frame: u64,
    sequence: u64,
}

static START: LazyLock<Start> = LazyLock::new(|| start().expect("a simulated disk takes it"));

fn start() -> crate::Result<Start> {
    let disk: Arc<dyn Disk> = Arc::new(SimulatedDisk::new(1));
    let mut store = Store::open(Arc::clone(&disk), Path::new(DIRECTORY), options())?;
    for number in 0..KEYS {
        store.offer(&key(number), Minute(number), b"value")?;
    }
    store.settle()?;
    store.set(b"name", b"value")?;
    store.commit()?;
    store.checkpoint()?;
    let (part, frame, sequence) = (store.log.part(), store.frame.number, store.sequence);
    let superblock = Superblock::current(&store.files).expect("the store was made");
    Ok(Start { disk, superblock, part, frame, sequence })
}

fn options() -> Options {
    let (log_bytes, segment_bytes) = (1 << 20, 512 << 10);
    let (pool_bytes, read_threads, secret) = (512 << 10, 0, Some([7; 16]));
    Options { log_bytes, segment_bytes, pool_bytes, read_threads, secret, ..Options::default() }
}

fn key(number: u32) -> Vec<u8> {
    format!("key {number}").into_bytes()
}

/// Reads `bytes` as operations of a commit.
///
/// # Panics
/// When a written operation is not read back the same.
pub fn read_operations(mut bytes: &[u8]) {
    while let Some(operation) = operation::read(&mut bytes) {
        let mut written = AlignedBytes::new();
        operation.write(&mut written);
        assert_eq!(operation::read(&mut &written[..]), Some(operation));
    }
}

/// Opens a store whose log ends with these commits. Each is its last minute, then its operations.
pub fn open_log<'a>(commits: impl Iterator<Item = &'a [u8]>) {
    let disk: Arc<dyn Disk> = Arc::new(OverlayDisk::new(Arc::clone(&START.disk)));
    let files = Files { disk: Arc::clone(&disk), directory: DIRECTORY.into() };
    let file = files.open(&files.log(0), Open::Write).expect("the store was made");
    let mut offset = FILE_HEAD_BYTES;
    for (frame, commit) in (START.frame..).zip(commits) {
        let Some((minute, operations)) = commit.split_first_chunk() else { return };
        let mut bytes = AlignedBytes::zeroed(whole_blocks(HEAD_BYTES + operations.len()));
        bytes[HEAD_BYTES..HEAD_BYTES + operations.len()].copy_from_slice(operations);
        let head = FrameHead {
            frame,
            durable: frame - 1,
            first_sequence: START.sequence,
            operation_bytes: u32::try_from(operations.len()).expect("it is short"),
            minute: u32::from_le_bytes(*minute),
        };
        let place = Place { store: START.superblock.store, kind: Kind::Log, file: START.part, offset };
        seal(&head, place, &mut bytes);
        file.write_at(offset, &bytes).expect("an overlay takes it");
        offset += bytes.len() as u64;
    }
    drop(file);
    use_store(&disk);
}

/// Opens a store some of whose files are damaged. Each damage is the number of a file, an offset in two bytes, and the
/// bytes to write there.
///
/// # Panics
/// When the store opens with other contents.
pub fn open_damaged<'a>(damages: impl Iterator<Item = &'a [u8]>) {
    let disk: Arc<dyn Disk> = Arc::new(OverlayDisk::new(Arc::clone(&START.disk)));
    let files = Files { disk: Arc::clone(&disk), directory: DIRECTORY.into() };
    let paths = files.list().expect("the store was made");
    for (number, rest) in damages.filter_map(<[u8]>::split_first) {
        let Some((offset, bytes)) = rest.split_first_chunk() else { continue };
        let offset = u64::from(u16::from_le_bytes(*offset));
        let file = files.open(&paths[usize::from(*number) % paths.len()], Open::Write).expect("it is there");
        let room = usize::try_from(file.length().expect("it is there").saturating_sub(offset)).unwrap_or(0);
        file.write_at(offset, &bytes[..bytes.len().min(room)]).expect("an overlay takes it");
    }
    let Ok(mut store) = Store::open(disk, Path::new(DIRECTORY), options()) else { return };
    let is_read = |store: &mut Store, number| match store.get(&key(number)) {
        Ok(record) => record.is_some_and(|record| record.value == b"value"),
        Err(_) => true,
    };
    assert!(store.count() == u64::from(KEYS) && store.table().len() == 1);
    assert!((0..KEYS).all(|number| is_read(&mut store, number)), "no damaged byte is believed");
}

/// Opens the store and, if that succeeds, uses every operation once. Afterwards it must open again.
fn use_store(disk: &Arc<dyn Disk>) {
    let open = || Store::open(Arc::clone(disk), Path::new(DIRECTORY), options());
    let Ok(mut store) = open() else { return };
    if store.verify().map_or(true, |damage| !damage.is_empty()) {
        return;
    }
    for number in 0..KEYS {
        let _ = (store.get(&key(number)), store.get_number(crate::Number(number)));
    }
    let mut batch = Batch::new();
    store.advance(Minute(store.minute().0.saturating_add(10_000).min(Minute::MAX.0)));
    if let Ok(true) = store.next_due(&mut batch) {
        batch.records().for_each(|record| assert!(record.key.len() + record.value.len() <= 1 << 16));
    }
    let is_closed = store.close().is_ok();
    assert!(!is_closed || open().is_ok(), "a store that was closed in order opens");
}

/// A commit as the store writes it: a start for the fuzzer.
#[must_use]
pub fn some_commit() -> Vec<u8> {
    let mut operations = AlignedBytes::new();
    let (key, value) = (&b"key"[..], &b"new value"[..]);
    let bucket = 1 << 20;
    for operation in [
        Operation::Offer { due: 9_000, key, value },
        Operation::Update { number: 3, bucket, due: bucket, key: b"key 3", value },
        Operation::Delete { number: 4 },
        Operation::Advance { minute: 2 },
        Operation::Set { name: b"name", value },
        Operation::Unset { name: b"name" },
    ] {
        operation.write(&mut operations);
    }
    [&5_u32.to_le_bytes(), &operations[..]].concat()
}
