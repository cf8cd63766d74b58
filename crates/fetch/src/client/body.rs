//! The body of an answer, kept as it comes until its end, a limit, or the end of the connection.
//!
//! A body that is called chunked and is not (its first size cannot be read) is read until the connection closes, and
//! so it is marked. When the framing is lost later, the rest until the close is kept too, and the body is marked as
//! broken off: readers find the chunks before the loss.
//!
//! **Invariant:** a body is a beginning of what the server sent after the head; what is missing has a reason.

use super::Limits;
use super::chunks::{Chunks, State};
use super::wire::{Got, Wire};
use base::door::Truncation;
use base::http::Framing;

/// A body as it came.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    /// How its end was known in the event.
    pub(super) framing: Framing,
    pub(super) truncated: Option<Truncation>,
    /// Whether it ended where its framing says, and nothing came after it.
    pub(super) ended_cleanly: bool,
}

/// Reads the body that begins with `start`.
pub(super) async fn read(wire: &mut Wire<'_>, start: Vec<u8>, framing: Framing, limits: &Limits) -> Body {
    let mut reading = Reading::new(start, framing, limits);
    loop {
        if let Some(end) = reading.end().filter(|end| *end <= limits.body_bytes_max) {
            return reading.whole(end);
        }
        if reading.bytes.len() > limits.body_bytes_max {
            return reading.cut(limits.body_bytes_max);
        }
        match wire.more(&mut reading.bytes).await {
            Got::More => {}
            Got::End => return reading.closed(),
            Got::Broken(_) => return reading.broken(Truncation::Disconnect),
            Got::TimeOut(_) => return reading.broken(Truncation::Time),
        }
    }
}

struct Reading {
    bytes: Vec<u8>,
    framing: Framing,
    chunks: Chunks,
    /// How much of `bytes` the chunk framing accounts for.
    chunked_bytes: usize,
}

impl Reading {
    fn new(bytes: Vec<u8>, framing: Framing, limits: &Limits) -> Self {
        Self { bytes, framing, chunks: Chunks::new(limits.head_bytes_max), chunked_bytes: 0 }
    }

    /// Where the body ends, if that has been read.
    fn end(&mut self) -> Option<usize> {
        match self.framing {
            Framing::None => Some(0),
            Framing::Length(length) => {
                usize::try_from(length).ok().filter(|length| *length <= self.bytes.len())
            }
            Framing::Chunked => self.end_of_chunks(),
            Framing::UntilClose => None,
        }
    }

    fn end_of_chunks(&mut self) -> Option<usize> {
        let new = self.bytes.get(self.chunked_bytes..).unwrap_or_default();
        self.chunked_bytes += self.chunks.feed(new);
        if self.chunks.state() == State::NotChunked {
            self.framing = Framing::UntilClose;
        }
        (self.chunks.state() == State::Done).then_some(self.chunked_bytes)
    }

    fn whole(mut self, end: usize) -> Body {
        let ended_cleanly = self.bytes.len() == end;
        self.bytes.truncate(end);
        Body { ended_cleanly, ..self.ended(None) }
    }

    fn cut(mut self, bytes_max: usize) -> Body {
        self.bytes.truncate(bytes_max);
        self.ended(Some(Truncation::Length))
    }

    /// The connection was closed in good order: the end of a body without length, and of one whose last chunk has
    /// come; too early for any other.
    fn closed(self) -> Body {
        let is_whole = match self.framing {
            Framing::UntilClose | Framing::None => true,
            Framing::Chunked => self.chunks.state() == State::Last,
            Framing::Length(_) => false,
        };
        self.ended((!is_whole).then_some(Truncation::Disconnect))
    }

    /// The connection broke or fell silent. Once the last chunk has come, nothing is missing but trailers.
    fn broken(self, reason: Truncation) -> Body {
        let is_whole = self.framing == Framing::Chunked && self.chunks.state() == State::Last;
        self.ended((!is_whole).then_some(reason))
    }

    fn ended(self, truncated: Option<Truncation>) -> Body {
        Body { bytes: self.bytes, framing: self.framing, truncated, ended_cleanly: false }
    }
}
