//! Files that are compressed by gzip themselves, independent of the content coding: `sitemap.xml.gz`.

use base::limits::{DECODED_BYTES_MAX, DECODED_FREE_BYTES, DECODED_RATIO_MAX};
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read;

const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Whether bytes start like a gzip file.
pub(crate) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The bytes, decompressed if necessary; `None` if the result exceeds the limit of a body (H5).
///
/// The part decompressed before a file is truncated counts.
pub(crate) fn unpacked(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !is_packed(bytes) {
        return Some(bytes.into());
    }
    let most = bytes.len().saturating_mul(DECODED_RATIO_MAX).clamp(DECODED_FREE_BYTES, DECODED_BYTES_MAX);
    let whole = start(bytes, most + 1);
    (whole.len() <= most).then_some(whole.into())
}

/// The first bytes of a gzip file, at most this many.
pub(crate) fn start(bytes: &[u8], most: usize) -> Vec<u8> {
    let mut found = Vec::new();
    // An error ends the input; the part read before it is kept.
    let _ = MultiGzDecoder::new(bytes).take(most as u64).read_to_end(&mut found);
    found
}
