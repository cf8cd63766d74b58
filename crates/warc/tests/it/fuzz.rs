//! Broken files, by the thousand: the reader never panics, always ends, and never hands out more than it was asked.

use crate::file;
use base::Chance;
use std::io::Cursor;
use warc::{Fields, Reader};

/// Changes a file as accidents and enemies do: bits, bytes, pieces lost, repeated or moved.
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

#[test]
fn two_thousand_broken_files_are_read_to_their_end() {
    let noise: Vec<u8> = (0..3_000_u32).map(|i| (i * i).to_le_bytes()[0] ^ i.to_le_bytes()[1]).collect();
    let (_, gzip) = file(&[b"HTTP/1.1 200 OK\r\n\r\nhi", &noise, b"", b"third"]);
    let mut plain =
        b"WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 5\r\n folded\r\n\r\nhello\r\n\r\n".repeat(4);
    plain.extend_from_slice(&gzip);
    for seed in 0..2_000 {
        let mut chance = Chance::new(seed);
        let mut bytes = if seed % 2 == 0 { gzip.clone() } else { plain.clone() };
        mutate(&mut bytes, &mut chance);
        let mut reader = Reader::new(Cursor::new(&bytes), 1_000);
        // Every step goes forward, so a file of so many bytes takes at most so many.
        for _ in 0..=bytes.len() {
            match reader.next() {
                Some(Ok(record)) => {
                    assert!(record.block.len() <= 1_000 && record.length <= bytes.len() as u64);
                }
                None if !reader.resume().unwrap() => break,
                Some(Err(_)) | None => {}
            }
        }
        assert!(reader.next().is_none(), "seed {seed} does not end");
        let _ = Fields::read(&bytes);
    }
}
