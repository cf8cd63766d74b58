//! Recently requested pages, so that a repeated request is noticed.
//!
//! **Invariant:** a page noted less than a window ago is found; pages older than two windows are forgotten.

use base::{Interval, Timestamp};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The pages of the last window, and those of the one before, by their hashes.
#[derive(Debug)]
pub(super) struct Recent {
    window: Interval,
    since: Timestamp,
    latest: Pages,
    before: Pages,
}

type Pages = HashMap<u64, Timestamp, BuildHasherDefault<AsItIs>>;

impl Recent {
    pub(super) fn new(window: Interval) -> Self {
        Self { window, since: Timestamp::MIN, latest: Pages::default(), before: Pages::default() }
    }

    /// Notes a request for `page`; says whether there was one within the window.
    pub(super) fn note(&mut self, page: u64, at: Timestamp) -> bool {
        self.turn(at);
        let before = self.latest.insert(page, at).or_else(|| self.before.get(&page).copied());
        before.is_some_and(|before| at.since(before) < self.window)
    }

    /// Forgets `page`: it may be requested again.
    pub(super) fn forget(&mut self, page: u64) {
        self.latest.remove(&page);
        self.before.remove(&page);
    }

    fn turn(&mut self, at: Timestamp) {
        let passed = at.since(self.since);
        if passed < self.window {
            return;
        }
        std::mem::swap(&mut self.latest, &mut self.before);
        self.latest.clear();
        if passed >= self.window.plus(self.window) {
            self.before.clear();
        }
        self.since = at;
    }
}

/// The keys are hashes already.
#[derive(Clone, Copy, Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = base::chance::hash_bytes(self.0, bytes);
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Timestamp {
        crate::ORIGIN.plus(Interval::from_seconds(seconds))
    }

    #[test]
    fn a_page_is_remembered_for_a_window_and_forgotten_after_two() {
        let mut recent = Recent::new(Interval::from_seconds(60));
        assert!(!recent.note(1, at(0)));
        assert!(!recent.note(2, at(50)));
        assert!(recent.note(1, at(59)));
        assert!(recent.note(2, at(100)), "across a turn of the windows");
        assert!(!recent.note(1, at(119)), "the second look counts from itself");
        assert!(!recent.note(2, at(160)));
        recent.note(3, at(10_000));
        assert_eq!(recent.latest.len() + recent.before.len(), 1);
        recent.forget(3);
        assert!(!recent.note(3, at(10_001)));
    }
}
