//! What the fuzz targets need of the decoders of this crate, which are private otherwise.

use crate::frames::Writer;
use crate::journal::Journal;
use crate::pointers::Pointers;
use crate::protocol::Answers;
use crate::wire::{Arrived, Report, split};
use base::disk::{Disk, SimulatedDisk};
use std::path::Path;
use std::sync::Arc;

/// Reads `bytes` as messages of a worker and of the dispatcher.
///
/// # Panics
/// When a report is not read again as it is written.
pub fn read_messages(mut bytes: &[u8]) {
    while let Ok(Some((message, length))) = split(bytes) {
        if let Some(report) = Report::read(message) {
            let mut written = Vec::new();
            report.put(&mut written);
            let (again, _) = split(&written).expect("it is short").expect("it is whole");
            assert_eq!(Report::read(again), Some(report));
        }
        let mut from = 0;
        while let Ok(Some(arrived)) = Arrived::next(message, &mut from) {
            assert!(arrived.member.len() <= message.len() && from <= message.len());
        }
        bytes = bytes.get(length..).unwrap_or_default();
    }
}

/// Reads `bytes` as the answers of a program, as they come in pieces of at most `piece_bytes`: how many answers there are
/// before the first garbage, and whether there is any.
#[must_use]
pub fn read_answers(bytes: &[u8], piece_bytes: usize) -> (u64, bool) {
    let (mut answers, mut number) = (Answers::new(1 << 16), 0);
    for piece in bytes.chunks(piece_bytes.max(1)) {
        answers.push(piece);
        loop {
            match answers.next(number) {
                Ok(Some(_)) => number += 1,
                Ok(None) => break,
                Err(_) => return (number, true),
            }
        }
    }
    (number, false)
}

/// Opens a journal and a list of documents that hold `frames`, each with a right checksum.
///
/// # Panics
/// When a journal that was opened is not read again as it was counted.
pub fn open_frames<'a>(frames: impl Iterator<Item = &'a [u8]>) {
    let (disk, path) = (Arc::new(SimulatedDisk::new(1)), Path::new("/frames"));
    let mut writer = Writer::create(&*disk, path).expect("a simulated disk takes it");
    frames.for_each(|frame| writer.push(&[frame]).expect("a simulated disk takes it"));
    writer.flush().expect("a simulated disk takes it");
    open(&(disk as Arc<dyn Disk>), path);
}

fn open(disk: &Arc<dyn Disk>, path: &Path) {
    if let Ok(mut reading) = Pointers::new(Arc::clone(disk), path.to_owned()).read() {
        while let Some(Ok(pointer)) = reading.next() {
            let _ = pointer.version();
        }
    }
    if let Ok((journal, done)) = Journal::open(Arc::clone(disk), path) {
        let rows = journal.read().expect("it was opened").filter_map(Result::ok);
        assert_eq!(rows.count() as u64, done.count());
    }
}
