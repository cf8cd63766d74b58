//! Walks the rows of all runs at once, backwards, and skips from key to key (paper 000, section 2).
//!
//! Backwards, because in a history a row is valid until the next one of its key, which the walk has then seen.
//!
//! **Invariant:** a walk holds two blocks a run, however many rows it passes.

use crate::error::Error;
use crate::names::Names;
use crate::rows::Rows;
use crate::run::Run;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// A range of keys: from the first, up to and without the second; without a second one, to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyBounds {
    /// The first key.
    pub from: Vec<u8>,
    /// The first key after the range.
    pub to: Option<Vec<u8>>,
}

impl KeyBounds {
    /// All keys.
    #[must_use]
    pub fn all() -> Self {
        Self { from: Vec::new(), to: None }
    }
    /// The keys that begin with `prefix`.
    #[must_use]
    pub fn prefix(prefix: &[u8]) -> Self {
        Self { from: prefix.to_vec(), to: end_of_prefix(prefix) }
    }
    /// The rows of one key.
    #[must_use]
    pub fn one(key: &[u8]) -> Self {
        Self { from: key.to_vec(), to: Some([key, &[0]].concat()) }
    }
}

/// The first key after all those that begin with `prefix`.
fn end_of_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte < 255)?;
    let mut end = prefix.get(..=last)?.to_vec();
    end.last_mut().into_iter().for_each(|byte| *byte += 1);
    Some(end)
}

/// Where rows come from: a run, or memory.
#[derive(Debug)]
pub enum RowSource<R: Rows> {
    /// A run.
    Run(Arc<Run<R>>),
    /// Rows in memory, in the order of the runs.
    Memory(Arc<R>),
}

impl<R: Rows> Clone for RowSource<R> {
    fn clone(&self) -> Self {
        match self {
            Self::Run(run) => Self::Run(Arc::clone(run)),
            Self::Memory(rows) => Self::Memory(Arc::clone(rows)),
        }
    }
}

/// Walks rows from the greatest to the least.
#[derive(Debug)]
pub struct Walk<R: Rows> {
    names: Arc<Names>,
    sources: Vec<Source<R>>,
    /// The source whose row is next, and the one whose row comes after all of that source's greater ones.
    next: Option<usize>,
    rival: Option<usize>,
    /// The key that is being skipped.
    skipped: Vec<u8>,
}

/// The position of a row that the walk has passed, so that it is copied only if it is needed.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    source: usize,
    block: usize,
    number: usize,
}

/// The next adjacent rows of one key: all in one block, without rows of another source between them.
#[derive(Debug)]
pub struct Stretch<'w, R: Rows> {
    /// The key of all of them.
    pub key: &'w [u8],
    rows: &'w R,
    numbers: Range<usize>,
    source: usize,
    block: usize,
    /// Whether there are no other rows of the key.
    pub is_all: bool,
}

impl<'w, R: Rows> Stretch<'w, R> {
    /// How many rows.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }
    /// The rows in the order of the walk, newest first, and where they stand.
    #[inline]
    pub fn rows(&self) -> impl Iterator<Item = (&'w R::Row, Spot)> + use<'w, R> {
        let (rows, source, block) = (self.rows, self.source, self.block);
        self.numbers.clone().rev().map(move |number| (rows.row(number), Spot { source, block, number }))
    }
}

impl<R: Rows> Walk<R> {
    /// Starts at the last row of the range.
    ///
    /// # Errors
    /// When a run cannot be read.
    pub fn new(origins: &[RowSource<R>], names: &Arc<Names>, range: &KeyBounds) -> Result<Self, Error> {
        let sources = origins.iter().map(|origin| Source::new(origin.clone(), range));
        let sources = sources.collect::<Result<Vec<_>, _>>()?;
        let mut walk =
            Self { names: Arc::clone(names), sources, next: None, rival: None, skipped: Vec::new() };
        walk.choose();
        Ok(walk)
    }

    /// The current row and its key.
    #[must_use]
    #[inline]
    pub fn current(&self) -> Option<(&[u8], &R::Row)> {
        self.sources[self.next?].current()
    }
    /// The rows that come next.
    #[must_use]
    #[inline]
    pub fn stretch(&self) -> Option<Stretch<'_, R>> {
        let source = self.next?;
        let rival = self.rival.and_then(|rival| self.sources[rival].current());
        let Source { left, loaded, .. } = &self.sources[source];
        let rows = self.sources[source].held();
        let last = left.end.checked_sub(1).filter(|_| !left.is_empty())?;
        let key = rows.key(last);
        // The rival is the greatest of the others: if it is at another key, they all are.
        let is_shared = rival.is_some_and(|(other, _)| other == key);
        let first = if is_shared { last } else { rows.first_of_key(last).max(left.start) };
        let is_all = !is_shared && first > left.start;
        Some(Stretch { key, rows, numbers: first..left.end, source, block: loaded.unwrap_or(0), is_all })
    }
    /// Advances by this many rows of the current stretch.
    ///
    /// # Errors
    /// When a run cannot be read.
    #[inline]
    pub fn pass(&mut self, count: usize) -> Result<(), Error> {
        let Some(next) = self.next else { return Ok(()) };
        self.sources[next].pass(count)?;
        self.after_move(next);
        Ok(())
    }
    /// A row that the walk has passed. An earlier block is read again.
    ///
    /// # Errors
    /// When a run cannot be read.
    #[inline]
    pub fn row_at(&mut self, spot: Spot) -> Result<&R::Row, Error> {
        self.sources[spot.source].row_at(spot.block, spot.number)
    }
    /// The current key as text; empty if there is none.
    #[must_use]
    pub fn key_text(&self) -> &str {
        self.current().and_then(|(key, _)| std::str::from_utf8(key).ok()).unwrap_or_default()
    }

    /// Advances to the next row.
    ///
    /// # Errors
    /// When a run cannot be read.
    #[inline]
    pub fn step(&mut self) -> Result<(), Error> {
        self.pass(1)
    }

    /// Advances to the first row of another key.
    ///
    /// # Errors
    /// When a run cannot be read.
    pub fn skip_key(&mut self) -> Result<(), Error> {
        let mut skipped = std::mem::take(&mut self.skipped);
        skipped.clear();
        skipped.extend_from_slice(self.current().map(|(key, _)| key).unwrap_or_default());
        for source in &mut self.sources {
            source.skip_key(&skipped)?;
        }
        self.skipped = skipped;
        self.choose();
        Ok(())
    }

    #[inline]
    fn after_move(&mut self, moved: usize) {
        let still_first = match self.rival {
            None => true,
            Some(rival) => self.compare(moved, rival) == Ordering::Greater,
        };
        if !still_first || self.sources[moved].current().is_none() {
            self.choose();
        }
    }

    fn choose(&mut self) {
        let (mut next, mut rival) = (None, None);
        for number in 0..self.sources.len() {
            if self.sources[number].current().is_none() {
                continue;
            }
            match next {
                None => next = Some(number),
                Some(first) if self.compare(number, first) == Ordering::Greater => {
                    rival = next;
                    next = Some(number);
                }
                Some(_) => match rival {
                    Some(second) if self.compare(number, second) != Ordering::Greater => {}
                    _ => rival = Some(number),
                },
            }
        }
        (self.next, self.rival) = (next, rival);
    }

    #[inline]
    fn compare(&self, one: usize, other: usize) -> Ordering {
        match (self.sources[one].current(), self.sources[other].current()) {
            (Some((key, row)), Some((other_key, other_row))) => {
                key.cmp(other_key).then_with(|| R::order(row, other_row, &self.names))
            }
            (one, other) => one.is_some().cmp(&other.is_some()),
        }
    }
}

/// One run, or what is in memory, walked backwards.
#[derive(Debug)]
struct Source<R: Rows> {
    origin: RowSource<R>,
    rows: R,
    /// The block that `rows` are of.
    loaded: Option<usize>,
    /// The block that was loaded before, or read again, and its rows.
    earlier: (Option<usize>, R),
    buffer: Vec<u8>,
    /// How many blocks are before what was loaded.
    block: usize,
    /// The rows of the block that are left.
    left: Range<usize>,
    from: Vec<u8>,
}

impl<R: Rows> Source<R> {
    fn new(origin: RowSource<R>, range: &KeyBounds) -> Result<Self, Error> {
        let mut source = Self {
            origin,
            rows: R::default(),
            loaded: None,
            earlier: (None, R::default()),
            buffer: Vec::new(),
            block: 0,
            left: 0..0,
            from: range.from.clone(),
        };
        let end = match (&source.origin, &range.to) {
            (RowSource::Memory(rows), Some(to)) => rows.lower_bound(to),
            (RowSource::Memory(rows), None) => rows.len(),
            (RowSource::Run(run), Some(to)) => run.blocks_before(to),
            (RowSource::Run(run), None) => run.block_count(),
        };
        match &source.origin {
            RowSource::Memory(rows) => source.left = rows.lower_bound(&source.from).min(end)..end,
            RowSource::Run(_) => {
                source.block = end;
                source.load_before()?;
                if let Some(to) = range.to.as_deref().filter(|_| !source.left.is_empty()) {
                    source.left.end = source.rows.lower_bound(to);
                    source.load_if_empty()?;
                }
            }
        }
        Ok(source)
    }

    #[inline]
    fn held(&self) -> &R {
        match &self.origin {
            RowSource::Memory(rows) => rows,
            RowSource::Run(_) => &self.rows,
        }
    }
    #[inline]
    fn current(&self) -> Option<(&[u8], &R::Row)> {
        let number = self.left.end.checked_sub(1).filter(|_| !self.left.is_empty())?;
        let rows = self.held();
        Some((rows.key(number), rows.row(number)))
    }
    #[inline]
    fn row_at(&mut self, block: usize, number: usize) -> Result<&R::Row, Error> {
        let run = match &self.origin {
            RowSource::Memory(rows) => return Ok(rows.row(number)),
            RowSource::Run(run) => run,
        };
        if self.loaded == Some(block) {
            return Ok(self.rows.row(number));
        }
        if self.earlier.0 != Some(block) {
            self.earlier.0 = None;
            run.read_block(block, &mut self.buffer, &mut self.earlier.1)?;
            self.earlier.0 = Some(block);
        }
        Ok(self.earlier.1.row(number))
    }
    #[inline]
    fn pass(&mut self, count: usize) -> Result<(), Error> {
        self.left.end -= count;
        if self.left.is_empty() { self.load_before() } else { Ok(()) }
    }

    fn skip_key(&mut self, key: &[u8]) -> Result<(), Error> {
        let Some((current, _)) = self.current() else { return Ok(()) };
        if current != key {
            return Ok(());
        }
        let first = self.held().first_of_key(self.left.end - 1);
        self.left.end = first.max(self.left.start);
        if self.left.is_empty()
            && let RowSource::Run(run) = &self.origin
        {
            // Earlier blocks that begin with the key hold nothing else.
            self.block = self.block.min(run.blocks_before(key));
            self.load_before()?;
            if !self.left.is_empty() {
                self.left.end = self.rows.lower_bound(key).max(self.left.start);
            }
        }
        self.load_if_empty()
    }

    fn load_if_empty(&mut self) -> Result<(), Error> {
        if self.left.is_empty() { self.load_before() } else { Ok(()) }
    }

    /// Reads the block before the current one, unless the range begins after it.
    fn load_before(&mut self) -> Result<(), Error> {
        let RowSource::Run(run) = &self.origin else { return Ok(()) };
        self.left = 0..0;
        if self.block == 0 {
            return Ok(());
        }
        self.block -= 1;
        std::mem::swap(&mut self.rows, &mut self.earlier.1);
        self.earlier.0 = self.loaded.take();
        run.read_block(self.block, &mut self.buffer, &mut self.rows)?;
        self.loaded = Some(self.block);
        let from = if self.from.is_empty() { 0 } else { self.rows.lower_bound(&self.from) };
        self.left = from..self.rows.len();
        if from > 0 {
            // Everything before this block is before the range.
            self.block = 0;
        }
        Ok(())
    }
}
