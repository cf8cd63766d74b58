//! The facts to learn from a visit. The visit itself and, later, the archive give the same facts (D3).
//!
//! The state of a page is learned from its visits as they happen and, after a crash or in a rebuild, from the archive.
//! So everything that learning needs is in the records, and both use one function.
//!
//! **Invariant:** [`Learned::of`] a capture and its entry equals [`Reader::learned`] of the same entry.

use crate::capture::describe::{self, visit};
use crate::capture::entry::{ContentKey, Entry, Stored};
use crate::error::Error;
use crate::reading::reader::Reader;
use base::door::{CauseKind, Exchange, FailureKind, Phase, Truncation};
use base::limits::VALIDATOR_BYTES_MAX;
use base::{Capture, Interval, Outcome, PageUrl, Refusal, RefusalKind, Timestamp, http};
use std::net::IpAddr;
use warc::{Fields, Record};

/// The facts to learn from a visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// When the visit began.
    pub at: Timestamp,
    /// The status, if there was an answer.
    pub status: Option<u16>,
    /// How the visit ended.
    pub ended: Ended,
    /// Identifies the content; for a 304 the content of the body it stands for, if it is known. `None` for a body that
    /// was cut at a random place: the same page would look changed at every visit.
    pub content: Option<ContentKey>,
    /// `ETag`, unless it is too long to be one.
    pub etag: Option<String>,
    /// `Last-Modified`, as the server wrote it, unless it is too long to be one.
    pub last_modified: Option<String>,
    /// Who answered, or was asked.
    pub address: Option<IpAddr>,
}

/// How a visit ended: [`Outcome`] without the parts that learning does not use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The server sent the page.
    Fetched {
        /// Whether its body is incomplete.
        truncated: bool,
    },
    /// The server says that nothing changed.
    NotModified,
    /// The page is somewhere else.
    Moved {
        /// Where to, if that is a page.
        target: Option<PageUrl>,
    },
    /// The page does not exist, or no longer.
    Gone,
    /// The server answered with another error.
    Failed {
        /// How long it asks us to wait.
        retry_after: Option<Interval>,
    },
    /// No request was sent. Long reasons are cut.
    Refused(Refusal),
    /// There was no answer.
    Unreachable(FailureKind),
}

impl Ended {
    /// Whether the request never reached the server, for a reason that says nothing about the page.
    #[must_use]
    pub fn is_held_back(&self) -> bool {
        match self {
            Self::Refused(refusal) => refusal.is_held_back(),
            Self::Unreachable(failure) => failure.is_held_back(),
            _ => false,
        }
    }
}

impl From<&Outcome> for Ended {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Fetched { truncated, .. } => Self::Fetched { truncated: truncated.is_some() },
            Outcome::NotModified => Self::NotModified,
            Outcome::Moved { target, .. } => Self::Moved { target: target.clone() },
            Outcome::Gone { .. } => Self::Gone,
            Outcome::Failed { retry_after, .. } => Self::Failed { retry_after: *retry_after },
            Outcome::Refused(refusal) => Self::Refused(shortened(refusal)),
            Outcome::Unreachable(failure) => Self::Unreachable(failure.kind()),
        }
    }
}

/// Maximum bytes kept of the reason for a refusal; the archive keeps more.
const REASON_BYTES_MAX: usize = 1_024;

impl Learned {
    /// The facts from a capture that is stored as `entry`.
    #[must_use]
    pub fn of(capture: &Capture, entry: &Entry) -> Self {
        match &capture.exchange {
            Some(exchange) => Self::of_exchange(exchange, entry),
            None => Self::of_silence(&capture.outcome, entry),
        }
    }

    fn of_exchange(exchange: &Exchange, entry: &Entry) -> Self {
        let address = Some(exchange.address.ip());
        Self::answered(entry, &exchange.response_head, exchange.truncated, address)
    }

    fn of_silence(outcome: &Outcome, entry: &Entry) -> Self {
        match outcome {
            Outcome::Refused(_) => Self::silent(entry, outcome.into(), None),
            Outcome::Unreachable(failure) => {
                Self::silent(entry, outcome.into(), failure.address.map(|address| address.ip()))
            }
            _ => Self::silent(entry, Ended::Unreachable(FailureKind::UNKNOWN), None),
        }
    }

    fn of_record(record: &Record, entry: &Entry) -> Self {
        let fields = &record.fields;
        let address = fields.get(warc::header::name::IP_ADDRESS).and_then(|address| address.parse().ok());
        if entry.kind == Stored::Metadata {
            let fields = Fields::read(&record.block).unwrap_or_default();
            return Self::silent(entry, ended(&fields), address);
        }
        let head = match entry.kind {
            Stored::Resource => &[],
            _ => describe::split_answer(&record.block).0,
        };
        let truncated = fields.get(warc::header::name::TRUNCATED).and_then(Truncation::named);
        Self::answered(entry, head, truncated, address)
    }

    fn silent(entry: &Entry, ended: Ended, address: Option<IpAddr>) -> Self {
        let Entry { at, status, .. } = *entry;
        Self { at, status, ended, content: None, etag: None, last_modified: None, address }
    }

    /// From the head of an answer, and why its body is incomplete, if it is.
    fn answered(entry: &Entry, head: &[u8], truncated: Option<Truncation>, address: Option<IpAddr>) -> Self {
        let by_chance = entry.truncated && truncated.is_none_or(Truncation::is_by_chance);
        let validator = |name| {
            let value = http::field(head, name).filter(|value| value.len() <= VALIDATOR_BYTES_MAX);
            value.map(ToOwned::to_owned)
        };
        let ended = match (entry.kind, entry.status) {
            (Stored::Resource, _) | (_, Some(200..=299)) => Ended::Fetched { truncated: entry.truncated },
            (_, Some(304)) | (Stored::Revisit, None) => Ended::NotModified,
            (_, Some(300..=399)) => Ended::Moved { target: target(&entry.url, head) },
            (_, Some(404 | 410)) => Ended::Gone,
            _ => Ended::Failed { retry_after: http::retry_after(head) },
        };
        Self {
            content: entry.content.filter(|_| !by_chance),
            etag: validator("etag"),
            last_modified: validator("last-modified"),
            ..Self::silent(entry, ended, address)
        }
    }
}

impl Reader {
    /// The facts to learn from a capture; `None` if it is not a visit.
    pub fn learned(&self, entry: &Entry) -> Result<Option<Learned>, Error> {
        if !entry.is_visit() {
            return Ok(None);
        }
        self.record(entry).map(|record| Some(Learned::of_record(&record, entry)))
    }
}

/// Where a redirect leads, if that is a page.
fn target(url: &str, head: &[u8]) -> Option<PageUrl> {
    let location = http::field_text(head, "location")?;
    PageUrl::parse(url).ok()?.join(&location).ok()
}

/// How a visit without an answer ended, by the fields of its record.
fn ended(fields: &Fields) -> Ended {
    match fields.decoded(visit::REFUSAL) {
        Some(word) => match refusal(&word, fields) {
            Some(refusal) => Ended::Refused(refusal),
            None => Ended::Unreachable(FailureKind::UNKNOWN),
        },
        None => Ended::Unreachable(FailureKind {
            phase: fields.decoded(visit::PHASE).and_then(|words| Phase::named(&words)),
            cause: fields.decoded(visit::CAUSE_KIND).and_then(|word| CauseKind::named(&word)),
        }),
    }
}

fn refusal(word: &str, fields: &Fields) -> Option<Refusal> {
    let reason = || reason(&fields.decoded(visit::RULE).unwrap_or_default());
    Some(match RefusalKind::named(word)? {
        RefusalKind::Robots => Refusal::Robots(reason()),
        RefusalKind::RobotsUnreachable => Refusal::RobotsUnreachable,
        RefusalKind::Address => Refusal::Address(reason()),
        RefusalKind::OptOut => Refusal::OptOut(reason()),
        RefusalKind::NoContact => Refusal::NoContact,
        RefusalKind::Proxy => Refusal::Proxy { reason: reason(), retry_after: seconds(fields) },
    })
}

fn seconds(fields: &Fields) -> Option<Interval> {
    let seconds: f64 = fields.decoded(visit::RETRY_AFTER_SECONDS)?.parse().ok()?;
    std::time::Duration::try_from_secs_f64(seconds).ok().map(Interval::from)
}

/// The refusal with its reason cut to [`REASON_BYTES_MAX`].
fn shortened(refusal: &Refusal) -> Refusal {
    match refusal {
        Refusal::Robots(rule) => Refusal::Robots(reason(rule)),
        Refusal::Address(why) => Refusal::Address(reason(why)),
        Refusal::OptOut(line) => Refusal::OptOut(reason(line)),
        Refusal::Proxy { reason: why, retry_after } => {
            Refusal::Proxy { reason: reason(why), retry_after: *retry_after }
        }
        other => other.clone(),
    }
}

fn reason(text: &str) -> String {
    text.get(..text.floor_char_boundary(REASON_BYTES_MAX)).unwrap_or(text).to_owned()
}
