//! A file read through one buffer that can step back cheaply, with a limit on reading again.

use std::io::{self, Read, Seek, SeekFrom};

const BUFFER_BYTES: usize = 128 * 1024;
/// Reading again after damage may cost a few times the file, and this much more.
const AGAIN_BYTES_FREE: u64 = 16 * 1024 * 1024;

/// Buffered input that knows its position in the file.
#[derive(Debug)]
pub(super) struct Input<R> {
    read: R,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    position: u64,
    furthest: u64,
    again_bytes: u64,
}

impl<R: Read> Input<R> {
    pub(super) fn new(read: R) -> Self {
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        Self { read, buffer, start: 0, end: 0, position: 0, furthest: 0, again_bytes: 0 }
    }
    pub(super) fn position(&self) -> u64 {
        self.position
    }
    /// How far the file was read.
    pub(super) fn furthest(&self) -> u64 {
        self.furthest
    }
    /// The next bytes: at least `wanted` of them, unless the file has no more.
    pub(super) fn ahead(&mut self, wanted: usize) -> io::Result<&[u8]> {
        if self.end - self.start < wanted {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            while self.end < wanted.min(BUFFER_BYTES) {
                match self.read.read(self.buffer.get_mut(self.end..).unwrap_or_default()) {
                    Ok(0) => break,
                    Ok(length) => self.end += length,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(self.buffer.get(self.start..self.end).unwrap_or_default())
    }
    pub(super) fn consume(&mut self, bytes: usize) {
        let bytes = bytes.min(self.end - self.start);
        self.start += bytes;
        self.position += bytes as u64;
        self.furthest = self.furthest.max(self.position);
    }
}

impl<R: Read + Seek> Input<R> {
    /// Goes to `place`. Within the buffer that costs nothing.
    pub(super) fn go_to(&mut self, place: u64) -> io::Result<()> {
        let buffer_from = self.position - self.start as u64;
        let within = place.checked_sub(buffer_from).and_then(|ahead| usize::try_from(ahead).ok());
        self.again_bytes += self.position.saturating_sub(place);
        match within.filter(|ahead| *ahead <= self.end) {
            Some(start) => self.start = start,
            None => {
                self.read.seek(SeekFrom::Start(place))?;
                (self.start, self.end) = (0, 0);
            }
        }
        self.position = place;
        Ok(())
    }
    /// Where to look again from: `place`, or, when too much was read again already, where new bytes begin.
    pub(super) fn again_from(&self, place: u64) -> u64 {
        let allowed = AGAIN_BYTES_FREE.saturating_add(self.furthest.saturating_mul(4));
        if self.again_bytes <= allowed { place } else { self.furthest }
    }
}
