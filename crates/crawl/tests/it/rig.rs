//! A frontier over a store in memory, driven by a plain loop.

use base::clock::SimulatedClock;
use base::disk::SimulatedDisk;
use base::door::Door;
use base::{Capture, Clock, Interval, Outcome, PageUrl, Timestamp};
use crawl::{Evidence, Filter, Findings, FinishedStep, ReadOptions, StepContent, take};
use frontier::{
    CrawlScope, FoundUrl, Frontier, Mode, Next, ResultUse, RevisitPolicy, Settings, Step, StepResult, Task,
};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Reads bodies as the crawler does.
pub(crate) fn reads() -> ReadOptions {
    ReadOptions { agent: "utsushi".into(), requisites: false, filter: Arc::new(Filter::default()) }
}

/// Settings for the whole web, with this pause.
pub(crate) fn settings(pause: Interval) -> Settings {
    let scope = CrawlScope::new(Mode::Any, Vec::new());
    Settings { pause, scope, seed: 1, links_remembered: 1 << 12, ..Settings::default() }
}

/// A frontier over a store in memory.
pub(crate) fn frontier(settings: Settings, policy: RevisitPolicy, now: Timestamp) -> Frontier {
    let mut options = frontier::store_options(now);
    (options.log_bytes, options.segment_bytes) = (1 << 20, 512 << 10);
    (options.pool_bytes, options.read_bytes) = (512 << 10, 512 << 10);
    options.read_threads = 0;
    options.secret = Some([7; 16]);
    let store = sat::Store::open(Arc::new(SimulatedDisk::new(1)), Path::new("/frontier"), options).unwrap();
    Frontier::open(store, settings, policy, now).unwrap()
}

pub(crate) fn seed(frontier: &mut Frontier, url: &PageUrl, now: Timestamp) {
    frontier.add(&[FoundUrl::page(url.clone())], 0, now).unwrap();
    frontier.settle(now).unwrap();
}

/// The simulated door never waits, so its futures are ready when they are first asked.
pub(crate) fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the simulated door must not wait"),
    }
}

/// Takes a step, a refusal too.
pub(crate) async fn step<D: Door>(door: &D, clock: &SimulatedClock, task: &Task) -> FinishedStep {
    match &task.step {
        Step::Refuse(_, url, refusal) => FinishedStep {
            capture: Some(Capture {
                url: url.clone(),
                at: clock.now(),
                outcome: Outcome::Refused(refusal.clone()),
                exchange: None,
            }),
            took: Interval::ZERO,
            what: StepContent::Page(None),
        },
        step => take(door, clock, &reads(), step).await,
    }
}

/// Completes a task, and lets the page learn from it as if it were archived at once.
pub(crate) fn finish(frontier: &mut Frontier, task: &Task, ended: FinishedStep, now: Timestamp) {
    let is_refusal = matches!(task.step, Step::Refuse(..));
    let done = if is_refusal { StepResult::Refused } else { ended.done() };
    let worth = frontier.complete(task, &done, ended.took, now).unwrap();
    let (Some(page), Some(capture)) = (task.step.page(), &ended.capture) else { return };
    if worth == ResultUse::ArchiveAndLearn {
        let evidence = Evidence::unarchived(capture, findings(capture, ended.what));
        frontier.learn(&evidence.lesson(Some(page))).unwrap();
    }
}

/// What the frontier learns from the body of a visit.
pub(crate) fn findings(capture: &Capture, what: StepContent) -> Findings {
    match (what, &capture.exchange) {
        (StepContent::Page(body), Some(exchange)) => {
            reads().findings(&capture.url, &exchange.response_head, body.as_ref())
        }
        _ => Findings::default(),
    }
}

/// The next task, judging offers when they are many, or when there is nothing else to do for a while.
pub(crate) fn next(frontier: &mut Frontier, now: Timestamp) -> Next {
    let next = frontier.next(now).unwrap();
    let is_soon = matches!(next, Next::Wait(at) if at < now.plus(Interval::from_seconds(12)));
    let is_few = frontier.offered() < 100 && is_soon;
    if frontier.offered() == 0 || is_few || matches!(next, Next::Do(_)) {
        return next;
    }
    frontier.settle(now).unwrap();
    frontier.next(now).unwrap()
}
