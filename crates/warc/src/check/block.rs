//! The block of a record while it streams by: its digests, the message or the fields it should hold.

use super::clause::{Clause, Field};
use super::digest::{Claim, Hasher, hex};
use super::fields::{essence, target};
use super::head::{Head, is_token};
use super::http::{Direction, Message};
use super::report::Report;
use crate::Kind;
use memchr::memmem;

/// A block that is being read.
#[derive(Debug)]
pub(super) struct Block {
    digest: Option<(Vec<u8>, Hasher)>,
    payload: Payload,
    /// The beginning of a block of named fields.
    text: Option<Vec<u8>>,
    length: u64,
    record_inside: Inside,
}

#[derive(Debug)]
enum Payload {
    /// There is nothing to check: no digest, or one of content outside this block.
    Elsewhere,
    /// The block itself.
    Whole(Vec<u8>, Hasher),
    /// The body of a message.
    Body(Direction, Option<Vec<u8>>, Message),
}

/// Maximum bytes of named fields that are checked.
const TEXT_BYTES_MAX: usize = 64 * 1024;

impl Block {
    pub(super) fn new(head: &Head, kind: &Kind) -> Self {
        let claim = |field| match head.get(field).map(Claim::read) {
            Some(Ok(Claim::Known(algorithm, bytes))) => Some((algorithm, bytes)),
            _ => None,
        };
        let digest = claim(Field::BlockDigest).map(|(algorithm, bytes)| (bytes, Hasher::new(algorithm)));
        let essence = head.get(Field::ContentType).map(essence);
        let is_segment = head.get(Field::SegmentNumber).is_some();
        let payload_claim = claim(Field::PayloadDigest).filter(|_| !is_segment);
        let payload = match (direction(head, kind, essence.as_deref()), kind, payload_claim) {
            (Some(direction), _, claim) => {
                let (algorithm, bytes) = claim.unzip();
                Payload::Body(direction, bytes, Message::new(direction, algorithm))
            }
            (
                None,
                Kind::Resource | Kind::Conversion | Kind::Response | Kind::Metadata,
                Some((algorithm, bytes)),
            ) => Payload::Whole(bytes, Hasher::new(algorithm)),
            _ => Payload::Elsewhere,
        };
        let is_fields = essence.as_deref() == Some("application/warc-fields");
        let text = (is_fields && matches!(kind, Kind::Warcinfo | Kind::Metadata)).then(Vec::new);
        Self { digest, payload, text, length: 0, record_inside: Inside::default() }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        if let Some((_, hasher)) = &mut self.digest {
            hasher.update(bytes);
        }
        match &mut self.payload {
            Payload::Whole(_, hasher) => hasher.update(bytes),
            Payload::Body(_, _, message) => message.update(bytes),
            Payload::Elsewhere => {}
        }
        if let Some(text) = &mut self.text {
            let room = TEXT_BYTES_MAX.saturating_sub(text.len()).min(bytes.len());
            text.extend_from_slice(bytes.get(..room).unwrap_or_default());
        }
        self.record_inside.update(bytes, self.length);
        self.length += bytes.len() as u64;
    }

    /// How much was read.
    pub(super) fn length(&self) -> u64 {
        self.length
    }
    /// Where in the block something that looks like a record begins.
    pub(super) fn record_inside(&self) -> Option<u64> {
        self.record_inside.found
    }

    /// Reports what is wrong with a block that was read to its end.
    pub(super) fn finish(self, report: &mut Report) {
        if let Some((claimed, hasher)) = self.digest {
            let computed = hasher.finish();
            if computed != claimed {
                report.wrong(Field::BlockDigest, mismatch("block", &claimed, &computed));
            }
        }
        match self.payload {
            Payload::Elsewhere => {}
            Payload::Whole(claimed, hasher) => {
                let computed = hasher.finish();
                if computed != claimed {
                    report.wrong(Field::PayloadDigest, mismatch("payload", &claimed, &computed));
                }
            }
            Payload::Body(..) if self.length == 0 => {}
            Payload::Body(direction, claimed, message) => finish_message(direction, claimed, message, report),
        }
        let is_cut = self.length > TEXT_BYTES_MAX as u64;
        if let Some(text) = self.text {
            check_fields(&text, is_cut, report);
        }
    }
}

/// Which way a message went, if the block holds one whose payload can be found.
fn direction(head: &Head, kind: &Kind, essence: Option<&str>) -> Option<Direction> {
    let direction = match kind {
        Kind::Response => Direction::Response,
        Kind::Request => Direction::Request,
        _ => return None,
    };
    let target = target(head);
    let over_http = target.starts_with("http:") || target.starts_with("https:");
    let is_http = essence.map_or(over_http, |essence| matches!(essence, "application/http" | "message/http"));
    is_http.then_some(direction)
}

fn finish_message(direction: Direction, claimed: Option<Vec<u8>>, message: Message, report: &mut Report) {
    let (clause, expected) = match direction {
        Direction::Response => (Clause::HttpResponse, "a status line such as `HTTP/1.1 200 OK`"),
        Direction::Request => (Clause::HttpRequest, "a request line such as `GET / HTTP/1.1`"),
    };
    let seen = message.finish();
    if !seen.has_first_line {
        report.advice(clause, format!("the block does not begin with {expected}"));
    }
    if !seen.has_end {
        report.advice(clause, "the block has no empty line after the fields of the message");
        return;
    }
    let Some(claimed) = claimed else { return };
    if !seen.digests.contains(&claimed) {
        let computed = seen.digests.last().map(Vec::as_slice).unwrap_or_default();
        report.wrong(Field::PayloadDigest, mismatch("payload", &claimed, computed));
    }
}

fn mismatch(what: &str, claimed: &[u8], computed: &[u8]) -> String {
    format!("the digest of the {what} is `{}`, but the record says `{}`", hex(computed), hex(claimed))
}

/// Named fields as a block. Writers vary them, so faults are advice.
fn check_fields(text: &[u8], is_cut: bool, report: &mut Report) {
    let whole = if is_cut {
        text.get(..text.iter().rposition(|b| *b == b'\n').unwrap_or_default())
    } else {
        Some(text)
    };
    let whole = whole.unwrap_or_default();
    let clause = Clause::Model;
    if std::str::from_utf8(whole).is_err() {
        report.advice(clause, "the named fields in the block are not UTF-8");
    }
    let lines = whole.split(|b| *b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let is_field = |line: &[u8]| match line.first() {
        None | Some(b' ' | b'\t') => true,
        Some(_) => line.iter().position(|b| *b == b':').is_some_and(|colon| {
            let name = line.get(..colon).unwrap_or_default();
            !name.is_empty() && name.iter().all(|b| is_token(*b))
        }),
    };
    let wrong = lines.filter(|line| !is_field(line)).count();
    if wrong > 0 {
        report.advice(
            clause,
            format!("`{wrong}` lines of the block are not named fields; expected `name: value`"),
        );
    }
}

/// Looks for the beginning of a record inside a block, swallowed by a wrong length.
#[derive(Debug, Default)]
struct Inside {
    found: Option<u64>,
    last: Vec<u8>,
}

const BEGINNING: &[u8] = b"\r\n\r\nWARC/1.";

impl Inside {
    fn update(&mut self, bytes: &[u8], offset: u64) {
        if self.found.is_some() {
            return;
        }
        let overlap = BEGINNING.len() - 1;
        let from = offset - self.last.len() as u64;
        self.last.extend_from_slice(bytes.get(..overlap.min(bytes.len())).unwrap_or_default());
        let across = memmem::find(&self.last, BEGINNING).map(|place| from + place as u64);
        let within = || memmem::find(bytes, BEGINNING).map(|place| offset + place as u64);
        self.found = across.or_else(within).map(|place| place + 4);
        if bytes.len() >= overlap {
            self.last.clear();
            self.last.extend_from_slice(bytes.get(bytes.len() - overlap..).unwrap_or_default());
        } else {
            self.last.drain(..self.last.len().saturating_sub(overlap));
        }
    }
}
