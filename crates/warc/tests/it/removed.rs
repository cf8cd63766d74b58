//! Records that fill a hole exactly.

use crate::{COMPRESSIONS, file_in, read};
use base::Timestamp;
use warc::{Compression, Kind, Record, removed, removed_bytes_min};

const FILE: &str = "f.warc.gz";

#[test]
fn a_removed_record_has_any_length_from_the_least_on() {
    for compression in COMPRESSIONS {
        let least = removed_bytes_min(FILE, 5, Timestamp::MIN, compression);
        assert!((150..230).contains(&least), "{compression:?}: {least}");
        let near = |length: usize| length.saturating_sub(70)..length + 70;
        let around_blocks = near(65_540).chain(near(2 * 65_540)).chain(near(131_072)).chain([5_000_000]);
        for length in (least..least + 1_500).chain(near(10_200)).chain(near(100_200)).chain(around_blocks) {
            let bytes = removed(FILE, 5, Timestamp::MIN, length, compression).unwrap();
            assert_eq!(bytes.len(), length, "{compression:?}");
            let record = Record::from_member(&bytes, 5, 10_000_000, None).unwrap();
            assert_eq!((record.kind(), record.length), (Kind::Metadata, length as u64));
            assert!(
                record.belongs_to(FILE) && record.digest_holds() != Some(false),
                "{compression:?}: {length}"
            );
        }
        for length in [0, 1, 100, least - 1] {
            assert!(
                removed(FILE, 5, Timestamp::MIN, length, compression).is_none(),
                "{compression:?}: {length}"
            );
        }
    }
}

#[test]
fn a_file_keeps_its_offsets_when_a_record_is_removed() {
    let blocks: [&[u8]; 3] = [b"first", &[b'x'; 5_000], b"third"];
    for compression in COMPRESSIONS {
        let (ends, mut bytes) = file_in(compression, &blocks);
        let (from, to) = (usize::try_from(ends[0]).unwrap(), usize::try_from(ends[1]).unwrap());
        let hole = removed("f", ends[0], Timestamp::MIN, to - from, compression).unwrap();
        bytes[from..to].copy_from_slice(&hole);
        let (records, error) = read(&bytes, 10_000);
        assert!(error.is_none(), "{error:?}");
        let found: Vec<(Kind, u64)> = records.iter().map(|r| (r.kind(), r.offset + r.length)).collect();
        let expected = [Kind::Response, Kind::Metadata, Kind::Response].into_iter().zip(ends);
        assert_eq!(found, expected.collect::<Vec<_>>(), "{compression:?}");
        assert!(!bytes.windows(100).any(|window| window == [b'x'; 100]));
    }
}

#[test]
fn our_own_smallest_records_leave_room_enough() {
    for compression in [Compression::default(), Compression::Zstd(warc::ZstdLevel::DEFAULT)] {
        let (ends, _) = file_in(compression, &[b""]);
        let least = removed_bytes_min("f", 0, Timestamp::MIN, compression) as u64;
        assert!(ends[0] >= least, "{compression:?}: {} < {least}", ends[0]);
    }
}
