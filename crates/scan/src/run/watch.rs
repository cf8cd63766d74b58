//! What the workers are doing, and whether they are doing anything.

use super::Shared;
use crate::settings::Work;
use std::time::Duration;

/// A worker that looks after a program has so much longer than the program.
const LONGER: Duration = Duration::from_secs(30);

/// Ends workers that have documents and have said nothing for too long. Programs are watched by their workers, so this
/// concerns what is built in, and workers that were stopped.
pub(super) fn hung_workers(shared: &Shared<'_>, now: Duration) {
    let limits = &shared.settings.limits;
    let most = match shared.settings.work {
        Work::Builtin(_) => limits.progress,
        Work::Program(_) | Work::Each(_) => limits.progress.max(limits.document) + LONGER,
    };
    let hung: Vec<usize> = {
        let live = shared.lock();
        let is_hung = |seat: &usize| {
            let heard = live.heard.get(*seat).copied().unwrap_or(now);
            live.dispatch.with(*seat) > 0 && now.saturating_sub(heard) > most
        };
        (0..live.heard.len()).filter(is_hung).collect()
    };
    for seat in hung {
        shared.crew.end_hung(seat);
        // The next one has as long again.
        shared.lock().heard.iter_mut().skip(seat).take(1).for_each(|heard| *heard = now);
    }
}

/// What each worker does, in a word.
pub(super) fn in_words(shared: &Shared<'_>) -> Vec<&'static str> {
    let live = shared.lock();
    let word = |seat: usize| match (live.dispatch.with(seat), live.dispatch.is_alone(seat)) {
        (0, _) => "idle",
        (_, true) => "retrying",
        _ => "busy",
    };
    (0..live.lanes.len()).map(word).collect()
}
