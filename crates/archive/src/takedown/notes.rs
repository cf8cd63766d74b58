//! What the archive notes of takedowns: tombstones, which list every group of records that must go, and that they are
//! done.
//!
//! A note is a `metadata` record about a URI of our own; `docs/formats/archive.md` shows its lines.
//!
//! **Invariant:** only a record that proves by its id that it was written at its place is a note: what was taken over from
//! elsewhere takes nothing down.

use super::{Gone, Target};
use crate::append::Archive;
use crate::entry::{Location, Stored};
use crate::error::Error;
use crate::fetch_record;
use crate::index::row::{Files, Row};
use crate::index::walk::{KeyRange, Walk};
use crate::reader::Reader;
use base::Timestamp;
use base::disk::Disk;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// What the notes of takedowns are about.
const URN: &str = "urn:utsushi:takedown:";
const FIRST_LINE: &str = "utsushi-takedown 1";
const DONE: &str = ":done";
/// So many groups are listed in one record.
const GROUPS_A_PART: usize = 100_000;

/// A takedown that is noted in the archive.
#[derive(Clone, Debug)]
pub(crate) struct Tombstone {
    pub(super) id: String,
    pub(super) at: Timestamp,
    pub(super) target: Target,
    pub(super) reason: String,
    pub(super) is_done: bool,
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

impl Archive {
    /// An id that no takedown has yet.
    pub(super) fn next_id(&self, at: Timestamp) -> String {
        let stamp = at.as_micros();
        let is_taken = |id: &String| self.tombstones.iter().any(|tombstone| tombstone.id == *id);
        let ids = (0..u32::MAX).map(|count| format!("{stamp}-{count}"));
        ids.into_iter().find(|id| !is_taken(id)).expect("there are fewer takedowns in one microsecond")
    }

    /// Notes what is taken down, and every group that must go. The last part is what decides.
    pub(super) fn write_tombstone(
        &mut self,
        id: &str,
        target: &Target,
        reason: &str,
        (at, gone): (Timestamp, &[Gone]),
    ) -> Result<(), Error> {
        let parts = gone.len().div_ceil(GROUPS_A_PART).max(1);
        for part in 0..parts {
            let groups = gone.iter().skip(part * GROUPS_A_PART).take(GROUPS_A_PART);
            let mut text = format!(
                "{FIRST_LINE}\nwhat {}\nscope {}\nreason {}\npart {} of {parts}\n",
                target.what(),
                one_line(target.text()),
                one_line(reason),
                part + 1
            );
            groups.for_each(|gone| {
                text.push_str(&format!("group {} {} {}\n", gone.file, gone.offset, gone.length));
            });
            self.put_note(&format!("{URN}{id}:{part}"), at, text.as_bytes())?;
        }
        Ok(())
    }

    /// Notes that a takedown is done, and again what it was.
    pub(super) fn note_done(&mut self, id: &str, target: &Target, at: Timestamp) -> Result<(), Error> {
        let (what, scope) = (target.what(), one_line(target.text()));
        let note = format!("{FIRST_LINE}\nwhat {what}\nscope {scope}\ndone {id}\n");
        self.put_note(&format!("{URN}{id}{DONE}"), at, note.as_bytes()).map(drop)
    }
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The tombstones that the archive holds.
pub(crate) fn tombstones(archive: &Archive) -> Result<Vec<Tombstone>, Error> {
    let (disk, directory) = (&*archive.disk, &*archive.directory);
    let mut rows = Vec::new();
    archive.index.walk(&notes(), &mut |key, row| rows.push((key.to_owned(), row.clone())))?;
    read_tombstones(disk, directory, rows.iter().map(|(key, row)| (key.as_str(), row)), archive.index.files())
}

/// The tombstones that a reader sees.
pub(super) fn seen_by(reader: &Reader) -> Result<Vec<Tombstone>, Error> {
    let mut rows = Vec::new();
    let mut walk = Walk::new(&reader.origins, &reader.files, &notes())?;
    while let Some((_, row)) = walk.current() {
        rows.push((walk.key_text().to_owned(), row.clone()));
        walk.step()?;
    }
    let rows = rows.iter().map(|(key, row)| (key.as_str(), row));
    read_tombstones(&*reader.disk, &reader.directory, rows, &reader.files)
}

/// Where the notes of takedowns stand in the index.
pub(crate) fn notes() -> KeyRange {
    let from = format!("!{URN}").into_bytes();
    let to = crate::reader::end_of_prefix(&from);
    KeyRange { from, to }
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

/// The groups that a takedown lists.
pub(super) fn listed(archive: &Archive, id: &str) -> Result<Vec<Gone>, Error> {
    let mut rows = Vec::new();
    archive.index.walk(&notes(), &mut |key, row| rows.push((key.to_owned(), row.clone())))?;
    let rows = rows.iter().map(|(key, row)| (key.as_str(), row));
    listed_in(&*archive.disk, &archive.directory, rows, archive.index.files(), id)
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
