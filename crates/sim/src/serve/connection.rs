//! One connection: requests one after the other, or a tunnel for a client that uses the listener as its proxy.

use super::ledger::{Ledger, Pending};
use super::request::{self, Refused, Request, Wish};
use super::send::Reply;
use super::truth::{self, Facts};
use super::wire::{Gone, Stream, Wire};
use crate::log::LogEntry;
use crate::{DeliveryMode, Web, WebResponse};
use base::Timestamp;
use base::url::Scheme;
use std::io::Cursor;
use std::net::{IpAddr, Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

const TUNNEL_OPEN: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// State shared by all connections.
pub(super) struct Context {
    pub(super) web: Arc<Web>,
    pub(super) ledger: Arc<Ledger>,
    pub(super) acceptor: TlsAcceptor,
    pub(super) facts: Facts,
    pub(super) patience: Duration,
    pub(super) slowness: f64,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("facts", &self.facts).finish_non_exhaustive()
    }
}

/// The client's address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visitor {
    pub(super) client: SocketAddrV4,
    pub(super) local: Ipv4Addr,
    pub(super) connection: u64,
}

/// How a session ended.
enum Ended {
    Gone(Gone),
    Tunnel(u16),
}

/// Serves a plain connection, which may turn into a tunnel.
pub(super) async fn plain(context: &Context, stream: TcpStream, visitor: Visitor) {
    let mut wire = Wire::new(stream, Vec::new(), context.patience);
    let talk = Talk { context, visitor, scheme: Scheme::Http, may_tunnel: true };
    match talk.converse(&mut wire).await {
        Ended::Gone(gone) => part(wire, gone).await,
        Ended::Tunnel(port) => tunnel(context, wire, port, visitor).await,
    }
}

/// Serves a connection that begins with a TLS handshake.
pub(super) async fn secure<S: Stream>(context: &Context, stream: S, visitor: Visitor) {
    let Ok(Ok(stream)) = timeout(context.patience, context.acceptor.accept(stream)).await else { return };
    without_tunnel(context, stream, visitor, Scheme::Https).await;
}

async fn tunnel(context: &Context, wire: Wire<TcpStream>, port: u16, visitor: Visitor) {
    let (stream, input) = wire.into_parts();
    let (read, write) = stream.into_split();
    let stream = tokio::io::join(Cursor::new(input).chain(read), write);
    if port == Scheme::Http.default_port() {
        without_tunnel(context, stream, visitor, Scheme::Http).await;
    } else {
        secure(context, stream, visitor).await;
    }
}

async fn without_tunnel<S: Stream>(context: &Context, stream: S, visitor: Visitor, scheme: Scheme) {
    let mut wire = Wire::new(stream, Vec::new(), context.patience);
    let talk = Talk { context, visitor, scheme, may_tunnel: false };
    if let Ended::Gone(gone) = talk.converse(&mut wire).await {
        part(wire, gone).await;
    }
}

async fn part<S: Stream>(wire: Wire<S>, gone: Gone) {
    if gone == Gone::Finished {
        wire.finish().await;
    }
}

/// A session with one client.
struct Talk<'h> {
    context: &'h Context,
    visitor: Visitor,
    scheme: Scheme,
    may_tunnel: bool,
}

/// The result of a request.
enum Deed {
    Reply(Box<Reply>),
    Tunnel(u16),
}

impl Talk<'_> {
    async fn converse<S: Stream>(&self, wire: &mut Wire<S>) -> Ended {
        loop {
            match self.one_exchange(wire).await {
                Ok(None) => {}
                Ok(Some(port)) => return Ended::Tunnel(port),
                Err(gone) => return Ended::Gone(gone),
            }
        }
    }

    /// Reads a request and answers it; the port if it opened a tunnel.
    async fn one_exchange<S: Stream>(&self, wire: &mut Wire<S>) -> Result<Option<u16>, Gone> {
        let (bytes, keep, deed) = loop {
            match request::read(wire.input(), self.scheme) {
                Ok(Some(request)) => break (request.bytes, request.keep, self.deed(&request)),
                Ok(None) => wire.read().await?,
                Err(refused) => break (wire.input().len(), false, self.refusal(refused)),
            }
        };
        wire.used(bytes);
        match deed {
            Deed::Reply(reply) => reply.send(wire).await?,
            Deed::Tunnel(port) => return wire.write(TUNNEL_OPEN).await.map(|()| Some(port)),
        }
        if keep { Ok(None) } else { Err(Gone::Finished) }
    }

    fn deed(&self, request: &Request<'_>) -> Deed {
        let now = self.context.ledger.clock.now();
        let server = self.context.web.address(&request.host);
        match (request.wish, server) {
            // A client that resolves names itself asks for a tunnel to the address; the host name comes with the request.
            (Wish::Tunnel(port), server)
                if self.may_tunnel && (server.is_some() || is_ours(&request.host)) =>
            {
                Deed::Tunnel(port)
            }
            (Wish::Page | Wish::Head, None) if is_ours(&request.host) => self.off_the_record(request, now),
            _ => self.on_the_record(request, server, now),
        }
    }

    fn refusal(&self, refused: Refused) -> Deed {
        let now = self.context.ledger.clock.now();
        let pending = self.context.ledger.enter(self.entry("", "", "", now));
        self.reply(truth::refusal(refused.status, refused.reason), now, false, pending)
    }

    fn on_the_record(&self, request: &Request<'_>, server: Option<Ipv4Addr>, now: Timestamp) -> Deed {
        let mut entry = self.entry(&request.host, &request.target, request.agent, now);
        (entry.scheme, entry.server) = (request.scheme, server);
        let pending = self.context.ledger.enter(entry);
        let mut answer = match (request.wish, server) {
            (Wish::Page | Wish::Head, Some(_)) => self.context.web.answer(&request.to_web_request(), now),
            _ => unknown(request),
        };
        if matches!(answer.delivery, DeliveryMode::Chunked(_)) && !request.knows_chunks {
            answer.delivery = DeliveryMode::Plain;
        }
        self.reply(answer, now, request.wish == Wish::Head, pending)
    }

    /// Requests about the simulated web are not logged.
    fn off_the_record(&self, request: &Request<'_>, now: Timestamp) -> Deed {
        let answer = truth::answer(self.context, &request.target, now);
        self.reply(answer, now, request.wish == Wish::Head, self.context.ledger.off_the_record())
    }

    fn entry(&self, host: &str, target: &str, agent: &str, now: Timestamp) -> LogEntry {
        let mut entry = LogEntry::new(host, target, agent, now);
        let Visitor { client, local, connection } = self.visitor;
        (entry.client, entry.local, entry.connection) = (client, local, connection);
        entry.scheme = self.scheme;
        entry
    }

    fn reply(&self, answer: WebResponse, now: Timestamp, head_only: bool, pending: Pending) -> Deed {
        Deed::Reply(Box::new(Reply { answer, now, head_only, pending, slowness: self.context.slowness }))
    }
}

/// Whether the name is that of the listener and not of a simulated server.
fn is_ours(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host == "localhost" || bare.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

fn unknown(request: &Request<'_>) -> WebResponse {
    let status = if request.proxied { 502 } else { 421 };
    truth::refusal(
        status,
        "the simulated web has no server of that name; http://localhost/ on this port lists them",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_lead_to_the_truth() {
        for ours in ["localhost", "127.0.0.1", "127.9.9.9", "[::1]"] {
            assert!(is_ours(ours), "{ours}");
        }
        for other in ["a.example", "192.168.0.1", "169.254.169.254", "0.0.0.0", "localhost.example", ""] {
            assert!(!is_ours(other), "{other}");
        }
    }
}
