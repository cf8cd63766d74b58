//! What is on its way to a program: documents that it was given and has not taken yet.
//!
//! To a program that answers fast, several documents go at once: each time it is woken for one costs as much as a small
//! document. To any other, each goes as soon as it is there.

use super::READ_BYTES;
use super::program::Program;
use std::io;

/// Maximum bytes given at once to a program that answers fast.
const AT_ONCE_BYTES: usize = 256 * 1024;

/// Bytes that a program has not taken yet.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    sent: usize,
}

impl Outbox {
    pub(super) fn is_empty(&self) -> bool {
        self.sent == self.bytes.len()
    }
    /// Whether another document may be put in.
    pub(super) fn has_room(&self, is_lively: bool) -> bool {
        self.bytes.len() - self.sent < if is_lively { AT_ONCE_BYTES } else { 1 }
    }
    /// Forgets everything: the program is no more.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.sent = 0;
    }

    /// Gives a document to a program, at once or, if more are to come, with them. Says how much of it the program took.
    pub(super) fn give(
        &mut self,
        pieces: &[&[u8]],
        program: &mut Program,
        is_lively: bool,
    ) -> io::Result<usize> {
        self.tidy();
        let mut taken = if self.is_empty() && !is_lively { program.write(pieces)? } else { 0 };
        let written = taken;
        for piece in pieces {
            self.bytes.extend_from_slice(piece.get(taken..).unwrap_or_default());
            taken = taken.saturating_sub(piece.len());
        }
        Ok(written)
    }

    /// Writes what the program takes, and says how much that was.
    pub(super) fn write_to(&mut self, program: &mut Program) -> io::Result<usize> {
        let rest = self.bytes.get(self.sent..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(0);
        }
        let written = program.write(&[rest])?;
        self.sent += written;
        self.tidy();
        Ok(written)
    }

    /// Gives room back that a long document took.
    fn tidy(&mut self) {
        if self.is_empty() {
            self.clear();
            if self.bytes.capacity() > 4 * READ_BYTES {
                self.bytes.shrink_to(READ_BYTES);
            }
        } else if self.sent >= AT_ONCE_BYTES {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
    }
}
