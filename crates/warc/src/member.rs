//! Members: the compressed pieces of a file, one a record.
//!
//! Members are compressed whole. Foreign members are decompressed [whole] if they are small, which is fast, and
//! otherwise [piece by piece](stream) through one small window, whatever they claim to hold (H5). Only the latter
//! reports defects, so there is one source of errors.
//!
//! **Invariant:** a member with a wrong checksum or length is damaged; a member in which the input ends is cut.

mod gzip;
mod libdeflate;
pub(crate) mod stream;
pub(crate) mod whole;
pub(crate) mod zstandard;

pub(crate) use gzip::Deflate;
use std::io;

/// How records are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// One gzip member a record: what every reader knows.
    Gzip(Level),
    /// One zstd frame a record: smaller and faster to read, known to fewer readers.
    Zstd(ZstdLevel),
    /// Not at all.
    Plain,
}

impl Default for Compression {
    fn default() -> Self {
        Self::Gzip(Level::DEFAULT)
    }
}

impl From<Level> for Compression {
    fn from(level: Level) -> Self {
        Self::Gzip(level)
    }
}

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

/// How hard zstd tries, from 1 (fast) to 19 (small). Higher levels of zstd ask much memory of every reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZstdLevel(u8);

impl ZstdLevel {
    /// The usual one.
    pub const DEFAULT: Self = Self(3);

    /// The level, if there is such a one.
    #[must_use]
    pub const fn new(level: u8) -> Option<Self> {
        if level >= 1 && level <= 19 { Some(Self(level)) } else { None }
    }
    /// The number.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// The form of a member, or of a record outside a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Plain,
    Gzip,
    Zstd,
}

impl Form {
    /// The form that begins with `first`, if there is one. The rest of its magic number is checked later.
    pub(crate) fn beginning_with(first: u8) -> Option<Self> {
        match first {
            b'W' | b'w' => Some(Self::Plain),
            0x1f => Some(Self::Gzip),
            0x28 => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// Why bytes cannot be read.
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
