//! Buffered input that knows its position in the file, and can look far ahead.
//!
//! **Invariant:** it holds at most the given number of bytes.

use std::io::{self, BufRead, Read, Seek, SeekFrom};

/// What a buffer begins with.
pub(crate) const INPUT_BYTES: usize = 256 * 1024;

/// The bytes of a file from some place on.
#[derive(Debug)]
pub(super) struct Input<R> {
    read: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    position: u64,
    bytes_max: usize,
}

impl<R: Read> Input<R> {
    /// What `read` holds, which stands at `position` of its file.
    pub(super) fn new(read: R, position: u64, bytes_max: usize) -> Self {
        Self { read, buffer: Vec::new(), start: 0, end: 0, position, bytes_max }
    }
    /// The position of the first unconsumed byte in the file.
    pub(super) fn position(&self) -> u64 {
        self.position
    }
    /// What was read and is not consumed.
    pub(super) fn unread(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }
    /// Where in the buffer the first byte that is not consumed stands; consuming does not move it.
    pub(super) fn start(&self) -> usize {
        self.start
    }
    /// The buffer: also holds what was consumed last.
    pub(super) fn buffer(&self) -> &[u8] {
        &self.buffer
    }

    /// Reads until the buffer is full, which grows if it was full already. False if nothing was read: the file has
    /// ended, or the buffer may not grow.
    pub(super) fn look_further(&mut self) -> io::Result<bool> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if self.end == self.buffer.len() {
            self.grow();
        }
        let before = self.end;
        while let Some(room) = self.buffer.get_mut(self.end..).filter(|room| !room.is_empty()) {
            match read_some(&mut self.read, room)? {
                0 => break,
                bytes => self.end += bytes,
            }
        }
        Ok(self.end > before)
    }

    /// At least `bytes` that are not consumed, or all there are.
    pub(super) fn peek(&mut self, bytes: usize) -> io::Result<&[u8]> {
        while self.unread().len() < bytes && self.look_further()? {}
        Ok(self.unread())
    }

    fn grow(&mut self) {
        let bytes = (self.buffer.len() * 2).max(INPUT_BYTES).min(self.bytes_max);
        if bytes > self.buffer.len() {
            self.buffer.resize(bytes, 0);
        }
    }
}

impl<R: Read + Seek> Input<R> {
    pub(super) fn go_to(&mut self, position: u64) -> io::Result<()> {
        (self.start, self.end, self.position) = (0, 0, position);
        self.read.seek(SeekFrom::Start(position)).map(drop)
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut unread = self.fill_buf()?;
        let bytes = unread.read(buffer)?;
        self.consume(bytes);
        Ok(bytes)
    }
}

impl<R: Read> BufRead for Input<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            self.look_further()?;
        }
        Ok(self.unread())
    }
    fn consume(&mut self, bytes: usize) {
        let bytes = bytes.min(self.end - self.start);
        self.start += bytes;
        self.position += bytes as u64;
    }
}

fn read_some(read: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match read.read(room) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
