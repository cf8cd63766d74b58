//! What a record says about the capture that it begins.
//!
//! The same facts are found while a capture is written and when the index is rebuilt from the files alone, because what
//! only the visit knew is in the record's head: what it saw ([`field::FLAG`]) and the digest of its content
//! ([`field::CONTENT`]).
//!
//! **Invariant:** describing a record that was written here gives the row that was written with it, except file number
//! and referenced bytes.

use crate::capture::entry::{ContentKey, Entry, Flag, Key, Location, Stored};
use base::http::{self, Framing};
use base::{ContentDigest, PageUrl, Sha1Digest, Timestamp};
use std::borrow::Cow;
use std::sync::Arc;
use warc::header::name;
use warc::{Fields, Kind, Record};

/// The names of our own fields.
pub(crate) mod field {
    /// What the visit saw: `changed`, `unchanged` or `error`.
    pub(crate) const FLAG: &str = "Utsushi-Flag";
    /// The digest of the content.
    pub(crate) const CONTENT: &str = "Utsushi-Content-Digest";
    /// In a record that replaces a removed one.
    pub(crate) const REMOVED: &str = "Utsushi-Padding";
    /// Proves that a record with a foreign id belongs to its position.
    pub(crate) const PLACE: &str = "Utsushi-Place";
    /// Irregularities of the answer, by name.
    pub(crate) const MARKS: &str = "Utsushi-Marks";
    /// Number of records of the capture, including this one.
    pub(crate) const RECORDS: &str = "Utsushi-Records";
    /// The block digest that an imported record stated, if it is not that of its block.
    pub(crate) const STATED_DIGEST: &str = "Utsushi-Stated-Block-Digest";
    /// The line that described an imported record in its ARC file.
    pub(crate) const ARC_LINE: &str = "Utsushi-ARC-Header";
}

/// The names of the fields in the metadata record of a visit without an answer.
pub(crate) mod visit {
    pub(crate) const OUTCOME: &str = "outcome";
    pub(crate) const PHASE: &str = "phase";
    pub(crate) const CAUSE: &str = "cause";
    pub(crate) const CAUSE_KIND: &str = "cause-kind";
    pub(crate) const RETRY_AFTER_SECONDS: &str = "retry-after-seconds";
    pub(crate) const TOOK_SECONDS: &str = "took-seconds";
    pub(crate) const REFUSAL: &str = "refusal";
    pub(crate) const RULE: &str = "rule";
}

/// The longest media type that is kept; longer texts are not media types.
const MEDIA_TYPE_BYTES_MAX: usize = 100;

/// What an answer says about itself.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) status: Option<u16>,
    pub(crate) media_type: Arc<str>,
    pub(crate) payload: Sha1Digest,
    pub(crate) has_payload: bool,
    pub(crate) content: ContentKey,
    pub(crate) moves_within: bool,
}

impl Facts {
    /// The facts of an answer to a request for `url`, from its head and its body as received.
    pub(crate) fn of_answer(url: &str, head: &[u8], body: &[u8], framing: Framing) -> Self {
        Self::of_known(url, head, body, framing, None)
    }

    /// The same when the digest of the content is `known` already, all codings removed: saves decoding and reading the
    /// answer.
    pub(crate) fn of_known(
        url: &str,
        head: &[u8],
        body: &[u8],
        framing: Framing,
        known: Option<ContentDigest>,
    ) -> Self {
        let status = http::status(head);
        let payload = http::payload(body, framing);
        let target = redirect(url, head, status);
        let content = match (&target, known) {
            (Some(target), _) => ContentKey::of(format!("{} {target}", status.unwrap_or(0)).as_bytes()),
            (None, Some(known)) => {
                let key = ContentKey::from(known);
                debug_assert_eq!(key, content_key(head, &payload), "`{url}`: the digest is of other content");
                key
            }
            (None, None) => content_key(head, &payload),
        };
        let own_key = || PageUrl::parse(url).ok().map(|url| url.key());
        Self {
            status,
            media_type: media_type(head),
            payload: Sha1Digest::of(&[&payload]),
            has_payload: !payload.is_empty(),
            content,
            moves_within: target
                .and_then(|target| PageUrl::parse(&target).ok())
                .is_some_and(|target| Some(target.key()) == own_key()),
        }
    }
}

/// Where a redirect leads, as a whole URL if it can be read as one.
fn redirect(url: &str, head: &[u8], status: Option<u16>) -> Option<String> {
    let is_redirect = matches!(status, Some(300..=303 | 305..=399));
    let location = http::field_text(head, "location").filter(|_| is_redirect)?;
    let whole = PageUrl::parse(url).and_then(|url| url.join(&location));
    Some(whole.map_or_else(|_| location.clone().into_owned(), |target| target.as_str().to_owned()))
}

/// The key of the content: with every coding removed, or as received if that is impossible.
fn content_key(head: &[u8], payload: &[u8]) -> ContentKey {
    match coding::content_of(head, Cow::Borrowed(payload)).whole() {
        Some(content) => ContentKey::of(&content),
        None => ContentKey::of(payload),
    }
}

fn media_type(head: &[u8]) -> Arc<str> {
    plain_media_type(http::field(head, "content-type").unwrap_or_default())
}

/// A media type without parameters, lower case; empty if it is none.
pub(crate) fn plain_media_type(value: &str) -> Arc<str> {
    let word = value.split(';').next().unwrap_or_default().trim();
    let is_token = |b: u8| b.is_ascii_graphic() && !b"\"(),:;<=>?@[\\]{}".contains(&b);
    let is_one = word.len() <= MEDIA_TYPE_BYTES_MAX && word.bytes().all(is_token);
    if is_one { Arc::from(word.to_ascii_lowercase()) } else { Arc::from("") }
}

/// The head of an answer, with its empty line, and the body.
pub fn split_answer(block: &[u8]) -> (&[u8], &[u8]) {
    let mut from = 0;
    while let Some(line_end) = memchr::memchr(b'\n', block.get(from..).unwrap_or_default()) {
        let next = from + line_end + 1;
        let rest = block.get(next..).unwrap_or_default();
        let end = if rest.starts_with(b"\r\n") {
            2
        } else if rest.starts_with(b"\n") {
            1
        } else {
            from = next;
            continue;
        };
        return block.split_at(next + end);
    }
    (block, &[])
}

/// How the body of an archived answer is framed.
pub(crate) fn framing(head: &[u8]) -> Framing {
    if http::is_chunked(head) { Framing::Chunked } else { Framing::UntilClose }
}

/// A body that is framed as the head `framed_by` says, framed as `head` says.
pub(crate) fn reframed<'b>(body: &'b [u8], framed_by: &[u8], head: &[u8]) -> Cow<'b, [u8]> {
    let (was, is) = (framing(framed_by), framing(head));
    let payload = http::payload(body, was);
    match is {
        _ if was == is => Cow::Borrowed(body),
        Framing::Chunked if payload.is_empty() => Cow::Borrowed(b"0\r\n\r\n"),
        Framing::Chunked => {
            let size = format!("{:x}\r\n", payload.len());
            Cow::Owned([size.as_bytes(), &payload, b"\r\n0\r\n\r\n"].concat())
        }
        _ => payload,
    }
}

/// The role of a record in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It describes the file and belongs to no capture.
    Warcinfo,
    /// It begins a capture with this number of records.
    First(u64),
    /// It belongs to the capture before it.
    Companion,
    /// It replaces something that was removed.
    Removed,
}

/// The role of a record in the file called `file`.
pub(crate) fn role(record: &Record, file: &str) -> Role {
    let fields = &record.fields;
    let kind = record.kind();
    if kind == Kind::Warcinfo && fields.get(name::FILENAME) == Some(file) {
        return Role::Warcinfo;
    }
    if fields.get(field::REMOVED).is_some() {
        return Role::Removed;
    }
    match fields.get(field::RECORDS).and_then(|count| count.parse().ok()) {
        Some(count) => Role::First(count),
        None if fields.get(name::CONCURRENT_TO).is_some() => Role::Companion,
        // Older captures do not state how many records they have.
        None if matches!(kind, Kind::Response | Kind::Revisit) => Role::First(2),
        None => Role::First(1),
    }
}

/// The entry of the capture that `record` begins; `None` if it has no target or no date. The caller, who knows the
/// bytes, fills in the group's length, the body and the checksum.
pub(crate) fn entry(record: &Record, file: &Arc<str>) -> Option<Entry> {
    let at = record.date()?;
    let kind = match record.kind() {
        Kind::Response => Stored::Response,
        Kind::Revisit => Stored::Revisit,
        Kind::Metadata if is_visit(record) => Stored::Metadata,
        Kind::Resource => Stored::Resource,
        _ => Stored::Other,
    };
    let url = target(record)?;
    let location = Location { file: Arc::clone(file), offset: record.offset, length: record.length };
    let bare = Entry {
        key: Key::of(&url),
        url,
        at,
        kind,
        flag: Flag::Error,
        status: None,
        media_type: Arc::from(""),
        payload: None,
        content: None,
        // A revisit states this of the body it leaves out.
        truncated: kind != Stored::Revisit && record.fields.get(name::TRUNCATED).is_some(),
        moves_within: false,
        group_bytes: location.length,
        location,
        body: None,
        sum: 0,
    };
    Some(match kind {
        Stored::Response | Stored::Revisit => answered(record, bare),
        Stored::Metadata => bare,
        Stored::Resource | Stored::Other => thing(record, bare),
    })
}

/// What a record is about; a foreign record that describes its file is identified by its id.
fn target(record: &Record) -> Option<String> {
    match record.target() {
        Some(target) => Some(target.to_owned()),
        None => {
            let id = record.fields.get(name::RECORD_ID)?.trim_matches(['<', '>']);
            Some(id.to_owned())
        }
    }
}

fn answered(record: &Record, bare: Entry) -> Entry {
    let (head, body) = split_answer(&record.block);
    let facts = Facts::of_answer(&bare.url, head, body, framing(head));
    let stated = record.fields.get(field::CONTENT).and_then(ContentKey::parse);
    let is_revisit = bare.kind == Stored::Revisit;
    // A 304 has no content of its own.
    let has_content = !is_revisit && facts.status != Some(304);
    let computed = (has_content && record.is_whole()).then_some(facts.content);
    let digest = (!is_revisit && record.is_whole()).then_some(facts.payload);
    Entry {
        flag: flag(&record.fields, bare.kind, facts.status),
        status: facts.status,
        media_type: facts.media_type,
        // The stated digest is of what its writer took for the payload, which may be the chunks (D8).
        payload: digest.or_else(|| record.payload_digest()),
        content: stated.or(computed),
        moves_within: facts.moves_within,
        ..bare
    }
}

fn thing(record: &Record, bare: Entry) -> Entry {
    let whole = record.is_whole().then(|| Sha1Digest::of(&[&record.block]));
    let content = record.is_whole().then(|| ContentKey::of(&record.block));
    let is_resource = bare.kind == Stored::Resource;
    Entry {
        flag: flag(&record.fields, bare.kind, None),
        status: None,
        media_type: plain_media_type(record.fields.get(name::CONTENT_TYPE).unwrap_or_default()),
        payload: record.payload_digest().or(whole).filter(|_| is_resource),
        content: record.fields.get(field::CONTENT).and_then(ContentKey::parse).or(content),
        ..bare
    }
}

/// What the visit saw: as the record states, otherwise derived from the answer.
fn flag(fields: &Fields, kind: Stored, status: Option<u16>) -> Flag {
    let stated = fields.get(field::FLAG).and_then(Flag::named);
    stated.unwrap_or(match (kind, status) {
        (Stored::Resource | Stored::Other, _) => Flag::Changed,
        (_, Some(304)) | (Stored::Revisit, Some(200..=399) | None) => Flag::Unchanged,
        (Stored::Response, Some(200..=399)) => Flag::Changed,
        _ => Flag::Error,
    })
}

/// Whether a metadata record describes a visit.
pub(crate) fn is_visit(record: &Record) -> bool {
    // Only our own metadata describes visits; bytes from the web never do (H16).
    let is_ours = record.fields.get(name::CONTENT_TYPE).is_none_or(|kind| kind == warc::WARC_FIELDS);
    is_ours && Fields::read(&record.block).is_ok_and(|fields| fields.decoded(visit::OUTCOME).is_some())
}

/// What a visit saw, when `latest` is the content that the page had before.
pub(crate) fn judge(facts: &Facts, latest: Option<ContentKey>) -> Flag {
    match facts.status {
        Some(304) => Flag::Unchanged,
        Some(200..=399) if facts.moves_within || latest == Some(facts.content) => Flag::Unchanged,
        Some(200..=399) => Flag::Changed,
        _ => Flag::Error,
    }
}

/// What a visit states about the content of its page (D7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentFact {
    /// The page has this content, if it is known.
    Content(Option<ContentKey>),
    /// The page is gone.
    Gone,
    /// Nothing is known about the content.
    Unknown,
}

/// What a visit states about the content of its page.
pub(crate) fn content_fact(
    kind: Stored,
    status: u16,
    moves_within: bool,
    content: Option<ContentKey>,
) -> ContentFact {
    match (kind, status) {
        // A 304 that is stored as a response: the page has its earlier content, which is unknown.
        (Stored::Metadata | Stored::Other, _) | (Stored::Response, 304) => ContentFact::Unknown,
        (Stored::Resource, _) => ContentFact::Content(content),
        (_, 404 | 410) => ContentFact::Gone,
        (_, 200..=399) if !moves_within => ContentFact::Content(content),
        _ => ContentFact::Unknown,
    }
}

/// The capture that a revisit refers to: its page, and its moment.
pub(crate) fn reference(record: &Record) -> Option<(Key, Timestamp)> {
    let target = record.fields.get(name::REFERS_TO_TARGET_URI)?.trim_matches(['<', '>']);
    Some((Key::of(target), warc::moment(record.fields.get(name::REFERS_TO_DATE)?)?))
}

/// What was requested, and when it was captured.
pub(crate) fn origin(record: &Record) -> Option<(String, Timestamp)> {
    Some((record.target()?.to_owned(), record.date()?))
}
