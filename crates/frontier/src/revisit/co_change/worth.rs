//! What bursts have been worth on a server, by the kind of group and by what opened them.

use super::group::GroupKind;
use crate::codec::Fields;

/// What opened a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A page had changed.
    Change,
    /// A page had changed that does so often: that says less.
    Habit,
    /// A page was gone.
    Deletion,
    /// A new page appeared.
    Birth,
}

impl Trigger {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Change, Self::Habit, Self::Deletion, Self::Birth];

    /// What happened, for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Change | Self::Habit => "changed",
            Self::Deletion => "was found gone",
            Self::Birth => "appeared",
        }
    }
}

/// Of a burst so many visits count: one that finds much goes on for long, and would speak for all others.
pub(super) const TRIES_COUNTED: u32 = 8;
/// What is assumed of a kind and a trigger has the weight of so many visits.
const ASSUMED_TRIES: f32 = 12.0;
/// From so many visits on, old ones fade.
const TRIES_MAX: f32 = 400.0;

/// Groups of few, of many, and of very many pages are told apart: a change says more of few.
pub(super) const SIZES: usize = 3;

/// Hits and tries of each kind, trigger and size of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Worths([[[(f32, f32); SIZES]; 4]; 5]);

impl Worths {
    /// The chance with which a burst begins.
    pub(super) fn of(&self, kind: GroupKind, trigger: Trigger, size: usize) -> f64 {
        let (hits, tries) = self.0[kind.index()][trigger as usize][size];
        f64::from((hits + assumed(kind, trigger) * ASSUMED_TRIES) / (tries + ASSUMED_TRIES))
    }
    pub(super) fn learn(&mut self, kind: GroupKind, trigger: Trigger, size: usize, is_hit: bool) {
        let (hits, tries) = &mut self.0[kind.index()][trigger as usize][size];
        if *tries >= TRIES_MAX {
            (*hits, *tries) = (*hits / 2.0, *tries / 2.0);
        }
        *hits += f32::from(u8::from(is_hit));
        *tries += 1.0;
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        for (hits, tries) in self.0.iter().flatten().flatten() {
            bytes.extend_from_slice(&hits.to_le_bytes());
            bytes.extend_from_slice(&tries.to_le_bytes());
        }
    }
    pub(super) fn read(fields: &mut Fields<'_>) -> Self {
        let mut number = || {
            let read = f32::from_le_bytes(fields.array());
            if read.is_finite() { read.clamp(0.0, TRIES_MAX) } else { 0.0 }
        };
        let mut sizes = || std::array::from_fn(|_| (number(), number()));
        Self(std::array::from_fn(|_| std::array::from_fn(|_| sizes())))
    }
}

/// The class of a group with so many pages.
pub(super) const fn size_class(members: usize) -> usize {
    match members {
        0..20 => 0,
        20..200 => 1,
        _ => 2,
    }
}

/// Before anything was seen.
const fn assumed(kind: GroupKind, trigger: Trigger) -> f32 {
    match (kind, trigger) {
        (GroupKind::Cohort, Trigger::Change) => 0.4,
        (_, Trigger::Birth) => 0.1,
        _ => 0.2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_proves_right_is_worth_more_and_is_read_as_it_was_written() {
        let mut worths = Worths::default();
        let before = worths.of(GroupKind::Family, Trigger::Birth, 0);
        (0..2_000).for_each(|_| worths.learn(GroupKind::Family, Trigger::Birth, 0, true));
        (0..2_000).for_each(|_| worths.learn(GroupKind::Name, Trigger::Birth, 0, false));
        assert!(worths.of(GroupKind::Family, Trigger::Birth, 0) > 0.9 && before < 0.2);
        assert!(worths.of(GroupKind::Name, Trigger::Birth, 0) < 0.01);
        (0..60).for_each(|_| worths.learn(GroupKind::Name, Trigger::Birth, 0, true));
        assert!(worths.of(GroupKind::Name, Trigger::Birth, 0) > 0.1, "what was long ago fades");
        let mut bytes = Vec::new();
        worths.write(&mut bytes);
        assert_eq!(Worths::read(&mut Fields(&bytes)), worths);
        assert_eq!(Worths::read(&mut Fields(&[])), Worths::default());
    }
}
