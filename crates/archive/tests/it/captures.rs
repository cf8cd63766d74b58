//! Captures to store, and what must be found of them.

use archive::{Archive, Entry, Reader, Settings, Stored, Verified};
use base::disk::{Disk, Open};
use base::door::{Cause, Exchange, Failure, Marks, Phase, Times, Truncation};
use base::http::Framing;
use base::{Capture, Chance, Interval, Outcome, PageUrl, Refusal, Sha1Digest, Timestamp};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use warc::Record;

pub(crate) const DIRECTORY: &str = "/data/archive";
pub(crate) const START: Timestamp = Timestamp::from_micros(1_795_129_200_123_456).unwrap();

/// Small files, so that a short workload needs several, and runs of the index are merged.
pub(crate) fn settings() -> Settings {
    Settings {
        file_bytes_max: 12_000,
        file_captures_max: 5,
        merges_beside: false,
        software: "utsushi/test".to_owned(),
        ..Settings::default()
    }
}

pub(crate) fn open(disk: &(impl Disk + Clone + 'static)) -> Result<Archive, archive::Error> {
    Archive::open(Arc::new(disk.clone()), Path::new(DIRECTORY), settings(), START).map(|(archive, _)| archive)
}

pub(crate) fn reader(disk: &(impl Disk + Clone + 'static)) -> Reader {
    Reader::open(Arc::new(disk.clone()), Path::new(DIRECTORY)).unwrap()
}

/// What a verification finds.
pub(crate) fn verified(disk: &(impl Disk + Clone + 'static)) -> Verified {
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    // So little is sorted in memory.
    archive::verify(&shared, Path::new(DIRECTORY), Path::new("/no/spool"), &mut |_| {}).unwrap()
}

/// How many places a verification finds damaged.
pub(crate) fn damaged(disk: &(impl Disk + Clone + 'static)) -> u64 {
    verified(disk).damaged
}

/// All entries, which must be readable.
#[track_caller]
pub(crate) fn entries(disk: &dyn Disk) -> Vec<Entry> {
    archive::list(disk, Path::new(DIRECTORY)).unwrap().collect::<Result<_, _>>().unwrap()
}

pub(crate) fn url(path: &str) -> PageUrl {
    PageUrl::parse(&format!("http://example.org/{path}")).unwrap()
}

pub(crate) fn answer(path: &str, at: Timestamp, fields: &str, body: &[u8]) -> Capture {
    let url = url(path);
    let framing = if fields.contains("chunked") { Framing::Chunked } else { Framing::UntilClose };
    let exchange = Exchange {
        address: "192.0.2.7:80".parse().unwrap(),
        request_head: format!("GET {} HTTP/1.1\r\nHost: example.org\r\n\r\n", url.target()).into_bytes(),
        response_head: format!("HTTP/1.1 200 OK\r\n{fields}\r\n").into_bytes(),
        body: body.to_vec().into(),
        status: 200,
        framing,
        truncated: None,
        marks: Marks::default(),
        times: Times::default(),
    };
    let outcome = Outcome::Fetched { status: 200, content: None, truncated: None };
    Capture { url, at, outcome, exchange: Some(exchange) }
}

pub(crate) fn truncated(path: &str, at: Timestamp, body: &[u8]) -> Capture {
    let why = Truncation::Length;
    let mut capture = answer(path, at, "Content-Length: 100000\r\n", body);
    capture.outcome = Outcome::Fetched { status: 200, content: None, truncated: Some(why) };
    capture.exchange.as_mut().unwrap().truncated = Some(why);
    capture
}

pub(crate) fn not_modified(path: &str, at: Timestamp) -> Capture {
    let mut capture = answer(path, at, "", b"");
    let exchange = capture.exchange.as_mut().unwrap();
    exchange.response_head = b"HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n".to_vec();
    (exchange.status, exchange.framing) = (304, Framing::None);
    capture.outcome = Outcome::NotModified;
    capture
}

pub(crate) fn unreachable(path: &str, at: Timestamp) -> Capture {
    let took = Duration::from_millis(10_002);
    let cause = Cause::TimeOut(Duration::from_secs(10));
    let failure = Failure::new(Phase::Connect, cause, took);
    // Some pages send bytes that are not HTTP.
    let failure = if path.len().is_multiple_of(2) {
        let received = b"220 mail.example ESMTP\r\n\0\xff".to_vec().into();
        let address = Some("192.0.2.7:25".parse().unwrap());
        Failure {
            phase: Phase::Head,
            cause: Cause::Malformed("no status line"),
            address,
            received,
            ..failure
        }
    } else {
        failure
    };
    Capture { url: url(path), at, outcome: Outcome::Unreachable(failure), exchange: None }
}

pub(crate) fn refused(path: &str, at: Timestamp, rule: &str) -> Capture {
    let outcome = Outcome::Refused(Refusal::Robots(rule.to_owned()));
    Capture { url: url(path), at, outcome, exchange: None }
}

/// A redirect to `target` with some body.
pub(crate) fn moved(path: &str, at: Timestamp, target: &str, body: &[u8]) -> Capture {
    let mut capture =
        with_status(path, at, "301 Moved Permanently", &format!("Location: {target}\r\n"), body);
    let target = capture.url.join(target).ok();
    capture.outcome = Outcome::Moved { status: 301, target };
    capture
}

/// The page is not there.
pub(crate) fn gone(path: &str, at: Timestamp, body: &[u8]) -> Capture {
    let mut capture = with_status(path, at, "404 Not Found", "Content-Type: text/html\r\n", body);
    capture.outcome = Outcome::Gone { status: 404 };
    capture
}

/// The server failed.
pub(crate) fn failed(path: &str, at: Timestamp, body: &[u8]) -> Capture {
    let mut capture = with_status(path, at, "503 Service Unavailable", "", body);
    capture.outcome = Outcome::Failed { status: 503, retry_after: None };
    capture
}

fn with_status(path: &str, at: Timestamp, line: &str, fields: &str, body: &[u8]) -> Capture {
    let mut capture = answer(path, at, fields, body);
    let exchange = capture.exchange.as_mut().unwrap();
    exchange.response_head = format!("HTTP/1.1 {line}\r\n{fields}\r\n").into_bytes();
    exchange.status = line[..3].parse().unwrap();
    capture
}

/// The body in one chunk.
pub(crate) fn chunked(body: &[u8]) -> Vec<u8> {
    if body.is_empty() {
        return b"0\r\n\r\n".to_vec();
    }
    [format!("{:x}\r\n", body.len()).as_bytes(), body, b"\r\n0\r\n\r\n"].concat()
}

pub(crate) fn gzipped(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

/// The distance between captures of a workload, which are identified by their moment.
const STEP_MICROS: u64 = 1_000_003;

/// A workload: captures of every kind, of few pages, each at a moment of its own.
pub(crate) fn workload(seed: u64, count: u64) -> Vec<Capture> {
    (0..count).map(|number| visit(seed, number)).collect()
}

pub(crate) fn visit(seed: u64, number: u64) -> Capture {
    let at = START.plus(Interval::from_micros(number * STEP_MICROS));
    visit_at(&mut Chance::of(&[seed, number]), at)
}

/// The number that a capture has in its workload.
pub(crate) fn number_of(entry: &Entry) -> usize {
    usize::try_from(entry.at.since(START).as_micros() / STEP_MICROS).unwrap()
}

/// Any capture of one of a few pages: half of the bodies are among a few that come again and again.
pub(crate) fn visit_at(chance: &mut Chance, at: Timestamp) -> Capture {
    let path = format!("page-{}", chance.below(9));
    let length = *chance.pick(&[0, 10, 300, 1_500, 4_000]);
    let common = chance.below(2) == 0;
    let mut content = if common { Chance::new(chance.below(4)) } else { chance.clone() };
    // Half of it compresses, half does not.
    let body: Vec<u8> =
        (0..length).map(|i| if i % 2 == 0 { b'a' } else { content.bits().to_le_bytes()[0] }).collect();
    match chance.below(16) {
        0 => refused(&path, at, "Disallow: /\r\n\0%41"),
        1 => unreachable(&path, at),
        2 | 3 => not_modified(&path, at),
        4 | 5 => answer(&path, at, "Transfer-Encoding: chunked\r\n", &chunked(&body)),
        6 => answer(&path, at, "Content-Encoding: gzip\r\n", &gzipped(&body)),
        // The same bytes as before, but no longer in a coding: another content.
        7 => answer(&path, at, "Content-Type: application/gzip\r\n", &gzipped(&body)),
        8 => truncated(&path, at, &body),
        9 => {
            let target: &str = chance.pick::<&str>(&["/page-1", "/elsewhere", "no scheme://"]);
            moved(&path, at, target, &body)
        }
        10 => moved(&path, at, &format!("https://example.org/{path}"), &body),
        11 => gone(&path, at, &body),
        12 => failed(&path, at, &body),
        _ => answer(&path, at, "Content-Type: text/html\r\n", &body),
    }
}

/// Every record of every file, by file and offset.
#[derive(Debug, Default)]
pub(crate) struct Records(pub(crate) BTreeMap<String, BTreeMap<u64, Record>>);

impl Records {
    /// Reads every file from end to end. The directory itself may be missing if nothing was ever stored.
    pub(crate) fn read(disk: &dyn Disk) -> Result<Self, String> {
        let mut records = Self::default();
        for path in disk.list(Path::new(DIRECTORY)).unwrap_or_default() {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let name = name.trim_end_matches(".open");
            if !name.ends_with(".warc.gz") {
                continue;
            }
            let bytes = file_bytes(disk, name).ok_or("a file cannot be read")?;
            let found = warc::WarcReader::new(&*bytes, usize::MAX)
                .map(|record| Ok((record.as_ref().map_or(0, |r| r.offset), record?)));
            let found: Result<_, warc::Error> = found.collect();
            records.0.insert(name.to_owned(), found.map_err(|error| format!("`{name}`: {error}"))?);
        }
        Ok(records)
    }

    /// The block of the record after a capture's first, if that belongs to it.
    fn second_block(&self, entry: &Entry) -> Option<&[u8]> {
        let records = self.0.get(&*entry.location.file)?;
        let behind = entry.location.offset + entry.location.length;
        let record = records.get(&behind).filter(|_| entry.group_bytes > entry.location.length)?;
        Some(&record.block)
    }

    /// Compares an entry, and the bytes of its records, with the capture that was stored.
    pub(crate) fn compare(&self, entry: &Entry, capture: &Capture) -> Result<(), String> {
        let same = |what: &str, holds: bool| {
            if holds { Ok(()) } else { Err(format!("`{}`: another {what}: {entry:?}", capture.url)) }
        };
        same("moment", entry.at == capture.at)?;
        let outcome = if capture.exchange.is_some() { capture.outcome.as_str() } else { "unanswered" };
        same("outcome", entry.outcome() == outcome)?;
        same("URL", entry.url == capture.url.as_str() && entry.key.as_str() == capture.url.key().as_str())?;
        same("status", entry.status == capture.outcome.status())?;
        let Some(exchange) = &capture.exchange else {
            same("kind", entry.kind == Stored::Metadata)?;
            return same("bytes that came", self.second_block(entry) == received(capture));
        };
        let whole = exchange.body.read().unwrap();
        let body: &[u8] = if entry.kind == Stored::Response { &whole } else { b"" };
        if entry.kind == Stored::Response {
            same("payload", entry.payload == Some(Sha1Digest::of(&[&exchange.payload().unwrap()])))?;
        }
        let block = [&exchange.response_head, body].concat();
        let mut records =
            self.0.get(&*entry.location.file).ok_or("no such file")?.range(entry.location.offset..);
        let mut holds = |expected: &[u8]| records.next().is_some_and(|(_, record)| record.block == expected);
        same("response", holds(&block))?;
        same("request", holds(&exchange.request_head))
    }
}

/// Received bytes that are not an answer.
fn received(capture: &Capture) -> Option<&[u8]> {
    match &capture.outcome {
        Outcome::Unreachable(failure) if !failure.received.is_empty() => Some(&failure.received),
        _ => None,
    }
}

/// A file, finished or not.
pub(crate) fn file_bytes(disk: &dyn Disk, name: &str) -> Option<Vec<u8>> {
    let closed = Path::new(DIRECTORY).join(name);
    let open = Path::new(DIRECTORY).join(format!("{name}.open"));
    let file = [closed, open].iter().find_map(|path| disk.open(path, Open::Read).ok())?;
    let mut bytes = vec![0; usize::try_from(file.length().ok()?).ok()?];
    file.read_at(0, &mut bytes).ok()?;
    Some(bytes)
}
