//! The same work as a bare loop: `bench fetch-bare`.
//!
//! One thread, blocking sockets, one kept connection per server with one request in flight, so that the next answer is
//! made while this one is compressed. An answer is read only by its `Content-Length`. The records are those of the
//! product: a response and a request, each a gzip member by libdeflate at the same level, both with WARC digests. There
//! are no checks and no index.

use crate::fetch_cell::{CellArgs, Packing};
use crate::warc_pages::cannot;
use crate::{fetch_pages, fetch_tls};
use anyhow::{Context, Result, ensure};
use base::clock::{Clock as _, RealClock};
use base::url::Scheme;
use base::{PageUrl, Sha1Digest};
use libdeflater::{CompressionLvl, Compressor};
use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

/// Bytes written at once.
const WRITE_BYTES: usize = 1 << 20;
/// Bytes read at once.
const READ_BYTES: usize = 64 << 10;

pub(crate) fn run(args: &CellArgs) -> Result<()> {
    let servers = fetch_pages::read(&args.list)?;
    let roots_pem = args.roots_pem()?;
    let open = |pages: Vec<PageUrl>| {
        Ok(OneServer { connection: Connection::open(&pages[0], &roots_pem)?, pages: pages.into_iter() })
    };
    let mut servers = servers.into_iter().map(open).collect::<Result<Vec<_>>>()?;
    let mut file = Records::create(&args.directory, args.compression)?;
    servers.iter_mut().try_for_each(OneServer::send)?;
    let mut pages = 0;
    while !servers.is_empty() {
        for server in &mut servers {
            let head = server.connection.receive()?;
            let (url, request) = server.connection.asked();
            ensure!(server.connection.answer.starts_with(b"HTTP/1.1 200 "), "not a page: {url}");
            server.send()?;
            file.append(&url, &request, &server.connection.answer, head)?;
            pages += 1;
            if pages % args.batch == 0 {
                file.sync()?;
            }
        }
        servers.retain(|server| server.connection.is_busy());
    }
    file.sync()
}

/// What a connection can do, with TLS or without.
trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

/// A connection to one server, and its remaining pages.
struct OneServer {
    connection: Connection,
    pages: std::vec::IntoIter<PageUrl>,
}

impl OneServer {
    /// Asks for the next page, if there is one.
    fn send(&mut self) -> Result<()> {
        self.pages.next().map_or(Ok(()), |page| self.connection.ask(&page))
    }
}

/// A kept connection.
pub(crate) struct Connection {
    stream: Box<dyn ReadWrite>,
    /// The URL in flight; empty if there is none.
    url: String,
    request: Vec<u8>,
    pub(crate) answer: Vec<u8>,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(to: &PageUrl, roots_pem: &[u8]) -> Result<Self> {
        let stream = TcpStream::connect(to.server().as_str()).context("cannot connect")?;
        stream.set_nodelay(true)?;
        let stream: Box<dyn ReadWrite> = match to.scheme() {
            Scheme::Http => Box::new(stream),
            Scheme::Https => Box::new(fetch_tls::connect(stream, to.host(), roots_pem)?),
        };
        let (url, request, answer, buffer) = (String::new(), Vec::new(), Vec::new(), vec![0; READ_BYTES]);
        Ok(Self { stream, url, request, answer, buffer })
    }

    pub(crate) fn ask(&mut self, page: &PageUrl) -> Result<()> {
        self.request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: bare/0.1\r\n\
             Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
             Accept-Language: ja,en;q=0.8,*;q=0.5\r\nAccept-Encoding: gzip\r\nConnection: keep-alive\r\n\r\n",
            page.target(),
            page.server().as_str()
        )
        .into_bytes();
        self.url = page.as_str().to_owned();
        self.stream.write_all(&self.request)?;
        Ok(self.stream.flush()?)
    }

    pub(crate) fn is_busy(&self) -> bool {
        !self.request.is_empty()
    }

    /// The last request; the connection is free afterwards.
    pub(crate) fn asked(&mut self) -> (String, Vec<u8>) {
        (std::mem::take(&mut self.url), std::mem::take(&mut self.request))
    }

    /// Reads one answer; how long its head is.
    pub(crate) fn receive(&mut self) -> Result<usize> {
        self.answer.clear();
        let mut end = None;
        loop {
            if let Some((head, length)) = end
                && self.answer.len() >= head + length
            {
                return Ok(head);
            }
            let bytes = self.stream.read(&mut self.buffer)?;
            ensure!(bytes > 0, "the connection was closed in the middle of an answer");
            self.answer.extend_from_slice(&self.buffer[..bytes]);
            if end.is_none() {
                end = head_of(&self.answer)?;
            }
        }
    }
}

/// Where the head ends and how long the body is, once the head is there.
fn head_of(answer: &[u8]) -> Result<Option<(usize, usize)>> {
    let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&answer[..end])?;
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    Ok(Some((end + 4, length.context("an answer without a length")?.parse()?)))
}

/// The file that grows.
pub(crate) struct Records {
    file: File,
    clock: Arc<RealClock>,
    /// None for plain records.
    compressor: Option<Compressor>,
    record: Vec<u8>,
    pending: Vec<u8>,
    number: u64,
}

impl Records {
    pub(crate) fn create(directory: &Path, packing: Packing) -> Result<Self> {
        ensure!(packing != Packing::Zstd, "the bare loop knows no zstd");
        let is_plain = packing == Packing::Plain;
        std::fs::create_dir_all(directory).with_context(|| cannot("make", directory))?;
        let path = directory.join(if is_plain { "bare.warc" } else { "bare.warc.gz" });
        let file = File::create(&path).with_context(|| cannot("make", &path))?;
        let level =
            CompressionLvl::new(warc::Level::DEFAULT.get().into()).ok().context("there is such a level")?;
        let (compressor, clock) = ((!is_plain).then(|| Compressor::new(level)), RealClock::start());
        Ok(Self { file, clock, compressor, record: Vec::new(), pending: Vec::new(), number: 0 })
    }

    /// Appends both records of an exchange.
    pub(crate) fn append(&mut self, url: &str, request: &[u8], answer: &[u8], head: usize) -> Result<()> {
        let payload = format!("WARC-Payload-Digest: {}\r\n", Sha1Digest::of(&[&answer[head..]]));
        self.put("response", url, &payload, answer);
        let other = format!("WARC-Concurrent-To: <urn:uuid:{:032x}>\r\n", self.number);
        self.put("request", url, &other, request);
        if self.pending.len() >= WRITE_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn put(&mut self, kind: &str, url: &str, more: &str, block: &[u8]) {
        self.number += 1;
        self.record.clear();
        let record = if self.compressor.is_some() { &mut self.record } else { &mut self.pending };
        // Writing to memory cannot fail.
        let _ = write!(
            record,
            "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{:032x}>\r\nWARC-Date: {}\r\n\
             WARC-Target-URI: {url}\r\nWARC-IP-Address: 127.0.0.1\r\n{more}WARC-Block-Digest: {}\r\n\
             Content-Type: application/http;msgtype={kind}\r\nContent-Length: {}\r\n\r\n",
            self.number,
            self.clock.now().to_rfc3339(),
            Sha1Digest::of(&[block]),
            block.len(),
        );
        record.extend_from_slice(block);
        record.extend_from_slice(b"\r\n\r\n");
        let Some(compressor) = &mut self.compressor else { return };
        let start = self.pending.len();
        self.pending.resize(start + compressor.gzip_compress_bound(self.record.len()), 0);
        let length = compressor.gzip_compress(&self.record, &mut self.pending[start..]);
        self.pending.truncate(start + length.expect("the room is as large as the bound says"));
    }

    fn flush(&mut self) -> Result<()> {
        self.file.write_all(&self.pending)?;
        self.pending.clear();
        Ok(())
    }

    pub(crate) fn sync(&mut self) -> Result<()> {
        self.flush()?;
        Ok(self.file.sync_data()?)
    }
}
