//! The web as it was: the versions that a choice asks for, found by one walk through the index (A3, A4).
//!
//! The walk goes backwards, passes the visits of each page to [`Versions`], and skips to the next page as soon as no
//! older visit can matter (paper 000, section 2). It reads only the index.
//!
//! **Invariant:** memory does not grow with the snapshot. A row is copied only when its version is chosen.

use crate::capture::entry::{Key, Stored};
use crate::error::Error;
use crate::index::Files;
use crate::index::row::Row;
use crate::index::{KeyBounds, Origin, Spot, Walk};
use crate::reading::reader::Reader;
use crate::snapshot::choice::Choice;
use crate::snapshot::versions::{Version, Versions, Visit, Wants, What};
use std::collections::HashSet;
use std::sync::Arc;

/// The versions of a snapshot, by key from the last to the first, newest first.
#[derive(Debug)]
pub struct Snapshot {
    origins: Vec<Origin>,
    files: Arc<Files>,
    choice: Choice,
    hidden: Arc<HashSet<(Arc<str>, u64)>>,
    /// Ranges still to walk, the last first.
    ranges: Vec<KeyBounds>,
    walk: Option<Walk>,
    versions: Versions<Spot>,
    /// The page that the walk is in, and whether it is still in it.
    key: String,
    /// The same for its entries, once there is one.
    page: Option<Key>,
    is_in_page: bool,
    is_over: bool,
    seen: u64,
}

impl Reader {
    /// The versions that `choice` asks for.
    pub fn snapshot(&self, choice: &Choice) -> Result<Snapshot, Error> {
        let ranges = choice.scope().key_ranges().into_iter();
        let mut ranges: Vec<KeyBounds> = ranges
            .map(|range| KeyBounds { from: range.from.into_bytes(), to: range.to.map(String::into_bytes) })
            .collect();
        ranges.sort_by(|one, other| one.from.cmp(&other.from));
        Ok(self.snapshot_in(choice, ranges))
    }
    /// The versions of one page that `choice` asks for.
    pub fn versions_of(&self, key: &Key, choice: &Choice) -> Snapshot {
        let bytes = key.as_str().as_bytes();
        let mut snapshot = self.snapshot_in(choice, vec![KeyBounds::one(bytes)]);
        snapshot.origins.retain(|origin| match origin {
            Origin::Run(run) => run.may_hold(bytes),
            Origin::Memory(_) => true,
        });
        snapshot
    }

    fn snapshot_in(&self, choice: &Choice, ranges: Vec<KeyBounds>) -> Snapshot {
        Snapshot {
            origins: self.origins.clone(),
            files: Arc::clone(&self.files),
            versions: Versions::new(choice),
            choice: choice.clone(),
            hidden: Arc::clone(self.hidden()),
            ranges,
            walk: None,
            key: String::new(),
            page: None,
            is_in_page: false,
            is_over: false,
            seen: 0,
        }
    }
}

impl Snapshot {
    /// Number of index rows read so far.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Reads a few more rows of a page, or ends one, or begins or ends a range; false when everything is done.
    #[inline]
    fn advance(&mut self) -> Result<bool, Error> {
        let Some(walk) = &mut self.walk else {
            let Some(range) = self.ranges.pop() else { return Ok(false) };
            self.walk = Some(Walk::new(&self.origins, &self.files, &range)?);
            return Ok(true);
        };
        let Some(stretch) = walk.stretch() else {
            if self.is_in_page {
                self.end_page();
            } else {
                self.walk = None;
            }
            return Ok(true);
        };
        if self.is_in_page && stretch.key != self.key.as_bytes() {
            self.end_page();
            return Ok(true);
        }
        if !self.is_in_page {
            let key = std::str::from_utf8(stretch.key).ok();
            let Some(key) = key.filter(|key| self.choice.scope().holds(key)) else {
                walk.skip_key()?;
                return Ok(true);
            };
            self.key.clear();
            self.key.push_str(key);
            self.page = None;
            self.is_in_page = true;
        }
        let (mut passed, mut wants) = (0_u64, Wants::Older);
        for (row, spot) in stretch.rows() {
            passed += 1;
            let is_hidden = Reader::is_hidden(&self.hidden, row, &self.files);
            if let Some(visit) = visit(row).filter(|_| !is_hidden) {
                wants = self.versions.visit(visit, || spot);
            }
            if wants == Wants::SkipRest {
                break;
            }
        }
        self.seen += passed;
        let (is_all, length) = (stretch.is_all, stretch.len());
        match wants {
            Wants::SkipRest if !is_all => walk.skip_key()?,
            _ => walk.pass(length)?,
        }
        if is_all || wants == Wants::SkipRest {
            self.end_page();
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
        let failed = loop {
            while let Some(version) = self.versions.take() {
                let walk = self.walk.as_mut().expect("a version is returned before its walk ends");
                let row = match walk.row_at(version.payload) {
                    Ok(row) => row,
                    Err(error) => {
                        self.is_over = true;
                        return Some(Err(error.into()));
                    }
                };
                let status = (row.status != 0).then_some(row.status);
                if !self.choice.accepts(row.flag, status, &row.media_type) {
                    continue;
                }
                let key = self.page.get_or_insert_with(|| Key::from_stored(&self.key)).clone();
                return Some(Ok(Version {
                    validity: version.validity,
                    payload: row.entry_of(key, &self.files),
                    is_error: version.is_error,
                    ended_by_gone: version.ended_by_gone,
                    is_first: version.is_first,
                }));
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => break None,
                Err(error) => break Some(Err(error)),
            }
        };
        self.is_over = true;
        failed
    }
}

/// What a row says about its page; `None` if it is not a visit.
#[inline]
fn visit(row: &Row) -> Option<Visit> {
    let what = What::of(row.kind, row.status, row.flag, row.moves_within)?;
    // The content of a page that is unchanged since before its first visit is unknown.
    let is_unknown = row.kind == Stored::Response && row.status == 304;
    Some(Visit { at: row.at, what, content: row.content.filter(|_| !is_unknown) })
}
