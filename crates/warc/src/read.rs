//! Reads records one after the other, in one pass, with bounded memory.
//!
//! Both common forms are read: one gzip member a record, and plain. A record is handed out only when its whole
//! member was read and its checksum was right, so that damage is never served (M5).
//!
//! **Invariant:** a reader holds one window, one head of at most [`HEAD_BYTES_MAX`] and one block of at most the
//! bytes it was told to keep, whatever the file claims. It ends at the first error, unless it is told to
//! [`resume`](Reader::resume).

use crate::head::{Head, Place, behind_first_line, find_fields};
use crate::header::HEAD_BYTES_MAX;
use crate::member::{Fault, Inflate, MAGIC};
use crate::record::{Record, RecordRef};
use memchr::memchr;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// Why a file cannot be read on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file itself cannot be read.
    #[error("cannot read the record at byte `{offset}`")]
    Io {
        /// Where the record begins.
        offset: u64,
        /// What the system says.
        source: io::Error,
    },
    /// Something stands there that is no record.
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

/// The end of a file that was not closed in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Up to here every record is whole.
    pub good_bytes: u64,
    /// How much follows.
    pub lost_bytes: u64,
}

/// Reads the records of a file in their order.
#[derive(Debug)]
pub struct Reader<R> {
    input: Input<R>,
    inflate: Inflate,
    form: Form,
    head: Vec<u8>,
    places: Vec<Place>,
    block: Vec<u8>,
    offset: u64,
    block_bytes_max: usize,
    ended: bool,
}

/// What was read, of which the bytes lie in the reader.
#[derive(Debug)]
struct Found {
    length: u64,
    block_bytes: u64,
}

const NO_RECORD: &str = "no record begins here";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Plain,
    Gzip,
}

impl<R: Read> Reader<R> {
    /// Reads from the beginning; of each block at most `block_bytes_max` are kept.
    pub fn new(read: R, block_bytes_max: usize) -> Self {
        Self::starting_at(read, 0, block_bytes_max)
    }
    /// Reads from something that stands at `offset` of its file already.
    pub fn starting_at(read: R, offset: u64, block_bytes_max: usize) -> Self {
        let input = Input { read: BufReader::with_capacity(INPUT_BYTES, read), position: offset };
        let (inflate, form) = (Inflate::new(), Form::Plain);
        let (head, places, block) = (Vec::new(), Vec::new(), Vec::new());
        Self { input, inflate, form, head, places, block, offset, block_bytes_max, ended: false }
    }

    /// The next record, lent until the one after it is read.
    pub fn advance(&mut self) -> Option<Result<RecordRef<'_>, Error>> {
        if self.ended {
            return None;
        }
        let found = self.read_record();
        self.ended = !matches!(found, Ok(Some(_)));
        match found {
            Ok(found) => found.map(|found| Ok(self.view(&found))),
            Err(fault) => Some(Err(self.error(fault))),
        }
    }

    /// As much of the head of the record that [`Reader::advance`] failed at as was read, to look for the reason.
    pub fn damaged_head(&self) -> &[u8] {
        &self.head
    }

    fn view(&self, found: &Found) -> RecordRef<'_> {
        RecordRef {
            offset: self.offset,
            length: found.length,
            is_alone: true,
            head: Head::new(&self.head, &self.places),
            block: &self.block,
            block_bytes: found.block_bytes,
        }
    }

    fn read_record(&mut self) -> Result<Option<Found>, Fault> {
        if !self.find_start()? {
            return Ok(None);
        }
        self.read_fields()?;
        let block_bytes = Head::new(&self.head, &self.places).block_bytes();
        let block_bytes = block_bytes.ok_or(Fault::Damaged("it does not say how long it is"))?;
        self.read_block(block_bytes)?;
        self.read_end()?;
        Ok(Some(Found { length: self.input.position - self.offset, block_bytes }))
    }

    /// Steps over the blank lines between records and begins the next one; false at the end of the file.
    fn find_start(&mut self) -> Result<bool, Fault> {
        let first = loop {
            match self.input.fill_buf()?.first() {
                None => return Ok(false),
                Some(b'\r' | b'\n') => self.input.consume(1),
                Some(byte) => break *byte,
            }
        };
        self.offset = self.input.position;
        self.form = match first {
            b'W' => Form::Plain,
            first if first == MAGIC[0] => Form::Gzip,
            _ => return Err(Fault::Damaged(NO_RECORD)),
        };
        if self.form == Form::Gzip {
            self.inflate.begin(&mut self.input)?;
        }
        Ok(true)
    }

    fn read_fields(&mut self) -> Result<(), Fault> {
        self.head.clear();
        while !ends_head(&self.head) {
            self.read_line()?;
            if !b"WARC/".starts_with(self.head.get(..5).unwrap_or(&self.head)) {
                return Err(Fault::Damaged(NO_RECORD));
            }
        }
        find_fields(behind_first_line(&self.head), &mut self.places).map_err(Fault::Damaged)
    }

    /// Adds one more line to the head.
    fn read_line(&mut self) -> Result<(), Fault> {
        loop {
            let bytes = fill(self.form, &mut self.inflate, &mut self.input)?;
            if bytes.is_empty() {
                return Err(self.form.ended("its member ends inside its head"));
            }
            let line_end = memchr(b'\n', bytes).map(|place| place + 1);
            let taken = line_end.unwrap_or(bytes.len());
            if self.head.len() + taken > HEAD_BYTES_MAX {
                return Err(Fault::Damaged("its head does not end"));
            }
            self.head.extend_from_slice(bytes.get(..taken).unwrap_or_default());
            self.consume(taken);
            if line_end.is_some() {
                return Ok(());
            }
        }
    }

    fn read_block(&mut self, block_bytes: u64) -> Result<(), Fault> {
        let wanted = usize::try_from(block_bytes).unwrap_or(usize::MAX).min(self.block_bytes_max);
        let mut left = block_bytes;
        self.block.clear();
        while left > 0 {
            let bytes = fill(self.form, &mut self.inflate, &mut self.input)?;
            if bytes.is_empty() {
                return Err(self.form.ended("its member ends inside its block"));
            }
            let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
            let kept = taken.min(wanted - self.block.len());
            extend(&mut self.block, bytes.get(..kept).unwrap_or_default(), wanted);
            left -= taken as u64;
            self.consume(taken);
        }
        Ok(())
    }

    /// Steps over the two line ends after a block and, in a member, proves its checksum.
    fn read_end(&mut self) -> Result<(), Fault> {
        let mut line_ends = 0;
        loop {
            let bytes = fill(self.form, &mut self.inflate, &mut self.input)?;
            match bytes.first() {
                None => return Ok(()),
                Some(b'\r' | b'\n') if line_ends < 4 => line_ends += 1,
                Some(_) if self.form == Form::Plain => return Ok(()),
                Some(b'W') => {
                    return Err(Fault::Damaged(
                        "it shares its gzip member with another record; compress the file anew, one member a record",
                    ));
                }
                Some(_) => return Err(Fault::Damaged("it is longer than it says")),
            }
            self.consume(1);
        }
    }

    fn consume(&mut self, bytes: usize) {
        match self.form {
            Form::Plain => self.input.consume(bytes),
            Form::Gzip => self.inflate.consume(bytes),
        }
    }

    fn error(&self, fault: Fault) -> Error {
        let offset = self.offset;
        match fault {
            Fault::Damaged(what) => Error::Damaged { offset, what },
            Fault::Io(source) => Error::Io { offset, source },
            Fault::Cut => Error::Cut(Tail {
                good_bytes: offset,
                lost_bytes: self.input.position.saturating_sub(offset),
            }),
        }
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Record, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let found = self.read_record().map_err(|fault| self.error(fault)).transpose();
        self.ended = !matches!(found, Some(Ok(_)));
        Some(found?.map(|found| {
            let block = std::mem::take(&mut self.block);
            self.view(&found).with_block(block)
        }))
    }
}

impl<R: Read + Seek> Reader<R> {
    /// After an error: goes on behind the damage, at the next place where the head of a record can be read. False
    /// when there is none.
    ///
    /// Content can hold what looks like a record. Whoever resumes must prove that a record belongs there, see
    /// [`Record::belongs_to`].
    pub fn resume(&mut self) -> Result<bool, Error> {
        let mut from = self.offset + 1;
        loop {
            let place = self.find_magic(from).map_err(|fault| self.error(fault))?;
            let Some(place) = place else { return Ok(false) };
            let readable =
                self.go_to(place).and_then(|()| self.find_start()).and_then(|_| self.read_fields());
            self.go_to(place).map_err(|fault| self.error(fault))?;
            self.ended = readable.is_err();
            if !self.ended {
                return Ok(true);
            }
            from = place + 1;
        }
    }

    /// The next place from `from` that looks like the beginning of a record.
    fn find_magic(&mut self, from: u64) -> Result<Option<u64>, Fault> {
        self.go_to(from)?;
        let mut last = 0_u64;
        loop {
            let position = self.input.position;
            let bytes = self.input.fill_buf()?;
            let length = bytes.len();
            if length == 0 {
                return Ok(None);
            }
            for (place, byte) in (position..).zip(bytes) {
                last = last << 8 | u64::from(*byte);
                if last & 0xff_ffff == 0x1f_8b08 {
                    return Ok(Some(place - 2));
                }
                if last & 0xffff_ffff_ffff == u64::from_be_bytes(*b"\0\0\nWARC/") {
                    return Ok(Some(place - 4));
                }
            }
            self.input.consume(length);
        }
    }

    fn go_to(&mut self, place: u64) -> Result<(), Fault> {
        self.input.read.seek(SeekFrom::Start(place))?;
        (self.input.position, self.offset) = (place, place);
        Ok(())
    }
}

const INPUT_BYTES: usize = 64 * 1024;

/// Buffered input that knows where in the file it stands.
#[derive(Debug)]
struct Input<R> {
    read: BufReader<R>,
    position: u64,
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.read.read(buffer)?;
        self.position += length as u64;
        Ok(length)
    }
}

impl<R: Read> BufRead for Input<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.read.fill_buf()
    }
    fn consume(&mut self, bytes: usize) {
        self.read.consume(bytes);
        self.position += bytes as u64;
    }
}

impl Form {
    /// The content of the record is over too early: damage in a member, whose end is known, else a cut file.
    fn ended(self, what: &'static str) -> Fault {
        match self {
            Self::Plain => Fault::Cut,
            Self::Gzip => Fault::Damaged(what),
        }
    }
}

/// The next bytes of the record's content; none at its end.
fn fill<'a>(form: Form, inflate: &'a mut Inflate, input: &'a mut impl BufRead) -> Result<&'a [u8], Fault> {
    match form {
        Form::Plain => Ok(input.fill_buf()?),
        Form::Gzip => inflate.fill(input),
    }
}

fn ends_head(head: &[u8]) -> bool {
    head.ends_with(b"\n\r\n") || head.ends_with(b"\n\n")
}

/// Adds `bytes`, growing step by step but never beyond `max`.
fn extend(block: &mut Vec<u8>, bytes: &[u8], max: usize) {
    let needed = block.len() + bytes.len();
    if needed > block.capacity() {
        block.reserve_exact(needed.max(block.len() * 2).min(max) - block.len());
    }
    block.extend_from_slice(bytes);
}
