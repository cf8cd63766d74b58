//! The text of a robots file, up to the length that is ever read.

use base::door::Exchange;
use base::limits::ROBOTS_BYTES_MAX;

/// The decoded text of a robots file; `None` if it has a coding that cannot be decoded within the
/// limits.
#[must_use]
pub fn robots_text(exchange: &Exchange) -> Option<Vec<u8>> {
    robots_text_of(&coding::content(exchange)).map(<[u8]>::to_vec)
}

/// The text of a partially decoded robots file: the maximum length that is read, and one byte more, which shows whether
/// a line was cut. A coding that is truncated after that does no harm.
#[must_use]
pub fn robots_text_of<'a>(decoded: &'a coding::Decoded<'_>) -> Option<&'a [u8]> {
    let text = match decoded {
        coding::Decoded::Whole(text) => text.as_ref(),
        coding::Decoded::Broken { got } if got.len() >= ROBOTS_BYTES_MAX => got,
        _ => return None,
    };
    Some(text.get(..=ROBOTS_BYTES_MAX).unwrap_or(text))
}
