//! The result of a visit: its outcome, and the capture that the archive keeps.

use crate::door::{Cause, Exchange, Failure, Truncation};
use crate::{ContentDigest, Interval, PageUrl, Timestamp};

/// How a visit ended.
///
/// A broken, slow or forbidding server is not an error of ours. It is a fact about the page, so it is a value here and
/// is archived like any other result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The server sent the page (2xx).
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
        /// How long the server asks us to wait.
        retry_after: Option<Interval>,
    },
    /// No request was sent.
    Refused(Refusal),
    /// There was no answer.
    Unreachable(Failure),
}

/// Why a page is not requested.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The robots file forbids it; holds the line that does.
    Robots(String),
    /// The robots file cannot be fetched, so everything is forbidden for now (RFC 9309).
    RobotsUnreachable,
    /// The address may not be visited (H1); which, and why.
    Address(String),
    /// The operator's opt-out list forbids it; holds the line that does.
    OptOut(String),
    /// The address is public, and the crawl has no contact (D18).
    NoContact,
    /// The egress guard, or another proxy, refuses (C12).
    Proxy {
        /// Its reason.
        reason: String,
        /// How long it asks us to wait with this server.
        retry_after: Option<Interval>,
    },
}

impl Refusal {
    /// The refusal without its details.
    #[must_use]
    pub const fn kind(&self) -> RefusalKind {
        match self {
            Self::Robots(_) => RefusalKind::Robots,
            Self::RobotsUnreachable => RefusalKind::RobotsUnreachable,
            Self::Address(_) => RefusalKind::Address,
            Self::OptOut(_) => RefusalKind::OptOut,
            Self::NoContact => RefusalKind::NoContact,
            Self::Proxy { .. } => RefusalKind::Proxy,
        }
    }
    /// Whether a proxy only delays the request. That says nothing about the page.
    #[must_use]
    pub const fn is_held_back(&self) -> bool {
        matches!(self, Self::Proxy { retry_after: Some(_), .. })
    }
}

/// A [`Refusal`] without its details. Archived records name it by [`as_str`](Self::as_str).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the kind of the refusal of the same name")]
pub enum RefusalKind {
    Robots,
    RobotsUnreachable,
    Address,
    OptOut,
    NoContact,
    Proxy,
}

impl RefusalKind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Robots, Self::RobotsUnreachable, Self::Address, Self::OptOut, Self::NoContact, Self::Proxy];

    /// The kind in a word, as archived records write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Robots => "robots",
            Self::RobotsUnreachable => "robots-unreachable",
            Self::Address => "address",
            Self::OptOut => "opt-out",
            Self::NoContact => "no-contact",
            Self::Proxy => "proxy",
        }
    }
    /// The kind of this name.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl Outcome {
    /// The outcome of a failed exchange. If our own rules forbid the request, it is a refusal.
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
            Self::Refused(refusal) => refusal.is_held_back(),
            Self::Unreachable(failure) => failure.kind().is_held_back(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_to_its_kind() {
        for kind in RefusalKind::ALL {
            assert_eq!(RefusalKind::named(kind.as_str()), Some(kind));
        }
        assert_eq!(RefusalKind::named("Robots"), None);
    }
}
