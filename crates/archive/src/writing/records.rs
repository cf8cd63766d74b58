//! Which records a capture becomes.
//!
//! An answer is a `response` and the `request` that led to it. An answer whose body is stored already is a `revisit`
//! instead of the response: it keeps the head of the answer and refers to the body. A visit without an answer is a
//! `metadata` record with the reason, and a second one with the received bytes that are not an answer, if any.
//!
//! **Invariant:** a revisit refers only to a body with an equal digest, or after a 304, and always states that digest;
//! a truncated or empty body is always stored (D8).

use crate::capture::describe::{Facts, field, visit};
use crate::capture::entry::{ContentKey, Entry, Flag, Location, Stored};
use crate::files::checkpoint::Checkpoint;
use crate::writing::file::{GrowingFile, Placed};
use base::door::{Exchange, Failure, Truncation};
use base::{Capture, Outcome, Refusal, Sha1Digest, Timestamp};
use std::sync::Arc;
use std::time::Duration;
use warc::{Draft, Fields, HTTP_REQUEST, HTTP_RESPONSE, Kind, Profile, WARC_FIELDS};

/// The result of appending a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The capture as the index knows it.
    pub entry: Entry,
    /// Bytes of all its records in the file.
    pub bytes_written: u64,
}

impl Appended {
    /// The checkpoint after it. It may be stored after the next commit, which makes the capture durable.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint::after(&self.entry)
    }
}

/// The body that a revisit refers to.
#[derive(Clone, Debug)]
pub(crate) struct Original {
    /// What was requested when it was stored.
    pub(crate) url: String,
    /// When.
    pub(crate) at: Timestamp,
    /// The digest of the body without its transfer coding.
    pub(crate) payload: Sha1Digest,
    /// Identifies its content.
    pub(crate) content: Option<ContentKey>,
    /// The record that holds it.
    pub(crate) location: Location,
}

/// An answer has two records, itself and its request; a failed visit too, the reason and the received bytes.
const TWO_RECORDS: &str = "2";
/// The type of received bytes that are not HTTP.
const ANY_BYTES: &str = "application/octet-stream";

/// A visit that was answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) capture: &'a Capture,
    pub(crate) exchange: &'a Exchange,
    /// The body of the exchange.
    pub(crate) body: &'a [u8],
}

/// Appends the records of an answered visit: a revisit if the body is stored as `original` already.
pub(crate) fn append_answer(
    answer: &Answer<'_>,
    seen: (&Facts, Flag),
    original: Option<&Original>,
    file: &mut GrowingFile,
) -> Entry {
    let Answer { capture, exchange, body } = *answer;
    let (url, address) = (capture.url.as_str(), exchange.address.ip());
    let (facts, flag) = seen;
    let is_unmodified = exchange.status == 304;
    let content = match original {
        Some(original) if is_unmodified => original.content,
        None if is_unmodified => None,
        _ => Some(facts.content),
    };
    let described = |draft: Draft| draft.target(url).address(address);
    let ours = |draft: Draft| {
        let draft = draft.text(field::FLAG, flag.as_str()).text(field::RECORDS, TWO_RECORDS);
        let marks = exchange.marks.names().collect::<Vec<_>>().join(", ");
        let draft = if marks.is_empty() { draft } else { draft.text(field::MARKS, &marks) };
        content.into_iter().fold(draft, |draft, content| draft.text(field::CONTENT, &content.to_string()))
    };
    let (answer, kind, payload) = match original {
        Some(original) => {
            let why =
                if is_unmodified { Profile::ServerNotModified } else { Profile::IdenticalPayloadDigest };
            let draft = |draft| ours(revisit(described(draft), why, original));
            let block: [&[u8]; 1] = [&exchange.response_head];
            let placed = file.put(&Kind::Revisit, capture.at, draft, HTTP_RESPONSE, &block);
            (placed, Stored::Revisit, original.payload)
        }
        None => {
            let draft = |draft| ours(response(described(draft), exchange, facts.payload));
            let block: [&[u8]; 2] = [&exchange.response_head, body];
            let placed = file.put(&Kind::Response, capture.at, draft, HTTP_RESPONSE, &block);
            (placed, Stored::Response, facts.payload)
        }
    };
    let draft = |draft| described(draft).concurrent_to(&answer.id);
    let request = file.put(&Kind::Request, capture.at, draft, HTTP_REQUEST, &[&exchange.request_head]);
    Entry {
        kind,
        flag,
        status: facts.status,
        media_type: Arc::clone(&facts.media_type),
        payload: Some(payload),
        content,
        truncated: exchange.truncated.is_some() && kind == Stored::Response,
        moves_within: facts.moves_within,
        group_bytes: answer.length + request.length,
        body: original.map(|original| original.location.clone()),
        ..unanswered(capture, &answer, file)
    }
}

/// The entry of a visit without an answer.
fn unanswered(capture: &Capture, placed: &Placed, file: &GrowingFile) -> Entry {
    Entry {
        key: capture.url.key().into(),
        url: capture.url.as_str().to_owned(),
        at: capture.at,
        kind: Stored::Metadata,
        flag: Flag::Error,
        status: None,
        media_type: Arc::from(""),
        payload: None,
        content: None,
        truncated: false,
        moves_within: false,
        location: Location { file: file.name(), offset: placed.offset, length: placed.length },
        group_bytes: placed.length,
        body: None,
        sum: placed.sum,
    }
}

/// The body is left out, which the standard requires to be stated (6.7.2).
fn revisit(draft: Draft, why: Profile, original: &Original) -> Draft {
    let draft = draft.refers_to(why, &original.url, original.at).payload_digest(original.payload);
    match why {
        Profile::IdenticalPayloadDigest => draft.truncated(Truncation::Length),
        Profile::ServerNotModified => draft,
    }
}

/// The payload digest is that of the body without its transfer coding, also when it came in chunks (D8).
fn response(draft: Draft, exchange: &Exchange, payload: Sha1Digest) -> Draft {
    let draft = draft.payload_digest(payload);
    match exchange.truncated {
        Some(why) => draft.truncated(why),
        None => draft,
    }
}

/// Appends the record of a visit without an answer.
pub(crate) fn append_unanswered(capture: &Capture, file: &mut GrowingFile) -> Entry {
    let fields = Fields::new().text(visit::OUTCOME, capture.outcome.as_str());
    let fields = match &capture.outcome {
        Outcome::Unreachable(failure) => unreachable(fields, failure),
        Outcome::Refused(refusal) => refused(fields, refusal),
        _ => fields,
    };
    let mut block = Vec::new();
    fields.write_to(&mut block);
    let failure = if let Outcome::Unreachable(failure) = &capture.outcome { Some(failure) } else { None };
    let address = failure.and_then(|failure| failure.address).map(|address| address.ip());
    let described = |draft: Draft| {
        let draft = draft.target(capture.url.as_str());
        address.into_iter().fold(draft, Draft::address)
    };
    let received = failure.map(|failure| &*failure.received).filter(|bytes| !bytes.is_empty());
    let draft = |draft: Draft| {
        let draft = described(draft).text(field::FLAG, Flag::Error.as_str());
        if received.is_some() { draft.text(field::RECORDS, TWO_RECORDS) } else { draft }
    };
    let placed = file.put(&Kind::Metadata, capture.at, draft, WARC_FIELDS, &[&block]);
    let Some(received) = received else { return unanswered(capture, &placed, file) };
    let draft = |draft: Draft| described(draft).concurrent_to(&placed.id);
    let kept = file.put(&Kind::Metadata, capture.at, draft, ANY_BYTES, &[received]);
    Entry { group_bytes: placed.length + kept.length, ..unanswered(capture, &placed, file) }
}

fn unreachable(fields: Fields, failure: &Failure) -> Fields {
    fields
        .text(visit::PHASE, failure.phase.as_str())
        .text(visit::CAUSE, &failure.cause.to_string())
        .text(visit::CAUSE_KIND, failure.cause.kind().as_str())
        .text(visit::TOOK_SECONDS, &format!("{:.6}", failure.took.as_secs_f64()))
}

fn refused(fields: Fields, refusal: &Refusal) -> Fields {
    let fields = fields.text(visit::REFUSAL, refusal.kind().as_str());
    match refusal {
        Refusal::Robots(reason) | Refusal::Address(reason) | Refusal::OptOut(reason) => {
            fields.text(visit::RULE, reason)
        }
        Refusal::Proxy { reason, retry_after } => {
            let fields = fields.text(visit::RULE, reason);
            let seconds =
                retry_after.map(|interval| format!("{:.6}", Duration::from(interval).as_secs_f64()));
            seconds
                .into_iter()
                .fold(fields, |fields, seconds| fields.text(visit::RETRY_AFTER_SECONDS, &seconds))
        }
        _ => fields,
    }
}
