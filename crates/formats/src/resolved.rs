//! A revisit as a whole answer: a `response` record that every replay program reads.
//!
//! The record has the date, the URL and the head of the revisit, and the body that is stored elsewhere. For a 304, the
//! head is that of the page's previous answer. The records are new, so they have new ids.

use crate::pick::Line;
use crate::source::{self, Source};
use crate::{Error, Place};
use base::http::{self, Framing};
use base::{Sha1Digest, Timestamp};
use warc::header::name;
use warc::{Draft, HTTP_RESPONSE, Kind, Level, Record, RecordId, WarcWriter};

/// A resolved revisit and what belongs to it.
pub(crate) struct Resolved {
    /// One gzip member a record.
    pub(crate) members: Vec<u8>,
    /// How long the first of them is.
    pub(crate) first_bytes: u64,
    /// What an index says about it.
    pub(crate) line: Option<Line>,
}

/// Fields that make a record a revisit, that concern its position in the original file, or that are written again.
const LEFT_OUT: [&str; 16] = [
    name::TYPE,
    name::RECORD_ID,
    name::DATE,
    name::BLOCK_DIGEST,
    name::CONTENT_TYPE,
    name::CONTENT_LENGTH,
    name::PAYLOAD_DIGEST,
    name::TRUNCATED,
    name::PROFILE,
    name::REFERS_TO_TARGET_URI,
    name::REFERS_TO_DATE,
    "WARC-Refers-To",
    name::CONCURRENT_TO,
    name::WARCINFO_ID,
    "Utsushi-Place",
    "Utsushi-Synced-Bytes",
];

impl Resolved {
    /// Resolves the revisit at `place`, to be written at `offset` of the file called `file`.
    pub(crate) fn read(place: &Place, source: &impl Source, file: &str, offset: u64) -> Result<Self, Error> {
        let stored = source::stored(source, place)?;
        let records = warc::WarcReader::new(&*stored, usize::MAX).collect::<Result<Vec<Record>, _>>();
        let records = records.map_err(|error| Error::io("read a revisit")(std::io::Error::other(error)))?;
        let unreadable = || Error::io("read a revisit")(std::io::ErrorKind::InvalidData.into());
        let (main, companions) = records.split_first().ok_or_else(unreadable)?;
        let at = main.date().ok_or_else(unreadable)?;
        let answer = source::answer(source, place)?;
        let (mut new, mut members) =
            (New { file, offset, at, writer: WarcWriter::new(Level::DEFAULT) }, Vec::new());
        let payload = payload_digest(&answer);
        let draft = |draft: Draft| draft.payload_digest(payload);
        let id = new.append(main, &Kind::Response, draft, (HTTP_RESPONSE, &answer), &mut members);
        let first_bytes = members.len() as u64;
        for companion in companions {
            let content_type = companion.fields.get(name::CONTENT_TYPE).unwrap_or("application/octet-stream");
            let draft = |draft: Draft| draft.concurrent_to(&id);
            let block = (content_type, companion.block.as_slice());
            new.append(companion, &companion.kind(), draft, block, &mut members);
        }
        let line = Line::of_answer(main, &answer, payload);
        Ok(Self { members, first_bytes, line })
    }
}

/// Where records are written.
struct New<'a> {
    file: &'a str,
    offset: u64,
    at: Timestamp,
    writer: WarcWriter,
}

impl New<'_> {
    fn append(
        &mut self,
        old: &Record,
        kind: &Kind,
        further: impl FnOnce(Draft) -> Draft,
        (content_type, block): (&str, &[u8]),
        members: &mut Vec<u8>,
    ) -> RecordId {
        let at = old.date().unwrap_or(self.at);
        let id = RecordId::at(self.file, self.offset + members.len() as u64, at, kind);
        let is_kept = |field: &str| !LEFT_OUT.iter().any(|name| name.eq_ignore_ascii_case(field));
        let kept = old.fields.iter().filter(|(field, _)| is_kept(field));
        let draft = kept.fold(Draft::new(kind, &id, at), |draft, (field, value)| draft.foreign(field, value));
        self.writer.append(further(draft), content_type, &[block], members);
        id
    }
}

/// The digest of the body without its transfer coding.
fn payload_digest(answer: &[u8]) -> Sha1Digest {
    let (head, body) = archive::split_answer(answer);
    let framing = if http::is_chunked(head) { Framing::Chunked } else { Framing::UntilClose };
    Sha1Digest::of(&[&http::payload(body, framing)])
}
