//! What the fuzz targets need of this crate's HTTP decoders, which are private otherwise.

use super::ExchangeLimits;
use super::chunks::{Chunks, State};
use super::head;
use base::http::Framing;

/// The head at the start of `bytes`, if there is one: its bytes, status and framing.
#[must_use]
pub fn response_head(bytes: &[u8], head_only: bool) -> Option<(Vec<u8>, u16, Framing)> {
    let head = head::read_bytes(bytes, head_only, &ExchangeLimits::default())?;
    Some((head.bytes, head.status, head.framing))
}

/// Feeds a chunked body in pieces of at most `piece_bytes`: how many bytes belong to it, and whether it ended in order.
#[must_use]
pub fn chunked_body(bytes: &[u8], piece_bytes: usize) -> (usize, bool) {
    let mut chunks = Chunks::new(ExchangeLimits::default().head_bytes_max);
    let taken = bytes.chunks(piece_bytes.max(1)).map(|piece| chunks.feed(piece)).sum();
    (taken, chunks.state() == State::Done)
}
