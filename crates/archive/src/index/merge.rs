//! Merges runs into one, row by row, in memory that does not grow with them.

use crate::error::Error;
use crate::index::row::{Files, Row, Rows};
use crate::index::run::{Body, Run, RunWriter};
use base::disk::Disk;
use std::cmp::Reverse;
use std::path::Path;
use std::sync::Arc;

/// What is kept of the rows, and as what.
pub(crate) type Keep<'k> = &'k mut dyn FnMut(&str, &mut Row, &mut Files) -> bool;

/// Writes the run `id` of everything that `runs` hold and `keep` wants.
///
/// Bodies whose row is not kept are left out too; so when there is something to keep or not, they are gathered from
/// the rows, else merged from the runs.
pub(crate) fn merge(
    disk: &dyn Disk,
    directory: &Path,
    id: u64,
    runs: &[Arc<Run>],
    files: &mut Files,
    keep: Option<Keep<'_>>,
) -> Result<Run, Error> {
    let keys_max = runs.iter().map(|run| run.keys).sum();
    let mut writer = RunWriter::create(disk, directory, id, keys_max)?;
    match keep {
        None => {
            merge_rows(runs, files, |key, row, _| writer.push(key, row))?;
            merge_bodies(runs, &|_| true, &mut writer)?;
        }
        Some(keep) => {
            let mut places = std::collections::HashSet::new();
            merge_rows(runs, files, |key, row, files| {
                let mut row = row.clone();
                if keep(key, &mut row, files) {
                    writer.push(key, &row)
                } else {
                    places.insert((row.place.file, row.place.offset));
                    Ok(())
                }
            })?;
            let is_kept = |body: &Body| !places.contains(&(body.place.file, body.place.offset));
            merge_bodies(runs, &is_kept, &mut writer)?;
        }
    }
    writer.finish(files)
}

/// Hands out all rows in their order.
fn merge_rows(
    runs: &[Arc<Run>],
    files: &mut Files,
    mut take: impl FnMut(&str, &Row, &mut Files) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut sources = Vec::new();
    for run in runs {
        let mut source =
            RowSource { run: Arc::clone(run), rows: Rows::default(), buffer: Vec::new(), block: 0, next: 0 };
        source.load()?;
        sources.push(source);
    }
    loop {
        let mut least: Option<usize> = None;
        for (number, source) in sources.iter().enumerate() {
            let Some((key, row)) = source.current() else { continue };
            let is_less =
                least.and_then(|least| sources[least].current()).is_none_or(|(other_key, other)| {
                    key.cmp(other_key).then_with(|| row.order(other, files)).is_lt()
                });
            if is_less {
                least = Some(number);
            }
        }
        let Some(source) = least.and_then(|least| sources.get_mut(least)) else { return Ok(()) };
        take(source.rows.key_text(source.next), source.rows.row(source.next), files)?;
        source.next += 1;
        source.load()?;
    }
}

struct RowSource {
    run: Arc<Run>,
    rows: Rows,
    buffer: Vec<u8>,
    /// The next block to read.
    block: usize,
    next: usize,
}

impl RowSource {
    fn current(&self) -> Option<(&[u8], &Row)> {
        (self.next < self.rows.len()).then(|| (self.rows.key(self.next), self.rows.row(self.next)))
    }
    /// Reads the next block if the present one is used up.
    fn load(&mut self) -> Result<(), Error> {
        while self.next >= self.rows.len() && self.block < self.run.block_count() {
            self.run.read_block(self.block, &mut self.buffer, &mut self.rows)?;
            self.block += 1;
            self.next = 0;
        }
        Ok(())
    }
}

fn merge_bodies(
    runs: &[Arc<Run>],
    is_kept: &dyn Fn(&Body) -> bool,
    writer: &mut RunWriter<'_>,
) -> Result<(), Error> {
    let mut sources = Vec::new();
    for run in runs {
        let mut source =
            BodySource { run: Arc::clone(run), bodies: Vec::new(), buffer: Vec::new(), block: 0, next: 0 };
        source.load()?;
        sources.push(source);
    }
    let order = |body: &Body| (body.payload, body.content);
    let mut last = None;
    loop {
        // Of the same body in two runs, the latest is kept: it was stored again because the other could not be read.
        let heads = sources.iter().enumerate();
        let heads = heads.filter_map(|(number, source)| Some((order(source.current()?), Reverse(number))));
        let Some((head, Reverse(number))) = heads.min() else { return Ok(()) };
        if let Some(body) = sources[number].current().copied()
            && last != Some(head)
            && is_kept(&body)
        {
            writer.push_body(&body)?;
            last = Some(head);
        }
        sources[number].next += 1;
        sources[number].load()?;
    }
}

struct BodySource {
    run: Arc<Run>,
    bodies: Vec<Body>,
    buffer: Vec<u8>,
    block: usize,
    next: usize,
}

impl BodySource {
    fn current(&self) -> Option<&Body> {
        self.bodies.get(self.next)
    }
    fn load(&mut self) -> Result<(), Error> {
        while self.next >= self.bodies.len() && self.block < self.run.body_block_count() {
            self.bodies = self.run.read_bodies(self.block, &mut self.buffer)?;
            self.block += 1;
            self.next = 0;
        }
        Ok(())
    }
}
