//! Finishes the files of a writer that died (M1, M2).
//!
//! Each `.open` file is cut behind its last whole capture, synced, and given its final name; a file without any
//! capture is removed. Every step leaves a state from which recovery can begin anew, so it may itself be cut.
//!
//! **Invariant:** only what lies behind the last durable batch is cut, see [`crate::scan`].

use crate::error::Error;
use crate::file::sync_directory_of;
use crate::name;
use crate::scan::{Scan, is_marked};
use base::disk::{Disk, DiskFile, Open};
use std::io;
use std::path::Path;
use std::sync::Arc;
use warc::Kind;

/// What was found when the archive was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The files that a writer left unfinished when it died.
    pub files: Vec<Recovered>,
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

/// Finishes every unfinished file in `directory`.
pub(crate) fn recover(disk: &dyn Disk, directory: &Path) -> Result<Recovery, Error> {
    let paths = disk.list(directory).map_err(|source| Error::io("list", directory, source))?;
    let mut recovery = Recovery::default();
    for path in paths.iter().filter(|path| name::is_open(path)) {
        recovery.files.extend(recover_file(disk, path)?);
    }
    Ok(recovery)
}

fn recover_file(disk: &dyn Disk, path: &Path) -> Result<Option<Recovered>, Error> {
    let Some(scan) = Scan::open(disk, path)? else { return Ok(None) };
    let (found, last_batch) = survey(scan)?;
    if found.captures == 0 && found.damaged_offsets.is_empty() {
        disk.remove(path).map_err(|source| Error::io("remove", path, source))?;
    } else {
        mend(disk, path, last_batch, found.kept_bytes)?;
        finish(disk, path, &found.file)?;
    }
    sync_directory_of(disk, path)?;
    let Recovered { file, captures, kept_bytes, lost_bytes, .. } = &found;
    tracing::warn!(%file, captures, kept_bytes, lost_bytes, "finished the file of a writer that died");
    Ok(Some(found))
}

/// How far the captures of a file are whole, and where its last batch begins.
fn survey(scan: Scan) -> Result<(Recovered, u64), Error> {
    let (file, file_bytes) = (scan.name(), scan.file_bytes());
    let (mut captures, mut kept_bytes, mut last_batch, mut damaged_offsets) = (0, 0, 0, Vec::new());
    for record in scan {
        let record = match record {
            Ok(record) => record,
            Err(Error::Damaged { offset, .. }) => {
                damaged_offsets.push(offset);
                continue;
            }
            Err(error) => return Err(error),
        };
        if is_marked(&record) {
            last_batch = record.offset;
            kept_bytes = kept_bytes.max(record.offset);
        }
        if ends_capture(&record.kind()) {
            captures += u64::from(record.kind() != Kind::Warcinfo);
            kept_bytes = record.offset + record.length;
        }
    }
    let lost_bytes = file_bytes - kept_bytes;
    Ok((Recovered { file, captures, kept_bytes, lost_bytes, damaged_offsets }, last_batch))
}

/// An answer is followed by its request; every other record stands alone.
fn ends_capture(kind: &Kind) -> bool {
    !matches!(kind, Kind::Response | Kind::Revisit)
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
