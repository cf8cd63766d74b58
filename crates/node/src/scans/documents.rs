//! The documents of a scan: chosen versions, in the order of their locations on disk (P1, A5).

use crate::describe::{DescribedVersion, Describer, SORT_BYTES_MAX};
use crate::error::Error;
use crate::monitor::{Activity, Meter};
use crate::node::Node;
use archive::derived::Facts;
use archive::{Choice, Reader, Snapshot, SortOrder, Sorter, Version};
use scan::PointerWriter;
use std::cell::Cell;
use std::iter::Peekable;
use std::path::Path;

/// Finds the documents.
pub struct DocumentFinder<'a> {
    reader: &'a Reader,
    should_stop: &'a dyn Fn() -> bool,
    wanted: Wanted,
    describer: Describer<'a>,
    meter: Box<dyn Meter>,
    count: Cell<u64>,
}

/// Which documents are wanted.
#[derive(Debug)]
pub enum Wanted {
    /// A snapshot.
    Chosen(Choice),
    /// The versions of the later snapshot whose content differs from the earlier one.
    Changed {
        /// The earlier snapshot.
        earlier: Choice,
        /// The later snapshot.
        later: Choice,
    },
}

/// Progress is reported once for this many documents.
const REPORT_EVERY: u64 = 1_000;

impl<'a> DocumentFinder<'a> {
    /// Finds what is wanted, in one of `languages` or in any if there are none.
    pub fn new(
        node: &Node,
        reader: &'a Reader,
        wanted: Wanted,
        languages: &'a [String],
        should_stop: &'a dyn Fn() -> bool,
    ) -> Result<Self, Error> {
        let describer = Describer::new(reader, languages)?;
        let meter = node.monitor.begin(Activity::ChoosingDocuments, None);
        Ok(Self { reader, should_stop, wanted, describer, meter, count: Cell::new(0) })
    }

    /// Writes every document to `list`, in the order of their locations.
    pub fn find(&self, list: &mut PointerWriter, spool: &Path) -> Result<(), Error> {
        let sort = Error::archive("sort the documents");
        let versions = self.versions()?;
        if self.describer.has_to_look_up(true)? {
            for described in self.describer.describe(versions, true, spool)? {
                let DescribedVersion { version, facts } = described?;
                list.push(&version.to_bytes(&scan::beside(&version, &facts))).map_err(Error::Scan)?;
                self.count()?;
            }
            return Ok(());
        }
        let mut sorter = Sorter::new(SortOrder::Address, spool, SORT_BYTES_MAX);
        for version in versions {
            let version = version?;
            sorter.push_with(&version, &scan::beside(&version, &Facts::default())).map_err(&sort)?;
            self.count()?;
        }
        for version in sorter.finish_encoded().map_err(&sort)? {
            list.push(&version.map_err(&sort)?).map_err(Error::Scan)?;
        }
        Ok(())
    }

    /// The wanted versions, by key.
    fn versions(&self) -> Result<Box<dyn Iterator<Item = Result<Version, Error>>>, Error> {
        let walk = Error::archive("read the index");
        let versions: Box<dyn Iterator<Item = _>> = match &self.wanted {
            Wanted::Chosen(choice) => Box::new(self.reader.snapshot(choice).map_err(&walk)?),
            Wanted::Changed { earlier, later } => Box::new(Changed {
                earlier: self.reader.snapshot(earlier).map_err(&walk)?.peekable(),
                later: self.reader.snapshot(later).map_err(&walk)?,
            }),
        };
        Ok(Box::new(versions.map(move |version| version.map_err(&walk))))
    }

    /// Counts one more document.
    fn count(&self) -> Result<(), Error> {
        if (self.should_stop)() {
            return Err(Error::Stopped);
        }
        let count = self.count.get() + 1;
        self.count.set(count);
        if count.is_multiple_of(REPORT_EVERY) {
            self.meter.set(count, None);
        }
        Ok(())
    }

    /// Number of versions that were left out because their language is not known yet.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.describer.left_out()
    }
}

/// The versions of one snapshot that are not in an earlier one with the same content. Both come by key, last key first.
struct Changed {
    earlier: Peekable<Snapshot>,
    later: Snapshot,
}

impl Iterator for Changed {
    type Item = Result<Version, archive::Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let version = match self.later.next()? {
                Ok(version) => version,
                error => return Some(error),
            };
            while let Some(Ok(earlier)) = self.earlier.peek() {
                if earlier.payload.key <= version.payload.key {
                    break;
                }
                self.earlier.next();
            }
            match self.earlier.peek() {
                Some(Err(_)) => return self.earlier.next(),
                Some(Ok(earlier)) if is_same(earlier, &version) => {}
                _ => return Some(Ok(version)),
            }
        }
    }
}

/// Whether a page has the same content in both. If the content of one is unknown, only the same version is the same.
fn is_same(earlier: &Version, later: &Version) -> bool {
    let (one, other) = (&earlier.payload, &later.payload);
    let is_one = one.location == other.location;
    let has_same = one.content.is_some() && one.content == other.content;
    one.key == other.key && (is_one || has_same)
}
