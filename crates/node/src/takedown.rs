//! Takedown: removes a page, a prefix or a server from every store of a data directory, with a receipt (A7, D13).
//!
//! The archive removes it from its files, index, derived table and deduplication table, and never takes it again. The
//! schedule asks the archive what was taken down whenever it is opened, and visits none of it. Results and quarantined
//! documents of stored scans are removed here.

use crate::directory::DirectoryWriter;
use crate::error::Error;
use crate::monitor::Activity;
use crate::node::Node;
use crate::scans::SCANS;
use archive::{Key, Receipt, Target};
use base::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What no program can remove.
const OUT_OF_REACH: &str = "files that were exported or copied elsewhere, results of scans among them, are out of reach: remove it from those, too";

/// What a takedown removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakedownReceipt {
    /// What the takedown is known by.
    pub id: String,
    /// The target: `url`, `prefix` or `server`, a space, and its value.
    pub target: String,
    /// Why, as it was given.
    pub reason: String,
    /// When, in RFC 3339.
    pub at: String,
    /// Pages of which something was removed.
    pub pages: u64,
    /// Captures that were removed.
    pub captures: u64,
    /// Bytes of archive files that were overwritten.
    pub bytes: u64,
    /// The archive files that were rewritten, and how many captures were removed from each.
    pub files: BTreeMap<String, u64>,
    /// Captures of other pages that were rewritten because they referred to removed bytes.
    pub moved: Vec<MovedCapture>,
    /// Results of unfinished scans that were removed.
    pub scan_results: u64,
    /// Documents of scans that were in quarantine and were removed.
    pub set_aside: u64,
    /// What is outside our reach.
    pub out_of_reach: String,
    /// Why a stored scan may still contain parts of it, if one may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scans_incomplete: Option<String>,
}

/// A capture that a takedown moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedCapture {
    /// Its page.
    pub url: String,
    /// When it was captured, in RFC 3339.
    pub at: String,
    /// The archive file that holds it now.
    pub file: String,
    /// Where in that file.
    pub offset: u64,
}

/// What a takedown would remove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TakedownPreview {
    /// Pages.
    pub pages: u64,
    /// Captures of them.
    pub captures: u64,
}

/// The target that a receipt or a request names: `url`, `prefix` or `server`, a space, and its value.
#[must_use]
pub fn parse_target(text: &str) -> Option<Target> {
    let (kind, which) = text.split_once(' ')?;
    match kind {
        "url" => Target::url(which).ok(),
        "prefix" => Target::prefix(which).ok(),
        "server" => Target::server(which).ok(),
        _ => None,
    }
}

impl Node {
    /// Counts what a takedown would remove. Needs no lock.
    pub fn preview_takedown(&self, target: &Target) -> Result<TakedownPreview, Error> {
        let count = Error::archive("count what would be removed");
        let (_, reader) = self.reader()?;
        let (mut keys, mut captures) = (BTreeSet::new(), 0);
        for entry in reader.all().map_err(&count)? {
            let entry = entry.map_err(&count)?;
            if target.holds(&entry.key) {
                captures += 1;
                keys.insert(entry.key);
            }
        }
        Ok(TakedownPreview { pages: keys.len() as u64, captures })
    }

    /// Removes the target permanently. It is durable when this returns; if it is interrupted after the decision, the next
    /// writer finishes it.
    pub fn take_down(
        &self,
        writer: &DirectoryWriter,
        (target, reason): (&Target, &str),
        now: Timestamp,
    ) -> Result<TakedownReceipt, Error> {
        let mut archive = self.archive(writer, now)?;
        // Scans first, because nothing would finish them after a crash, and again at the end, for results of a running scan.
        let (mut scans, _) = remove_from_scans(writer, target);
        let receipt = {
            let meter = self.monitor.begin(Activity::RewritingFiles, None);
            let mut report = |done: u64, total: u64| meter.set(done, Some(total));
            archive.takedown(target, reason, now, &mut report).map_err(Error::archive("take it down"))?
        };
        archive.close().map_err(Error::archive("close the archive after the takedown"))?;
        let (more, failure) = remove_from_scans(writer, target);
        scans.results += more.results;
        scans.set_aside += more.set_aside;
        Ok(to_receipt(&receipt, &scans, failure.as_ref()))
    }
}

/// What was removed from scans.
#[derive(Debug, Default)]
struct FromScans {
    results: u64,
    set_aside: u64,
}

/// Goes through all scans, even if one fails, and returns the first failure.
fn remove_from_scans(writer: &DirectoryWriter, target: &Target) -> (FromScans, Option<Error>) {
    let (mut removed, mut failure) = (FromScans::default(), None);
    let directory = writer.directory().path().join(SCANS);
    let list = Error::io("list", &directory);
    let found = match std::fs::read_dir(&directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return (removed, None),
        Err(error) => return (removed, Some(list(error))),
        Ok(found) => found,
    };
    for scan in found {
        let removing = scan.map_err(&list).and_then(|scan| {
            if !scan.file_type().map_err(&list)?.is_dir() {
                return Ok((0, 0));
            }
            let kept = ::scan::StoredJob::at(&scan.path());
            kept.remove(|url| target.holds(&Key::of(url))).map_err(Error::Scan)
        });
        match removing {
            Ok((results, set_aside)) => {
                removed.results += results;
                removed.set_aside += set_aside;
            }
            Err(error) => drop(failure.get_or_insert(error)),
        }
    }
    (removed, failure)
}

fn to_receipt(receipt: &Receipt, scans: &FromScans, failure: Option<&Error>) -> TakedownReceipt {
    let moved = |entry: &archive::Entry| MovedCapture {
        url: entry.url.clone(),
        at: entry.at.to_rfc3339(),
        file: entry.location.file.to_string(),
        offset: entry.location.offset,
    };
    TakedownReceipt {
        id: receipt.id.clone(),
        target: receipt.target.clone(),
        reason: receipt.reason.clone(),
        at: receipt.at.to_rfc3339(),
        pages: receipt.pages,
        captures: receipt.captures,
        bytes: receipt.bytes,
        files: receipt.files.iter().map(|(file, captures)| (file.to_string(), *captures)).collect(),
        moved: receipt.moved.iter().map(moved).collect(),
        scan_results: scans.results,
        set_aside: scans.set_aside,
        out_of_reach: OUT_OF_REACH.to_owned(),
        scans_incomplete: failure.map(Error::with_causes),
    }
}
