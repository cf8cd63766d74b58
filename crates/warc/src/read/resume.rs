//! Continues after damage.

use super::{Error, Inside, WarcReader};
use crate::member::{Fault, zstandard};
use std::io::{BufRead, Read, Seek};

/// A piece of a file in which no record could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Where it begins.
    pub from: u64,
    /// Where the next record begins, or the file ends.
    pub to: u64,
}

impl<R: Read + Seek> WarcReader<R> {
    /// After an error: continues after the damage, at the next place where the head of a record can be read. False
    /// when there is none. [`WarcReader::lost`] then says what was skipped.
    ///
    /// Content can hold what looks like a record. The caller must prove that a record belongs there, see
    /// [`Record::belongs_to`](crate::Record::belongs_to).
    pub fn resume(&mut self) -> Result<bool, Error> {
        let from = self.offset;
        let found = self.find_readable(from + 1).map_err(|fault| self.error(fault))?;
        self.lost = Some(Lost { from, to: self.input.position() });
        self.ended = !found;
        Ok(found)
    }
    /// What the last [`WarcReader::resume`] skipped.
    pub fn lost(&self) -> Option<Lost> {
        self.lost
    }

    /// Goes to the next place from `from` at which a head can be read, or to the end of the file.
    fn find_readable(&mut self, mut from: u64) -> Result<bool, Fault> {
        while let Some(place) = self.find_magic(from)? {
            self.go_to(place)?;
            let is_readable = self.find_start().and_then(|form| match form {
                Some(form) => self.stream.begin(form, &mut self.input, &mut self.zstd),
                None => Err(Fault::Cut),
            });
            let is_readable = is_readable.and_then(|()| self.read_head());
            if let Err(Fault::Io(error)) = is_readable {
                return Err(Fault::Io(error));
            }
            self.go_to(place)?;
            if is_readable.is_ok() {
                return Ok(true);
            }
            from = place + 1;
        }
        Ok(false)
    }

    /// The next place from `from` that looks like the beginning of a record.
    fn find_magic(&mut self, from: u64) -> Result<Option<u64>, Fault> {
        self.go_to(from)?;
        let mut last = 0_u64;
        loop {
            let position = self.input.position();
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
                if last & 0xffff_ffff == u64::from(u32::from_be_bytes(zstandard::MAGIC)) {
                    return Ok(Some(place - 3));
                }
                // Case is ignored.
                if (last | 0x20_2020_2000) & 0xff_ffff_ffff == u64::from_be_bytes(*b"\0\0\0warc/") {
                    return Ok(Some(place - 4));
                }
            }
            self.input.consume(length);
        }
    }

    fn go_to(&mut self, place: u64) -> Result<(), Fault> {
        self.input.go_to(place)?;
        (self.offset, self.inside) = (place, Inside::Nothing);
        Ok(())
    }
}
