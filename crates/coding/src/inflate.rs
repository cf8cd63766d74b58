//! gzip and deflate, a step at a time.

use crate::{Cap, Caps, Decoded, STEP_BYTES};
use flate2::{Decompress, FlushDecompress, Status};
use std::borrow::Cow;

/// Maximum number of gzip members in one body. Servers send one, log rotation a few; many are an attack.
pub(super) const GZIP_MEMBERS_MAX: usize = 1_024;

pub(super) fn gunzip(bytes: &[u8], caps: Caps) -> Decoded<'static> {
    let (mut got, mut rest) = (Vec::new(), bytes);
    for _ in 0..GZIP_MEMBERS_MAX {
        match inflate(Decompress::new_gzip(15), bytes, rest, &mut got, caps) {
            Inflated::End(read) => rest = rest.get(read..).unwrap_or_default(),
            Inflated::Over(cap) => return Decoded::Capped(cap),
            Inflated::Broken => return Decoded::Broken { got },
        }
        // What follows a member and is not a member is padding; every browser ignores it.
        if !rest.starts_with(&[0x1f, 0x8b]) {
            return Decoded::Whole(Cow::Owned(got));
        }
    }
    Decoded::Capped(Cap::Layers)
}

/// The standard means zlib by `deflate`; some servers send the bare stream.
pub(super) fn deflate(bytes: &[u8], caps: Caps) -> Decoded<'static> {
    let has_zlib_header = match bytes {
        [first, second, ..] => first & 0x0f == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0,
        _ => false,
    };
    let as_zlib = has_zlib_header.then(|| inflate_whole(Decompress::new(true), bytes, caps));
    match as_zlib {
        Some(Decoded::Broken { got }) if got.is_empty() => inflate_whole(Decompress::new(false), bytes, caps),
        Some(decoded) => decoded,
        None => inflate_whole(Decompress::new(false), bytes, caps),
    }
}

fn inflate_whole(stream: Decompress, bytes: &[u8], caps: Caps) -> Decoded<'static> {
    let mut got = Vec::new();
    match inflate(stream, bytes, bytes, &mut got, caps) {
        Inflated::End(_) => Decoded::Whole(Cow::Owned(got)),
        Inflated::Over(cap) => Decoded::Capped(cap),
        Inflated::Broken => Decoded::Broken { got },
    }
}

enum Inflated {
    /// The stream ended after this many bytes.
    End(usize),
    /// There is more than may be decoded.
    Over(Cap),
    /// The stream is truncated or invalid.
    Broken,
}

/// Appends what `stream` makes of `bytes`, the end of `all`, to `got`, a step at a time.
fn inflate(mut stream: Decompress, all: &[u8], bytes: &[u8], got: &mut Vec<u8>, caps: Caps) -> Inflated {
    let (mut read, before) = (0, all.len() - bytes.len());
    loop {
        got.reserve(STEP_BYTES);
        let (read_before, got_before) = (read, got.len());
        let rest = bytes.get(read..).unwrap_or_default();
        let status = stream.decompress_vec(rest, got, FlushDecompress::None);
        read = usize::try_from(stream.total_in()).unwrap_or(usize::MAX);
        if let Some(cap) = caps.exceeded(got.len(), before + read, all.len()) {
            return Inflated::Over(cap);
        }
        match status {
            Ok(Status::StreamEnd) => return Inflated::End(read),
            Ok(_) if (read, got.len()) != (read_before, got_before) => {}
            Ok(_) | Err(_) => return Inflated::Broken,
        }
    }
}
