//! Notes about takedowns: tombstones, which list every group of records to remove, and notes that the work is done.
//!
//! A note is a `metadata` record about a URI of our own; `docs/formats/archive.md` shows its lines.
//!
//! **Invariant:** only a record whose id proves that it was written at its location is a note; imported records take
//! nothing down.

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

/// Prefix of the URIs of these notes.
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
    /// Its id, as on its receipt.
    pub id: String,
    /// When it was done.
    pub at: Timestamp,
    /// What was taken down.
    pub target: Target,
    /// The reason that was given.
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

/// The key range of takedown notes in the index.
pub(crate) fn notes() -> KeyBounds {
    KeyBounds::prefix(format!("!{URN}").as_bytes())
}

/// The tombstones among the notes of takedowns. The note that one is done repeats its target, so that a damaged
/// tombstone does not undo it.
fn read_tombstones<'r>(
    disk: &dyn Disk,
    directory: &Path,
    rows: impl Iterator<Item = (&'r str, &'r Row)>,
    files: &Files,
) -> Result<Vec<Tombstone>, Error> {
    let mut found: BTreeMap<String, NotesOfTakedown> = BTreeMap::new();
    for (key, row) in rows.filter(|(_, row)| row.kind == Stored::Other) {
        let Some((id, is_done)) = id_of(key) else { continue };
        let location = row.place.location(files);
        let notes = found.entry(id.to_owned()).or_default();
        notes.at = notes.at.max(Some(row.at));
        match fetch_record::record(disk, directory, &location, Some(row.sum)) {
            // Imported records do not count.
            Ok(record) if !record.belongs_to(&location.file) => {}
            Ok(record) => {
                let part = Part::read(&record.block).ok_or_else(|| unreadable(directory, &location))?;
                notes.is_done |= is_done;
                notes.seen += usize::from(!is_done);
                notes.parts = notes.parts.max(part.parts);
                notes.target = Some(part.target);
                if !is_done {
                    notes.reason = part.reason;
                }
            }
            Err(error @ Error::Damaged { .. }) => notes.damage = Some(error),
            Err(error) => return Err(error),
        }
    }
    let mut tombstones = Vec::new();
    for (id, notes) in found {
        match (notes.target, notes.at) {
            // Without its last part a takedown was never decided, unless that part is damaged.
            (Some(target), Some(at)) if notes.is_done || notes.seen == notes.parts => {
                let (is_done, reason) = (notes.is_done, notes.reason);
                tombstones.push(Tombstone { is_done, id, at, target, reason });
            }
            _ => notes.damage.map_or(Ok(()), Err)?,
        }
    }
    Ok(tombstones)
}

/// The notes of one takedown, combined.
#[derive(Default)]
struct NotesOfTakedown {
    at: Option<Timestamp>,
    target: Option<Target>,
    reason: String,
    parts: usize,
    seen: usize,
    is_done: bool,
    damage: Option<Error>,
}

/// The takedown of a note, and whether the note says that it is done.
fn id_of(key: &str) -> Option<(&str, bool)> {
    let name = key.strip_prefix('!')?.strip_prefix(URN)?;
    match name.strip_suffix(DONE) {
        Some(id) => Some((id, true)),
        None => name.rsplit_once(':').map(|(id, _)| (id, false)),
    }
}

fn unreadable(directory: &Path, location: &Location) -> Error {
    let what = "it does not name the target of its takedown";
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
    let takedown = |Tombstone { id, at, target, reason, .. }| Takedown { id, at, target, reason };
    Ok(all.into_iter().map(takedown).collect())
}

/// The groups listed by takedowns that are decided and not done.
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
