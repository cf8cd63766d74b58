//! The payload of an HTTP message while it streams by: what follows its head, with and without chunk framing.
//!
//! The standard means the entity body, without the transfer coding. The most common writers digest what follows the
//! head, including chunk framing (D8), so both are accepted. When interim answers (1xx) were kept, what follows the
//! first head and what follows the last one are both possible readings.
//!
//! **Invariant:** at most [`HEAD_BYTES_MAX`] of a message are held.

use super::digest::{Algorithm, Hasher};
use crate::header::HEAD_BYTES_MAX;

/// Which way a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Response,
    Request,
}

/// What was seen of a message at its end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// The first line is what it should be.
    pub(super) has_first_line: bool,
    /// There was an empty line after the head.
    pub(super) has_end: bool,
    /// The digests of everything that can be called its payload.
    pub(super) digests: Vec<Vec<u8>>,
}

/// A message that is being read.
#[derive(Debug)]
pub(super) struct Message {
    direction: Direction,
    algorithm: Option<Algorithm>,
    head: Vec<u8>,
    in_body: bool,
    interim_heads: usize,
    is_first_line_good: Option<bool>,
    bodies: Vec<Hasher>,
    unchunked: Option<(Unchunk, Hasher)>,
}

const INTERIM_HEADS_MAX: usize = 16;

impl Message {
    /// A message whose payload is digested by `algorithm`, if there is one to compare with.
    pub(super) fn new(direction: Direction, algorithm: Option<Algorithm>) -> Self {
        let (head, bodies) = (Vec::new(), Vec::new());
        Self {
            direction,
            algorithm,
            head,
            in_body: false,
            interim_heads: 0,
            is_first_line_good: None,
            bodies,
            unchunked: None,
        }
    }

    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        while !self.in_body && !bytes.is_empty() {
            let room = HEAD_BYTES_MAX.saturating_sub(self.head.len()).min(bytes.len());
            if room == 0 {
                return;
            }
            let looked_at = self.head.len().saturating_sub(3);
            let before = self.head.len();
            self.head.extend_from_slice(bytes.get(..room).unwrap_or_default());
            let Some(end) = head_end(&self.head, looked_at) else {
                // Bodies of earlier, interim heads continue.
                self.bodies.iter_mut().for_each(|body| body.update(bytes.get(..room).unwrap_or_default()));
                bytes = bytes.get(room..).unwrap_or_default();
                continue;
            };
            let taken = end.saturating_sub(before);
            self.bodies.iter_mut().for_each(|body| body.update(bytes.get(..taken).unwrap_or_default()));
            bytes = bytes.get(taken..).unwrap_or_default();
            self.head.truncate(end);
            self.close_head();
        }
        self.bodies.iter_mut().for_each(|body| body.update(bytes));
        if let Some((unchunk, hasher)) = &mut self.unchunked {
            unchunk.update(bytes, hasher);
        }
    }

    fn close_head(&mut self) {
        let good = first_line_is_good(self.direction, &self.head);
        self.is_first_line_good.get_or_insert(good);
        self.bodies.extend(self.algorithm.map(Hasher::new));
        let status = base::http::status(&self.head);
        let is_interim = self.direction == Direction::Response
            && status.is_some_and(|status| (100..200).contains(&status) && status != 101);
        if is_interim && self.interim_heads < INTERIM_HEADS_MAX {
            self.interim_heads += 1;
            self.head.clear();
            return;
        }
        self.in_body = true;
        let is_chunked = base::http::fields(&self.head, "transfer-encoding")
            .any(|value| value.to_ascii_lowercase().contains("chunked"));
        if is_chunked {
            self.unchunked = self.algorithm.map(|algorithm| (Unchunk::default(), Hasher::new(algorithm)));
        }
        self.head = Vec::new();
    }

    pub(super) fn finish(mut self) -> Seen {
        let has_first_line =
            self.is_first_line_good.unwrap_or_else(|| first_line_is_good(self.direction, &self.head));
        let has_end = self.in_body || self.interim_heads > 0;
        if !has_end {
            // A head without an end has no body after it.
            self.bodies.extend(self.algorithm.map(Hasher::new));
        }
        let unchunked = self.unchunked.map(|(_, hasher)| hasher);
        let digests = self.bodies.into_iter().chain(unchunked).map(Hasher::finish).collect();
        Seen { has_first_line, has_end, digests }
    }
}

/// Where the first empty line ends, looking from `from` on.
fn head_end(head: &[u8], from: usize) -> Option<usize> {
    let mut places = head.iter().enumerate().skip(from).filter(|(_, byte)| **byte == b'\n');
    places.find_map(|(place, _)| {
        let line = head.get(..place)?;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        line.ends_with(b"\n").then_some(place + 1)
    })
}

fn first_line_is_good(direction: Direction, head: &[u8]) -> bool {
    let line = head.split(|b| *b == b'\n').next().unwrap_or_default().trim_ascii_end();
    match direction {
        Direction::Response => base::http::status(line).is_some(),
        Direction::Request => {
            let mut words = line.split(|b| *b == b' ');
            let method = words.next().unwrap_or_default();
            let version = words.next_back().unwrap_or_default();
            !method.is_empty()
                && method.iter().all(|b| super::head::is_token(*b))
                && version.starts_with(b"HTTP/")
                && words.next().is_some()
        }
    }
}

/// Removes chunk framing from a body that comes piece by piece. Malformed framing ends it.
#[derive(Debug, Default)]
struct Unchunk {
    line: Vec<u8>,
    left: u64,
    after_data: bool,
    ended: bool,
}

const CHUNK_LINE_BYTES_MAX: usize = 4096;

impl Unchunk {
    fn update(&mut self, mut bytes: &[u8], hasher: &mut Hasher) {
        while !self.ended && !bytes.is_empty() {
            if self.left > 0 {
                let taken = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
                hasher.update(bytes.get(..taken).unwrap_or_default());
                self.left -= taken as u64;
                self.after_data = self.left == 0;
                bytes = bytes.get(taken..).unwrap_or_default();
                continue;
            }
            let end = memchr::memchr(b'\n', bytes).map(|place| place + 1);
            let taken = end.unwrap_or(bytes.len());
            self.line.extend_from_slice(bytes.get(..taken).unwrap_or_default());
            bytes = bytes.get(taken..).unwrap_or_default();
            if self.line.len() > CHUNK_LINE_BYTES_MAX {
                self.ended = true;
            } else if end.is_some() {
                self.close_line();
            }
        }
    }

    fn close_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let size = line.split(|b| *b == b';').next().unwrap_or_default().trim_ascii();
        if std::mem::take(&mut self.after_data) && size.is_empty() {
            return;
        }
        let digits = std::str::from_utf8(size).ok().filter(|digits| !digits.starts_with('+'));
        match digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
            Some(size) if size > 0 => self.left = size,
            _ => self.ended = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `message` whole and byte by byte; `payloads` are all that may be digested.
    #[track_caller]
    fn check(direction: Direction, message: &str, expected: (bool, bool), payloads: &[&str]) {
        let digests = payloads.iter().map(|payload| {
            let mut hasher = Hasher::new(Algorithm::Sha1);
            hasher.update(payload.as_bytes());
            hasher.finish()
        });
        let (has_first_line, has_end) = expected;
        let expected = Seen { has_first_line, has_end, digests: digests.collect() };
        for step in [message.len().max(1), 1, 3] {
            let mut read = Message::new(direction, Some(Algorithm::Sha1));
            message.as_bytes().chunks(step).for_each(|piece| read.update(piece));
            assert_eq!(read.finish(), expected, "{message:?} in steps of {step}");
        }
    }

    #[test]
    fn a_payload_is_what_follows_the_head() {
        let good = (true, true);
        check(Direction::Response, "HTTP/1.1 200 OK\r\nA: b\r\n\r\nhi", good, &["hi"]);
        check(Direction::Response, "HTTP/1.1 200\r\n\r\n", good, &[""]);
        check(Direction::Response, "HTTP/1.0 200 OK\nA: b\n\nhi\n\n", good, &["hi\n\n"]);
        check(Direction::Request, "POST /x HTTP/1.1\r\nHost: a\r\n\r\na=b", good, &["a=b"]);
    }

    #[test]
    fn chunk_framing_counts_or_not() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let check = |body: &str, payload: &str| {
            check(Direction::Response, &format!("{head}{body}"), (true, true), &[body, payload]);
        };
        check("2\r\nhi\r\n0\r\n\r\n", "hi");
        check("2;x=y\r\nhi\r\n3\r\n yo\r\n0\r\nTrailer: x\r\n\r\n", "hi yo");
        check("5\r\nhi", "hi");
        check("not chunked", "");
        check("", "");
    }

    #[test]
    fn interim_answers_leave_two_readings() {
        let (first, second) = ("HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nhi");
        check(Direction::Response, &format!("{first}{second}"), (true, true), &[second, "hi"]);
    }

    #[test]
    fn other_blocks_are_reported() {
        check(Direction::Response, "<html>", (false, false), &[""]);
        check(Direction::Response, "HTTP/1.1 200 OK\r\nA: b\r\n", (true, false), &[""]);
        check(Direction::Response, "SSH-2.0\r\n\r\nx", (false, true), &["x"]);
        check(Direction::Request, "GET\r\n\r\n", (false, true), &[""]);
        check(Direction::Request, "HTTP/1.1 200 OK\r\n\r\n", (false, true), &[""]);
    }
}
