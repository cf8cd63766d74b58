//! What a client receives of a response that is sent badly: the bytes that arrive within the limits.
//!
//! **Invariant:** no message longer than the head limit plus the body limit is ever built.

use super::{DeliveryMode, WebResponse, with_body};
use base::Timestamp;
use base::door::{Cause, Failure, Phase, Times, Truncation};
use base::http::{self, Framing};
use base::limits::{
    BYTES_PER_SECOND_MIN, HEAD_BYTES_MAX, HEAD_FIELDS_MAX, IDLE_TIME_MAX, INTERIM_ANSWERS_MAX, SLOW_GRACE,
    VISIT_TIME_MAX,
};
use std::time::Duration;

/// The received part of a response.
#[derive(Debug)]
pub(super) struct Arrived {
    pub(super) head: Vec<u8>,
    pub(super) body: Vec<u8>,
    pub(super) status: u16,
    pub(super) framing: Framing,
    pub(super) truncated: Option<Truncation>,
    pub(super) times: Times,
}

/// Why no more bytes come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The connection was closed.
    Closed,
    /// There were enough.
    Enough,
    /// They came too slowly; this is how long the client waited.
    Slow(Duration),
}

/// A client's view of the bytes that arrive.
struct Reading {
    ending: Ending,
    head_only: bool,
    times: Times,
    /// Maximum number of body bytes that are read.
    limit: usize,
}

/// A response with irregular delivery.
pub(super) fn odd(
    answer: &WebResponse,
    now: Timestamp,
    head_only: bool,
    times: Times,
    limit: usize,
) -> Result<Arrived, Failure> {
    let most = HEAD_BYTES_MAX + limit;
    let (message, ending) = match answer.delivery {
        DeliveryMode::Drip(bytes, wait) => dripped(message(answer, now, head_only), bytes.max(1), wait),
        DeliveryMode::Endless if !head_only => {
            (repeated(&answer.head(now), &answer.body, most), Ending::Enough)
        }
        DeliveryMode::RawEndless(once) => {
            let (first, again) = answer.body.split_at(once.min(answer.body.len()));
            (repeated(first, again, most), Ending::Enough)
        }
        DeliveryMode::Raw => (answer.body.clone(), Ending::Closed),
        _ => (message(answer, now, head_only), Ending::Closed),
    };
    Reading { ending, head_only, times, limit }.read(&message)
}

fn message(answer: &WebResponse, now: Timestamp, head_only: bool) -> Vec<u8> {
    let mut message = answer.head(now);
    if !head_only && !matches!(answer.status, 204 | 304) {
        message.extend_from_slice(&answer.wire_body());
    }
    message
}

fn repeated(first: &[u8], again: &[u8], most: usize) -> Vec<u8> {
    let mut message = first.to_vec();
    while message.len() < most && !again.is_empty() {
        message.extend_from_slice(again);
    }
    message
}

/// The received bytes of a message that arrives in small pieces, up to the client's limits.
fn dripped(mut message: Vec<u8>, bytes: usize, wait: Duration) -> (Vec<u8>, Ending) {
    let pieces = message.len().div_ceil(bytes).saturating_sub(1);
    let whole = wait.saturating_mul(u32::try_from(pieces).unwrap_or(u32::MAX));
    let is_slow = (bytes as f64) < BYTES_PER_SECOND_MIN as f64 * wait.as_secs_f64();
    let patience = match () {
        () if wait > IDLE_TIME_MAX => IDLE_TIME_MAX,
        () if is_slow => SLOW_GRACE,
        () => VISIT_TIME_MAX,
    };
    if whole <= patience {
        return (message, Ending::Closed);
    }
    let arrived = 1 + (patience.as_nanos() / wait.as_nanos().max(1)) as usize;
    message.truncate(arrived.saturating_mul(bytes));
    (message, Ending::Slow(patience))
}

impl Reading {
    fn read(&self, message: &[u8]) -> Result<Arrived, Failure> {
        let mut rest = message;
        for _ in 0..=INTERIM_ANSWERS_MAX {
            let head = head(rest, self.ending).map_err(|cause| self.failure(cause))?;
            let status =
                http::status(head).ok_or_else(|| self.failure(Cause::Malformed("bad status line")))?;
            rest = &rest[head.len()..];
            if !(100..200).contains(&status) || status == 101 {
                return Ok(self.arrived(head, status, rest));
            }
        }
        Err(self.failure(Cause::Malformed("too many interim answers")))
    }

    fn failure(&self, cause: Cause) -> Failure {
        let took = if let Ending::Slow(waited) = self.ending { waited } else { self.times.total };
        Failure::new(Phase::Head, cause, took)
    }

    fn arrived(&self, head: &[u8], status: u16, rest: &[u8]) -> Arrived {
        let framing = if self.head_only { Framing::None } else { framing(head, status) };
        let (length, is_whole) = match framing {
            Framing::None => (0, true),
            Framing::Length(length) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                (length.min(rest.len()), length <= rest.len())
            }
            Framing::Chunked => chunks(rest),
            Framing::UntilClose => (rest.len(), self.ending == Ending::Closed),
        };
        let truncated = if length > self.limit { Some(Truncation::Length) } else { self.cut(is_whole) };
        let body = rest[..length.min(self.limit)].to_vec();
        let mut times = with_body(self.times, body.len());
        if let Ending::Slow(waited) = self.ending {
            times.total += waited;
        }
        Arrived { head: head.to_vec(), body, status, framing, truncated, times }
    }

    fn cut(&self, is_whole: bool) -> Option<Truncation> {
        let reason = match self.ending {
            Ending::Closed => Truncation::Disconnect,
            Ending::Enough => Truncation::Length,
            Ending::Slow(_) => Truncation::Time,
        };
        (!is_whole).then_some(reason)
    }
}

/// How the end of a body is known.
fn framing(head: &[u8], status: u16) -> Framing {
    if matches!(status, 100..200 | 204 | 304) {
        return Framing::None;
    }
    let last = |name| http::fields(head, name).flat_map(|value| value.split(',')).map(str::trim).last();
    let mut lengths = http::fields(head, "content-length").flat_map(|value| value.split(',')).map(str::trim);
    match last("transfer-encoding") {
        Some(coding) if coding.eq_ignore_ascii_case("chunked") => Framing::Chunked,
        Some(_) => Framing::UntilClose,
        None => match lengths.next().filter(|first| first.bytes().all(|b| b.is_ascii_digit())) {
            Some(first) if lengths.all(|other| other == first) => {
                first.parse().map_or(Framing::UntilClose, Framing::Length)
            }
            _ => Framing::UntilClose,
        },
    }
}

/// How many bytes of `rest` are chunks, and whether the last one is among them.
fn chunks(rest: &[u8]) -> (usize, bool) {
    let mut at = 0;
    while let Some((line, size)) = size_line(&rest[at..]) {
        let end = at.saturating_add(line).saturating_add(size).saturating_add(2);
        if end > rest.len() {
            break;
        }
        at = end;
        if size == 0 {
            return (at, true);
        }
    }
    (rest.len(), false)
}

/// The length of a chunk-size line, and the size.
fn size_line(rest: &[u8]) -> Option<(usize, usize)> {
    let end = rest.iter().take(4_096).position(|b| *b == b'\n')?;
    let digits = rest[..end].split(|b| *b == b';').next()?;
    let size = usize::from_str_radix(std::str::from_utf8(digits.trim_ascii()).ok()?, 16).ok()?;
    Some((end + 1, size))
}

/// The head of a message, with its empty line.
fn head(message: &[u8], ending: Ending) -> Result<&[u8], Cause> {
    if !message.iter().zip(b"HTTP/1.").all(|(found, wanted)| found == wanted) {
        return Err(Cause::Malformed("bad status line"));
    }
    let end = head_end(message).filter(|end| *end <= HEAD_BYTES_MAX);
    let end = match (end, ending) {
        (Some(end), _) => end,
        (None, Ending::Slow(waited)) => return Err(Cause::TimeOut(waited)),
        (None, _) if message.len() > HEAD_BYTES_MAX => return Err(Cause::Malformed("the head is too long")),
        (None, _) => return Err(Cause::Broken("the connection was closed within the head".to_owned())),
    };
    let head = &message[..end];
    if head.iter().filter(|b| **b == b'\n').count() > HEAD_FIELDS_MAX + 2 {
        return Err(Cause::Malformed("the head has too many fields"));
    }
    Ok(head)
}

fn head_end(message: &[u8]) -> Option<usize> {
    let breaks = message.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    breaks.map(|(at, _)| at + 1).find_map(|after| match message.get(after..)? {
        [b'\n', ..] => Some(after + 1),
        [b'\r', b'\n', ..] => Some(after + 2),
        _ => None,
    })
}
