//! Bit rot (M5): damage is reported with its position, other records are still there, and nothing wrong is listed.

use crate::captures::{DIRECTORY, START, answer, entries, file_bytes, open, reader, workload};
use archive::{Entry, Error, Settings};
use base::disk::{Disk, Open, SimulatedDisk};
use base::{Chance, Timestamp};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use warc::{Draft, HTTP_RESPONSE, Kind, Level, RecordId, WarcWriter};

/// An archive with several batches in one file, finished or not.
fn archive(disk: &SimulatedDisk, is_closed: bool) -> PathBuf {
    let settings = Settings::default();
    let shared = std::sync::Arc::new(disk.clone());
    let (mut archive, _) = archive::Archive::open(shared, Path::new(DIRECTORY), settings, START).unwrap();
    for batch in workload(11, 24).chunks(4) {
        batch.iter().for_each(|capture| _ = archive.append(capture).unwrap());
        archive.commit().unwrap();
    }
    if is_closed {
        archive.close().unwrap();
    }
    disk.list(Path::new(DIRECTORY)).unwrap().remove(0)
}

/// What a listing gives: entries, and where damage was found.
fn listing(disk: &SimulatedDisk) -> (Vec<Entry>, Vec<u64>) {
    let (mut found, mut damaged) = (Vec::new(), Vec::new());
    for entry in archive::list(disk, Path::new(DIRECTORY)).unwrap() {
        match entry {
            Ok(entry) => found.push(entry),
            Err(Error::Damaged { offset, .. }) => damaged.push(offset),
            Err(error) => panic!("{error}"),
        }
    }
    (found, damaged)
}

#[test]
fn survives_any_flipped_bit() {
    let disk = SimulatedDisk::new(11);
    let path = archive(&disk, true);
    let whole = entries(&disk);
    let bits = disk.open(&path, Open::Read).unwrap().length().unwrap() * 8;
    let mut chance = Chance::new(11);
    let mut noticed = 0;
    for _ in 0..600 {
        let bit = chance.below(bits);
        disk.flip_bit(&path, bit).unwrap();
        let (found, damaged) = listing(&disk);
        disk.flip_bit(&path, bit).unwrap();
        let holds_bit = |entry: &Entry| {
            (entry.location.offset..entry.location.offset + entry.location.length).contains(&(bit / 8))
        };
        let expected = whole.iter().filter(|entry| damaged.is_empty() || !holds_bit(entry));
        // A capture whose request is damaged is shorter by it.
        let bare = |entry: &Entry| Entry { group_bytes: 0, ..entry.clone() };
        assert_eq!(
            found.iter().map(bare).collect::<Vec<_>>(),
            expected.map(bare).collect::<Vec<_>>(),
            "bit {bit}, damage at {damaged:?}"
        );
        assert!(damaged.iter().all(|offset| *offset <= bit / 8), "bit {bit}, damage at {damaged:?}");
        noticed += usize::from(!damaged.is_empty());
    }
    // Fields such as the time stamp in a member's header are not checked, because they are not read.
    assert!(noticed > 540, "only {noticed}");
}

#[test]
fn damage_in_a_durable_batch_leaves_later_batches() {
    for has_sums in [true, false] {
        let disk = SimulatedDisk::new(12);
        let path = archive(&disk, false);
        let whole = entries(&disk);
        let rotten = &whole[2];
        disk.flip_bit(&path, (rotten.location.offset + 20) * 8).unwrap();
        let (beside, damaged) = listing(&disk);
        assert_eq!((beside.len(), &damaged), (whole.len() - 1, &vec![rotten.location.offset]));

        if !has_sums {
            let sums = format!("{}.sums", rotten.location.file);
            disk.remove(&Path::new(DIRECTORY).join(sums)).unwrap();
        }
        let shared = std::sync::Arc::new(disk.clone());
        let (_, recovery) =
            archive::Archive::open(shared, Path::new(DIRECTORY), Settings::default(), START).unwrap();
        let [file] = &recovery.files[..] else { panic!("{recovery:?}") };
        // What the checksums cover is not read again, and the index still knows what was there.
        let expected = if has_sums { Vec::new() } else { damaged.clone() };
        assert_eq!((file.lost_bytes, &file.damaged_offsets), (0, &expected));
        assert_eq!(listing(&disk), (beside, damaged));
        let reader = reader(&disk);
        let unreadable: Vec<_> =
            reader.all().unwrap().map(Result::unwrap).filter(|e| reader.record(e).is_err()).collect();
        assert_eq!(reader.count(), whole.len() as u64 - u64::from(!has_sums));
        assert_eq!(
            unreadable.iter().map(|entry| entry.location.offset).collect::<Vec<_>>(),
            if has_sums { vec![rotten.location.offset] } else { vec![] }
        );
    }
}

#[test]
fn a_record_inside_a_damaged_body_is_not_listed() {
    // A page that is itself an archive file, with a record that claims to be ours.
    let mut forged = Vec::new();
    let id = RecordId::at("utsushi.warc.gz", 7, Timestamp::MIN, &Kind::Response);
    let draft = Draft::new(&Kind::Response, &id, Timestamp::MIN).target("http://forged.example/");
    WarcWriter::new(Level::DEFAULT).append(
        draft,
        HTTP_RESPONSE,
        &[b"HTTP/1.1 200 OK\r\n\r\nforged"],
        &mut forged,
    );
    let mut chance = Chance::new(13);
    let mut noise = || (0..50_000).map(|_| chance.bits().to_le_bytes()[0]).collect::<Vec<u8>>();
    let body = (0..20).flat_map(|_| [noise(), forged.clone()].concat()).collect::<Vec<u8>>();

    let disk = SimulatedDisk::new(13);
    let shared = std::sync::Arc::new(disk.clone());
    let (mut archive, _) =
        archive::Archive::open(shared, Path::new(DIRECTORY), Settings::default(), START).unwrap();
    let place = archive.append(&answer("archive.warc.gz", START, "", &body)).unwrap().entry.location;
    archive.append(&answer("behind", START, "", b"x")).unwrap();
    archive.commit().unwrap();
    archive.close().unwrap();
    let bytes = file_bytes(&disk, &place.file).unwrap();
    assert!(
        bytes.windows(forged.len()).any(|window| window == forged),
        "the file holds the forged record as it is"
    );

    disk.flip_bit(&Path::new(DIRECTORY).join(&*place.file), (place.offset + 50) * 8).unwrap();
    let (found, damaged) = listing(&disk);
    let urls: Vec<&str> = found.iter().map(|entry| entry.url.as_str()).collect();
    assert_eq!((urls, damaged), (vec!["http://example.org/behind"], vec![place.offset]));
}

#[test]
fn a_finished_file_that_was_cut_is_damaged() {
    let disk = SimulatedDisk::new(14);
    let path = archive(&disk, true);
    let last = entries(&disk).pop().unwrap().location;
    disk.open(&path, Open::Write).unwrap().truncate(last.offset + 5).unwrap();
    let (found, damaged) = listing(&disk);
    assert_eq!((found.len(), damaged), (23, vec![last.offset]));
}

#[test]
fn a_block_with_another_digest_is_damaged() {
    let disk = SimulatedDisk::new(15);
    let mut archive = open(&disk).unwrap();
    let place = archive.append(&answer("a", START, "", b"what was stored")).unwrap().entry.location;
    archive.append(&answer("b", START, "", b"x")).unwrap();
    archive.commit().unwrap();
    archive.close().unwrap();
    // The same member with another body and a right checksum.
    let bytes = file_bytes(&disk, &place.file).unwrap();
    let (before, rest) = bytes.split_at(usize::try_from(place.offset).unwrap());
    let (member, behind) = rest.split_at(usize::try_from(place.length).unwrap());
    let mut record = String::new();
    GzDecoder::new(member).read_to_string(&mut record).unwrap();
    let mut forged = GzEncoder::new(Vec::new(), Compression::fast());
    forged.write_all(record.replace("was", "is!").as_bytes()).unwrap();
    let path = Path::new(DIRECTORY).join(&*place.file);
    disk.remove(&path).unwrap();
    let file = disk.open(&path, Open::CreateNew).unwrap();
    file.write_at(0, &[before, &forged.finish().unwrap(), behind].concat()).unwrap();
    let (found, damaged) = listing(&disk);
    assert_eq!((found[0].url.as_str(), damaged), ("http://example.org/b", vec![place.offset]));
}
