//! Broken files, by the thousand: the reader never panics, always ends, and never returns more than its maximum.

use crate::{COMPRESSIONS, file_in};
use base::Chance;
use std::io::Cursor;
use warc::check::Check;
use warc::{Compression, Fields, Joined, Record, RecordRef, WarcReader};

/// Changes a file: bits, bytes, pieces lost, repeated or moved.
fn mutate(bytes: &mut Vec<u8>, chance: &mut Chance) {
    for _ in 0..=chance.below(4) {
        let place = chance.index(bytes.len());
        let end = (place + chance.index(200)).min(bytes.len());
        match chance.below(6) {
            0 => bytes[place] ^= 1 << chance.below(8),
            1 => bytes[place] = *chance.pick(&[0, 0xff, b'\r', b'\n', 0x1f, b'W']),
            2 => drop(bytes.drain(place..end)),
            3 => bytes.truncate(place),
            4 => bytes.extend_from_within(place..end),
            _ => drop(
                bytes
                    .splice(place..place, b"WARC/1.1\r\nContent-Length: 99999999999\r\n\r\n".iter().copied()),
            ),
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
}

/// Whole files of every form: those of ours, plain ones of others, and one that was compressed as a whole.
fn files() -> Vec<Vec<u8>> {
    let noise: Vec<u8> = (0..3_000_u32).map(|i| (i * i).to_le_bytes()[0] ^ i.to_le_bytes()[1]).collect();
    let blocks: [&[u8]; 4] = [b"HTTP/1.1 200 OK\r\n\r\nhi", &noise, b"", b"third"];
    let mut files = COMPRESSIONS.map(|compression| file_in(compression, &blocks).1).to_vec();
    let plain =
        b"WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 5\r\n folded\r\n\r\nhello\r\n\r\n".repeat(4);
    files.extend([[&plain[..], &files[0]].concat(), [&files[1][..], &files[0], &plain].concat()]);
    let shared = file_in(Compression::Plain, &blocks).1;
    files.push(crate::forms::member(&shared));
    let skippable = b"\x5d\x2a\x4d\x18\x04\0\0\0\x37\xa4\x30\xec";
    files.push([skippable, &zstd::stream::encode_all(&*shared, 3).unwrap()[..], skippable].concat());
    files
}

/// Reads to the end, continuing after damage. Every step goes forward, so it takes so many steps at most.
fn read_all(bytes: &[u8], steps_max: usize) {
    let mut reader = WarcReader::new(Cursor::new(bytes), 1_000);
    for _ in 0..=steps_max {
        let is_over = match reader.advance() {
            Some(Ok(record)) => {
                look_at(&record, bytes);
                false
            }
            Some(Err(_)) => false,
            None => true,
        };
        if is_over && !reader.resume().unwrap() {
            break;
        }
    }
    assert!(reader.advance().is_none(), "it does not end");
}

fn look_at(record: &RecordRef<'_>, file: &[u8]) {
    assert!(record.block.len() <= 1_000 && record.length <= file.len() as u64);
    if record.is_alone {
        let from = usize::try_from(record.offset).unwrap();
        let member = &file[from..from + usize::try_from(record.length).unwrap()];
        let alone = Record::from_member(member, record.offset, 1_000, None).unwrap();
        assert_eq!(alone, record.to_record(), "what is read in order is also read from its offset");
    }
}

#[test]
fn four_thousand_broken_files_are_read_to_their_end() {
    let files = files();
    for (seed, whole) in (0..4_000).zip(files.iter().cycle()) {
        let mut chance = Chance::new(seed);
        let mut bytes = whole.clone();
        mutate(&mut bytes, &mut chance);
        read_all(&bytes, bytes.len());
        let _ = Fields::read(&bytes);
        let place = chance.index(bytes.len());
        let _ = Record::from_member(&bytes[place..], 0, 1_000, None);
        let _ = Joined::new(WarcReader::new(&*bytes, 1_000), 1_000).count();
    }
}

/// Looks at everything that is wrong, and reads what an ARC reader makes of it. Each ends after so many steps.
fn look_everywhere(bytes: &[u8]) {
    let mut check = Check::new(Cursor::new(bytes));
    let findings = check.by_ref().take(70 * (bytes.len() + 1)).map(Result::unwrap).count();
    assert_eq!(check.next().map(Result::unwrap), None, "it does not end");
    let summary = check.summary();
    assert_eq!(findings as u64, summary.errors + summary.advice);
    assert!(summary.bytes <= bytes.len() as u64 && summary.records <= bytes.len() as u64 / 4);
    let arc = warc::arc::ArcReader::new(Cursor::new(bytes), 1_000);
    let is_bounded =
        |record: &warc::ArcRecord| record.block.len() <= 1_000 && record.length <= bytes.len() as u64;
    let steps =
        arc.inspect(|result| assert!(result.as_ref().map_or(true, is_bounded))).take(bytes.len() + 2).count();
    assert!(steps <= bytes.len() + 1, "it does not end");
}

#[test]
fn four_thousand_broken_files_are_checked_to_their_end() {
    let mut files = files();
    let line =
        b"http://example.org/ 192.0.2.1 20260331090001 text/html 24\nHTTP/1.0 200 OK\r\n\r\nhi\r\n\r\n\n";
    files.extend([line.repeat(4), crate::forms::member(line).repeat(4)]);
    for (seed, whole) in (0..4_000).zip(files.iter().cycle()) {
        let mut bytes = whole.clone();
        mutate(&mut bytes, &mut Chance::new(seed));
        look_everywhere(&bytes);
    }
}

#[test]
fn many_false_beginnings_take_linear_time() {
    let lines = b"http://example.org/ 192.0.2.1 20260331090001 text/html 99999999\n";
    for piece in [
        &b"WARC/1.1\r\nContent-Length: 99999999\r\n\r\n\r\n\r\n"[..],
        b"WARC/1.1\r\nContent-Length: 70000\r\n\r\n\r\n\r\n",
        b"\x1f\x8b\x08\0",
        b"\x1f\x8b\x08\0\0\0\0\0\0\0",
        b"\x1f\x8b\x08\x08",
        b"\x1f\x8b\x08\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\0\0",
        b"\x1f\x8b\x08\x04\0\0\0\0\0\0\xff\xff",
        b"\x28\xb5\x2f\xfd",
        b"\x5d\x2a\x4d\x18",
        b"\x50\x2a\x4d\x18\0\0\0\0",
        b"\r\n",
        b"WARC/",
        lines,
    ] {
        look_everywhere(&piece.repeat(500_000 / piece.len()));
    }
}
