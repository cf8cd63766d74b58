//! What the fuzz targets need of the decoders of files beside the archive, which are private otherwise.
//!
//! Every function wraps foreign content in right checksums first: a decoder must stand whatever passes them.

use crate::append::{Archive, Settings};
use crate::derived;
use crate::entry::{ContentKey, Location};
use crate::index::bytes::{checksum, put_number, put_text};
use crate::index::generation::{self, Generation};
use crate::index::row::{Encoder, Files, Rows};
use crate::index::run::{Run, file_name};
use crate::journal::{framed, head, seed};
use crate::reader::Reader;
use crate::sums;
use base::disk::{Disk, Open, SimulatedDisk};
use base::{ContentDigest, Sha1Digest, Timestamp};
use std::path::Path;
use std::sync::Arc;

const FILE: &str = "utsushi-20261115231600123456-00000.warc.gz";
const DIRECTORY: &str = "/archive";
const RUN: u64 = 7;

/// Reads `bytes` as a block of rows.
///
/// # Panics
/// When the rows are not read again as they are written.
pub fn read_rows(bytes: &[u8]) {
    let mut files = Files::default();
    let numbers = [files.number(FILE), files.number("other.warc")];
    let mut rows = Rows::default();
    if rows.decode(bytes, &numbers).is_err() {
        return;
    }
    let (mut encoder, mut written, mut again) = (Encoder::default(), Vec::new(), Rows::default());
    for number in 0..rows.len() {
        let _ = rows.row(number).entry(rows.key_text(number), &files);
        encoder.push(rows.key_text(number), rows.row(number), |file| file);
    }
    encoder.finish(&mut written);
    again.decode(&written, &numbers).expect("rows that were written are read");
    let all = |rows: &Rows| (0..rows.len()).map(|n| (rows.key(n).to_vec(), rows.row(n).clone())).collect();
    let (before, after): (Vec<_>, Vec<_>) = (all(&rows), all(&again));
    assert_eq!(before, after);
}

/// Reads `frames` as the sums of an archive file.
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

/// Reads `frames` as what is known of the captures of an archive file.
pub fn read_derived<'a>(frames: impl Iterator<Item = &'a [u8]>) {
    let disk = disk_with(&format!("{FILE}.derived"), &journal(b"UTSDRV01", frames));
    let reader = derived::Reader::open(disk, Path::new(DIRECTORY));
    for offset in [0, 1, 100] {
        let location = Location { file: FILE.into(), offset, length: 1 };
        let _ = (reader.get(&location).map(drop), reader.is_read(&location).map(drop));
    }
}

/// Reads `text` as the description of an index.
pub fn read_generation(text: &str) {
    let checked = format!("{text}check {}\n", ContentDigest::of(text.as_bytes()));
    let disk = disk_with(generation::FILE_NAME, checked.as_bytes());
    let _ = Generation::read(&*disk, Path::new(DIRECTORY));
}

/// Opens a run of the index with these tables, or with right ones if they are empty, and these blocks, and reads all of it.
pub fn read_run(tables: &[u8], blocks: &[&[u8]]) {
    let (mut file, places) = blocks_of_run(blocks);
    let offset = file.len() as u64;
    let right = run_tables(&places);
    let tables = if tables.is_empty() { &right } else { tables };
    file.extend_from_slice(tables);
    let mut footer: Vec<u8> =
        [offset, tables.len() as u64].iter().flat_map(|number| number.to_le_bytes()).collect();
    footer.extend_from_slice(&checksum(RUN, offset, tables).to_le_bytes());
    footer.extend_from_slice(&checksum(RUN, file.len() as u64 + 32, &footer).to_le_bytes());
    footer.extend_from_slice(b"UTSURUN1");
    file.extend_from_slice(&footer);
    let disk = disk_with(&file_name(RUN), &file);
    let path = Path::new(DIRECTORY).join(file_name(RUN));
    let Ok(run) = Run::open(&*disk, &path, RUN, &mut Files::default()) else { return };
    let (mut buffer, mut rows) = (Vec::new(), Rows::default());
    for number in 0..run.block_count() {
        let _ = run.read_block(number, &mut buffer, &mut rows);
    }
    let payload = Sha1Digest::of(&[b"x"]);
    let _ = (run.verify(), run.find_payload(payload), run.find_body(payload, ContentKey::of(b"x")));
    let _ = (run.may_hold(b"key"), run.blocks_before(b"key"));
}

/// The blocks one after the other, each with its checksum, and where they are.
fn blocks_of_run(blocks: &[&[u8]]) -> (Vec<u8>, Vec<(u64, u64)>) {
    let mut file = [*b"UTSURUN1", RUN.to_le_bytes()].concat();
    let mut places = Vec::new();
    for block in blocks {
        let (offset, length) = (file.len() as u64, u32::try_from(block.len()).expect("it is short"));
        file.extend_from_slice(&length.to_le_bytes());
        file.extend_from_slice(&checksum(RUN, offset, block).to_le_bytes());
        file.extend_from_slice(block);
        places.push((offset, u64::from(length) + 8));
    }
    (file, places)
}

/// Tables of a run whose last block holds bodies and whose other blocks hold rows.
fn run_tables(places: &[(u64, u64)]) -> Vec<u8> {
    let mut tables = Vec::new();
    let (rows, bodies) = places.split_at(places.len().saturating_sub(1));
    [1, 1, 2].iter().for_each(|number| put_number(&mut tables, *number));
    [FILE, "other.warc"].iter().for_each(|name| put_text(&mut tables, name));
    put_number(&mut tables, rows.len() as u64);
    for (offset, length) in rows {
        put_text(&mut tables, "key");
        [offset, length].iter().for_each(|number| put_number(&mut tables, **number));
    }
    put_number(&mut tables, bodies.len() as u64);
    for (offset, length) in bodies {
        tables.extend_from_slice(&0_u64.to_le_bytes());
        [offset, length].iter().for_each(|number| put_number(&mut tables, **number));
    }
    [16, 0].iter().for_each(|number| put_number(&mut tables, *number));
    tables.extend_from_slice(&checksum(RUN, 16, &[]).to_le_bytes());
    tables
}

/// The tables that [`read_run`] makes for these blocks: something to start from.
#[must_use]
pub fn tables_for(blocks: &[&[u8]]) -> Vec<u8> {
    run_tables(&blocks_of_run(blocks).1)
}

/// A block of rows, and its only row as a frame of the sums: something to start from.
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
        encoder.push(entry.key.as_str(), &row, |file| file);
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
    let disk = SimulatedDisk::new(1);
    let directory = Path::new(DIRECTORY);
    let written = disk
        .create_directory(directory)
        .and_then(|()| disk.open(&directory.join(name), Open::CreateNew))
        .and_then(|file| file.write_at(0, bytes));
    written.expect("a simulated disk takes it");
    Arc::new(disk)
}
