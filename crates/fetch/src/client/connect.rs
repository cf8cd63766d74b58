//! Connections: TCP, and TLS over it with the ring provider, HTTP/1.1 only.
//!
//! No protocol is offered by ALPN, so a server uses HTTP/1.1.

use super::trust::Trust;
use super::{ExchangeLimits, Proxy, Settings, SettingsError, Trouble, Visit};
use base::door::{Cause, Phase};
use base::url::Scheme;
use rustls::pki_types::ServerName;
use std::io;
use std::mem::MaybeUninit;
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::client::TlsStream;

/// An open connection.
pub(super) enum Stream {
    /// http.
    Plain(TcpStream),
    /// https, and whether its certificate is invalid.
    Tls(Box<TlsStream<TcpStream>>, bool),
}

/// The operations of both kinds of connection.
pub(super) trait ReadWrite: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> ReadWrite for T {}

impl Stream {
    pub(super) fn io(&mut self) -> &mut dyn ReadWrite {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream, _) => stream,
        }
    }

    fn tcp(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream, _) => stream.get_ref().0,
        }
    }

    /// Whether its certificate fails the strict rules.
    pub(super) fn is_in_doubt(&self) -> bool {
        matches!(self, Self::Tls(_, true))
    }

    /// Whether the connection is open and received no unrequested bytes.
    ///
    /// The socket itself is checked, because the runtime may not know of the latest bytes yet; then the TLS layer,
    /// which may hold decrypted bytes.
    pub(super) fn is_quiet(&mut self) -> bool {
        let mut byte = [MaybeUninit::uninit(); 1];
        let socket = socket2::SockRef::from(self.tcp()).peek(&mut byte);
        if !socket.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
            return false;
        }
        let mut byte = [0; 1];
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let read = std::pin::Pin::new(self.io()).poll_read(&mut context, &mut ReadBuf::new(&mut byte));
        matches!(read, Poll::Pending)
    }
}

/// Opens connections.
pub(super) struct Connector(Trust);

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connector")
    }
}

impl Connector {
    pub(super) fn new(settings: &Settings) -> Result<Self, SettingsError> {
        Trust::new(settings).map(Self)
    }

    /// Connects to the visit's address, which has been judged; through the proxy if there is one.
    pub(super) async fn connect(
        &self,
        visit: &mut Visit<'_>,
        settings: &Settings,
    ) -> Result<Stream, Trouble> {
        let begun = Instant::now();
        let connecting = async {
            match &settings.proxy {
                Some(proxy) => proxy.connect().await,
                None => TcpStream::connect(visit.key.0).await,
            }
        };
        let phase = if settings.proxy.is_some() { Phase::Proxy } else { Phase::Connect };
        let mut tcp = within(settings.limits.connect_time_max, visit.ends, phase, connecting).await?;
        // Requests are small and complete: waiting to fill a packet only costs time. A failure to set the option is harmless.
        let _ = tcp.set_nodelay(true);
        visit.times.connect = begun.elapsed();
        if settings.proxy.is_some() {
            Proxy::open_tunnel(&mut tcp, visit, settings).await?;
            visit.times.proxy = begun.elapsed() - visit.times.connect;
        }
        match visit.request.url.scheme() {
            Scheme::Http => Ok(Stream::Plain(tcp)),
            Scheme::Https => self.shake_hands(tcp, visit, &settings.limits).await,
        }
    }

    async fn shake_hands(
        &self,
        tcp: TcpStream,
        visit: &mut Visit<'_>,
        limits: &ExchangeLimits,
    ) -> Result<Stream, Trouble> {
        let begun = Instant::now();
        let name = tls_name(visit.request.url.host())?;
        let handshake = self.0.connector.connect(name.clone(), tcp);
        let stream = within(limits.tls_time_max, visit.ends, Phase::Tls, handshake).await?;
        visit.times.tls = begun.elapsed();
        let is_in_doubt = self.0.doubts(&stream, &name);
        Ok(Stream::Tls(Box::new(stream), is_in_doubt))
    }
}

fn tls_name(host: &str) -> Result<ServerName<'static>, Trouble> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let refuse = |_| Trouble::new(Phase::Tls, Cause::Tls("the host can stand in no certificate".to_owned()));
    ServerName::try_from(bare.to_owned()).map_err(refuse)
}

/// Waits for one phase, at most until its time limit and that of the visit.
async fn within<T>(
    limit: Duration,
    visit_ends: Instant,
    phase: Phase,
    work: impl Future<Output = io::Result<T>>,
) -> Result<T, Trouble> {
    let ends = (Instant::now() + limit).min(visit_ends);
    match timeout_at(ends, work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(Trouble::new(phase, cause(&error))),
        Err(_) => Err(Trouble::new(phase, Cause::TimeOut(limit))),
    }
}

/// Resources that run out on this machine: memory, descriptors, ports, buffers, and the network itself.
const OWN_TROUBLES: [i32; 6] = [12, 23, 24, 99, 100, 105];

/// What a network error says about the other side, or about this machine.
pub(super) fn cause(error: &io::Error) -> Cause {
    if error.raw_os_error().is_some_and(|code| OWN_TROUBLES.contains(&code)) {
        return Cause::Machine(error.to_string());
    }
    let is_tls = error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>);
    let text = match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::ConnectionReset => "connection reset".to_owned(),
        io::ErrorKind::UnexpectedEof => "connection closed".to_owned(),
        // The other side may have put text of its own into a certificate (H24).
        _ => base::printable(&error.to_string()).into_owned(),
    };
    if is_tls { Cause::Tls(text) } else { Cause::Broken(text) }
}
