//! Records that are read piece by piece into separate buffers: those whose member does not fit into memory, and damaged
//! ones.

use super::{Found, Held, Inside, WarcReader, layout};
use crate::head::{Head, after_first_line, find_fields};
use crate::header::HEAD_BYTES_MAX;
use crate::member::{Fault, Form};
use memchr::memchr;
use std::io::Read;

/// A larger buffer of a block is freed.
const BLOCK_BYTES_KEPT: usize = 4 * 1024 * 1024;

impl<R: Read> WarcReader<R> {
    /// The record at the position of the stream.
    pub(super) fn stream_record(&mut self) -> Result<Found, Fault> {
        let is_first = self.inside == Inside::Nothing;
        self.read_head()?;
        let block_bytes = Head::new(&self.head, &self.places).block_bytes();
        let block_bytes = block_bytes.ok_or(Fault::Damaged(layout::NO_LENGTH))?;
        self.read_block(block_bytes)?;
        self.inside = self.read_end()?;
        if self.stream.form() == Form::Zstd && self.inside == Inside::Nothing {
            self.skip_frames()?;
        }
        let is_alone = is_first && self.inside == Inside::Nothing;
        let length = if is_alone { self.input.position() - self.offset } else { 0 };
        Ok(Found { held: Held::Apart, length, is_alone, block_bytes })
    }

    pub(super) fn read_head(&mut self) -> Result<(), Fault> {
        self.head.clear();
        while !ends_head(&self.head) {
            self.read_line()?;
            if !layout::is_start(&self.head) {
                return Err(Fault::Damaged(layout::NO_RECORD));
            }
        }
        find_fields(after_first_line(&self.head), &mut self.places).map_err(Fault::Damaged)
    }

    /// Adds one more line to the head.
    fn read_line(&mut self) -> Result<(), Fault> {
        loop {
            let bytes = self.stream.fill(&mut self.input, &mut self.zstd)?;
            if bytes.is_empty() {
                return Err(self.stream.ended(layout::ENDS_IN_HEAD));
            }
            let line_end = memchr(b'\n', bytes).map(|place| place + 1);
            let taken = line_end.unwrap_or(bytes.len());
            if self.head.len() + taken > HEAD_BYTES_MAX {
                return Err(Fault::Damaged(layout::HEAD_WITHOUT_END));
            }
            self.head.extend_from_slice(bytes.get(..taken).unwrap_or_default());
            self.stream.consume(taken, &mut self.input);
            if line_end.is_some() {
                return Ok(());
            }
        }
    }

    fn read_block(&mut self, block_bytes: u64) -> Result<(), Fault> {
        let wanted = usize::try_from(block_bytes).unwrap_or(usize::MAX).min(self.block_bytes_max);
        self.block.clear();
        self.block.shrink_to(BLOCK_BYTES_KEPT);
        let mut left = block_bytes;
        while left > 0 {
            let bytes = self.stream.fill(&mut self.input, &mut self.zstd)?;
            if bytes.is_empty() {
                return Err(self.stream.ended(layout::ENDS_IN_BLOCK));
            }
            let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
            let kept = taken.min(wanted - self.block.len());
            extend(&mut self.block, bytes.get(..kept).unwrap_or_default(), wanted);
            left -= taken as u64;
            self.stream.consume(taken, &mut self.input);
        }
        Ok(())
    }

    /// Skips the two line ends after a block and, at the end of a member, checks its checksum. Returns whether another
    /// record follows in the member.
    fn read_end(&mut self) -> Result<Inside, Fault> {
        let mut line_ends = 0;
        loop {
            let bytes = self.stream.fill(&mut self.input, &mut self.zstd)?;
            match bytes.first().copied() {
                None => return Ok(Inside::Nothing),
                Some(b'\r' | b'\n') if line_ends < layout::LINE_END_BYTES_MAX => line_ends += 1,
                Some(_) if self.stream.form() == Form::Plain => {
                    let is_well = line_ends > 0;
                    return if is_well {
                        Ok(Inside::Nothing)
                    } else {
                        Err(Fault::Damaged(layout::NO_LINE_END))
                    };
                }
                Some(b'W' | b'w') => return Ok(Inside::Stream),
                Some(_) => return Err(Fault::Damaged(layout::LONGER)),
            }
            self.stream.consume(1, &mut self.input);
        }
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
