//! What changed between the versions of a page: its text, or only what surrounds it (C3).
//!
//! **Invariant:** a version is compared with the content that was seen last before it, whatever errors lie between.

use archive::derived::DerivedFacts;
use archive::{Entry, Error, Flag, Reader};

/// What a visit found to be other than before.
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
    /// The bytes; nobody has read the text yet.
    Unread,
    /// Nothing: it had been away, and is back as it was.
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
    /// The change as people read it; what goes without saying is not said.
    pub(super) const fn in_words(self) -> &'static str {
        match self {
            Self::First | Self::Unread | Self::Content => "",
            Self::Text => "text",
            Self::Surroundings => "surroundings",
            Self::Nothing => "as before",
        }
    }
}

/// What each visit found changed, the oldest first; nothing for a visit that found no other content.
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
