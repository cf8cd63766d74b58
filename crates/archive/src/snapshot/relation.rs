//! The relation of a version's validity to a period: Allen's thirteen relations, and sets of them (A3).
//!
//! **Invariant:** between any two periods exactly one relation holds. Both are half open and never empty;
//! [`Timestamp::MAX`] as an end is infinity, and infinity equals infinity (D7).

use base::{Interval, Period, Timestamp};
use std::cmp::Ordering::{Equal, Greater, Less};
use std::fmt;
use std::str::FromStr;

/// One of Allen's relations, from a version's validity `[D, D⁺)` to the period `Q = [Q⁻, Q⁺)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// Ends before Q begins, with a gap: `D⁺ < Q⁻`.
    Before,
    /// Begins after Q ends, with a gap: `Q⁺ < D`.
    After,
    /// Ends where Q begins: `D⁺ = Q⁻`.
    Meets,
    /// Begins where Q ends: `D = Q⁺`.
    MetBy,
    /// Begins before Q and ends within it: `D < Q⁻ < D⁺ < Q⁺`.
    Overlaps,
    /// Begins within Q and ends after it: `Q⁻ < D < Q⁺ < D⁺`.
    OverlappedBy,
    /// Begins with Q and ends within it: `D = Q⁻`, `D⁺ < Q⁺`.
    Starts,
    /// Begins with Q and ends after it: `D = Q⁻`, `Q⁺ < D⁺`.
    StartedBy,
    /// Begins and ends within Q: `Q⁻ < D`, `D⁺ < Q⁺`.
    During,
    /// Begins before Q and ends after it: `D < Q⁻`, `Q⁺ < D⁺`.
    Contains,
    /// Begins within Q and ends with it: `Q⁻ < D`, `D⁺ = Q⁺`.
    Finishes,
    /// Begins before Q and ends with it: `D < Q⁻`, `D⁺ = Q⁺`.
    FinishedBy,
    /// Begins and ends with Q.
    Equals,
}

impl Relation {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 13] = [
        Self::Before,
        Self::After,
        Self::Meets,
        Self::MetBy,
        Self::Overlaps,
        Self::OverlappedBy,
        Self::Starts,
        Self::StartedBy,
        Self::During,
        Self::Contains,
        Self::Finishes,
        Self::FinishedBy,
        Self::Equals,
    ];

    /// The relation of `version` to `q`.
    #[must_use]
    pub fn of(version: Period, q: Period) -> Self {
        match (version.to().cmp(&q.from()), version.from().cmp(&q.to())) {
            (Less, _) => Self::Before,
            (Equal, _) => Self::Meets,
            (_, Greater) => Self::After,
            (_, Equal) => Self::MetBy,
            _ => Self::of_sharing(version, q),
        }
    }

    fn of_sharing(version: Period, q: Period) -> Self {
        match (version.from().cmp(&q.from()), version.to().cmp(&q.to())) {
            (Less, Less) => Self::Overlaps,
            (Less, Equal) => Self::FinishedBy,
            (Less, Greater) => Self::Contains,
            (Equal, Less) => Self::Starts,
            (Equal, Equal) => Self::Equals,
            (Equal, Greater) => Self::StartedBy,
            (Greater, Less) => Self::During,
            (Greater, Equal) => Self::Finishes,
            (Greater, Greater) => Self::OverlappedBy,
        }
    }

    /// Its name, such as `overlapped-by`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
            Self::Meets => "meets",
            Self::MetBy => "met-by",
            Self::Overlaps => "overlaps",
            Self::OverlappedBy => "overlapped-by",
            Self::Starts => "starts",
            Self::StartedBy => "started-by",
            Self::During => "during",
            Self::Contains => "contains",
            Self::Finishes => "finishes",
            Self::FinishedBy => "finished-by",
            Self::Equals => "equals",
        }
    }

    /// The first and the last moment at which a version with this relation to `q` can begin.
    fn begins(self, q: Period) -> (Timestamp, Timestamp) {
        match self {
            Self::Before | Self::Meets | Self::Overlaps | Self::Contains | Self::FinishedBy => {
                (Timestamp::MIN, q.from().minus(STEP))
            }
            Self::Starts | Self::StartedBy | Self::Equals => (q.from(), q.from()),
            Self::During | Self::Finishes | Self::OverlappedBy => (q.from().plus(STEP), q.to().minus(STEP)),
            Self::MetBy => (q.to(), q.to()),
            Self::After => (q.to().plus(STEP), Timestamp::MAX),
        }
    }

    /// The first moment at which a version with this relation to `q` can end.
    fn ends_from(self, q: Period) -> Timestamp {
        match self {
            Self::Before => Timestamp::MIN,
            Self::Meets => q.from(),
            Self::Overlaps | Self::Starts | Self::During => q.from().plus(STEP),
            Self::Finishes | Self::FinishedBy | Self::Equals => q.to(),
            Self::Contains | Self::StartedBy | Self::OverlappedBy | Self::MetBy | Self::After => {
                q.to().plus(STEP)
            }
        }
    }
}

/// The distance between two neighbouring moments.
const STEP: Interval = Interval::from_micros(1);

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Relation {
    type Err = RelationError;

    fn from_str(text: &str) -> Result<Self, RelationError> {
        let known = Self::ALL.into_iter().find(|relation| relation.name() == text);
        known.ok_or_else(|| RelationError(base::printable(text).into_owned()))
    }
}

/// Why a text is not a relation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a relation; write one or more of `{all}`, with commas between", all = Relations::ALL)]
pub struct RelationError(String);

/// A set of relations: a version is chosen if its relation to Q is in the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Relations(u16);

impl Relations {
    /// Every relation: every version.
    pub const ALL: Self = Self::new(&Relation::ALL);
    /// What `--during` chooses by default: versions that share an instant with Q (D7).
    pub const SHARING_AN_INSTANT: Self = Self::new(&[
        Relation::Overlaps,
        Relation::OverlappedBy,
        Relation::Starts,
        Relation::StartedBy,
        Relation::During,
        Relation::Contains,
        Relation::Finishes,
        Relation::FinishedBy,
        Relation::Equals,
    ]);
    /// Versions that begin in Q: `Q⁻ ≤ D < Q⁺`.
    pub const BEGINNING_IN: Self = Self::new(&[
        Relation::OverlappedBy,
        Relation::Starts,
        Relation::StartedBy,
        Relation::During,
        Relation::Finishes,
        Relation::Equals,
    ]);
    /// Versions that end in Q: `Q⁻ ≤ D⁺ < Q⁺`.
    pub const ENDING_IN: Self =
        Self::new(&[Relation::Meets, Relation::Overlaps, Relation::Starts, Relation::During]);
    /// Versions that are valid all through Q: `D ≤ Q⁻` and `Q⁺ ≤ D⁺`.
    pub const COVERING: Self =
        Self::new(&[Relation::StartedBy, Relation::Contains, Relation::FinishedBy, Relation::Equals]);
    /// From the paper: accessed in Q and valid until its end, `Q⁻ ≤ D < Q⁺ ≤ D⁺`.
    pub const BEGINNING_IN_AND_VALID_AT_END: Self =
        Self::new(&[Relation::OverlappedBy, Relation::StartedBy, Relation::Finishes, Relation::Equals]);

    /// The set of these relations.
    #[must_use]
    pub const fn new(relations: &[Relation]) -> Self {
        let mut bits = 0;
        let mut place = 0;
        while place < relations.len() {
            bits |= 1 << relations[place] as u16;
            place += 1;
        }
        Self(bits)
    }
    /// Whether the relation is one of the set.
    #[must_use]
    pub const fn contains(self, relation: Relation) -> bool {
        self.0 & (1 << relation as u16) != 0
    }
    /// Whether the relation of `version` to `q` is in the set.
    #[must_use]
    pub fn hold(self, version: Period, q: Period) -> bool {
        self.contains(Relation::of(version, q))
    }
    /// The relations of the set, in the order of [`Relation::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Relation> {
        Relation::ALL.into_iter().filter(move |relation| self.contains(*relation))
    }
    /// Whether the set is empty, so that nothing can be chosen.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The first and the last moment at which a version chosen by this set can begin; `None` for the empty set.
    pub(crate) fn begins(self, q: Period) -> Option<(Timestamp, Timestamp)> {
        let bounds = self.iter().map(|relation| relation.begins(q)).filter(|(first, last)| first <= last);
        bounds.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }
    /// The first moment at which a version chosen by this set can end.
    pub(crate) fn ends_from(self, q: Period) -> Timestamp {
        self.iter().map(|relation| relation.ends_from(q)).min().unwrap_or(Timestamp::MAX)
    }
}

/// The names, separated by commas.
impl fmt::Display for Relations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, relation) in self.iter().enumerate() {
            write!(f, "{}{relation}", if place > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

/// Reads names separated by commas, in any order; blanks around a name are ignored.
impl FromStr for Relations {
    type Err = RelationError;

    fn from_str(text: &str) -> Result<Self, RelationError> {
        let relations: Vec<Relation> =
            text.split(',').map(|name| name.trim().parse()).collect::<Result<_, _>>()?;
        Ok(Self::new(&relations))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(place: i64) -> Timestamp {
        if place == 6 { Timestamp::MAX } else { Timestamp::from_micros(place).unwrap() }
    }

    /// Every period on a small grid whose last point is infinity.
    fn periods() -> Vec<Period> {
        let ends = |from| (from + 1..=6).filter_map(move |to| Period::new(moment(from), moment(to)));
        (0..=5).flat_map(ends).collect()
    }

    /// Allen's definitions, each by itself.
    fn by_definition(relation: Relation, d: Period, q: Period) -> bool {
        let (a, b, c, e) = (d.from(), d.to(), q.from(), q.to());
        match relation {
            Relation::Before => b < c,
            Relation::After => e < a,
            Relation::Meets => b == c,
            Relation::MetBy => a == e,
            Relation::Overlaps => a < c && c < b && b < e,
            Relation::OverlappedBy => c < a && a < e && e < b,
            Relation::Starts => a == c && b < e,
            Relation::StartedBy => a == c && b > e,
            Relation::During => a > c && b < e,
            Relation::Contains => a < c && b > e,
            Relation::Finishes => a > c && b == e,
            Relation::FinishedBy => a < c && b == e,
            Relation::Equals => a == c && b == e,
        }
    }

    #[test]
    fn exactly_one_relation_holds_and_it_is_the_defined_one() {
        let mut seen = Vec::new();
        for (d, q) in periods().into_iter().flat_map(|d| periods().into_iter().map(move |q| (d, q))) {
            let defined: Vec<_> = Relation::ALL.into_iter().filter(|r| by_definition(*r, d, q)).collect();
            assert_eq!(defined, [Relation::of(d, q)], "{d:?} towards {q:?}");
            seen.extend(defined);
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 13, "the grid is too small to show all of them");
    }

    #[test]
    fn named_sets_agree_with_their_inequalities() {
        for (d, q) in periods().into_iter().flat_map(|d| periods().into_iter().map(move |q| (d, q))) {
            let shares = (0..7).map(moment).any(|at| d.contains(at) && q.contains(at));
            let begins_in = q.contains(d.from());
            assert_eq!(Relations::SHARING_AN_INSTANT.hold(d, q), shares);
            assert_eq!(Relations::BEGINNING_IN.hold(d, q), begins_in);
            assert_eq!(Relations::ENDING_IN.hold(d, q), q.contains(d.to()));
            assert_eq!(Relations::COVERING.hold(d, q), d.from() <= q.from() && q.to() <= d.to());
            let at_end = begins_in && q.to() <= d.to();
            assert_eq!(Relations::BEGINNING_IN_AND_VALID_AT_END.hold(d, q), at_end);
            assert!(Relations::ALL.hold(d, q) && !Relations::new(&[]).hold(d, q));
        }
    }

    #[test]
    fn what_a_relation_holds_for_lies_within_its_bounds() {
        for (d, q) in periods().into_iter().flat_map(|d| periods().into_iter().map(move |q| (d, q))) {
            let set = Relations::new(&[Relation::of(d, q)]);
            let (first, last) = set.begins(q).unwrap();
            assert!(first <= d.from() && d.from() <= last, "{set}: {d:?} towards {q:?}");
            assert!(set.ends_from(q) <= d.to(), "{set}: {d:?} towards {q:?}");
        }
    }

    #[test]
    fn sets_are_read_and_printed() {
        for relation in Relation::ALL {
            assert_eq!(relation.name().parse(), Ok(relation));
        }
        assert_eq!(Relations::ALL.to_string().parse(), Ok(Relations::ALL));
        let set: Relations = "equals, finishes,started-by,overlapped-by,equals".parse().unwrap();
        assert_eq!(set, Relations::BEGINNING_IN_AND_VALID_AT_END);
        assert_eq!(set.to_string(), "overlapped-by,started-by,finishes,equals");
    }

    #[test]
    fn the_error_for_an_unknown_name_lists_the_known_ones() {
        for text in ["", "equal", "Equals", "met by", "during,", "during;equals"] {
            let message = text.parse::<Relations>().unwrap_err().to_string();
            assert!(message.contains("`before,after,meets,met-by,overlaps,overlapped-by,"), "{message}");
        }
    }
}
