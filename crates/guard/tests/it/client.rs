//! A client of the guard: step by step, or one that sends requests without delay, over plain HTTP or TLS, directly or through it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Longer than any test waits for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection by hand.
pub(crate) struct Hand(pub(crate) TcpStream);

impl Hand {
    pub(crate) async fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self(stream)
    }
    /// A tunnel through the guard.
    pub(crate) async fn tunnel(guard: SocketAddr, to: SocketAddr, server: &str) -> Self {
        let mut hand = Self::to(guard).await;
        let answer = hand.connect(to, server).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        hand
    }
    /// Asks for a tunnel; gives the answer.
    pub(crate) async fn connect(&mut self, to: SocketAddr, server: &str) -> String {
        self.say(&format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\nUtsushi-Server: {server}\r\n\r\n")).await;
        self.head().await
    }
    pub(crate) async fn say(&mut self, text: &str) {
        self.bytes(text.as_bytes()).await;
    }
    pub(crate) async fn bytes(&mut self, bytes: &[u8]) {
        // The guard may have hung up; what it said before is read all the same.
        let _ = self.0.write_all(bytes).await;
    }
    /// Asks for a page of `server` and reads the answer.
    pub(crate) async fn get(&mut self, server: &str) -> String {
        self.say(&request(server)).await;
        self.head().await
    }
    /// The next head; what there is of it if the connection ends.
    pub(crate) async fn head(&mut self) -> String {
        read_head(&mut self.0).await
    }
    /// Everything until the connection ends.
    pub(crate) async fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        let reading = self.0.read_to_end(&mut rest);
        let _ = tokio::time::timeout(PATIENCE, reading).await.expect("the connection ends");
        String::from_utf8_lossy(&rest).into_owned()
    }
}

pub(crate) fn request(server: &str) -> String {
    format!("GET / HTTP/1.1\r\nHost: {server}\r\n\r\n")
}

async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    let reading = async {
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => break,
            }
        }
    };
    tokio::time::timeout(PATIENCE, reading).await.expect("an answer comes");
    String::from_utf8_lossy(&head).into_owned()
}

/// A server as a client knows it.
#[derive(Clone, Debug)]
pub(crate) struct Goal {
    pub(crate) server: String,
    pub(crate) address: SocketAddr,
    pub(crate) tls: bool,
}

/// A client that sends requests without delay.
#[derive(Clone)]
pub(crate) struct Impatient {
    /// The guard, or nothing.
    pub(crate) guard: Option<SocketAddr>,
    pub(crate) tls: TlsConnector,
    pub(crate) requests_per_connection: u32,
}

/// Why a connection failed, or did not last.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The guard says to come again.
    Later(Duration),
    /// It ended.
    Ended,
}

impl Impatient {
    /// Sends requests over one connection; returns how many answers came. The connection may end early.
    pub(crate) async fn ask(&self, goal: &Goal, most: u32) -> Result<u32, Failed> {
        let stream = self.connect(goal).await?;
        let most = most.min(self.requests_per_connection);
        if !goal.tls {
            return Ok(converse(stream, goal, most).await);
        }
        let name = rustls::pki_types::ServerName::try_from(goal.server.clone()).unwrap();
        let stream = self.tls.connect(name, stream).await.map_err(|_| Failed::Ended)?;
        Ok(converse(stream, goal, most).await)
    }

    async fn connect(&self, goal: &Goal) -> Result<TcpStream, Failed> {
        let to = self.guard.unwrap_or(goal.address);
        let mut stream = TcpStream::connect(to).await.map_err(|_| Failed::Ended)?;
        stream.set_nodelay(true).unwrap();
        if self.guard.is_none() {
            return Ok(stream);
        }
        let Goal { server, address, .. } = goal;
        let head =
            format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\nUtsushi-Server: {server}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.map_err(|_| Failed::Ended)?;
        let answer = read_head(&mut stream).await;
        if answer.starts_with("HTTP/1.1 200 ") {
            return Ok(stream);
        }
        assert!(answer.starts_with("HTTP/1.1 429 "), "{answer}");
        Err(Failed::Later(retry_after(&answer).expect("it says when to come again")))
    }
}

pub(crate) fn retry_after(answer: &str) -> Option<Duration> {
    let line = answer.lines().find_map(|line| line.strip_prefix("Retry-After: "))?;
    line.trim().parse().ok().map(Duration::from_secs)
}

/// Request after request, each the moment the answer before it is there.
async fn converse(mut stream: impl AsyncRead + AsyncWrite + Unpin, goal: &Goal, most: u32) -> u32 {
    for answered in 0..most {
        if stream.write_all(request(&goal.server).as_bytes()).await.is_err() || stream.flush().await.is_err()
        {
            return answered;
        }
        let head = read_head(&mut stream).await;
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let Some(length) = length.and_then(|length| length.parse().ok()) else { return answered };
        let mut body = vec![0; length];
        if stream.read_exact(&mut body).await.is_err() {
            return answered;
        }
    }
    let _ = stream.shutdown().await;
    most
}

/// A connector that trusts one authority.
pub(crate) fn connector(authority_pem: &str) -> TlsConnector {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority_pem.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = builder.unwrap().with_root_certificates(roots).with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}
