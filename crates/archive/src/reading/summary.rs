//! What the archive holds, in a few numbers.

use crate::capture::entry::{Flag, Stored};
use crate::error::Error;
use crate::files::directory::{files, length_of};
use crate::reading::reader::Reader;
use base::Timestamp;
use std::io;

/// The whole archive in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of files.
    pub files: u64,
    /// Their total length.
    pub bytes: u64,
    /// Captures stored with their whole answer.
    pub responses: u64,
    /// Captures whose body is stored elsewhere already, as references to it.
    pub revisits: u64,
    /// Revisits whose page had the same content at the previous visit. The rest are duplicates: content of another URL
    /// or of an earlier version.
    pub unchanged: u64,
    /// Visits without an answer: refused or not reached.
    pub unanswered: u64,
    /// Captures that were imported without an exchange.
    pub resources: u64,
    /// Records in the index that are not captures: the archive's notes, and other imported records.
    pub others: u64,
    /// Pages, answered or not.
    pub pages: u64,
    /// Bytes of the index runs.
    pub index_bytes: u64,
    /// The date of the earliest capture.
    pub first: Option<Timestamp>,
    /// The date of the latest capture.
    pub last: Option<Timestamp>,
}

impl Summary {
    /// All captures, as [`crate::Entry::is_visit`] defines them.
    #[must_use]
    pub fn captures(&self) -> u64 {
        self.responses + self.revisits + self.unanswered + self.resources
    }
}

impl Reader {
    /// Counts what the archive holds.
    pub fn summary(&self) -> Result<Summary, Error> {
        let mut summary = Summary { index_bytes: self.index_bytes(), ..Summary::default() };
        for path in files(&*self.disk, &self.directory)? {
            match length_of(&*self.disk, &path) {
                // It was finished meanwhile, and has another name.
                Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
                length => summary.bytes += length?,
            }
            summary.files += 1;
        }
        let mut last_key = None;
        for entry in self.all()? {
            let entry = entry?;
            match entry.kind {
                Stored::Response => summary.responses += 1,
                Stored::Revisit => {
                    summary.revisits += 1;
                    summary.unchanged += u64::from(entry.flag == Flag::Unchanged);
                }
                Stored::Metadata => summary.unanswered += 1,
                Stored::Resource => summary.resources += 1,
                Stored::Other => summary.others += 1,
            }
            if entry.is_visit() {
                summary.first = Some(summary.first.map_or(entry.at, |first| first.min(entry.at)));
                summary.last = summary.last.max(Some(entry.at));
                summary.pages += u64::from(last_key.as_ref() != Some(&entry.key));
                last_key = Some(entry.key);
            }
        }
        Ok(summary)
    }
}
