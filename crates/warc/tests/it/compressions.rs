//! Every compression: what is written is read, from the beginning and from its offset alone.

use crate::{COMPRESSIONS, file_in, read};
use std::io::Cursor;
use warc::header::name;
use warc::{Compression, Dictionary, Error, Kind, Record, WarcReader, WarcVersion, ZstdLevel};
use zstd::bulk::Compressor;

const DICTIONARY_FRAME: u32 = 0x184d_2a5d;

fn plain(version: &str, block: &[u8]) -> Vec<u8> {
    let head = format!("WARC/{version}\r\nWARC-Type: resource\r\nContent-Length: {}\r\n\r\n", block.len());
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn skippable(magic: u32, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap();
    [&magic.to_le_bytes()[..], &length.to_le_bytes(), content].concat()
}

/// Bytes that do not compress.
fn noise(bytes: usize) -> Vec<u8> {
    let mut chance = base::Chance::new(7);
    (0..bytes).map(|_| chance.bits().to_le_bytes()[0]).collect()
}

#[test]
fn what_is_written_is_read_from_everywhere() {
    let long = noise(3_000_000);
    let longer = b"abcdefgh".repeat(1_000_000);
    let blocks: [&[u8]; 6] =
        [b"HTTP/1.1 200 OK\r\n\r\nhi", b"", &long, b"\r\n\r\nWARC/1.1\r\n", &longer, b"end"];
    for compression in COMPRESSIONS {
        let (ends, bytes) = file_in(compression, &blocks);
        let (records, error) = read(&bytes, 10_000_000);
        assert!(error.is_none() && records.len() == blocks.len(), "{compression:?}: {error:?}");
        let mut reader = WarcReader::new(&*bytes, 10_000_000);
        let mut offset = 0;
        for ((record, block), end) in records.iter().zip(blocks).zip(ends) {
            assert_eq!((record.offset, record.offset + record.length), (offset, end), "{compression:?}");
            assert!(record.block == block && record.is_alone && record.version == WarcVersion::One1);
            assert_eq!((record.kind(), record.digest_holds()), (Kind::Response, Some(true)));
            let lent = reader.advance().unwrap().unwrap();
            assert_eq!(lent.to_record(), *record);
            assert!(lent.head.raw().starts_with(b"WARC/1.1\r\n") && lent.head.raw().ends_with(b"\r\n\r\n"));
            let (from, to) = (usize::try_from(offset).unwrap(), usize::try_from(end).unwrap());
            let alone = Record::from_member(&bytes[from..to], offset, 10_000_000, None).unwrap();
            assert_eq!(alone, *record, "{compression:?}");
            let short = Record::from_member(&bytes[from..to], offset, 3, None).unwrap();
            assert_eq!((short.block.len(), short.block_bytes), (block.len().min(3), block.len() as u64));
            offset = end;
        }
        assert!(reader.advance().is_none());
    }
}

#[test]
fn a_member_that_is_not_one_record_is_refused() {
    for compression in COMPRESSIONS {
        let (ends, bytes) = file_in(compression, &[b"first", b"second"]);
        let end = usize::try_from(ends[0]).unwrap();
        for wrong in [&bytes[..], &bytes[..end - 5], &bytes[..end + 1], &bytes[1..], b"", b"x"] {
            let error = Record::from_member(wrong, 7, 100, None).unwrap_err();
            let at = match error {
                Error::Damaged { offset, .. } => offset,
                Error::Cut(tail) => tail.good_bytes,
                other => panic!("{other}"),
            };
            assert_eq!(at, 7, "{compression:?}");
        }
    }
    let shared = zstd::bulk::compress(&[plain("1.0", b"a"), plain("1.0", b"b")].concat(), 3).unwrap();
    let error = Record::from_member(&shared, 0, 100, None).unwrap_err();
    assert!(error.to_string().contains("shares its member"), "{error}");
}

#[test]
fn versions_are_told_apart() {
    for (version, expected) in [
        ("1.0", WarcVersion::One0),
        ("1.1", WarcVersion::One1),
        ("0.18", WarcVersion::Other),
        ("2.0", WarcVersion::Other),
    ] {
        let (records, error) = read(&plain(version, b"x"), 10);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(records[0].version, expected);
    }
}

/// A file whose frames refer to a dictionary, which stands first as `frame`.
fn with_dictionary(dictionary: &[u8], frame: &[u8], blocks: &[&[u8]]) -> Vec<u8> {
    let mut compressor = Compressor::with_dictionary(3, dictionary).unwrap();
    let mut file = skippable(DICTIONARY_FRAME, frame);
    for block in blocks {
        file.extend(compressor.compress(&plain("1.0", block)).unwrap());
    }
    file
}

fn dictionary() -> Vec<u8> {
    let samples: Vec<Vec<u8>> = (0..500_u32)
        .map(|i| {
            format!("<html><title>Page {i}</title><p class=x>number {}</p></html>", i * 7919).into_bytes()
        })
        .collect();
    zstd::dict::from_samples(&samples, 4_000).unwrap()
}

#[test]
fn a_file_with_a_dictionary_is_read() {
    let dictionary = dictionary();
    let blocks: [&[u8]; 3] =
        [b"<html><title>Page 3</title>", &noise(900_000), b"<p class=x>number 12</p></html>"];
    for frame in [dictionary.clone(), zstd::bulk::compress(&dictionary, 19).unwrap()] {
        let file = with_dictionary(&dictionary, &frame, &blocks);
        let (records, error) = read(&file, 1_000_000);
        assert!(error.is_none(), "{error:?}");
        let found: Vec<&[u8]> = records.iter().map(|record| &*record.block).collect();
        assert_eq!(found, blocks);
        assert_eq!(records[0].offset, 8 + frame.len() as u64);

        let mut reader = WarcReader::new(&*file, 100);
        reader.advance().unwrap().unwrap();
        let found: Dictionary = reader.dictionary().unwrap().clone();
        assert_eq!(found.as_bytes(), dictionary);
        let last = &records[2];
        let from = usize::try_from(last.offset).unwrap();
        let member = &file[from..];
        let alone = Record::from_member(member, last.offset, 100, Some(&found)).unwrap();
        assert_eq!(alone, *last);
        assert!(Record::from_member(member, last.offset, 100, None).is_err(), "it needs the dictionary");
        let middle = WarcReader::starting_at(member, last.offset, 100).with_dictionary(found).next();
        assert_eq!(middle.unwrap().unwrap(), *last);
    }
}

#[test]
fn an_invalid_dictionary_is_reported() {
    let record = zstd::bulk::compress(&plain("1.0", b"x"), 3).unwrap();
    let read_behind = |frame: &[u8]| read(&[skippable(DICTIONARY_FRAME, frame), record.clone()].concat(), 10);
    assert_eq!(read_behind(b"no dictionary").0.len(), 1, "it is padding");
    let bomb = zstd::bulk::compress(&vec![0; 9_000_000], 3).unwrap();
    for wrong in [&bomb[..], &bomb[..bomb.len() / 2], b"\x28\xb5\x2f\xfd\xff", &vec![0; 9_000_000]] {
        let (records, error) = read_behind(wrong);
        assert!(records.is_empty() && matches!(error, Some(Error::Damaged { offset: 0, .. })), "{error:?}");
    }
    let cut = skippable(DICTIONARY_FRAME, &dictionary());
    for length in 1..cut.len() {
        let (_, error) = read(&cut[..length], 10);
        assert!(matches!(error, Some(Error::Cut(tail)) if tail.good_bytes == 0), "{length}: {error:?}");
    }
}

#[test]
fn frames_to_be_skipped_belong_to_the_record_before_them() {
    let record = |block: &[u8]| zstd::bulk::compress(&plain("1.1", block), 3).unwrap();
    let padding = [skippable(0x184d_2a50, b"anything"), skippable(0x184d_2a5f, b"")].concat();
    let file = [padding.clone(), record(b"one"), padding.clone(), record(b"two"), padding.clone()].concat();
    let (records, error) = read(&file, 10);
    assert!(error.is_none(), "{error:?}");
    let length = (record(b"one").len() + padding.len()) as u64;
    assert_eq!((records[0].offset, records[0].length), (padding.len() as u64, length));
    assert_eq!(records[1].offset + records[1].length, file.len() as u64);
    for record in &records {
        let from = usize::try_from(record.offset).unwrap();
        let member = &file[from..from + usize::try_from(record.length).unwrap()];
        assert_eq!(Record::from_member(member, record.offset, 10, None).unwrap(), *record);
    }
}

#[test]
fn frames_of_other_writers_are_read() {
    let block = b"0123456789".repeat(100_000);
    let content = plain("1.0", &block);
    let no_size = zstd::stream::encode_all(&*content, 1).unwrap();
    let file = [no_size.clone(), no_size].concat();
    let (records, error) = read(&file, 2_000_000);
    assert!(error.is_none() && records.len() == 2 && records[1].block == block, "{error:?}");
}

/// Records that share a member, as in a file that was compressed as a whole.
#[test]
fn records_that_share_a_member_are_read_and_say_so() {
    let small: Vec<Vec<u8>> = (0..10).map(|i| plain("1.0", format!("block {i}").as_bytes())).collect();
    let large: Vec<Vec<u8>> = (0..5).map(|i| plain("1.0", &[noise(1_500_000), vec![i]].concat())).collect();
    for contents in [small, large] {
        let all = contents.concat();
        let (_, alone) = file_in(Compression::default(), &[b"alone"]);
        for member in [crate::forms::member(&all), zstd::stream::encode_all(&*all, 3).unwrap()] {
            let file = [alone.clone(), member.clone(), alone.clone()].concat();
            let (records, error) = read(&file, 2_000_000);
            assert!(error.is_none() && records.len() == contents.len() + 2, "{error:?}");
            for (record, content) in records[1..].iter().zip(&contents) {
                assert_eq!((record.offset, record.length, record.is_alone), (alone.len() as u64, 0, false));
                assert!(content.ends_with(&[&record.block[..], b"\r\n\r\n"].concat()));
            }
            let last = records.last().unwrap();
            assert!(last.is_alone && last.offset == (alone.len() + member.len()) as u64);
        }
    }
}

#[test]
fn damage_inside_a_shared_member_is_reported_and_skipped() {
    let member =
        crate::forms::member(&[plain("1.0", b"one"), b"WARC/1.0\r\nno length\r\n\r\n".to_vec()].concat());
    let (_, alone) = file_in(Compression::default(), &[b"alone"]);
    let file = [member.clone(), alone].concat();
    let mut reader = WarcReader::new(Cursor::new(&file), 100);
    assert_eq!(reader.next().unwrap().unwrap().block, b"one");
    assert!(matches!(reader.next(), Some(Err(Error::Damaged { offset: 0, .. }))));
    assert!(reader.damaged_head().starts_with(b"WARC/1.0\r\nno length"));
    assert!(reader.resume().unwrap());
    let lost = reader.lost().unwrap();
    assert_eq!((lost.from, lost.to), (0, member.len() as u64));
    assert_eq!(reader.next().unwrap().unwrap().block, b"alone");
    assert!(reader.next().is_none());
}

#[test]
fn a_level_of_zstd_is_one_that_every_reader_can_afford() {
    assert!(ZstdLevel::new(0).is_none() && ZstdLevel::new(20).is_none());
    let block = b"to be or not to be, ".repeat(5_000);
    let sizes: Vec<usize> = [1, 3, 19]
        .map(|level| file_in(Compression::Zstd(ZstdLevel::new(level).unwrap()), &[&block]).1.len())
        .to_vec();
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
    let (_, file) = file_in(Compression::Zstd(ZstdLevel::DEFAULT), &[&block]);
    let (records, _) = read(&file, 1);
    assert_eq!(records[0].fields.get(name::CONTENT_LENGTH), Some("100000"));
    let size = zstd::zstd_safe::get_frame_content_size(&file).unwrap().unwrap();
    assert!(size > 100_000, "the frame says how long its content is");
}
