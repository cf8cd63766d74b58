//! Walks the index backwards, over all its runs at once, and skips from page to page (paper 000, section 2).
//!
//! Backwards, because a version is valid until the next one of its page begins: the walker has seen that one already
//! when it comes to the version.
//!
//! **Invariant:** a walk holds one block a run, however many rows it passes.

use crate::error::Error;
use crate::index::row::{Files, Row, Rows};
use crate::index::run::Run;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// A range of keys: from the first, up to and without the second; without a second one, to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyRange {
    pub(crate) from: Vec<u8>,
    pub(crate) to: Option<Vec<u8>>,
}

impl KeyRange {
    pub(crate) fn all() -> Self {
        Self { from: Vec::new(), to: None }
    }
    /// The rows of one key.
    pub(crate) fn one(key: &str) -> Self {
        Self { from: key.as_bytes().to_vec(), to: Some([key.as_bytes(), &[0]].concat()) }
    }
}

/// Where rows come from: a run, or memory.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    Run(Arc<Run>),
    Memory(Arc<Rows>),
}

/// Walks rows from the greatest to the least.
#[derive(Debug)]
pub(crate) struct Walk {
    files: Arc<Files>,
    sources: Vec<Source>,
    /// The source whose row is next, and the one whose row comes after all of that source's greater ones.
    next: Option<usize>,
    rival: Option<usize>,
}

impl Walk {
    /// Begins behind the last row of the range.
    pub(crate) fn new(origins: &[Origin], files: &Arc<Files>, range: &KeyRange) -> Result<Self, Error> {
        let sources = origins.iter().map(|origin| Source::new(origin.clone(), range));
        let sources = sources.collect::<Result<Vec<_>, _>>()?;
        let mut walk = Self { files: Arc::clone(files), sources, next: None, rival: None };
        walk.choose();
        Ok(walk)
    }

    /// The row that the walk stands at, and its key.
    #[inline]
    pub(crate) fn current(&self) -> Option<(&[u8], &Row)> {
        self.sources[self.next?].current()
    }
    /// The key that the walk stands at, as text.
    pub(crate) fn key_text(&self) -> &str {
        self.current().and_then(|(key, _)| std::str::from_utf8(key).ok()).unwrap_or_default()
    }

    /// Goes on to the next row.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<(), Error> {
        let Some(next) = self.next else { return Ok(()) };
        self.sources[next].step()?;
        self.after_move(next);
        Ok(())
    }

    /// Goes on to the first row of another key.
    pub(crate) fn skip_key(&mut self) -> Result<(), Error> {
        let Some((key, _)) = self.current() else { return Ok(()) };
        let key = key.to_vec();
        for source in &mut self.sources {
            source.skip_key(&key)?;
        }
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
                key.cmp(other_key).then_with(|| row.order(other_row, &self.files))
            }
            (one, other) => one.is_some().cmp(&other.is_some()),
        }
    }
}

/// One run, or what is in memory, walked backwards.
#[derive(Debug)]
struct Source {
    origin: Origin,
    rows: Rows,
    buffer: Vec<u8>,
    block: usize,
    /// The rows of the block that are left.
    left: Range<usize>,
    from: Vec<u8>,
}

impl Source {
    fn new(origin: Origin, range: &KeyRange) -> Result<Self, Error> {
        let (rows, buffer, from) = (Rows::default(), Vec::new(), range.from.clone());
        let mut source = Self { origin, rows, buffer, block: 0, left: 0..0, from };
        let end = match (&source.origin, &range.to) {
            (Origin::Memory(rows), Some(to)) => rows.lower_bound(to),
            (Origin::Memory(rows), None) => rows.len(),
            (Origin::Run(run), Some(to)) => run.blocks_before(to),
            (Origin::Run(run), None) => run.block_count(),
        };
        match &source.origin {
            Origin::Memory(rows) => source.left = rows.lower_bound(&source.from).min(end)..end,
            Origin::Run(_) => {
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
    fn held(&self) -> &Rows {
        match &self.origin {
            Origin::Memory(rows) => rows,
            Origin::Run(_) => &self.rows,
        }
    }
    #[inline]
    fn current(&self) -> Option<(&[u8], &Row)> {
        let number = self.left.end.checked_sub(1).filter(|_| !self.left.is_empty())?;
        let rows = self.held();
        Some((rows.key(number), rows.row(number)))
    }
    #[inline]
    fn step(&mut self) -> Result<(), Error> {
        self.left.end -= 1;
        if self.left.is_empty() { self.load_before() } else { Ok(()) }
    }

    fn skip_key(&mut self, key: &[u8]) -> Result<(), Error> {
        let Some((current, _)) = self.current() else { return Ok(()) };
        if current != key {
            return Ok(());
        }
        let first = self.held().first_of_key(self.left.end - 1);
        self.left.end = first.max(self.left.start);
        if self.left.is_empty() {
            if let Origin::Run(run) = &self.origin {
                // Earlier blocks that begin with the key hold nothing else.
                self.block = self.block.min(run.blocks_before(key));
                self.load_before()?;
                if !self.left.is_empty() {
                    self.left.end = self.rows.lower_bound(key).max(self.left.start);
                }
            }
        }
        self.load_if_empty()
    }

    fn load_if_empty(&mut self) -> Result<(), Error> {
        if self.left.is_empty() { self.load_before() } else { Ok(()) }
    }

    /// Reads the block before the present one, unless the range begins behind it.
    fn load_before(&mut self) -> Result<(), Error> {
        let Origin::Run(run) = &self.origin else { return Ok(()) };
        self.left = 0..0;
        if self.block == 0 {
            return Ok(());
        }
        self.block -= 1;
        run.read_block(self.block, &mut self.buffer, &mut self.rows)?;
        let from = if self.from.is_empty() { 0 } else { self.rows.lower_bound(&self.from) };
        self.left = from..self.rows.len();
        if from > 0 {
            // Everything before this block is before the range.
            self.block = 0;
        }
        Ok(())
    }
}
