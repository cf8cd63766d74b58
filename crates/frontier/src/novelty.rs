//! Which features of its pages a server has shown before, in bounded memory (H10).
//!
//! Two generations of a Bloom filter. A feature is set in the newer one; when half of its bits are set, it becomes the
//! older one, and the old one is dropped. A feature that a page shows again moves to the newer generation, so what all
//! pages of a trap have in common is never lost.
//!
//! **Invariant:** a feature that is remembered is never called new. The reverse can happen, for at most half of the
//! features: that is why one new page in twenty is enough for a shape of URLs.

use crate::codec::{Fields, put};
use base::chance;

/// Numbers of 64 bits of the first generation, and of the largest; each is four times as large as the one before.
const NUMBERS_MIN: usize = 64;
const NUMBERS_MAX: usize = 1_024;

/// The features that were seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Novelty {
    newer: Vec<u64>,
    older: Vec<u64>,
    /// Bits set in the newer generation.
    set: usize,
}

impl Novelty {
    /// Adds a feature and returns whether it is new.
    pub(crate) fn add(&mut self, feature: u32) -> bool {
        if self.newer.is_empty() {
            self.newer = vec![0; NUMBERS_MIN];
        }
        let hash = chance::mix(u64::from(feature));
        let is_known = holds(&self.newer, hash) || holds(&self.older, hash);
        for (at, bit) in places(hash, self.newer.len()) {
            self.set += usize::from(self.newer[at] & bit == 0);
            self.newer[at] |= bit;
        }
        if self.set * 2 > self.newer.len() * 64 {
            let next = vec![0; (self.newer.len() * 4).min(NUMBERS_MAX)];
            self.older = std::mem::replace(&mut self.newer, next);
            self.set = 0;
        }
        !is_known
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        for generation in [&self.newer, &self.older] {
            put(bytes, generation.len() as u64);
            generation.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        }
    }
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        let (newer, older) = (generation(fields), generation(fields));
        let set = newer.iter().map(|number| number.count_ones() as usize).sum();
        Self { newer, older, set }
    }
}

fn generation(fields: &mut Fields<'_>) -> Vec<u64> {
    let length = usize::try_from(fields.number()).unwrap_or(0);
    if !length.is_power_of_two() || !(NUMBERS_MIN..=NUMBERS_MAX).contains(&length) {
        return Vec::new();
    }
    (0..length).map(|_| u64::from_le_bytes(fields.array())).collect()
}
fn holds(generation: &[u64], hash: u64) -> bool {
    !generation.is_empty()
        && places(hash, generation.len()).iter().all(|(at, bit)| generation[*at] & bit != 0)
}
/// The two bits of a hash in a filter of `numbers` numbers, a power of two.
fn places(hash: u64, numbers: usize) -> [(usize, u64); 2] {
    [hash & 0xFFFF_FFFF, hash >> 32].map(|half| {
        let bit = half % (numbers as u64 * 64);
        ((bit / 64) as usize, 1 << (bit % 64))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feature(number: u32) -> u32 {
        number.wrapping_mul(0x9E37_79B1)
    }

    #[test]
    fn recurring_features_are_never_new_and_most_new_ones_are() {
        let mut novelty = Novelty::default();
        let common: Vec<u32> = (0..100).map(|number| feature(1_000_000 + number)).collect();
        common.iter().for_each(|feature| _ = novelty.add(*feature));
        let mut new = 0;
        for number in 0..100_000 {
            new += u32::from(novelty.add(feature(number)));
            if number % 1_000 == 0 {
                assert!(!common.iter().any(|feature| novelty.add(*feature)), "{number}");
            }
        }
        assert!(new > 60_000, "{new}");
        assert!(novelty.newer.len() + novelty.older.len() <= 2 * NUMBERS_MAX);
    }

    #[test]
    fn it_is_read_as_it_was_written_and_other_bytes_are_empty() {
        let mut novelty = Novelty::default();
        for number in 0..20_000 {
            novelty.add(feature(number));
            if number % 4_999 == 0 {
                let mut bytes = Vec::new();
                novelty.write(&mut bytes);
                assert_eq!(Novelty::read(&mut Fields(&bytes)), novelty);
            }
        }
        assert_eq!(Novelty::read(&mut Fields(&[65, 1, 2, 3])), Novelty::default());
        assert_eq!(Novelty::read(&mut Fields(&[])), Novelty::default());
    }
}
