//! The port: HTTP/1.1 as far as a scraper needs it.
//!
//! **Invariant:** a client costs a bounded amount of memory and time, and there are never more than [`CLIENTS_MAX`].
//!
//! **Invariant:** a client never waits for others. When all slots are taken, the oldest connection of the address with
//! the most connections is closed, so slow clients displace each other and not a scraper.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinHandle, JoinSet};
use tokio::time::timeout;

const HEAD_BYTES_MAX: usize = 8 * 1024;
pub(super) const CLIENTS_MAX: usize = 32;
/// How long a client may take to send its request.
const HEAD_TIME_MAX: Duration = Duration::from_secs(2);
/// How long the answer may take, including the time to ask the crawl for it.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The port, served until this is dropped.
#[derive(Debug)]
pub struct MetricsServer {
    /// Where.
    pub address: SocketAddr,
    task: JoinHandle<()>,
}

impl MetricsServer {
    /// Answers every scrape with the current result of `tell`.
    pub async fn start<T, F>(listen: SocketAddr, tell: T) -> io::Result<Self>
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

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept<T, F>(listener: TcpListener, tell: Arc<T>)
where
    T: Fn() -> F + Send + Sync + 'static,
    F: Future<Output = String> + Send + 'static,
{
    // Dropped with this task, which ends them all.
    let mut tasks = JoinSet::new();
    let mut clients = Clients::default();
    loop {
        let Ok((stream, address)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        while tasks.try_join_next().is_some() {}
        let tell = Arc::clone(&tell);
        // A client that is too slow, or leaves, gets no answer.
        let task = tasks.spawn(async move { drop(serve(stream, &*tell).await) });
        clients.add(address.ip(), task);
    }
}

/// The clients that are being served, the oldest first.
#[derive(Default)]
struct Clients(Vec<(IpAddr, AbortHandle)>);

impl Clients {
    /// Adds a client, and closes another connection if there are too many.
    fn add(&mut self, address: IpAddr, task: AbortHandle) {
        self.0.retain(|(_, task)| !task.is_finished());
        if self.0.len() >= CLIENTS_MAX
            && let Some(oldest) = self.oldest_of_most()
        {
            self.0.remove(oldest).1.abort();
        }
        self.0.push((address, task));
    }
    /// The oldest connection of the address with the most connections.
    fn oldest_of_most(&self) -> Option<usize> {
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        self.0.iter().for_each(|(address, _)| *counts.entry(*address).or_default() += 1);
        let most = counts.values().copied().max()?;
        self.0.iter().position(|(address, _)| counts[address] == most)
    }
}

async fn serve<T, F>(mut stream: TcpStream, tell: &T) -> io::Result<()>
where
    T: Fn() -> F,
    F: Future<Output = String>,
{
    let Some(head) = timeout(HEAD_TIME_MAX, hear(&mut stream)).await?? else { return Ok(()) };
    let answering = async {
        match head.as_deref().map_or(Wish::Other("431 Request Header Fields Too Large"), wish) {
            Wish::Metrics { is_head } => answer(&mut stream, "200 OK", &tell().await, !is_head).await,
            Wish::Other(status) => answer(&mut stream, status, "GET /metrics\n", true).await,
        }
    };
    timeout(ANSWER_TIME_MAX, answering).await?
}

/// The head of a request: `None` if the client left, and empty if it is too long.
async fn hear(stream: &mut TcpStream) -> io::Result<Option<Option<Vec<u8>>>> {
    let mut head = Vec::new();
    while !is_whole(&head) {
        if head.len() > HEAD_BYTES_MAX {
            return Ok(Some(None));
        }
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(None);
        }
    }
    Ok(Some(Some(head)))
}

fn is_whole(head: &[u8]) -> bool {
    head.windows(4).any(|four| four == b"\r\n\r\n") || head.windows(2).any(|two| two == b"\n\n")
}

enum Wish {
    Metrics { is_head: bool },
    Other(&'static str),
}

/// The path in the first line of a request.
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
