//! The simulated web as a `base` door: no socket, no wait, in the time of the given clock.
//!
//! An honest response comes at once, byte for byte as over HTTP. The behaviour of a hostile server over time is
//! turned into what a client with the limits of [`base::limits`] would have received.
//!
//! **Invariant:** an exchange is a pure function of (web, request, moment); durations are computed from the server and the
//! page, and no call waits for them.

use crate::{DeliveryMode, Web, WebRequest, WebResponse, WebResponseHead};
use base::chance::hash_bytes;
use base::door::{Cause, Door, Exchange, Failure, Found, Marks, Phase, Request, Times, Truncation};
use base::http::Framing;
use base::limits::FIRST_BYTE_TIME_MAX;
use base::url::{Origin, Scheme};
use base::{Clock, Interval, Timestamp};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

mod receive;

use receive::Arrived;

/// The door to a simulated web.
#[derive(Clone, Debug)]
pub struct SimulatedDoor {
    /// The web it leads to.
    pub web: Arc<Web>,
    /// The clock of that web.
    pub clock: Arc<dyn Clock>,
    /// Maximum bytes of a body; longer ones are cut and the exchange is marked as truncated. Smaller than the limit of the
    /// real door, so that endless bodies cost little.
    pub body_bytes_max: usize,
}

/// Lifetime of a look-up result.
const LOOK_UP_LIFETIME: Interval = Interval::from_hours(1);
/// Default maximum bytes of a body.
const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Assumed length of a page.
const USUAL_BYTES: usize = 8_000;
/// Simulated transfer rate of bodies.
const BYTES_PER_MILLISECOND: usize = 1_000;

impl SimulatedDoor {
    /// The door to `web` in the time of `clock`.
    #[must_use]
    pub fn new(web: Arc<Web>, clock: Arc<dyn Clock>) -> Self {
        Self { web, clock, body_bytes_max: BODY_BYTES_MAX }
    }

    fn found(&self, origin: &Origin) -> Result<Found, Failure> {
        let host = origin.server.host();
        let failure = || Failure::new(Phase::LookUp, Cause::NoSuchName, pace(host, 1, 30));
        let address = self.web.address(host).ok_or_else(failure)?;
        let addresses = vec![SocketAddr::new(IpAddr::V4(address), origin.server.port_for(origin.scheme))];
        Ok(Found { addresses, lifetime: LOOK_UP_LIFETIME })
    }

    /// Sends a request at `now` and receives the response head, which is all that politeness needs. The body of a
    /// page is left to [`SimulatedDoor::complete`], which may be called later and on another thread.
    ///
    /// # Errors
    /// When there is no response.
    pub fn begin(
        &self,
        to: SocketAddr,
        request: &Request,
        now: Timestamp,
    ) -> Result<StartedExchange, Failure> {
        let host = request.url.host();
        let stands_there = self.web.address(host).is_some_and(|address| IpAddr::V4(address) == to.ip());
        if !stands_there {
            let cause = Cause::Broken("no server of this name listens at this address".to_owned());
            return Err(Failure::new(Phase::Connect, cause, pace(host, 2, 20)));
        }
        let (times, head) = (times(request), self.web.head(&to_web_request(request), now));
        let (status, head_only) = (head.status, request.head_only);
        if head.needs_body() {
            let took = with_body(times, USUAL_BYTES).total;
            return Ok(StartedExchange { to, status, took, now, rest: Rest::Page(head, times) });
        }
        let arrived = self.arrived(self.web.complete(head), now, head_only, times)?;
        Ok(StartedExchange {
            to,
            status: arrived.status,
            took: arrived.times.total,
            now,
            rest: Rest::Arrived(arrived),
        })
    }

    /// Completes the exchange that `request` started.
    #[must_use]
    pub fn complete(&self, begun: StartedExchange, request: &Request) -> Exchange {
        let StartedExchange { to, now, rest, .. } = begun;
        let arrived = match rest {
            Rest::Arrived(arrived) => arrived,
            Rest::Page(head, times) => {
                whole(self.web.complete(head), now, request.head_only, times, self.body_bytes_max)
            }
        };
        exchange_of(to, request, arrived)
    }

    fn exchanged(&self, to: SocketAddr, request: &Request) -> Result<Exchange, Failure> {
        Ok(self.complete(self.begin(to, request, self.clock.now())?, request))
    }

    /// What a client receives of a response.
    fn arrived(
        &self,
        answer: WebResponse,
        now: Timestamp,
        head_only: bool,
        times: Times,
    ) -> Result<Arrived, Failure> {
        let limit = self.body_bytes_max;
        match answer.delivery {
            DeliveryMode::Plain | DeliveryMode::Chunked(_) => Ok(whole(answer, now, head_only, times, limit)),
            DeliveryMode::Late(wait) if wait > FIRST_BYTE_TIME_MAX => Err(silence()),
            DeliveryMode::Late(wait) => {
                let late = Times { first_byte: wait, total: times.total + wait, ..times };
                Ok(whole(answer, now, head_only, late, limit))
            }
            DeliveryMode::Hang => Err(silence()),
            DeliveryMode::Close => {
                let cause = Cause::Broken("the connection was closed without an answer".to_owned());
                Err(Failure::new(Phase::Head, cause, times.total))
            }
            _ => receive::odd(&answer, now, head_only, times, limit),
        }
    }
}

/// An exchange whose head has arrived.
#[derive(Debug)]
pub struct StartedExchange {
    to: SocketAddr,
    /// The status.
    pub status: u16,
    /// Duration of the whole exchange; for a page, that of a page of the assumed length.
    pub took: Duration,
    now: Timestamp,
    rest: Rest,
}

#[derive(Debug)]
enum Rest {
    /// It arrived completely.
    Arrived(Arrived),
    /// The body of a page is not built yet.
    Page(WebResponseHead, Times),
}

impl StartedExchange {
    /// Whether the body is not built yet, which means that it is a complete page.
    #[must_use]
    pub fn needs_body(&self) -> bool {
        matches!(self.rest, Rest::Page(..))
    }
    /// The exchange as it would be if the page were empty.
    #[must_use]
    pub fn without_body(&self, request: &Request) -> Exchange {
        let arrived = match &self.rest {
            Rest::Arrived(arrived) => Arrived { body: Vec::new(), head: arrived.head.clone(), ..*arrived },
            Rest::Page(head, times) => {
                let (fields, delivery) = (head.fields.clone(), DeliveryMode::Plain);
                let empty = WebResponse { status: head.status, fields, body: Vec::new(), delivery };
                whole(empty, self.now, request.head_only, *times, 0)
            }
        };
        exchange_of(self.to, request, arrived)
    }
}

fn exchange_of(to: SocketAddr, request: &Request, arrived: Arrived) -> Exchange {
    Exchange {
        address: to,
        request_head: request_head(request),
        response_head: arrived.head,
        body: arrived.body.into(),
        status: arrived.status,
        framing: arrived.framing,
        truncated: arrived.truncated,
        marks: Marks::default(),
        times: arrived.times,
    }
}

impl Door for SimulatedDoor {
    async fn look_up(&self, origin: &Origin) -> Result<Found, Failure> {
        self.found(origin)
    }
    async fn exchange(&self, to: SocketAddr, request: &Request) -> Result<Exchange, Failure> {
        self.exchanged(to, request)
    }
}

/// No byte arrived within the time-out for the first byte.
fn silence() -> Failure {
    Failure::new(Phase::Head, Cause::TimeOut(FIRST_BYTE_TIME_MAX), FIRST_BYTE_TIME_MAX)
}

fn to_web_request(request: &Request) -> WebRequest<'_> {
    let field = |wanted: &str| {
        let mut all = request.fields.iter();
        all.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.as_str())
    };
    WebRequest {
        scheme: request.url.scheme(),
        host: request.url.host(),
        target: request.url.target(),
        head_only: request.head_only,
        if_none_match: field("If-None-Match"),
        if_modified_since: field("If-Modified-Since"),
        accepts_gzip: field("Accept-Encoding").is_none_or(|codings| codings.contains("gzip")),
    }
}

fn request_head(request: &Request) -> Vec<u8> {
    let mut head = Vec::with_capacity(256);
    let method = if request.head_only { "HEAD " } else { "GET " };
    for part in [method, request.url.target(), " HTTP/1.1\r\nHost: ", request.url.server().as_str(), "\r\n"] {
        head.extend_from_slice(part.as_bytes());
    }
    for (name, value) in &request.fields {
        for part in [*name, ": ", value, "\r\n"] {
            head.extend_from_slice(part.as_bytes());
        }
    }
    head.extend_from_slice(b"Connection: keep-alive\r\n\r\n");
    head
}

/// A response that arrives completely.
fn whole(answer: WebResponse, now: Timestamp, head_only: bool, times: Times, limit: usize) -> Arrived {
    let head = answer.head(now);
    let status = answer.status;
    let (mut body, framing) = match answer.delivery {
        _ if head_only || matches!(status, 204 | 304) => (Vec::new(), Framing::None),
        DeliveryMode::Chunked(_) => (answer.wire_body().into_owned(), Framing::Chunked),
        _ => {
            let length = answer.body.len() as u64;
            (answer.body, Framing::Length(length))
        }
    };
    let truncated = (body.len() > limit).then_some(Truncation::Length);
    body.truncate(limit);
    let times = with_body(times, body.len());
    Arrived { head, body, status, framing, truncated, times }
}

fn with_body(times: Times, bytes: usize) -> Times {
    let transfer = Duration::from_millis((bytes / BYTES_PER_MILLISECOND) as u64);
    Times { total: times.total + transfer, ..times }
}

/// Plausible durations: each server has a distance and a speed.
fn times(request: &Request) -> Times {
    let host = request.url.host();
    let connect = pace(host, 2, 60);
    let tls = if request.url.scheme() == Scheme::Https { connect * 2 } else { Duration::ZERO };
    let first_byte = pace(host, 3, 150) + pace(request.url.target(), 4, 40);
    Times { connect, tls, first_byte, total: connect + tls + first_byte, ..Times::default() }
}

/// Milliseconds between 1 and `most`, the same for the same text.
fn pace(text: &str, salt: u64, most: u64) -> Duration {
    Duration::from_millis(1 + hash_bytes(salt, text.as_bytes()) % most)
}
