//! The request log: the latest requests in memory, and all of them in a file if one is given.
//!
//! **Invariant:** memory is bounded by [`ENTRIES_MAX`] and [`TEXT_BYTES_MAX`], whatever the requests. Sequence numbers
//! are dense and rise in the order in which requests were finished. A line of the file is one JSON object, so no
//! text from a request can forge another line (H24).

use base::url::Scheme;
use base::{Interval, Timestamp};
use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of requests in memory.
pub const ENTRIES_MAX: usize = 20_000;
/// Maximum bytes of hosts, targets and agents in memory.
pub const TEXT_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Maximum number of user agents that are shared by their requests; any others are stored with each request.
const AGENTS_MAX: usize = 64;

/// One request and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Its sequence number, assigned by the log.
    pub sequence: u64,
    /// When its head had been read, on the simulated clock.
    pub arrived: Timestamp,
    /// When the end of the response was about to be sent, or the client had disconnected.
    pub finished: Timestamp,
    /// The client's address.
    pub client: SocketAddrV4,
    /// The local address of the connection.
    pub local: Ipv4Addr,
    /// The address of the requested simulated server; none if there is no such server.
    pub server: Option<Ipv4Addr>,
    /// The connection it came on.
    pub connection: u64,
    /// http or https.
    pub scheme: Scheme,
    /// The status of the response; 0 if there was none.
    pub status: u16,
    /// Number of bytes sent.
    pub bytes: u64,
    /// The `Retry-After` of the response, if it is a duration.
    pub retry_after: Option<Interval>,
    /// The `Retry-After` of the response, if it is a date.
    pub retry_at: Option<Timestamp>,
    /// The `User-Agent`.
    pub agent: Arc<str>,
    place: Box<str>,
    host_bytes: u16,
}

impl LogEntry {
    /// A request for `target` of `host` that has just arrived. The rest is for the caller to fill in.
    ///
    /// # Panics
    /// When the host is longer than 64 KiB, which no request head is.
    #[must_use]
    pub fn new(host: &str, target: &str, agent: &str, arrived: Timestamp) -> Self {
        let host_bytes = u16::try_from(host.len()).expect("a host is shorter than a request head");
        Self {
            sequence: 0,
            arrived,
            finished: arrived,
            client: SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0),
            local: Ipv4Addr::LOCALHOST,
            server: None,
            connection: 0,
            scheme: Scheme::Http,
            status: 0,
            bytes: 0,
            retry_after: None,
            retry_at: None,
            agent: agent.into(),
            place: format!("{host}{target}").into(),
            host_bytes,
        }
    }
    /// The requested host.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.place[..usize::from(self.host_bytes)]
    }
    /// Path and query.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.place[usize::from(self.host_bytes)..]
    }
    /// The entry as one JSON object on a line of its own.
    pub fn push_json_line(&self, out: &mut Vec<u8>) {
        push(out, &format!("{{\"sequence\":{},\"arrived\":\"{}\"", self.sequence, self.arrived));
        push(out, &format!(",\"finished\":\"{}\",\"client\":\"{}\"", self.finished, self.client));
        push(out, &format!(",\"local\":\"{}\",\"connection\":{}", self.local, self.connection));
        if let Some(server) = self.server {
            push(out, &format!(",\"server\":\"{server}\""));
        }
        push(out, &format!(",\"scheme\":\"{}\",\"host\":", self.scheme.as_str()));
        push_text(out, self.host());
        push(out, ",\"target\":");
        push_text(out, self.target());
        push(out, &format!(",\"status\":{},\"bytes\":{}", self.status, self.bytes));
        if let Some(moment) = self.retry_at {
            push(out, &format!(",\"retry_at\":\"{moment}\""));
        }
        if let Some(wait) = self.retry_after {
            push(out, &format!(",\"retry_after_seconds\":{}", wait.as_seconds()));
        }
        push(out, ",\"user_agent\":");
        push_text(out, &self.agent);
        push(out, "}\n");
    }

    fn text_bytes(&self) -> usize {
        self.place.len() + self.agent.len()
    }
}

fn push(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    // Writing a string to memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}

/// The log.
#[derive(Debug)]
pub struct Log {
    ring: Mutex<Ring>,
    file: Option<Mutex<Output>>,
}

#[derive(Debug)]
struct Ring {
    entries: VecDeque<LogEntry>,
    text_bytes: usize,
    next: u64,
    agents: HashSet<Arc<str>>,
}

/// The file; after a failed write nothing more is written to it, and the simulated web continues.
#[derive(Debug)]
struct Output {
    file: BufWriter<File>,
    line: Vec<u8>,
    failed: bool,
}

impl Log {
    /// A log that also writes to `file`, if there is one; an existing file is truncated.
    pub fn open(file: Option<&Path>) -> io::Result<Self> {
        let file = file.map(File::create).transpose()?.map(|file| {
            Mutex::new(Output {
                file: BufWriter::with_capacity(64 * 1024, file),
                line: Vec::new(),
                failed: false,
            })
        });
        Ok(Self { ring: Mutex::new(Ring::new()), file })
    }

    /// Adds a finished request and assigns its number.
    pub fn append(&self, mut entry: LogEntry) {
        let mut ring = locked(&self.ring);
        entry.sequence = ring.next;
        entry.agent = ring.known_agent(entry.agent);
        if let Some(file) = &self.file {
            locked(file).append(&entry);
        }
        ring.push(entry);
    }

    /// The remembered requests from number `since` on, at most `limit`.
    #[must_use]
    pub fn since(&self, since: u64, limit: usize) -> Vec<LogEntry> {
        let ring = locked(&self.ring);
        let first = ring.next - ring.entries.len() as u64;
        let skipped = usize::try_from(since.saturating_sub(first)).unwrap_or(usize::MAX);
        ring.entries.iter().skip(skipped).take(limit).cloned().collect()
    }

    /// Number of requests so far, which is the number of the next one.
    #[must_use]
    pub fn count(&self) -> u64 {
        locked(&self.ring).next
    }

    /// Writes buffered lines to the operating system.
    pub fn flush(&self) {
        if let Some(file) = &self.file {
            locked(file).flush();
        }
    }
}

impl Ring {
    /// Reserved once; the system allocates the memory only when it is used.
    fn new() -> Self {
        let entries = VecDeque::with_capacity(ENTRIES_MAX + 1);
        Self { entries, text_bytes: 0, next: 0, agents: HashSet::new() }
    }
    fn known_agent(&mut self, agent: Arc<str>) -> Arc<str> {
        if let Some(known) = self.agents.get(&agent) {
            return known.clone();
        }
        if self.agents.len() < AGENTS_MAX {
            self.agents.insert(agent.clone());
        }
        agent
    }
    fn push(&mut self, entry: LogEntry) {
        self.next += 1;
        self.text_bytes += entry.text_bytes();
        self.entries.push_back(entry);
        while self.entries.len() > ENTRIES_MAX || self.text_bytes > TEXT_BYTES_MAX {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.text_bytes -= oldest.text_bytes();
        }
    }
}

impl Output {
    fn append(&mut self, entry: &LogEntry) {
        if self.failed {
            return;
        }
        self.line.clear();
        entry.push_json_line(&mut self.line);
        let written = self.file.write_all(&self.line);
        self.note(written);
    }
    fn flush(&mut self) {
        if !self.failed {
            let flushed = self.file.flush();
            self.note(flushed);
        }
    }
    fn note(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            tracing::warn!(%error, "cannot write the log of the simulated web; it is not written any further");
            self.failed = true;
        }
    }
}

/// The log is consistent between any two calls, so a panic elsewhere does not corrupt it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(target: &str, agent: &str) -> LogEntry {
        LogEntry::new("a.example", target, agent, crate::ORIGIN)
    }

    #[test]
    fn the_newest_requests_are_remembered_and_the_oldest_forgotten() {
        let log = Log::open(None).unwrap();
        (0..ENTRIES_MAX + 10).for_each(|n| log.append(entry(&format!("/{n}"), "x")));
        let found = log.since(0, 2);
        assert_eq!((found[0].sequence, found[0].target()), (10, "/10"));
        assert_eq!(log.since(ENTRIES_MAX as u64 + 9, 100).len(), 1);
        assert!(log.since(u64::MAX, 1).is_empty());
    }

    #[test]
    fn long_requests_are_forgotten_sooner() {
        let log = Log::open(None).unwrap();
        let long = format!("/{}", "x".repeat(60_000));
        (0..400).for_each(|n| log.append(entry(&long, &n.to_string())));
        let kept = log.since(0, usize::MAX).len();
        assert!(kept * 60_000 <= TEXT_BYTES_MAX && (kept + 2) * 60_000 > TEXT_BYTES_MAX, "{kept}");
        assert!(locked(&log.ring).agents.len() <= AGENTS_MAX);
    }

    #[test]
    fn no_text_forges_a_line() {
        let mut line = Vec::new();
        entry("/a\"\r\n{}", "agent\u{1b}[31m\n").push_json_line(&mut line);
        let text = String::from_utf8(line).unwrap();
        assert_eq!(text.matches('\n').count(), 1);
        assert!(!text.contains('\u{1b}'));
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&json["host"], &json["target"]), (&"a.example".into(), &"/a\"\r\n{}".into()));
    }
}
