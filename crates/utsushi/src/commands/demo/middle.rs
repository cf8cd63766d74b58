//! The web as it was in the middle of the run, and how long the versions of one page were valid: both from the index.

use super::findings::Findings;
use crate::commands::history::History;
use archive::{Choice, Reader, Unit, Version};
use base::disk::RealDisk;
use base::{Interval, Timestamp};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

/// The number of versions shown of the snapshot.
const SHOWN: usize = 3;

/// A snapshot as of the middle of the run.
#[derive(Debug)]
pub(super) struct Middle {
    /// The time.
    pub(super) at: Timestamp,
    /// The number of valid versions, one per page.
    pub(super) versions: u64,
    /// The first of them, by key.
    pub(super) first: VecDeque<Version>,
}

/// Takes the snapshot, and adds the validity of versions to the page that is shown.
pub(super) fn look(
    archive: &Path,
    began: Timestamp,
    ended: Timestamp,
    findings: &mut Findings,
) -> Result<Middle, archive::Error> {
    let reader = Reader::open(Arc::new(RealDisk), archive)?;
    if let Some(page) = &mut findings.page {
        page.validity = History::read(&reader, &page.url.key().into(), Unit::Content)?.validity;
    }
    let at = began.plus(Interval::from_micros(ended.since(began).as_micros() / 2));
    let choice = Choice::as_of(at).expect("a run ends before time does");
    let mut middle = Middle { at, versions: 0, first: VecDeque::new() };
    for version in reader.snapshot(&choice)? {
        middle.versions += 1;
        // The index is read backwards, so the first come last.
        middle.first.push_front(version?);
        middle.first.truncate(SHOWN);
    }
    Ok(middle)
}
