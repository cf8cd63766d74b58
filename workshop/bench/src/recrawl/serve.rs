//! A site on a loopback address, with a clock that runs as fast as the crawler's, and a log of every answer.
//!
//! **Invariant:** nothing is answered before the crawler's clock is known; then the site begins, at the beginning of its trace. An
//! answer is that of the moment at which it is logged.

use super::site::{Answer, Dates, Request, Site, Subject};
use anyhow::{Context, Result};
use base::clock::{Clock as _, RealClock};
use base::{Timestamp, http};
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

/// The longest head of a request.
const HEAD_BYTES_MAX: u64 = 16 * 1024;

/// One answer that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Logged {
    /// The moment of the trace.
    pub(super) at: f64,
    pub(super) subject: Subject,
    pub(super) status: u16,
}

/// The clock of a site.
#[derive(Debug)]
struct SiteClock {
    clock: Arc<RealClock>,
    dates: Dates,
}

/// What all connections share.
#[derive(Debug)]
struct Shared {
    site: Arc<Site>,
    clock: OnceLock<SiteClock>,
    log: Mutex<Vec<Logged>>,
    is_closing: AtomicBool,
}

/// A site that is served until this is dropped.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves a site on a free port of an address.
    pub(super) fn start(site: Arc<Site>, address: IpAddr) -> Result<Self> {
        let listener = TcpListener::bind((address, 0)).with_context(|| {
            format!("cannot listen on `{address}`; it must be an address of this machine")
        })?;
        let address = listener.local_addr()?;
        let (clock, log, is_closing) = (OnceLock::new(), Mutex::default(), AtomicBool::new(false));
        let shared = Arc::new(Shared { site, clock, log, is_closing });
        let accepting = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Ok(Self { address, shared, accepting: Some(accepting) })
    }
    /// The crawler's clock shows `origin` now, and runs `pace` times as fast as real time. Without effect after the first time.
    pub(super) fn begin(&self, origin: Timestamp, pace: u32) {
        let dates = Dates { origin, from: self.shared.site.trace.from };
        let clock = RealClock::starting_at(origin, pace);
        self.shared.clock.get_or_init(|| SiteClock { clock, dates });
    }
    /// The moment of the trace, once it has begun.
    pub(super) fn now(&self) -> Option<f64> {
        self.shared.clock.get().map(SiteClock::now)
    }
    /// How many seconds ago a moment of the crawler's clock was; negative if that clock is ahead.
    pub(super) fn seconds_since(&self, at: Timestamp) -> Option<f64> {
        let now = self.shared.clock.get()?.clock.now();
        let late = now.since(at).as_seconds_f64();
        Some(if now >= at { late } else { -at.since(now).as_seconds_f64() })
    }
    /// Everything that was answered so far, in order of time.
    pub(super) fn log(&self) -> Vec<Logged> {
        let mut log = self.shared.log.lock().unwrap_or_else(PoisonError::into_inner).clone();
        log.sort_by(|a, b| a.at.total_cmp(&b.at));
        log
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_closing.store(true, Ordering::Relaxed);
        // The thread that accepts sees it with the next connection.
        drop(TcpStream::connect(self.address));
        drop(self.accepting.take().map(JoinHandle::join));
    }
}

impl SiteClock {
    fn now(&self) -> f64 {
        self.dates.from + self.clock.now().since(self.dates.origin).as_seconds_f64()
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_closing.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        // A connection ends with its client; what goes wrong on it is the client's to see.
        std::thread::spawn(move || drop(converse(&stream, &shared)));
    }
}

/// Answers the requests of a connection, one after the other.
fn converse(stream: &TcpStream, shared: &Shared) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let mut sender = stream;
    let mut head = Vec::new();
    while read_head(&mut reader, &mut head)? {
        let sent = respond(&head, shared);
        sender.write_all(&sent)?;
    }
    Ok(())
}

/// Reads the head of a request; false at the end of the connection.
fn read_head(reader: &mut BufReader<&TcpStream>, head: &mut Vec<u8>) -> std::io::Result<bool> {
    head.clear();
    let mut limited = reader.take(HEAD_BYTES_MAX);
    while !head.ends_with(b"\r\n\r\n") {
        if limited.read_until(b'\n', head)? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Answers a request, and logs the answer.
fn respond(head: &[u8], shared: &Shared) -> Vec<u8> {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let target = std::str::from_utf8(line).ok().and_then(|line| line.split(' ').nth(1)).unwrap_or("");
    let request = Request {
        target,
        none_match: http::field(head, "if-none-match"),
        modified_since: http::field(head, "if-modified-since").and_then(Timestamp::parse_http_date),
    };
    let host = http::field(head, "host").unwrap_or_default();
    let clock = shared.clock.wait();
    let at = clock.now();
    let answer = shared.site.answer(&request, at, clock.dates, host);
    let logged = Logged { at, subject: answer.subject, status: answer.status };
    shared.log.lock().unwrap_or_else(PoisonError::into_inner).push(logged);
    bytes_of(&answer, clock.dates.of(at))
}

fn bytes_of(answer: &Answer, date: Timestamp) -> Vec<u8> {
    let reason = match answer.status {
        200 => "OK",
        304 => "Not Modified",
        410 => "Gone",
        _ => "Not Found",
    };
    let mut text = format!("HTTP/1.1 {} {reason}\r\nDate: {}\r\n", answer.status, date.to_http_date());
    if let Some((tag, modified)) = &answer.validators {
        text += &format!("ETag: {tag}\r\nLast-Modified: {}\r\n", modified.to_http_date());
    }
    if answer.status != 304 {
        let (media_type, length) = (answer.media_type, answer.body.len());
        text += &format!("Content-Type: {media_type}\r\nContent-Length: {length}\r\n");
    }
    text += "\r\n";
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(answer.body.as_bytes());
    bytes
}
