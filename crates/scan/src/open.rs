//! A parcel becomes a document: its member unpacked, its codings removed, within bounds (H5).

use crate::document::ScanDocument;
use crate::wire::Arrived;
use archive::split_answer;
use base::http::{self, Framing};
use base::{Sha1Digest, limits};
use coding::Decoded;
use std::borrow::Cow;
use warc::Unpacker;

/// Opens one parcel after the other.
///
/// **Invariant:** of a document no more is in memory than its member, its block, and its decoded body, each within its cap.
#[derive(Debug)]
pub(crate) struct Opener {
    unpacker: Unpacker,
    document_bytes_max: usize,
}

/// Why a parcel holds nothing to analyse.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unfit(pub(crate) String);

impl Opener {
    /// Opens documents of at most `bytes_max` bytes.
    pub(crate) fn new(document_bytes_max: usize) -> Self {
        let block_bytes_max = document_bytes_max.saturating_add(limits::HEAD_BYTES_MAX).saturating_add(1);
        Self { unpacker: Unpacker::new(block_bytes_max), document_bytes_max }
    }

    /// Hands the document in `parcel` to `use_it`, with the coding that could not be removed, if there is one.
    pub(crate) fn open<T>(
        &mut self,
        parcel: &Arrived<'_>,
        use_it: impl FnOnce(&ScanDocument<'_>, Option<&str>) -> T,
    ) -> Result<T, Unfit> {
        let bytes_max = self.document_bytes_max;
        if parcel.sum.is_some_and(|sum| sum != crc32c::crc32c(parcel.member)) {
            let what =
                format!("the record at byte {} does not match the sum it was stored with", parcel.offset);
            return Err(Unfit(what));
        }
        let record =
            self.unpacker.unpack(parcel.member, parcel.offset).map_err(|error| Unfit(error.to_string()))?;
        if !record.is_whole() {
            return Err(too_long(bytes_max));
        }
        let (framed_by, body) =
            if parcel.is_answer { split_answer(record.block) } else { (&[][..], record.block) };
        // Nearly every head names no coding, and finding that out once is cheaper than asking for each.
        let is_plain = !has_codings(framed_by);
        let framing =
            if !is_plain && http::is_chunked(framed_by) { Framing::Chunked } else { Framing::UntilClose };
        let payload = http::payload(body, framing);
        if parcel.payload.is_some_and(|digest| digest != Sha1Digest::of(&[&payload])) {
            return Err(Unfit("the bytes it refers to are not those it was stored for".to_owned()));
        }
        let payload_bytes = payload.len() as u64;
        let mut unknown = None;
        let content = match is_plain {
            true => Decoded::Whole(Cow::Borrowed(&*payload)),
            false => coding::content_of(framed_by, Cow::Borrowed(&*payload)),
        };
        let content = match content {
            Decoded::Whole(content) => content,
            Decoded::Broken { got } => Cow::Owned(got),
            Decoded::Capped(_) => return Err(Unfit("it unpacks to more than may be unpacked".to_owned())),
            Decoded::Unknown(coding) => {
                unknown = Some(coding);
                Cow::Borrowed(&*payload)
            }
        };
        if content.len() > bytes_max {
            return Err(too_long(bytes_max));
        }
        let document = ScanDocument {
            number: parcel.number,
            url: parcel.url,
            fields: parcel.fields,
            http_head: parcel.head.unwrap_or(framed_by),
            body: &content,
            stored_bytes: parcel.member.len() as u64,
            payload_bytes,
        };
        Ok(use_it(&document, unknown.as_deref()))
    }
}

fn too_long(bytes_max: usize) -> Unfit {
    Unfit(format!("it is longer than `{bytes_max}` bytes, the most that is handed to an analysis"))
}

/// Whether a head may name a coding: all fields that do are called something with `encoding`.
fn has_codings(head: &[u8]) -> bool {
    const WORD: &[u8] = b"ncoding";
    let mut rest = head;
    while let Some(place) = memchr::memchr2(b'n', b'N', rest) {
        let found = rest.get(place..).unwrap_or_default();
        if found.get(..WORD.len()).is_some_and(|found| found.eq_ignore_ascii_case(WORD)) {
            return true;
        }
        rest = found.get(1..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_that_names_a_coding_is_told_from_one_that_does_not() {
        for (head, expected) in [
            ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: chunked\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\ncontent-eNcodinG:br\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\nContent-Type: text/html; nnncodin\r\n\r\n", false),
            ("", false),
        ] {
            assert_eq!(has_codings(head.as_bytes()), expected, "{head}");
        }
    }
}
