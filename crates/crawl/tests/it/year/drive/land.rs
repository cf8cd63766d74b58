//! How flights end: servers and addresses are released at once, and the frontier learns later, in the order of ends.

use super::super::reader::Read;
use super::{Driver, Ended, Flight, Pending, coming};
use archive::{ContentKey, Learned};
use base::chance::{self, hash_bytes};
use base::door::Request;
use base::{Capture, Interval, Outcome, PageUrl, Timestamp};
use crawl::Evidence;
use frontier::{ResultUse, Step, StepResult};
use sim::StartedExchange;
use sim::observe::RequestEnd;
use std::cmp::Reverse;
use std::net::SocketAddr;

/// How long after its end a visit is learned. A batch of the archive takes no longer, and the two threads can work side
/// by side meanwhile: a year has one body in ten seconds.
const LEARNED_AFTER: Interval = Interval::from_minutes(10);
/// Maximum number of visits that wait to be learned.
const LESSONS_MAX: usize = 4_000;

impl Driver {
    /// Everything that ends by now.
    pub(super) fn land(&mut self) {
        while let Some(Reverse((at, number))) =
            self.flights.peek().copied().filter(|first| first.0.0 <= self.now)
        {
            self.flights.pop();
            let flight = self.in_flight.remove(&number).expect("it took off");
            self.end_of(flight, at);
        }
    }
    pub(super) fn end_of(&mut self, flight: Flight, at: Timestamp) {
        let Flight { task, request, began, at: asked_at, result } = flight;
        if let Some((to, request)) = &request {
            self.note(*to, request, began, at, &result);
        }
        let (took, landed, at) = (at.since(began), at, self.told(at));
        let page = task.step.page();
        match result {
            Ended::Address(result) => {
                let outcome = result.as_ref().err().cloned().map(Outcome::Unreachable);
                let worth = self.frontier().complete(&task, &StepResult::LookedUp(result), took, at).unwrap();
                if let (ResultUse::ArchiveAndLearn, Some(outcome), Step::LookUp(_, url, _)) =
                    (worth, outcome, &task.step)
                {
                    self.keep(page, url.clone(), outcome, (asked_at, landed), None);
                }
            }
            Ended::Robots(outcome, answer, sitemaps) => {
                self.out.robots += 1;
                self.frontier().complete(&task, &StepResult::Robots(&outcome, &answer), took, at).unwrap();
                self.frontier().found(&sitemaps, at).unwrap();
            }
            Ended::Page(begun, outcome) => {
                let bytes = if begun.needs_body() { 8_000 } else { 0 };
                let worth =
                    self.frontier().complete(&task, &StepResult::Visited(&outcome, bytes), took, at).unwrap();
                let (_, request) = request.expect("a page was asked for");
                if worth == ResultUse::Discard {
                    self.back(page);
                } else {
                    self.keep(
                        page,
                        request.url.clone(),
                        outcome,
                        (asked_at, landed),
                        Some((*begun, request)),
                    );
                }
            }
            Ended::Failed(outcome) => {
                let worth =
                    self.frontier().complete(&task, &StepResult::Visited(&outcome, 0), took, at).unwrap();
                let (_, request) = request.expect("a page was asked for");
                if worth == ResultUse::Discard {
                    self.back(page);
                } else {
                    self.keep(page, request.url, outcome, (asked_at, landed), None);
                }
            }
            Ended::Refused => {
                self.frontier().complete(&task, &StepResult::Refused, took, at).unwrap();
                if let Step::Refuse(_, url, refusal) = &task.step {
                    self.keep(page, url.clone(), Outcome::Refused(refusal.clone()), (asked_at, landed), None);
                }
            }
        }
    }
    /// A page is no longer in progress.
    pub(super) fn back(&mut self, page: Option<frontier::Number>) {
        if let Some(page) = page {
            self.out_pages.remove(&page.0);
        }
    }
    /// What the servers' side sees of the end of a request, and the trace.
    pub(super) fn note(
        &mut self,
        to: SocketAddr,
        request: &Request,
        began: Timestamp,
        at: Timestamp,
        result: &Ended,
    ) {
        let outcome = match result {
            Ended::Robots(outcome, ..) | Ended::Page(_, outcome) | Ended::Failed(outcome) => outcome,
            Ended::Address(_) | Ended::Refused => return,
        };
        let (status, retry_after) = match outcome {
            Outcome::Fetched { status, .. } | Outcome::Gone { status } | Outcome::Moved { status, .. } => {
                (*status, None)
            }
            Outcome::NotModified => (304, None),
            Outcome::Failed { status, retry_after } => (*status, *retry_after),
            Outcome::Refused(_) | Outcome::Unreachable(_) => (0, None),
        };
        let going = RequestEnd { status, retry_after, retry_at: None, at };
        self.observer.request_ended(&coming(to, request, began), &going);
        let url = hash_bytes(self.out.trace, request.url.as_str().as_bytes());
        self.out.trace = chance::hash(&[
            url,
            began.as_micros().unsigned_abs(),
            status.into(),
            at.since(began).as_micros(),
        ]);
        let out = &mut self.out;
        out.visits += u64::from(!matches!(result, Ended::Robots(..)));
        if is_list(request.url.target()) {
            out.lists.0 += 1;
            out.lists.1 += u64::from(status == 200);
        }
        match outcome {
            Outcome::NotModified => out.unchanged += 1,
            Outcome::Gone { .. } => out.gone += 1,
            Outcome::Failed { .. } | Outcome::Unreachable(_) => out.failed += 1,
            _ => {}
        }
    }

    /// Hands a visit to the archive, which says later that it has it.
    pub(super) fn keep(
        &mut self,
        page: Option<frontier::Number>,
        url: PageUrl,
        outcome: Outcome,
        (asked_at, landed): (Timestamp, Timestamp),
        answer: Option<(StartedExchange, Request)>,
    ) {
        let is_page = matches!(outcome, Outcome::Fetched { .. });
        let capture = Capture { url, at: asked_at, outcome, exchange: None };
        let mut pending = Pending { due: landed.plus(LEARNED_AFTER), page, capture, is_read: false };
        if let Some((begun, request)) = answer.filter(|_| is_page) {
            pending.is_read = true;
            self.reader.give(begun, request);
        }
        self.lessons.push_back(pending);
        if self.lessons.len() > LESSONS_MAX {
            let first = self.lessons.front().map_or(self.now, |lesson| lesson.due);
            self.learn(first);
        }
    }

    /// Learns what the archive has by `by`.
    pub(super) fn learn(&mut self, by: Timestamp) {
        while self.lessons.front().is_some_and(|lesson| lesson.due <= by) {
            let pending = self.lessons.pop_front().expect("there is one");
            let mut read = if pending.is_read { self.reader.take() } else { Read::default() };
            self.out.bodies += u64::from(pending.is_read);
            let mut evidence = Evidence::unarchived(&pending.capture, std::mem::take(&mut read.findings));
            evidence.learned.content = read.content.map(ContentKey);
            evidence.learned.etag = read.etag.take();
            evidence.learned.last_modified = read.last_modified.take();
            let lesson = evidence.lesson(pending.page);
            self.frontier.as_mut().expect("it runs").learn(&lesson).unwrap();
            if pending.is_read {
                let Learned { etag, last_modified, .. } = evidence.learned;
                self.reader.spend(Read { etag, last_modified, findings: evidence.findings, ..read });
            }
            self.uncommitted += 1;
            self.back(pending.page);
        }
    }
}

/// Whether a feed or a sitemap is there.
fn is_list(target: &str) -> bool {
    [".xml", ".xml.gz", "/feed.json"].iter().any(|end| target.ends_with(end))
}
