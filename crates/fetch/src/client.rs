//! The real door: HTTP/1.1 over TCP and TLS, one exchange at a time; every byte is kept as received.
//!
//! | step | room |
//! |---|---|
//! | the bytes sent | `request` |
//! | a connection to the address, new or reused | `connect`, `proxy`, `trust`, `pool` |
//! | reading within the time limits | `wire` |
//! | the head, and how the body is framed | `head` |
//! | the body | `body`, `chunks`, `store` |
//!
//! **Invariant:** the address is judged just before connecting, and is the address that is connected to (H1, H3).
//!
//! **Invariant:** a connection is reused only after a response with unambiguous framing that was read to its end, with
//! nothing after it (H15).

mod body;
mod chunks;
mod connect;
#[doc(hidden)]
pub mod fuzzing;
mod head;
mod limits;
mod pool;
mod proxy;
mod request;
mod settings;
mod store;
mod trust;
mod wire;

pub use limits::ExchangeLimits;
pub use proxy::{Proxy, ProxyError};
pub use settings::{Certificates, Roots, Settings, SettingsError};

use crate::address::{RefusedAddress, is_public};
use base::door::{Cause, Door, Exchange, Failure, Found, Marks, Phase, Request, Times};
use base::url::Origin;
use body::{Body, End};
use connect::{Connector, Stream};
use head::Head;
use pool::{Key, Pool};
use std::net::SocketAddr;
use std::time::Duration;
use store::Store;
use tokio::time::Instant;
use wire::Wire;

/// The door to the web.
#[derive(Debug)]
pub struct WebDoor {
    settings: Settings,
    connector: Connector,
    pool: Pool,
    store: Store,
}

impl WebDoor {
    /// A door with these settings.
    ///
    /// # Errors
    /// If a setting cannot be sent in a request, or the roots contain no certificates.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        let connector = Connector::new(&settings)?;
        let pool = Pool::new(settings.limits.pool_connections_max, settings.limits.pool_idle_time_max);
        let store = Store::new(&settings);
        Ok(Self { settings, connector, pool, store })
    }

    fn judge(&self, address: SocketAddr) -> Result<(), Trouble> {
        let judged = self.settings.addresses.judge(address.ip());
        let cause = match judged {
            Err(RefusedAddress { address, why }) => Cause::ForbiddenAddress { address, why },
            Ok(()) if self.settings.contact.is_none() && is_public(address.ip()) => Cause::NoContact,
            Ok(()) => return Ok(()),
        };
        Err(Trouble::new(Phase::Connect, cause))
    }

    /// Uses a kept connection if there is one. A server may close a kept connection at any time, so if it
    /// breaks before the first byte of a response, the request is sent once more over a new one.
    async fn ask(&self, visit: &mut Visit<'_>) -> Result<Exchange, Trouble> {
        self.judge(visit.key.0)?;
        if let Some(kept) = self.pool.take(&visit.key) {
            match self.converse(kept, visit).await {
                Err(trouble) if trouble.lost => {
                    tracing::debug!(origin = %visit.key.1, "a kept connection was dead");
                }
                other => return other,
            }
        }
        let stream = self.connector.connect(visit, &self.settings).await?;
        self.converse(stream, visit).await
    }

    /// Sends the request and reads the response.
    async fn converse(&self, stream: Stream, visit: &mut Visit<'_>) -> Result<Exchange, Trouble> {
        let limits = &self.settings.limits;
        let mut wire = Wire::new(stream, limits, visit);
        wire.send(&visit.request_head).await?;
        let (head, rest) = head::read(&mut wire, visit.request.head_only, limits).await?;
        let body = body::read(&mut wire, rest, head.framing, limits, &self.store).await;
        visit.times.first_byte = wire.first_byte_time();
        let stream = wire.into_stream();
        let marks = Marks {
            framing_in_doubt: head.is_in_doubt || body.is_in_doubt,
            bytes_behind: body.end == End::BytesBehind,
            certificate_in_doubt: stream.is_in_doubt(),
        };
        if head.keeps_alive && body.end == End::Clean {
            self.pool.put(visit.key.clone(), stream);
        }
        Ok(visit.finish(head, body, marks))
    }
}

impl Door for WebDoor {
    async fn look_up(&self, origin: &Origin) -> Result<Found, Failure> {
        let begun = Instant::now();
        let refuse = |cause| Failure::new(Phase::LookUp, cause, begun.elapsed());
        let Found { addresses, lifetime } = self.settings.resolver.find(origin).await.map_err(refuse)?;
        let (mut fit, mut unfit) = (Vec::new(), None);
        for address in addresses {
            // An IPv4-mapped IPv6 address is connected by IPv4, and shares its politeness delay.
            let address = SocketAddr::new(address.ip().to_canonical(), address.port());
            match self.judge(address) {
                Ok(()) => fit.push(address),
                Err(trouble) => unfit = unfit.or(Some(trouble.cause)),
            }
        }
        // Forbidden addresses are ignored, unless there are no others.
        let none = || refuse(unfit.unwrap_or(Cause::NoSuchName));
        if fit.is_empty() { Err(none()) } else { Ok(Found { addresses: fit, lifetime }) }
    }

    async fn exchange(&self, to: SocketAddr, request: &Request) -> Result<Exchange, Failure> {
        let mut visit = Visit::begin(to, request, &self.settings);
        let result = self.ask(&mut visit).await;
        result.map_err(|Trouble { phase, cause, received, .. }| {
            let address = Some(visit.key.0);
            Failure { phase, cause, took: visit.begun.elapsed(), address, received: received.into() }
        })
    }
}

/// A running exchange.
struct Visit<'a> {
    request: &'a Request,
    request_head: Vec<u8>,
    key: Key,
    begun: Instant,
    /// The deadline of the whole visit.
    ends: Instant,
    /// The time limit for the first byte of the response: a proxy may delay a request on a kept connection too.
    first_byte_time_max: Duration,
    times: Times,
}

impl<'a> Visit<'a> {
    fn begin(to: SocketAddr, request: &'a Request, settings: &Settings) -> Self {
        let (begun, limits) = (Instant::now(), &settings.limits);
        let delay = settings.proxy.as_ref().map_or(Duration::ZERO, |_| limits.proxy_time_max);
        Self {
            request,
            request_head: request::head(request, settings),
            key: (to, request.url.origin()),
            begun,
            ends: begun + limits.visit_time_max,
            first_byte_time_max: limits.first_byte_time_max + delay,
            times: Times::default(),
        }
    }

    fn finish(&mut self, head: Head, body: Body, marks: Marks) -> Exchange {
        self.times.total = self.begun.elapsed();
        Exchange {
            address: self.key.0,
            request_head: std::mem::take(&mut self.request_head),
            response_head: head.bytes,
            body: body.bytes,
            status: head.status,
            framing: body.framing,
            truncated: body.truncated,
            marks,
            times: self.times,
        }
    }
}

/// Why an exchange failed.
#[derive(Debug)]
struct Trouble {
    phase: Phase,
    cause: Cause,
    /// Whether the connection broke before any byte of an answer.
    lost: bool,
    /// The bytes received that are not a response.
    received: Vec<u8>,
}

impl Trouble {
    fn new(phase: Phase, cause: Cause) -> Self {
        Self { phase, cause, lost: false, received: Vec::new() }
    }
}
