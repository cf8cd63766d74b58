//! Lists what the archive holds, file by file and record by record.
//!
//! Readers need no lock. They read the unfinished file as far as it is whole, and do not mind that a file is finished
//! under their hands.
//!
//! **Invariant:** an entry is made only of a record that is whole. Damage is an error in its place, and the listing
//! goes on behind it.

use crate::error::Error;
use crate::name::closed_name;
use crate::records::{Location, Stored, name as metadata};
use crate::scan::Scan;
use base::disk::Disk;
use base::http::{self, Framing};
use base::{PageUrl, Sha1Digest, Timestamp};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use warc::header::name;
use warc::{Fields, Kind, Record};

/// A capture as the archive tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What was requested.
    pub url: PageUrl,
    /// When.
    pub at: Timestamp,
    /// As what it is stored.
    pub kind: Stored,
    /// How the visit ended, in the words of [`base::Outcome::as_str`].
    pub outcome: Cow<'static, str>,
    /// Why there was no answer: the cause, or the rule that forbids it.
    pub why: Option<String>,
    /// The status, if there was an answer.
    pub status: Option<u16>,
    /// The media type that the answer gives, lower case; empty when it gives none.
    pub media_type: String,
    /// The digest of the body without its transfer coding; for a revisit that of the stored body.
    pub payload: Option<Sha1Digest>,
    /// Why the body is incomplete, if it is.
    pub truncated: Option<String>,
    /// Where the body of a revisit is.
    pub original: Option<Original>,
    /// Where the record is.
    pub location: Location,
}

/// What a revisit refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// What was requested then.
    pub url: PageUrl,
    /// When.
    pub at: Timestamp,
}

/// The captures in `directory` in the order in which they were stored. A directory that does not exist holds none.
pub fn list<'d>(
    disk: &'d dyn Disk,
    directory: &Path,
) -> Result<impl Iterator<Item = Result<Entry, Error>> + use<'d>, Error> {
    Ok(list_files(disk, files(disk, directory)?))
}

/// The captures in these of the archive's [`files`], in the order in which they were stored.
pub fn list_files(disk: &dyn Disk, files: Vec<PathBuf>) -> impl Iterator<Item = Result<Entry, Error>> {
    Entries { disk, files: files.into_iter(), scan: None }
}

struct Entries<'d> {
    disk: &'d dyn Disk,
    files: std::vec::IntoIter<PathBuf>,
    scan: Option<Scan>,
}

impl Entries<'_> {
    fn advance(&mut self) -> Result<Option<Entry>, Error> {
        loop {
            let Some(scan) = &mut self.scan else {
                let Some(path) = self.files.next() else { return Ok(None) };
                self.scan = Scan::open(self.disk, &path)?;
                continue;
            };
            match scan.next().transpose()? {
                None => self.scan = None,
                Some(record) => {
                    if let Some(entry) = entry(&record, scan)? {
                        return Ok(Some(entry));
                    }
                }
            }
        }
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

/// The archive files in `directory`, in order, each once.
///
/// A file that is renamed while a directory is read may be seen twice or not at all. It is renamed once in its life,
/// so a second look finds it.
pub fn files(disk: &dyn Disk, directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = BTreeMap::new();
    for _ in 0..2 {
        let seen = match disk.list(directory) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            seen => seen.map_err(|source| Error::io("list", directory, source))?,
        };
        let named = seen.into_iter().filter_map(|path| Some((closed_name(&path)?.to_owned(), path)));
        files.extend(named);
    }
    Ok(files.into_values().collect())
}

/// The entry that a record is, if it is one.
fn entry(record: &Record, scan: &Scan) -> Result<Option<Entry>, Error> {
    let kind = match record.kind() {
        Kind::Response => Stored::Response,
        Kind::Revisit => Stored::Revisit,
        Kind::Metadata => Stored::Metadata,
        _ => return Ok(None),
    };
    if kind == Stored::Metadata && !is_visit(record) {
        return Ok(None);
    }
    let damaged = |what| Error::Damaged { path: scan.path().to_owned(), offset: record.offset, what };
    let url = record.target().and_then(|target| PageUrl::parse(target).ok());
    let url = url.ok_or_else(|| damaged("it names no page"))?;
    let at = record.date().ok_or_else(|| damaged("it has no date"))?;
    let location = Location { file: scan.name(), offset: record.offset, length: record.length };
    Ok(Some(match kind {
        Stored::Metadata => unanswered(record, url, at, location),
        Stored::Response | Stored::Revisit => answered(record, kind, url, at, location),
    }))
}

fn answered(record: &Record, kind: Stored, url: PageUrl, at: Timestamp, location: Location) -> Entry {
    let (head, body) = split_answer(&record.block);
    let status = http::status(head);
    let media_type = http::field(head, "content-type").unwrap_or_default();
    let payload = || record.is_whole().then(|| payload(head, body));
    Entry {
        url,
        at,
        kind,
        outcome: Cow::Borrowed(outcome(status)),
        why: None,
        status,
        media_type: media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase(),
        payload: record.payload_digest().or_else(payload),
        truncated: record.fields.get(name::TRUNCATED).map(str::to_owned),
        original: original(&record.fields),
        location,
    }
}

/// Whether a metadata record tells of a visit; others may tell of anything.
fn is_visit(record: &Record) -> bool {
    Fields::read(&record.block).is_ok_and(|fields| fields.decoded(metadata::OUTCOME).is_some())
}

fn unanswered(record: &Record, url: PageUrl, at: Timestamp, location: Location) -> Entry {
    let fields = Fields::read(&record.block).unwrap_or_default();
    let why = [metadata::RULE, metadata::CAUSE, metadata::REFUSAL]
        .into_iter()
        .find_map(|name| fields.decoded(name));
    Entry {
        url,
        at,
        kind: Stored::Metadata,
        outcome: Cow::Owned(fields.decoded(metadata::OUTCOME).unwrap_or_default()),
        why,
        status: None,
        media_type: String::new(),
        payload: None,
        truncated: None,
        original: None,
        location,
    }
}

/// What [`base::Outcome::as_str`] says of an answer with this status.
fn outcome(status: Option<u16>) -> &'static str {
    match status {
        Some(200..=299) => "fetched",
        Some(304) => "not-modified",
        Some(300..=399) => "moved",
        Some(404 | 410) => "gone",
        _ => "failed",
    }
}

/// The head of an answer, with its empty line, and the body.
fn split_answer(block: &[u8]) -> (&[u8], &[u8]) {
    let ends_head = |rest: &[u8]| rest.starts_with(b"\n\r\n") || rest.starts_with(b"\n\n");
    let last_line_end = (0..block.len()).find(|place| block.get(*place..).is_some_and(ends_head));
    let body = last_line_end.map_or(&block[block.len()..], |place| {
        let rest = &block[place + 1..];
        rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).unwrap_or(rest)
    });
    (&block[..block.len() - body.len()], body)
}

/// The digest of the body of an answer that does not tell it, because it is chunked (D8).
fn payload(head: &[u8], body: &[u8]) -> Sha1Digest {
    let is_chunked = http::field(head, "transfer-encoding").is_some();
    let framing = if is_chunked { Framing::Chunked } else { Framing::UntilClose };
    Sha1Digest::of(&[&http::payload(body, framing)])
}

fn original(fields: &Fields) -> Option<Original> {
    let url = PageUrl::parse(fields.get(name::REFERS_TO_TARGET_URI)?).ok()?;
    Some(Original { url, at: fields.get(name::REFERS_TO_DATE)?.parse().ok()? })
}
