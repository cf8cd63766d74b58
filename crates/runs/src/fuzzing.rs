//! Gives the fuzz targets access to the private decoders of run files.
//!
//! Every function wraps foreign content in correct checksums first: a decoder must accept or refuse everything that
//! passes them.

use crate::checksum::checksum;
use crate::generation::{self, Generation};
use crate::names::Names;
use crate::rows::Rows;
use crate::run::{Run, file_name};
use base::ContentDigest;
use base::bytes::{put_number, put_text};
use base::disk::{Disk as _, Open, SimulatedDisk};
use std::path::Path;

const DIRECTORY: &str = "/runs";
const RUN: u64 = 7;

/// Reads `text` as the file that names the published generation.
pub fn read_generation<R: Rows>(text: &str) {
    let checked = format!("{text}check {}\n", ContentDigest::of(text.as_bytes()));
    let disk = disk_with(Path::new(DIRECTORY), generation::FILE_NAME, checked.as_bytes());
    let _ = Generation::read(&disk, Path::new(DIRECTORY), R::GENERATION);
}

/// Opens a run with these tables, or with right ones if they are empty, and these blocks, and reads all of it.
pub fn read_run<R: Rows>(names: &[&str], tables: &[u8], blocks: &[&[u8]]) {
    let (mut file, places) = blocks_of_run::<R>(blocks);
    let offset = file.len() as u64;
    let right = run_tables(names, &places);
    let tables = if tables.is_empty() { &right } else { tables };
    file.extend_from_slice(tables);
    let mut footer: Vec<u8> =
        [offset, tables.len() as u64].iter().flat_map(|number| number.to_le_bytes()).collect();
    footer.extend_from_slice(&checksum(RUN, offset, tables).to_le_bytes());
    footer.extend_from_slice(&checksum(RUN, file.len() as u64 + 32, &footer).to_le_bytes());
    footer.extend_from_slice(R::MAGIC);
    file.extend_from_slice(&footer);
    let disk = disk_with(Path::new(DIRECTORY), &file_name(RUN), &file);
    let path = Path::new(DIRECTORY).join(file_name(RUN));
    let Ok(run) = Run::<R>::open(&disk, &path, RUN, &mut Names::default()) else { return };
    let (mut buffer, mut rows) = (Vec::new(), R::default());
    for number in 0..run.block_count() {
        let _ = run.read_block(number, &mut buffer, &mut rows);
    }
    for number in 0..run.secondary_block_count() {
        let _ = run.read_secondary(number, &mut buffer);
    }
    let _ = run.verify();
    let _ = (run.may_hold(b"key"), run.blocks_before(b"key"));
}

/// The blocks in sequence, each with its checksum, and their positions.
fn blocks_of_run<R: Rows>(blocks: &[&[u8]]) -> (Vec<u8>, Vec<(u64, u64)>) {
    let mut file = [*R::MAGIC, RUN.to_le_bytes()].concat();
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
fn run_tables(names: &[&str], places: &[(u64, u64)]) -> Vec<u8> {
    let mut tables = Vec::new();
    let (rows, bodies) = places.split_at(places.len().saturating_sub(1));
    [1, 1, names.len() as u64].iter().for_each(|number| put_number(&mut tables, *number));
    names.iter().for_each(|name| put_text(&mut tables, name));
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

/// The tables that [`read_run`] makes for these blocks: a start for the fuzzer.
#[must_use]
pub fn tables_for<R: Rows>(names: &[&str], blocks: &[&[u8]]) -> Vec<u8> {
    run_tables(names, &blocks_of_run::<R>(blocks).1)
}

/// A simulated disk with one file in `directory`.
///
/// # Panics
///
/// When the simulated disk fails.
#[must_use]
pub fn disk_with(directory: &Path, name: &str, bytes: &[u8]) -> SimulatedDisk {
    let disk = SimulatedDisk::new(1);
    let written = disk
        .create_directory(directory)
        .and_then(|()| disk.open(&directory.join(name), Open::CreateNew))
        .and_then(|file| file.write_at(0, bytes));
    written.expect("a simulated disk accepts writes");
    disk
}
