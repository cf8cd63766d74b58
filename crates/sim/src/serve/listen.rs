//! One listener for all of 127/8 that ignores every other network.
//!
//! **Invariant:** a connection whose local address is not loopback is dropped unread, also where the system does not
//! allow binding a socket to the loopback device.

use super::connection::{self, Context, Visitor};
use base::url::Scheme;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

const BACKLOG: i32 = 4_096;
/// How long to wait when the system has no descriptor left for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Listens on every loopback address.
pub(super) fn open(port: u16) -> io::Result<TcpListener> {
    try_open(port).map_err(|error| {
        let hint =
            format!("cannot listen on port `{port}` of loopback: {error}; choose another, or 0 for any");
        io::Error::new(error.kind(), hint)
    })
}

fn try_open(port: u16) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    keep_to_loopback(&socket);
    socket.bind(&SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port).into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// Where the system permits it, packets from other networks do not even reach the socket.
fn keep_to_loopback(socket: &Socket) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Err(error) = socket.bind_device(Some(b"lo")) {
        tracing::debug!(%error, "not bound to the loopback device; other connections are dropped one by one");
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = socket;
}

/// The port of a listener.
pub(super) fn port(listener: &TcpListener) -> io::Result<u16> {
    listener.local_addr().map(|address| address.port())
}

/// Accepts connections until it is closed, then ends the open ones.
pub(super) async fn accept(
    context: Arc<Context>,
    listener: TcpListener,
    scheme: Scheme,
    room: Arc<Semaphore>,
    mut closing: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = closing.changed() => break,
            Some(_) = connections.join_next() => {}
            next = next(&listener, &room) => {
                if let Some((stream, place)) = next {
                    admit(&context, &mut connections, stream, place, scheme);
                }
            }
        }
    }
    drop(listener);
    connections.shutdown().await;
}

/// The next connection and a permit for it. Cancel-safe: nothing is lost if this future is dropped.
async fn next(listener: &TcpListener, room: &Arc<Semaphore>) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let place = room.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, place)),
        Err(error) => {
            tracing::debug!(%error, "a connection could not be accepted");
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

fn admit(
    context: &Arc<Context>,
    connections: &mut JoinSet<()>,
    stream: TcpStream,
    place: OwnedSemaphorePermit,
    scheme: Scheme,
) {
    let ledger = &context.ledger;
    let Some((client, local)) = ends(&stream) else {
        ledger.refused.fetch_add(1, Ordering::Relaxed);
        return;
    };
    // Without TCP_NODELAY a connection is only slower.
    let _ = stream.set_nodelay(true);
    let connection = ledger.accepted.fetch_add(1, Ordering::Relaxed);
    let visitor = Visitor { client, local, connection };
    let context = context.clone();
    connections.spawn(async move {
        let _standing = Standing::new(&context);
        match scheme {
            Scheme::Http => connection::plain(&context, stream, visitor).await,
            Scheme::Https => connection::secure(&context, stream, visitor).await,
        }
        drop(place);
    });
}

/// Both ends of a connection that came over loopback.
fn ends(stream: &TcpStream) -> Option<(SocketAddrV4, Ipv4Addr)> {
    match (stream.peer_addr().ok()?, stream.local_addr().ok()?) {
        (SocketAddr::V4(client), local) if is_loopback(local) && client.ip().is_loopback() => match local {
            SocketAddr::V4(local) => Some((client, *local.ip())),
            SocketAddr::V6(_) => None,
        },
        _ => None,
    }
}

/// Whether an address is loopback. A machine may be configured to forward packets of others to 127/8, so both ends
/// of a connection are checked.
fn is_loopback(local: SocketAddr) -> bool {
    matches!(local, SocketAddr::V4(local) if local.ip().is_loopback())
}

/// Counts a connection while it is open, however it ends.
struct Standing(Arc<Context>);

impl Standing {
    fn new(context: &Arc<Context>) -> Self {
        context.ledger.open.fetch_add(1, Ordering::Relaxed);
        Self(context.clone())
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.0.ledger.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_admitted() {
        for ours in ["127.0.0.1:80", "127.255.3.4:443"] {
            assert!(is_loopback(ours.parse().unwrap()), "{ours}");
        }
        for other in ["192.168.0.1:80", "0.0.0.0:80", "8.8.8.8:80", "126.0.0.1:1", "128.0.0.1:1", "[::1]:80"]
        {
            assert!(!is_loopback(other.parse().unwrap()), "{other}");
        }
    }
}
