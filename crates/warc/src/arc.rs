//! Reads ARC, the form that web archives had before WARC (versions 1 and 2, Burner and Kahle 1996).
//!
//! ```
//! let file = b"filedesc://a.arc 0.0.0.0 20260331090000 text/plain 68\n1 0 Example\n\
//!     URL IP-address Archive-date Content-type Archive-length\n\
//!     http://example.org/ 192.0.2.1 20260331090001 text/html 21\nHTTP/1.0 200 OK\r\n\r\nhi\n";
//! let record = warc::arc::ArcReader::new(std::io::Cursor::new(file), 1_000).next().expect("one record")?;
//! assert_eq!((record.url.as_str(), record.media_type.as_str()), ("http://example.org/", "text/html"));
//! assert_eq!(record.block, b"HTTP/1.0 200 OK\r\n\r\nhi");
//! # Ok::<(), warc::Error>(())
//! ```
//!
//! A record is one line (address of the page, address of the server, date, media type, length) and that many bytes: the
//! answer as it came. Files are plain, or hold one gzip member a record. Writers vary the line: tabs, several blanks,
//! URLs with blanks inside. So it is read from its right end, where the fields are unambiguous.
//!
//! **Invariant:** memory holds one line, one window and one block, cut to the given maximum. After damage it continues
//! at the next line that can begin a record. Damage is reported and never returned.

use crate::check::member::{Fault, Source};
use crate::read::{Error, Tail};
use base::Timestamp;
use std::io::{Read, Seek};
use std::net::IpAddr;

/// A record as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArcRecord {
    /// Where the record, or the gzip member that holds it, begins in the file.
    pub offset: u64,
    /// How many bytes of the file it takes.
    pub length: u64,
    /// The requested URL, as the file writes it.
    pub url: String,
    /// The address that answered, if it is valid.
    pub address: Option<IpAddr>,
    /// When, if that is a date.
    pub date: Option<Timestamp>,
    /// The media type that the crawler noted; may be empty.
    pub media_type: String,
    /// The whole line as the file writes it, without its end; what is not UTF-8 is replaced.
    pub line: String,
    /// The answer as received, cut to the given maximum.
    pub block: Vec<u8>,
    /// The full length of the answer.
    pub block_bytes: u64,
}

impl ArcRecord {
    /// Whether it describes the file itself (`filedesc:`).
    #[must_use]
    pub fn is_file_header(&self) -> bool {
        is_arc(self.url.as_bytes())
    }
    /// Whether [`ArcRecord::block`] is all of it.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.block.len() as u64 == self.block_bytes
    }
}

/// The longest line of a record: the longest URL with room to spare.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// What every file begins with, before its compression.
const BEGINNING: &[u8] = b"filedesc:";

/// Whether `content` is the beginning of an ARC file, uncompressed.
#[must_use]
pub fn is_arc(content: &[u8]) -> bool {
    content.starts_with(BEGINNING)
}

/// Reads the records of a file in their order, without those that describe the file itself unless they are wanted.
#[derive(Debug)]
pub struct ArcReader<R> {
    source: Source<R>,
    block_bytes_max: usize,
    /// Whether records are wanted that describe the file itself.
    with_headers: bool,
    line: Vec<u8>,
    offset: u64,
    /// A line was found after damage.
    is_resumed: bool,
    ended: bool,
}

enum Trouble {
    Damaged(&'static str),
    Cut,
    Source(Fault),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Source(fault)
    }
}

impl<R: Read + Seek> ArcReader<R> {
    /// Reads from the beginning; of each block at most `block_bytes_max` are kept.
    pub fn new(read: R, block_bytes_max: usize) -> Self {
        let (source, line) = (Source::new(read), Vec::new());
        Self {
            source,
            block_bytes_max,
            with_headers: false,
            line,
            offset: 0,
            is_resumed: false,
            ended: false,
        }
    }

    /// The same with the records that describe the file itself.
    #[must_use]
    pub fn with_file_headers(self) -> Self {
        Self { with_headers: true, ..self }
    }

    fn read_record(&mut self) -> Result<Option<ArcRecord>, Trouble> {
        loop {
            if !self.begin()? {
                return Ok(None);
            }
            let line = Line::read(&self.line).ok_or(Trouble::Damaged("no record begins here"))?;
            let block = self.read_block(line.length)?;
            self.read_end()?;
            if is_arc(line.url.as_bytes()) && !self.with_headers {
                continue;
            }
            let Line { url, address, date, media_type, length } = line;
            let line = String::from_utf8_lossy(&self.line).trim_end_matches(['\r', '\n']).to_owned();
            let length_in_file = self.source.place().saturating_sub(self.offset);
            return Ok(Some(ArcRecord {
                offset: self.offset,
                length: length_in_file,
                url,
                address,
                date,
                media_type,
                line,
                block,
                block_bytes: length,
            }));
        }
    }

    /// Reads the line of the next record; false at the end of the file.
    fn begin(&mut self) -> Result<bool, Trouble> {
        if std::mem::take(&mut self.is_resumed) {
            return Ok(true);
        }
        while let Some(b'\r' | b'\n') = self.source.fill()?.first() {
            self.source.consume(1);
        }
        let is_over = self.source.fill()?.is_empty();
        self.offset = self.source.offset();
        Ok(!is_over && self.read_line()?)
    }

    /// Reads one line, or as much of it as there is room for; false when there is none.
    fn read_line(&mut self) -> Result<bool, Fault> {
        self.line.clear();
        loop {
            let bytes = if self.line.is_empty() { self.source.fill()? } else { self.source.fill_member()? };
            let end = memchr::memchr(b'\n', bytes).map(|place| place + 1);
            let taken = end.unwrap_or(bytes.len()).min(LINE_BYTES_MAX - self.line.len());
            self.line.extend_from_slice(bytes.get(..taken).unwrap_or_default());
            self.source.consume(taken);
            if taken == 0 || self.line.ends_with(b"\n") {
                return Ok(!self.line.is_empty());
            }
        }
    }

    fn read_block(&mut self, length: u64) -> Result<Vec<u8>, Trouble> {
        let wanted = usize::try_from(length).unwrap_or(usize::MAX).min(self.block_bytes_max);
        let (mut block, mut left) = (Vec::new(), length);
        while left > 0 {
            let bytes = self.source.fill_member()?;
            if bytes.is_empty() {
                let is_plain = self.source.is_plain();
                return Err(if is_plain {
                    Trouble::Cut
                } else {
                    Trouble::Damaged("its member ends inside its block")
                });
            }
            let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
            let kept = taken.min(wanted - block.len());
            block.extend_from_slice(bytes.get(..kept).unwrap_or_default());
            left -= taken as u64;
            self.source.consume(taken);
        }
        Ok(block)
    }

    /// Skips the line ends after a block and, in a member that ends there, checks its checksum.
    fn read_end(&mut self) -> Result<(), Trouble> {
        while let Some(b'\r' | b'\n') = self.source.fill_member()?.first() {
            self.source.consume(1);
        }
        if self.source.take_notes(self.offset).is_empty() {
            Ok(())
        } else {
            Err(Trouble::Damaged("its checksum or its length is wrong"))
        }
    }

    /// Continues at the next line that can begin a record; false when there is none.
    fn resume(&mut self) -> Result<bool, Fault> {
        loop {
            let is_cut = self.line.len() >= LINE_BYTES_MAX && !self.line.ends_with(b"\n");
            if self.source.fill()?.is_empty() {
                return Ok(false);
            }
            self.offset = self.source.offset();
            self.read_line()?;
            // The rest of a line that was too long does not begin a record.
            if !is_cut && Line::read(&self.line).is_some() {
                self.is_resumed = true;
                return Ok(true);
            }
        }
    }

    /// Skips damage, including further damage after it.
    fn pass_damage(&mut self, mut fault: Option<Fault>) {
        loop {
            let result = match fault.take() {
                Some(Fault::Damaged(..)) => self.source.recover(Line::begins),
                Some(Fault::Io(error)) => Err(Fault::Io(error)),
                None => self.resume(),
            };
            match result {
                Ok(found) => {
                    self.ended = !found;
                    return;
                }
                Err(Fault::Io(_)) => {
                    self.ended = true;
                    return;
                }
                Err(damage) => fault = Some(damage),
            }
        }
    }

    fn error(&mut self, trouble: Trouble) -> Error {
        let offset = self.offset;
        match trouble {
            Trouble::Damaged(what) => {
                self.pass_damage(None);
                Error::Damaged { offset, what }
            }
            Trouble::Cut => {
                self.ended = true;
                let lost_bytes = self.source.place().saturating_sub(offset);
                Error::Cut(Tail { good_bytes: offset, lost_bytes })
            }
            Trouble::Source(Fault::Io(source)) => {
                self.ended = true;
                Error::Io { offset, source }
            }
            Trouble::Source(damage) => {
                let offset = self.source.member();
                self.pass_damage(Some(damage));
                Error::Damaged { offset, what: "its compressed bytes are invalid, or it is cut" }
            }
        }
    }
}

impl<R: Read + Seek> Iterator for ArcReader<R> {
    type Item = Result<ArcRecord, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let result = self.read_record();
        self.ended = matches!(result, Ok(None));
        result.map_err(|trouble| self.error(trouble)).transpose()
    }
}

/// The line of a record.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    url: String,
    address: Option<IpAddr>,
    date: Option<Timestamp>,
    media_type: String,
    length: u64,
}

impl Line {
    /// Reads `URL address date … length`. Between date and length stands the media type, in version 2 followed by
    /// fields that are not needed.
    fn read(line: &[u8]) -> Option<Self> {
        if !Self::begins(line) || line.len() >= LINE_BYTES_MAX {
            return None;
        }
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches(['\r', '\n', ' ', '\t']);
        let words: Vec<&str> = text.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
        let (last, before) = words.split_last()?;
        let length = crate::check::digits(last)?;
        let is_date = |place: &usize| before.get(*place).is_some_and(|word| can_be_date(word));
        let follows_address =
            |place: &usize| before.get(place - 1).is_some_and(|word| word.parse::<IpAddr>().is_ok());
        let mut places = (2..before.len()).rev().filter(is_date);
        let place = places.clone().find(follows_address).or_else(|| places.next())?;
        let url = before_word(text, words.len() - (place - 1));
        Some(Self {
            url: url.to_owned(),
            address: before.get(place - 1)?.parse().ok(),
            date: before.get(place).and_then(|digits| timestamp(digits)),
            media_type: before
                .get(place + 1)
                .map(|word| without_parameters(word))
                .unwrap_or_default()
                .to_owned(),
            length,
        })
    }

    /// Whether a line can begin a record: with the scheme of a URL.
    fn begins(line: &[u8]) -> bool {
        let scheme = line.get(..64).unwrap_or(line).split(|b| *b == b':').next().unwrap_or_default();
        let is_letter = |b: &u8| b.is_ascii_alphanumeric() || b"+-.".contains(b);
        line.get(scheme.len()) == Some(&b':')
            && scheme.first().is_some_and(u8::is_ascii_alphabetic)
            && scheme.iter().all(is_letter)
    }
}

fn without_parameters(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default()
}

/// What precedes the last `count` words of `text`.
fn before_word(text: &str, count: usize) -> &str {
    let blank = [' ', '\t'];
    let cut = |text: &'_ str| text.rfind(blank).unwrap_or_default();
    (0..count).fold(text, |text, _| text.get(..cut(text)).unwrap_or_default().trim_end_matches(blank))
}

fn can_be_date(word: &str) -> bool {
    (8..=20).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit())
}

/// The time of `YYYYMMDDhhmmss`; of a shorter one the beginning of the period it names.
fn timestamp(digits: &str) -> Option<Timestamp> {
    const FIRST: &str = "00000101000000";
    let full =
        format!("{}{}", digits.get(..14).unwrap_or(digits), FIRST.get(digits.len()..).unwrap_or_default());
    let part = |from, to| full.get(from..to).unwrap_or_default();
    let (year, month, day) = (part(0, 4), part(4, 6), part(6, 8));
    format!("{year}-{month}-{day}T{}:{}:{}Z", part(8, 10), part(10, 12), part(12, 14)).parse().ok()
}
