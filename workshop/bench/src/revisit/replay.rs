//! The replay: a planner visits the pages of a trace, one request at a time, evenly spread (D20).
//!
//! The clock starts at the beginning of the window and nothing is known but which pages exist. A page becomes known when it
//! appears. The budget is the number of known pages ÷ `every`; a first visit is taken out of it like any other.
//!
//! **Invariant:** no planner makes more requests than the budget has. A slot that a planner does not use is lost.

use super::hints::Hints;
use super::score::{Judge, Score, Seen};
use super::trace::Trace;
use base::Interval;
use std::cmp::Ordering;

/// Who chooses the page of the next request.
pub(crate) trait Planner {
    /// A page became known at a moment.
    fn known(&mut self, page: u32, at: f64);
    /// Something happened to a known page. Only who may know the truth listens.
    fn happened(&mut self, _page: u32) {}
    /// A page is said to have changed at a moment.
    fn hint(&mut self, _page: u32, _at: f64) {}
    /// The page of the request at `now`, if there is one that is worth it; `spacing` seconds lie between two requests.
    fn pick(&mut self, now: f64, spacing: f64) -> Option<u32>;
    /// What the visit showed; whether hints are given of the page.
    fn saw(&mut self, page: u32, now: f64, seen: Seen, is_hinted_of: bool);
}

/// Plays a trace.
pub(crate) fn play(
    trace: &Trace,
    every: Interval,
    hints: Option<&Hints>,
    planner: &mut dyn Planner,
) -> Score {
    let mut judge = Judge::new(trace);
    let every = every.as_seconds_f64();
    let begins = trace.begins.iter().enumerate().filter(|(_, begins)| **begins);
    begins.for_each(|(page, _)| planner.known(number(page), trace.from));
    let (mut now, mut credit, mut heard) = (trace.from, 0.0, (0, trace.from));
    loop {
        let until = judge.next_at();
        while judge.known() > 0 {
            let rate = page_count(judge.known()) / every;
            let slot = now + (1.0 - credit) / rate;
            if slot >= until {
                break;
            }
            (now, credit) = (slot, 0.0);
            if let Some(hints) = hints
                && let Some(news) = hints.look(&mut heard, now)
            {
                // The feed, or sitemap, is a request like another.
                judge.ask(now);
                news.iter().for_each(|(at, page)| planner.hint(*page, *at));
                continue;
            }
            if let Some(page) = planner.pick(now, 1.0 / rate) {
                let seen = judge.visit(page, now);
                planner.saw(page, now, seen, hints.is_some_and(|hints| hints.covers(page)));
            }
        }
        credit += (until - now) * page_count(judge.known()) / every;
        now = until;
        if now >= trace.to {
            return judge.score();
        }
        if let Some((page, is_new)) = judge.happen() {
            if is_new { planner.known(page, now) } else { planner.happened(page) }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "pages of a site")]
fn page_count(pages: usize) -> f64 {
    pages as f64
}
pub(crate) fn number(page: usize) -> u32 {
    u32::try_from(page).expect("fewer than 2³² pages")
}
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds since 1970")]
pub(crate) fn seconds(at: f64) -> u64 {
    at as u64
}

/// A moment that can be sorted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct At(pub(crate) f64);
impl Eq for At {}
impl PartialOrd for At {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for At {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}
