//! Numbers and texts as bytes: the encoding of everything that a frontier keeps in its store.
//!
//! Numbers and texts are written as in [`base::bytes`]. Only the rule for the end of input differs: there a missing field
//! is an error; here it is zero or empty. New versions of an encoding append fields, and a store that an older program
//! wrote must be read without a rebuild. The store's checksums, not this codec, detect truncated bytes.

use base::bytes::put_number;

/// Writes a number.
pub(crate) fn put(bytes: &mut Vec<u8>, value: u64) {
    put_number(bytes, value);
}

/// Writes some bytes with their length.
pub(crate) fn put_bytes(bytes: &mut Vec<u8>, value: &[u8]) {
    put(bytes, value.len() as u64);
    bytes.extend_from_slice(value);
}

/// Reads what was written, field by field; after the end everything is zero or empty.
#[derive(Debug)]
pub(crate) struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn number(&mut self) -> u64 {
        let (mut value, mut shift) = (0_u64, 0);
        while let Some((byte, rest)) = self.0.split_first() {
            self.0 = rest;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
        }
        value
    }
    /// A number that was written from a smaller type; what does not fit is its largest value.
    pub(crate) fn small<T: TryFrom<u64>>(&mut self, largest: T) -> T {
        T::try_from(self.number()).unwrap_or(largest)
    }
    pub(crate) fn bytes(&mut self) -> &'a [u8] {
        let length = usize::try_from(self.number()).unwrap_or(usize::MAX);
        let (found, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        found
    }
    pub(crate) fn text(&mut self) -> &'a str {
        std::str::from_utf8(self.bytes()).unwrap_or_default()
    }
    /// The next `N` bytes, without a length.
    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut found = [0; N];
        let (taken, rest) = self.0.split_at(N.min(self.0.len()));
        found[..taken.len()].copy_from_slice(taken);
        self.0 = rest;
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_written_and_missing_ones_are_empty() {
        let mut bytes = Vec::new();
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            put(&mut bytes, value);
        }
        put_bytes(&mut bytes, "写し".as_bytes());
        bytes.extend_from_slice(&[1, 2, 3]);
        let mut fields = Fields(&bytes);
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            assert_eq!(fields.number(), value);
        }
        assert_eq!((fields.text(), fields.array::<4>()), ("写し", [1, 2, 3, 0]));
        assert_eq!((fields.number(), fields.text(), fields.small(7_u8)), (0, "", 0));
        assert_eq!(Fields(&[0xff, 0xff, 0x7f]).small(9_u8), 9);
        assert_eq!(Fields(&[0xff; 20]).number(), u64::MAX);
    }
}
