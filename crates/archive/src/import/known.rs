//! Whether the archive has a capture already.
//!
//! The index shows which captures can be the same: those of the same page at the same moment with the same status and
//! payload. Their records decide: captures of one moment may differ in the head of the answer, or in what was sent.

use super::Group;
use crate::capture::describe::split_answer;
use crate::capture::entry::{Entry, Location, Stored};
use crate::error::Error;
use crate::files::fetch_record;
use crate::index::row::Row;
use crate::writing::append::Archive;
use std::io;
use warc::{Kind, Record};

impl Archive {
    /// The capture, if the archive has it.
    pub(super) fn known(&self, group: &Group, entry: &Entry) -> Result<Option<Entry>, Error> {
        let mut candidates = Vec::new();
        self.index.newest_first(&entry.key, |row| {
            if row.at == entry.at && may_be_same(row, entry) {
                candidates.push(row.entry(entry.key.as_str(), self.index.files()));
            }
            row.at < entry.at
        })?;
        for candidate in candidates {
            if self.is_stored_as(group, &candidate)? {
                return Ok(Some(candidate));
            }
        }
        Ok(None)
    }

    /// Whether the records of a capture are those of the group, as far as they identify a capture. Damaged ones are
    /// not.
    fn is_stored_as(&self, group: &Group, known: &Entry) -> Result<bool, Error> {
        if !matches!(known.kind, Stored::Response | Stored::Revisit) {
            return Ok(true);
        }
        let records = match self.stored_records(known) {
            Err(Error::Damaged { .. }) => return Ok(false),
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(false),
            records => records?,
        };
        let Some((main, companions)) = records.split_first() else { return Ok(false) };
        let has_same_head = split_answer(&main.block).0 == split_answer(&group.main.block).0;
        Ok(has_same_head && has_same_requests(companions, &group.companions))
    }

    /// The records of a capture, also of one that is not written yet.
    fn stored_records(&self, known: &Entry) -> Result<Vec<Record>, Error> {
        let whole = Location { length: known.group_bytes, ..known.location.clone() };
        let pending = self.pending_bytes(&whole);
        let bytes = match pending {
            Some(bytes) => bytes,
            None => fetch_record::member(&*self.disk, &self.directory, &whole, None)?,
        };
        let unreadable = |_| Error::Damaged {
            path: self.directory.join(&*known.location.file),
            offset: known.location.offset,
            what: "it cannot be read",
        };
        warc::WarcReader::new(&*bytes, usize::MAX).collect::<Result<_, _>>().map_err(unreadable)
    }
}

/// Whether a row can be the capture that an entry describes; a response may have become a revisit.
fn may_be_same(row: &Row, entry: &Entry) -> bool {
    let is_answer = |kind| matches!(kind, Stored::Response | Stored::Revisit);
    let same_kind = row.kind == entry.kind || (is_answer(row.kind) && is_answer(entry.kind));
    let same_payload = match entry.kind {
        Stored::Revisit => row.kind == Stored::Revisit || row.payload == entry.payload,
        Stored::Response | Stored::Resource => row.payload == entry.payload,
        Stored::Metadata | Stored::Other => row.content == entry.content,
    };
    same_kind && same_payload && row.status == entry.status.unwrap_or(0)
}

/// Whether the requests are the same, as far as both sides have them.
fn has_same_requests(stored: &[Record], given: &[Record]) -> bool {
    let requests = |records: &[Record]| -> Vec<Vec<u8>> {
        let requests = records.iter().filter(|record| record.kind() == Kind::Request);
        let mut blocks: Vec<Vec<u8>> = requests.map(|record| record.block.clone()).collect();
        blocks.sort_unstable();
        blocks
    };
    let (stored, given) = (requests(stored), requests(given));
    stored.is_empty() || given.is_empty() || stored == given
}
