//! The link graph as a stage.

use super::row::{LinkRow, LinkRows, in_key, is_kept, out_key, page_of};
use crate::error::Error;
use crate::id::DocumentId;
use archive::{Checkpoint, Key, Target};
use base::disk::Disk;
use html::Page;
use runs::{Keep, KeyBounds, Names, RowSource, Rows as _, RunStore, Walk};
use stage::{Arrival, Stage, parse_checkpoint};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// The name of the stage, and of its folder in a data directory.
pub const LINKS: &str = "links";
/// Rows are written when they take this many bytes, between commits too.
const MEMORY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// What a row takes beside its texts.
const ROW_BYTES: usize = 120;

/// Keeps the link graph up to date.
///
/// **Invariant:** it holds the rows of one page more than [`MEMORY_BYTES_MAX`] at most. What it writes between two commits
/// are whole documents; after a crash they are known and not written again.
#[derive(Debug)]
pub struct LinkStage {
    store: RunStore<LinkRows>,
    rows: Vec<(Vec<u8>, LinkRow)>,
    bytes: usize,
    /// Documents of `rows`, by their keys.
    pending: HashSet<Vec<u8>>,
}

impl LinkStage {
    /// Opens the graph in `directory`, which is created if need be. A damaged graph counts as empty, so that the next run
    /// rebuilds it; the damage is returned.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn open(disk: Arc<dyn Disk>, directory: &Path) -> Result<(Self, Option<Error>), Error> {
        let (store, damage) = RunStore::open(disk, directory).map_err(Error::of(LINKS))?;
        let stage = Self { store, rows: Vec::new(), bytes: 0, pending: HashSet::new() };
        Ok((stage, damage.map(Error::of(LINKS))))
    }
    /// Merges on a thread of its own, so that it does not fall behind a running crawl meanwhile.
    #[must_use]
    pub fn merging_beside(mut self) -> Self {
        self.store.merge_beside(true);
        self
    }

    /// Whether the links of a document are stored.
    fn is_known(&self, key: &[u8]) -> Result<bool, Error> {
        if self.pending.contains(key) {
            return Ok(true);
        }
        let runs = self.store.runs().filter(|run| run.may_hold(key));
        let sources: Vec<_> = runs.map(|run| RowSource::Run(Arc::clone(run))).collect();
        let walk = Walk::new(&sources, self.store.names(), &KeyBounds::one(key)).map_err(Error::of(LINKS))?;
        Ok(walk.current().is_some())
    }

    fn learn(&mut self, arrival: &Arrival<'_>) -> Result<(), Error> {
        let entry = arrival.entry();
        let Some(document) = DocumentId::of_entry(entry).filter(|_| arrival.url().is_some()) else {
            return Ok(());
        };
        let key = out_key(&entry.key, document);
        if self.is_known(&key)? {
            return Ok(());
        }
        let Some(page) = arrival.page()? else { return Ok(()) };
        self.add_document(&entry.key, &entry.url, key, document, page);
        if self.bytes >= MEMORY_BYTES_MAX { self.write(None) } else { Ok(()) }
    }

    fn add_document(&mut self, page_key: &Key, url: &str, key: Vec<u8>, document: DocumentId, page: &Page) {
        let (kind, text) = (None, Box::from(""));
        let whole = LinkRow { document, number: 0, kind, nofollow: false, url: url.into(), text };
        self.add(key.clone(), whole);
        for (link, number) in page.links.iter().zip(1..) {
            let target = Key::from(link.url.key());
            if !is_kept(link.kind) || target == *page_key {
                continue;
            }
            let row = LinkRow {
                document,
                number,
                kind: Some(link.kind),
                nofollow: link.nofollow || page.asks.nofollow,
                url: link.url.as_str().into(),
                text: link.anchor_text.clone(),
            };
            self.add(in_key(&target), LinkRow { url: url.into(), ..row.clone() });
            self.add(key.clone(), row);
        }
        self.pending.insert(key);
    }
    fn add(&mut self, key: Vec<u8>, row: LinkRow) {
        self.bytes += key.len() + row.url.len() + row.text.len() + ROW_BYTES;
        self.rows.push((key, row));
    }

    /// Writes what is in memory, with the checkpoint if there is one.
    fn write(&mut self, checkpoint: Option<&Checkpoint>) -> Result<(), Error> {
        let mark = checkpoint.map_or_else(|| self.store.mark().to_owned(), Checkpoint::to_string);
        if self.rows.is_empty() {
            return self.store.set_mark(&mark).map_err(Error::of(LINKS));
        }
        let names = Names::default();
        self.rows.sort_unstable_by(|(key, row), (other_key, other)| {
            key.cmp(other_key).then_with(|| LinkRows::order(row, other, &names))
        });
        let rows = &self.rows;
        let filled = self.store.add_marked_run(rows.len() as u64, &mark, |run, _| {
            rows.iter().try_for_each(|(key, row)| run.push(key, row))
        });
        filled.map_err(Error::of(LINKS))?;
        self.forget_pending();
        self.store.merge().map_err(Error::of(LINKS))
    }
    fn forget_pending(&mut self) {
        (self.rows, self.bytes, self.pending) = (Vec::new(), 0, HashSet::new());
    }
}

impl Stage for LinkStage {
    fn name(&self) -> &'static str {
        LINKS
    }
    fn checkpoint(&self) -> Result<Option<Checkpoint>, stage::Error> {
        parse_checkpoint(LINKS, self.store.mark())
    }
    fn take(&mut self, arrival: &Arrival<'_>) -> Result<(), stage::Error> {
        self.learn(arrival).map_err(of_stage)
    }
    fn commit(&mut self, checkpoint: &Checkpoint) -> Result<(), stage::Error> {
        self.write(Some(checkpoint)).map_err(of_stage)
    }
    fn sync(&mut self) -> Result<(), stage::Error> {
        self.store.take_merged(false).map_err(|error| of_stage(Error::of(LINKS)(error)))
    }
    /// Removes the target's documents and their links. What other pages say of it stays with them.
    fn take_down(&mut self, target: &Target) -> Result<(), stage::Error> {
        self.forget_pending();
        self.store.rewrite(&mut Others { target }).map_err(|error| of_stage(Error::of(LINKS)(error)))
    }
    fn clear(&mut self) -> Result<(), stage::Error> {
        self.forget_pending();
        self.store.clear().map_err(|error| of_stage(Error::of(LINKS)(error)))
    }
}

/// The error for the runner.
fn of_stage(error: Error) -> stage::Error {
    match error {
        Error::Stage(error) => error,
        Error::Archive(error) => error.into(),
        error => stage::Error::of(LINKS, error),
    }
}

/// Keeps the links that are not on pages of the target.
struct Others<'t> {
    target: &'t Target,
}

impl Keep<LinkRows> for Others<'_> {
    fn row(&mut self, key: &[u8], row: &mut LinkRow, _: &mut Names) -> bool {
        let page = page_of(key).unwrap_or_else(|| Key::of(&row.url));
        !self.target.holds(&page)
    }
    fn secondary(&mut self, entry: &std::convert::Infallible) -> bool {
        match *entry {}
    }
}
