//! gzip members: compressed whole, decompressed piece by piece.
//!
//! Compression knows its input, so libdeflate takes it in one go. Decompression is of foreign bytes, so it goes
//! through one small window, however much a member claims to hold (H5).
//!
//! **Invariant:** decompressing takes one window and never more; a member whose checksum or length is wrong is
//! damage, a member that the input ends inside is cut, and the two are told apart.

use flate2::{Decompress, FlushDecompress, Status};
use libdeflater::{CompressionLvl, Compressor, Crc};
use std::fmt;
use std::io::{self, BufRead};

/// How hard gzip tries, from 1 (fast) to 12 (small).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(u8);

impl Level {
    /// Between the fastest and the usual one.
    pub const DEFAULT: Self = Self(3);

    /// The level, if there is such a one.
    #[must_use]
    pub const fn new(level: u8) -> Option<Self> {
        if level >= 1 && level <= 12 { Some(Self(level)) } else { None }
    }
    /// The number.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// Compresses whole members.
pub(crate) struct Deflate(Compressor);

impl Deflate {
    pub(crate) fn new(level: Level) -> Self {
        let level = CompressionLvl::new(i32::from(level.0)).expect("every level is one of libdeflate's");
        Self(Compressor::new(level))
    }
    /// Appends `content` to `file` as one member.
    pub(crate) fn append(&mut self, content: &[u8], file: &mut Vec<u8>) {
        let start = file.len();
        file.resize(start + self.0.gzip_compress_bound(content.len()), 0);
        let room = file.get_mut(start..).unwrap_or_default();
        let length = self.0.gzip_compress(content, room).expect("the room is as large as the bound says");
        file.truncate(start + length);
    }
}

impl fmt::Debug for Deflate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Deflate")
    }
}

/// Why bytes are not what they should be.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The input ends too early.
    Cut,
    /// The bytes are wrong.
    Damaged(&'static str),
    /// The input cannot be read.
    Io(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof { Self::Cut } else { Self::Io(error) }
    }
}

/// The first bytes of every member: the magic number and the one method there is.
pub(crate) const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

const WINDOW_BYTES: usize = 64 * 1024;
const NAME_BYTES_MAX: usize = 64 * 1024;

/// Decompresses one member after the other through one window.
pub(crate) struct Inflate {
    raw: Decompress,
    crc: Crc,
    length: u32,
    window: Box<[u8]>,
    unread: std::ops::Range<usize>,
    ended: bool,
}

impl fmt::Debug for Inflate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inflate").field("length", &self.length).field("ended", &self.ended).finish()
    }
}

impl Inflate {
    pub(crate) fn new() -> Self {
        let window = vec![0; WINDOW_BYTES].into_boxed_slice();
        Self { raw: Decompress::new(false), crc: Crc::new(), length: 0, window, unread: 0..0, ended: true }
    }

    /// Begins the member that `input` stands at.
    pub(crate) fn begin(&mut self, input: &mut impl BufRead) -> Result<(), Fault> {
        read_header(input)?;
        self.raw.reset(false);
        (self.crc, self.length, self.unread, self.ended) = (Crc::new(), 0, 0..0, false);
        Ok(())
    }
    /// What is decompressed and not consumed; empty at the end of the member, whose checksum then is right.
    pub(crate) fn fill(&mut self, input: &mut impl BufRead) -> Result<&[u8], Fault> {
        while self.unread.is_empty() && !self.ended {
            self.advance(input)?;
        }
        Ok(self.window.get(self.unread.clone()).unwrap_or_default())
    }
    /// Marks bytes of [`Inflate::fill`] as read.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.unread.start = (self.unread.start + bytes).min(self.unread.end);
    }

    fn advance(&mut self, input: &mut impl BufRead) -> Result<(), Fault> {
        let (taken_before, made_before) = (self.raw.total_in(), self.raw.total_out());
        let compressed = input.fill_buf()?;
        let at_end = compressed.is_empty();
        let status = self.raw.decompress(compressed, &mut self.window, FlushDecompress::None);
        let status = status.map_err(|_| Fault::Damaged("its compressed bytes make no sense"))?;
        let difference = |after: u64, before: u64| usize::try_from(after - before).unwrap_or(usize::MAX);
        input.consume(difference(self.raw.total_in(), taken_before));
        self.unread = 0..difference(self.raw.total_out(), made_before);
        let made = self.window.get(self.unread.clone()).unwrap_or_default();
        self.crc.update(made);
        self.length = self.length.wrapping_add(u32::try_from(made.len()).unwrap_or(u32::MAX));
        match status {
            Status::StreamEnd => self.finish(input),
            _ if at_end && self.unread.is_empty() => Err(Fault::Cut),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, input: &mut impl BufRead) -> Result<(), Fault> {
        let mut trailer = [0; 8];
        input.read_exact(&mut trailer)?;
        let [c0, c1, c2, c3, l0, l1, l2, l3] = trailer;
        if u32::from_le_bytes([c0, c1, c2, c3]) != self.crc.sum() {
            return Err(Fault::Damaged("its checksum is wrong"));
        }
        if u32::from_le_bytes([l0, l1, l2, l3]) != self.length {
            return Err(Fault::Damaged("its length is not the one it says"));
        }
        self.ended = true;
        Ok(())
    }
}

/// Reads the header of a member (RFC 1952); everything optional in it is skipped.
fn read_header(input: &mut impl BufRead) -> Result<(), Fault> {
    let mut fixed = [0; 10];
    input.read_exact(&mut fixed)?;
    let [m0, m1, m2, flags, ..] = fixed;
    if [m0, m1, m2] != MAGIC || flags & 0xe0 != 0 {
        return Err(Fault::Damaged("no gzip member begins here"));
    }
    if flags & 4 != 0 {
        let mut length = [0; 2];
        input.read_exact(&mut length)?;
        (0..u16::from_le_bytes(length)).try_for_each(|_| next_byte(input).map(drop))?;
    }
    for present in [flags & 8 != 0, flags & 16 != 0] {
        if present {
            skip_name(input)?;
        }
    }
    if flags & 2 != 0 {
        input.read_exact(&mut [0; 2])?;
    }
    Ok(())
}

fn skip_name(input: &mut impl BufRead) -> Result<(), Fault> {
    for _ in 0..NAME_BYTES_MAX {
        if next_byte(input)? == 0 {
            return Ok(());
        }
    }
    Err(Fault::Damaged("the name in its gzip header does not end"))
}

fn next_byte(input: &mut impl BufRead) -> Result<u8, Fault> {
    let mut byte = [0];
    input.read_exact(&mut byte)?;
    let [byte] = byte;
    Ok(byte)
}
