//! Brings files, sums and index to agree again when the archive is opened (M1, M2).
//!
//! 1. Each `.open` file, left by a writer that died, is cut behind its last whole capture, synced, and given its final
//!    name; a file without any capture is removed. Only what the sums do not cover is read.
//! 2. Finished files whose sums are missing or damaged are read, and the sums made anew.
//! 3. The captures of files that no run covers are put into the index.
//!
//! Every step leaves a state from which recovery can begin anew, so it may itself be cut.
//!
//! **Invariant:** only what lies behind the last durable batch is cut, see [`crate::scan`].

use crate::describe::{self, Role};
use crate::entry::Entry;
use crate::error::Error;
use crate::file::sync_directory_of;
use crate::index::row::{Files, Row};
use crate::index::{Index, MEMORY_ROWS_MAX};
use crate::name;
use crate::scan::{Scan, is_marked};
use crate::sums::{self, Batch, Found, Sum, SumsWriter};
use base::disk::{Disk, DiskFile, Open};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warc::Record;

/// What was found when the archive was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The files that a writer left unfinished when it died.
    pub files: Vec<Recovered>,
    /// The files whose sums were missing or damaged and were made anew.
    pub summed: Vec<Arc<str>>,
    /// Why the index was made anew, if it was.
    pub index: Option<String>,
    /// How many takedowns were begun and not finished, and are finished now.
    pub takedowns: u64,
}

/// What became of an unfinished file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The name it now has.
    pub file: Arc<str>,
    /// How many captures it holds; a file without any is removed.
    pub captures: u64,
    /// How much was kept.
    pub kept_bytes: u64,
    /// How much was cut off: records that were never acknowledged.
    pub lost_bytes: u64,
    /// Where records begin that were acknowledged once and are damaged now.
    pub damaged_offsets: Vec<u64>,
}

/// Brings everything in `directory` to agree.
pub(crate) fn recover(
    disk: &Arc<dyn Disk>,
    directory: &Path,
    index: &mut Index,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Recovery, Error> {
    let mut recovery = Recovery::default();
    for path in list(&**disk, directory)?.iter().filter(|path| name::is_open(path)) {
        recovery.files.extend(recover_file(&**disk, path)?);
    }
    remove_orphans(&**disk, directory)?;
    let mut loaded = Vec::new();
    let paths: Vec<PathBuf> =
        list(&**disk, directory)?.into_iter().filter(|path| name::closed_name(path).is_some()).collect();
    for (done, path) in paths.iter().enumerate() {
        progress(done as u64, paths.len() as u64);
        let Some(file) = name::closed_name(path).map(Arc::<str>::from) else { continue };
        if index.covers(&file) {
            continue;
        }
        if load(&**disk, path, &file, index)? {
            recovery.summed.push(Arc::clone(&file));
        }
        loaded.push(file);
        if index.pending() >= MEMORY_ROWS_MAX {
            index.flush(loaded.drain(..))?;
        }
    }
    if !loaded.is_empty() {
        index.flush(loaded)?;
    }
    Ok(recovery)
}

fn list(disk: &dyn Disk, directory: &Path) -> Result<Vec<PathBuf>, Error> {
    disk.list(directory).map_err(|source| Error::io("list", directory, source))
}

/// Removes the sums of finished files, which are then made anew from the files.
pub(crate) fn forget_sums(disk: &dyn Disk, directory: &Path) -> Result<(), Error> {
    for path in list(disk, directory)?.iter().filter(|path| sums::file_of(path).is_some_and(name::is_name)) {
        let is_finished = sums::file_of(path).is_some_and(|file| disk.open(&path.with_file_name(file), Open::Read).is_ok());
        if is_finished {
            disk.remove(path).map_err(|source| Error::io("remove", path, source))?;
        }
    }
    Ok(())
}

/// Removes sums without their file, and files that a takedown did not finish.
fn remove_orphans(disk: &dyn Disk, directory: &Path) -> Result<(), Error> {
    let paths = list(disk, directory)?;
    let is_there = |file: &str| paths.iter().any(|path| name::closed_name(path) == Some(file));
    for path in &paths {
        let is_orphan = sums::file_of(path).is_some_and(|file| name::is_name(file) && !is_there(file));
        if is_orphan || crate::takedown::is_unfinished(path) {
            disk.remove(path).map_err(|source| Error::io("remove", path, source))?;
        }
    }
    Ok(())
}

/// Puts the captures of a finished file into the index; whether its sums had to be made anew.
fn load(disk: &dyn Disk, path: &Path, file: &Arc<str>, index: &mut Index) -> Result<bool, Error> {
    let sums = path.with_file_name(format!("{file}{}", sums::SUFFIX));
    let mut batches = Vec::new();
    let found = sums::read(disk, &sums, file, index.files_mut(), |batch, _| batches.push(batch))?;
    let length = disk.open(path, Open::Read).and_then(|file| file.length());
    let length = length.map_err(|source| Error::io("open", path, source))?;
    let is_whole = found.is_some_and(|found| found.is_whole() && found.covered == length);
    if !is_whole {
        batches = read_batches(disk, path, index.files_mut())?;
        resolve(&mut batches, index)?;
        write_sums(disk, path, file, None, &batches, index.files())?;
        tracing::warn!(%file, "the sums were missing or damaged and were made anew");
    }
    for (key, row) in batches.into_iter().flat_map(|batch| batch.captures) {
        index.add(&key, row);
    }
    Ok(!is_whole)
}

/// What a finished file holds, by reading all of it.
fn read_batches(disk: &dyn Disk, path: &Path, files: &mut Files) -> Result<Vec<Batch>, Error> {
    match Scan::open(disk, path, 0)? {
        Some(scan) => Ok(survey(disk, scan, path, files)?.batches),
        None => Ok(Vec::new()),
    }
}

/// Makes the sums of a finished file anew from what it holds.
pub(crate) fn make_sums(disk: &dyn Disk, path: &Path, file: &str) -> Result<(), Error> {
    let mut files = Files::default();
    let batches = read_batches(disk, path, &mut files)?;
    write_sums(disk, path, file, None, &batches, &files)
}

/// Finds the bytes that revisits stand for: before them in the same file, or in the index.
pub(crate) fn resolve(batches: &mut [Batch], index: &Index) -> Result<(), Error> {
    let mut bodies = std::collections::HashMap::new();
    for (_, row) in batches.iter_mut().flat_map(|batch| &mut batch.captures) {
        if let Some(body) = crate::index::run::Body::of(row) {
            bodies.entry(body.payload).or_insert(body.place);
        }
        if let Some(payload) = row.payload.filter(|_| row.kind == crate::Stored::Revisit && row.body.is_none()) {
            row.body = match index.find_payload(payload)? {
                Some(place) => Some(place),
                None => bodies.get(&payload).copied(),
            };
        }
    }
    Ok(())
}

fn recover_file(disk: &dyn Disk, path: &Path) -> Result<Option<Recovered>, Error> {
    let Some(file) = name::closed_name(path).map(Arc::<str>::from) else { return Ok(None) };
    let sums = path.with_file_name(format!("{file}{}", sums::SUFFIX));
    let (mut files, mut captures) = (Files::default(), 0);
    let found = sums::read(disk, &sums, &file, &mut files, |batch, _| captures += batch.captures.len() as u64)?;
    let length = disk.open(path, Open::Read).and_then(|file| file.length());
    let length = length.map_err(|source| Error::io("open", path, source))?;
    // Sums that promise more than there is are of no use.
    let found = found.filter(|found| found.covered <= length);
    let covered = found.map_or(0, |found| found.covered);
    let captures = if found.is_some() { captures } else { 0 };
    let Some(scan) = Scan::open(disk, path, covered)? else { return Ok(None) };
    let survey = survey(disk, scan, path, &mut files)?;
    let recovered = Recovered {
        file: Arc::clone(&file),
        captures: captures + survey.captures,
        kept_bytes: survey.kept_bytes.max(covered),
        lost_bytes: length - survey.kept_bytes.max(covered),
        damaged_offsets: survey.damaged_offsets,
    };
    if recovered.captures == 0 && recovered.damaged_offsets.is_empty() {
        disk.remove(path).map_err(|source| Error::io("remove", path, source))?;
    } else {
        mend(disk, path, survey.last_batch.max(covered), recovered.kept_bytes)?;
        // A revisit whose original lies in another file finds it when it is read.
        write_sums(disk, path, &file, found, &survey.batches, &files)?;
        finish(disk, path, &file)?;
    }
    sync_directory_of(disk, path)?;
    let Recovered { captures, kept_bytes, lost_bytes, .. } = &recovered;
    tracing::warn!(%file, captures, kept_bytes, lost_bytes, "finished the file of a writer that died");
    Ok(Some(recovered))
}

/// Writes the sums of a file behind those that were `found`, and makes them durable.
fn write_sums(
    disk: &dyn Disk,
    path: &Path,
    file: &str,
    found: Option<Found>,
    batches: &[Batch],
    files: &Files,
) -> Result<(), Error> {
    let sums = path.with_file_name(format!("{file}{}", sums::SUFFIX));
    // The sums may say already that the file is finished, when its writer died just before the rename.
    if let Some(found) = found.filter(|found| found.is_finished && batches.is_empty()) {
        let writer = SumsWriter::resume(disk, &sums, file, &found)?;
        return writer.sync();
    }
    let resumed = found.filter(|found| !found.is_finished);
    let mut writer = match resumed {
        Some(found) => SumsWriter::resume(disk, &sums, file, &found)?,
        None => SumsWriter::create(disk, &sums, file)?,
    };
    for batch in batches {
        writer.append(disk, batch, files)?;
    }
    writer.finish(disk)?;
    sync_directory_of(disk, &sums)
}

/// What a file holds, found by reading it.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) captures: u64,
    /// How far captures are whole.
    pub(crate) kept_bytes: u64,
    /// Where the last batch begins.
    pub(crate) last_batch: u64,
    pub(crate) damaged_offsets: Vec<u64>,
    /// What it holds up to there, to be written as sums.
    pub(crate) batches: Vec<Batch>,
}

/// So many records are covered by one frame.
const BATCH_RECORDS_MAX: usize = 4_096;

/// Reads the file from where `scan` stands.
pub(crate) fn survey(disk: &dyn Disk, scan: Scan, path: &Path, files: &mut Files) -> Result<Survey, Error> {
    let bytes = disk.open(path, Open::Read).map_err(|source| Error::io("open", path, source))?;
    let (name, from, file_bytes) = (scan.name(), scan.position(), scan.file_bytes());
    let is_open = name::is_open(path);
    let mut surveyor = Surveyor {
        path,
        bytes,
        name,
        files,
        survey: Survey { kept_bytes: from, last_batch: from, ..Survey::default() },
        batch: Batch { from, ..Batch::default() },
        position: from,
        group: None,
    };
    for record in scan {
        match record {
            Ok(record) => surveyor.take(&record)?,
            Err(Error::Damaged { offset, .. }) => surveyor.survey.damaged_offsets.push(offset),
            Err(error) => return Err(error),
        }
    }
    if !is_open {
        surveyor.cover_gap(file_bytes)?;
        surveyor.end_group();
        surveyor.survey.kept_bytes = file_bytes;
    }
    Ok(surveyor.finish())
}

struct Surveyor<'s> {
    path: &'s Path,
    bytes: Arc<dyn DiskFile>,
    name: Arc<str>,
    files: &'s mut Files,
    survey: Survey,
    /// What was read, up to `position`.
    batch: Batch,
    position: u64,
    /// The capture whose records are being read, and how many are to come.
    group: Option<(Entry, u64)>,
}

impl Surveyor<'_> {
    fn take(&mut self, record: &Record) -> Result<(), Error> {
        self.cover_gap(record.offset)?;
        if is_marked(record) {
            self.survey.last_batch = record.offset;
            self.survey.kept_bytes = self.survey.kept_bytes.max(record.offset);
        }
        let sum = self.cover(record.length)?;
        match describe::role(record, &self.name) {
            Role::Warcinfo | Role::Removed => {
                self.end_group();
                self.kept();
            }
            Role::First(records) => {
                self.end_group();
                let entry = describe::entry(record, &self.name).map(|entry| Entry { sum, ..entry });
                self.group = entry.map(|entry| (entry, records.saturating_sub(1)));
                self.end_whole_group();
            }
            Role::Companion => {
                if let Some((entry, left)) = &mut self.group {
                    entry.group_bytes += record.length;
                    *left = left.saturating_sub(1);
                    self.end_whole_group();
                } else {
                    self.kept();
                }
            }
        }
        Ok(())
    }

    fn end_whole_group(&mut self) {
        if self.group.as_ref().is_none_or(|(_, left)| *left == 0) {
            self.end_group();
            self.kept();
        }
    }
    /// Everything so far is whole.
    fn kept(&mut self) {
        self.survey.kept_bytes = self.position;
        if self.batch.records.len() >= BATCH_RECORDS_MAX {
            self.end_batch();
        }
    }
    fn end_group(&mut self) {
        if let Some((entry, _)) = self.group.take() {
            let row = Row::of(&entry, self.files);
            self.batch.captures.push((entry.key.as_str().into(), row));
            self.survey.captures += 1;
        }
    }
    fn end_batch(&mut self) {
        let next = Batch { from: self.batch.to(), ..Batch::default() };
        let batch = std::mem::replace(&mut self.batch, next);
        if !batch.records.is_empty() {
            self.survey.batches.push(batch);
        }
    }

    /// What lies between two records is damaged; it is covered as it is, so that nothing else happens to it unseen.
    fn cover_gap(&mut self, to: u64) -> Result<(), Error> {
        if to > self.position { self.cover(to - self.position).map(drop) } else { Ok(()) }
    }
    fn cover(&mut self, length: u64) -> Result<u32, Error> {
        let sum = sum_of(&*self.bytes, self.position, length)
            .map_err(|source| Error::io("read", self.path, source))?;
        self.batch.records.push(Sum { length, sum });
        self.position += length;
        Ok(sum)
    }

    /// What is not kept is not covered either.
    fn finish(mut self) -> Survey {
        while self.batch.to() > self.survey.kept_bytes && !self.batch.records.is_empty() {
            self.batch.records.pop();
        }
        self.end_batch();
        self.survey
    }
}

/// The CRC-32C of a part of a file.
pub(crate) fn sum_of(file: &dyn DiskFile, mut offset: u64, length: u64) -> io::Result<u32> {
    let (mut sum, end) = (0, offset + length);
    let mut buffer = vec![0; COPY_BYTES.min(usize::try_from(length).unwrap_or(COPY_BYTES))];
    while offset < end {
        let step = usize::try_from(end - offset).unwrap_or(usize::MAX).min(COPY_BYTES);
        let (piece, _) = buffer.split_at_mut(step);
        file.read_at(offset, piece)?;
        sum = crc32c::crc32c_append(sum, piece);
        offset += step as u64;
    }
    Ok(sum)
}

/// Cuts the file and makes the rest durable.
///
/// After a failed sync, records may look written that never reached the disk, and the next sync would not carry them.
/// So the last batch is written anew first; where it did reach the disk, this changes nothing.
fn mend(disk: &dyn Disk, path: &Path, last_batch: u64, kept_bytes: u64) -> Result<(), Error> {
    let failed = |action| move |source| Error::writing(disk, action, path, source);
    let file = disk.open(path, Open::Write).map_err(failed("open"))?;
    rewrite(&*file, last_batch, kept_bytes).map_err(failed("write to"))?;
    file.truncate(kept_bytes).map_err(failed("cut"))?;
    file.sync().map_err(failed("sync"))
}

const COPY_BYTES: usize = 1024 * 1024;

fn rewrite(file: &dyn DiskFile, from: u64, to: u64) -> io::Result<()> {
    let mut buffer = vec![0; COPY_BYTES];
    let mut offset = from;
    while offset < to {
        let length = usize::try_from(to - offset).unwrap_or(usize::MAX).min(COPY_BYTES);
        let (piece, _) = buffer.split_at_mut(length);
        file.read_at(offset, piece)?;
        file.write_at(offset, piece)?;
        offset += length as u64;
    }
    Ok(())
}

fn finish(disk: &dyn Disk, path: &Path, name: &str) -> Result<(), Error> {
    let closed = path.with_file_name(name);
    if disk.open(&closed, Open::Read).is_ok() {
        // Nobody of ours makes such a pair, and neither may be overwritten.
        return Err(Error::io("rename", path, io::ErrorKind::AlreadyExists.into()));
    }
    disk.rename(path, &closed).map_err(|source| Error::writing(disk, "rename", path, source))
}
