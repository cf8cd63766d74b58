//! Finds the end of a chunked body (RFC 9112 §7.1) while its bytes arrive in pieces of any size.
//!
//! It is as tolerant as [`base::http::payload`], which reads the same bytes later: a line may end in a bare line feed,
//! and a size may have spaces around it.
//!
//! **Invariant:** each byte is read once; size lines and trailers are bounded.

/// The maximum length of a line with a chunk's size and extensions.
const SIZE_LINE_BYTES_MAX: usize = 4_096;

/// The state of a chunked body.
#[derive(Debug)]
pub(super) struct Chunks {
    place: Place,
    sizes_read: u64,
    line_bytes: usize,
    trailer_bytes: usize,
    trailer_bytes_max: usize,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    /// Before or in the digits of a size.
    Size(Option<u64>),
    /// After the digits; an extension may follow.
    SizeEnd(u64),
    /// In the extensions of a chunk of this size.
    Extension(u64),
    /// In a chunk, with this many bytes to come.
    Data(u64),
    /// After a chunk, before its line break.
    AfterData { saw_return: bool },
    /// In the trailer section; whether the current line is empty so far.
    Trailer { is_empty: bool },
    /// After the end.
    Done,
    /// After something that is not a chunk.
    Broken,
}

/// The meaning of the bytes so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// There is more to come.
    Open,
    /// The last chunk is complete, its trailers are not.
    Last,
    /// The body has ended.
    Done,
    /// This is not chunked at all: even the first size is invalid.
    NotChunked,
    /// The framing is lost after at least one chunk.
    Broken,
}

impl Chunks {
    pub(super) fn new(trailer_bytes_max: usize) -> Self {
        Self { place: Place::Size(None), sizes_read: 0, line_bytes: 0, trailer_bytes: 0, trailer_bytes_max }
    }

    pub(super) fn state(&self) -> State {
        match self.place {
            Place::Done => State::Done,
            Place::Broken if self.sizes_read == 0 => State::NotChunked,
            Place::Broken => State::Broken,
            Place::Trailer { .. } => State::Last,
            _ => State::Open,
        }
    }

    /// Processes the next bytes and returns how many of them belong to the body.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> usize {
        let mut rest = bytes;
        while !matches!(self.place, Place::Done | Place::Broken) {
            rest = match (self.place, rest) {
                (_, []) => break,
                (Place::Data(left), _) => self.skip_data(left, rest),
                (_, [byte, after @ ..]) => {
                    self.take(*byte);
                    after
                }
            };
        }
        bytes.len() - rest.len()
    }

    fn skip_data<'a>(&mut self, left: u64, rest: &'a [u8]) -> &'a [u8] {
        let here = usize::try_from(left).map_or(rest.len(), |left| left.min(rest.len()));
        let left = left - here as u64;
        self.place = if left == 0 { Place::AfterData { saw_return: false } } else { Place::Data(left) };
        rest.get(here..).unwrap_or_default()
    }

    fn take(&mut self, byte: u8) {
        self.place = match self.place {
            Place::Size(_) | Place::SizeEnd(_) | Place::Extension(_) => self.in_size_line(byte),
            Place::Trailer { is_empty } => self.in_trailer(byte, is_empty),
            Place::AfterData { saw_return: false } if byte == b'\r' => Place::AfterData { saw_return: true },
            Place::AfterData { .. } if byte == b'\n' => Place::Size(None),
            _ => Place::Broken,
        };
    }

    fn in_size_line(&mut self, byte: u8) -> Place {
        self.line_bytes += 1;
        let next = match (self.place, byte) {
            (Place::Size(Some(size)) | Place::SizeEnd(size) | Place::Extension(size), b'\n') => {
                self.size_read(size)
            }
            _ if self.line_bytes == SIZE_LINE_BYTES_MAX => None,
            (Place::Size(None), b' ' | b'\t') => Some(Place::Size(None)),
            (Place::Size(Some(size)) | Place::SizeEnd(size), b' ' | b'\t' | b'\r') => {
                Some(Place::SizeEnd(size))
            }
            (Place::Size(Some(size)) | Place::SizeEnd(size), b';') | (Place::Extension(size), _) => {
                Some(Place::Extension(size))
            }
            (Place::Size(size), digit) => with_digit(size, digit),
            _ => None,
        };
        next.unwrap_or(Place::Broken)
    }

    fn size_read(&mut self, size: u64) -> Option<Place> {
        self.line_bytes = 0;
        self.sizes_read += 1;
        Some(if size == 0 { Place::Trailer { is_empty: true } } else { Place::Data(size) })
    }

    fn in_trailer(&mut self, byte: u8, is_empty: bool) -> Place {
        self.trailer_bytes += 1;
        match byte {
            b'\n' if is_empty => Place::Done,
            _ if self.trailer_bytes >= self.trailer_bytes_max => Place::Broken,
            b'\n' => Place::Trailer { is_empty: true },
            b'\r' => Place::Trailer { is_empty },
            _ => Place::Trailer { is_empty: false },
        }
    }
}

/// A size with one more digit; `None` if it is not a digit or the size is too large.
fn with_digit(size: Option<u64>, digit: u8) -> Option<Place> {
    let digit = char::from(digit).to_digit(16)?;
    let size = size.unwrap_or(0).checked_mul(16)?.checked_add(u64::from(digit))?;
    Some(Place::Size(Some(size)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Chance;
    use base::http::{Framing, payload};

    /// Feeds `body` at once and byte by byte: both must agree on the state and on the length of the body.
    #[track_caller]
    fn check(body: &str, state: State, bytes: usize) {
        let mut whole = Chunks::new(64);
        assert_eq!((whole.feed(body.as_bytes()), whole.state()), (bytes, state), "{body:?}");
        let mut slow = Chunks::new(64);
        let fed: usize = body.bytes().map(|byte| slow.feed(&[byte])).sum();
        assert_eq!((fed, slow.state()), (bytes, state), "{body:?} byte by byte");
    }

    #[test]
    fn a_chunked_body_ends_behind_its_last_chunk_and_trailers() {
        check("4\r\nWiki\r\n0\r\n\r\n", State::Done, 14);
        check("4\r\nWiki\r\n0\r\n\r\nHTTP/1.1", State::Done, 14);
        check("4\nWiki\n0\n\nrest", State::Done, 10);
        check(" 4 ;a=\"b\"\r\nWiki\r\n00;x\r\nT: u\r\n\r\n", State::Done, 31);
        check("4\r\nWi", State::Open, 5);
        check("0\r\n", State::Last, 3);
        check("0\r\nT: u\r\n", State::Last, 9);
        check("", State::Open, 0);
    }

    #[test]
    fn what_is_not_chunked_is_noticed_at_once() {
        check("<html>", State::NotChunked, 1);
        check("\r\n", State::NotChunked, 1);
        check("ffffffffffffffffff\r\n", State::NotChunked, 17);
        check("4\r\nWiki\r\nzz\r\npedia", State::Broken, 10);
        check("4\r\nWikipedia", State::Broken, 8);
        check("4 4\r\n", State::NotChunked, 3);
        check(&format!("4;{}", "x".repeat(5_000)), State::NotChunked, 4_096);
        check(&format!("0\r\n{}", "x".repeat(5_000)), State::Broken, 3 + 64);
    }

    #[test]
    fn the_end_agrees_with_what_readers_take_for_the_payload() {
        let mut chance = Chance::new(9);
        for _ in 0..20_000 {
            let length = chance.index(24);
            let body: String =
                (0..length).map(|_| *chance.pick(&['0', '1', '2', 'x', '\r', '\n', ';', ' '])).collect();
            let mut chunks = Chunks::new(64);
            let end = chunks.feed(body.as_bytes());
            if chunks.state() == State::Done {
                let framed = payload(body.as_bytes(), Framing::Chunked);
                assert_eq!(payload(&body.as_bytes()[..end], Framing::Chunked), framed, "{body:?}");
            }
        }
    }
}
