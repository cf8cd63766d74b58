//! gzip members (RFC 1952): compressed whole by libdeflate, decompressed step by step by zlib-rs.

use super::zstandard::Step;
use super::{Fault, Level};
use flate2::{Decompress, FlushDecompress, Status};
use libdeflater::{CompressionLvl, Compressor, Crc};
use std::fmt;
use std::io::BufRead;

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

/// The first bytes of every member: the magic number and the one method there is.
const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const NAME_BYTES_MAX: usize = 64 * 1024;

/// Decompresses members, step by step.
pub(super) struct Inflate {
    raw: Decompress,
    crc: Crc,
    length: u32,
}

impl fmt::Debug for Inflate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inflate").field("length", &self.length).finish()
    }
}

impl Inflate {
    pub(super) fn new() -> Self {
        Self { raw: Decompress::new(false), crc: Crc::new(), length: 0 }
    }

    /// Begins the member at the position of `input`.
    pub(super) fn begin(&mut self, input: &mut impl BufRead) -> Result<(), Fault> {
        read_header(input)?;
        self.raw.reset(false);
        (self.crc, self.length) = (Crc::new(), 0);
        Ok(())
    }

    /// Unpacks as much as `window` takes.
    pub(super) fn step(&mut self, compressed: &[u8], window: &mut [u8]) -> Result<Step, Fault> {
        let (taken_before, made_before) = (self.raw.total_in(), self.raw.total_out());
        let status = self.raw.decompress(compressed, window, FlushDecompress::None);
        let status = status.map_err(|_| Fault::Damaged("its compressed bytes are invalid"))?;
        let difference = |after: u64, before: u64| usize::try_from(after - before).unwrap_or(usize::MAX);
        let taken = difference(self.raw.total_in(), taken_before);
        let made = difference(self.raw.total_out(), made_before);
        let unpacked = window.get(..made).unwrap_or_default();
        self.crc.update(unpacked);
        self.length = self.length.wrapping_add(u32::try_from(made).unwrap_or(u32::MAX));
        Ok(Step { taken, made, is_end: status == Status::StreamEnd })
    }

    /// Checks the checksum and the length of a member after its last step.
    pub(super) fn finish(&mut self, input: &mut impl BufRead) -> Result<(), Fault> {
        let mut trailer = [0; 8];
        input.read_exact(&mut trailer)?;
        let [c0, c1, c2, c3, l0, l1, l2, l3] = trailer;
        if u32::from_le_bytes([c0, c1, c2, c3]) != self.crc.sum() {
            return Err(Fault::Damaged("its checksum is wrong"));
        }
        if u32::from_le_bytes([l0, l1, l2, l3]) != self.length {
            return Err(Fault::Damaged("its length is not the stated one"));
        }
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
