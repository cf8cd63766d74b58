//! Numbers and texts as bytes: the one variable-length codec of all files that this project writes.
//!
//! Numbers are written seven bits a byte, the lowest first; texts with their length before them.
//!
//! **Invariant:** reading past the end gives `None`, also inside a number.

/// Reads bytes from the front. A read past the end returns `None`.
#[derive(Clone, Copy, Debug)]
pub struct ByteReader<'a>(pub &'a [u8]);

impl<'a> ByteReader<'a> {
    /// The next `count` bytes.
    #[inline]
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
    /// The next `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }
    /// The next byte.
    #[inline]
    pub fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }
    /// A number of seven bits a byte, the lowest first.
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        let first = self.byte()?;
        if first < 0x80 {
            return Some(u64::from(first));
        }
        let (mut value, mut shift) = (u64::from(first & 0x7f), 7);
        loop {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Some(value);
            }
            shift += 7;
            if shift > 63 {
                return None;
            }
        }
    }
    /// A number that may be negative.
    #[inline]
    pub fn signed(&mut self) -> Option<i64> {
        self.number().map(|bits| (bits >> 1).cast_signed() ^ -(bits & 1).cast_signed())
    }
    /// A number that fits a `usize`.
    #[inline]
    pub fn count(&mut self) -> Option<usize> {
        self.number().and_then(|value| usize::try_from(value).ok())
    }
    /// A text with its length before it.
    pub fn text(&mut self) -> Option<&'a str> {
        let length = self.count()?;
        std::str::from_utf8(self.take(length)?).ok()
    }
    /// Four bytes, the lowest first.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }
    /// Eight bytes, the lowest first.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
    /// Whether all bytes have been read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Appends a number of seven bits a byte.
pub fn put_number(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value & 0x7f | 0x80).to_le_bytes()[0]);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
}

/// Appends a number that may be negative.
pub fn put_signed(bytes: &mut Vec<u8>, value: i64) {
    put_number(bytes, (value << 1).cast_unsigned() ^ (value >> 63).cast_unsigned());
}

/// Appends a text with its length before it.
pub fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_number(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            put_number(&mut bytes, value);
            let mut read = ByteReader(&bytes);
            assert_eq!((read.number(), read.is_empty()), (Some(value), true));
            assert_eq!(ByteReader(&bytes[..bytes.len() - 1]).number(), None, "{value} is cut");
        }
        for value in [0, -1, 1, i64::MIN, i64::MAX, -1_000_000] {
            let mut bytes = Vec::new();
            put_signed(&mut bytes, value);
            assert_eq!(ByteReader(&bytes).signed(), Some(value));
        }
        assert_eq!(ByteReader(&[0xff; 11]).number(), None, "longer than any number");
        assert_eq!(ByteReader(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]).number(), None);
    }
}
