//! Gives the fuzz targets access to private decoders of files beside the archive.
//!
//! Every function wraps foreign content in right checksums first: a decoder must withstand everything that passes them.

use crate::capture::entry::Location;
use crate::derived;
use crate::files::journal::{framed, head, seed};
use crate::files::sums;
use crate::index::Files;
use crate::index::row::{Encoder, Rows};
use crate::reading::reader::Reader;
use crate::writing::append::{Archive, Settings};
use base::Timestamp;
use base::bytes::put_text;
use base::disk::{Disk, SimulatedDisk};
use runs::{RowEncoder as _, Rows as _};
use std::path::Path;
use std::sync::Arc;

const FILE: &str = "utsushi-20261115231600123456-00000.warc.gz";
const DIRECTORY: &str = "/archive";
/// The names of files that blocks may refer to.
const NAMES: [&str; 2] = [FILE, "other.warc"];

/// Reads `bytes` as a block of rows.
///
/// # Panics
/// When written rows are not read back the same.
pub fn read_rows(bytes: &[u8]) {
    let mut files = Files::default();
    let numbers = NAMES.map(|name| files.number(name));
    let mut rows = Rows::default();
    if rows.decode(bytes, &numbers).is_none() {
        return;
    }
    let (mut encoder, mut written, mut again) = (Encoder::default(), Vec::new(), Rows::default());
    for number in 0..rows.len() {
        let _ = rows.row(number).entry(rows.key_text(number), &files);
        encoder.push(rows.key(number), rows.row(number), &mut |file| file);
    }
    encoder.finish(&mut written);
    again.decode(&written, &numbers).expect("rows that were written are read");
    let all = |rows: &Rows| (0..rows.len()).map(|n| (rows.key(n).to_vec(), rows.row(n).clone())).collect();
    let (before, after): (Vec<_>, Vec<_>) = (all(&rows), all(&again));
    assert_eq!(before, after);
}

/// Reads `frames` as the checksums of an archive file.
pub fn read_sums<'a>(frames: impl Iterator<Item = &'a [u8]>) {
    let disk = disk_with(&format!("{FILE}{}", sums::SUFFIX), &journal(b"UTSUMS01", frames));
    let (path, mut files) = (sums::path_of(Path::new(DIRECTORY), FILE), Files::default());
    let found = sums::read(&*disk, &path, FILE, &mut files, |batch, files| {
        assert!(batch.to() >= batch.from);
        batch.captures.iter().for_each(|(key, row)| _ = row.entry(key, files));
    });
    let found = found.expect("a simulated disk can be read").expect("its head is right");
    assert!(found.whole_bytes <= found.bytes);
}

/// Reads `frames` as the derived journal of an archive file.
pub fn read_derived<'a>(frames: impl Iterator<Item = &'a [u8]>) {
    let disk = disk_with(&format!("{FILE}.derived"), &journal(b"UTSDRV01", frames));
    let reader = derived::DerivedReader::open(disk, Path::new(DIRECTORY));
    for offset in [0, 1, 100] {
        let location = Location { file: FILE.into(), offset, length: 1 };
        let _ = (reader.get(&location).map(drop), reader.is_read(&location).map(drop));
    }
}

/// Reads `text` as the description of an index.
pub fn read_generation(text: &str) {
    runs::fuzzing::read_generation::<Rows>(text);
}

/// Opens a run of the index with these tables, or with right ones if they are empty, and these blocks, and reads all of it.
pub fn read_run(tables: &[u8], blocks: &[&[u8]]) {
    runs::fuzzing::read_run::<Rows>(&NAMES, tables, blocks);
}

/// The tables that [`read_run`] makes for these blocks: a start for the fuzzer.
#[must_use]
pub fn tables_for(blocks: &[&[u8]]) -> Vec<u8> {
    runs::fuzzing::tables_for::<Rows>(&NAMES, blocks)
}

/// A block with one row, and that row as a frame of checksums: a start for the fuzzer.
#[must_use]
pub fn some_rows() -> (Vec<u8>, Vec<u8>) {
    let (disk, at) =
        (Arc::new(SimulatedDisk::new(1)), Timestamp::from_seconds(1_800_000_000).expect("a date"));
    let mut archive = open(&disk, at);
    archive.note("fuzz", at, "text").and_then(|_| archive.commit()).expect("a simulated disk takes it");
    let reader = Reader::open(disk, Path::new(DIRECTORY)).expect("it was written");
    let entries: Vec<_> = reader.all().expect("it was written").filter_map(Result::ok).collect();
    let (mut files, mut encoder) = (Files::default(), Encoder::default());
    for entry in &entries {
        let row = crate::index::row::Row::of(entry, &mut files);
        encoder.push(entry.key.as_str().as_bytes(), &row, &mut |file| file);
    }
    let mut block = Vec::new();
    encoder.finish(&mut block);
    let mut frame = vec![1, 0, 1, 100, 1, 2, 3, 4, 1];
    put_text(&mut frame, FILE);
    frame.extend_from_slice(&block);
    (block, frame)
}

/// Reads `text` as a note of a takedown, from an archive that holds it.
pub fn read_takedown(text: &[u8]) {
    let (disk, at) =
        (Arc::new(SimulatedDisk::new(1)), Timestamp::from_seconds(1_800_000_000).expect("a date"));
    let mut archive = open(&disk, at);
    let part = archive.put_note("urn:utsushi:takedown:1800000000000000-0:0", at, text);
    part.and_then(|_| archive.commit()).expect("a simulated disk takes it");
    drop(archive);
    let _ = Reader::open(disk.clone(), Path::new(DIRECTORY)).and_then(|reader| reader.takedowns());
    let _ = Archive::open(disk, Path::new(DIRECTORY), settings(), at);
}

fn open(disk: &Arc<SimulatedDisk>, at: Timestamp) -> Archive {
    let disk = Arc::clone(disk);
    Archive::open(disk, Path::new(DIRECTORY), settings(), at).expect("a simulated disk takes it").0
}

fn settings() -> Settings {
    Settings { merges_beside: false, disk_free_bytes_min: 0, ..Settings::default() }
}

/// A journal of [`FILE`] with these frames.
fn journal<'a>(magic: &[u8; 8], frames: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut bytes = head(magic, FILE);
    frames.for_each(|frame| bytes.extend(framed(seed(FILE), bytes.len() as u64, frame)));
    bytes
}

fn disk_with(name: &str, bytes: &[u8]) -> Arc<dyn Disk> {
    Arc::new(runs::fuzzing::disk_with(Path::new(DIRECTORY), name, bytes))
}
