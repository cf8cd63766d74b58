//! What a crawl over HTTP was worth, by the log of the site, and whether it kept up.

use super::child::Told;
use super::serve::Logged;
use super::site::Subject;
use crate::revisit::score::{Judge, Score};
use crate::revisit::trace::Trace;

/// Visits of the budget that are not made are lost. Below this part of them the crawl did not keep up.
const VISITS_PART_MIN: f64 = 0.97;
/// A visit is learned from when it is durable. If that takes more than this part of the mean interval for one visit in a hundred,
/// the schedule is not that of a crawl in real time.
const LAG_PART_MAX: f64 = 0.05;

/// The score of a log over a trace (D20).
pub(super) fn score(trace: &Trace, log: &[Logged]) -> Score {
    let mut judge = Judge::new(trace);
    for logged in log.iter().take_while(|logged| logged.at < trace.to) {
        while judge.next_at() <= logged.at {
            judge.happen();
        }
        match logged.subject {
            Subject::Page(page) => drop(judge.visit(page, logged.at)),
            Subject::Listing | Subject::Aid | Subject::Unknown => judge.ask(logged.at),
        }
    }
    while judge.next_at() < trace.to {
        judge.happen();
    }
    judge.score()
}

/// How a crawl went.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// By the text of the pages, and by their whole content.
    pub(super) text: Score,
    pub(super) content: Score,
    /// Requests of the scored part, a day: for pages, for pages that were gone, for listings, and for the rest.
    pub(super) pages_per_day: f64,
    pub(super) gone_per_day: f64,
    pub(super) listings_per_day: f64,
    pub(super) aids_per_day: f64,
    /// Pages that were never fetched, of those that existed for a quarter of the window at its end.
    pub(super) never_fetched: usize,
    /// How long it took to learn from a visit, in days: the median, and of the slowest of a hundred.
    pub(super) lag_days: (f64, f64),
    pub(super) cpu_seconds: f64,
}

impl Outcome {
    pub(super) fn new(traces: (&Trace, &Trace), log: &[Logged], told: &Told, cpu_seconds: f64) -> Self {
        let (text, content) = traces;
        let days = (text.to - text.scored_from()) / 86_400.0;
        let scored = log.iter().filter(|logged| logged.at >= text.scored_from() && logged.at < text.to);
        let (mut pages, mut gone, mut listings, mut aids) = (0.0, 0.0, 0.0, 0.0);
        for logged in scored {
            match logged.subject {
                Subject::Page(_) if logged.status >= 400 => gone += 1.0,
                Subject::Page(_) => pages += 1.0,
                Subject::Listing => listings += 1.0,
                Subject::Aid | Subject::Unknown => aids += 1.0,
            }
        }
        Self {
            text: score(text, log),
            content: score(content, log),
            pages_per_day: pages / days,
            gone_per_day: gone / days,
            listings_per_day: listings / days,
            aids_per_day: aids / days,
            never_fetched: never_fetched(text, log),
            lag_days: (quantile(&told.lags, 50) / 86_400.0, quantile(&told.lags, 99) / 86_400.0),
            cpu_seconds,
        }
    }
    /// Why the crawl did not keep up with its time, if it did not: its score says nothing then.
    pub(super) fn invalid(&self, replayed_per_day: f64, every_days: f64) -> Option<String> {
        let asked = self.pages_per_day + self.gone_per_day;
        if asked < replayed_per_day * VISITS_PART_MIN {
            return Some(format!(
                "it made {asked:.1} visits a day instead of {replayed_per_day:.1}: time ran too fast for it"
            ));
        }
        if self.lag_days.1 > every_days * LAG_PART_MAX {
            return Some(format!(
                "it learned from one visit in a hundred more than {:.2} days late: time ran too fast for it",
                self.lag_days.1
            ));
        }
        (self.never_fetched > 0).then(|| format!("it never fetched {} pages", self.never_fetched))
    }
}

/// Pages that exist since the first quarter until the end, and were never fetched.
fn never_fetched(trace: &Trace, log: &[Logged]) -> usize {
    let mut waits = trace.begins.clone();
    for (_, page, event) in trace.events.iter().filter(|event| event.0 < trace.scored_from()) {
        waits[*page as usize] = *event != crate::revisit::trace::Event::Vanished;
    }
    for (_, page, _) in trace.events.iter().filter(|event| event.0 >= trace.scored_from()) {
        waits[*page as usize] = false;
    }
    for logged in log {
        if let Subject::Page(page) = logged.subject {
            waits[page as usize] = false;
        }
    }
    waits.into_iter().filter(|waits| *waits).count()
}

fn quantile(numbers: &[f64], percent: usize) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
}
