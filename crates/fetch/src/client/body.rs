//! The body of a response, kept as received until its end, a limit, or the end of the connection.
//!
//! A body that is declared chunked but is not (its first size is invalid) is read until the connection closes and marked
//! so. If the framing is lost later, the rest until the close is kept too, and the body is marked as truncated: readers
//! find the chunks before the loss.
//!
//! **Invariant:** a body is a prefix of what the server sent after the head; a truncation has a reason.

use super::ExchangeLimits;
use super::chunks::{Chunks, State};
use super::store::{Room, Sink, Store};
use super::wire::{Got, Wire};
use base::door::Truncation;
use base::http::Framing;

/// A body as received.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) bytes: base::Body,
    /// How its end was found.
    pub(super) framing: Framing,
    pub(super) truncated: Option<Truncation>,
    /// Whether its framing differs from what the head declares.
    pub(super) is_in_doubt: bool,
    /// The bytes received.
    pub(super) end: End,
}

/// The state of the connection after a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The body ended as framed, and nothing came after it.
    Clean,
    /// More came after it.
    BytesBehind,
    /// The body ended with the connection, or was not read to its end.
    Closed,
}

/// Reads the body that starts with `start`.
pub(super) async fn read(
    wire: &mut Wire<'_>,
    start: Vec<u8>,
    framing: Framing,
    limits: &ExchangeLimits,
    store: &Store,
) -> Body {
    let mut reading = Reading::new(store.sink(start), framing, limits);
    let (truncated, end) = reading.run(wire, limits).await;
    reading.ended(truncated, end).await
}

struct Reading<'a> {
    sink: Sink<'a>,
    framing: Framing,
    chunks: Chunks,
    /// The number of new bytes already processed.
    looked_at: usize,
    /// The number of bytes of the body that the chunk framing covers.
    chunked_bytes: usize,
}

impl<'a> Reading<'a> {
    fn new(sink: Sink<'a>, framing: Framing, limits: &ExchangeLimits) -> Self {
        Self { sink, framing, chunks: Chunks::new(limits.head_bytes_max), looked_at: 0, chunked_bytes: 0 }
    }

    /// Reads until the body ends, one way or another.
    async fn run(&mut self, wire: &mut Wire<'_>, limits: &ExchangeLimits) -> (Option<Truncation>, End) {
        loop {
            if let Some(end) = self.end().filter(|end| *end <= limits.body_bytes_max) {
                return (None, self.whole(end));
            }
            if self.sink.len() > limits.body_bytes_max {
                self.sink.truncate(limits.body_bytes_max);
                return (Some(Truncation::Length), End::Closed);
            }
            self.looked_at = self.sink.fresh.len();
            if self.sink.settle().await == Room::Spent {
                return (Some(Truncation::Room), End::Closed);
            }
            self.looked_at = self.looked_at.min(self.sink.fresh.len());
            let missing = self.missing();
            let truncated = match wire.more(&mut self.sink.fresh, missing).await {
                Got::More => continue,
                Got::End => self.closed(),
                Got::Broken(_) => self.broken(Truncation::Disconnect),
                Got::TimeOut(_) => self.broken(Truncation::Time),
            };
            return (truncated, End::Closed);
        }
    }

    /// The end of the body, if it has been received.
    fn end(&mut self) -> Option<usize> {
        match self.framing {
            Framing::None => Some(0),
            Framing::Length(length) => {
                usize::try_from(length).ok().filter(|length| *length <= self.sink.len())
            }
            Framing::Chunked => self.end_of_chunks(),
            Framing::UntilClose => None,
        }
    }

    fn end_of_chunks(&mut self) -> Option<usize> {
        let new = self.sink.fresh.get(self.looked_at..).unwrap_or_default();
        self.chunked_bytes += self.chunks.feed(new);
        if self.chunks.state() == State::NotChunked {
            self.framing = Framing::UntilClose;
        }
        (self.chunks.state() == State::Done).then_some(self.chunked_bytes)
    }

    /// The number of bytes known to be missing.
    fn missing(&self) -> usize {
        match self.framing {
            Framing::Length(length) => {
                usize::try_from(length).unwrap_or(usize::MAX).saturating_sub(self.sink.len())
            }
            _ => 0,
        }
    }

    fn whole(&mut self, end: usize) -> End {
        let is_clean = self.sink.len() == end;
        self.sink.truncate(end);
        if is_clean { End::Clean } else { End::BytesBehind }
    }

    /// The connection was closed cleanly: this ends a body without a length, and one whose last chunk is complete; it is
    /// too early for any other.
    fn closed(&self) -> Option<Truncation> {
        let is_whole = match self.framing {
            Framing::UntilClose | Framing::None => true,
            Framing::Chunked => self.chunks.state() == State::Last,
            Framing::Length(_) => false,
        };
        (!is_whole).then_some(Truncation::Disconnect)
    }

    /// The connection broke or timed out. After the last chunk only trailers are missing.
    fn broken(&self, reason: Truncation) -> Option<Truncation> {
        let is_whole = self.framing == Framing::Chunked && self.chunks.state() == State::Last;
        (!is_whole).then_some(reason)
    }

    async fn ended(self, truncated: Option<Truncation>, end: End) -> Body {
        let is_in_doubt = matches!(self.chunks.state(), State::NotChunked | State::Broken);
        let (framing, (bytes, is_whole)) = (self.framing, self.sink.finish().await);
        let truncated = truncated.or((!is_whole).then_some(Truncation::Room));
        Body { bytes, framing, truncated, is_in_doubt, end }
    }
}
