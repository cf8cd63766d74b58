//! Reads one record from its place.
//!
//! **Invariant:** only records that match their stored checksum, if known, and their block digest, if any, are returned
//! (M5).

use crate::capture::entry::Location;
use crate::error::Error;
use base::disk::{Disk, DiskFile, Open};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warc::{Record, WarcReader};

/// Opens an archive file, finished or not.
pub(crate) fn open(
    disk: &dyn Disk,
    directory: &Path,
    file: &str,
) -> Result<(Arc<dyn DiskFile>, PathBuf), Error> {
    let closed = directory.join(file);
    let open = directory.join(format!("{file}{}", crate::files::name::OPEN));
    // A file is renamed only once, so the second attempt finds it.
    for path in [&closed, &open, &closed] {
        match disk.open(path, Open::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            file => {
                let file = file.map_err(|source| Error::io("open", path, source))?;
                return Ok((file, path.clone()));
            }
        }
    }
    Err(Error::io("open", &closed, io::ErrorKind::NotFound.into()))
}

/// The longest record that is read whole.
pub(crate) const RECORD_BYTES_MAX: u64 = 1 << 31;

/// The compressed bytes of the record at `location`, which must have the checksum `sum` if that is known.
pub(crate) fn member(
    disk: &dyn Disk,
    directory: &Path,
    location: &Location,
    sum: Option<u32>,
) -> Result<Vec<u8>, Error> {
    let (file, path) = open(disk, directory, &location.file)?;
    read_member(&*file, &path, location, sum)
}

/// The same from a file that is open already.
pub(crate) fn read_member(
    file: &dyn DiskFile,
    path: &Path,
    location: &Location,
    sum: Option<u32>,
) -> Result<Vec<u8>, Error> {
    let damaged = |what| Error::Damaged { path: path.to_owned(), offset: location.offset, what };
    if location.length > RECORD_BYTES_MAX {
        return Err(damaged("it is too long to be read"));
    }
    let mut bytes = vec![0; usize::try_from(location.length).unwrap_or(0)];
    match file.read_at(location.offset, &mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(damaged("the file ends before it does"));
        }
        read => read.map_err(|source| Error::io("read", path, source))?,
    }
    if sum.is_some_and(|sum| sum != crc32c::crc32c(&bytes)) {
        return Err(damaged("its bytes do not match the checksum they were stored with"));
    }
    Ok(bytes)
}

/// The record at `location`.
pub(crate) fn record(
    disk: &dyn Disk,
    directory: &Path,
    location: &Location,
    sum: Option<u32>,
) -> Result<Record, Error> {
    let bytes = member(disk, directory, location, sum)?;
    read_record(&bytes, directory, location)
}

/// The record that the bytes of `location` hold.
pub(crate) fn read_record(bytes: &[u8], directory: &Path, location: &Location) -> Result<Record, Error> {
    let path = || directory.join(&*location.file);
    let damaged = |what| Error::Damaged { path: path(), offset: location.offset, what };
    let block_bytes_max = usize::try_from(RECORD_BYTES_MAX).unwrap_or(usize::MAX);
    let mut reader = WarcReader::new(bytes, block_bytes_max);
    let record = match reader.next() {
        Some(Ok(record)) => record,
        Some(Err(warc::Error::Damaged { what, .. })) => return Err(damaged(what)),
        _ => return Err(damaged("no record is there")),
    };
    if record.digest_holds() == Some(false) {
        return Err(damaged("its block does not match its digest"));
    }
    Ok(Record { offset: location.offset, length: location.length, ..record })
}
