//! Damage at every byte: found, and skipped.

use crate::{COMPRESSIONS, file_in};
use std::io::Cursor;
use warc::{Compression, WarcReader};

/// All that can be read of `bytes`, and what is lost.
fn salvage(bytes: &[u8]) -> (Vec<warc::Record>, Vec<warc::Lost>) {
    let mut reader = WarcReader::new(Cursor::new(bytes), 1_000);
    let (mut records, mut lost) = (Vec::new(), Vec::new());
    loop {
        match reader.next() {
            Some(Ok(record)) => records.push(record),
            Some(Err(_)) => {
                let is_left = reader.resume().unwrap();
                lost.extend(reader.lost());
                if !is_left {
                    return (records, lost);
                }
            }
            None => return (records, lost),
        }
    }
}

/// How many bits of a record its form may leave free, so that a flip changes nothing. In gzip: the time, some flags and
/// the system in the header, and what fills the last byte up; in zstd: a few of the header and the tables. The archive
/// keeps checksums of its own for them.
fn free_bits_max(compression: Compression) -> usize {
    match compression {
        Compression::Gzip(_) => 3 * (7 * 8 + 7),
        Compression::Zstd(_) => 3 * 16,
        Compression::Plain => 0,
    }
}

#[test]
fn a_flip_anywhere_costs_at_most_the_record_it_hits() {
    let blocks: [&[u8]; 3] = [b"HTTP/1.1 200 OK\r\n\r\nfirst", b"second", b"third, with some more bytes"];
    for compression in COMPRESSIONS {
        let (ends, bytes) = file_in(compression, &blocks);
        let (whole, _) = salvage(&bytes);
        let mut free_bits = 0;
        for (place, bit) in (0..bytes.len()).flat_map(|place| (0..8).map(move |bit| (place, bit))) {
            let mut broken = bytes.clone();
            broken[place] ^= 1 << bit;
            let hit = ends.iter().filter(|end| **end <= place as u64).count();
            let (records, lost) = salvage(&broken);
            for (number, record) in whole.iter().enumerate().filter(|(number, _)| *number != hit) {
                // A plain record with a wrong length may swallow the next one, which is then reported as lost.
                let is_told = || lost.iter().any(|lost| lost.from < ends[number] && lost.to > record.offset);
                let is_excused = compression == Compression::Plain && is_told();
                assert!(
                    records.contains(record) || is_excused,
                    "{compression:?}: {place}.{bit} lost {number}"
                );
            }
            let start = whole[hit].offset;
            let is_noticed = lost.iter().any(|lost| lost.from < ends[hit] && lost.to > start);
            let found = records.iter().find(|record| record.offset == start);
            let is_digest_wrong = found.is_some_and(|record| record.digest_holds() == Some(false));
            if !is_noticed && !is_digest_wrong {
                // A plain head has no checksum: there the flip is in the returned record.
                let is_plain = compression == Compression::Plain;
                assert!(
                    is_plain || found == Some(&whole[hit]),
                    "{compression:?}: {place}.{bit} goes unnoticed"
                );
                free_bits += usize::from(!is_plain);
            }
        }
        assert!(free_bits <= free_bits_max(compression), "{compression:?}: {free_bits}");
    }
}

#[test]
fn lost_bytes_are_reported_exactly() {
    for compression in COMPRESSIONS {
        let (ends, mut bytes) = file_in(compression, &[b"first", b"second", b"third"]);
        let (from, to) = (usize::try_from(ends[0]).unwrap(), usize::try_from(ends[1]).unwrap());
        bytes[from..to].fill(0);
        let (records, lost) = salvage(&bytes);
        assert_eq!(records.len(), 2, "{compression:?}");
        assert_eq!(lost.len(), 1, "{compression:?}");
        assert_eq!((lost[0].from, lost[0].to), (ends[0], ends[1]), "{compression:?}");

        bytes.truncate(to);
        let (_, lost) = salvage(&bytes);
        assert_eq!(
            (lost[0].from, lost[0].to),
            (ends[0], ends[1]),
            "{compression:?}: up to the end of the file"
        );
    }
}

#[test]
fn a_cut_anywhere_is_distinguished_from_damage() {
    for compression in COMPRESSIONS {
        let (ends, bytes) = file_in(compression, &[b"first", b"second"]);
        for length in 0..bytes.len() {
            let (records, error) = crate::read(&bytes[..length], 100);
            let good_bytes = ends.iter().copied().filter(|end| *end <= length as u64).max().unwrap_or(0);
            match error {
                None if compression == Compression::Plain => {
                    // The line ends after a plain record may be missing, or be few.
                    assert!(
                        ends.iter().any(|end| (end - 4..=*end).contains(&(length as u64))) || length == 0
                    );
                }
                None => assert_eq!(good_bytes, length as u64, "{compression:?}"),
                Some(warc::Error::Cut(tail)) => {
                    assert_eq!(tail.good_bytes, records.last().map_or(0, |last| last.offset + last.length));
                    assert_eq!(tail.good_bytes + tail.lost_bytes, length as u64, "{compression:?}");
                }
                Some(error) => panic!("{compression:?} at {length}: {error}"),
            }
        }
    }
}
