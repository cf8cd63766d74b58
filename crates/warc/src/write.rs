//! Writes records, each as a member of its own, so that a reader can begin at any of them.
//!
//! **Invariant:** a record is built only from values that passed the encoder of [`crate::header`]; its length and
//! digest are taken from the very bytes that are written.

use crate::header::{Fields, name};
use crate::member::zstandard::Compress;
use crate::member::{Compression, Deflate};
use crate::{Kind, Profile, RecordId};
use base::door::Truncation;
use base::{Sha1Digest, Timestamp};
use std::net::IpAddr;

/// The content type of an answer.
pub const HTTP_RESPONSE: &str = "application/http;msgtype=response";
/// The content type of a request.
pub const HTTP_REQUEST: &str = "application/http;msgtype=request";
/// The content type of named fields.
pub const WARC_FIELDS: &str = "application/warc-fields";

const VERSION: &[u8] = b"WARC/1.1\r\n";
const END: &[u8] = b"\r\n\r\n";

/// A record whose head is being written.
#[derive(Clone, Debug)]
pub struct Draft(Fields);

impl Draft {
    /// Begins a record.
    #[must_use]
    pub fn new(kind: &Kind, id: &RecordId, date: Timestamp) -> Self {
        let fields = Fields::new().text(name::TYPE, kind.as_str());
        Self(fields.uri(name::RECORD_ID, id.as_str()).text(name::DATE, &date.to_rfc3339()))
    }
    /// The same with the date as another record writes it: less precise, and of the same moment.
    #[must_use]
    pub fn dated(self, date: &str) -> Self {
        Self(self.0.replaced(name::DATE, date))
    }
    /// What was requested.
    #[must_use]
    pub fn target(self, uri: &str) -> Self {
        self.uri(name::TARGET_URI, uri)
    }
    /// The address that answered.
    #[must_use]
    pub fn address(self, address: IpAddr) -> Self {
        self.text(name::IP_ADDRESS, &address.to_string())
    }
    /// The record of the same exchange.
    #[must_use]
    pub fn concurrent_to(self, id: &RecordId) -> Self {
        self.uri(name::CONCURRENT_TO, id.as_str())
    }
    /// The record that describes the file.
    #[must_use]
    pub fn described_by(self, warcinfo: &RecordId) -> Self {
        self.uri(name::WARCINFO_ID, warcinfo.as_str())
    }
    /// The digest of the body without its transfer coding.
    #[must_use]
    pub fn payload_digest(self, digest: Sha1Digest) -> Self {
        self.text(name::PAYLOAD_DIGEST, &digest.to_string())
    }
    /// Why the body is incomplete.
    #[must_use]
    pub fn truncated(self, why: Truncation) -> Self {
        self.text(name::TRUNCATED, why.as_str())
    }
    /// The stored content that it refers to: the reason, its URL and its date.
    #[must_use]
    pub fn refers_to(self, why: Profile, uri: &str, date: Timestamp) -> Self {
        self.uri(name::PROFILE, why.as_str())
            .uri(name::REFERS_TO_TARGET_URI, uri)
            .text(name::REFERS_TO_DATE, &date.to_rfc3339())
    }
    /// A further field whose value is a text.
    #[must_use]
    pub fn text(self, name: &'static str, value: &str) -> Self {
        Self(self.0.text(name, value))
    }
    /// A further field whose value is a URI.
    #[must_use]
    pub fn uri(self, name: &'static str, value: &str) -> Self {
        Self(self.0.uri(name, value))
    }

    /// A further field from the head of another record.
    #[must_use]
    pub fn foreign(self, name: &str, value: &str) -> Self {
        Self(self.0.foreign(name, value))
    }

    pub(crate) fn into_fields(self) -> Fields {
        self.0
    }
    pub(crate) fn with_block(self, content_type: &str, block: &[&[u8]]) -> Fields {
        let length: usize = block.iter().map(|piece| piece.len()).sum();
        self.0
            .text(name::BLOCK_DIGEST, &Sha1Digest::of(block).to_string())
            .text(name::CONTENT_TYPE, content_type)
            .text(name::CONTENT_LENGTH, &length.to_string())
    }
}

/// Turns drafts into the bytes of a file.
#[derive(Debug)]
pub struct WarcWriter {
    pack: Pack,
    record: Vec<u8>,
}

#[derive(Debug)]
enum Pack {
    Gzip(Deflate),
    Zstd(Compress),
    Plain,
}

/// A larger buffer of a record is freed.
const BUFFER_BYTES_KEPT: usize = 4 * 1024 * 1024;

impl WarcWriter {
    /// A writer that compresses so; a [`Level`](crate::Level) alone means gzip.
    #[must_use]
    pub fn new(compression: impl Into<Compression>) -> Self {
        let pack = match compression.into() {
            Compression::Gzip(level) => Pack::Gzip(Deflate::new(level)),
            Compression::Zstd(level) => Pack::Zstd(Compress::new(level)),
            Compression::Plain => Pack::Plain,
        };
        Self { pack, record: Vec::new() }
    }

    /// Appends one record to `file`: a whole member. The block comes in pieces, to be joined.
    pub fn append(&mut self, draft: Draft, content_type: &str, block: &[&[u8]], file: &mut Vec<u8>) {
        let fields = draft.with_block(content_type, block);
        self.record.clear();
        let record = if matches!(self.pack, Pack::Plain) { &mut *file } else { &mut self.record };
        write_record(&fields, block, record);
        match &mut self.pack {
            Pack::Gzip(deflate) => deflate.append(&self.record, file),
            Pack::Zstd(compress) => compress.append(&self.record, file),
            Pack::Plain => {}
        }
        if self.record.capacity() > BUFFER_BYTES_KEPT {
            self.record = Vec::new();
        }
    }
}

pub(crate) fn write_record(fields: &Fields, block: &[&[u8]], record: &mut Vec<u8>) {
    record.extend_from_slice(VERSION);
    fields.write_to(record);
    record.extend_from_slice(b"\r\n");
    block.iter().for_each(|piece| record.extend_from_slice(piece));
    record.extend_from_slice(END);
}
