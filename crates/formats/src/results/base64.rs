//! Bytes as text: base 64 of RFC 4648, with its padding.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text that stands for bytes.
pub(super) fn encoded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |place: usize| u32::from(three.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let letter =
            |place: usize| LETTERS.get((bits >> (18 - 6 * place) & 63) as usize).copied().unwrap_or(b'=');
        text.extend((0..4).map(|place| if place <= three.len() { char::from(letter(place)) } else { '=' }));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_the_standard_writes_them() {
        let vectors = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (bytes, text) in vectors {
            assert_eq!(encoded(bytes.as_bytes()), text);
        }
        assert_eq!(encoded(&[0xfb, 0xff, 0xfe]), "+//+");
    }
}
