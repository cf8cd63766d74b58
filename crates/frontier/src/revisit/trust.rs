//! How far the word of a server is believed: of its feeds and sitemaps, and of `Last-Modified`.
//!
//! A hint says that a page changed. Two things are counted for each server: how often a page that was said to have changed had,
//! and how many of the changes that visits found had been announced. So a server that bumps every date at every build is soon
//! ignored, and one that never misses a change saves the visits that only look for changes.

use crate::codec::{Fields, put};

/// Before anything was seen a hint is right with probability 2/3, and a change goes unannounced with 1/2.
const RIGHT_FIRST: (f64, f64) = (2.0, 1.0);
const MISSED_FIRST: (f64, f64) = (2.0, 2.0);
/// A page that is looked after by hints is looked at this rarely at most: hints stop one day.
const MISSED_MIN: f64 = 0.05;

/// Sitemaps are read once a week at least, and list what is older behind what is newer.
const NEWS_SECONDS: u64 = 8 * 86_400;
/// Who is right less often than this is not listened to.
const RIGHT_MIN: f64 = 0.02;

/// Counts of hints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    right: u32,
    wrong: u32,
    unannounced: u32,
    /// The latest change that was announced, in seconds.
    latest: u64,
}

impl Trust {
    /// Whether an announced change, in seconds, is worth looking the page up: it is no older than what was announced before, and
    /// the server is not one that announces changes for nothing.
    pub fn is_news(&mut self, announced: u64) -> bool {
        let is_news = announced.saturating_add(NEWS_SECONDS) > self.latest && self.of_hint() > RIGHT_MIN;
        self.latest = self.latest.max(announced);
        is_news
    }
    /// A page that was said to have changed was visited.
    pub fn heard(&mut self, is_changed: bool) {
        let count = if is_changed { &mut self.right } else { &mut self.wrong };
        *count = count.saturating_add(1);
    }
    /// A page that hints are given of had changed without one.
    pub fn missed(&mut self) {
        self.unannounced = self.unannounced.saturating_add(1);
    }
    /// How likely a page has changed that is said to have.
    #[must_use]
    pub fn of_hint(&self) -> f64 {
        let (right, wrong) = (f64::from(self.right), f64::from(self.wrong));
        (right + RIGHT_FIRST.0) / (right + wrong + RIGHT_FIRST.0 + RIGHT_FIRST.1)
    }
    /// The share of changes that come without a hint.
    #[must_use]
    pub fn of_silence(&self) -> f64 {
        let (told, missed) = (f64::from(self.right), f64::from(self.unannounced));
        ((missed + MISSED_FIRST.0) / (told + missed + MISSED_FIRST.0 + MISSED_FIRST.1)).max(MISSED_MIN)
    }
    /// Hints that were right, hints that were wrong, changes without one.
    #[must_use]
    pub fn counts(&self) -> (u32, u32, u32) {
        (self.right, self.wrong, self.unannounced)
    }

    pub(crate) fn write(self, bytes: &mut Vec<u8>) {
        [self.right, self.wrong, self.unannounced].iter().for_each(|count| put(bytes, (*count).into()));
        put(bytes, self.latest);
    }
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        let mut next = || fields.small(u32::MAX);
        let (right, wrong, unannounced) = (next(), next(), next());
        Self { right, wrong, unannounced, latest: fields.number() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_right_is_believed_and_who_cries_wolf_is_not() {
        let mut trust = Trust::default();
        assert!(trust.of_hint() > 0.5 && trust.of_silence() > 0.4);
        (0..50).for_each(|_| trust.heard(true));
        assert!(trust.of_hint() > 0.97 && trust.of_silence() < 0.06, "{trust:?}");
        assert!(trust.is_news(10_000_000) && trust.is_news(9_900_000) && !trust.is_news(5_000_000));
        (0..4_000).for_each(|_| trust.heard(false));
        assert!(trust.of_hint() < 0.02 && !trust.is_news(20_000_000));
        (0..500).for_each(|_| trust.missed());
        assert!(trust.of_silence() > 0.8);
    }
}
