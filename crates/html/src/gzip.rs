//! Files that are packed by gzip themselves, apart from how they were sent: `sitemap.xml.gz`.

use base::limits::{DECODED_BYTES_MAX, DECODED_FREE_BYTES, DECODED_RATIO_MAX};
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read;

const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Whether bytes begin as a packed file does.
pub(crate) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The bytes, unpacked if they are packed; none when there would be more than any body may have (H5).
///
/// What was unpacked before a file breaks off counts.
pub(crate) fn unpacked(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !is_packed(bytes) {
        return Some(bytes.into());
    }
    let most = bytes.len().saturating_mul(DECODED_RATIO_MAX).clamp(DECODED_FREE_BYTES, DECODED_BYTES_MAX);
    let whole = start(bytes, most + 1);
    (whole.len() <= most).then_some(whole.into())
}

/// The first bytes of a packed file, so many at most.
pub(crate) fn start(bytes: &[u8], most: usize) -> Vec<u8> {
    let mut found = Vec::new();
    // An error is the end of what can be read, and what was read before it stays.
    let _ = MultiGzDecoder::new(bytes).take(most as u64).read_to_end(&mut found);
    found
}
