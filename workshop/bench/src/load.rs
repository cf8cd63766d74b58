//! A client that sends requests as fast as it gets answers, over kept connections, and checks every answer.

use anyhow::{Context, Result, bail};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One request: its server and its target.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) to: SocketAddr,
    pub(crate) host: String,
    pub(crate) path: String,
}

/// The result of a load.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Load {
    pub(crate) pages: u64,
    pub(crate) bytes: u64,
    pub(crate) seconds: f64,
}

/// Requests `targets` in turn over `connections` connections for `time`.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
pub(crate) async fn run(targets: &[Target], connections: usize, time: Duration) -> Result<Load> {
    let began = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for place in 0..connections {
        let mine: Vec<Target> = targets.iter().skip(place).step_by(connections).cloned().collect();
        tasks.spawn(async move { ask_all(&mine, began, time).await });
    }
    let mut load = Load::default();
    while let Some(done) = tasks.join_next().await {
        let part = done.context("a client stopped")??;
        load.pages += part.pages;
        load.bytes += part.bytes;
    }
    load.seconds = began.elapsed().as_secs_f64();
    Ok(load)
}

async fn ask_all(targets: &[Target], began: Instant, time: Duration) -> Result<Load> {
    let mut load = Load::default();
    let mut kept: Option<Connection> = None;
    for target in targets.iter().cycle() {
        if began.elapsed() >= time {
            break;
        }
        let mut connection = match kept.take().filter(|kept| kept.to == target.to) {
            Some(connection) => connection,
            None => Connection::open(target.to).await?,
        };
        load.bytes +=
            connection.ask(target).await.with_context(|| format!("{}{}", target.host, target.path))?;
        load.pages += 1;
        kept = Some(connection);
    }
    Ok(load)
}

struct Connection {
    to: SocketAddr,
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(to: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(to).await.with_context(|| format!("cannot connect to {to}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { to, stream, buffer: Vec::with_capacity(64 * 1024) })
    }

    /// One exchange; the length of the body.
    async fn ask(&mut self, target: &Target) -> Result<u64> {
        let request = format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", target.path, target.host);
        self.stream.write_all(request.as_bytes()).await?;
        self.buffer.clear();
        let (head, length) = loop {
            if let Some(head) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break (head + 4, body_length(&self.buffer[..head + 4])?);
            }
            self.read().await?;
        };
        match length {
            Some(length) => self.read_until(|buffer| buffer.len() >= head + length).await?,
            None => self.read_until(|buffer| buffer.ends_with(b"\r\n0\r\n\r\n")).await?,
        }
        Ok((self.buffer.len() - head) as u64)
    }

    async fn read_until(&mut self, enough: impl Fn(&[u8]) -> bool) -> Result<()> {
        while !enough(&self.buffer) {
            self.read().await?;
        }
        Ok(())
    }

    async fn read(&mut self) -> Result<()> {
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            bail!("the connection was closed in the middle of an answer");
        }
        Ok(())
    }
}

/// The length of the body; `None` if it is chunked.
fn body_length(head: &[u8]) -> Result<Option<usize>> {
    if base::http::status(head) != Some(200) {
        bail!("not a page: {}", String::from_utf8_lossy(head).lines().next().unwrap_or_default());
    }
    match base::http::field(head, "content-length") {
        Some(length) => Ok(Some(length.parse()?)),
        None if base::http::field(head, "transfer-encoding").is_some() => Ok(None),
        None => bail!("an answer without a length"),
    }
}
