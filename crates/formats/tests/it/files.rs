//! Two WARC files with one record of every kind, their index rows, and their readers.

use base::{Sha1Digest, Timestamp};
use flate2::Compression;
use flate2::write::GzEncoder;
use formats::{Pick, Picker, Picks, Place, Row, Source, SourceError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warc::{Draft, HTTP_REQUEST, HTTP_RESPONSE, Kind, Level, Profile, RecordId, WARC_FIELDS, WarcWriter};

pub(crate) const PAGE: &str = "http://www.example.com/Page/?b=2&a=1";
pub(crate) const PAGE_BODY: &[u8] = b"<html><title>page</title>the page</html>";
pub(crate) const CHUNKED: &str = "https://example.com/chunked";
pub(crate) const CHUNKED_BODY: &[u8] = b"<p>Wikipedia";
pub(crate) const PACKED: &str = "https://example.com:8443/packed.html";
pub(crate) const PACKED_BODY: &[u8] = b"<html>packed packed packed packed</html>";
pub(crate) const COPY: &str = "http://other.example.org/copy";
pub(crate) const CHUNKED_COPY: &str = "http://other.example.org/chunked-copy";
pub(crate) const LOGO: &str = "http://example.com/%E5%86%99%E3%81%97.png";
pub(crate) const LOGO_BODY: &[u8] = &[0x89, b'P', b'N', b'G', 0, 13, 10, 26, 10, 0xff];
pub(crate) const GONE: &str = "http://unreachable.example.com/";

/// The day of March 2026, at nine.
pub(crate) fn day(day: u32) -> Timestamp {
    format!("2026-03-{day:02}T09:00:00.000001Z").parse().unwrap()
}

/// Files in a directory.
pub(crate) struct Files {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) rows: Vec<Row>,
}

impl Files {
    /// One of everything: an answer, one in chunks, one with a content coding, their revisits, a 304, a visit without
    /// answer, a resource. The file with the revisits sorts before that with the originals.
    pub(crate) fn new() -> Self {
        let packed = gzip(PACKED_BODY);
        let mut originals = File::new("originals.warc.gz");
        let page = originals.answer(PAGE, day(1), "Content-Type: text/html; charset=utf-8\r\n", PAGE_BODY);
        let chunked = originals.chunked(CHUNKED, day(1));
        let head = "Content-Type: text/html\r\nContent-Encoding: gzip\r\n";
        let packed = originals.answer(PACKED, day(2), head, &packed);
        let logo = originals.resource(LOGO, day(2));
        let mut later = File::new("later.warc.gz");
        let again = later.revisit(PAGE, day(3), &page, "200 OK", Profile::IdenticalPayloadDigest);
        let copy = later.revisit(COPY, day(4), &page, "200 OK", Profile::IdenticalPayloadDigest);
        let unchanged = later.revisit(PAGE, day(5), &page, "304 Not Modified", Profile::ServerNotModified);
        let chunked_again =
            later.revisit(CHUNKED, day(6), &chunked, "200 OK", Profile::IdenticalPayloadDigest);
        let chunked_copy =
            later.revisit(CHUNKED_COPY, day(6), &chunked, "200 OK", Profile::IdenticalPayloadDigest);
        let gone = later.metadata(GONE, day(6));

        let directory = tempfile::tempdir().unwrap();
        for file in [originals, later] {
            std::fs::write(directory.path().join(&*file.name), file.bytes).unwrap();
        }
        let rows =
            vec![page, chunked, packed, logo, again, copy, unchanged, chunked_again, chunked_copy, gone];
        Self { directory, rows }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The rows for which `choose` holds, picked.
    pub(crate) fn pick(&self, choose: impl Fn(&Row) -> bool) -> Picks {
        let mut picker = Picker::new(self.path());
        for row in self.rows.iter().filter(|row| choose(row)) {
            picker.add(row).unwrap();
        }
        picker.finish().unwrap()
    }

    /// The same, with revisits to be resolved.
    pub(crate) fn resolve(&self, choose: impl Fn(&Row) -> bool) -> Picks {
        let mut picker = Picker::resolving(self.path());
        for row in self.rows.iter().filter(|row| choose(row)) {
            picker.add(row).unwrap();
        }
        picker.finish().unwrap()
    }

    pub(crate) fn source(&self) -> Directory {
        Directory(self.path().to_owned())
    }
}

/// Gives the records of the files in a directory.
pub(crate) struct Directory(PathBuf);

impl Source for Directory {
    fn stored(&self, place: &Place) -> Result<Vec<u8>, SourceError> {
        let mut file = std::fs::File::open(self.0.join(&*place.file))?;
        file.seek(SeekFrom::Start(place.offset))?;
        let mut bytes = vec![0; usize::try_from(place.group_bytes)?];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
    fn record(&self, place: &Place) -> Result<warc::Record, SourceError> {
        let mut file = std::fs::File::open(self.0.join(&*place.file))?;
        file.seek(SeekFrom::Start(place.offset))?;
        Ok(warc::WarcReader::starting_at(file, place.offset, 10_000).next().ok_or("there is no record")??)
    }
    fn answer(&self, place: &Place) -> Result<Vec<u8>, SourceError> {
        let revisit = self.record(place)?;
        let field = |name| revisit.fields.get(name).map(str::to_owned);
        let file = std::fs::File::open(self.0.join("originals.warc.gz"))?;
        let is_original = |record: &warc::Record| {
            record.kind() == Kind::Response
                && record.target() == field("WARC-Refers-To-Target-URI").as_deref()
                && record.fields.get("WARC-Date") == field("WARC-Refers-To-Date").as_deref()
        };
        let mut records = warc::WarcReader::new(file, 10_000).map(Result::unwrap);
        let original = records.find(is_original).ok_or("there is no original")?.block;
        if base::http::status(&revisit.block) == Some(304) {
            return Ok(original);
        }
        let body = archive::split_answer(&original).1;
        Ok([&revisit.block, body].concat())
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A WARC file that is being made.
struct File {
    name: Arc<str>,
    bytes: Vec<u8>,
    writer: WarcWriter,
}

impl File {
    fn new(name: &str) -> Self {
        let mut file = Self { name: name.into(), bytes: Vec::new(), writer: WarcWriter::new(Level::DEFAULT) };
        file.append(&Kind::Warcinfo, day(1), |draft| draft, WARC_FIELDS, b"software: a test\r\n");
        file
    }

    fn append(
        &mut self,
        kind: &Kind,
        at: Timestamp,
        describe: impl FnOnce(Draft) -> Draft,
        content_type: &str,
        block: &[u8],
    ) -> u64 {
        let start = self.bytes.len() as u64;
        let id = RecordId::at(&self.name, start, at, kind);
        self.writer.append(describe(Draft::new(kind, &id, at)), content_type, &[block], &mut self.bytes);
        self.bytes.len() as u64 - start
    }

    /// An answer and its request.
    fn exchange(
        &mut self,
        url: &str,
        at: Timestamp,
        kind: &Kind,
        describe: impl FnOnce(Draft) -> Draft,
        block: &[u8],
    ) -> Place {
        let offset = self.bytes.len() as u64;
        let record_bytes = self.append(kind, at, |draft| describe(draft.target(url)), HTTP_RESPONSE, block);
        let request = b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n";
        let request_bytes = self.append(&Kind::Request, at, |draft| draft.target(url), HTTP_REQUEST, request);
        Place {
            file: self.name.clone(),
            offset,
            record_bytes,
            group_bytes: record_bytes + request_bytes,
            sum: None,
        }
    }

    fn answer(&mut self, url: &str, at: Timestamp, head: &str, body: &[u8]) -> Row {
        let payload = Sha1Digest::of(&[body]);
        let head = format!("HTTP/1.1 200 OK\r\n{head}Content-Length: {}\r\n\r\n", body.len());
        let block = [head.as_bytes(), body].concat();
        let place = self.exchange(url, at, &Kind::Response, |draft| draft.payload_digest(payload), &block);
        row(url, at, Kind::Response, payload, place)
    }

    /// An answer in chunks, whose payload digest is that of the body without them (D8).
    fn chunked(&mut self, url: &str, at: Timestamp) -> Row {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML\r\nTransfer-Encoding: chunked\r\n\r\n";
        let block = [head.as_bytes(), b"7\r\n<p>Wiki\r\n5\r\npedia\r\n0\r\n\r\n"].concat();
        let payload = Sha1Digest::of(&[CHUNKED_BODY]);
        let place = self.exchange(url, at, &Kind::Response, |draft| draft.payload_digest(payload), &block);
        row(url, at, Kind::Response, payload, place)
    }

    fn revisit(&mut self, url: &str, at: Timestamp, of: &Row, status: &str, why: Profile) -> Row {
        let payload = of.payload.unwrap();
        let describe = |draft: Draft| draft.refers_to(why, &of.url, of.at).payload_digest(payload);
        let coding = if of.url == CHUNKED { "Transfer-Encoding: chunked\r\n" } else { "" };
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: text/html\r\n{coding}X-Visit: {at}\r\n\r\n");
        let place = self.exchange(url, at, &Kind::Revisit, describe, head.as_bytes());
        let mut revisit = row(url, at, Kind::Revisit, payload, place);
        revisit.status = status.get(..3).unwrap().parse().ok();
        revisit.flag = "unchanged";
        let body = &of.place;
        revisit.body = Some(Place::of_record(body.file.clone(), body.offset, body.record_bytes));
        revisit
    }

    fn resource(&mut self, url: &str, at: Timestamp) -> Row {
        let offset = self.bytes.len() as u64;
        let length = self.append(&Kind::Resource, at, |draft| draft.target(url), "image/png", LOGO_BODY);
        let place = Place::of_record(self.name.clone(), offset, length);
        let mut resource = row(url, at, Kind::Resource, Sha1Digest::of(&[LOGO_BODY]), place);
        (resource.status, resource.media_type) = (None, "image/png".into());
        resource
    }

    fn metadata(&mut self, url: &str, at: Timestamp) -> Row {
        let offset = self.bytes.len() as u64;
        let block = b"outcome: unreachable\r\n";
        let length = self.append(&Kind::Metadata, at, |draft| draft.target(url), WARC_FIELDS, block);
        let place = Place::of_record(self.name.clone(), offset, length);
        let mut metadata = row(url, at, Kind::Metadata, Sha1Digest::of(&[]), place);
        (metadata.status, metadata.payload, metadata.flag, metadata.media_type) =
            (None, None, "error", "".into());
        metadata
    }
}

fn row(url: &str, at: Timestamp, kind: Kind, payload: Sha1Digest, place: Place) -> Row {
    Row {
        url: url.to_owned(),
        at,
        valid_from: at,
        valid_to: Timestamp::MAX,
        kind,
        flag: "changed",
        status: Some(200),
        media_type: "text/html".into(),
        detected_type: None,
        title: None,
        language: None,
        payload: Some(payload),
        is_truncated: false,
        place,
        body: None,
    }
}

#[test]
fn records_are_picked_once_in_the_order_of_their_addresses() {
    let files = Files::new();
    let picks: Vec<Pick> = files.pick(|_| true).map(Result::unwrap).collect();
    let mut places: Vec<&Place> = Vec::new();
    let mut also = 0;
    for pick in &picks {
        match pick {
            Pick::Chosen(place, _) => places.push(place),
            Pick::Original(..) | Pick::Resolved(..) => panic!("everything was chosen as it is"),
            Pick::Also(url, at) => {
                assert_eq!(
                    (url.as_str(), *at, *places.last().unwrap()),
                    (PAGE, day(5), &files.rows[0].place)
                );
                also += 1;
            }
        }
    }
    assert_eq!((places.len(), also), (files.rows.len(), 1));
    assert!(places.is_sorted());
}

#[test]
fn originals_of_revisits_are_picked_although_they_were_not_chosen() {
    let files = Files::new();
    let picks: Vec<Pick> = files.pick(Row::is_revisit).map(Result::unwrap).collect();
    let originals: Vec<u64> = picks
        .iter()
        .filter_map(|pick| if let Pick::Original(place, ..) = pick { Some(place.offset) } else { None })
        .collect();
    assert_eq!(originals, [files.rows[0].place.offset, files.rows[1].place.offset], "once each");
    let lines = picks.iter().filter(|pick| matches!(pick, Pick::Chosen(_, Some(_)))).count();
    assert_eq!(lines, 4, "the 304 is shown by its original");
}
