//! Everything that can be connected to: two honest addresses, and canaries everywhere else.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// Where the honest server is: public, in both families.
const HONEST: [&str; 2] = ["93.184.216.34", "2606:2800:220:1::1"];
pub(crate) fn honest() -> Vec<IpAddr> {
    HONEST.iter().map(|text| text.parse().unwrap()).collect()
}
/// The ports that are listened on, on every address.
pub(crate) const PORTS: [u16; 8] = [22, 80, 443, 6379, 8000, 8080, 8443, 9200];
/// Where the proxy listens that connects to whatever it is asked for.
pub(crate) const PROXY: &str = "127.0.0.1:3128";

/// What the honest server answers just now.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) robots: Vec<u8>,
    pub(crate) page: Vec<u8>,
}

/// An honest page without links, and no rules.
impl Default for Stage {
    fn default() -> Self {
        Self { robots: answer(404, "", b""), page: answer(200, "Content-Type: text/plain\r\n", b"ok") }
    }
}

/// An answer with these fields.
pub(crate) fn answer(status: u16, fields: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut bytes = format!("HTTP/1.1 {status} X\r\n{fields}Content-Length: {length}\r\n\r\n").into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// A redirect to bytes as they are.
pub(crate) fn redirect(status: u16, location: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nLocation: ").into_bytes();
    bytes.extend_from_slice(location);
    bytes.extend_from_slice(b"\r\n\r\n");
    bytes
}

/// A connection that somebody made, or a request that came over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// The address that was meant.
    pub(crate) to: SocketAddr,
    /// `Host` and target; nothing for the connection itself.
    pub(crate) asked: Option<(String, String)>,
}

impl Hit {
    pub(crate) fn is_honest(&self) -> bool {
        is_honest(self.to.ip())
    }
}

fn is_honest(address: IpAddr) -> bool {
    honest().contains(&address)
}

/// The servers, and what they saw.
#[derive(Clone, Default)]
pub(crate) struct Web(Arc<Mutex<(Stage, Vec<Hit>)>>);

impl Web {
    /// Listens everywhere.
    pub(crate) async fn start() -> Self {
        let web = Self::default();
        for port in PORTS {
            let listener = TcpListener::bind(("::", port)).await.unwrap();
            let web = web.clone();
            tokio::spawn(async move {
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    let to = canonical(stream.local_addr().unwrap());
                    web.lock().1.push(Hit { to, asked: None });
                    tokio::spawn(serve(stream, to, web.clone()));
                }
            });
        }
        let proxy = TcpListener::bind(PROXY).await.unwrap();
        tokio::spawn(async move {
            loop {
                let (stream, _) = proxy.accept().await.unwrap();
                tokio::spawn(tunnel(stream));
            }
        });
        web
    }

    /// From now on the honest server answers so.
    pub(crate) fn set(&self, stage: Stage) {
        self.lock().0 = stage;
    }

    /// What was seen since the last time. Whoever was answered, or turned away, was seen.
    pub(crate) fn seen(&self) -> Vec<Hit> {
        std::mem::take(&mut self.lock().1)
    }

    /// Waits until whatever was connected to before has been seen, answered or not: connections are heard in the order
    /// in which they were made, so one more to each listener comes after all of them.
    pub(crate) async fn settle(&self) {
        let before = self.lock().1.len();
        for port in PORTS {
            let mut last = TcpStream::connect((HONEST[0], port)).await.unwrap();
            last.write_all(b"GET /last HTTP/1.1\r\n\r\n").await.unwrap();
            assert!(last.read(&mut [0; 64]).await.unwrap() > 0, "port {port} answers");
        }
        let mut state = self.lock();
        assert!(state.1.len() >= before + 2 * PORTS.len(), "the listeners are awake");
        state.1.retain(|hit| !hit.is_honest());
    }

    fn lock(&self) -> MutexGuard<'_, (Stage, Vec<Hit>)> {
        self.0.lock().unwrap()
    }
}

fn canonical(to: SocketAddr) -> SocketAddr {
    SocketAddr::new(IpAddr::to_canonical(&to.ip()), to.port())
}

/// Answers one request after the other; what is no HTTP is not answered.
async fn serve(mut stream: TcpStream, to: SocketAddr, web: Web) -> Option<()> {
    let mut buffer = Vec::new();
    loop {
        let head = head(&mut stream, &mut buffer).await?;
        let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let host = head.lines().find_map(|line| line.strip_prefix("Host: ")).unwrap_or_default().to_owned();
        let bytes = {
            let mut state = web.lock();
            state.1.push(Hit { to, asked: Some((host, target.clone())) });
            match (is_honest(to.ip()), target.as_str()) {
                (true, "/robots.txt") => state.0.robots.clone(),
                (true, _) => state.0.page.clone(),
                // A connection each, so that each is counted.
                (false, _) => answer(200, "Connection: close\r\n", b"secret"),
            }
        };
        stream.write_all(&bytes).await.ok()?;
        if !is_honest(to.ip()) {
            return None;
        }
    }
}

/// The head of a request, if one comes.
async fn head(stream: &mut (impl AsyncRead + Unpin), buffer: &mut Vec<u8>) -> Option<String> {
    loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            return Some(String::from_utf8_lossy(&buffer.drain(..end + 4).collect::<Vec<_>>()).into_owned());
        }
        let is_http = buffer.first().is_none_or(u8::is_ascii_uppercase);
        if !is_http || stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
}

/// A proxy without checks.
async fn tunnel(mut stream: TcpStream) -> Option<()> {
    let head = head(&mut stream, &mut Vec::new()).await?;
    let to: SocketAddr = head.strip_prefix("CONNECT ")?.split(' ').next()?.parse().ok()?;
    let Ok(mut onward) = TcpStream::connect(to).await else {
        return stream.write_all(b"HTTP/1.1 502 X\r\n\r\n").await.ok();
    };
    stream.write_all(b"HTTP/1.1 200 X\r\n\r\n").await.ok()?;
    copy_bidirectional(&mut stream, &mut onward).await.ok().map(drop)
}
