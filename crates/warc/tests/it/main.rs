//! Written files are read back, files of other writers are read, broken ones are reported, and memory is bounded.

#![expect(
    clippy::unwrap_used,
    reason = "clippy knows test functions by their mark; here the functions they call are tests too"
)]

mod arc;
mod check;
mod compressions;
mod damage;
mod forms;
mod fuzz;
mod memory;
mod naughty;
mod peers;
mod removed;
mod samples;
mod segments;

use base::Timestamp;
use std::io::Write as _;
use warc::{
    Compression, Draft, HTTP_RESPONSE, Kind, Level, Record, RecordId, WarcReader, WarcWriter, ZstdLevel,
};

const COMPRESSIONS: [Compression; 3] =
    [Compression::Gzip(Level::DEFAULT), Compression::Zstd(ZstdLevel::DEFAULT), Compression::Plain];

/// A small file of ours: how long it is after each record, and its bytes.
fn file(blocks: &[&[u8]]) -> (Vec<u64>, Vec<u8>) {
    file_in(Compression::default(), blocks)
}

/// The same, compressed so.
fn file_in(compression: Compression, blocks: &[&[u8]]) -> (Vec<u64>, Vec<u8>) {
    let mut writer = WarcWriter::new(compression);
    let mut bytes = Vec::new();
    let ends = blocks.iter().map(|block| {
        let id = RecordId::at("f", bytes.len() as u64, Timestamp::MIN, &Kind::Response);
        let draft = Draft::new(&Kind::Response, &id, Timestamp::MIN).target("http://example.org/");
        writer.append(draft, HTTP_RESPONSE, &[block], &mut bytes);
        bytes.len() as u64
    });
    (ends.collect(), bytes)
}

/// The records up to the first error, and that error.
fn read(bytes: &[u8], block_bytes_max: usize) -> (Vec<Record>, Option<warc::Error>) {
    let (mut records, mut error) = (Vec::new(), None);
    for record in WarcReader::new(bytes, block_bytes_max) {
        match record {
            Ok(record) => records.push(record),
            Err(found) => error = Some(found),
        }
    }
    (records, error)
}

/// Reports that something is not tested. Not by `eprintln!`, whose output is shown only for failed tests.
fn say_skipped(what: &str, variable: &str) {
    let _ = writeln!(std::io::stderr(), "NOT TESTED: {what}, because `{variable}` does not say where it is");
}
