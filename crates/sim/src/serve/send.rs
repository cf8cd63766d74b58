//! Sends a response by its `DeliveryMode`, well or badly.
//!
//! **Invariant:** every wait has a limit: a client that does not read, or has disconnected, ends the response.

use super::ledger::Pending;
use super::wire::{Gone, Stream, Wire};
use crate::{DeliveryMode, WebResponse};
use base::Timestamp;
use std::time::Duration;

/// Maximum bytes of one write while there is more.
const PIECE_BYTES: usize = 64 * 1024;
/// Bytes held back until the request is closed in the ledger.
const LAST_BYTES: usize = 16 * 1024;
/// Maximum time that a request is left without a response.
const HANG_TIME_MAX: Duration = Duration::from_secs(600);

/// Whether the connection may be reused.
pub(super) type Sent = Result<(), Gone>;

/// A response and what is needed to send it.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) answer: WebResponse,
    pub(super) now: Timestamp,
    pub(super) head_only: bool,
    pub(super) pending: Pending,
    /// Factor applied to all waits.
    pub(super) slowness: f64,
}

impl Reply {
    /// Sends it; an error means that the connection ends here.
    pub(super) async fn send<S: Stream>(mut self, wire: &mut Wire<S>) -> Sent {
        self.pending.answered(&self.answer);
        match self.answer.delivery {
            DeliveryMode::Plain | DeliveryMode::Chunked(_) => self.whole(wire).await,
            DeliveryMode::Late(wait) => {
                wire.wait(self.scaled(wait)).await?;
                self.whole(wire).await
            }
            DeliveryMode::Drip(bytes, wait) => self.drip(wire, bytes.max(1), self.scaled(wait)).await,
            DeliveryMode::WrongLength(_) => self.whole(wire).await.and(Err(Gone::Finished)),
            DeliveryMode::Raw => self.raw(wire).await.and(Err(Gone::Finished)),
            DeliveryMode::Endless => self.endless(wire).await,
            DeliveryMode::RawEndless(once) => self.raw_endless(wire, once).await,
            DeliveryMode::Hang => {
                self.pending.unanswered();
                wire.wait(self.scaled(HANG_TIME_MAX)).await.and(Err(Gone::Cut))
            }
            DeliveryMode::Close => {
                self.pending.unanswered();
                self.pending.close();
                Err(Gone::Cut)
            }
        }
    }

    fn scaled(&self, wait: Duration) -> Duration {
        wait.mul_f64(self.slowness)
    }

    fn message(&self, output: &mut Vec<u8>) {
        output.extend_from_slice(&self.answer.head(self.now));
        if !self.head_only && !matches!(self.answer.status, 204 | 304) {
            output.extend_from_slice(&self.answer.wire_body());
        }
    }

    async fn whole<S: Stream>(&mut self, wire: &mut Wire<S>) -> Sent {
        let mut output = wire.take_output();
        self.message(&mut output);
        let sent = self.send_last(wire, &output).await;
        wire.give_back(output);
        sent
    }

    async fn raw<S: Stream>(&mut self, wire: &mut Wire<S>) -> Sent {
        let body = std::mem::take(&mut self.answer.body);
        self.send_last(wire, &body).await
    }

    /// Sends `bytes` as the end of the response; only what fits into a socket buffer is sent after the entry is closed.
    async fn send_last<S: Stream>(&mut self, wire: &mut Wire<S>, bytes: &[u8]) -> Sent {
        let (most, last) = bytes.split_at(bytes.len().saturating_sub(LAST_BYTES));
        self.pieces(wire, most).await?;
        self.pending.sent(last.len());
        self.pending.close();
        wire.write(last).await
    }

    async fn pieces<S: Stream>(&mut self, wire: &mut Wire<S>, bytes: &[u8]) -> Sent {
        for piece in bytes.chunks(PIECE_BYTES) {
            let before = self.pending.now();
            wire.write(piece).await?;
            self.pending.reached(before);
            self.pending.sent(piece.len());
        }
        Ok(())
    }

    async fn drip<S: Stream>(&mut self, wire: &mut Wire<S>, bytes: usize, wait: Duration) -> Sent {
        let mut output = Vec::new();
        self.message(&mut output);
        let last = output.len().saturating_sub(bytes);
        for drop in output.get(..last).unwrap_or_default().chunks(bytes) {
            self.pieces(wire, drop).await?;
            wire.wait(wait).await?;
        }
        self.send_last(wire, output.get(last..).unwrap_or_default()).await
    }

    async fn endless<S: Stream>(&mut self, wire: &mut Wire<S>) -> Sent {
        let head = self.answer.head(self.now);
        if self.head_only || self.answer.body.is_empty() {
            return self.send_last(wire, &head).await.and(Err(Gone::Finished));
        }
        self.pieces(wire, &head).await?;
        let body = std::mem::take(&mut self.answer.body);
        self.again_and_again(wire, &body).await
    }

    async fn raw_endless<S: Stream>(&mut self, wire: &mut Wire<S>, once: usize) -> Sent {
        let body = std::mem::take(&mut self.answer.body);
        let (once, again) = body.split_at(once.min(body.len()));
        if again.is_empty() {
            return self.send_last(wire, once).await.and(Err(Gone::Finished));
        }
        self.pieces(wire, once).await?;
        self.again_and_again(wire, again).await
    }

    async fn again_and_again<S: Stream>(&mut self, wire: &mut Wire<S>, bytes: &[u8]) -> Sent {
        let times = (PIECE_BYTES / bytes.len()).max(1);
        let piece = bytes.repeat(times);
        loop {
            self.pieces(wire, &piece).await?;
        }
    }
}
