//! Brotli and zstandard, through their streaming readers.

use crate::{Caps, Decoded, STEP_BYTES};
use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, BufRead, Read};

/// The largest window that zstandard may ask memory for: what RFC 9659 allows in HTTP.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;
/// How far a reader may read ahead of what it decodes.
const AHEAD_BYTES: usize = 4 * 1024;

/// What the first bits of a brotli stream are when its window is larger than the standard knows (RFC 7932).
const LARGE_WINDOW: u8 = 0x11;

/// Brotli, with a window of at most 16 MiB as in the standard: the decoder accepts larger ones, and fills a window
/// before it returns a byte.
pub(super) fn unbrotli(bytes: &[u8], caps: Caps) -> Decoded<'static> {
    if bytes.first().is_some_and(|first| first & 0x7f == LARGE_WINDOW) {
        return Decoded::Broken { got: Vec::new() };
    }
    let read = Cell::new(0);
    let reader = brotli_decompressor::Decompressor::new(Counted { rest: bytes, read: &read }, AHEAD_BYTES);
    to_end(reader, &read, bytes.len(), caps)
}

/// Zstandard, of one frame or several.
pub(super) fn unzstd(bytes: &[u8], caps: Caps) -> Decoded<'static> {
    let read = Cell::new(0);
    let counted = Counted { rest: bytes, read: &read };
    let decoder = zstd::stream::read::Decoder::with_buffer(counted).and_then(|mut decoder| {
        decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
        Ok(decoder)
    });
    match decoder {
        Ok(decoder) => to_end(decoder, &read, bytes.len(), caps),
        Err(_) => Decoded::Broken { got: Vec::new() },
    }
}

/// Decodes a step at a time, for as long as the caps allow.
fn to_end(mut reader: impl Read, read: &Cell<usize>, all: usize, caps: Caps) -> Decoded<'static> {
    let mut got = Vec::new();
    loop {
        let before = got.len();
        got.resize(before + STEP_BYTES, 0);
        let result = reader.read(got.get_mut(before..).unwrap_or_default());
        got.truncate(before + result.as_ref().map_or(0, |count| *count));
        if let Some(cap) = caps.exceeded(got.len(), read.get(), all) {
            return Decoded::Capped(cap);
        }
        match result {
            Ok(0) => return Decoded::Whole(Cow::Owned(got)),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Decoded::Broken { got },
        }
    }
}

/// Bytes, and how many of them have been read.
struct Counted<'a> {
    rest: &'a [u8],
    read: &'a Cell<usize>,
}

impl Read for Counted<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.rest.read(into)?;
        self.read.set(self.read.get() + count);
        Ok(count)
    }
}

impl BufRead for Counted<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(self.rest.get(..AHEAD_BYTES).unwrap_or(self.rest))
    }
    fn consume(&mut self, count: usize) {
        self.rest.consume(count);
        self.read.set(self.read.get() + count);
    }
}
