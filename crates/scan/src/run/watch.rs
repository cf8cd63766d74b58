//! The state of the workers, and the detection of hung ones.

use super::Shared;
use crate::settings::AnalysisCommand;
use std::time::Duration;

/// Extra time of a worker that supervises a program.
const LONGER: Duration = Duration::from_secs(30);

/// Kills workers that have documents and have not reported for too long. Programs are watched by their workers, so this
/// concerns built-in analyses and stopped workers.
pub(super) fn hung_workers(shared: &Shared<'_>, now: Duration) {
    let limits = &shared.settings.limits;
    let most = match shared.settings.work {
        AnalysisCommand::Builtin(_) => limits.progress,
        AnalysisCommand::Program(_) | AnalysisCommand::Each(_) => {
            limits.progress.max(limits.document) + LONGER
        }
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
        // The replacement gets the full time again.
        shared.lock().heard.iter_mut().skip(seat).take(1).for_each(|heard| *heard = now);
    }
}

/// The state of each worker, in a word.
pub(super) fn in_words(shared: &Shared<'_>) -> Vec<&'static str> {
    let live = shared.lock();
    let word = |seat: usize| match (live.dispatch.with(seat), live.dispatch.is_alone(seat)) {
        (0, _) => "idle",
        (_, true) => "retrying",
        _ => "busy",
    };
    (0..live.lanes.len()).map(word).collect()
}
