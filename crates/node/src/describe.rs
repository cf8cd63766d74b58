//! Adds to chosen versions what is known only from their content, such as the language, and filters by it (D11).
//!
//! Versions come by key, and the derived table is ordered by location. So versions are sorted by location first, in bounded
//! memory, and each journal of the table is read once.

use crate::error::Error;
use archive::derived::{self, DerivedFacts, Facts};
use archive::{Reader, SortOrder, Sorter, Version};
use std::cell::Cell;
use std::path::Path;

/// A chosen version with the facts about its content.
pub struct DescribedVersion {
    /// The version.
    pub version: Version,
    /// What is known of its content.
    pub facts: Facts,
}

impl From<Version> for DescribedVersion {
    fn from(version: Version) -> Self {
        Self { version, facts: Facts::default() }
    }
}

/// Described versions, in any order.
pub type DescribedVersions<'a, E> = Box<dyn Iterator<Item = Result<DescribedVersion, E>> + 'a>;

/// Looks up the facts of versions, and filters by language.
#[derive(Debug)]
pub struct Describer<'a> {
    reader: &'a Reader,
    table: derived::DerivedReader,
    languages: &'a [String],
    unread: Cell<u64>,
}

/// Memory for sorting; the rest is on disk.
pub const SORT_BYTES_MAX: usize = 64 * 1024 * 1024;

impl<'a> Describer<'a> {
    /// A describer that keeps versions in one of `languages`, or all if there are none.
    pub fn new(reader: &'a Reader, languages: &'a [String]) -> Result<Self, Error> {
        let table = reader.derived();
        let exists = || table.exists().map_err(Error::archive("look for what is known of languages"));
        if !languages.is_empty() && !exists()? {
            return Err(Error::LanguagesUnknown);
        }
        Ok(Self { reader, table, languages, unread: Cell::new(0) })
    }

    /// Whether facts have to be looked up: they are wanted and there are some, or versions are filtered by them. Looked-up
    /// versions come in the order of their locations.
    pub fn has_to_look_up(&self, is_wanted: bool) -> Result<bool, Error> {
        let is_known = is_wanted && self.table.exists().map_err(Error::archive("look for what is known"))?;
        Ok(!self.languages.is_empty() || is_known)
    }

    /// Describes versions if that is wanted or needed; otherwise they pass as they are.
    pub fn describe<'v, E: From<Error> + 'v>(
        &'v self,
        versions: impl Iterator<Item = Result<Version, E>> + 'v,
        is_wanted: bool,
        spool: &Path,
    ) -> Result<DescribedVersions<'v, E>, E> {
        if !self.has_to_look_up(is_wanted)? {
            return Ok(Box::new(versions.map(|version| version.map(DescribedVersion::from))));
        }
        let sort = Error::archive("sort the versions");
        let mut sorter = Sorter::new(SortOrder::Address, spool, SORT_BYTES_MAX);
        for version in versions {
            sorter.push(&version?).map_err(&sort)?;
        }
        let described =
            sorter.finish().map_err(&sort)?.map(move |version| Ok(self.look_up(version.map_err(&sort)?)?));
        Ok(Box::new(described.filter_map(Result::transpose)))
    }

    /// A version with its facts; nothing if it is filtered out.
    fn look_up(&self, version: Version) -> Result<Option<DescribedVersion>, Error> {
        let told = self
            .table
            .of(&version.payload, self.reader)
            .map_err(Error::archive("look up what is known of it"))?;
        let facts = match told {
            DerivedFacts::Known(facts) => facts,
            DerivedFacts::Nothing => Facts::default(),
            DerivedFacts::Unread => {
                self.unread.set(self.unread.get() + 1);
                Facts::default()
            }
        };
        let is_kept =
            self.languages.is_empty() || self.languages.iter().any(|language| facts.is_in(language));
        Ok(is_kept.then_some(DescribedVersion { version, facts }))
    }

    /// Number of versions that were left out because their language is not known yet.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        if self.languages.is_empty() { 0 } else { self.unread.get() }
    }
}
