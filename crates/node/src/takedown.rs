//! Takedown: removes a page, a prefix or a server from every store of a data directory, with a receipt (A7, D13).
//!
//! The archive removes it from its files, index, derived table and deduplication table, and never takes it again. The
//! schedule asks the archive what was taken down whenever it is opened, and visits none of it. Stages, and results and
//! quarantined documents of stored scans, are told here.
//!
//! **Invariant:** a target is noted in `takedown.pending` before the archive decides, and until every store has removed it. Whoever
//! opens the archive to write finishes what a crash interrupted.

use crate::directory::DirectoryWriter;
use crate::error::Error;
use crate::monitor::Activity;
use crate::node::Node;
use crate::scans::SCANS;
use archive::{Archive, Key, Receipt, Target};
use base::Timestamp;
use base::disk::{Disk as _, RealDisk, private_options};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::path::Path;

/// What no program can remove.
const OUT_OF_REACH: &str = "files that were exported or copied elsewhere, results of scans among them, are out of reach: remove it from those, too";

/// Targets that not every store has removed yet, one a line.
const PENDING: &str = "takedown.pending";

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
    /// What was removed from each stage: rows, pages or documents. Pages of `frontier` stay known and are never visited.
    #[serde(default)]
    pub stages: BTreeMap<String, u64>,
    /// What is outside our reach.
    pub out_of_reach: String,
    /// Why a stored scan may still contain parts of it, if one may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scans_incomplete: Option<String>,
    /// Why a stage may still contain parts of it, if one may. The next writer tries again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages_incomplete: Option<String>,
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
        let mut pending = read_pending(writer)?;
        pending.push(target.to_string());
        write_pending(writer, &pending)?;
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
        let stages = self.remove_from_stages(writer, target, Some(&receipt));
        if failure.is_none() && stages.failure.is_none() {
            pending.retain(|pending| *pending != target.to_string());
            write_pending(writer, &pending)?;
        }
        Ok(TakedownReceipt {
            stages: stages.removed,
            stages_incomplete: stages.failure.as_ref().map(Error::with_causes),
            ..to_receipt(&receipt, &scans, failure.as_ref())
        })
    }

    /// Asks every stage, even if one fails.
    fn remove_from_stages(
        &self,
        writer: &DirectoryWriter,
        target: &Target,
        from_archive: Option<&Receipt>,
    ) -> FromStages {
        let mut from = FromStages::default();
        for stage in self.stages {
            match stage.take_down(self, writer, target, from_archive) {
                Ok(removed) => drop(from.removed.insert(stage.name().to_owned(), removed)),
                Err(error) => drop(from.failure.get_or_insert(error)),
            }
        }
        from
    }

    /// Finishes takedowns in scans and stages that a crash or an error interrupted after the archive's decision. What still
    /// cannot be removed stays noted.
    pub(crate) fn finish_takedowns(&self, writer: &DirectoryWriter, archive: &Archive) -> Result<(), Error> {
        let pending = read_pending(writer)?;
        if pending.is_empty() {
            return Ok(());
        }
        let mut left = Vec::new();
        for text in pending {
            let Some(target) = parse_target(&text) else { continue };
            if !archive.taken_down().any(|decided| decided.to_string() == text) {
                continue;
            }
            let (_, failure) = remove_from_scans(writer, &target);
            let failure = self.remove_from_stages(writer, &target, None).failure.or(failure);
            if let Some(error) = failure {
                tracing::warn!(target = %text, error = %error.with_causes(), "a takedown is not finished");
                left.push(text);
            }
        }
        write_pending(writer, &left)
    }
}

/// What was removed from stages, and the first failure.
#[derive(Debug, Default)]
struct FromStages {
    removed: BTreeMap<String, u64>,
    failure: Option<Error>,
}

fn read_pending(writer: &DirectoryWriter) -> Result<Vec<String>, Error> {
    let path = writer.directory().path().join(PENDING);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(Error::Io { action: "read", path, source }),
    }
}

/// Replaces the list, durably; an empty one is removed.
fn write_pending(writer: &DirectoryWriter, targets: &[String]) -> Result<(), Error> {
    let data = writer.directory().path();
    let path = data.join(PENDING);
    let write = || {
        if targets.is_empty() {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                removed => removed?,
            }
        } else {
            replace(&path, &targets.iter().map(|target| format!("{target}\n")).collect::<String>())?;
        }
        RealDisk.sync_directory(data)
    };
    write().map_err(Error::io("write", &path))
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let unfinished = path.with_extension("tmp");
    let mut file = private_options().write(true).create(true).truncate(true).open(&unfinished)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(unfinished, path)
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
        stages: BTreeMap::new(),
        stages_incomplete: None,
    }
}
