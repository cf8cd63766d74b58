//! gzip members (RFC 1952): every flag, checksum and length.

use super::clause::Clause;
use super::input::Input;
use super::member::{Fault, Note};
use super::report::Severity;
use flate2::{Decompress, FlushDecompress, Status};
use libdeflater::Crc;
use std::io::Read;

/// Decompresses gzip members.
pub(super) struct Gunzip {
    raw: Decompress,
    crc: Crc,
    length: u32,
}

impl std::fmt::Debug for Gunzip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gunzip").field("length", &self.length).finish_non_exhaustive()
    }
}

fn gzip_damage(what: &str) -> Fault {
    Fault::Damaged(Clause::Gzip, what.to_owned())
}

impl Gunzip {
    pub(super) fn new() -> Self {
        Self { raw: Decompress::new(false), crc: Crc::new(), length: 0 }
    }

    /// Reads the header of a member.
    pub(super) fn begin<R: Read>(
        &mut self,
        input: &mut Input<R>,
        notes: &mut Vec<Note>,
    ) -> Result<(), Fault> {
        let mut header = Header { input, crc: Crc::new() };
        let [_, _, method, flags]: [u8; 4] = header.take()?;
        let _rest_of_ten: [u8; 6] = header.take()?;
        if method != 8 {
            return Err(gzip_damage(
                "the member is compressed by a method other than deflate, the only one there is",
            ));
        }
        if flags & 0xe0 != 0 {
            let what =
                format!("the flags `{flags:#04x}` of the member use reserved bits, which must be zero");
            notes.push((Severity::Error, Clause::Gzip, what));
        }
        if flags & 4 != 0 {
            let length = u16::from_le_bytes(header.take()?);
            for _ in 0..length {
                let _skipped: [u8; 1] = header.take()?;
            }
        }
        for _ in 0..(flags & 8) / 8 + (flags & 16) / 16 {
            while header.take::<1>()? != [0] {}
        }
        let computed = header.crc.sum() & 0xffff;
        if flags & 2 != 0 && u32::from(u16::from_le_bytes(header.take()?)) != computed {
            notes.push((
                Severity::Error,
                Clause::Gzip,
                "the checksum of the member's header is wrong".to_owned(),
            ));
        }
        self.raw.reset(false);
        (self.crc, self.length) = (Crc::new(), 0);
        Ok(())
    }

    /// Fills `window`; returns how much, and whether the member has ended.
    pub(super) fn advance<R: Read>(
        &mut self,
        input: &mut Input<R>,
        window: &mut [u8],
        notes: &mut Vec<Note>,
    ) -> Result<(usize, bool), Fault> {
        let (taken_before, made_before) = (self.raw.total_in(), self.raw.total_out());
        let compressed = input.ahead(1)?;
        let at_end = compressed.is_empty();
        let status = self.raw.decompress(compressed, window, FlushDecompress::None);
        let difference = |after: u64, before: u64| usize::try_from(after - before).unwrap_or(usize::MAX);
        input.consume(difference(self.raw.total_in(), taken_before));
        let status = status.map_err(|_| gzip_damage("the compressed bytes of the member are invalid"))?;
        let made = difference(self.raw.total_out(), made_before);
        self.crc.update(window.get(..made).unwrap_or_default());
        self.length = self.length.wrapping_add(u32::try_from(made).unwrap_or(u32::MAX));
        match status {
            Status::StreamEnd => self.finish(input, notes).map(|()| (made, true)),
            _ if at_end && made == 0 => Err(gzip_damage("the file ends inside a member")),
            _ => Ok((made, false)),
        }
    }

    fn finish<R: Read>(&mut self, input: &mut Input<R>, notes: &mut Vec<Note>) -> Result<(), Fault> {
        let mut trailer = Header { input, crc: Crc::new() };
        let (crc, length) = (u32::from_le_bytes(trailer.take()?), u32::from_le_bytes(trailer.take()?));
        let computed = self.crc.sum();
        if crc != computed {
            let what = format!("the member's checksum is `{crc:08x}`, but its content has `{computed:08x}`");
            notes.push((Severity::Error, Clause::Gzip, what));
        }
        if length != self.length {
            let what =
                format!("the member says that it holds `{length}` bytes, but it holds `{}`", self.length);
            notes.push((Severity::Error, Clause::Gzip, what));
        }
        Ok(())
    }
}

/// The header or trailer of a member, with the checksum of what was read of it.
struct Header<'a, R> {
    input: &'a mut Input<R>,
    crc: Crc,
}

impl<R: Read> Header<'_, R> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let ahead = self.input.ahead(N)?;
        let bytes = ahead.first_chunk::<N>().copied();
        let bytes =
            bytes.ok_or_else(|| gzip_damage("the file ends inside the header or trailer of a member"))?;
        self.crc.update(&bytes);
        self.input.consume(N);
        Ok(bytes)
    }
}
