//! A client that sends exactly the given bytes and keeps every byte it receives.

use base::http;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Long enough that only a server that never answers exceeds it.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

pub(crate) struct Client {
    stream: Box<dyn Stream>,
    buffer: Vec<u8>,
}

/// An answer: its head with the empty line, and its body as it came over the wire.
pub(crate) struct Message {
    pub(crate) head: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

impl Message {
    pub(crate) fn status(&self) -> u16 {
        http::status(&self.head).unwrap()
    }
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        http::field(&self.head, name)
    }
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
    pub(crate) fn bytes(&self) -> Vec<u8> {
        [self.head.as_slice(), self.body.as_slice()].concat()
    }
}

impl Client {
    pub(crate) async fn connect(to: SocketAddr) -> Self {
        let stream = timeout(PATIENCE, TcpStream::connect(to)).await.unwrap().unwrap();
        stream.set_nodelay(true).unwrap();
        Self::over(stream)
    }
    pub(crate) fn over(stream: impl Stream + 'static) -> Self {
        Self { stream: Box::new(stream), buffer: Vec::new() }
    }
    pub(crate) fn into_stream(self) -> Box<dyn Stream> {
        assert!(self.buffer.is_empty());
        self.stream
    }
    pub(crate) async fn send(&mut self, text: impl AsRef<[u8]>) {
        self.try_send(text).await.unwrap();
    }
    pub(crate) async fn try_send(&mut self, text: impl AsRef<[u8]>) -> std::io::Result<()> {
        self.stream.write_all(text.as_ref()).await?;
        self.stream.flush().await
    }
    /// GET of a URL in origin form.
    pub(crate) async fn get(&mut self, url: &str) -> Message {
        self.send(request("GET", url, "")).await;
        self.message(false).await
    }
    pub(crate) async fn ask(&mut self, request: &str) -> Message {
        self.send(request).await;
        self.message(request.starts_with("HEAD")).await
    }
    /// The next answer, framed by its own fields.
    pub(crate) async fn message(&mut self, head_only: bool) -> Message {
        let end = loop {
            if let Some(at) = self.buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break at + 4;
            }
            assert!(self.more().await, "closed within a head: {}", String::from_utf8_lossy(&self.buffer));
        };
        let head: Vec<u8> = self.buffer.drain(..end).collect();
        let body =
            if head_only || http::status(&head) == Some(304) { Vec::new() } else { self.body(&head).await };
        Message { head, body }
    }
    async fn body(&mut self, head: &[u8]) -> Vec<u8> {
        let chunked = http::field(head, "transfer-encoding") == Some("chunked");
        let length = http::field(head, "content-length").map(|length| length.parse::<usize>().unwrap());
        loop {
            let end = match length {
                Some(length) => (self.buffer.len() >= length).then_some(length),
                None if chunked => {
                    self.buffer.windows(5).position(|bytes| bytes == b"0\r\n\r\n").map(|at| at + 5)
                }
                None => None,
            };
            if let Some(end) = end {
                return self.buffer.drain(..end).collect();
            }
            if !self.more().await {
                return std::mem::take(&mut self.buffer);
            }
        }
    }
    /// Everything until the server closes, or until `most` bytes have come.
    pub(crate) async fn until_close(&mut self, most: usize) -> Vec<u8> {
        while self.buffer.len() < most && self.more().await {}
        std::mem::take(&mut self.buffer)
    }
    /// Whether something came within `time`.
    pub(crate) async fn hears_within(&mut self, time: Duration) -> bool {
        timeout(time, self.more()).await.is_ok()
    }
    async fn more(&mut self) -> bool {
        let read =
            timeout(PATIENCE, self.stream.read_buf(&mut self.buffer)).await.expect("the server fell silent");
        read.is_ok_and(|bytes| bytes > 0)
    }
}

/// A request in origin form, with further fields.
pub(crate) fn request(method: &str, url: &str, fields: &str) -> String {
    let page = base::PageUrl::parse(url).unwrap();
    format!(
        "{method} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: tester\r\n{fields}\r\n",
        page.target(),
        page.host()
    )
}
