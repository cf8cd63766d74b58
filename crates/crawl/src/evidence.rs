//! What the archive holds about a visit, in the form from which the frontier learns.

use crate::findings::Findings;
use archive::{ContentKey, Ended, Learned};
use base::door::{Exchange, Truncation};
use base::limits::VALIDATOR_BYTES_MAX;
use base::{Capture, Outcome, PageUrl};
use frontier::{Lesson, Number, TextFeatures, VisitResult};

/// What is known about a visit: a [`Lesson`] borrows from it.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// What was requested.
    pub url: PageUrl,
    /// How the visit ended, by the archive.
    pub learned: Learned,
    /// What was found in its body.
    pub findings: Findings,
    /// The checkpoint after it.
    pub place: String,
}

impl Evidence {
    /// The evidence of a capture that is in no archive, as in a simulation.
    #[must_use]
    pub fn unarchived(capture: &Capture, findings: Findings) -> Self {
        let field = |name| {
            let value = capture.exchange.as_ref().and_then(|exchange| exchange.field(name));
            value.filter(|value| value.len() <= VALIDATOR_BYTES_MAX).map(ToOwned::to_owned)
        };
        let learned = Learned {
            at: capture.at,
            status: capture.outcome.status(),
            ended: Ended::from(&capture.outcome),
            content: content(capture),
            etag: field("etag"),
            last_modified: field("last-modified"),
            address: capture.exchange.as_ref().map(|exchange| exchange.address.ip()),
        };
        Self { url: capture.url.clone(), learned, findings, place: String::new() }
    }
    /// The lesson for the page. `page` is its number if it was handed out for this visit.
    #[must_use]
    pub fn lesson(&self, page: Option<Number>) -> Lesson<'_> {
        let Findings { links, too_long, main, features, filtered } = &self.findings;
        Lesson {
            page,
            url: &self.url,
            at: self.learned.at,
            result: visit_result(&self.learned),
            address: self.learned.address,
            etag: self.learned.etag.as_deref(),
            last_modified: self.learned.last_modified.as_deref(),
            text: main.map(|main| TextFeatures { main, features }),
            filtered,
            links,
            too_long,
            place: &self.place,
        }
    }
}

/// How a visit ended, as the frontier learns it. Used for live and archived visits.
#[must_use]
pub fn visit_result(learned: &Learned) -> VisitResult<'_> {
    let status = learned.status.unwrap_or(0);
    match &learned.ended {
        ended if ended.is_held_back() => VisitResult::NotSent,
        Ended::Fetched { .. } => {
            learned.content.map_or(VisitResult::Incomplete, |content| VisitResult::Content(content.0))
        }
        Ended::NotModified => VisitResult::NotModified,
        Ended::Moved { target } => VisitResult::Moved { status, target: target.as_ref() },
        Ended::Gone => VisitResult::Gone(status),
        Ended::Failed { retry_after } => VisitResult::Failed { status, retry_after: *retry_after },
        Ended::Refused(refusal) => VisitResult::Refused(refusal),
        Ended::Unreachable(failure) => VisitResult::Unreachable { may_pass: failure.may_pass() },
    }
}

/// The content key that the archive would store for a capture.
fn content(capture: &Capture) -> Option<ContentKey> {
    let Outcome::Fetched { content, truncated, .. } = &capture.outcome else { return None };
    if truncated.is_some_and(Truncation::is_by_chance) {
        return None;
    }
    let as_received = |exchange: &Exchange| exchange.payload().ok().map(|payload| ContentKey::of(&payload));
    content.map(ContentKey::from).or_else(|| capture.exchange.as_ref().and_then(as_received))
}

#[cfg(test)]
mod tests;
