//! What a visit brought: its outcome, and the capture that the archive keeps.

use crate::door::{Cause, Exchange, Failure, Phase, Truncation};
use crate::{ContentDigest, Interval, PageUrl, Timestamp};

/// How a visit ended.
///
/// A broken, slow or forbidding server is not an error of ours. It is something learned about the page, so it is
/// a value here and is archived like any other result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The page came (2xx).
    Fetched {
        /// The status.
        status: u16,
        /// The digest of the content, every coding removed; none when it cannot be decoded within the limits.
        content: Option<ContentDigest>,
        /// Why the body is incomplete, if it is.
        truncated: Option<Truncation>,
    },
    /// The server says that nothing changed (304).
    NotModified,
    /// The page is somewhere else (3xx).
    Moved {
        /// The status.
        status: u16,
        /// Where to, if that is a page.
        target: Option<PageUrl>,
    },
    /// The page does not exist, or no longer (404, 410).
    Gone {
        /// The status.
        status: u16,
    },
    /// The server answered with another error.
    Failed {
        /// The status.
        status: u16,
        /// When it asks to be left alone until.
        retry_after: Option<Interval>,
    },
    /// We did not ask.
    Refused(Refusal),
    /// There was no answer.
    Unreachable(Failure),
}

/// Why a page is not asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The robots file says no; the line that says so.
    Robots(String),
    /// The robots file cannot be had, so everything is forbidden for now (RFC 9309).
    RobotsUnreachable,
    /// The address may not be visited (H1); which, and why.
    Address(String),
    /// The operator's opt-out list says no; the line that says so.
    OptOut(String),
    /// The address is public, and the crawl has no contact (D18).
    NoContact,
    /// The egress guard, or another proxy, refuses (C12).
    Proxy {
        /// Its reason.
        reason: String,
        /// How long it asks to be left alone with this server.
        retry_after: Option<Interval>,
    },
}

impl Outcome {
    /// The outcome of an exchange that failed. What our own rules forbid is a refusal.
    #[must_use]
    pub fn of_failure(failure: &Failure) -> Self {
        match &failure.cause {
            cause @ Cause::ForbiddenAddress { .. } => Self::Refused(Refusal::Address(cause.to_string())),
            Cause::NoContact => Self::Refused(Refusal::NoContact),
            Cause::Proxy { reason, retry_after } => {
                Self::Refused(Refusal::Proxy { reason: reason.clone(), retry_after: *retry_after })
            }
            _ => Self::Unreachable(failure.clone()),
        }
    }
    /// Whether the request never reached the server, for a reason that says nothing about the page: a proxy held it back or
    /// could not be reached, or this machine failed.
    #[must_use]
    pub fn is_held_back(&self) -> bool {
        match self {
            Self::Refused(Refusal::Proxy { retry_after, .. }) => retry_after.is_some(),
            Self::Unreachable(failure) => {
                failure.phase == Phase::Proxy || matches!(failure.cause, Cause::Machine(_))
            }
            _ => false,
        }
    }
    /// The outcome in one word, for listings and counters.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Fetched { .. } => "fetched",
            Self::NotModified => "not-modified",
            Self::Moved { .. } => "moved",
            Self::Gone { .. } => "gone",
            Self::Failed { .. } => "failed",
            Self::Refused(_) => "refused",
            Self::Unreachable(_) => "unreachable",
        }
    }
    /// The status, if there was an answer.
    #[must_use]
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Fetched { status, .. }
            | Self::Moved { status, .. }
            | Self::Gone { status }
            | Self::Failed { status, .. } => Some(*status),
            Self::NotModified => Some(304),
            Self::Refused(_) | Self::Unreachable(_) => None,
        }
    }
}

/// One visit to one page: when, how it ended, and the bytes if there were any.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The page as it was requested.
    pub url: PageUrl,
    /// When the visit began.
    pub at: Timestamp,
    /// How it ended.
    pub outcome: Outcome,
    /// Request and answer; nothing when there was no answer.
    pub exchange: Option<Exchange>,
}
