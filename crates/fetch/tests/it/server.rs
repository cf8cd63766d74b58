//! A server with scripted answers, byte by byte, that counts its connections.

use base::PageUrl;
use base::door::{Door, Exchange, Failure, Request};
use fetch::{AddressPolicy, AddressRange, ExchangeLimits, Resolver, Settings, WebDoor};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the server does about a request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Sends bytes.
    Send(Vec<u8>),
    /// Sends bytes one by one, waiting in between.
    Drip(Vec<u8>, Duration),
    /// Waits.
    Wait(Duration),
    /// Closes in good order.
    Close,
    /// Breaks the connection.
    Reset,
}

/// What is done about a request for a target.
pub(crate) type Script = Arc<dyn Fn(&str) -> Vec<Act> + Send + Sync>;

/// A good answer, for `/ok` and to compare with.
pub(crate) const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    accepts: Arc<AtomicUsize>,
}

impl Server {
    /// Serves `script`; `/ok` is always answered well.
    pub(crate) async fn start(script: impl Fn(&str) -> Vec<Act> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let accepts = Arc::new(AtomicUsize::new(0));
        let script: Script = Arc::new(script);
        let counted = accepts.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(plain(stream, script.clone()));
            }
        });
        Self { address, accepts }
    }
    /// How many connections were made.
    pub(crate) fn accepts(&self) -> usize {
        self.accepts.load(Ordering::SeqCst)
    }
    /// A page on this server.
    pub(crate) fn page(&self, target: &str) -> PageUrl {
        PageUrl::parse(&format!("http://{}{target}", self.address)).unwrap()
    }
    /// A plain request.
    pub(crate) async fn get(&self, door: &WebDoor, target: &str) -> Result<Exchange, Failure> {
        door.exchange(self.address, &Request::get(self.page(target))).await
    }
}

async fn plain(mut stream: TcpStream, script: Script) {
    let breaks = serve(&mut stream, &script).await == Some(End::Reset);
    if breaks {
        // Closing with no time to linger sends a reset.
        socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    }
}

#[derive(PartialEq, Eq)]
pub(crate) enum End {
    Close,
    Reset,
}

/// Answers one request after the other until the script or the client ends the connection.
pub(crate) async fn serve(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    script: &Script,
) -> Option<End> {
    let mut buffer = Vec::new();
    loop {
        let target = request_target(stream, &mut buffer).await?;
        let acts = if target == "/ok" { vec![Act::Send(OK.to_vec())] } else { script(&target) };
        for act in acts {
            match act {
                Act::Send(bytes) => stream.write_all(&bytes).await.ok()?,
                Act::Drip(bytes, pause) => drip(stream, &bytes, pause).await?,
                Act::Wait(pause) => tokio::time::sleep(pause).await,
                Act::Close => return Some(End::Close),
                Act::Reset => return Some(End::Reset),
            }
        }
        stream.flush().await.ok()?;
    }
}

async fn drip(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8], pause: Duration) -> Option<()> {
    for byte in bytes {
        stream.write_all(&[*byte]).await.ok()?;
        stream.flush().await.ok()?;
        tokio::time::sleep(pause).await;
    }
    Some(())
}

async fn request_target(stream: &mut (impl AsyncRead + Unpin), buffer: &mut Vec<u8>) -> Option<String> {
    loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(buffer.drain(..end + 4).collect()).unwrap();
            return head.split(' ').nth(1).map(ToOwned::to_owned);
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
}

/// A door that may visit loopback and knows `name.example` at `address`.
pub(crate) fn door_to(address: SocketAddr, extra_roots_pem: &str, limits: ExchangeLimits) -> WebDoor {
    WebDoor::new(Settings {
        addresses: AddressPolicy::only(vec![AddressRange::LOOPBACK]),
        resolver: Resolver::new(move |origin| (origin.server.host() == "name.example").then_some(address)),
        extra_roots_pem: extra_roots_pem.as_bytes().to_vec(),
        limits,
        ..Settings::default()
    })
    .unwrap()
}

/// A door that may visit loopback, within the limits of the product.
pub(crate) fn door() -> WebDoor {
    door_to(([127, 0, 0, 1], 1).into(), "", ExchangeLimits::default())
}
