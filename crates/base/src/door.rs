//! The door to the web: one look-up or one HTTP exchange, without robots rules and redirects (D10).
//!
//! `fetch` is the real door, `sim` the simulated one; the crawler uses only this trait.
//!
//! **Invariant:** an exchange goes to exactly the given address (H3), and whatever the other side does comes
//! back as a value, within the limits of [`crate::limits`].

use crate::http::{self, Framing};
use crate::url::Origin;
use crate::{Body, Interval, PageUrl};
use std::borrow::Cow;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Access to the web, real or simulated.
pub trait Door: Send + Sync {
    /// The addresses that answer for an origin.
    fn look_up(&self, origin: &Origin) -> impl Future<Output = Result<Found, Failure>> + Send;

    /// One request to `to`, and what came back.
    fn exchange(
        &self,
        to: SocketAddr,
        request: &Request,
    ) -> impl Future<Output = Result<Exchange, Failure>> + Send;
}

/// The answer to a look-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where to connect, best first; never empty.
    pub addresses: Vec<SocketAddr>,
    /// How long the answer may be used.
    pub lifetime: Interval,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The page to request.
    pub url: PageUrl,
    /// Whether only the head is wanted.
    pub head_only: bool,
    /// Further fields, such as `If-None-Match`; `Host` and `Connection` are the door's own.
    pub fields: Vec<(&'static str, String)>,
}

impl Request {
    /// A plain GET.
    #[must_use]
    pub fn get(url: PageUrl) -> Self {
        Self { url, head_only: false, fields: Vec::new() }
    }
    /// The same with one more field.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }
}

/// One request and its answer, byte for byte.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Who answered.
    pub address: SocketAddr,
    /// The request head as sent.
    pub request_head: Vec<u8>,
    /// The response head as received, with its empty line.
    pub response_head: Vec<u8>,
    /// The body as received, chunk framing included.
    pub body: Body,
    /// The status code.
    pub status: u16,
    /// How the end of the body was marked.
    pub framing: Framing,
    /// Why the body was cut off, if it was.
    pub truncated: Option<Truncation>,
    /// What was irregular about it.
    pub marks: Marks,
    /// How long the phases took.
    pub times: Times,
}

impl Exchange {
    /// The first field of the answer called `name`.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        http::field(&self.response_head, name)
    }
    /// The body without chunk framing: what WARC calls the payload.
    ///
    /// # Errors
    /// When the body is on disk and cannot be read back.
    pub fn payload(&self) -> io::Result<Cow<'_, [u8]>> {
        Ok(match self.body.read()? {
            Cow::Borrowed(body) => http::payload(body, self.framing),
            Cow::Owned(body) if self.framing != Framing::Chunked => Cow::Owned(body),
            Cow::Owned(body) => Cow::Owned(http::payload(&body, self.framing).into_owned()),
        })
    }
    /// The media type without parameters, lower case; empty when none is given.
    #[must_use]
    pub fn media_type(&self) -> String {
        let value = self.field("content-type").unwrap_or_default();
        value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }
}

/// Why a body was cut off; the names are those of `WARC-Truncated`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// It exceeded a length.
    Length,
    /// It exceeded a time.
    Time,
    /// The connection broke.
    Disconnect,
    /// We had no room for the rest.
    Room,
}

impl Truncation {
    /// Every reason.
    pub const ALL: [Self; 4] = [Self::Length, Self::Time, Self::Disconnect, Self::Room];

    /// The reason as WARC writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Time => "time",
            Self::Disconnect => "disconnect",
            // The standard has no word for it.
            Self::Room => "unspecified",
        }
    }
    /// The reason that WARC writes as `word`.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
    /// Whether the cut is at a random position, so that the same page looks different at every visit.
    #[must_use]
    pub const fn is_by_chance(self) -> bool {
        !matches!(self, Self::Length)
    }
}

/// What was irregular about an answer that is kept anyway (H15, H26).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The head contradicts itself about the end of the body, or is not credible.
    pub framing_in_doubt: bool,
    /// Bytes came after the end of the body; they are not kept.
    pub bytes_behind: bool,
    /// The certificate is invalid, and was accepted because of the settings.
    pub certificate_in_doubt: bool,
}

impl Marks {
    /// The names of the marks that are set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let named = [
            (self.framing_in_doubt, "framing-in-doubt"),
            (self.bytes_behind, "bytes-behind"),
            (self.certificate_in_doubt, "certificate-in-doubt"),
        ];
        named.into_iter().filter(|(set, _)| *set).map(|(_, name)| name)
    }
}

/// How long the phases of an exchange took; zero for a phase that was not needed, such as connecting again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Until the connection was established.
    pub connect: Duration,
    /// Until a proxy opened the tunnel, its delay included.
    pub proxy: Duration,
    /// The TLS handshake.
    pub tls: Duration,
    /// From the request to the first byte of the answer.
    pub first_byte: Duration,
    /// The whole exchange.
    pub total: Duration,
}

/// No answer: in which phase, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {cause}", phase.as_str())]
pub struct Failure {
    /// The phase that failed.
    pub phase: Phase,
    /// Why it failed.
    pub cause: Cause,
    /// Time until the failure was known.
    pub took: Duration,
    /// The address, if one was chosen.
    pub address: Option<SocketAddr>,
    /// Received bytes that are not an answer, at most as long as a head may be.
    pub received: Box<[u8]>,
}

impl Failure {
    /// A failure before an address was chosen.
    #[must_use]
    pub fn new(phase: Phase, cause: Cause, took: Duration) -> Self {
        Self { phase, cause, took, address: None, received: Box::default() }
    }
    /// The failure without its details.
    #[must_use]
    pub const fn kind(&self) -> FailureKind {
        FailureKind { phase: Some(self.phase), cause: Some(self.cause.kind()) }
    }
}

/// A failure without its details, as archived records keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FailureKind {
    /// The phase that failed, if it is known.
    pub phase: Option<Phase>,
    /// Why it failed, if that is known.
    pub cause: Option<CauseKind>,
}

impl FailureKind {
    /// The failure of a record that does not name one.
    pub const UNKNOWN: Self = Self { phase: None, cause: None };

    /// Whether the request never reached the server, for a reason that says nothing about the page: a proxy could
    /// not be reached, or this machine failed.
    #[must_use]
    pub fn is_held_back(self) -> bool {
        self.phase == Some(Phase::Proxy) || self.cause == Some(CauseKind::Machine)
    }
    /// Whether a retry soon after may succeed.
    #[must_use]
    pub fn may_pass(self) -> bool {
        self.cause.is_some_and(CauseKind::may_pass)
    }
}

/// The phases of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Finding the address.
    LookUp,
    /// Asking a forward proxy for a tunnel.
    Proxy,
    /// Connecting.
    Connect,
    /// The TLS handshake.
    Tls,
    /// Sending the request.
    Send,
    /// Reading the head of the answer.
    Head,
}

impl Phase {
    /// Every phase, in their order.
    pub const ALL: [Self; 6] = [Self::LookUp, Self::Proxy, Self::Connect, Self::Tls, Self::Send, Self::Head];

    /// The phase of this name.
    #[must_use]
    pub fn named(words: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == words)
    }
    /// The phase in a word or two.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LookUp => "name look-up",
            Self::Proxy => "proxy",
            Self::Connect => "connect",
            Self::Tls => "TLS handshake",
            Self::Send => "request",
            Self::Head => "answer",
        }
    }
}

/// Why there was no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The name does not exist.
    #[error("no such name")]
    NoSuchName,
    /// The name servers give no usable answer.
    #[error("{0}")]
    NameServer(String),
    /// The address may not be visited (H1).
    #[error("`{address}` may not be visited: {why}")]
    ForbiddenAddress {
        /// The address.
        address: IpAddr,
        /// What kind of address it is.
        why: &'static str,
    },
    /// The address is public, and no contact for its owner is configured (D18).
    #[error("no public address is visited without a contact")]
    NoContact,
    /// The egress guard, or another proxy, refuses (C12).
    #[error("the proxy refuses: {reason}")]
    Proxy {
        /// Its reason, made printable.
        reason: String,
        /// How long it asks us to wait with this server.
        retry_after: Option<Interval>,
    },
    /// The time limit of the phase was exceeded.
    #[error("no answer within {}", Interval::from(*.0))]
    TimeOut(Duration),
    /// The other side refused or broke the connection, or the network did.
    #[error("{0}")]
    Broken(String),
    /// The answer is not HTTP, or exceeds a limit.
    #[error("not HTTP: {0}")]
    Malformed(&'static str),
    /// This machine failed.
    #[error("{0}")]
    Machine(String),
    /// The certificate or handshake is not acceptable.
    #[error("{0}")]
    Tls(String),
}

impl Cause {
    /// The cause without its details.
    #[must_use]
    pub const fn kind(&self) -> CauseKind {
        match self {
            Self::NoSuchName => CauseKind::NoSuchName,
            Self::NameServer(_) => CauseKind::NameServer,
            Self::ForbiddenAddress { .. } => CauseKind::ForbiddenAddress,
            Self::NoContact => CauseKind::NoContact,
            Self::Proxy { .. } => CauseKind::Proxy,
            Self::TimeOut(_) => CauseKind::TimeOut,
            Self::Broken(_) => CauseKind::Broken,
            Self::Malformed(_) => CauseKind::Malformed,
            Self::Machine(_) => CauseKind::Machine,
            Self::Tls(_) => CauseKind::Tls,
        }
    }
}

/// A [`Cause`] without its details. Archived records name it by [`as_str`](Self::as_str).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the kind of the cause of the same name")]
pub enum CauseKind {
    NoSuchName,
    NameServer,
    ForbiddenAddress,
    NoContact,
    Proxy,
    TimeOut,
    Broken,
    Malformed,
    Machine,
    Tls,
}

impl CauseKind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::NoSuchName,
        Self::NameServer,
        Self::ForbiddenAddress,
        Self::NoContact,
        Self::Proxy,
        Self::TimeOut,
        Self::Broken,
        Self::Malformed,
        Self::Machine,
        Self::Tls,
    ];

    /// The kind in a word, as archived records write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoSuchName => "no-such-name",
            Self::NameServer => "name-server",
            Self::ForbiddenAddress => "forbidden-address",
            Self::NoContact => "no-contact",
            Self::Proxy => "proxy",
            Self::TimeOut => "time-out",
            Self::Broken => "broken",
            Self::Malformed => "malformed",
            Self::Machine => "machine",
            Self::Tls => "tls",
        }
    }
    /// The kind of this name.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
    /// Whether a network outage, ours or theirs, causes this.
    #[must_use]
    pub const fn is_network(self) -> bool {
        matches!(self, Self::NameServer | Self::TimeOut | Self::Broken)
    }
    /// Whether a retry soon after may succeed.
    #[must_use]
    pub const fn may_pass(self) -> bool {
        self.is_network() || matches!(self, Self::Machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_to_its_kind() {
        for kind in CauseKind::ALL {
            assert_eq!(CauseKind::named(kind.as_str()), Some(kind));
        }
        for reason in Truncation::ALL {
            assert_eq!(Truncation::named(reason.as_str()), Some(reason));
        }
        for phase in Phase::ALL {
            assert_eq!(Phase::named(phase.as_str()), Some(phase));
        }
        assert_eq!(CauseKind::named("Broken"), None);
    }

    #[test]
    fn a_failure_is_held_back_by_its_phase_or_by_this_machine() {
        fn check(cause: CauseKind, is_held_back: bool, may_pass: bool) {
            let kind = |phase| FailureKind { phase: Some(phase), cause: Some(cause) };
            for phase in Phase::ALL.into_iter().filter(|phase| *phase != Phase::Proxy) {
                assert_eq!(kind(phase).is_held_back(), is_held_back, "{cause:?} {phase:?}");
            }
            assert!(kind(Phase::Proxy).is_held_back(), "{cause:?}");
            assert_eq!(kind(Phase::Connect).may_pass(), may_pass, "{cause:?}");
        }
        check(CauseKind::NoSuchName, false, false);
        check(CauseKind::NameServer, false, true);
        check(CauseKind::ForbiddenAddress, false, false);
        check(CauseKind::NoContact, false, false);
        check(CauseKind::Proxy, false, false);
        check(CauseKind::TimeOut, false, true);
        check(CauseKind::Broken, false, true);
        check(CauseKind::Malformed, false, false);
        check(CauseKind::Machine, true, true);
        check(CauseKind::Tls, false, false);
        assert!(!FailureKind::UNKNOWN.is_held_back() && !FailureKind::UNKNOWN.may_pass());
    }
}
