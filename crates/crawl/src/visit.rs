//! One step through the door: a look-up, a robots file or a visit, and its result.
//!
//! The running crawler takes steps in tasks, a simulation in a plain loop; both use this module.

use crate::findings::ReadOptions;
use base::clock::Clock;
use base::door::{Door, Exchange, Failure, Found, Request};
use base::{Capture, Interval, PageUrl, Timestamp};
use fetch::{Decoded, Read};
use frontier::{Step, StepResult};
use robots::RobotsAnswer;
use stage::ParsedBody;
use std::net::SocketAddr;

/// How a step ended.
#[derive(Debug)]
pub struct FinishedStep {
    /// The capture for the archive.
    pub capture: Option<Capture>,
    /// How long it took, by the given clock.
    pub took: Interval,
    /// What the frontier, and the page, learn from it.
    pub what: StepContent,
}

/// What a step found.
#[derive(Debug)]
pub enum StepContent {
    /// Where a server is.
    LookedUp(Result<Found, Failure>),
    /// What a robots file says.
    Robots(RobotsAnswer),
    /// The parsed body of a page; `None` when no whole body came.
    Page(Option<ParsedBody>),
}

impl FinishedStep {
    /// The result, as the frontier takes it.
    ///
    /// # Panics
    /// Never: a step with an answer has a capture.
    #[must_use]
    pub fn done(&self) -> StepResult<'_> {
        let capture = || self.capture.as_ref().expect("a step with an answer has a capture");
        match &self.what {
            StepContent::LookedUp(result) => StepResult::LookedUp(result.clone()),
            StepContent::Robots(answer) => StepResult::Robots(&capture().outcome, answer),
            StepContent::Page(_) => StepResult::Visited(&capture().outcome, received_bytes(capture())),
        }
    }
}

/// The bytes that came for a capture.
#[must_use]
pub(crate) fn received_bytes(capture: &Capture) -> u64 {
    let bytes = |exchange: &Exchange| exchange.response_head.len() + exchange.body.len();
    capture.exchange.as_ref().map_or(0, bytes) as u64
}

/// Takes one step through the door.
///
/// # Panics
/// When the step is a refusal, which needs no door.
pub async fn take<D: Door>(door: &D, clock: &dyn Clock, reads: &ReadOptions, step: &Step) -> FinishedStep {
    let at = clock.now();
    match step {
        Step::LookUp(_, url, origin) => {
            let result = door.look_up(origin).await;
            let capture = result.as_ref().err().map(|failure| {
                let outcome = fetch::outcome(url, &Err(failure.clone()));
                Capture { url: url.clone(), at, outcome, exchange: None }
            });
            FinishedStep { capture, took: Interval::ZERO, what: StepContent::LookedUp(result) }
        }
        Step::Robots(to, request) => {
            let (capture, text, took) = visit(door, clock, *to, request, at, robots_text).await;
            let answer = RobotsAnswer::read(&capture.outcome, text.flatten().as_deref(), &reads.agent);
            FinishedStep { capture: Some(capture), took, what: StepContent::Robots(answer) }
        }
        Step::Visit(_, to, request) => {
            let (url, reads): (PageUrl, ReadOptions) = (request.url.clone(), reads.clone());
            let parse =
                move |exchange: &Exchange, content: &Decoded<'_>| reads.parse(&url, exchange, content);
            let (capture, body, took) = visit(door, clock, *to, request, at, parse).await;
            FinishedStep { capture: Some(capture), took, what: StepContent::Page(body.flatten()) }
        }
        Step::Refuse(..) => unreachable!("a refusal needs no door"),
    }
}

async fn visit<D: Door, T: Send + 'static>(
    door: &D,
    clock: &dyn Clock,
    to: SocketAddr,
    request: &Request,
    at: Timestamp,
    learn: impl FnOnce(&Exchange, &Decoded<'_>) -> T + Send + 'static,
) -> (Capture, Option<T>, Interval) {
    let result = door.exchange(to, request).await;
    let told = result.as_ref().map_or_else(|failure| failure.took, |exchange| exchange.times.total);
    let took = clock.now().since(at).max(clock.elapsed_in(told));
    let Read { outcome, learned, exchange } = fetch::read(&request.url, result, learn).await;
    (Capture { url: request.url.clone(), at, outcome, exchange }, learned, took)
}

/// The text of a robots file; `None` if it cannot be decoded within the limits.
fn robots_text(_: &Exchange, content: &Decoded<'_>) -> Option<Vec<u8>> {
    fetch::robots_text_of(content).map(<[u8]>::to_vec)
}
