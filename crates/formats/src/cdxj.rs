//! CDXJ: one line a version, sorted, as pywb, wabac.js and cdxj-indexer write and read it.
//!
//! `KEY STAMP {"url": …, "mime": …, "status": …, "digest": …, "length": …, "offset": …, "filename": …}`
//!
//! The key is a [`surt`], the stamp has 14 digits. All values are texts, even numbers, because old and new readers
//! expect that; unknown values are left out. A revisit has the type `warc/revisit`, and the line of its original is
//! there too, so that it resolves.
//!
//! **Invariant:** lines are sorted bytewise, and nothing from the web can end one (H16).

mod surt;

pub use surt::surt;

use crate::json::Object;
use crate::pick::{Line, Pick, Picks};
use crate::row::is_page;
use crate::sort::{Sorted, Sorter};
use crate::source::{self, Source};
use crate::{Error, Place};
use base::{ContentDigest, Timestamp};
use std::io::Write;
use std::path::Path;

/// The type that replaces a revisit's own.
const REVISIT: &str = "warc/revisit";
/// Enough that no two pages of a list share an id by chance.
const PAGE_ID_BYTES: usize = 10;
/// Maximum bytes sorted in memory.
const SORT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The line of a record at `place`, without its end.
#[must_use]
pub fn line(line: &Line, place: &Place) -> String {
    let media_type = if line.is_revisit { REVISIT } else { &line.media_type };
    let mut object = Object::default().text("url", &line.url);
    if !media_type.is_empty() {
        object = object.text("mime", media_type);
    }
    if let Some(status) = line.status {
        object = object.text("status", &status.to_string());
    }
    if let Some(payload) = line.payload {
        object = object.text("digest", &payload.to_string());
    }
    let object = object
        .text("length", &place.record_bytes.to_string())
        .text("offset", &place.offset.to_string())
        .text("filename", &place.file);
    format!("{} {} {}", surt(&line.url), line.at.to_stamp(), object.finish())
}

/// Writes the lines of the picked records with their locations. Returns how many.
///
/// Originals that were not chosen are read from `source` to see what they are. What does not fit into memory is
/// spooled to `directory`.
pub fn write(
    picks: Picks,
    source: &impl Source,
    directory: &Path,
    out: &mut impl Write,
) -> Result<u64, Error> {
    let mut lines = Lines::new(directory);
    for pick in picks {
        match pick? {
            Pick::Chosen(place, line) => lines.record(line, place)?,
            Pick::Original(place, payload, _) => {
                let line = Line::read(&source::record(source, &place)?, payload);
                lines.record(line, place)?;
            }
            Pick::Also(url, at) => lines.also(url, at)?,
            // The line is about the record as it is stored.
            Pick::Resolved(place, _) => {
                let line = Line::read(&source::record(source, &place)?, None);
                lines.record(line, place)?;
            }
        }
    }
    let mut sorted = lines.finish()?;
    let mut count = 0;
    while let Some(item) = sorted.next()? {
        let (line, _) = halves(item);
        out.write_all(line).and_then(|()| out.write_all(b"\n")).map_err(Error::io("write the CDXJ"))?;
        count += 1;
    }
    Ok(count)
}

/// Collects the lines of records in any order.
#[derive(Debug)]
pub(crate) struct Lines {
    sorter: Sorter,
    last: Option<(Line, Place)>,
}

impl Lines {
    pub(crate) fn new(directory: &Path) -> Self {
        Self { sorter: Sorter::new(directory, SORT_BYTES_MAX), last: None }
    }
    /// Adds the line of a record, if it has one.
    pub(crate) fn record(&mut self, line: Option<Line>, place: Place) -> Result<(), Error> {
        self.last = line.map(|line| (line, place));
        self.push()
    }
    /// Adds a line for the record before under another URL or time.
    pub(crate) fn also(&mut self, url: String, at: Timestamp) -> Result<(), Error> {
        if let Some((line, _)) = &mut self.last {
            (line.url, line.at) = (url, at);
        }
        self.push()
    }
    /// All lines in order. Each is followed, after a zero byte, by its entry in the list of pages, if it is a page.
    pub(crate) fn finish(self) -> Result<Sorted, Error> {
        self.sorter.finish()
    }

    fn push(&mut self) -> Result<(), Error> {
        let Some((found, place)) = &self.last else { return Ok(()) };
        let mut item = line(found, place).into_bytes();
        item.push(0);
        if is_page(&found.media_type) && found.status.is_none_or(|status| (200..300).contains(&status)) {
            item.extend_from_slice(page(found).as_bytes());
        }
        self.sorter.push(&item)
    }
}

/// An entry in a list of pages. Its id is made of URL and time, so that it is the same in every list.
fn page(line: &Line) -> String {
    let time = line.at.to_rfc3339();
    let digest = ContentDigest::of(format!("{time} {}", line.url).as_bytes());
    let id = digest
        .as_bytes()
        .iter()
        .take(PAGE_ID_BYTES)
        .fold(String::new(), |id, byte| format!("{id}{byte:02x}"));
    let page = Object::default().text("id", &id).text("url", &line.url).text("ts", &time);
    let page = match &line.title {
        Some(title) => page.text("title", title),
        None => page,
    };
    page.finish()
}

/// The line, and its entry in the list of pages.
pub(crate) fn halves(item: &[u8]) -> (&[u8], &[u8]) {
    let end = item.iter().position(|b| *b == 0).unwrap_or(item.len());
    (item.get(..end).unwrap_or_default(), item.get(end + 1..).unwrap_or_default())
}
