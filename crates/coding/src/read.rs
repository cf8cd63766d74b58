//! Brotli and zstandard, through their streaming readers.

use crate::{Caps, Decoded, STEP_BYTES};
use std::borrow::Cow;
use std::io::{self, Read};

/// The largest window that zstandard may ask memory for: what RFC 9659 allows in HTTP.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Brotli; its window is at most 16 MiB by the format.
pub(super) fn unbrotli(bytes: &[u8], caps: Caps) -> Decoded<'static> {
    to_end(brotli_decompressor::Decompressor::new(bytes, STEP_BYTES), caps)
}

/// Zstandard, of one frame or several.
pub(super) fn unzstd(bytes: &[u8], caps: Caps) -> Decoded<'static> {
    let decoder = zstd::stream::read::Decoder::with_buffer(bytes).and_then(|mut decoder| {
        decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
        Ok(decoder)
    });
    match decoder {
        Ok(decoder) => to_end(decoder, caps),
        Err(_) => Decoded::Broken { got: Vec::new() },
    }
}

/// Reads a step at a time, and one byte further than the caps allow: only that byte tells that there is more.
fn to_end(mut reader: impl Read, caps: Caps) -> Decoded<'static> {
    let mut got = Vec::new();
    loop {
        let before = got.len();
        let step = STEP_BYTES.min(caps.bytes_max + 1 - before);
        got.resize(before + step, 0);
        let read = reader.read(got.get_mut(before..).unwrap_or_default());
        got.truncate(before + read.as_ref().map_or(0, |count| *count));
        match read {
            Ok(0) => return Decoded::Whole(Cow::Owned(got)),
            Ok(_) if got.len() > caps.bytes_max => return Decoded::Capped(caps.cap),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Decoded::Broken { got },
        }
    }
}
