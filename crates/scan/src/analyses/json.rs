//! The few forms of JSON that answers have.

use std::io::Write as _;

/// Appends a text.
pub(super) fn text(out: &mut Vec<u8>, text: &str) {
    // Neither the encoder nor a vector can fail.
    let _ = serde_json::to_writer(out, text);
}

/// Appends a text, or null for none.
pub(super) fn text_or_null(out: &mut Vec<u8>, found: Option<&str>) {
    match found {
        Some(found) => text(out, found),
        None => null(out),
    }
}

/// Appends null.
pub(super) fn null(out: &mut Vec<u8>) {
    out.extend_from_slice(b"null");
}

/// Appends a number.
pub(super) fn number(out: &mut Vec<u8>, number: u64) {
    let _ = write!(out, "{number}");
}

/// Appends a list of what `write` makes of each.
pub(super) fn list<T>(
    out: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    write: impl Fn(&mut Vec<u8>, T),
) {
    out.push(b'[');
    for (place, item) in items.into_iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}
