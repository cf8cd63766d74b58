//! Lists what the archive files hold, record by record, without the index.
//!
//! Readers need no lock. They read the unfinished file as far as it is whole, and a file may be finished
//! meanwhile.
//!
//! **Invariant:** an entry comes only from a whole record. Damage is returned as an error, and the listing continues
//! after it.

use crate::capture::describe::{self, Role};
use crate::capture::entry::Entry;
use crate::error::Error;
use crate::files::directory::files;
use crate::files::scan::Scan;
use base::disk::Disk;
use std::path::{Path, PathBuf};

/// The captures in `directory` in the order in which they were stored. A directory that does not exist holds none.
///
/// Checksums and the locations of revisited bodies, which only the index knows, are left out.
pub fn list<'d>(
    disk: &'d dyn Disk,
    directory: &Path,
) -> Result<impl Iterator<Item = Result<Entry, Error>> + use<'d>, Error> {
    Ok(list_files(disk, files(disk, directory)?))
}

/// The captures in these of the archive's [`files`], in the order in which they were stored.
pub fn list_files(disk: &dyn Disk, files: Vec<PathBuf>) -> impl Iterator<Item = Result<Entry, Error>> {
    Entries { disk, files: files.into_iter(), scan: None, group: None, after: None }
}

struct Entries<'d> {
    disk: &'d dyn Disk,
    files: std::vec::IntoIter<PathBuf>,
    scan: Option<Scan>,
    /// The capture whose records are being read.
    group: Option<Entry>,
    /// The error to return after the capture.
    after: Option<Error>,
}

impl Entries<'_> {
    fn advance(&mut self) -> Result<Option<Entry>, Error> {
        if let Some(error) = self.after.take() {
            return Err(error);
        }
        loop {
            let Some(scan) = &mut self.scan else {
                let Some(path) = self.files.next() else { return Ok(None) };
                self.scan = Scan::open(self.disk, &path, 0)?;
                continue;
            };
            let record = match scan.next() {
                None => {
                    self.scan = None;
                    if let Some(entry) = self.group.take() {
                        return Ok(Some(entry));
                    }
                    continue;
                }
                Some(Ok(record)) => record,
                Some(Err(error)) => match self.group.take() {
                    None => return Err(error),
                    Some(entry) => {
                        self.after = Some(error);
                        return Ok(Some(entry));
                    }
                },
            };
            let name = scan.name();
            let next = match describe::role(&record, &name) {
                Role::Companion => {
                    self.group.iter_mut().for_each(|entry| entry.group_bytes += record.length);
                    continue;
                }
                Role::First(_) => describe::entry(&record, &name),
                Role::Warcinfo | Role::Removed => None,
            };
            if let Some(entry) = std::mem::replace(&mut self.group, next) {
                return Ok(Some(entry));
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
