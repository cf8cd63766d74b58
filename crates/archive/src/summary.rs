//! What the archive holds, in a few numbers.

use crate::error::Error;
use crate::list::{files, list};
use crate::records::Stored;
use crate::scan::Scan;
use base::Timestamp;
use base::disk::Disk;
use std::path::Path;

/// The whole archive in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many files there are.
    pub files: u64,
    /// How long they are together.
    pub bytes: u64,
    /// Captures stored with their whole answer.
    pub responses: u64,
    /// Captures whose body is stored elsewhere already.
    pub revisits: u64,
    /// Visits without an answer.
    pub unanswered: u64,
    /// Records that are damaged.
    pub damaged: u64,
    /// The date of the earliest capture.
    pub first: Option<Timestamp>,
    /// The date of the latest capture.
    pub last: Option<Timestamp>,
}

impl Summary {
    /// All captures together.
    #[must_use]
    pub fn captures(&self) -> u64 {
        self.responses + self.revisits + self.unanswered
    }
}

/// Reads the whole archive in `directory` and counts what it holds.
pub fn summary(disk: &dyn Disk, directory: &Path) -> Result<Summary, Error> {
    let mut summary = measure(disk, directory)?;
    for entry in list(disk, directory)? {
        let entry = match entry {
            Ok(entry) => entry,
            Err(Error::Damaged { .. }) => {
                summary.damaged += 1;
                continue;
            }
            Err(error) => return Err(error),
        };
        match entry.kind {
            Stored::Response => summary.responses += 1,
            Stored::Revisit => summary.revisits += 1,
            Stored::Metadata => summary.unanswered += 1,
        }
        summary.first = Some(summary.first.map_or(entry.at, |first| first.min(entry.at)));
        summary.last = summary.last.max(Some(entry.at));
    }
    Ok(summary)
}

fn measure(disk: &dyn Disk, directory: &Path) -> Result<Summary, Error> {
    let mut summary = Summary::default();
    for path in files(disk, directory)? {
        if let Some(scan) = Scan::open(disk, &path)? {
            summary.files += 1;
            summary.bytes += scan.file_bytes();
        }
    }
    Ok(summary)
}
