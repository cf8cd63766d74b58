//! Merges runs into one, row by row, in constant memory.

use crate::error::Error;
use crate::names::Names;
use crate::rows::{Rows, Secondary};
use crate::run::{Run, RunWriter};
use base::disk::Disk;
use std::path::Path;
use std::sync::Arc;

/// Which rows a merge keeps.
pub trait Keep<R: Rows> {
    /// Whether a row is kept; it may be changed, but not its order.
    fn row(&mut self, key: &[u8], row: &mut R::Row, names: &mut Names) -> bool;
    /// Whether a secondary entry is kept. All rows have been seen before the first of them.
    fn secondary(&mut self, entry: &R::Secondary) -> bool;
}

/// Writes the run `id` with everything in `runs` that `keep` accepts.
pub(crate) fn merge<R: Rows>(
    disk: &dyn Disk,
    directory: &Path,
    id: u64,
    runs: &[Arc<Run<R>>],
    names: &mut Names,
    keep: Option<&mut dyn Keep<R>>,
) -> Result<Run<R>, Error> {
    let keys_max = runs.iter().map(|run| run.keys()).sum();
    let mut writer = RunWriter::create(disk, directory, id, keys_max)?;
    match keep {
        None => {
            merge_rows(runs, names, |key, row, _| writer.push(key, row))?;
            merge_secondary(runs, &mut |_| true, &mut writer)?;
        }
        Some(keep) => {
            merge_rows(runs, names, |key, row, names| {
                let mut row = row.clone();
                if keep.row(key, &mut row, names) { writer.push(key, &row) } else { Ok(()) }
            })?;
            merge_secondary(runs, &mut |entry| keep.secondary(entry), &mut writer)?;
        }
    }
    writer.finish(names)
}

/// Passes on all rows in order.
fn merge_rows<R: Rows>(
    runs: &[Arc<Run<R>>],
    names: &mut Names,
    mut take: impl FnMut(&[u8], &R::Row, &mut Names) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut sources = Vec::new();
    for run in runs {
        let mut source =
            RowSource { run: Arc::clone(run), rows: R::default(), buffer: Vec::new(), block: 0, next: 0 };
        source.load()?;
        sources.push(source);
    }
    loop {
        let mut least: Option<usize> = None;
        for (number, source) in sources.iter().enumerate() {
            let Some((key, row)) = source.current() else { continue };
            let is_less =
                least.and_then(|least| sources[least].current()).is_none_or(|(other_key, other)| {
                    key.cmp(other_key).then_with(|| R::order(row, other, names)).is_lt()
                });
            if is_less {
                least = Some(number);
            }
        }
        let Some(source) = least.and_then(|least| sources.get_mut(least)) else { return Ok(()) };
        take(source.rows.key(source.next), source.rows.row(source.next), names)?;
        source.next += 1;
        source.load()?;
    }
}

struct RowSource<R: Rows> {
    run: Arc<Run<R>>,
    rows: R,
    buffer: Vec<u8>,
    /// The next block to read.
    block: usize,
    next: usize,
}

impl<R: Rows> RowSource<R> {
    fn current(&self) -> Option<(&[u8], &R::Row)> {
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

fn merge_secondary<R: Rows>(
    runs: &[Arc<Run<R>>],
    is_kept: &mut dyn FnMut(&R::Secondary) -> bool,
    writer: &mut RunWriter<'_, R>,
) -> Result<(), Error> {
    let mut sources = Vec::new();
    for run in runs {
        let mut source = SecondarySource {
            run: Arc::clone(run),
            entries: Vec::new(),
            buffer: Vec::new(),
            block: 0,
            next: 0,
        };
        source.load()?;
        sources.push(source);
    }
    let mut last: Option<R::Secondary> = None;
    loop {
        // Of equal entries in two runs the latest is kept.
        let mut least: Option<(usize, R::Secondary)> = None;
        for (number, source) in sources.iter().enumerate() {
            let Some(entry) = source.current() else { continue };
            if least.is_none_or(|(_, other)| entry.order(&other).is_le()) {
                least = Some((number, *entry));
            }
        }
        let Some((number, entry)) = least else { return Ok(()) };
        if last.is_none_or(|last| last.order(&entry).is_ne()) && is_kept(&entry) {
            writer.push_secondary(&entry)?;
            last = Some(entry);
        }
        sources[number].next += 1;
        sources[number].load()?;
    }
}

struct SecondarySource<R: Rows> {
    run: Arc<Run<R>>,
    entries: Vec<R::Secondary>,
    buffer: Vec<u8>,
    block: usize,
    next: usize,
}

impl<R: Rows> SecondarySource<R> {
    fn current(&self) -> Option<&R::Secondary> {
        self.entries.get(self.next)
    }
    fn load(&mut self) -> Result<(), Error> {
        while self.next >= self.entries.len() && self.block < self.run.secondary_block_count() {
            self.entries = self.run.read_secondary(self.block, &mut self.buffer)?;
            self.block += 1;
            self.next = 0;
        }
        Ok(())
    }
}
