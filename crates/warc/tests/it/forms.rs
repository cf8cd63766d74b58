//! Our own form, and forms of other writers.

use crate::{file, read};
use flate2::{Compression, GzBuilder};
use std::io::{Cursor, Write};
use warc::header::name;
use warc::{Error, Kind, Tail, WarcReader};

fn plain(block: &str) -> Vec<u8> {
    let head = format!("WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: {}\r\n\r\n", block.len());
    format!("{head}{block}\r\n\r\n").into_bytes()
}

/// A member such as some writers make it, with everything optional in its header.
pub(crate) fn member(content: &[u8]) -> Vec<u8> {
    let header = GzBuilder::new().filename("a name").comment("a comment").extra(vec![7; 300]).mtime(1);
    let mut encoder = header.write(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn what_is_written_is_read() {
    let blocks: [&[u8]; 4] = [b"HTTP/1.1 200 OK\r\n\r\nhi", b"", &[0; 200_000], b"\r\n\r\nWARC/1.1\r\n"];
    let (ends, bytes) = file(&blocks);
    let (records, error) = read(&bytes, 1_000_000);
    assert!(error.is_none(), "{error:?}");
    let mut offset = 0;
    for ((record, block), end) in records.iter().zip(blocks).zip(ends) {
        assert_eq!((record.offset, record.offset + record.length), (offset, end));
        assert_eq!(record.block, block);
        assert_eq!((record.kind(), record.digest_holds()), (Kind::Response, Some(true)));
        assert!(record.belongs_to("f") && !record.belongs_to("g"));
        offset = end;
    }
    assert_eq!(records.len(), 4);
}

#[test]
fn a_block_is_kept_as_far_as_it_is_wanted() {
    let (_, bytes) = file(&[b"0123456789", b"abc"]);
    let (records, _) = read(&bytes, 4);
    let found: Vec<_> =
        records.iter().map(|record| (&*record.block, record.block_bytes, record.is_whole())).collect();
    assert_eq!(found, [(&b"0123"[..], 10, false), (b"abc", 3, true)]);
    assert_eq!(records[0].digest_holds(), None);
}

#[test]
fn files_of_other_writers_are_read() {
    let mixed =
        [plain("one"), b"\r\n".to_vec(), member(&plain("two")), plain(""), member(&plain("three"))].concat();
    let (records, error) = read(&mixed, 100);
    let blocks: Vec<&[u8]> = records.iter().map(|record| &*record.block).collect();
    assert_eq!(blocks, [&b"one"[..], b"two", b"", b"three"], "{error:?}");
    for record in &records {
        let from = usize::try_from(record.offset).unwrap();
        let alone = &mixed[from..from + usize::try_from(record.length).unwrap()];
        assert_eq!(read(alone, 100).0[0].block, record.block, "a record can be read from its place alone");
    }
    let unix =
        b"WARC/1.0\nwarc-type: Resource\ncontent-length: 2\nWARC-Target-URI: <http://a.example/>\n\nhi\n\n";
    let (records, error) = read(unix, 100);
    assert_eq!(
        (records[0].kind(), records[0].target()),
        (Kind::Resource, Some("http://a.example/")),
        "{error:?}"
    );
}

#[test]
fn a_file_that_ends_early_says_how_much_is_whole() {
    let (ends, bytes) = file(&[b"first", b"second", b"third"]);
    for length in 0..bytes.len() {
        let (records, error) = read(&bytes[..length], 100);
        let good_bytes = ends.iter().copied().filter(|end| *end <= length as u64).max().unwrap_or(0);
        assert_eq!(records.len(), ends.iter().filter(|end| **end <= length as u64).count());
        match error {
            None => assert_eq!(good_bytes, length as u64),
            Some(Error::Cut(tail)) => {
                assert_eq!(tail, Tail { good_bytes, lost_bytes: length as u64 - good_bytes });
            }
            Some(error) => panic!("at {length}: {error}"),
        }
    }
}

#[track_caller]
fn check(bytes: &[u8], expected: &str) {
    let (_, error) = read(bytes, 100);
    let said = error.expect("an error").to_string();
    assert!(said.contains(expected), "{said}");
}

#[test]
fn damage_is_reported_with_its_offset() {
    let (ends, mut bytes) = file(&[b"first", b"second", b"third"]);
    let middle = usize::try_from(ends[0]).unwrap();
    bytes[middle + 40] ^= 1;
    check(&bytes, &format!("byte `{middle}` is damaged"));
    check(b"nonsense", "no record begins here");
    check(&[0; 100], "byte `0` is damaged: no record begins here");
    check(&member(b"nonsense\r\n\r\n"), "no record begins here");
    check(&member(b"WARC/1.0\r\nContent-Length: 3\r\n\r\nab"), "ends inside its block");
    check(&member(b"WARC/1.0\r\nContent-Length: 3\r\n"), "ends inside its head");
    check(&member(b"WARC/1.0\r\nContent-Length: 1\r\n\r\nabc\r\n\r\n"), "longer than it says");
    check(&member(b"WARC/1.0\r\nWARC-Type: resource\r\n\r\n"), "how long it is");
    check(&member(b"WARC/1.0\r\nContent-Length: -1\r\n\r\n"), "how long it is");
    check(b"\x1f\x8b\x08\xff\0\0\0\0\0\0", "no gzip member begins here");
    check(&[b"WARC/1.0\r\n".to_vec(), vec![b'a'; 300_000]].concat(), "its head does not end");
    check(&[b"WARC/1.0\r\n".to_vec(), b"a: b\r\n".repeat(300), b"\r\n".to_vec()].concat(), "too many fields");
}

#[test]
fn reading_continues_after_damage_on_request() {
    let (ends, mut bytes) = file(&[b"first", b"second", b"third"]);
    bytes[30] ^= 1;
    let mut reader = WarcReader::new(Cursor::new(&bytes), 100);
    assert!(matches!(reader.next(), Some(Err(Error::Damaged { offset: 0, .. }))));
    assert!(reader.next().is_none(), "it ends at damage");
    assert!(reader.resume().unwrap());
    let rest: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
    assert_eq!(rest.iter().map(|record| record.offset).collect::<Vec<_>>(), ends[..2]);
    assert!(!reader.resume().unwrap(), "nothing follows");

    let plain = [b"garbage\r\n".to_vec(), plain("one")].concat();
    let mut reader = WarcReader::new(Cursor::new(&plain), 100);
    assert!(reader.next().unwrap().is_err() && reader.resume().unwrap());
    let record = reader.next().unwrap().unwrap();
    assert_eq!((record.offset, record.fields.get(name::TYPE)), (9, Some("resource")));
}
