//! What is known of chosen versions only because their content was read: by it they are chosen, and described (D11).
//!
//! Versions come by key, and what is known of them lies by place. So they are put in the order of their places first, in
//! bounded memory, and each journal of the table is read once.

use super::list::SORT_BYTES_MAX;
use crate::exit::Advised;
use crate::words::count_of;
use anyhow::Context as _;
use archive::derived::{self, Facts, Told};
use archive::{Order, Reader, Sorter, Version};
use std::cell::Cell;
use std::path::Path;

/// A chosen version, and what is known of its content.
pub(in crate::commands) struct Described {
    pub(in crate::commands) version: Version,
    pub(in crate::commands) facts: Facts,
}

impl From<Version> for Described {
    fn from(version: Version) -> Self {
        Self { version, facts: Facts::default() }
    }
}

/// Described versions, in any order.
pub(in crate::commands) type Versions<'a> = Box<dyn Iterator<Item = anyhow::Result<Described>> + 'a>;

/// Chooses versions by language, and says what is known of them.
#[derive(Debug)]
pub(in crate::commands) struct Describer<'a> {
    reader: &'a Reader,
    table: derived::Reader,
    languages: &'a [String],
    unread: Cell<u64>,
}

/// What fills the table.
const ADVICE: &str = "a crawl, or `utsushi rebuild derived`, fills it";

impl<'a> Describer<'a> {
    /// A describer that lets through what is in one of `languages`, or everything if there are none.
    pub(in crate::commands) fn new(reader: &'a Reader, languages: &'a [String]) -> anyhow::Result<Self> {
        let table = reader.derived();
        if !languages.is_empty() && !table.exists().context("cannot look for what is known of languages")? {
            let advice = format!("leave out `--language`; or wait until languages are known: {ADVICE}");
            let why = anyhow::anyhow!(
                "the language of a page is known only once its text has been read, and nothing in this data \
                 directory has read it"
            );
            return Err(Advised::new("cannot choose by `--language`", advice, why).into());
        }
        Ok(Self { reader, table, languages, unread: Cell::new(0) })
    }

    /// Whether what is known of versions has to be looked up: it is wanted and there is something, or it is chosen by. What was
    /// looked up comes in the order in which it lies on disk.
    pub(in crate::commands) fn has_to_look_up(&self, is_wanted: bool) -> anyhow::Result<bool> {
        let is_known = is_wanted && self.table.exists().context("cannot look for what is known")?;
        Ok(!self.languages.is_empty() || is_known)
    }

    /// Describes versions if that is wanted or needed; else they are handed on as they come.
    pub(in crate::commands) fn describe<'v>(
        &'v self,
        versions: impl Iterator<Item = anyhow::Result<Version>> + 'v,
        is_wanted: bool,
        spool: &Path,
    ) -> anyhow::Result<Versions<'v>> {
        if !self.has_to_look_up(is_wanted)? {
            return Ok(Box::new(versions.map(|version| version.map(Described::from))));
        }
        let mut sorter = Sorter::new(Order::Address, spool, SORT_BYTES_MAX);
        for version in versions {
            sorter.push(&version?)?;
        }
        let described = sorter.finish()?.map(|version| self.look_up(version?));
        Ok(Box::new(described.filter_map(Result::transpose)))
    }

    /// What is known of a version; nothing when it is not let through.
    fn look_up(&self, version: Version) -> anyhow::Result<Option<Described>> {
        let told =
            self.table.of(&version.payload, self.reader).context("cannot look up what is known of it")?;
        let facts = match told {
            Told::Known(facts) => facts,
            Told::Nothing => Facts::default(),
            Told::Unread => {
                self.unread.set(self.unread.get() + 1);
                Facts::default()
            }
        };
        let is_let_through =
            self.languages.is_empty() || self.languages.iter().any(|language| facts.is_in(language));
        Ok(is_let_through.then_some(Described { version, facts }))
    }

    /// That versions were left out because nobody has read them, if there were any.
    pub(in crate::commands) fn left_out(&self) -> Option<String> {
        let unread = self.unread.get();
        let is_told = unread > 0 && !self.languages.is_empty();
        is_told.then(|| {
            format!("{} left out, whose language is not known yet; {ADVICE}", count_of(unread, "version"))
        })
    }
}
