//! The door to the web: one look-up, one HTTP exchange, below robots and redirects (D10).
//!
//! `fetch` is the real door, `sim` the simulated one; whoever crawls is written once, against this trait.
//!
//! **Invariant:** an exchange goes to the very address it is told (H3), and whatever the other side does comes
//! back as a value, within the limits of [`crate::limits`].

use crate::http::{self, Framing};
use crate::url::Origin;
use crate::{Interval, PageUrl};
use std::borrow::Cow;
use std::net::SocketAddr;
use std::time::Duration;

/// What leads to the web, or to a web.
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
    /// What is asked for.
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
    pub body: Vec<u8>,
    /// The status code.
    pub status: u16,
    /// How the end of the body was known.
    pub framing: Framing,
    /// Why the body is shorter than the server meant it, if it is.
    pub truncated: Option<Truncation>,
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
    #[must_use]
    pub fn payload(&self) -> Cow<'_, [u8]> {
        http::payload(&self.body, self.framing)
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
}

impl Truncation {
    /// The reason as WARC writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Time => "time",
            Self::Disconnect => "disconnect",
        }
    }
}

/// How long the phases of an exchange took; zero for a phase that did not happen, such as connecting again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Until the connection stood.
    pub connect: Duration,
    /// The TLS handshake.
    pub tls: Duration,
    /// From the request to the first byte of the answer.
    pub first_byte: Duration,
    /// Everything.
    pub total: Duration,
}

/// No answer: in which phase, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {cause}", phase.as_str())]
pub struct Failure {
    /// How far it came.
    pub phase: Phase,
    /// What stood in the way.
    pub cause: Cause,
    /// How long it took to find out.
    pub took: Duration,
}

/// The phases of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Finding the address.
    LookUp,
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
    /// The phase in a word or two.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LookUp => "name look-up",
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
    /// The name is not known.
    #[error("no such name")]
    NoSuchName,
    /// The address may not be visited (H1).
    #[error("the address may not be visited")]
    ForbiddenAddress,
    /// The time for the phase was over.
    #[error("no answer within {}", Interval::from(*.0))]
    TimeOut(Duration),
    /// The other side refused or broke the connection, or the network did.
    #[error("{0}")]
    Broken(String),
    /// What came back is not HTTP, or exceeds a limit of it.
    #[error("not HTTP: {0}")]
    Malformed(&'static str),
    /// The certificate or handshake is not acceptable.
    #[error("{0}")]
    Tls(String),
}
