//! Reads records in order, in one pass, with bounded memory.
//!
//! Three forms are read, in one file too: one gzip member a record, one zstd frame a record, and plain. Members that
//! fit into memory are unpacked whole; longer and damaged ones go through a window. A record is returned only after its
//! whole member was read with a right checksum, so damage is never returned (M5).
//!
//! A file that was compressed as a whole holds many records in one member. They are read in their order and say that
//! they are [not alone](RecordRef::is_alone): none can be read from its offset alone, and the checksum of a member that
//! does not fit into memory is checked only after the last.
//!
//! **Invariant:** memory holds one buffer of the file, one unpacked member, one head of at most [`HEAD_BYTES_MAX`] and
//! one block of at most the given maximum, whatever the file claims. Reading ends at the first error, unless
//! [`resume`](WarcReader::resume) is called.

mod apart;
mod input;
mod layout;
mod resume;
mod single;
mod unpack;

use crate::head::{Head, Place};
use crate::header::HEAD_BYTES_MAX;
use crate::member::stream::Stream;
use crate::member::whole::{Tried, Whole, whole_bytes_max};
use crate::member::zstandard::{self, DICTIONARY_BYTES_MAX, Dictionary, SKIPPABLE_HEAD_BYTES, Zstd};
use crate::member::{Fault, Form};
use crate::record::{Record, RecordRef};
use input::{INPUT_BYTES, Input};
use layout::{Wrong, find_record};
pub use resume::Lost;
use std::io::{self, BufRead, Read};
use std::ops::Range;
pub use unpack::Unpacker;

/// Why a file cannot be read further.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file itself cannot be read.
    #[error("cannot read the record at byte `{offset}`")]
    Io {
        /// Where the record begins.
        offset: u64,
        /// The system's error.
        source: io::Error,
    },
    /// What is there is not a record.
    #[error("the record at byte `{offset}` is damaged: {what}")]
    Damaged {
        /// Where it should begin.
        offset: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The file ends inside a record.
    #[error("the file ends inside a record: its first `{}` bytes are whole, the last `{}` are not", .0.good_bytes, .0.lost_bytes)]
    Cut(Tail),
}

/// The end of a file that was not closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Up to here every record is whole.
    pub good_bytes: u64,
    /// How much follows.
    pub lost_bytes: u64,
}

/// Reads the records of a file in their order.
#[derive(Debug)]
pub struct WarcReader<R> {
    input: Input<R>,
    whole: Whole,
    stream: Stream,
    zstd: Zstd,
    head: Vec<u8>,
    places: Vec<Place>,
    block: Vec<u8>,
    offset: u64,
    block_bytes_max: usize,
    inside: Inside,
    ended: bool,
    lost: Option<Lost>,
}

/// Whether the next record lies in the member of the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Nothing,
    /// At this place of the member that was unpacked whole.
    Whole(usize),
    Stream,
}

/// A record that was read, of which the bytes lie in the reader.
#[derive(Debug)]
struct Found {
    held: Held,
    length: u64,
    is_alone: bool,
    block_bytes: u64,
}

/// Where the bytes of a record are.
#[derive(Debug)]
enum Held {
    /// In the input: head and block.
    Input(Range<usize>, Range<usize>),
    /// In the member that was unpacked whole: head and block.
    Whole(Range<usize>, Range<usize>),
    /// In separate buffers.
    Apart,
}

/// With fewer bytes ahead than this, more are read before a member is tried.
const AHEAD_BYTES: usize = 64 * 1024;
const _: () = assert!(AHEAD_BYTES < INPUT_BYTES);

impl<R: Read> WarcReader<R> {
    /// Reads from the beginning; of each block at most `block_bytes_max` are kept.
    pub fn new(read: R, block_bytes_max: usize) -> Self {
        Self::starting_at(read, 0, block_bytes_max)
    }
    /// Reads from something that stands at `offset` of its file already.
    ///
    /// A zstd file that begins with a dictionary can be read from its middle only [with it](WarcReader::with_dictionary).
    pub fn starting_at(read: R, offset: u64, block_bytes_max: usize) -> Self {
        let whole_bytes = whole_bytes_max(block_bytes_max);
        Self {
            input: Input::new(read, offset, (whole_bytes / 4).max(INPUT_BYTES)),
            whole: Whole::new(whole_bytes),
            stream: Stream::new(),
            zstd: Zstd::default(),
            head: Vec::new(),
            places: Vec::new(),
            block: Vec::new(),
            offset,
            block_bytes_max,
            inside: Inside::Nothing,
            ended: false,
            lost: None,
        }
    }
    /// The same, for a file whose frames refer to `dictionary`.
    #[must_use]
    pub fn with_dictionary(mut self, dictionary: Dictionary) -> Self {
        self.zstd.set_dictionary(dictionary);
        self
    }
    /// The dictionary that the file began with, once the first record was read.
    pub fn dictionary(&self) -> Option<&Dictionary> {
        self.zstd.dictionary()
    }

    /// The next record, lent until the one after it is read.
    pub fn advance(&mut self) -> Option<Result<RecordRef<'_>, Error>> {
        match self.step()? {
            Ok(found) => Some(Ok(self.view(&found))),
            Err(error) => Some(Err(error)),
        }
    }
    /// As much of the head of the record that reading failed at as was read, to look for the reason.
    pub fn damaged_head(&self) -> &[u8] {
        &self.head
    }

    fn step(&mut self) -> Option<Result<Found, Error>> {
        if self.ended {
            return None;
        }
        let found = self.read_record().map_err(|fault| self.error(fault)).transpose();
        self.ended = !matches!(found, Some(Ok(_)));
        found
    }

    fn view(&self, found: &Found) -> RecordRef<'_> {
        let (head, block) = match &found.held {
            Held::Input(head, block) => part(self.input.buffer(), head, block),
            Held::Whole(head, block) => part(self.whole.content(), head, block),
            Held::Apart => (&*self.head, &*self.block),
        };
        RecordRef {
            offset: self.offset,
            length: found.length,
            is_alone: found.is_alone,
            head: Head::new(head, &self.places),
            block,
            block_bytes: found.block_bytes,
        }
    }

    fn read_record(&mut self) -> Result<Option<Found>, Fault> {
        self.head.clear();
        let form = match self.inside {
            Inside::Whole(place) => return self.take_whole(place).map(Some),
            Inside::Stream => return self.stream_record().map(Some),
            Inside::Nothing => self.find_start()?,
        };
        let Some(form) = form else { return Ok(None) };
        if self.input.unread().len() < AHEAD_BYTES {
            self.input.look_further()?;
        }
        let found = if form == Form::Plain { self.find_plain()? } else { self.unpack_whole(form)? };
        if found.is_some() {
            return Ok(found);
        }
        self.stream.begin(form, &mut self.input, &mut self.zstd)?;
        self.stream_record().map(Some)
    }

    /// Skips to the next record; `None` at the end of the file.
    fn find_start(&mut self) -> Result<Option<Form>, Fault> {
        loop {
            self.offset = self.input.position();
            let bytes = self.input.peek(SKIPPABLE_HEAD_BYTES)?;
            let Some(first) = bytes.first() else { return Ok(None) };
            if matches!(first, b'\r' | b'\n') {
                self.input.consume(1);
            } else if zstandard::skippable(bytes).is_some() {
                self.skip_frames()?;
            } else if let Some(form) = Form::beginning_with(*first) {
                return Ok(Some(form));
            } else if zstandard::may_be_skippable(bytes) && bytes.len() < SKIPPABLE_HEAD_BYTES {
                return Err(Fault::Cut);
            } else {
                return Err(Fault::Damaged(layout::NO_RECORD));
            }
        }
    }

    /// Skips zstd frames that hold no record. The dictionary among them, at the beginning of the file, is kept.
    fn skip_frames(&mut self) -> Result<(), Fault> {
        while let Some(frame) = zstandard::skippable(self.input.peek(SKIPPABLE_HEAD_BYTES)?) {
            let is_first = self.input.position() == 0;
            self.input.consume(SKIPPABLE_HEAD_BYTES);
            if is_first && frame.is_dictionary {
                self.read_dictionary(frame.bytes)?;
            } else {
                self.skip(frame.bytes.into())?;
            }
        }
        Ok(())
    }

    fn read_dictionary(&mut self, bytes: u32) -> Result<(), Fault> {
        if bytes as usize > DICTIONARY_BYTES_MAX {
            return Err(Fault::Damaged("its dictionary is too long"));
        }
        let mut content = Vec::new();
        if (&mut self.input).take(bytes.into()).read_to_end(&mut content)? < bytes as usize {
            return Err(Fault::Cut);
        }
        if let Some(dictionary) = Dictionary::of_frame(&content)? {
            self.zstd.set_dictionary(dictionary);
        }
        Ok(())
    }

    fn skip(&mut self, mut bytes: u64) -> Result<(), Fault> {
        while bytes > 0 {
            let unread = self.input.fill_buf()?.len();
            let taken = usize::try_from(bytes).unwrap_or(usize::MAX).min(unread);
            if taken == 0 {
                return Err(Fault::Cut);
            }
            self.input.consume(taken);
            bytes -= taken as u64;
        }
        Ok(())
    }

    /// The plain record that the input stands at, if all of it fits into the buffer.
    fn find_plain(&mut self) -> Result<Option<Found>, Fault> {
        let layout = loop {
            let unread = self.input.unread();
            let wrong = match find_record(unread, 0, &mut self.places) {
                Ok(layout) if layout.end == unread.len() && !layout.is_over() => None,
                Ok(layout) if layout.has_line_end() => break layout,
                Ok(_) => Some(layout::NO_LINE_END),
                Err(Wrong::Short(_)) => None,
                Err(Wrong::Damaged(what)) => Some(what),
            };
            if let Some(what) = wrong {
                self.keep_damaged_head(Form::Plain, 0);
                return Err(Fault::Damaged(what));
            }
            if !self.input.look_further()? {
                return Ok(None);
            }
        };
        let start = self.input.start();
        let within = |range: &Range<usize>| start + range.start..start + range.end;
        let held = Held::Input(within(&layout.head), within(&self.wanted(&layout.block)));
        self.input.consume(layout.end);
        let (length, block_bytes) = (layout.end as u64, layout.block.len() as u64);
        Ok(Some(Found { held, length, is_alone: true, block_bytes }))
    }

    /// The record whose member the input stands at, if all of it can be held in memory.
    fn unpack_whole(&mut self, form: Form) -> Result<Option<Found>, Fault> {
        loop {
            match self.whole.unpack(form, self.input.unread(), &mut self.zstd) {
                Tried::Taken(bytes) => {
                    self.input.consume(bytes);
                    break;
                }
                Tried::InputEnds if self.input.look_further()? => {}
                Tried::InputEnds | Tried::TooLarge => return Ok(None),
            }
        }
        if form == Form::Zstd {
            self.skip_frames()?;
        }
        self.take_whole(0).map(Some)
    }

    /// The record at `place` of the member that was unpacked whole.
    fn take_whole(&mut self, place: usize) -> Result<Found, Fault> {
        let layout = find_record(self.whole.content(), place, &mut self.places);
        let layout = layout.map_err(|(Wrong::Short(what) | Wrong::Damaged(what))| {
            self.keep_damaged_head(Form::Gzip, place);
            Fault::Damaged(what)
        })?;
        self.inside = match self.whole.content().get(layout.end..) {
            None | Some([]) => Inside::Nothing,
            Some([b'W' | b'w', ..]) => Inside::Whole(layout.end),
            Some(_) => return Err(Fault::Damaged(layout::LONGER)),
        };
        let is_alone = place == 0 && self.inside == Inside::Nothing;
        let (block, block_bytes) = (self.wanted(&layout.block), layout.block.len() as u64);
        let length = if is_alone { self.input.position() - self.offset } else { 0 };
        Ok(Found { held: Held::Whole(layout.head, block), length, is_alone, block_bytes })
    }

    fn keep_damaged_head(&mut self, form: Form, place: usize) {
        let bytes = if form == Form::Plain { self.input.unread() } else { self.whole.content() };
        let head = bytes.get(place..).unwrap_or_default();
        self.head.extend_from_slice(head.get(..HEAD_BYTES_MAX).unwrap_or(head));
    }

    /// The part of a block to keep.
    fn wanted(&self, block: &Range<usize>) -> Range<usize> {
        block.start..block.end.min(block.start.saturating_add(self.block_bytes_max))
    }

    fn error(&self, fault: Fault) -> Error {
        let offset = self.offset;
        match fault {
            Fault::Damaged(what) => Error::Damaged { offset, what },
            Fault::Io(source) => Error::Io { offset, source },
            Fault::Cut => Error::Cut(Tail {
                good_bytes: offset,
                lost_bytes: self.input.position().saturating_sub(offset),
            }),
        }
    }
}

impl<R: Read> Iterator for WarcReader<R> {
    type Item = Result<Record, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = match self.step()? {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        };
        if matches!(found.held, Held::Apart) {
            let block = std::mem::take(&mut self.block);
            return Some(Ok(self.view(&found).with_block(block)));
        }
        Some(Ok(self.view(&found).to_record()))
    }
}

fn part<'a>(bytes: &'a [u8], head: &Range<usize>, block: &Range<usize>) -> (&'a [u8], &'a [u8]) {
    let at = |range: &Range<usize>| bytes.get(range.clone()).unwrap_or_default();
    (at(head), at(block))
}
