//! The port: HTTP/1.1 as far as a scraper needs it.
//!
//! **Invariant:** a client costs a bounded amount of memory and time, and there are never more than a few.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::timeout;

const HEAD_BYTES_MAX: usize = 8 * 1024;
const CLIENTS_MAX: usize = 8;
const TIME_MAX: Duration = Duration::from_secs(5);
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The port, served until this is dropped.
#[derive(Debug)]
pub(crate) struct Serving {
    /// Where.
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
}

impl Serving {
    /// Answers every scrape with what `tell` tells then.
    pub(crate) async fn start<T, F>(listen: SocketAddr, tell: T) -> io::Result<Self>
    where
        T: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = String> + Send + 'static,
    {
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(accept(listener, Arc::new(tell)));
        Ok(Self { address, task })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept<T, F>(listener: TcpListener, tell: Arc<T>)
where
    T: Fn() -> F + Send + Sync + 'static,
    F: Future<Output = String> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(CLIENTS_MAX));
    loop {
        // The others wait outside.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let tell = Arc::clone(&tell);
        tokio::spawn(async move {
            // Who is too slow, or leaves, gets no answer.
            let _ = timeout(TIME_MAX, serve(stream, &*tell)).await;
            drop(place);
        });
    }
}

async fn serve<T, F>(mut stream: TcpStream, tell: &T) -> io::Result<()>
where
    T: Fn() -> F,
    F: Future<Output = String>,
{
    let mut head = Vec::new();
    while !is_whole(&head) {
        if head.len() > HEAD_BYTES_MAX {
            return answer(&mut stream, "431 Request Header Fields Too Large", "", true).await;
        }
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    match wish(&head) {
        Wish::Metrics { is_head } => answer(&mut stream, "200 OK", &tell().await, !is_head).await,
        Wish::Other(status) => answer(&mut stream, status, "GET /metrics\n", true).await,
    }
}

fn is_whole(head: &[u8]) -> bool {
    head.windows(4).any(|four| four == b"\r\n\r\n") || head.windows(2).any(|two| two == b"\n\n")
}

enum Wish {
    Metrics { is_head: bool },
    Other(&'static str),
}

/// What the first line of a request asks for.
fn wish(head: &[u8]) -> Wish {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = std::str::from_utf8(line).unwrap_or_default();
    let mut words = line.split_ascii_whitespace();
    let (method, target, version) = (words.next(), words.next(), words.next());
    let path = target.map(|target| target.split('?').next().unwrap_or_default());
    match (method, path, version) {
        (_, _, version) if !version.is_some_and(|version| version.starts_with("HTTP/1.")) => {
            Wish::Other("400 Bad Request")
        }
        (Some("GET"), Some("/metrics"), _) => Wish::Metrics { is_head: false },
        (Some("HEAD"), Some("/metrics"), _) => Wish::Metrics { is_head: true },
        (_, Some("/metrics"), _) => Wish::Other("405 Method Not Allowed"),
        _ => Wish::Other("404 Not Found"),
    }
}

async fn answer(stream: &mut TcpStream, status: &str, body: &str, with_body: bool) -> io::Result<()> {
    let allow = if status.starts_with("405") { "Allow: GET, HEAD\r\n" } else { "" };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {MEDIA_TYPE}\r\nContent-Length: {length}\r\n{allow}Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    if with_body {
        stream.write_all(body.as_bytes()).await?;
    }
    stream.shutdown().await
}
