//! Untrusted packages: each is refused with a reason, or read correctly. No name is followed, no claim is trusted.

use crate::files::Files;
use crate::wacz::written;
use base::Chance;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use formats::Row;
use formats::wacz::Package;
use std::io::{Cursor, Read as _, Write as _};

/// An entry with every claim that can be forged.
#[derive(Clone)]
struct Entry {
    name: Vec<u8>,
    header_name: Vec<u8>,
    raw: Vec<u8>,
    bytes: u32,
    compressed_bytes: u32,
    crc: u32,
    method: u16,
    flags: u16,
    /// Written over the offset of its header in the directory.
    offset: Option<u32>,
}

impl Entry {
    fn stored(name: &str, content: &[u8]) -> Self {
        let length = u32::try_from(content.len()).unwrap();
        Self {
            name: name.into(),
            header_name: name.into(),
            raw: content.to_vec(),
            bytes: length,
            compressed_bytes: length,
            crc: crc(content),
            method: 0,
            flags: 0,
            offset: None,
        }
    }
    fn deflated(name: &str, content: &[u8]) -> Self {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(content).unwrap();
        let raw = encoder.finish().unwrap();
        let compressed_bytes = u32::try_from(raw.len()).unwrap();
        Self { raw, compressed_bytes, method: 8, ..Self::stored(name, content) }
    }
}

fn crc(content: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(content);
    crc.sum()
}

/// A ZIP file of these entries, with `more` entries announced than there are.
fn zip(entries: &[Entry], more: u16) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let offset = entry.offset.unwrap_or(u32::try_from(file.len()).unwrap());
        let numbers = [entry.crc, entry.compressed_bytes, entry.bytes];
        let lengths = |name: &[u8]| [u16::try_from(name.len()).unwrap(), 0].map(u16::to_le_bytes).concat();
        let common =
            [&[20, 0][..], &entry.flags.to_le_bytes(), &entry.method.to_le_bytes(), &[0; 4]].concat();
        let common = [common, numbers.map(u32::to_le_bytes).concat()].concat();
        file.extend([&b"PK\x03\x04"[..], &common, &lengths(&entry.header_name), &entry.header_name].concat());
        file.extend_from_slice(&entry.raw);
        directory.extend([&b"PK\x01\x02\x14\x00"[..], &common, &lengths(&entry.name), &[0; 10]].concat());
        directory.extend([&offset.to_le_bytes()[..], &entry.name].concat());
    }
    let count = u16::try_from(entries.len()).unwrap() + more;
    let offset = u32::try_from(file.len()).unwrap();
    file.extend_from_slice(&directory);
    file.extend([&b"PK\x05\x06\0\0\0\0"[..], &count.to_le_bytes(), &count.to_le_bytes()].concat());
    file.extend([u32::try_from(directory.len()).unwrap().to_le_bytes(), offset.to_le_bytes()].concat());
    file.extend([0, 0]);
    file
}

/// All captures of a package one after the other, or why there are none.
fn read(package: &[u8]) -> Result<Vec<u8>, String> {
    let told = |error: formats::Error| error.to_string();
    let mut package = Package::open(Cursor::new(package)).map_err(told)?;
    let mut all = Vec::new();
    for entry in package.warcs() {
        let mut content = package.read(&entry).map_err(told)?;
        content.read_to_end(&mut all).map_err(|error| error.to_string())?;
    }
    Ok(all)
}

#[track_caller]
fn check(package: &[u8], reason: &str) {
    let found = read(package).unwrap_err();
    assert!(found.contains(reason), "expected `{reason}`, found `{found}`");
}

const WARC: &str = "archive/a.warc";

#[test]
fn honest_entries_are_read() {
    let text = b"WARC/1.1 text text text text text text".repeat(1_000);
    let entries =
        [Entry::stored(WARC, b"one "), Entry::deflated("archive/b.WARC.gz", &text), Entry::stored("x", b"")];
    assert_eq!(read(&zip(&entries, 0)).unwrap(), [b"one ".to_vec(), text.clone()].concat());
    let mut package = Package::open(Cursor::new(zip(&entries, 0))).unwrap();
    assert_eq!(package.check().unwrap()[0].to_string(), "`datapackage.json` is missing");
    let warcs = package.warcs();
    let directory = tempfile::tempdir().unwrap();
    let mut spooled = Vec::new();
    package.read(&warcs[1]).unwrap().seekable(directory.path()).unwrap().read_to_end(&mut spooled).unwrap();
    assert!(spooled == text);
}

#[test]
fn survives_h17_names_that_lead_elsewhere() {
    for name in
        ["../a.warc", "archive/../../a.warc", "/etc/a.warc", "archive\\a.warc", "archive/./a.warc", "a\n", ""]
    {
        check(&zip(&[Entry::stored(name, b"x")], 0), "a name that leads elsewhere");
    }
    let mut entry = Entry::stored("archive/a", b"x");
    entry.name = b"archive/\xff.warc".to_vec();
    check(&zip(&[entry], 0), "a name that leads elsewhere");
}

#[test]
fn two_entries_of_one_name_or_place_are_refused() {
    let entries = [Entry::stored(WARC, b"one"), Entry::stored(WARC, b"two")];
    check(&zip(&entries, 0), "two entries are called `archive/a.warc`");
    let mut shared = [Entry::stored(WARC, b"one"), Entry::stored("archive/b.warc", b"two")];
    shared[1].offset = Some(0);
    check(&zip(&shared, 0), "it overlaps");
    let mut inside = [Entry::stored(WARC, &[7; 100]), Entry::stored("archive/b.warc", b"two")];
    inside[1].offset = Some(60);
    check(&zip(&inside, 0), "it overlaps");
}

#[test]
fn lengths_that_lie_are_found() {
    let content = b"content content content content".repeat(100);
    let stored = Entry::stored(WARC, &content);
    let deflated = Entry::deflated(WARC, &content);
    check(&zip(&[Entry { bytes: 1, ..stored.clone() }], 0), "two lengths");
    check(&zip(&[Entry { bytes: 9_999, compressed_bytes: 9_999, ..stored.clone() }], 0), "it overlaps");
    let mut longer = zip(&[Entry { bytes: 3_101, compressed_bytes: 3_101, ..stored.clone() }], 0);
    longer.splice(0..0, []);
    check(&longer, "it overlaps");
    check(&zip(&[Entry { bytes: 99, ..deflated.clone() }], 0), "longer than the directory says");
    check(&zip(&[Entry { bytes: 9_999, ..deflated.clone() }], 0), "shorter than the directory says");
    check(&zip(&[Entry { crc: 1, ..deflated.clone() }], 0), "its checksum");
    check(&zip(&[Entry { crc: 1, ..stored.clone() }], 0), "its checksum");
    check(&zip(&[Entry { header_name: b"archive/b.warc".to_vec(), ..stored.clone() }], 0), "do not agree");
    check(&zip(&[Entry { header_name: b"archive/longer.warc".to_vec(), ..stored.clone() }], 0), "no header");
    check(&zip(&[Entry { flags: 1, ..stored.clone() }], 0), "it is encrypted");
    check(&zip(&[Entry { method: 93, ..stored }], 0), "in a way that no WACZ uses");
}

#[test]
fn survives_h5_a_bomb_is_not_inflated() {
    let bomb = Entry::deflated(WARC, &vec![0; 64 << 20]);
    assert!(bomb.raw.len() < 100_000);
    check(&zip(&[bomb], 0), "grows too large");
}

#[test]
fn directories_that_are_cut_or_lie_are_refused() {
    check(b"", "not a ZIP file");
    check(b"PK\x05\x06", "not a ZIP file");
    check(&zip(&[Entry::stored(WARC, b"x")], 1), "too short for its entries");
    let many = zip(&[Entry::stored(WARC, b"x")], u16::MAX - 2);
    check(&many, "too short for its entries");
    check(&zip(&[Entry::stored(WARC, b"x")], u16::MAX - 1), "large numbers is missing");
    let mut moved = zip(&[Entry::stored(WARC, b"x")], 0);
    let offset = moved.len() - 6;
    moved[offset] += 1;
    check(&moved, "not where it should be");
}

#[test]
fn every_cut_of_a_package_is_refused() {
    let package = written(&Files::new(), |row| !row.is_revisit());
    for length in 0..package.len() {
        assert!(read(&package[..length]).is_err(), "cut to {length} bytes");
    }
}

#[test]
fn no_flipped_bit_is_returned() {
    let files = Files::new();
    let package = written(&files, Row::is_revisit);
    let expected = read(&package).unwrap();
    let (mut told, mut harmless) = (0, 0);
    for place in 0..package.len() * 8 {
        let mut flipped = package.clone();
        flipped[place / 8] ^= 1 << (place % 8);
        let mismatches = Package::open(Cursor::new(&flipped)).map(|mut package| package.check());
        match (read(&flipped), mismatches) {
            (Ok(bytes), _) if !bytes.is_empty() && bytes != expected => panic!("bit {place} was served"),
            (Ok(bytes), Ok(Ok(mismatches))) if bytes == expected && mismatches.is_empty() => harmless += 1,
            _ => told += 1,
        }
    }
    // Fields that no checksum covers do not concern the content: versions, dates, modes.
    assert!(told > 15 * harmless, "{told} told, {harmless} harmless");
}

#[test]
fn random_damage_is_never_returned() {
    let text = b"WARC/1.1 text text text text text text".repeat(100);
    let packages = [
        zip(&[Entry::deflated(WARC, &text), Entry::stored("x", b"y")], 0),
        zip(&[Entry::stored("datapackage.json", b"{\"resources\": []}"), Entry::stored(WARC, &text)], 0),
    ];
    let mut chance = Chance::new(17);
    let mut below = |most: usize| usize::try_from(chance.bits() % most as u64).unwrap();
    for _ in 0..20_000 {
        let mut package = packages[below(2)].clone();
        for _ in 0..=below(3) {
            // The directory is short and at the end, and most of what can be said wrongly is said there.
            let near_end = package.len() - 1 - below(200);
            let place = if below(2) == 0 { near_end } else { below(package.len()) };
            package[place] = [0, 1, 0x50, 0x7f, 0x80, 0xff][below(6)];
        }
        let checked = Package::open(Cursor::new(&package)).map(|mut package| package.check());
        drop(checked);
        if let Ok(bytes) = read(&package) {
            assert!(bytes.is_empty() || bytes == text, "{}", package.escape_ascii());
        }
    }
}

#[test]
fn a_manifest_cannot_cause_repeated_reads_of_an_entry() {
    let resource = format!("{{\"path\": \"{WARC}\", \"hash\": \"sha256:0\"}}");
    let manifest = format!("{{\"resources\": [{}]}}", vec![resource; 10_000].join(","));
    let entries =
        [Entry::stored(WARC, &[0; 1 << 20]), Entry::stored("datapackage.json", manifest.as_bytes())];
    let mismatches = Package::open(Cursor::new(zip(&entries, 0))).unwrap().check().unwrap();
    assert_eq!(mismatches.len(), 1_000, "the rest is like them");
    assert!(
        mismatches[1..].iter().all(|mismatch| mismatch.to_string().ends_with("is twice in the manifest"))
    );
}

#[test]
fn other_digests_than_sha_256_are_reported_but_not_errors() {
    let manifest = format!("{{\"resources\": [{{\"path\": \"{WARC}\", \"hash\": \"md5:0\"}}]}}");
    let entries = [Entry::stored(WARC, b"x"), Entry::deflated("datapackage.json", manifest.as_bytes())];
    let mismatches = Package::open(Cursor::new(zip(&entries, 0))).unwrap().check().unwrap();
    assert_eq!(mismatches[0].to_string(), "`archive/a.warc` has no SHA-256 to compare with");
    assert!(mismatches[0].is_unchecked() && mismatches.len() == 1);
}

#[test]
fn a_comment_that_looks_like_an_end_is_a_comment() {
    let mut package = zip(&[Entry::stored(WARC, b"x")], 0);
    let end = package.len();
    let comment = [b"PK\x05\x06".to_vec(), vec![0; 18], b"!".to_vec()].concat();
    package.extend_from_slice(&comment);
    package[end - 2] = u8::try_from(comment.len()).unwrap();
    assert_eq!(read(&package).unwrap(), b"x");
}
