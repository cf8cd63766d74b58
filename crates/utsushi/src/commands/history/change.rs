//! What changed between the versions of a page: its text, or only what surrounds it (C3).
//!
//! **Invariant:** a version is compared with the last content before it, whatever errors are in between.

use archive::derived::DerivedFacts;
use archive::{Entry, Error, Flag, Reader};

/// The change that a visit found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// There was nothing to compare with.
    First,
    /// The main text.
    Text,
    /// Adverts, notices, dates, counters, navigation, markup; not the main text.
    Surroundings,
    /// The bytes of something that has no text.
    Content,
    /// The bytes; the text has not been read yet.
    Unread,
    /// Nothing: the page was gone and is back unchanged.
    Nothing,
}

impl Change {
    /// The change as programs read it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Text => "text",
            Self::Surroundings => "surroundings",
            Self::Content => "content",
            Self::Unread => "unread",
            Self::Nothing => "nothing",
        }
    }
    /// The change for people; the obvious one is left out.
    pub(super) const fn in_words(self) -> &'static str {
        match self {
            Self::First | Self::Unread | Self::Content => "",
            Self::Text => "text",
            Self::Surroundings => "surroundings",
            Self::Nothing => "as before",
        }
    }
}

/// The change found by each visit, the oldest first; `None` for a visit that found the same content.
pub(super) fn of(entries: &[Entry], reader: &Reader) -> Result<Vec<Option<Change>>, Error> {
    let table = reader.derived();
    let mut last: Option<(&Entry, DerivedFacts)> = None;
    let mut changes = Vec::with_capacity(entries.len());
    for entry in entries {
        if entry.flag != Flag::Changed {
            changes.push(None);
            continue;
        }
        let told = table.of(entry, reader)?;
        changes.push(Some(last.as_ref().map_or(Change::First, |last| between(last, (entry, &told)))));
        last = Some((entry, told));
    }
    Ok(changes)
}

fn between((last, known): &(&Entry, DerivedFacts), (entry, told): (&Entry, &DerivedFacts)) -> Change {
    let is_same = |one: Option<_>, other| one.is_some() && one == other;
    if is_same(last.content, entry.content) {
        return Change::Nothing;
    }
    match (known, told) {
        (DerivedFacts::Unread, _) | (_, DerivedFacts::Unread) => Change::Unread,
        (DerivedFacts::Known(one), DerivedFacts::Known(other)) => match (one.main_text, other.main_text) {
            (None, None) => Change::Content,
            (one, other) if one == other => Change::Surroundings,
            _ => Change::Text,
        },
        _ => Change::Content,
    }
}
