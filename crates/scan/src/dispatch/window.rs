//! How many documents a worker may have at once.
//!
//! Enough that it never waits for an answer to travel and the next document to come, and no more than it works off in
//! [`AHEAD`]: no other worker can take what it has.

use std::time::Duration;

/// Target amount of work in a worker's window.
const AHEAD: Duration = Duration::from_millis(20);
/// One in progress and one waiting, however long they take.
const DOCUMENTS_MIN: usize = 2;
/// However short they are.
const DOCUMENTS_MAX: usize = 1_024;
/// However small they are, all together.
const BYTES_MAX: usize = 4 * 1024 * 1024;
/// The share of the newest time in the mean.
const NEWEST_SHARE: f64 = 0.05;

/// How fast a worker answers.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// The mean time between two answers while there was work, in seconds; 0 when nothing is known.
    seconds: f64,
    last: Option<Duration>,
    is_known: bool,
}

impl Pace {
    /// A worker that had nothing was given something.
    pub(super) fn begins(&mut self, now: Duration) {
        self.last = Some(now);
    }
    /// Answers came; `is_idle` says that nothing is left, so that the time until it is given something does not count.
    pub(super) fn answered(&mut self, now: Duration, answers: u32, is_idle: bool) {
        if let Some(last) = self.last.filter(|_| answers > 0) {
            let seconds = now.saturating_sub(last).as_secs_f64() / f64::from(answers);
            let share = if self.is_known { 1.0 - (1.0 - NEWEST_SHARE).powf(f64::from(answers)) } else { 1.0 };
            self.is_known = true;
            self.seconds += share * (seconds - self.seconds);
        }
        self.last = (!is_idle).then_some(now);
    }
    /// The worker does something else for a while.
    pub(super) fn rest(&mut self) {
        self.last = None;
    }

    /// Whether a worker with this many documents and bytes may have another document.
    pub(super) fn allows(&self, documents: usize, bytes: usize) -> bool {
        documents < DOCUMENTS_MIN || (documents < self.window() && bytes < BYTES_MAX)
    }

    fn window(&self) -> usize {
        if self.seconds <= 0.0 {
            return if self.is_known { DOCUMENTS_MAX } else { FIRST_DOCUMENTS };
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a float to an integer saturates"
        )]
        let documents = (AHEAD.as_secs_f64() / self.seconds) as usize;
        documents.clamp(DOCUMENTS_MIN, DOCUMENTS_MAX)
    }
}

/// As long as nothing is known.
const FIRST_DOCUMENTS: usize = DOCUMENTS_MIN;

#[cfg(test)]
mod tests {
    use super::*;

    fn after(millis: u64, answers: u64) -> Pace {
        let mut pace = Pace::default();
        (0..answers).for_each(|number| pace.answered(Duration::from_millis(number * millis), 1, false));
        pace
    }

    #[test]
    fn slow_answers_make_a_small_window_and_fast_ones_a_large_one() {
        assert_eq!(Pace::default().window(), FIRST_DOCUMENTS);
        assert_eq!(after(1_000, 5).window(), DOCUMENTS_MIN);
        assert_eq!(after(2, 5).window(), 10);
        assert_eq!(after(0, 5).window(), DOCUMENTS_MAX);
        assert!(after(1_000, 5).allows(1, usize::MAX), "one always waits after another");
        assert!(!after(0, 5).allows(2, BYTES_MAX));
    }

    #[test]
    fn a_worker_that_answers_all_it_has_at_once_is_given_more() {
        let (mut pace, mut now) = (Pace::default(), Duration::ZERO);
        for _ in 0..20 {
            // However much it has, it takes a millisecond.
            let documents = u32::try_from(pace.window()).unwrap();
            pace.begins(now);
            now += Duration::from_millis(1);
            pace.answered(now, documents, true);
            now += Duration::from_secs(1);
        }
        assert_eq!(pace.window(), DOCUMENTS_MAX);
    }

    #[test]
    fn time_without_work_does_not_count() {
        let mut pace = after(1, 50);
        pace.answered(Duration::from_millis(50), 1, true);
        pace.answered(Duration::from_secs(1_000), 1, false);
        assert_eq!(pace.window(), 20);
    }
}
