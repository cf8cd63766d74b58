//! Rewrites archive files, with a record of the same length in place of each removed group.
//!
//! **Invariant:** the old file is replaced only when the new one is durable; every other record stays where it was.

use crate::derived;
use crate::error::Error;
use crate::files::copy::copy;
use crate::files::directory::{sync_directory_of, with_rewrite};
use crate::files::sums::{self, Batch, Sum, SumsWriter};
use crate::index::Files;
use crate::index::Index;
use crate::index::row::Row;
use crate::tombstone::Gone;
use crate::writing::recover;
use base::Timestamp;
use base::disk::{Disk, Open};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use warc::{Compression, Level, ZstdLevel};

/// Rewrites a file with a record of the same length in place of each group, and its checksums. Returns how many rows of the
/// derived table were removed with them.
pub(super) fn rewrite_file(
    disk: &dyn Disk,
    directory: &Path,
    file: &str,
    (gone, at): (&[&Gone], Timestamp),
    index: &mut Index,
) -> Result<u64, Error> {
    let path = directory.join(file);
    let replaced = write_without(disk, &path, file, gone, at)?;
    let rows = derived::remove(disk, directory, file, &gone.iter().map(|gone| gone.offset).collect())?;
    let sums_path = sums::path_of(directory, file);
    let mut files = Files::default();
    let mut batches = Vec::new();
    let found = sums::read(disk, &sums_path, file, &mut files, |batch, _| batches.push(batch))?;
    let rename = |from: &Path, to: &Path| {
        disk.rename(from, to).map_err(|source| Error::writing(disk, "rename", from, source))
    };
    if !found.is_some_and(|found| found.is_finished) {
        // The file has no checksums.
        rename(&with_rewrite(&path), &path)?;
        sync_directory_of(disk, &path)?;
        recover::make_sums(disk, &path, file, index)?;
        return Ok(rows);
    }
    let new_sums = with_rewrite(&sums_path);
    let mut writer = SumsWriter::create(disk, &new_sums, file)?;
    for batch in batches {
        writer.append(disk, &without(batch, &replaced, file, &files), &files)?;
    }
    writer.finish(disk)?;
    rename(&with_rewrite(&path), &path)?;
    rename(&new_sums, &sums_path)?;
    sync_directory_of(disk, &path)?;
    Ok(rows)
}

/// A part of a file that was replaced: where it begins, how long it is, and the checksum it has now.
type Replaced = BTreeMap<u64, (u64, u32)>;

fn write_without(
    disk: &dyn Disk,
    path: &Path,
    file: &str,
    gone: &[&Gone],
    at: Timestamp,
) -> Result<Replaced, Error> {
    let new_path = with_rewrite(path);
    match disk.remove(&new_path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(Error::io("remove", &new_path, error));
        }
        _ => {}
    }
    let old = disk.open(path, Open::Read).map_err(|source| Error::io("open", path, source))?;
    let length = old.length().map_err(|source| Error::io("read", path, source))?;
    let failed = |source| Error::writing(disk, "write to", &new_path, source);
    let new = disk.open(&new_path, Open::CreateNew).map_err(failed)?;
    let compression = compression_of(file);
    let (mut replaced, mut position) = (Replaced::new(), 0);
    for gone in gone {
        copy(&*old, &*new, position, gone.offset).map_err(failed)?;
        let too_short = || Error::Damaged {
            path: path.to_owned(),
            offset: gone.offset,
            what: "it is too short to be replaced by a removal record",
        };
        let bytes = usize::try_from(gone.length)
            .ok()
            .and_then(|bytes| warc::removed(file, gone.offset, at, bytes, compression))
            .ok_or_else(too_short)?;
        new.write_at(gone.offset, &bytes).map_err(failed)?;
        replaced.insert(gone.offset, (gone.length, crc32c::crc32c(&bytes)));
        position = gone.offset + gone.length;
    }
    copy(&*old, &*new, position, length).map_err(failed)?;
    new.sync().map_err(|source| Error::io("sync", &new_path, source))?;
    Ok(replaced)
}

fn compression_of(file: &str) -> Compression {
    if file.ends_with(".zst") {
        Compression::Zstd(ZstdLevel::DEFAULT)
    } else {
        Compression::Gzip(Level::DEFAULT)
    }
}

/// The batch after groups of it were replaced.
fn without(batch: Batch, replaced: &Replaced, file: &str, files: &Files) -> Batch {
    let within = |offset: u64| {
        let before = replaced.range(..=offset).next_back();
        before.filter(|(start, (length, _))| offset < *start + length).map(|(start, whole)| (*start, *whole))
    };
    let (mut records, mut offset) = (Vec::new(), batch.from);
    for record in &batch.records {
        match within(offset) {
            None => records.push(*record),
            Some((start, (length, sum))) if start == offset => records.push(Sum { length, sum }),
            Some(_) => {}
        }
        offset += record.length;
    }
    let is_here = |row: &Row| &**files.name(row.place.file) == file;
    let captures = batch.captures.into_iter();
    let captures = captures.filter(|(_, row)| !is_here(row) || within(row.place.offset).is_none()).collect();
    Batch { from: batch.from, records, captures }
}
