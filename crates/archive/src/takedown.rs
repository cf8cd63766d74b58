//! Removes pages everywhere, for good, with a receipt (A7, D13).
//!
//! 1. Find the groups of records concerned: the captures of the pages, and the captures of other pages that refer to
//!    their bytes.
//! 2. Rewrite the latter: one with the bytes, as an answer of its own page with its own date, the others as references
//!    to it. Then write a *tombstone*, which names the target and lists every group to remove. Once it is durable the
//!    takedown is decided: readers no longer see what it lists, imports and visits of such pages are refused, and the
//!    next writer finishes the work.
//! 3. Rewrite each file with such groups, with a record of the same length in place of each, so that all other offsets
//!    stay the same. The new file is synced and replaces the old one; the same is done with its checksums.
//! 4. Rewrite the index without them, and write a note that the work is done.
//!
//! **Invariant:** every step can be repeated. Until the note is durable, only the list in the tombstone counts.

mod dependents;
mod notes;
mod rewrite;

use crate::capture::entry::{Entry, Key, Location, Stored};
use crate::error::Error;
use crate::index::Files;
use crate::index::KeyBounds;
use crate::index::row::Row;
use crate::tombstone::{self, Gone, Target, Tombstone};
use crate::writing::append::Archive;
use base::Timestamp;
use rewrite::rewrite_file;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// What a takedown removed.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// Its id.
    pub id: String,
    /// What was taken down, as [`Target`] prints it.
    pub target: String,
    /// The reason that was given.
    pub reason: String,
    /// When.
    pub at: Timestamp,
    /// Pages of which something was removed.
    pub pages: u64,
    /// Captures that were removed.
    pub captures: u64,
    /// Bytes of archive files that were overwritten.
    pub bytes: u64,
    /// The archive files that were rewritten, and how many groups of records were removed from each.
    pub files: BTreeMap<Arc<str>, u64>,
    /// Rows of the derived table that were removed.
    pub derived_rows: u64,
    /// Captures of other pages that were rewritten because they referred to bytes that were removed.
    pub moved: Vec<Entry>,
}

impl Archive {
    /// Removes `target` from the archive permanently. The decision is durable when this returns; if it fails before,
    /// nothing was removed.
    pub fn takedown(
        &mut self,
        target: &Target,
        reason: &str,
        at: Timestamp,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Receipt, Error> {
        self.check_running()?;
        self.settle()?;
        let plan = self.plan(target)?;
        let moved = self.move_dependents(&plan)?;
        let id = self.next_id(at);
        let gone: BTreeSet<Gone> = plan
            .gone
            .iter()
            .chain(plan.dependents.iter().map(|dependent| &dependent.gone))
            .cloned()
            .collect();
        let gone: Vec<Gone> = gone.into_iter().collect();
        self.write_tombstone(&id, target, reason, (at, &gone))?;
        self.settle()?;
        let tombstone = Tombstone {
            id: id.clone(),
            at,
            target: target.clone(),
            reason: reason.to_owned(),
            is_done: false,
        };
        self.tombstones.push(tombstone);
        let (files, derived_rows) = self.execute((&id, target), at, &gone, progress)?;
        if let Some(tombstone) = self.tombstones.last_mut() {
            tombstone.is_done = true;
        }
        Ok(Receipt {
            id,
            target: target.to_string(),
            reason: reason.to_owned(),
            at,
            pages: plan.pages,
            captures: plan.gone.len() as u64,
            bytes: plan.gone.iter().map(|gone| gone.length).sum(),
            files,
            derived_rows,
            moved,
        })
    }

    /// How many pages and captures a takedown would remove.
    pub fn would_take_down(&mut self, target: &Target) -> Result<(u64, u64), Error> {
        self.settle()?;
        let plan = self.plan(target)?;
        Ok((plan.pages, plan.gone.len() as u64))
    }

    /// Finishes interrupted takedowns and returns their number.
    pub(crate) fn finish_takedowns(&mut self, at: Timestamp) -> Result<u64, Error> {
        let unfinished: Vec<Tombstone> =
            self.tombstones.iter().filter(|tombstone| !tombstone.is_done).cloned().collect();
        for tombstone in &unfinished {
            let gone = tombstone::listed(&*self.disk, &self.directory, &self.index, &tombstone.id)?;
            self.execute((&tombstone.id, &tombstone.target), at.max(tombstone.at), &gone, &mut |_, _| {})?;
            tracing::warn!(target = %tombstone.target, "finished an interrupted takedown");
        }
        self.tombstones.iter_mut().for_each(|tombstone| tombstone.is_done = true);
        Ok(unfinished.len() as u64)
    }

    /// Moves everything into finished files and runs.
    fn settle(&mut self) -> Result<(), Error> {
        self.finish_file()?;
        self.update_index()
    }

    /// Finds the groups concerned.
    fn plan(&self, target: &Target) -> Result<Plan, Error> {
        let files = self.index.files();
        let (mut plan, mut bodies, mut last_key) = (Plan::default(), HashSet::new(), None);
        let mut payloads = HashMap::new();
        for range in target.ranges() {
            self.index.walk(&range, &mut |key, row| {
                if !target.holds(&Key::from_stored(key)) {
                    return;
                }
                plan.pages += u64::from(last_key.as_deref() != Some(key));
                last_key = Some(key.to_owned());
                plan.gone.push(gone(row, files));
                if row.kind == Stored::Response {
                    bodies.insert((row.place.file, row.place.offset));
                    payloads.extend(row.payload.map(|payload| (payload, row.place)));
                }
            })?;
        }
        if !bodies.is_empty() {
            self.index.walk(&KeyBounds::all(), &mut |key, row| {
                // If the bytes of a revisit are not located yet, their digest decides.
                let unresolved = || row.payload.filter(|_| row.kind == Stored::Revisit);
                let body = match row.body {
                    Some(body) => Some(body).filter(|body| bodies.contains(&(body.file, body.offset))),
                    None => unresolved().and_then(|payload| payloads.get(&payload).copied()),
                };
                if let Some(body) = body.filter(|_| !target.holds(&Key::from_stored(key))) {
                    let (entry, gone) = (row.entry(key, files), gone(row, files));
                    plan.dependents.push(Dependent { entry, gone, body: body.location(files) });
                }
            })?;
        }
        plan.dependents.sort_by(|one, other| (&one.body, one.entry.at).cmp(&(&other.body, other.entry.at)));
        Ok(plan)
    }

    /// Removes what the tombstone lists. It may be repeated. Returns what was removed from each file, and rows of the derived table.
    fn execute(
        &mut self,
        (id, target): (&str, &Target),
        at: Timestamp,
        gone: &[Gone],
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(BTreeMap<Arc<str>, u64>, u64), Error> {
        let (mut by_file, mut derived_rows) = (BTreeMap::<Arc<str>, Vec<&Gone>>::new(), 0);
        gone.iter().for_each(|gone| by_file.entry(Arc::clone(&gone.file)).or_default().push(gone));
        for (done, (file, gone)) in by_file.iter().enumerate() {
            progress(done as u64, by_file.len() as u64);
            let disk = Arc::clone(&self.disk);
            let rewritten = rewrite_file(&*disk, &self.directory, file, (gone, at), &mut self.index);
            derived_rows += self.stop_on_error(rewritten)?;
        }
        let places: HashSet<(&str, u64)> = gone.iter().map(|gone| (&*gone.file, gone.offset)).collect();
        let rewritten = self.index.rewrite(&mut |_, row, files: &mut Files| {
            !places.contains(&(&**files.name(row.place.file), row.place.offset))
        });
        self.stop_on_error(rewritten)?;
        self.forget_origins();
        self.note_done(id, target, at)?;
        self.settle()?;
        progress(by_file.len() as u64, by_file.len() as u64);
        let files = by_file.into_iter().map(|(file, gone)| (file, gone.len() as u64)).collect();
        Ok((files, derived_rows))
    }
}

/// What a takedown is about to do.
#[derive(Debug, Default)]
struct Plan {
    pages: u64,
    gone: Vec<Gone>,
    dependents: Vec<Dependent>,
}

/// A capture of another page that refers to bytes that will be removed.
#[derive(Debug)]
struct Dependent {
    entry: Entry,
    gone: Gone,
    /// Where the bytes are.
    body: Location,
}

fn gone(row: &Row, files: &Files) -> Gone {
    Gone { file: Arc::clone(files.name(row.place.file)), offset: row.place.offset, length: row.group_bytes }
}
