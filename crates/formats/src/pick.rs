//! Chosen versions in disk order of their records, with the originals that revisits need (A5).
//!
//! A revisit says that a body is stored elsewhere. A reader of the revisit needs that body, so the record that holds
//! it is picked too, chosen or not, and once, however many revisits refer to it.
//!
//! A 304 has no content of its own, and other programs would show an empty page for it. So it is an
//! [`Also`](Pick::Also) of its original: the same bytes at another time.
//!
//! **Invariant:** each record is picked once; its other times follow directly. Memory is bounded by that of the sorter.

use crate::sort::{Sorted, Sorter};
use crate::{Error, Place, Row};
use base::{Sha1Digest, Timestamp};
use std::path::Path;
use std::sync::Arc;
use warc::Kind;

/// Maximum bytes sorted in memory.
const SORT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Takes versions in any order.
#[derive(Debug)]
pub struct Picker {
    sorter: Sorter,
    resolves: bool,
}

impl Picker {
    /// Takes versions, spooling to `directory` what does not fit into memory.
    #[must_use]
    pub fn new(directory: &Path) -> Self {
        Self { sorter: Sorter::new(directory, SORT_BYTES_MAX), resolves: false }
    }

    /// The same for a file in which every revisit whose body is known is written as a whole answer.
    #[must_use]
    pub fn resolving(directory: &Path) -> Self {
        Self { resolves: true, ..Self::new(directory) }
    }

    /// Picks a version and what it needs.
    pub fn add(&mut self, row: &Row) -> Result<(), Error> {
        let body = row.body.as_ref().filter(|_| row.is_revisit());
        if self.resolves && body.is_some() {
            return self.sorter.push(&encode(&row.place, &What::Resolved(row.title.clone())));
        }
        let is_shown_by_original = body.is_some() && row.status == Some(304);
        let is_shown = matches!(row.kind, Kind::Response | Kind::Revisit | Kind::Resource);
        let line = (is_shown && !is_shown_by_original).then(|| Line::of(row));
        self.sorter.push(&encode(&row.place, &What::Chosen(line)))?;
        let Some(body) = body else { return Ok(()) };
        self.sorter.push(&encode(body, &What::Original(row.payload, row.title.clone())))?;
        if is_shown_by_original {
            self.sorter.push(&encode(body, &What::Also(row.url.clone(), row.at)))?;
        }
        Ok(())
    }

    /// The picked records in the order of file and offset.
    pub fn finish(self) -> Result<Picks, Error> {
        Ok(Picks { sorted: self.sorter.finish()?, last: None })
    }
}

/// What a line of an index says about a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What was requested.
    pub url: String,
    /// When.
    pub at: Timestamp,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// The media type in lower case without its parameters; empty if unknown.
    pub media_type: Arc<str>,
    /// The digest of the body without its transfer coding.
    pub payload: Option<Sha1Digest>,
    /// Whether the body is stored elsewhere.
    pub is_revisit: bool,
    /// The title of the page, if it is known.
    pub title: Option<String>,
}

impl Line {
    /// The line of a version.
    #[must_use]
    pub fn of(row: &Row) -> Self {
        Self {
            url: row.url.clone(),
            at: row.at,
            status: row.status,
            media_type: row.media_type.clone(),
            payload: row.payload,
            is_revisit: row.is_revisit(),
            title: row.title.clone(),
        }
    }
    /// The line of a revisit that is written as `answer`.
    pub(crate) fn of_answer(revisit: &warc::Record, answer: &[u8], payload: Sha1Digest) -> Option<Self> {
        let media_type = base::http::field(answer, "content-type").unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default();
        Some(Self {
            url: revisit.target()?.to_owned(),
            at: revisit.date()?,
            status: base::http::status(answer),
            media_type: media_type.trim().to_ascii_lowercase().into(),
            payload: Some(payload),
            is_revisit: false,
            title: None,
        })
    }
    /// The line of a record; `None` without target or date.
    #[must_use]
    pub fn read(record: &warc::Record, payload: Option<Sha1Digest>) -> Option<Self> {
        let is_answer = matches!(record.kind(), Kind::Response | Kind::Revisit);
        let own_type = record.fields.get(warc::header::name::CONTENT_TYPE);
        let media_type = if is_answer { base::http::field(&record.block, "content-type") } else { own_type };
        let media_type = media_type.unwrap_or_default().split(';').next().unwrap_or_default();
        Some(Self {
            url: record.target()?.to_owned(),
            at: record.date()?,
            status: if is_answer { base::http::status(&record.block) } else { None },
            media_type: media_type.trim().to_ascii_lowercase().into(),
            payload: payload.or_else(|| record.payload_digest()),
            is_revisit: record.kind() == Kind::Revisit,
            title: None,
        })
    }
}

/// An item of the picked records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    /// A capture that was chosen. It has no line if it has nothing to show.
    Chosen(Place, Option<Line>),
    /// A record that was not chosen, but holds what a chosen one needs; with the digest and the title of its body.
    Original(Place, Option<Sha1Digest>, Option<String>),
    /// The record before is also this page at this time.
    Also(String, Timestamp),
    /// A revisit to write as a whole answer; with the title of its body.
    Resolved(Place, Option<String>),
}

/// Returns picks in order.
#[derive(Debug)]
pub struct Picks {
    sorted: Sorted,
    last: Option<(Arc<str>, u64)>,
}

impl Picks {
    fn pick(&mut self) -> Result<Option<Pick>, Error> {
        loop {
            let Some(item) = self.sorted.next()? else { return Ok(None) };
            let (place, what) = decode(item)
                .ok_or_else(|| Error::io("read what was spooled")(std::io::ErrorKind::InvalidData.into()))?;
            let address = Some((place.file.clone(), place.offset));
            let is_new = self.last != address;
            self.last = address;
            match what {
                What::Also(url, at) => return Ok(Some(Pick::Also(url, at))),
                What::Resolved(title) if is_new => return Ok(Some(Pick::Resolved(place, title))),
                What::Chosen(line) if is_new => return Ok(Some(Pick::Chosen(place, line))),
                What::Original(payload, title) if is_new => {
                    return Ok(Some(Pick::Original(place, payload, title)));
                }
                What::Chosen(_) | What::Original(..) | What::Resolved(_) => {}
            }
        }
    }
}

impl Iterator for Picks {
    type Item = Result<Pick, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.pick().transpose()
    }
}

enum What {
    Chosen(Option<Line>),
    Original(Option<Sha1Digest>, Option<String>),
    Also(String, Timestamp),
    Resolved(Option<String>),
}

/// An item that sorts by file, offset and kind: chosen before original before also.
fn encode(place: &Place, what: &What) -> Vec<u8> {
    let mut item = Vec::with_capacity(256);
    item.extend_from_slice(place.file.as_bytes());
    item.push(0);
    item.extend_from_slice(&place.offset.to_be_bytes());
    item.push(match what {
        What::Chosen(_) => 0,
        What::Original(..) => 1,
        What::Also(..) => 2,
        What::Resolved(_) => 3,
    });
    item.extend_from_slice(&place.record_bytes.to_be_bytes());
    item.extend_from_slice(&place.group_bytes.to_be_bytes());
    item.push(u8::from(place.sum.is_some()));
    item.extend_from_slice(&place.sum.unwrap_or_default().to_be_bytes());
    match what {
        What::Chosen(None) => {}
        What::Resolved(title) => push_title(&mut item, title.as_deref()),
        What::Chosen(Some(line)) => push_line(&mut item, line),
        What::Original(payload, title) => {
            push_payload(&mut item, *payload);
            push_title(&mut item, title.as_deref());
        }
        What::Also(url, at) => {
            item.extend_from_slice(&at.as_micros().to_be_bytes());
            item.extend_from_slice(url.as_bytes());
        }
    }
    item
}

fn push_line(item: &mut Vec<u8>, line: &Line) {
    item.extend_from_slice(&line.at.as_micros().to_be_bytes());
    item.push(u8::from(line.is_revisit));
    item.extend_from_slice(&line.status.unwrap_or(0).to_be_bytes());
    push_payload(item, line.payload);
    push_title(item, line.title.as_deref());
    item.extend_from_slice(&u32::try_from(line.media_type.len()).unwrap_or(u32::MAX).to_be_bytes());
    item.extend_from_slice(line.media_type.as_bytes());
    item.extend_from_slice(line.url.as_bytes());
}

fn push_payload(item: &mut Vec<u8>, payload: Option<Sha1Digest>) {
    let text = payload.map(|payload| payload.to_string()).unwrap_or_default();
    item.push(u8::try_from(text.len()).expect("a digest is a short text"));
    item.extend_from_slice(text.as_bytes());
}

/// An empty title means no title.
fn push_title(item: &mut Vec<u8>, title: Option<&str>) {
    let title = title.unwrap_or_default();
    item.extend_from_slice(&u32::try_from(title.len()).expect("a title is a short text").to_be_bytes());
    item.extend_from_slice(title.as_bytes());
}

fn decode(item: &[u8]) -> Option<(Place, What)> {
    let name_end = item.iter().position(|b| *b == 0)?;
    let file = std::str::from_utf8(item.get(..name_end)?).ok()?;
    let mut rest = item.get(name_end + 1..)?;
    let offset = u64::from_be_bytes(take(&mut rest)?);
    let [tag] = take(&mut rest)?;
    let (record_bytes, group_bytes) =
        (u64::from_be_bytes(take(&mut rest)?), u64::from_be_bytes(take(&mut rest)?));
    let ([has_sum], sum) = (take(&mut rest)?, u32::from_be_bytes(take(&mut rest)?));
    let sum = (has_sum != 0).then_some(sum);
    let what = match tag {
        0 if rest.is_empty() => What::Chosen(None),
        0 => What::Chosen(Some(take_line(rest)?)),
        1 => What::Original(take_payload(&mut rest)?, take_title(&mut rest)?),
        3 => What::Resolved(take_title(&mut rest)?),
        _ => {
            let at = take_time(&mut rest)?;
            What::Also(take_rest(rest)?, at)
        }
    };
    Some((Place { file: file.into(), offset, record_bytes, group_bytes, sum }, what))
}

fn take_line(mut rest: &[u8]) -> Option<Line> {
    let at = take_time(&mut rest)?;
    let [is_revisit] = take(&mut rest)?;
    let status = Some(u16::from_be_bytes(take(&mut rest)?)).filter(|status| *status != 0);
    let payload = take_payload(&mut rest)?;
    let title = take_title(&mut rest)?;
    let type_bytes = usize::try_from(u32::from_be_bytes(take(&mut rest)?)).ok()?;
    let (media_type, url) = rest.split_at_checked(type_bytes)?;
    let media_type = std::str::from_utf8(media_type).ok()?.into();
    Some(Line { url: take_rest(url)?, at, status, media_type, payload, is_revisit: is_revisit != 0, title })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, left) = rest.split_first_chunk()?;
    *rest = left;
    Some(*taken)
}

fn take_time(rest: &mut &[u8]) -> Option<Timestamp> {
    Timestamp::from_micros(i64::from_be_bytes(take(rest)?))
}

fn take_payload(rest: &mut &[u8]) -> Option<Option<Sha1Digest>> {
    let [length] = take(rest)?;
    let (text, left) = rest.split_at_checked(usize::from(length))?;
    *rest = left;
    if text.is_empty() { Some(None) } else { std::str::from_utf8(text).ok()?.parse().ok().map(Some) }
}

fn take_title(rest: &mut &[u8]) -> Option<Option<String>> {
    let length = usize::try_from(u32::from_be_bytes(take(rest)?)).ok()?;
    let (title, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(Some(take_rest(title)?).filter(|title| !title.is_empty()))
}

fn take_rest(rest: &[u8]) -> Option<String> {
    String::from_utf8(rest.to_vec()).ok()
}
