//! Which records a capture becomes.
//!
//! An answer is a `response` and the `request` that led to it. An answer whose body is stored already is a
//! `revisit` instead of the response: it keeps the head of the answer and says where the body is. A visit without an
//! answer is a `metadata` record that says why.
//!
//! **Invariant:** a revisit stands only for a body that is equal by digest, or that the server called unchanged, and
//! always carries that digest; a body that was cut off or is empty is always stored as it came (D8).

use crate::file::{GrowingFile, Placed};
use base::door::{Exchange, Failure};
use base::http::Framing;
use base::{Capture, Outcome, PageUrl, Refusal, Sha1Digest, Timestamp};
use std::sync::Arc;
use warc::{Draft, Fields, HTTP_REQUEST, HTTP_RESPONSE, Kind, Profile, WARC_FIELDS};

/// The version that a page, or the same body elsewhere, was last stored as: what a revisit refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    /// What was requested.
    pub url: PageUrl,
    /// When.
    pub at: Timestamp,
    /// The digest of the body without its transfer coding.
    pub payload: Sha1Digest,
}

/// What became of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Where its first record is.
    pub location: Location,
    /// The digest of the body without its transfer coding; for an unchanged page that of the stored body.
    pub payload: Option<Sha1Digest>,
    /// As what it was stored.
    pub kind: Stored,
    /// How many bytes of the file all its records take.
    pub bytes_written: u64,
}

/// Where a record is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The name of the file once it is finished; it may still have `.open` behind it.
    pub file: Arc<str>,
    /// Where the record's gzip member begins.
    pub offset: u64,
    /// How long the member is.
    pub length: u64,
}

/// As what a capture is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stored {
    /// The whole answer.
    Response,
    /// The head of the answer and where its body is.
    Revisit,
    /// Why there was no answer.
    Metadata,
}

impl Stored {
    /// The name of the record's kind.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Revisit => "revisit",
            Self::Metadata => "metadata",
        }
    }
}

impl Appended {
    /// What the next visit of the page is to be compared with: this capture if its body was stored and complete,
    /// else what this one was compared with.
    #[must_use]
    pub fn before_next(&self, capture: &Capture, before: Option<Before>) -> Option<Before> {
        let is_version = matches!(capture.outcome, Outcome::Fetched { truncated: None, .. });
        match (self.kind, self.payload) {
            (Stored::Response, Some(payload)) if is_version => {
                Some(Before { url: capture.url.clone(), at: capture.at, payload })
            }
            _ => before,
        }
    }
}

/// Appends the records of `capture` to `file`.
pub(crate) fn append(capture: &Capture, before: Option<&Before>, file: &mut GrowingFile) -> Appended {
    let start = file.position();
    let (first, payload, kind) = match &capture.exchange {
        Some(exchange) => append_exchange(capture, exchange, before, file),
        None => (append_metadata(capture, file), None, Stored::Metadata),
    };
    let location = Location { file: file.name(), offset: first.offset, length: first.length };
    Appended { location, payload, kind, bytes_written: file.position() - start }
}

fn append_exchange(
    capture: &Capture,
    exchange: &Exchange,
    before: Option<&Before>,
    file: &mut GrowingFile,
) -> (Placed, Option<Sha1Digest>, Stored) {
    let (url, address) = (capture.url.as_str(), exchange.address.ip());
    let payload = Sha1Digest::of(&[&exchange.payload()]);
    let described = |draft: Draft| draft.target(url).address(address);
    let (answer, payload, kind) = match repetition(exchange, payload, before) {
        Some((why, before)) => {
            let draft = |draft| revisit(described(draft), why, before);
            let block: [&[u8]; 1] = [&exchange.response_head];
            let placed = file.put(&Kind::Revisit, capture.at, draft, HTTP_RESPONSE, &block);
            (placed, before.payload, Stored::Revisit)
        }
        None => {
            let draft = |draft| response(described(draft), exchange, payload);
            let block: [&[u8]; 2] = [&exchange.response_head, &exchange.body];
            let placed = file.put(&Kind::Response, capture.at, draft, HTTP_RESPONSE, &block);
            (placed, payload, Stored::Response)
        }
    };
    let draft = |draft| described(draft).concurrent_to(&answer.id);
    file.put(&Kind::Request, capture.at, draft, HTTP_REQUEST, &[&exchange.request_head]);
    (answer, Some(payload), kind)
}

/// Whether the body is stored already, and where.
fn repetition<'a>(
    exchange: &Exchange,
    payload: Sha1Digest,
    before: Option<&'a Before>,
) -> Option<(Profile, &'a Before)> {
    let before = before?;
    if exchange.status == 304 {
        return Some((Profile::ServerNotModified, before));
    }
    let is_worth_it = exchange.truncated.is_none() && !exchange.body.is_empty();
    (is_worth_it && payload == before.payload).then_some((Profile::IdenticalPayloadDigest, before))
}

fn revisit(draft: Draft, why: Profile, before: &Before) -> Draft {
    draft.refers_to(why, before.url.as_str(), before.at).payload_digest(before.payload)
}

/// The payload digest is left out where the commonest checker would take chunk framing for payload (D8).
fn response(draft: Draft, exchange: &Exchange, payload: Sha1Digest) -> Draft {
    let draft = match exchange.framing {
        Framing::Chunked => draft,
        _ => draft.payload_digest(payload),
    };
    match exchange.truncated {
        Some(why) => draft.truncated(why),
        None => draft,
    }
}

/// The names of the fields in a metadata record.
pub(crate) mod name {
    pub(crate) const OUTCOME: &str = "outcome";
    pub(crate) const PHASE: &str = "phase";
    pub(crate) const CAUSE: &str = "cause";
    pub(crate) const TOOK_SECONDS: &str = "took-seconds";
    pub(crate) const REFUSAL: &str = "refusal";
    pub(crate) const RULE: &str = "rule";
}

fn append_metadata(capture: &Capture, file: &mut GrowingFile) -> Placed {
    let fields = Fields::new().text(name::OUTCOME, capture.outcome.as_str());
    let fields = match &capture.outcome {
        Outcome::Unreachable(failure) => unreachable(fields, failure),
        Outcome::Refused(refusal) => refused(fields, refusal),
        _ => fields,
    };
    let mut block = Vec::new();
    fields.write_to(&mut block);
    let draft = |draft: Draft| draft.target(capture.url.as_str());
    file.put(&Kind::Metadata, capture.at, draft, WARC_FIELDS, &[&block])
}

fn unreachable(fields: Fields, failure: &Failure) -> Fields {
    fields
        .text(name::PHASE, failure.phase.as_str())
        .text(name::CAUSE, &failure.cause.to_string())
        .text(name::TOOK_SECONDS, &format!("{:.6}", failure.took.as_secs_f64()))
}

fn refused(fields: Fields, refusal: &Refusal) -> Fields {
    match refusal {
        Refusal::Robots(rule) => fields.text(name::REFUSAL, "robots").text(name::RULE, rule),
        Refusal::RobotsUnreachable => fields.text(name::REFUSAL, "robots-unreachable"),
        Refusal::Address => fields.text(name::REFUSAL, "address"),
        other => fields.text(name::REFUSAL, &format!("{other:?}")),
    }
}
