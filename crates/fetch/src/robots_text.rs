//! The text of a robots file, as far as it is ever read.

use base::door::Exchange;
use base::limits::ROBOTS_BYTES_MAX;

/// The text of a robots file, its codings removed; nothing when it is coded in a way that cannot be read within the
/// limits.
#[must_use]
pub fn robots_text(exchange: &Exchange) -> Option<Vec<u8>> {
    robots_text_of(&coding::content(exchange)).map(<[u8]>::to_vec)
}

/// The text of a robots file that was decoded as far as that goes: all that is ever read of one, and a byte more, which
/// tells whether a line was cut. A coding that breaks off behind that does no harm.
#[must_use]
pub fn robots_text_of<'a>(decoded: &'a coding::Decoded<'_>) -> Option<&'a [u8]> {
    let text = match decoded {
        coding::Decoded::Whole(text) => text.as_ref(),
        coding::Decoded::Broken { got } if got.len() >= ROBOTS_BYTES_MAX => got,
        _ => return None,
    };
    Some(text.get(..=ROBOTS_BYTES_MAX).unwrap_or(text))
}
