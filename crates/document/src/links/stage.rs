//! The link graph as a stage.

use super::row::{LinkRow, LinkRows, in_key, is_kept, out_key, page_of};
use crate::error::Error;
use crate::id::DocumentId;
use crate::store::{Others, StageRows, of_stage};
use archive::{Checkpoint, Key, Target};
use base::disk::Disk;
use html::Page;
use stage::{Arrival, Stage};
use std::path::Path;
use std::sync::Arc;

/// The name of the stage, and of its folder in a data directory.
pub const LINKS: &str = "links";
/// What a row takes beside its texts.
const ROW_BYTES: usize = 120;

/// Keeps the link graph up to date.
#[derive(Debug)]
pub struct LinkStage(StageRows<LinkRows>);

impl LinkStage {
    /// Opens the graph in `directory`, which is created if need be. A damaged graph counts as empty, so that the next run
    /// rebuilds it; the damage is returned.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn open(disk: Arc<dyn Disk>, directory: &Path) -> Result<(Self, Option<Error>), Error> {
        let (rows, damage) = StageRows::open(LINKS, disk, directory)?;
        Ok((Self(rows), damage))
    }
    /// Merges on a thread of its own, so that it does not fall behind a running crawl meanwhile.
    #[must_use]
    pub fn merging_beside(mut self) -> Self {
        self.0.merge_beside();
        self
    }

    fn learn(&mut self, arrival: &Arrival<'_>) -> Result<(), Error> {
        let entry = arrival.entry();
        let Some(document) = DocumentId::of_entry(entry).filter(|_| arrival.url().is_some()) else {
            return Ok(());
        };
        let key = out_key(&entry.key, document);
        if self.0.is_known(&key)? {
            return Ok(());
        }
        let Some(page) = arrival.page()? else { return Ok(()) };
        self.add_links(&entry.key, &entry.url, &key, document, page);
        self.0.end_document(key)
    }

    fn add_links(&mut self, page_key: &Key, url: &str, key: &[u8], document: DocumentId, page: &Page) {
        let (kind, text) = (None, Box::from(""));
        let whole = LinkRow { document, number: 0, kind, nofollow: false, url: url.into(), text };
        self.add(key.to_vec(), whole);
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
            self.add(key.to_vec(), row);
        }
    }
    fn add(&mut self, key: Vec<u8>, row: LinkRow) {
        let bytes = row.url.len() + row.text.len() + ROW_BYTES;
        self.0.add(key, row, bytes);
    }

    /// Removes the documents of the target and their links, and returns how many documents that were. What other pages say
    /// of it stays with them.
    ///
    /// # Errors
    /// When the graph cannot be read or written.
    pub fn remove(&mut self, target: &Target) -> Result<u64, Error> {
        let judge = |target: &Target, key: &[u8], row: &LinkRow| {
            let page = page_of(key).unwrap_or_else(|| Key::of(&row.url));
            (target.holds(&page), row.kind.is_none())
        };
        let mut others = Others { target, judge, documents: 0 };
        self.0.rewrite(&mut others)?;
        Ok(others.documents)
    }
}

impl Stage for LinkStage {
    fn name(&self) -> &'static str {
        LINKS
    }
    fn checkpoint(&self) -> Result<Option<Checkpoint>, stage::Error> {
        self.0.checkpoint()
    }
    fn take(&mut self, arrival: &Arrival<'_>) -> Result<(), stage::Error> {
        self.learn(arrival).map_err(of_stage(LINKS))
    }
    fn commit(&mut self, checkpoint: &Checkpoint) -> Result<(), stage::Error> {
        self.0.write(Some(checkpoint)).map_err(of_stage(LINKS))
    }
    fn sync(&mut self) -> Result<(), stage::Error> {
        self.0.take_merged().map_err(of_stage(LINKS))
    }
    fn take_down(&mut self, target: &Target) -> Result<u64, stage::Error> {
        self.remove(target).map_err(of_stage(LINKS))
    }
    fn clear(&mut self) -> Result<(), stage::Error> {
        self.0.clear().map_err(of_stage(LINKS))
    }
}
