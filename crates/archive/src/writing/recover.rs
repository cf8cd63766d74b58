//! Makes files, checksums and index consistent when the archive is opened (M1, M2).
//!
//! - Each `.open` file, left by a crashed writer, is cut after its last whole capture, synced, and given its final
//!   name; a file without any capture is removed. Only what the checksums do not cover is read.
//! - Finished files whose checksums are missing or damaged are read, and the checksums rebuilt.
//! - The captures of files that no run covers are put into the index.
//!
//! Recovery can start again after every step, so it may itself be interrupted.
//!
//! **Invariant:** only what lies after the last durable batch is cut, see [`crate::files::scan`].

use crate::error::Error;
use crate::files::copy::copy;
use crate::files::directory::{self, length_of, sync_directory_of, with_rewrite};
use crate::files::name;
use crate::files::scan::Scan;
use crate::files::sums::{self, Batch, Found, SumsWriter};
use crate::files::survey::{References, Survey, survey};
use crate::index::Files;
use crate::index::row::Row;
use crate::index::{Index, MEMORY_ROWS_MAX};
use base::disk::{Disk, Open};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What was found when the archive was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The files that a writer left unfinished when it crashed.
    pub files: Vec<Recovered>,
    /// The files whose checksums were missing or damaged and were rebuilt.
    pub summed: Vec<Arc<str>>,
    /// Where damaged records begin in finished files that had to be read. They are left out of the index.
    pub damaged: Vec<(Arc<str>, u64)>,
    /// Why the index was rebuilt, if it was.
    pub index: Option<String>,
    /// Number of interrupted takedowns that were finished.
    pub takedowns: u64,
}

impl Recovery {
    /// How many damaged records were skipped.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        let unfinished: usize = self.files.iter().map(|file| file.damaged_offsets.len()).sum();
        (self.damaged.len() + unfinished) as u64
    }
}

/// The result of recovering an unfinished file.
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

/// Makes everything in `directory` consistent. Files come in the order of their names, so a revisit comes after what it
/// refers to.
pub(crate) fn recover(
    disk: &Arc<dyn Disk>,
    directory: &Path,
    index: &mut Index,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Recovery, Error> {
    let mut recovery = Recovery::default();
    let paths = list(&**disk, directory)?;
    let has_sums = |file: &str| paths.binary_search(&sums::path_of(directory, file)).is_ok();
    let mut loaded = Vec::new();
    for (done, path) in paths.iter().enumerate() {
        progress(done as u64, paths.len() as u64);
        let Some(file) = name::closed_name(path).map(Arc::<str>::from) else { continue };
        if name::is_open(path) {
            let Some(recovered) = recover_file(&**disk, path, &file, index)? else { continue };
            let is_removed = recovered.kept_bytes == 0;
            recovery.files.push(recovered);
            if is_removed {
                continue;
            }
        } else if !index.covers(&file) {
            if let Some(damaged) = load(&**disk, path, &file, index)? {
                recovery.damaged.extend(damaged.into_iter().map(|offset| (Arc::clone(&file), offset)));
                recovery.summed.push(Arc::clone(&file));
            }
        } else {
            if !has_sums(&file) {
                let damaged = make_sums(&**disk, path, &file, index)?;
                recovery.damaged.extend(damaged.into_iter().map(|offset| (Arc::clone(&file), offset)));
                recovery.summed.push(file);
            }
            continue;
        }
        loaded.push(file);
        if index.pending() >= MEMORY_ROWS_MAX {
            index.flush(loaded.drain(..))?;
        }
    }
    remove_orphans(&**disk, directory)?;
    if !loaded.is_empty() {
        index.flush(loaded)?;
    }
    Ok(recovery)
}

fn list(disk: &dyn Disk, directory: &Path) -> Result<Vec<PathBuf>, Error> {
    disk.list(directory).map_err(|source| Error::io("list", directory, source))
}

/// Removes the checksums of finished files, which are then rebuilt from the files.
pub(crate) fn forget_sums(disk: &dyn Disk, directory: &Path) -> Result<(), Error> {
    let paths = list(disk, directory)?;
    let files: HashSet<&str> =
        paths.iter().filter(|path| !name::is_open(path)).filter_map(|path| name::closed_name(path)).collect();
    for path in paths.iter().filter(|path| sums::file_of(path).is_some_and(|file| files.contains(file))) {
        disk.remove(path).map_err(|source| Error::io("remove", path, source))?;
    }
    Ok(())
}

/// Removes checksums and derived journals without their file, and files that a takedown did not finish.
fn remove_orphans(disk: &dyn Disk, directory: &Path) -> Result<(), Error> {
    let paths = list(disk, directory)?;
    let files: HashSet<&str> = paths.iter().filter_map(|path| name::closed_name(path)).collect();
    for path in &paths {
        let beside = sums::file_of(path).or_else(|| name::derived_of(path));
        let is_orphan = beside.is_some_and(|file| name::is_name(file) && !files.contains(file));
        if is_orphan || directory::is_unfinished(path) {
            disk.remove(path).map_err(|source| Error::io("remove", path, source))?;
        }
    }
    Ok(())
}

/// Puts the captures of a finished file into the index. If its checksums had to be rebuilt, where damaged records begin
/// in it.
fn load(disk: &dyn Disk, path: &Path, file: &Arc<str>, index: &mut Index) -> Result<Option<Vec<u64>>, Error> {
    let (batches, found) = read_sums(disk, path, file, index)?;
    let length = length_of(disk, path)?;
    if let Some(found) = found.filter(Found::is_whole) {
        if found.covered != length {
            // The checksums are whole, so the file is not; what is missing is reported when it is read.
            tracing::error!(%file, length, expected = found.covered, "the length of the file has changed");
        }
        add(batches, index);
        return Ok(None);
    }
    // What the checksums cover is not read again: those records were whole when they were written.
    let found = found.filter(|found| !found.is_finished && found.covered <= length);
    let (covered, mut batches) = found.map_or((0, Vec::new()), |found| (found.covered, batches));
    add(batches.clone(), index);
    let scan = Scan::open(disk, path, covered)?;
    let mut survey = match scan {
        Some(scan) => survey(disk, scan, path, index.files_mut())?,
        None => Survey::default(),
    };
    add_resolved(&mut survey, index)?;
    batches.append(&mut survey.batches);
    replace_sums(disk, path, file, &batches, index.files())?;
    let damaged = survey.damaged_offsets.len();
    tracing::warn!(%file, damaged, "the checksums were missing or damaged and were rebuilt");
    Ok(Some(survey.damaged_offsets))
}

/// Rebuilds the checksums of a file whose captures are in the index; where damaged records begin in it.
pub(crate) fn make_sums(
    disk: &dyn Disk,
    path: &Path,
    file: &str,
    index: &mut Index,
) -> Result<Vec<u64>, Error> {
    let Some(scan) = Scan::open(disk, path, 0)? else { return Ok(Vec::new()) };
    let mut survey = survey(disk, scan, path, index.files_mut())?;
    resolve(&mut survey, index)?;
    tracing::warn!(%file, "the checksums were missing and were rebuilt");
    replace_sums(disk, path, file, &survey.batches, index.files())?;
    Ok(survey.damaged_offsets)
}

/// Replaces the checksums of a finished file once the new ones are durable: after a failed sync they could look whole
/// and be lost later (M3).
fn replace_sums(
    disk: &dyn Disk,
    path: &Path,
    file: &str,
    batches: &[Batch],
    files: &Files,
) -> Result<(), Error> {
    let sums = path.with_file_name(format!("{file}{}", sums::SUFFIX));
    let new_sums = with_rewrite(&sums);
    let mut writer = SumsWriter::create(disk, &new_sums, file)?;
    batches.iter().try_for_each(|batch| writer.append(disk, batch, files))?;
    writer.finish(disk)?;
    disk.rename(&new_sums, &sums).map_err(|source| Error::writing(disk, "rename", &new_sums, source))?;
    sync_directory_of(disk, &sums)
}

fn read_sums(
    disk: &dyn Disk,
    path: &Path,
    file: &str,
    index: &mut Index,
) -> Result<(Vec<Batch>, Option<Found>), Error> {
    let sums = path.with_file_name(format!("{file}{}", sums::SUFFIX));
    let mut batches = Vec::new();
    let found = sums::read(disk, &sums, file, index.files_mut(), |batch, _| batches.push(batch))?;
    Ok((batches, found))
}

fn add(batches: Vec<Batch>, index: &mut Index) {
    batches.into_iter().flat_map(|batch| batch.captures).for_each(|(key, row)| index.add(&key, row));
}

/// Finds the bytes that revisits refer to, in captures of the index.
fn resolve(survey: &mut Survey, index: &Index) -> Result<(), Error> {
    let references = &survey.references;
    for (_, row) in survey.batches.iter_mut().flat_map(|batch| &mut batch.captures) {
        resolve_row(row, references, index)?;
    }
    Ok(())
}

/// Puts captures into the index, in their order, and finds the bytes that their revisits refer to.
fn add_resolved(survey: &mut Survey, index: &mut Index) -> Result<(), Error> {
    let references = &survey.references;
    for (key, row) in survey.batches.iter_mut().flat_map(|batch| &mut batch.captures) {
        resolve_row(row, references, index)?;
        index.add(key, row.clone());
    }
    Ok(())
}

fn resolve_row(row: &mut Row, references: &References, index: &Index) -> Result<(), Error> {
    if row.kind == crate::Stored::Revisit && row.body.is_none() {
        row.body = index.find_original(row, references.get(&row.place.offset))?;
    }
    Ok(())
}

/// Finishes a file and puts its captures into the index; a file without any is removed.
fn recover_file(
    disk: &dyn Disk,
    path: &Path,
    file: &Arc<str>,
    index: &mut Index,
) -> Result<Option<Recovered>, Error> {
    let (batches, found) = read_sums(disk, path, file, index)?;
    let length = length_of(disk, path)?;
    // Checksums that cover more than the file, or end before it does, are useless.
    let found = found.filter(|found| found.covered == length || found.covered < length && !found.is_finished);
    let (covered, batches) = found.map_or((0, Vec::new()), |found| (found.covered, batches));
    let Some(scan) = Scan::open(disk, path, covered)? else { return Ok(None) };
    let mut survey = survey(disk, scan, path, index.files_mut())?;
    let known = batches.iter().map(|batch| batch.captures.len() as u64).sum::<u64>();
    let mut recovered = Recovered {
        file: Arc::clone(file),
        captures: known + survey.captures,
        kept_bytes: survey.kept_bytes.max(covered),
        lost_bytes: length - survey.kept_bytes.max(covered),
        damaged_offsets: std::mem::take(&mut survey.damaged_offsets),
    };
    if recovered.captures == 0 && recovered.damaged_offsets.is_empty() {
        (recovered.kept_bytes, recovered.lost_bytes) = (0, length);
        disk.remove(path).map_err(|source| Error::io("remove", path, source))?;
    } else {
        add(batches, index);
        add_resolved(&mut survey, index)?;
        mend(disk, path, survey.last_batch.max(covered), recovered.kept_bytes)?;
        write_sums(disk, path, file, found, &survey.batches, index.files())?;
        finish(disk, path, file)?;
    }
    sync_directory_of(disk, path)?;
    let Recovered { captures, kept_bytes, lost_bytes, .. } = &recovered;
    tracing::warn!(%file, captures, kept_bytes, lost_bytes, "finished the file of a crashed writer");
    Ok(Some(recovered))
}

/// Writes the checksums of an unfinished file after those that were `found`, and makes them durable.
fn write_sums(
    disk: &dyn Disk,
    path: &Path,
    file: &str,
    found: Option<Found>,
    batches: &[Batch],
    files: &Files,
) -> Result<(), Error> {
    let sums = path.with_file_name(format!("{file}{}", sums::SUFFIX));
    // The checksums may already mark the file as finished, if its writer crashed just before the rename.
    if let Some(found) = found.filter(|found| found.is_finished) {
        return SumsWriter::resume(disk, &sums, file, &found)?.sync();
    }
    let mut writer = match found {
        Some(found) => SumsWriter::resume(disk, &sums, file, &found)?,
        None => SumsWriter::create(disk, &sums, file)?,
    };
    for batch in batches {
        writer.append(disk, batch, files)?;
    }
    writer.finish(disk)?;
    sync_directory_of(disk, &sums)
}

/// Cuts the file and makes the rest durable.
///
/// After a failed sync, records may look written without being on the disk, and the next sync would skip them. So the
/// last batch is rewritten first.
fn mend(disk: &dyn Disk, path: &Path, last_batch: u64, kept_bytes: u64) -> Result<(), Error> {
    let failed = |action| move |source| Error::writing(disk, action, path, source);
    let file = disk.open(path, Open::Write).map_err(failed("open"))?;
    copy(&*file, &*file, last_batch, kept_bytes).map_err(failed("write to"))?;
    file.truncate(kept_bytes).map_err(failed("cut"))?;
    file.sync().map_err(failed("sync"))
}

fn finish(disk: &dyn Disk, path: &Path, name: &str) -> Result<(), Error> {
    let closed = path.with_file_name(name);
    if disk.open(&closed, Open::Read).is_ok() {
        // This program never makes such a pair, and neither file may be overwritten.
        return Err(Error::io("rename", path, io::ErrorKind::AlreadyExists.into()));
    }
    disk.rename(path, &closed).map_err(|source| Error::writing(disk, "rename", path, source))
}
