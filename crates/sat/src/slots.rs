//! Number → the bucket that holds the record: three bytes a record, in memory.

use base::disk::AlignedBytes;

/// The slot of a number whose record does not exist.
pub(crate) const NONE: u32 = 0;
/// The greatest slot that three bytes hold.
pub(crate) const SLOT_MAX: u32 = (1 << 24) - 1;

/// Numbers in one chunk; chunks are allocated as numbers come, so growth copies nothing.
const CHUNK: usize = 1 << 21;

/// Numbers in one piece of a checkpoint.
const PIECE: usize = 1 << 16;
const _: () = assert!(CHUNK.is_multiple_of(PIECE));

/// The slot of every number given so far.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    chunks: Vec<Box<[[u8; 3]]>>,
    length: u32,
}

impl Slots {
    /// How many numbers there are.
    pub(crate) fn len(&self) -> u32 {
        self.length
    }
    /// Returns the next number, with no bucket.
    pub(crate) fn push(&mut self) -> u32 {
        if self.length as usize == self.chunks.len() * CHUNK {
            let mut chunk = vec![[0; 3]; CHUNK].into_boxed_slice();
            // Look-ups are random: with small pages most would miss the translation cache.
            base::memory::prefer_huge_pages(chunk.as_flattened_mut());
            self.chunks.push(chunk);
        }
        self.length = self.length.checked_add(1).expect("fewer than 2³² records");
        self.length - 1
    }
    /// The slot of `number`; [`NONE`] for a number that was never given.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> u32 {
        if number >= self.length {
            return NONE;
        }
        let [a, b, c] = self.chunks[number as usize / CHUNK][number as usize % CHUNK];
        u32::from_le_bytes([a, b, c, 0])
    }
    #[inline]
    pub(crate) fn set(&mut self, number: u32, slot: u32) {
        debug_assert!(number < self.length && slot <= SLOT_MAX);
        let [a, b, c, _] = slot.to_le_bytes();
        self.chunks[number as usize / CHUNK][number as usize % CHUNK] = [a, b, c];
    }
    /// How many pieces [`Slots::write_piece`] knows.
    pub(crate) fn pieces(&self) -> usize {
        (self.length as usize).div_ceil(PIECE)
    }
    /// Appends a piece of the slots to `target`: the first number, the width of an entry (two bytes if none is above
    /// 65,535, else three), the entries.
    pub(crate) fn write_piece(&self, piece: usize, target: &mut AlignedBytes) {
        let first = piece * PIECE;
        let end = (first + PIECE).min(self.length as usize);
        let entries = &self.chunks[first / CHUNK][first % CHUNK..][..end - first];
        let is_narrow = entries.iter().fold(0, |high, entry| high | entry[2]) == 0;
        target.extend_from_slice(&number(first).to_le_bytes());
        target.extend_from_slice(&(if is_narrow { 2_u32 } else { 3 }).to_le_bytes());
        if is_narrow {
            let mut narrow = [0; 2 * 512];
            for some in entries.chunks(512) {
                narrow.as_chunks_mut::<2>().0.iter_mut().zip(some).for_each(|(to, [a, b, _])| *to = [*a, *b]);
                target.extend_from_slice(&narrow[..2 * some.len()]);
            }
        } else {
            target.extend_from_slice(entries.as_flattened());
        }
    }
    /// Takes a piece back in; `None` if it does not follow the one before.
    pub(crate) fn restore(&mut self, first: u32, width: u8, bytes: &[u8]) -> Option<()> {
        if first != self.length || !(2..=3).contains(&width) || !bytes.len().is_multiple_of(width.into()) {
            return None;
        }
        for entry in bytes.chunks_exact(width.into()) {
            let number = self.push();
            let high = entry.get(2).copied().unwrap_or(0);
            self.set(number, u32::from_le_bytes([entry[0], entry[1], high, 0]));
        }
        Some(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "numbers are 32 bits wide")]
fn number(place: usize) -> u32 {
    place as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_restore_to_the_same_slots_narrow_and_wide() {
        for top in [65_535, SLOT_MAX] {
            let mut slots = Slots::default();
            for step in 0..150_000 {
                let number = slots.push();
                slots.set(number, step * 7_919 % (top + 1));
            }
            let mut restored = Slots::default();
            for piece in 0..slots.pieces() {
                let mut bytes = AlignedBytes::new();
                slots.write_piece(piece, &mut bytes);
                let first = u32::from_le_bytes(bytes[0..4].try_into().unwrap());
                restored.restore(first, bytes[4], &bytes[8..]).unwrap();
            }
            assert_eq!(restored.len(), slots.len());
            assert!((0..150_001).all(|number| restored.get(number) == slots.get(number)));
        }
    }
}
