//! The content of a file, plain or compressed, as one run of bytes that still knows its members.
//!
//! A lenient reader hides what a strict one must see, so this reads members itself: every checksum, length and flag of
//! gzip (RFC 1952) and zstandard (RFC 8878) is checked. A defect that does not stop the reading is a note; one that
//! does is a [`Fault`], after which [`Source::recover`] continues at the next member that holds a record.
//!
//! **Invariant:** one buffer of input, one window of output and the window of a zstandard frame (at most 128 MiB)
//! are held, whatever the file claims.

use super::clause::Clause;
use super::gzip::Gunzip;
use super::input::Input;
use super::report::Severity;
use super::zstd::Unzstd;
use memchr::memmem;
use std::io::{self, Read, Seek};
use std::ops::Range;

/// Why the content cannot be read further.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The bytes are wrong.
    Damaged(Clause, String),
    /// The file cannot be read.
    Io(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    Gzip,
    Zstd,
}

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Of a zstandard frame with content; those without one can begin a file but hold no record.
const FRAME_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const WINDOW_BYTES: usize = 64 * 1024;

/// The content of a file.
#[derive(Debug)]
pub(crate) struct Source<R> {
    input: Input<R>,
    form: Option<Form>,
    gzip: Gunzip,
    zstd: Unzstd,
    window: Box<[u8]>,
    unread: Range<usize>,
    inside: bool,
    member: u64,
    members: u64,
    read_of_member: u64,
    /// Bytes before this need not be read again: the last good member ends here, or a bad one begins just before.
    trusted: u64,
    notes: Vec<Notes>,
}

/// A defect of a member that can still be read.
pub(crate) type Note = (Severity, Clause, String);

/// The notes on the member that begins at an offset.
#[derive(Debug)]
pub(super) struct Notes {
    pub(super) offset: u64,
    pub(super) notes: Vec<Note>,
}

impl<R: Read + Seek> Source<R> {
    pub(crate) fn new(read: R) -> Self {
        Self {
            input: Input::new(read),
            form: None,
            gzip: Gunzip::new(),
            zstd: Unzstd::new(),
            window: vec![0; WINDOW_BYTES].into_boxed_slice(),
            unread: 0..0,
            inside: false,
            member: 0,
            members: 0,
            read_of_member: 0,
            trusted: 0,
            notes: Vec::new(),
        }
    }
    pub(crate) fn is_plain(&self) -> bool {
        self.form == Some(Form::Plain)
    }
    pub(super) fn form(&self) -> Option<Form> {
        self.form
    }
    /// Where the bytes that [`Source::fill`] gave begin in the file: their member, or, uncompressed, they themselves.
    pub(crate) fn offset(&self) -> u64 {
        if self.is_plain() { self.input.position() } else { self.member }
    }
    /// How many members were started.
    pub(crate) fn members(&self) -> u64 {
        self.members
    }
    /// How much of the current member's content was consumed.
    pub(super) fn read_of_member(&self) -> u64 {
        self.read_of_member
    }
    /// How many bytes of the file were read.
    pub(super) fn file_bytes(&self) -> u64 {
        self.input.furthest()
    }
    /// Where the last member that was started, or tried, begins.
    pub(crate) fn member(&self) -> u64 {
        self.member
    }
    /// What was noted of members that begin at or before `offset`.
    pub(crate) fn take_notes(&mut self, offset: u64) -> Vec<Note> {
        let is_due = |notes: &mut Notes| notes.offset <= offset;
        self.notes.extract_if(.., is_due).flat_map(|notes| notes.notes).collect()
    }

    /// The next bytes, of this member or of the one after it; none at the end of the file.
    pub(crate) fn fill(&mut self) -> Result<&[u8], Fault> {
        loop {
            if self.form == Some(Form::Plain) {
                return Ok(self.input.ahead(1)?);
            }
            if !self.unread.is_empty() {
                break;
            }
            if !self.inside && !self.begin()? {
                return Ok(&[]);
            }
            if !self.is_plain() {
                self.advance()?;
            }
        }
        Ok(self.window.get(self.unread.clone()).unwrap_or_default())
    }
    /// The next bytes of this member alone, or of an uncompressed file; none at its end, where its checksum is known.
    pub(crate) fn fill_member(&mut self) -> Result<&[u8], Fault> {
        if self.is_plain() {
            return Ok(self.input.ahead(1)?);
        }
        while self.unread.is_empty() && self.inside {
            self.advance()?;
        }
        Ok(self.window.get(self.unread.clone()).unwrap_or_default())
    }
    /// How far the file was read: the end of the member, once that is over.
    pub(crate) fn place(&self) -> u64 {
        self.input.position()
    }
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.read_of_member += bytes as u64;
        match self.form {
            Some(Form::Plain) => self.input.consume(bytes),
            _ => self.unread.start = (self.unread.start + bytes).min(self.unread.end),
        }
    }

    /// Begins the next member; false at the end of the file.
    fn begin(&mut self) -> Result<bool, Fault> {
        loop {
            let first = self.input.ahead(4)?;
            if first.is_empty() {
                return Ok(false);
            }
            let found = form_of(first);
            let form = *self.form.get_or_insert(found);
            self.member = self.input.position();
            if found != form && form != Form::Plain {
                let what = "bytes that belong to no member follow; a member begins with its magic number";
                let clause = if form == Form::Gzip { Clause::Gzip } else { Clause::Zstd };
                return Err(Fault::Damaged(clause, what.to_owned()));
            }
            let mut notes = Vec::new();
            let has_content = match form {
                Form::Plain => return Ok(true),
                Form::Gzip => self.gzip.begin(&mut self.input, &mut notes).map(|()| true)?,
                Form::Zstd => self.zstd.begin(&mut self.input, &mut notes)?,
            };
            self.note(notes);
            if has_content {
                (self.members, self.read_of_member, self.inside) = (self.members + 1, 0, true);
                self.trusted = self.member + 1;
                return Ok(true);
            }
        }
    }

    /// Decompresses a window more.
    fn advance(&mut self) -> Result<(), Fault> {
        let mut notes = Vec::new();
        let (made, ended) = match self.form {
            Some(Form::Gzip) => self.gzip.advance(&mut self.input, &mut self.window, &mut notes)?,
            _ => self.zstd.advance(&mut self.input, &mut self.window)?,
        };
        if ended && notes.is_empty() {
            self.trusted = self.input.position();
        }
        self.note(notes);
        self.unread = 0..made;
        self.inside = !ended;
        Ok(())
    }

    fn note(&mut self, notes: Vec<Note>) {
        if !notes.is_empty() {
            self.notes.push(Notes { offset: self.member, notes });
        }
    }

    /// After a fault: goes to the next member whose content `begins` as a record does. False when there is none.
    pub(crate) fn recover(&mut self, begins: impl Fn(&[u8]) -> bool) -> Result<bool, Fault> {
        let trusted = self.trusted;
        let mut from = self.input.again_from(trusted);
        loop {
            self.input.go_to(from)?;
            (self.unread, self.inside) = (0..0, false);
            if !self.find_magic()? {
                return Ok(false);
            }
            let (place, notes, members) = (self.input.position(), self.notes.len(), self.members);
            let holds_record = match self.fill() {
                Ok(content) => begins(content),
                Err(Fault::Damaged(..)) => false,
                Err(fault) => return Err(fault),
            };
            self.notes.truncate(notes);
            (self.unread, self.inside) = (0..0, false);
            (self.members, self.trusted) = (members, trusted);
            if holds_record {
                self.input.go_to(place)?;
                return Ok(true);
            }
            from = self.input.again_from(place + 1);
        }
    }

    /// Steps to the next bytes that a member of this file could begin with.
    fn find_magic(&mut self) -> Result<bool, Fault> {
        let magic: &[u8] = if self.form == Some(Form::Gzip) { &GZIP_MAGIC } else { &FRAME_MAGIC };
        loop {
            let bytes = self.input.ahead(4)?;
            if bytes.len() < 4 {
                // They count as read: the summary has the length of the file.
                let left = bytes.len();
                self.input.consume(left);
                return Ok(false);
            }
            match memmem::find(bytes, magic) {
                Some(place) => {
                    self.input.consume(place);
                    return Ok(true);
                }
                None => {
                    let passed = bytes.len() - 3;
                    self.input.consume(passed);
                }
            }
        }
    }

    /// In an uncompressed file: goes back to `place`, unless too much was read again already.
    pub(super) fn go_back(&mut self, place: u64) -> Result<bool, Fault> {
        let possible = self.is_plain() && self.input.again_from(place) == place;
        if possible {
            self.input.go_to(place)?;
        }
        Ok(possible)
    }
}

fn form_of(first: &[u8]) -> Form {
    match first {
        [first, second, ..] if [*first, *second] == GZIP_MAGIC => Form::Gzip,
        first if first.starts_with(&FRAME_MAGIC) => Form::Zstd,
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Form::Zstd,
        _ => Form::Plain,
    }
}
