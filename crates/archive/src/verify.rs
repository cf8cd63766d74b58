//! Verifies an archive: every byte of its files, every digest, every entry of the index (A7, M5).
//!
//! 1. Every archive file against its checksums: they cover it without a gap, and every record matches its CRC-32C, can
//!    be read, and matches its block digest.
//! 2. Every file of the index: each block against its checksum.
//! 3. Index against files: each capture in the checksums is in the index, and nothing else is.
//! 4. What revisits refer to: it is there, and has the digest stored with them.
//!
//! It only reads and reports; the next writer, or `rebuild`, repairs (D1).
//!
//! A crashed writer leaves a file whose end was never acknowledged, and checksums whose end may be missing. That is not
//! damage: the next writer cuts the file after its last whole capture and rebuilds the checksums. It is reported as
//! unfinished.
//!
//! **Invariant:** memory does not grow with the archive: index and files are compared by one checksum over all entries,
//! and entry by entry only where these differ.

use crate::capture::entry::{Entry, Location, Stored};
use crate::error::Error;
use crate::files::directory::{files, length_of};
use crate::files::fetch_record;
use crate::files::name::{closed_name, is_open};
use crate::files::scan::Scan;
use crate::files::sums::{self, Found};
use crate::files::survey::survey;
use crate::index::Files;
use crate::index::row::Row;
use crate::reading::reader::Reader;
use crate::snapshot::sort::{SortOrder, Sorter};
use crate::snapshot::versions::Version;
use base::disk::{Disk, Open};
use base::{Period, Sha1Digest, Timestamp};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a verification reports while it runs.
#[derive(Debug)]
pub enum VerifyEvent {
    /// The progress so far.
    Progress {
        /// Bytes of archive files that were verified.
        done_bytes: u64,
        /// All bytes of archive files.
        total_bytes: u64,
    },
    /// Something differs from what was stored.
    Damage(Damage),
    /// A writer left something unfinished that the next one repairs. Nothing that was acknowledged is missing.
    Unfinished(Unfinished),
}

/// The end of a file that was never acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// The file: an archive file, or the checksums beside one.
    pub path: PathBuf,
    /// Where its last whole part ends.
    pub offset: u64,
    /// How many bytes follow.
    pub bytes: u64,
}

/// Something that differs from what was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// The offset, in an archive file.
    pub offset: Option<u64>,
    /// What is wrong.
    pub what: String,
}

/// What was verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Archive files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Records.
    pub records: u64,
    /// Captures, by the checksums.
    pub captures: u64,
    /// Records in the index that are not captures, such as notes, by the checksums.
    pub others: u64,
    /// Rows of the index.
    pub indexed: u64,
    /// Places that are damaged.
    pub damaged: u64,
    /// Ends of files that a writer left unfinished.
    pub unfinished: u64,
}

/// Memory of a sorter.
const SORTER_BYTES: usize = 32 * 1024 * 1024;

/// Verifies the archive in `directory`; what must be sorted is spilled into `spool`.
pub fn verify(
    disk: &Arc<dyn Disk>,
    directory: &Path,
    spool: &Path,
    tell: &mut dyn FnMut(VerifyEvent),
) -> Result<Verified, Error> {
    let mut verifier = Verifier {
        disk: Arc::clone(disk),
        directory,
        tell,
        total_bytes: 0,
        verified: Verified::default(),
        stored: Tally::default(),
    };
    verifier.verify_files()?;
    verifier.verify_index(spool)?;
    Ok(verifier.verified)
}

struct Verifier<'v> {
    disk: Arc<dyn Disk>,
    directory: &'v Path,
    tell: &'v mut dyn FnMut(VerifyEvent),
    total_bytes: u64,
    verified: Verified,
    /// The captures of all checksums.
    stored: Tally,
}

/// The digests of the answers in a file, by their places.
type Payloads = HashMap<u64, Option<Sha1Digest>>;

/// A checksum over entries that does not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    count: u64,
    sum: u128,
}

impl Tally {
    fn add(&mut self, entry: &Entry) {
        let text = format!("{entry:?}");
        let digest = blake3::hash(text.as_bytes());
        let half = digest.as_bytes().first_chunk::<16>().copied().unwrap_or_default();
        self.count += 1;
        self.sum = self.sum.wrapping_add(u128::from_le_bytes(half));
    }
}

impl Verifier<'_> {
    fn damage(&mut self, path: &Path, offset: Option<u64>, what: impl Into<String>) {
        self.verified.damaged += 1;
        (self.tell)(VerifyEvent::Damage(Damage { path: path.to_owned(), offset, what: what.into() }));
    }
    /// Errors of the machine end the verification; those of the archive are reported.
    fn reported<T>(&mut self, result: Result<T, Error>) -> Result<Option<T>, Error> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Error::Damaged { path, offset, what }) => {
                self.damage(&path, Some(offset), what);
                Ok(None)
            }
            Err(Error::IndexDamaged { path, what }) => {
                self.damage(&path, None, what);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn verify_files(&mut self) -> Result<(), Error> {
        let paths = files(&*self.disk, self.directory)?;
        for path in &paths {
            self.total_bytes += length_of(&*self.disk, path).unwrap_or(0);
        }
        for path in &paths {
            let Some(file) = closed_name(path) else { continue };
            self.verify_file(path, file)?;
        }
        Ok(())
    }

    fn verify_file(&mut self, path: &Path, file: &str) -> Result<(), Error> {
        self.verified.files += 1;
        let contents = Contents::read(&*self.disk, path, file)?;
        self.verify_sums(path, &contents)?;
        self.verify_end(path, &contents)?;
        self.verify_records(path, file, &contents.batches)?;
        for (key, row) in contents.captures() {
            let entry = row.entry(key, &contents.names);
            let is_capture = entry.is_visit();
            let count = if is_capture { &mut self.verified.captures } else { &mut self.verified.others };
            *count += 1;
            self.stored.add(&comparable(entry));
        }
        Ok(())
    }

    /// The checksums of a finished file are whole and cover all of it; the end of those of a growing one may be
    /// missing.
    fn verify_sums(&mut self, path: &Path, contents: &Contents) -> Result<(), Error> {
        let (length, sums) = (length_of(&*self.disk, path)?, &contents.sums);
        let unfinished = is_open(path) && contents.found.is_none_or(|found| !found.is_finished);
        match contents.found {
            Some(found) if unfinished => self.unfinished(sums, found.whole_bytes, found.bytes),
            None if unfinished => {
                let sums_bytes = length_of(&*self.disk, sums).unwrap_or(0);
                self.unfinished(sums, 0, sums_bytes);
            }
            None => self.damage(sums, None, "the checksums are missing or damaged at their beginning"),
            Some(found) if found.whole_bytes < found.bytes => {
                let what = format!("the checksums are damaged from byte `{}` on", found.whole_bytes);
                self.damage(sums, None, what);
            }
            Some(found) if !found.is_finished => self.damage(sums, None, "the checksums end early"),
            Some(found) if found.covered != length => {
                let what =
                    format!("it is `{length}` bytes long, and was `{}` when it was finished", found.covered);
                self.damage(path, None, what);
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// Reports what was found after the checksums of an unfinished file.
    fn verify_end(&mut self, path: &Path, contents: &Contents) -> Result<(), Error> {
        for offset in &contents.damaged_offsets {
            self.damage(path, Some(*offset), "it cannot be read");
        }
        if let Some(kept_bytes) = contents.kept_bytes {
            let length = length_of(&*self.disk, path)?;
            self.unfinished(path, kept_bytes, length);
        }
        Ok(())
    }

    fn unfinished(&mut self, path: &Path, offset: u64, length: u64) {
        if offset < length {
            self.verified.unfinished += 1;
            let bytes = length - offset;
            (self.tell)(VerifyEvent::Unfinished(Unfinished { path: path.to_owned(), offset, bytes }));
        }
    }

    fn verify_records(&mut self, path: &Path, file: &str, batches: &[sums::Batch]) -> Result<(), Error> {
        let bytes = self.disk.open(path, Open::Read).map_err(|source| Error::io("open", path, source))?;
        let name: Arc<str> = Arc::from(file);
        for batch in batches {
            let mut offset = batch.from;
            for record in &batch.records {
                let location = Location { file: Arc::clone(&name), offset, length: record.length };
                let member = fetch_record::read_member(&*bytes, path, &location, Some(record.sum));
                if let Some(member) = self.reported(member)? {
                    let record = fetch_record::read_record(&member, self.directory, &location).map(drop);
                    self.reported(record)?;
                }
                offset += record.length;
                self.verified.records += 1;
                self.verified.bytes += record.length;
                let (done_bytes, total_bytes) = (self.verified.bytes, self.total_bytes);
                (self.tell)(VerifyEvent::Progress { done_bytes, total_bytes });
            }
        }
        Ok(())
    }

    fn verify_index(&mut self, spool: &Path) -> Result<(), Error> {
        let reader = Reader::open(Arc::clone(&self.disk), self.directory);
        let Some(reader) = self.reported(reader)? else { return Ok(()) };
        let checked = reader.verify_runs();
        if self.reported(checked)?.is_none() {
            return Ok(());
        }
        let (mut indexed, mut revisits) =
            (Tally::default(), Sorter::new(SortOrder::Address, spool, SORTER_BYTES));
        for entry in reader.all()? {
            let Some(entry) = self.reported(entry)? else { return Ok(()) };
            self.verified.indexed += 1;
            indexed.add(&comparable(entry.clone()));
            if entry.kind == Stored::Revisit && entry.body.is_some() {
                revisits.push(&version(entry))?;
            }
        }
        if indexed != self.stored {
            self.compare(&reader)?;
        }
        self.verify_references(revisits)
    }

    /// Finds the entries in which index and checksums differ.
    fn compare(&mut self, reader: &Reader) -> Result<(), Error> {
        let index = self.directory.join(crate::index::DIRECTORY);
        let before = self.verified.damaged;
        let mut missing = 0_u64;
        for path in files(&*self.disk, self.directory)? {
            let Some(file) = closed_name(&path) else { continue };
            let contents = Contents::read(&*self.disk, &path, file)?;
            for (key, row) in contents.captures() {
                let entry = comparable(row.entry(key, &contents.names));
                let mut found = false;
                for other in reader.newest_first(&entry.key)? {
                    found |= comparable(other?) == entry;
                }
                if !found {
                    missing += 1;
                    self.damage(&path, Some(entry.location.offset), "the capture there is not in the index");
                }
            }
        }
        let stored = self.verified.captures + self.verified.others;
        if self.verified.damaged == before || self.verified.indexed + missing > stored {
            let what = format!(
                "it has `{}` entries, the archive files have `{stored}`; run `utsushi rebuild index`",
                self.verified.indexed
            );
            self.damage(&index, None, what);
        }
        Ok(())
    }

    /// Checks the revisits in the order of their bytes, one file at a time.
    fn verify_references(&mut self, revisits: Sorter) -> Result<(), Error> {
        let mut held: Option<(Arc<str>, Payloads)> = None;
        for version in revisits.finish()? {
            let entry = version?.payload;
            let Some(body) = &entry.body else { continue };
            if held.as_ref().is_none_or(|(file, _)| *file != body.file) {
                held = Some((Arc::clone(&body.file), self.payloads(&body.file)?));
            }
            let payload = held.as_ref().and_then(|(_, payloads)| payloads.get(&body.offset));
            let path = self.directory.join(&*entry.location.file);
            match payload {
                None => {
                    let what = format!(
                        "the bytes it refers to, in `{}` at `{}`, are not there",
                        body.file, body.offset
                    );
                    self.damage(&path, Some(entry.location.offset), what);
                }
                Some(payload) if payload.is_some() && *payload != entry.payload => {
                    self.damage(&path, Some(entry.location.offset), "what it refers to has another digest");
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// The digests of the answers that a file stores, by their places.
    fn payloads(&self, file: &str) -> Result<Payloads, Error> {
        let (_, path) = fetch_record::open(&*self.disk, self.directory, file)?;
        let contents = Contents::read(&*self.disk, &path, file)?;
        let stored = contents.captures().filter(|(_, row)| row.kind == Stored::Response);
        let payloads = stored.map(|(_, row)| (row.place.offset, row.payload)).collect();
        Ok(payloads)
    }
}

/// The contents of an archive file, by its checksums and, after their end in an unfinished file, by its records.
struct Contents {
    /// Where the checksums are.
    sums: PathBuf,
    found: Option<Found>,
    names: Files,
    batches: Vec<sums::Batch>,
    /// Offsets of acknowledged records that are damaged.
    damaged_offsets: Vec<u64>,
    /// Where the last whole capture of an unfinished file ends.
    kept_bytes: Option<u64>,
}

impl Contents {
    fn read(disk: &dyn Disk, path: &Path, file: &str) -> Result<Self, Error> {
        let sums = path.with_file_name(format!("{file}{}", sums::SUFFIX));
        let (mut names, mut batches) = (Files::default(), Vec::new());
        let found = sums::read(disk, &sums, file, &mut names, |batch, _| batches.push(batch))?;
        let mut contents =
            Self { sums, found, names, batches, damaged_offsets: Vec::new(), kept_bytes: None };
        if is_open(path) && found.is_none_or(|found| !found.is_finished) {
            contents.read_rest(disk, path, found.map_or(0, |found| found.covered))?;
        }
        Ok(contents)
    }

    /// A power cut may have taken the end of the checksums; the rest is read like a reader does.
    fn read_rest(&mut self, disk: &dyn Disk, path: &Path, covered: u64) -> Result<(), Error> {
        let Some(scan) = Scan::open(disk, path, covered)? else { return Ok(()) };
        let survey = survey(disk, scan, path, &mut self.names)?;
        self.kept_bytes = Some(survey.kept_bytes.max(covered));
        self.damaged_offsets = survey.damaged_offsets;
        self.batches.extend(survey.batches);
        Ok(())
    }

    fn captures(&self) -> impl Iterator<Item = (&str, &Row)> {
        self.batches.iter().flat_map(|batch| &batch.captures).map(|(key, row)| (&**key, row))
    }
}

/// The part of an entry on which checksums and index must agree: the location of a revisited body may have been found
/// later.
fn comparable(entry: Entry) -> Entry {
    Entry { body: None, ..entry }
}

fn version(entry: Entry) -> Version {
    let validity = Period::new(entry.at, Timestamp::MAX);
    let validity = validity.or_else(|| Period::new(Timestamp::MIN, Timestamp::MAX));
    Version {
        validity: validity.expect("the whole of time is a period"),
        payload: entry,
        is_error: false,
        ended_by_gone: false,
        is_first: None,
    }
}
