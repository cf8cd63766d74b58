//! The rows of a stage on disk: gathered, written with the checkpoint, and read back by key.

use crate::error::Error;
use archive::{Checkpoint, Target};
use base::disk::Disk;
use runs::{Keep, KeyBounds, Names, PublishedRuns, RowSource, Rows, Run, RunStore, Walk};
use stage::parse_checkpoint;
use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Rows are written when they take this many bytes, between commits too.
const MEMORY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// How often a reader starts again when the writer merges runs meanwhile.
const ATTEMPTS_MAX: usize = 8;

/// The rows of a stage as its writer has them.
///
/// **Invariant:** memory holds the rows of one document more than [`MEMORY_BYTES_MAX`] at most. What is written between two
/// commits are whole documents; after a crash they are known and not written again.
#[derive(Debug)]
pub(crate) struct StageRows<R: Rows> {
    stage: &'static str,
    store: RunStore<R>,
    rows: Vec<(Vec<u8>, R::Row)>,
    bytes: usize,
    /// Documents of `rows`, by their keys.
    pending: HashSet<Vec<u8>>,
}

impl<R: Rows> StageRows<R> {
    /// Opens what is in `directory`, which is created if need be. What is damaged counts as empty, so that the next run
    /// rebuilds it; the damage is returned.
    pub(crate) fn open(
        stage: &'static str,
        disk: Arc<dyn Disk>,
        directory: &Path,
    ) -> Result<(Self, Option<Error>), Error> {
        let (store, damage) = RunStore::open(disk, directory).map_err(Error::of(stage))?;
        let rows = Self { stage, store, rows: Vec::new(), bytes: 0, pending: HashSet::new() };
        Ok((rows, damage.map(Error::of(stage))))
    }
    pub(crate) fn merge_beside(&mut self) {
        self.store.merge_beside(true);
    }
    pub(crate) fn checkpoint(&self) -> Result<Option<Checkpoint>, stage::Error> {
        parse_checkpoint(self.stage, self.store.mark())
    }

    /// Whether a document is stored under this key.
    pub(crate) fn is_known(&self, key: &[u8]) -> Result<bool, Error> {
        if self.pending.contains(key) {
            return Ok(true);
        }
        let runs = self.store.runs().filter(|run| run.may_hold(key));
        let sources: Vec<_> = runs.map(|run| RowSource::Run(Arc::clone(run))).collect();
        let walk = Walk::new(&sources, self.store.names(), &KeyBounds::one(key));
        Ok(walk.map_err(Error::of(self.stage))?.current().is_some())
    }
    /// Adds a row of a document that takes about this many bytes.
    pub(crate) fn add(&mut self, key: Vec<u8>, row: R::Row, bytes: usize) {
        self.bytes += key.len() + bytes;
        self.rows.push((key, row));
    }
    /// All rows of the document with this key were added.
    pub(crate) fn end_document(&mut self, key: Vec<u8>) -> Result<(), Error> {
        self.pending.insert(key);
        if self.bytes >= MEMORY_BYTES_MAX { self.write(None) } else { Ok(()) }
    }

    /// Writes what is in memory, with the checkpoint if there is one.
    pub(crate) fn write(&mut self, checkpoint: Option<&Checkpoint>) -> Result<(), Error> {
        let mark = checkpoint.map_or_else(|| self.store.mark().to_owned(), Checkpoint::to_string);
        if self.rows.is_empty() {
            return self.store.set_mark(&mark).map_err(Error::of(self.stage));
        }
        let names = Names::default();
        self.rows.sort_unstable_by(|(key, row), (other_key, other)| {
            key.cmp(other_key).then_with(|| R::order(row, other, &names))
        });
        let rows = &self.rows;
        let filled = self.store.add_marked_run(rows.len() as u64, &mark, |run, _| {
            rows.iter().try_for_each(|(key, row)| run.push(key, row))
        });
        filled.map_err(Error::of(self.stage))?;
        self.forget_pending();
        self.store.merge().map_err(Error::of(self.stage))
    }
    fn forget_pending(&mut self) {
        (self.rows, self.bytes, self.pending) = (Vec::new(), 0, HashSet::new());
    }

    pub(crate) fn take_merged(&mut self) -> Result<(), Error> {
        self.store.take_merged(false).map_err(Error::of(self.stage))
    }
    pub(crate) fn rewrite(&mut self, keep: &mut dyn Keep<R>) -> Result<(), Error> {
        self.forget_pending();
        self.store.rewrite(keep).map_err(Error::of(self.stage))
    }
    pub(crate) fn clear(&mut self) -> Result<(), Error> {
        self.forget_pending();
        self.store.clear().map_err(Error::of(self.stage))
    }
}

/// Whether a row is of a target, and whether it stands for a document of it.
pub(crate) type Judge<R> = fn(&Target, &[u8], &R) -> (bool, bool);

/// Keeps the rows that are not of the target.
pub(crate) struct Others<'t, R: Rows> {
    pub(crate) target: &'t Target,
    pub(crate) judge: Judge<R::Row>,
    /// Documents that were left out.
    pub(crate) documents: u64,
}

impl<R: Rows<Secondary = std::convert::Infallible>> Keep<R> for Others<'_, R> {
    fn row(&mut self, key: &[u8], row: &mut R::Row, _: &mut Names) -> bool {
        let (is_of_target, is_document) = (self.judge)(self.target, key, row);
        self.documents += u64::from(is_of_target && is_document);
        !is_of_target
    }
    fn secondary(&mut self, entry: &std::convert::Infallible) -> bool {
        match *entry {}
    }
}

/// The rows of a stage as they were published when they were opened. No lock is taken.
#[derive(Debug)]
pub(crate) struct PublishedRows<R: Rows> {
    stage: &'static str,
    runs: Vec<Arc<Run<R>>>,
    names: Arc<Names>,
    pub(crate) checkpoint: Option<Checkpoint>,
}

impl<R: Rows> PublishedRows<R> {
    /// Opens what is in `directory`; nothing if that does not exist.
    pub(crate) fn open(stage: &'static str, disk: &dyn Disk, directory: &Path) -> Result<Self, Error> {
        for _ in 1..ATTEMPTS_MAX {
            match Self::try_open(stage, disk, directory) {
                Err(Error::Runs(runs::Error::Io { source, .. }))
                    if source.kind() == io::ErrorKind::NotFound => {}
                result => return result,
            }
        }
        Self::try_open(stage, disk, directory)
    }
    fn try_open(stage: &'static str, disk: &dyn Disk, directory: &Path) -> Result<Self, Error> {
        let mut names = Names::default();
        let published = PublishedRuns::open(disk, directory, &mut names).map_err(Error::of(stage))?;
        let checkpoint = parse_checkpoint(stage, published.mark())?;
        Ok(Self { stage, runs: published.runs, names: Arc::new(names), checkpoint })
    }
    pub(crate) fn bytes(&self) -> u64 {
        self.runs.iter().map(|run| run.bytes()).sum()
    }
    pub(crate) fn verify(&self) -> Result<(), Error> {
        self.runs.iter().try_for_each(|run| run.verify()).map_err(Error::of(self.stage))
    }

    /// The rows of a key, from the last to the first.
    pub(crate) fn rows(
        &self,
        key: &[u8],
    ) -> Result<impl Iterator<Item = Result<R::Row, Error>> + use<R>, Error> {
        let holding = self.runs.iter().filter(|run| run.may_hold(key));
        let sources: Vec<_> = holding.map(|run| RowSource::Run(Arc::clone(run))).collect();
        let failed = Error::of(self.stage);
        let mut walk = Walk::new(&sources, &self.names, &KeyBounds::one(key)).map_err(&failed)?;
        let mut has_failed = false;
        Ok(std::iter::from_fn(move || {
            let row = walk.current().map(|(_, row)| row.clone()).filter(|_| !has_failed)?;
            match walk.step() {
                Ok(()) => Some(Ok(row)),
                Err(error) => {
                    has_failed = true;
                    Some(Err(failed(error)))
                }
            }
        }))
    }
}

/// The error for the runner.
pub(crate) fn of_stage(stage: &'static str) -> impl Fn(Error) -> stage::Error {
    move |error| match error {
        Error::Stage(error) => error,
        Error::Archive(error) => error.into(),
        error => stage::Error::of(stage, error),
    }
}
