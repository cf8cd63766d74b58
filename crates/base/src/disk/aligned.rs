//! Bytes that begin at a block boundary in memory, as input and output without the page cache require.
//!
//! The bytes are the tail of a vector with room for one block more than asked for; its first bytes are skipped up to
//! the first boundary. A vector never moves its bytes while they fit its capacity, so the boundary stays; growing makes
//! a new vector with its own boundary.
//!
//! **Invariant:** unless its capacity is zero, `held` begins `start` bytes before a block boundary, holds at least
//! those, and never grows beyond its capacity.

use super::BLOCK_BYTES;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A growable buffer whose first byte lies at a multiple of [`BLOCK_BYTES`] in memory.
///
/// ```
/// use base::disk::{AlignedBytes, BLOCK_BYTES};
///
/// let mut block = AlignedBytes::with_capacity(BLOCK_BYTES);
/// block.extend_from_slice(b"some record");
/// block.pad_to(BLOCK_BYTES);
/// assert_eq!(block.len(), BLOCK_BYTES);
/// assert_eq!(block.as_ptr().addr() % BLOCK_BYTES, 0);
/// ```
#[derive(Default)]
pub struct AlignedBytes {
    /// The skipped bytes, then the contents.
    held: Vec<u8>,
    /// Number of skipped bytes.
    start: usize,
}

impl AlignedBytes {
    /// An empty buffer without an allocation.
    #[must_use]
    pub const fn new() -> Self {
        Self { held: Vec::new(), start: 0 }
    }
    /// An empty buffer with room for this many bytes.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        if bytes == 0 {
            return Self::new();
        }
        let mut held = Vec::with_capacity(with_slack(bytes));
        let start = bytes_to_boundary(&held);
        held.resize(start, 0);
        Self { held, start }
    }
    /// A buffer of zeros. Large ones come from the operating system already zeroed.
    #[must_use]
    pub fn zeroed(length: usize) -> Self {
        if length == 0 {
            return Self::new();
        }
        let mut held = vec![0; with_slack(length)];
        let start = bytes_to_boundary(&held);
        held.truncate(start + length);
        Self { held, start }
    }
    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.held.len() - self.start
    }
    /// Whether the buffer is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// How many bytes fit before the buffer moves.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.held.capacity() - self.start
    }
    /// The bytes.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.held[self.start..]
    }
    /// The bytes, mutable.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut self.held[self.start..]
    }
    /// Appends bytes.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        self.held.extend_from_slice(bytes);
    }
    /// Removes all bytes and keeps the allocation.
    pub fn clear(&mut self) {
        self.truncate(0);
    }
    /// Keeps at most the first `length` bytes.
    pub fn truncate(&mut self, length: usize) {
        self.held.truncate(self.start.saturating_add(length));
    }
    /// Cuts the bytes to `length`, or appends zeros up to it.
    pub fn resize(&mut self, length: usize) {
        self.reserve(length.saturating_sub(self.len()));
        self.held.resize(self.start + length, 0);
    }
    /// Appends zeros up to the next multiple of `multiple` bytes.
    ///
    /// # Panics
    /// When `multiple` is 0.
    pub fn pad_to(&mut self, multiple: usize) {
        self.resize(self.len().next_multiple_of(multiple));
    }

    /// Makes room for this many more bytes, at least doubling it, so that appending costs a copy per byte on average.
    fn reserve(&mut self, more: usize) {
        if more > self.held.capacity() - self.held.len() {
            let needed = self.len().checked_add(more).expect("a buffer is smaller than the address space");
            let mut larger = Self::with_capacity(needed.max(self.capacity().saturating_mul(2)));
            larger.held.extend_from_slice(self);
            *self = larger;
        }
    }
}

/// Bytes to allocate so that `bytes` fit after the first boundary.
fn with_slack(bytes: usize) -> usize {
    bytes.checked_add(BLOCK_BYTES - 1).expect("a buffer is smaller than the address space")
}

fn bytes_to_boundary(held: &[u8]) -> usize {
    let address = held.as_ptr().addr();
    address.next_multiple_of(BLOCK_BYTES) - address
}

/// A copy has its own boundary: cloning `held` would lose the alignment.
impl Clone for AlignedBytes {
    fn clone(&self) -> Self {
        let mut copy = Self::with_capacity(self.len());
        copy.held.extend_from_slice(self);
        copy
    }
}

impl Deref for AlignedBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl DerefMut for AlignedBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.as_mut_slice()
    }
}

impl PartialEq for AlignedBytes {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for AlignedBytes {}

impl fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlignedBytes").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chance;

    #[track_caller]
    fn check(bytes: &AlignedBytes, expected: &[u8]) {
        assert_eq!(bytes.as_slice(), expected);
        assert!((bytes.len(), bytes.is_empty()) == (expected.len(), expected.is_empty()));
        assert!(bytes.capacity() >= bytes.len());
        assert!(bytes.capacity() == 0 || bytes.as_ptr().addr().is_multiple_of(BLOCK_BYTES));
    }

    #[test]
    fn model_aligned_bytes_are_a_vector_at_a_boundary() {
        let mut chance = Chance::new(1);
        let (mut bytes, mut model) = (AlignedBytes::new(), Vec::new());
        for _ in 0..5_000 {
            let length = chance.index(20_000);
            match chance.below(8) {
                0 => (bytes, model) = (AlignedBytes::zeroed(length), vec![0; length]),
                1 => (bytes, model) = (AlignedBytes::with_capacity(length), Vec::new()),
                2 => {
                    bytes.truncate(length);
                    model.truncate(length);
                }
                3 => {
                    bytes.resize(length);
                    model.resize(length, 0);
                }
                4 => {
                    bytes.pad_to(length + 1);
                    model.resize(model.len().next_multiple_of(length + 1), 0);
                }
                5 => bytes = bytes.clone(),
                _ => {
                    let more = vec![chance.bits().to_le_bytes()[0]; length];
                    bytes.extend_from_slice(&more);
                    model.extend(more);
                }
            }
            check(&bytes, &model);
        }
        bytes.clear();
        check(&bytes, b"");
    }

    #[test]
    fn bytes_that_fit_do_not_move() {
        let mut bytes = AlignedBytes::with_capacity(100_000);
        let address = bytes.as_ptr();
        for _ in 0..100 {
            bytes.extend_from_slice(&[7; 1_000]);
        }
        bytes.clear();
        bytes.resize(100_000);
        let bytes = Box::new(bytes);
        assert_eq!(bytes.as_ptr(), address);
        check(&bytes, &[0; 100_000]);
    }

    #[test]
    fn room_at_least_doubles() {
        let mut bytes = AlignedBytes::new();
        let mut moves = 0;
        for _ in 0..100_000 {
            let before = bytes.capacity();
            bytes.extend_from_slice(b"0123456789");
            moves += u32::from(bytes.capacity() != before);
        }
        assert!(moves < 20, "{moves}");
    }
}
