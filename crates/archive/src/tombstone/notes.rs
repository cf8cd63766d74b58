//! What the archive notes of takedowns: tombstones, which list every group of records that must go, and that they are
//! done.
//!
//! A note is a `metadata` record about a URI of our own; `docs/formats/archive.md` shows its lines.
//!
//! **Invariant:** only a record that proves by its id that it was written at its place is a note: what was taken over from
//! elsewhere takes nothing down.

use super::{Gone, Target};
use crate::capture::entry::{Location, Stored};
use crate::error::Error;
use crate::files::fetch_record;
use crate::index::Files;
use crate::index::Index;
use crate::index::KeyBounds;
use crate::index::row::Row;
use base::Timestamp;
use base::disk::Disk;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// What the notes of takedowns are about.
pub(crate) const URN: &str = "urn:utsushi:takedown:";
pub(crate) const FIRST_LINE: &str = "utsushi-takedown 1";
pub(crate) const DONE: &str = ":done";

/// A takedown that is noted in the archive.
#[derive(Clone, Debug)]
pub(crate) struct Tombstone {
    pub(crate) id: String,
    pub(crate) at: Timestamp,
    pub(crate) target: Target,
    pub(crate) reason: String,
    pub(crate) is_done: bool,
}

/// Something that was taken down.
#[derive(Clone, Debug)]
pub struct Takedown {
    /// What it is known by, as on its receipt.
    pub id: String,
    /// When it was done.
    pub at: Timestamp,
    /// What was taken down.
    pub target: Target,
    /// Why, as was given.
    pub reason: String,
}

/// The notes of takedowns that the index holds.
fn noted(index: &Index) -> Result<Vec<(String, Row)>, Error> {
    let mut rows = Vec::new();
    index.walk(&notes(), &mut |key, row| rows.push((key.to_owned(), row.clone())))?;
    Ok(rows)
}

/// The tombstones that an archive holds.
pub(crate) fn tombstones(disk: &dyn Disk, directory: &Path, index: &Index) -> Result<Vec<Tombstone>, Error> {
    let rows = noted(index)?;
    read_tombstones(disk, directory, rows.iter().map(|(key, row)| (key.as_str(), row)), index.files())
}

/// The groups that a takedown lists.
pub(crate) fn listed(disk: &dyn Disk, directory: &Path, index: &Index, id: &str) -> Result<Vec<Gone>, Error> {
    let rows = noted(index)?;
    listed_in(disk, directory, rows.iter().map(|(key, row)| (key.as_str(), row)), index.files(), id)
}

/// Where the notes of takedowns stand in the index.
pub(crate) fn notes() -> KeyBounds {
    KeyBounds::prefix(format!("!{URN}").as_bytes())
}

/// The tombstones among the notes of takedowns. The note that one is done says what it was too, so that damage to a
/// tombstone lets nothing come back.
fn read_tombstones<'r>(
    disk: &dyn Disk,
    directory: &Path,
    rows: impl Iterator<Item = (&'r str, &'r Row)>,
    files: &Files,
) -> Result<Vec<Tombstone>, Error> {
    let mut found: BTreeMap<String, Told> = BTreeMap::new();
    for (key, row) in rows.filter(|(_, row)| row.kind == Stored::Other) {
        let Some((id, is_done)) = id_of(key) else { continue };
        let location = row.place.location(files);
        let told = found.entry(id.to_owned()).or_default();
        told.at = told.at.max(Some(row.at));
        match fetch_record::record(disk, directory, &location, Some(row.sum)) {
            // A record that was taken over from elsewhere says nothing here.
            Ok(record) if !record.belongs_to(&location.file) => {}
            Ok(record) => {
                let part = Part::read(&record.block).ok_or_else(|| unreadable(directory, &location))?;
                told.is_done |= is_done;
                told.seen += usize::from(!is_done);
                told.parts = told.parts.max(part.parts);
                told.target = Some(part.target);
                if !is_done {
                    told.reason = part.reason;
                }
            }
            Err(error @ Error::Damaged { .. }) => told.damage = Some(error),
            Err(error) => return Err(error),
        }
    }
    let mut tombstones = Vec::new();
    for (id, told) in found {
        match (told.target, told.at) {
            // One whose last part is not there was never decided, unless that part is damaged.
            (Some(target), Some(at)) if told.is_done || told.seen == told.parts => {
                let (is_done, reason) = (told.is_done, told.reason);
                tombstones.push(Tombstone { is_done, id, at, target, reason });
            }
            _ => told.damage.map_or(Ok(()), Err)?,
        }
    }
    Ok(tombstones)
}

/// What the notes of one takedown say together.
#[derive(Default)]
struct Told {
    at: Option<Timestamp>,
    target: Option<Target>,
    reason: String,
    parts: usize,
    seen: usize,
    is_done: bool,
    damage: Option<Error>,
}

/// Which takedown a note is about, and whether it says that it is done.
fn id_of(key: &str) -> Option<(&str, bool)> {
    let name = key.strip_prefix('!')?.strip_prefix(URN)?;
    match name.strip_suffix(DONE) {
        Some(id) => Some((id, true)),
        None => name.rsplit_once(':').map(|(id, _)| (id, false)),
    }
}

fn unreadable(directory: &Path, location: &Location) -> Error {
    let what = "it says that something was taken down, but not what";
    Error::Damaged { path: directory.join(&*location.file), offset: location.offset, what }
}

/// What was taken down, oldest first.
pub(crate) fn listed_all(
    disk: &dyn Disk,
    directory: &Path,
    rows: &[(String, Row)],
    files: &Files,
) -> Result<Vec<Takedown>, Error> {
    let rows = rows.iter().map(|(key, row)| (key.as_str(), row));
    let mut all = read_tombstones(disk, directory, rows, files)?;
    all.sort_by_key(|tombstone| tombstone.at);
    let told = |Tombstone { id, at, target, reason, .. }| Takedown { id, at, target, reason };
    Ok(all.into_iter().map(told).collect())
}

/// The groups that takedowns list which are decided and not done.
pub(crate) fn hidden(
    disk: &dyn Disk,
    directory: &Path,
    rows: &[(String, Row)],
    files: &Files,
) -> Result<HashSet<(Arc<str>, u64)>, Error> {
    let borrowed = || rows.iter().map(|(key, row)| (key.as_str(), row));
    let tombstones = read_tombstones(disk, directory, borrowed(), files)?;
    let mut hidden = HashSet::new();
    for tombstone in tombstones.iter().filter(|tombstone| !tombstone.is_done) {
        let gone = listed_in(disk, directory, borrowed(), files, &tombstone.id)?;
        hidden.extend(gone.into_iter().map(|gone| (gone.file, gone.offset)));
    }
    Ok(hidden)
}

fn listed_in<'r>(
    disk: &dyn Disk,
    directory: &Path,
    rows: impl Iterator<Item = (&'r str, &'r Row)>,
    files: &Files,
    id: &str,
) -> Result<Vec<Gone>, Error> {
    let mut gone = Vec::new();
    for (key, row) in rows {
        if id_of(key) != Some((id, false)) {
            continue;
        }
        let record = fetch_record::record(disk, directory, &row.place.location(files), Some(row.sum))?;
        gone.extend(Part::read(&record.block).into_iter().flat_map(|part| part.gone));
    }
    gone.sort();
    Ok(gone)
}

/// One record of a tombstone.
struct Part {
    target: Target,
    reason: String,
    parts: usize,
    gone: Vec<Gone>,
}

impl Part {
    fn read(block: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(block).ok()?.lines();
        if lines.next()? != FIRST_LINE {
            return None;
        }
        let (mut what, mut scope, mut reason) = ("", "", "");
        let (mut parts, mut gone) = (0, Vec::new());
        for line in lines {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "what" => what = rest,
                "scope" => scope = rest,
                "reason" => reason = rest,
                "part" => parts = rest.split_once(" of ")?.1.parse().ok()?,
                "group" => {
                    let mut words = rest.split(' ');
                    let file = Arc::from(words.next()?);
                    gone.push(Gone {
                        file,
                        offset: words.next()?.parse().ok()?,
                        length: words.next()?.parse().ok()?,
                    });
                }
                _ => {}
            }
        }
        Some(Self { target: Target::named(what, scope)?, reason: reason.to_owned(), parts, gone })
    }
}
