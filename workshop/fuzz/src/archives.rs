//! Containers of captures: WARC, ARC, WACZ, CDXJ.

use crate::{choice, page};
use archive::{Archive, Group, Grouper, Reader, Settings};
use base::disk::SimulatedDisk;
use base::{Sha1Digest, Timestamp};
use flate2::Compression as Flate;
use flate2::write::GzEncoder;
use formats::wacz::Package;
use std::io::{Cursor, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use warc::check::Check;
use warc::{Compression, Draft, Joined, Kind, Level, Record, RecordId, Unpacker, WarcWriter, ZstdLevel};

/// More than this of a block is not kept, so that long blocks are tried too.
const BLOCK_BYTES_MAX: usize = 8 * 1024;

/// Reads a file of records, continuing after damage.
pub(crate) fn warc(data: &[u8]) {
    let (mut last, mut lost) = (None, 0);
    let mut reader = warc::WarcReader::new(Cursor::new(data), BLOCK_BYTES_MAX);
    while let Some(read) = reader.next() {
        match read {
            Ok(record) => {
                assert!(last.is_none_or(|last| last <= record.offset), "records come in their order");
                last = Some(record.offset);
                check_record(data, &record);
            }
            Err(_) if lost < 100 && reader.resume().unwrap_or(false) => {
                let span = reader.lost().expect("something was stepped over");
                assert!(span.from < span.to && span.to <= data.len() as u64, "{span:?}");
                lost += 1;
            }
            Err(_) => break,
        }
    }
    let whole = warc::WarcReader::new(data, BLOCK_BYTES_MAX).map_while(Result::ok);
    Joined::new(whole.map(Ok::<_, warc::Error>), BLOCK_BYTES_MAX).for_each(drop);
}

/// A record that is alone in its member is the same when read from its offset.
fn check_record(data: &[u8], record: &Record) {
    assert!(record.block.len() <= BLOCK_BYTES_MAX && record.block.len() as u64 <= record.block_bytes);
    let _ = (record.kind(), record.date(), record.target(), record.profile(), record.digest_holds());
    if !record.is_alone {
        return;
    }
    let from = usize::try_from(record.offset).expect("it is in memory");
    let member = &data[from..][..usize::try_from(record.length).expect("it is in memory")];
    // A file that begins with a dictionary is read from its middle only with it.
    if let Ok(again) = Record::from_member(member, record.offset, BLOCK_BYTES_MAX, None) {
        assert_eq!(&again, record);
    } else {
        assert!(data.starts_with(&[0x5d, 0x2a, 0x4d, 0x18]), "it was read before");
    }
}

/// Packs the records of a plain file one by one, and reads them from their members.
pub(crate) fn warc_member(data: &[u8]) {
    let mut unpacker = Unpacker::new(BLOCK_BYTES_MAX);
    let _ = unpacker.unpack(data, 0).map(|record| record.to_record());
    for record in warc::WarcReader::new(data, BLOCK_BYTES_MAX).map_while(Result::ok).take(8) {
        let Some(plain) = plain_bytes(data, &record) else { continue };
        for member in [gzip(plain), zstd::bulk::compress(plain, 1).expect("it is short")] {
            let read = Record::from_member(&member, 0, BLOCK_BYTES_MAX, None).expect("it was read before");
            assert_eq!((&read.fields, &read.block), (&record.fields, &record.block));
            let read = unpacker.unpack(&member, 0).expect("it was read before").to_record();
            assert_eq!((&read.fields, &read.block), (&record.fields, &record.block));
        }
    }
}

/// The bytes of a record that is not compressed, without line ends behind it.
fn plain_bytes<'a>(data: &'a [u8], record: &Record) -> Option<&'a [u8]> {
    let from = usize::try_from(record.offset).ok()?;
    let bytes = data.get(from..)?.get(..usize::try_from(record.length).ok()?)?;
    bytes.first().is_some_and(|first| matches!(first, b'W' | b'w')).then_some(bytes)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Flate::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes it")
}

/// Looks for what is wrong with a file. One that is valid can be read.
pub(crate) fn warc_check(data: &[u8]) {
    let mut check = Check::new(Cursor::new(data));
    for finding in check.by_ref() {
        let finding = finding.expect("memory can be read").to_string();
        assert!(!finding.contains('\n') && finding.len() < 16 * 1024, "{finding}");
    }
    let summary = check.summary();
    assert_eq!(summary.bytes, data.len() as u64);
}

/// Writes a record with foreign fields and reads it back: nothing in them makes another record.
pub(crate) fn warc_fields(data: &[u8]) {
    let (form, rest) = choice(data);
    let compression = match form % 3 {
        0 => Compression::Plain,
        1 => Compression::Gzip(Level::DEFAULT),
        _ => Compression::Zstd(ZstdLevel::DEFAULT),
    };
    let _ = warc::Fields::read(rest);
    let text = String::from_utf8_lossy(rest);
    let mut words = text.splitn(4, '|');
    let mut word = || words.next().unwrap_or_default();
    let (uri, name, value, block) = (word(), word(), word(), word());
    let at = Timestamp::from_seconds(1_800_000_000).expect("that is a date");
    let id = RecordId::at("fuzz.warc", 0, at, &Kind::Resource);
    let draft = Draft::new(&Kind::Resource, &id, at).target(uri).text("WARC-Filename", value);
    let mut file = Vec::new();
    WarcWriter::new(compression).append(
        draft.foreign(name, value),
        "text/plain",
        &[block.as_bytes()],
        &mut file,
    );
    let records: Vec<_> =
        warc::WarcReader::new(&*file, usize::MAX).collect::<Result<_, _>>().expect("it is ours");
    let [record] = &records[..] else { panic!("one record was written, {} are read", records.len()) };
    assert_eq!(record.block, block.as_bytes());
    assert_eq!(record.digest_holds(), Some(true));
}

/// Takes over a file of others, and finds everything in order afterwards.
pub(crate) fn import(data: &[u8]) {
    let disk = Arc::new(SimulatedDisk::new(1));
    let (directory, at) = (Path::new("/archive"), Timestamp::from_seconds(1_900_000_000).expect("a date"));
    let settings = Settings {
        merges_beside: false,
        disk_free_bytes_min: 0,
        compression: Compression::Plain,
        ..Settings::default()
    };
    let opened = Archive::open(disk.clone(), directory, settings, at);
    let mut archive = opened.expect("a simulated disk takes it").0;
    let mut grouper = Grouper::new();
    let mut groups: Vec<Group> = Vec::new();
    if warc::arc::is_arc(data) {
        let records = warc::arc::ArcReader::new(Cursor::new(data), usize::MAX).map_while(Result::ok);
        groups.extend(records.take(16).filter_map(Group::of_arc));
    } else {
        for record in warc::WarcReader::new(data, usize::MAX).map_while(Result::ok).take(16) {
            groups.extend(grouper.push(record));
        }
        groups.extend(grouper.finish());
    }
    for group in &groups {
        archive.import(group).expect("a simulated disk takes it");
    }
    archive.commit().expect("a simulated disk takes it");
    let reader = Reader::open(disk, directory).expect("it was written");
    for entry in reader.all().expect("it was written") {
        let entry = entry.expect("it was written");
        reader.record(&entry).expect("it was written");
        let _ = reader.document(&entry).map(|document| document.content().whole().map(|_| ()));
    }
}

/// Reads an ARC file.
pub(crate) fn arc(data: &[u8]) {
    let reader = warc::arc::ArcReader::new(Cursor::new(data), BLOCK_BYTES_MAX).with_file_headers();
    for record in reader.map_while(Result::ok) {
        assert!(record.block.len() <= BLOCK_BYTES_MAX && record.block.len() as u64 <= record.block_bytes);
        assert!(record.offset <= data.len() as u64);
        let _ = Group::of_arc(record);
    }
}

/// Reads a package.
pub(crate) fn wacz(data: &[u8]) {
    let Ok(mut package) = Package::open(Cursor::new(data)) else { return };
    for entry in package.warcs() {
        assert!(entry.name().split('/').all(|part| part != ".."), "{}", entry.name());
        let Ok(mut content) = package.read(&entry) else { continue };
        let mut bytes = Vec::new();
        if content.read_to_end(&mut bytes).is_ok() {
            assert_eq!(bytes.len() as u64, entry.bytes(), "an entry yields what it announces");
        }
    }
    if let Ok(mismatches) = package.check() {
        mismatches.iter().for_each(|mismatch| assert!(!mismatch.to_string().contains('\n')));
    }
}

/// Writes the line of a foreign record: nothing in it ends the line or the key.
pub(crate) fn cdxj(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (url, media_type) = text.split_once('|').unwrap_or((&text, "text/html"));
    let line = formats::Line {
        url: url.to_owned(),
        at: Timestamp::from_seconds(1_800_000_000).expect("that is a date"),
        status: Some(200),
        media_type: media_type.into(),
        payload: Some(Sha1Digest::of(&[data])),
        is_revisit: false,
        title: None,
    };
    let place =
        formats::Place { file: media_type.into(), offset: 1, record_bytes: 2, group_bytes: 3, sum: None };
    let line = formats::cdxj::line(&line, &place);
    assert!(!line.contains(['\n', '\r']), "{line}");
    let words: Vec<&str> = line.splitn(3, ' ').collect();
    assert!(words[1].len() == 14 && words[2].starts_with('{') && words[2].ends_with('}'), "{line}");
}

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n";

/// A file with a response, its request and a revisit.
fn warc_file(compression: Compression) -> Vec<u8> {
    let at = Timestamp::from_seconds(1_700_000_000).expect("that is a date");
    let (mut file, mut writer) = (Vec::new(), WarcWriter::new(compression));
    let url = page();
    let id = |kind: &Kind, number| RecordId::at("seed.warc", number, at, kind);
    let draft = |kind: &Kind, number| Draft::new(kind, &id(kind, number), at).target(url.as_str());
    let body = gzip(b"<title>copy</title>");
    let payload = Sha1Digest::of(&[&body]);
    let response = draft(&Kind::Response, 1).payload_digest(payload);
    writer.append(response, warc::HTTP_RESPONSE, &[ANSWER, &body], &mut file);
    let request = draft(&Kind::Request, 2).concurrent_to(&id(&Kind::Response, 1));
    writer.append(request, warc::HTTP_REQUEST, &[b"GET / HTTP/1.1\r\n\r\n"], &mut file);
    let revisit = draft(&Kind::Revisit, 3).payload_digest(payload);
    let revisit = revisit.refers_to(warc::Profile::IdenticalPayloadDigest, url.as_str(), at);
    writer.append(revisit, warc::HTTP_RESPONSE, &[ANSWER], &mut file);
    file
}

pub(crate) fn warc_seeds() -> Vec<Vec<u8>> {
    let plain = warc_file(Compression::Plain);
    let split = b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: 2020-01-02T03:04:05Z\r\n\
        WARC-Target-URI: <http://a.example/>\r\nWARC-Segment-Number: 1\r\nContent-Length: 2\r\n\r\nhi\r\n\r\n\
        WARC/1.0\r\nWARC-Type: continuation\r\nWARC-Segment-Origin-ID: <urn:x:1>\r\nWARC-Segment-Number: 2\r\n\
        WARC-Segment-Total-Length: 4\r\nContent-Length: 2\r\n\r\nho\r\n\r\n";
    let dictionary = [&[0x5d, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4], &*zstd_of(&plain)].concat();
    let damaged = [&plain[..40], &plain].concat();
    vec![
        warc_file(Compression::Gzip(Level::DEFAULT)),
        warc_file(Compression::Zstd(ZstdLevel::DEFAULT)),
        gzip(&plain),
        dictionary,
        damaged,
        split.to_vec(),
        plain,
    ]
}

fn zstd_of(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 1).expect("it is short")
}

pub(crate) fn warc_fields_seeds() -> Vec<Vec<u8>> {
    crate::texts(&[
        "\0http://a.example/|X-Field|value|block",
        "\u{1}http://a.example/\r\n|X|a\r\n b: c|WARC/1.1\r\n",
        "\u{2}写し|x_.y|\u{0}\u{7f}|",
    ])
}

pub(crate) fn arc_seeds() -> Vec<Vec<u8>> {
    let header = "filedesc://a.arc 0.0.0.0 20200102030405 text/plain 69\n1 0 Example\n\
                  URL IP-address Archive-date Content-type Archive-length\n\n";
    let record = "http://a.example/ 192.0.2.1 20200102030405 text/html 21\nHTTP/1.0 200 OK\r\n\r\nhi\n";
    let plain = [header, record, record].concat().into_bytes();
    let members: Vec<u8> = [header, record].iter().flat_map(|part| gzip(part.as_bytes())).collect();
    vec![plain, members, b"filedesc:x 1 2 3 4 5 6 7 8 9 3\nabc\n".to_vec()]
}

pub(crate) fn cdxj_seeds() -> Vec<Vec<u8>> {
    crate::texts(&["http://a.example/x?y=z|text/html", "urn:x:\u{1f}\n\"\\|写/し\r\n", "dns:a.example"])
}

pub(crate) fn wacz_seeds() -> Vec<Vec<u8>> {
    let manifest = br#"{"profile":"data-package","resources":[{"path":"archive/a.warc","name":"a.warc",
        "hash":"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","bytes":3}]}"#;
    let digest = br#"{"path":"datapackage.json","hash":"sha256:00"}"#;
    let entries: [(&str, &[u8]); 3] =
        [("archive/a.warc", b"abc"), ("datapackage.json", manifest), ("datapackage-digest.json", digest)];
    vec![zip(&entries, false), zip(&entries, true), zip(&[], false), zip(&entries[..1], true)]
}

/// A ZIP file with these entries.
fn zip(entries: &[(&str, &[u8])], is_deflated: bool) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in entries {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), Flate::fast());
        let packed = deflate.write_all(content).and_then(|()| deflate.finish()).expect("memory takes it");
        let (method, stored) = if is_deflated { (8_u16, &*packed) } else { (0, *content) };
        let short = |number: usize| u16::try_from(number).expect("seeds are short").to_le_bytes();
        let word = |number: usize| u32::try_from(number).expect("seeds are short").to_le_bytes();
        let mut common =
            [&[20, 0, 0, 0], &method.to_le_bytes()[..], &[0; 4], &crc.sum().to_le_bytes()].concat();
        common.extend([word(stored.len()), word(content.len())].concat());
        common.extend([short(name.len()), short(0)].concat());
        let offset = word(file.len());
        file.extend([b"PK\x03\x04", &*common, name.as_bytes(), stored].concat());
        directory.extend([b"PK\x01\x02\x14\x00", &*common, &[0; 10], &offset, name.as_bytes()].concat());
    }
    let word = |number: usize| u32::try_from(number).expect("seeds are short").to_le_bytes();
    let count = u16::try_from(entries.len()).expect("seeds are short").to_le_bytes();
    let end = [b"PK\x05\x06\0\0\0\0", &count[..], &count, &word(directory.len()), &word(file.len()), &[0, 0]];
    [file, directory, end.concat()].concat()
}
