//! The visits of one page become its versions, and those that a [`Choice`] asks for are returned (A3, D7).
//!
//! Visits come newest first, in the order of the reverse index walk, so that a version's end is known before its
//! beginning. A version is returned as soon as it is certain. At most two are in memory: the one under construction,
//! and one that waits for a fact about older visits.
//!
//! **What a version is, in [`Unit::Content`].** A visit that brought content ([`What::Changed`], [`What::Unchanged`])
//! either prolongs the content before it or begins a version. Known contents are compared, whatever the visit's own
//! flag (D4). If one of the two is unknown, the visit's flag counts: unchanged prolongs, changed begins. An unchanged
//! visit without known content stands for the content before it. A version lasts until the next one begins or until the
//! first [`What::Gone`]; after that any content begins a new version. Errors, visits without an answer and moves within
//! the page change nothing.
//!
//! **In [`Unit::Visit`]** each answered visit is a version, errors included, and lasts until the next answered one.
//!
//! **Errors** are returned only on request. In [`Unit::Content`] such an error answer lasts from its visit until the
//! next answered one; it does not end the content.
//!
//! **Ties.** Of visits at one instant the one that arrived later ends the other, whose validity `[t, t)` is empty: it
//! is never chosen, but still counts as earlier content.
//!
//! **Invariant:** obeying [`Wants::SkipRest`] never changes what is returned.

use crate::capture::describe::{ContentFact, content_fact};
use crate::capture::entry::{ContentKey, Entry, Flag, Stored};
use crate::snapshot::choice::Choice;
use crate::snapshot::recipe::Condition;
use crate::snapshot::relation::Relations;
use base::{Period, Timestamp};
use std::collections::VecDeque;

/// What counts as one version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unit {
    /// One content, which unchanged visits prolong.
    #[default]
    Content,
    /// One answered visit, as in the paper.
    Visit,
}

/// The result of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// Content that was new to the visit: 2xx with or without a body, or a redirect to another page.
    Changed,
    /// Content that the visit found unchanged: 304, or equal bytes.
    Unchanged,
    /// 404 or 410: the page does not exist.
    Gone,
    /// Any other error status.
    Error,
    /// No answer: unreachable, refused, not asked.
    Unanswered,
    /// A redirect to the page's own key, which is not a version (D6).
    MovedWithin,
}

impl What {
    /// What a capture says about its page; `None` if it is not a visit. A status of 0 means that there was no answer.
    pub(crate) fn of(kind: Stored, status: u16, flag: Flag, moves_within: bool) -> Option<Self> {
        Some(match content_fact(kind, status, moves_within, None) {
            ContentFact::Gone => Self::Gone,
            ContentFact::Content(_) if flag == Flag::Unchanged => Self::Unchanged,
            ContentFact::Content(_) => Self::Changed,
            ContentFact::Unknown => match kind {
                // It means the earlier content, which was never captured.
                Stored::Response if status == 304 => Self::Unchanged,
                Stored::Other => return None,
                Stored::Metadata => Self::Unanswered,
                _ if moves_within => Self::MovedWithin,
                // The server knows the content, although the archive does not.
                _ if status == 304 => Self::Unchanged,
                _ => Self::Error,
            },
        })
    }
    /// Whether it is a version in [`Unit::Visit`].
    const fn is_answer(self) -> bool {
        !matches!(self, Self::Unanswered | Self::MovedWithin)
    }
    const fn is_content(self) -> bool {
        matches!(self, Self::Changed | Self::Unchanged)
    }
}

/// One visit of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// When.
    pub at: Timestamp,
    /// What came back.
    pub what: What,
    /// Identifies the content; used only for [`What::Changed`] and [`What::Unchanged`]. `None` if unknown: a 304 for
    /// something never seen, a body that cannot be decoded.
    pub content: Option<ContentKey>,
}

/// One chosen version of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version<T = Entry> {
    /// When it is valid. The end [`Timestamp::MAX`] means forever.
    pub validity: Period,
    /// What came with the visit that began it.
    pub payload: T,
    /// Whether it is an error answer.
    pub is_error: bool,
    /// Whether a 404 or 410 ended it.
    pub ended_by_gone: bool,
    /// Whether it is the page's first content. Always known if the choice depends on it; never `Some(true)` for an
    /// error answer.
    pub is_first: Option<bool>,
}

/// What the walk should do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Wants {
    /// Hand in the next older visit of the page.
    Older,
    /// No older visit of the page can matter: call [`Versions::end`] and continue with the next page.
    SkipRest,
}

/// The parts of a choice that concern the versions of one page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) unit: Unit,
    pub(crate) q: Period,
    pub(crate) relations: Relations,
    pub(crate) condition: Condition,
    /// Error answers are asked for.
    pub(crate) errors: bool,
    /// Only visits that saw a change; for [`Unit::Visit`] only.
    pub(crate) seen_changed: bool,
    /// A chosen version begins within these bounds; `None` if none can be chosen.
    pub(crate) begins: Option<(Timestamp, Timestamp)>,
    /// A chosen version does not end before this.
    pub(crate) ends_from: Timestamp,
}

impl Rules {
    fn may_begin(&self, at: Timestamp) -> bool {
        self.begins.is_some_and(|(oldest, newest)| oldest <= at && at <= newest)
    }
    fn begins_no_more(&self, at: Timestamp) -> bool {
        self.begins.is_none_or(|(oldest, _)| at < oldest)
    }
    fn turns_on_first(&self) -> bool {
        matches!(self.condition, Condition::First | Condition::Changed)
    }
    /// Whether the version is chosen as far as is known; an unknown `is_first` counts in its favour.
    fn choose<T>(&self, version: &Version<T>) -> bool {
        let condition = match self.condition {
            Condition::Always => true,
            Condition::First => version.is_first != Some(false),
            Condition::Changed => version.is_first != Some(true),
            Condition::Vanished => version.ended_by_gone,
        };
        condition && self.relations.hold(version.validity, self.q)
    }
}

/// A visit that begins a version, as far as is known.
#[derive(Debug)]
struct Beginning<T> {
    visit: Visit,
    /// `None` if no version that begins at this moment can be chosen.
    payload: Option<T>,
}

/// Where the version under construction ends.
#[derive(Clone, Copy, Debug)]
struct End {
    at: Timestamp,
    gone: bool,
}

impl End {
    const NEVER: Self = Self { at: Timestamp::MAX, gone: false };
}

/// Turns the visits of pages, one page at a time, into chosen versions.
///
/// Pass a page's visits newest first, call [`Versions::take`] after each, and [`Versions::end`] after the last.
/// Versions of one kind, content or errors, come newest first.
#[derive(Debug)]
pub struct Versions<T> {
    rules: Rules,
    /// The moment of the last visit.
    last: Timestamp,
    /// The next newer answered visit: where an error ends, and in [`Unit::Visit`] everything.
    answered: End,
    /// Where the content under construction ends.
    end: End,
    /// The oldest visit of the content under construction that identifies the content itself.
    anchor: Option<Beginning<T>>,
    /// The oldest of the visits before the anchor that stand for the content before them.
    inheriting: Option<Beginning<T>>,
    /// Complete, except for `is_first`.
    held: Option<Version<T>>,
    ready: VecDeque<Version<T>>,
}

impl<T> Versions<T> {
    /// The versions that the choice asks for.
    #[must_use]
    pub fn new(choice: &Choice) -> Self {
        Self {
            rules: choice.rules(),
            last: Timestamp::MAX,
            answered: End::NEVER,
            end: End::NEVER,
            anchor: None,
            inheriting: None,
            held: None,
            ready: VecDeque::new(),
        }
    }

    /// Takes the next older visit of the page. `payload` is called only if a chosen version may begin with it.
    ///
    /// # Panics
    /// When the visit is newer than the one before it: the index is not in order.
    pub fn visit(&mut self, visit: Visit, payload: impl FnOnce() -> T) -> Wants {
        assert!(visit.at <= self.last, "the visits of a page come newest first");
        self.last = visit.at;
        let mut payload = self.rules.may_begin(visit.at).then_some(payload);
        let mut begin = || Beginning { visit, payload: payload.take().map(|payload| payload()) };
        if visit.what.is_content() {
            self.release_held(false);
            match self.rules.unit {
                Unit::Content => self.content(begin()),
                Unit::Visit => self.answer(begin()),
            }
        } else if visit.what.is_answer() {
            if visit.what == What::Gone {
                self.gone(visit.at);
            }
            if self.rules.errors {
                self.error(begin());
            }
        }
        if visit.what.is_answer() {
            self.answered = End { at: visit.at, gone: visit.what == What::Gone };
        }
        if self.is_settled() { Wants::SkipRest } else { Wants::Older }
    }

    /// The page has no older visits that matter. The next visit belongs to another page.
    pub fn end(&mut self) {
        self.complete_all();
        self.release_held(true);
        (self.last, self.answered, self.end) = (Timestamp::MAX, End::NEVER, End::NEVER);
    }

    /// The next version that is certain to be chosen.
    pub fn take(&mut self) -> Option<Version<T>> {
        self.ready.pop_front()
    }

    fn content(&mut self, older: Beginning<T>) {
        if older.visit.what == What::Unchanged && older.visit.content.is_none() {
            self.inheriting = Some(older);
            return;
        }
        self.inheriting = None;
        if let Some(newer) = self.anchor.replace(older)
            && !self.anchor.as_ref().is_some_and(|older| newer.prolongs(older.visit.content))
        {
            self.complete(newer, Some(false));
        }
    }

    /// The page was gone at `at`, so later content had nothing before it.
    fn gone(&mut self, at: Timestamp) {
        self.complete_all();
        self.end = End { at, gone: true };
    }

    /// Completes what is under construction: nothing older belongs to it.
    fn complete_all(&mut self) {
        match (self.anchor.take(), self.inheriting.take()) {
            (None, None) => {}
            (Some(only), None) | (None, Some(only)) => self.complete(only, None),
            (Some(newer), Some(older)) => {
                if !newer.prolongs(None) {
                    self.complete(newer, Some(false));
                }
                self.complete(older, None);
            }
        }
    }

    /// The content under construction begins here, and the one before it ends here.
    fn complete(&mut self, beginning: Beginning<T>, is_first: Option<bool>) {
        let end = std::mem::replace(&mut self.end, End { at: beginning.visit.at, gone: false });
        self.hand_out(beginning, end, is_first);
    }

    fn answer(&mut self, beginning: Beginning<T>) {
        if !self.rules.seen_changed || beginning.visit.what == What::Changed {
            self.hand_out(beginning, self.answered, None);
        }
    }

    fn error(&mut self, beginning: Beginning<T>) {
        self.hand_out(beginning, self.answered, Some(false));
    }

    fn hand_out(&mut self, beginning: Beginning<T>, end: End, is_first: Option<bool>) {
        let Some(payload) = beginning.payload else { return };
        let Some(validity) = Period::new(beginning.visit.at, end.at) else { return };
        let is_error = !beginning.visit.what.is_content();
        let version = Version { validity, payload, is_error, ended_by_gone: end.gone, is_first };
        if !self.rules.choose(&version) {
            return;
        }
        if is_first.is_none() && self.rules.turns_on_first() {
            assert!(self.held.is_none(), "older content releases what is held");
            self.held = Some(version);
        } else {
            self.ready.push_back(version);
        }
    }

    fn release_held(&mut self, is_first: bool) {
        let Some(held) = self.held.take() else { return };
        let version = Version { is_first: Some(is_first), ..held };
        if self.rules.choose(&version) {
            self.ready.push_back(version);
        }
    }

    /// Whether no older visit can change what is returned.
    fn is_settled(&self) -> bool {
        let end = match self.rules.unit {
            Unit::Content => self.end,
            Unit::Visit => self.answered,
        };
        self.held.is_none() && (end.at < self.rules.ends_from || self.begins_too_early())
    }

    /// Whether everything under construction, and everything older, begins before anything that can be chosen.
    fn begins_too_early(&self) -> bool {
        let open = self.anchor.iter().chain(&self.inheriting).map(|beginning| beginning.visit.at);
        open.chain([self.last]).all(|at| self.rules.begins_no_more(at))
    }
}

impl<T> Beginning<T> {
    /// Whether this visit saw the content before it, known or not.
    fn prolongs(&self, before: Option<ContentKey>) -> bool {
        match (self.visit.content, before) {
            (Some(this), Some(before)) => this == before,
            _ => self.visit.what == What::Unchanged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: Stored, status: Option<u16>, flag: Flag, moves_within: bool, expected: Option<What>) {
        assert_eq!(What::of(kind, status.unwrap_or(0), flag, moves_within), expected);
    }

    #[test]
    fn entries_give_the_result_of_their_visit() {
        use Flag::{Changed, Error, Unchanged};
        check(Stored::Response, Some(200), Changed, false, Some(What::Changed));
        check(Stored::Response, Some(302), Changed, false, Some(What::Changed));
        check(Stored::Response, Some(301), Changed, true, Some(What::MovedWithin));
        check(Stored::Revisit, Some(304), Unchanged, false, Some(What::Unchanged));
        check(Stored::Response, Some(304), Unchanged, false, Some(What::Unchanged));
        check(Stored::Revisit, Some(200), Changed, false, Some(What::Changed));
        check(Stored::Response, Some(404), Error, false, Some(What::Gone));
        check(Stored::Revisit, Some(410), Error, false, Some(What::Gone));
        check(Stored::Response, Some(503), Error, false, Some(What::Error));
        check(Stored::Response, Some(304), Unchanged, false, Some(What::Unchanged));
        check(Stored::Metadata, None, Error, false, Some(What::Unanswered));
        check(Stored::Resource, None, Changed, false, Some(What::Changed));
        check(Stored::Other, None, Changed, false, None);
    }
}
