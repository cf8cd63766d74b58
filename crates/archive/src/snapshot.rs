//! The web as it was: the versions that a choice asks for, found by one walk through the index (A3, A4).
//!
//! The walk goes backwards, hands the visits of each page to [`Versions`], and skips to the next page as soon as no
//! older visit can matter (paper 000, section 2). Nothing is read but the index.
//!
//! **Invariant:** memory does not grow with the snapshot.

use crate::choice::Choice;
use crate::entry::Key;
use crate::error::Error;
use crate::index::row::{Files, Row};
use crate::index::walk::{KeyRange, Origin, Walk};
use crate::reader::Reader;
use crate::versions::{self, Version, Versions, Visit, Wants, What};
use std::collections::HashSet;
use std::sync::Arc;

/// The versions of a snapshot, by key from the last to the first, newest first.
#[derive(Debug)]
pub struct Snapshot {
    origins: Vec<Origin>,
    files: Arc<Files>,
    choice: Choice,
    hidden: Arc<HashSet<(Arc<str>, u64)>>,
    /// What is still to be walked, the last first.
    ranges: Vec<KeyRange>,
    walk: Option<Walk>,
    versions: Versions<Row>,
    /// The page that the walk is in, and whether it is still in it.
    key: Vec<u8>,
    is_in_page: bool,
    is_over: bool,
    seen: u64,
}

impl Reader {
    /// The versions that `choice` asks for.
    pub fn snapshot(&self, choice: &Choice) -> Result<Snapshot, Error> {
        let ranges = choice.scope().key_ranges().into_iter();
        let mut ranges: Vec<KeyRange> = ranges
            .map(|range| KeyRange { from: range.from.into_bytes(), to: range.to.map(String::into_bytes) })
            .collect();
        ranges.sort_by(|one, other| one.from.cmp(&other.from));
        Ok(self.snapshot_in(choice, ranges))
    }
    /// The versions of one page that `choice` asks for.
    pub fn versions_of(&self, key: &Key, choice: &Choice) -> Snapshot {
        self.snapshot_in(choice, vec![KeyRange::one(key.as_str())])
    }

    fn snapshot_in(&self, choice: &Choice, ranges: Vec<KeyRange>) -> Snapshot {
        Snapshot {
            origins: self.origins.clone(),
            files: Arc::clone(&self.files),
            versions: Versions::new(choice),
            choice: choice.clone(),
            hidden: Arc::clone(self.hidden()),
            ranges,
            walk: None,
            key: Vec::new(),
            is_in_page: false,
            is_over: false,
            seen: 0,
        }
    }
}

impl Snapshot {
    /// How many rows of the index were looked at so far.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The next chosen version, as a row under the present key.
    fn next_row(&mut self) -> Result<Option<versions::Version<Row>>, Error> {
        loop {
            while let Some(version) = self.versions.take() {
                let row = &version.payload;
                let status = (row.status != 0).then_some(row.status);
                if self.choice.accepts(row.flag, status, &row.media_type) {
                    return Ok(Some(version));
                }
            }
            if !self.advance()? {
                return Ok(None);
            }
        }
    }

    /// Looks at one more row, or ends a page, or begins a range; false when all is done.
    #[inline]
    fn advance(&mut self) -> Result<bool, Error> {
        let Some(walk) = &mut self.walk else {
            let Some(range) = self.ranges.pop() else { return Ok(false) };
            self.walk = Some(Walk::new(&self.origins, &self.files, &range)?);
            return Ok(true);
        };
        let Some((key, row)) = walk.current() else {
            self.walk = None;
            self.end_page();
            return Ok(true);
        };
        if !self.is_in_page {
            self.key.clear();
            self.key.extend_from_slice(key);
            self.is_in_page = true;
            if !std::str::from_utf8(key).is_ok_and(|key| self.choice.scope().holds(key)) {
                self.is_in_page = false;
                walk.skip_key()?;
                return Ok(true);
            }
        } else if key != self.key {
            self.end_page();
            return Ok(true);
        }
        self.seen += 1;
        let seen = if Reader::is_hidden(&self.hidden, row, &self.files) { None } else { visit(row) };
        let wants = seen.map(|visit| self.versions.visit(visit, || row.clone()));
        if wants == Some(Wants::SkipRest) {
            walk.skip_key()?;
            self.end_page();
        } else {
            walk.step()?;
        }
        Ok(true)
    }

    fn end_page(&mut self) {
        if std::mem::take(&mut self.is_in_page) {
            self.versions.end();
        }
    }
}

impl Iterator for Snapshot {
    type Item = Result<Version, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        match self.next_row() {
            Ok(Some(version)) => {
                let key = std::str::from_utf8(&self.key).unwrap_or_default();
                let payload = version.payload.entry(key, &self.files);
                Some(Ok(Version {
                    validity: version.validity,
                    payload,
                    is_error: version.is_error,
                    ended_by_gone: version.ended_by_gone,
                    is_first: version.is_first,
                }))
            }
            Ok(None) => {
                self.is_over = true;
                None
            }
            Err(error) => {
                self.is_over = true;
                Some(Err(error))
            }
        }
    }
}

/// What a row says of its page; nothing if it is no visit.
#[inline]
fn visit(row: &Row) -> Option<Visit> {
    let what = What::of(row.kind, row.status, row.flag, row.moves_within)?;
    Some(Visit { at: row.at, what, content: row.content })
}
