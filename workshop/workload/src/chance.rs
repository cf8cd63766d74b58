//! Numbers that look random and are functions of a seed.

/// 64 characters that every system stores as they are.
const ALPHABET: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";

/// Characters that hold a whole word: 11 × 6 bits.
const WORD_CHARACTERS: usize = 11;

/// Mixes the bits of `word`. Different words stay different.
pub(crate) fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// `word`, taken as a fraction of all words, times `bound`: below `bound`.
pub(crate) fn unit(word: u64, bound: u32) -> u32 {
    u32::try_from((u128::from(word) * u128::from(bound)) >> 64).expect("below a u32")
}

/// Fills `bytes` with what `seed` draws for `number`.
pub(crate) fn fill(seed: u64, number: u32, bytes: &mut [u8]) {
    for (word, bytes) in words(seed, number).zip(bytes.chunks_mut(8)) {
        bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
    }
}

/// A printable text that `seed` draws for `number` and for no other.
///
/// The first characters spell a word that different numbers never share; they have no order, so neither have texts.
pub(crate) fn printable<const BYTES: usize>(seed: u64, number: u32) -> [u8; BYTES] {
    const { assert!(BYTES >= WORD_CHARACTERS) };
    let mut text = [0; BYTES];
    for (word, characters) in words(seed, number).zip(text.chunks_mut(WORD_CHARACTERS)) {
        for (place, character) in characters.iter_mut().enumerate() {
            *character = ALPHABET[(word >> (6 * place) & 63) as usize];
        }
    }
    text
}

/// The words that `seed` draws for `number`; the first is a different one for every number.
fn words(seed: u64, number: u32) -> impl Iterator<Item = u64> {
    let first = mix(seed ^ u64::from(number));
    std::iter::successors(Some(first), |&word| Some(mix(word)))
}

/// The numbers below a bound in another order.
#[derive(Debug, Clone)]
pub(crate) struct Permutation {
    size: u32,
    /// All ones, and the smallest such that no number below `size` is above it.
    mask: u32,
    /// Bits of a number, halved.
    half: u32,
    keys: [u32; 4],
}

impl Permutation {
    /// An order of `0..size` that `seed` draws.
    pub(crate) fn new(size: u32, seed: u64) -> Self {
        let mask = u32::MAX.checked_shr((size - 1).leading_zeros()).unwrap_or(0);
        let keys = [1, 2, 3, 4].map(|round| unit(mix(seed ^ round), u32::MAX));
        Self { size, mask, half: mask.count_ones().div_ceil(2).max(1), keys }
    }

    /// The position of `number`.
    ///
    /// Applies invertible steps to the numbers up to the mask, until one below `size` appears. So it is a permutation
    /// of exactly `0..size`.
    pub(crate) fn of(&self, number: u32) -> u32 {
        debug_assert!(number < self.size);
        let mut place = number;
        loop {
            place = self.step(place);
            if place < self.size {
                return place;
            }
        }
    }

    fn step(&self, number: u32) -> u32 {
        self.keys.iter().fold(number, |place, key| {
            let place = place.wrapping_add(*key).wrapping_mul(key | 1) & self.mask;
            place ^ (place >> self.half)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Permutation, fill, unit};

    #[test]
    fn a_permutation_meets_every_place_once() {
        for size in [1, 2, 3, 7, 8, 9, 1_000, 65_536, 100_003] {
            let order = Permutation::new(size, 11);
            let mut places: Vec<_> = (0..size).map(|number| order.of(number)).collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..size), "{size}");
        }
    }

    #[test]
    fn a_fraction_reaches_both_ends_and_no_further() {
        assert_eq!((unit(0, 10), unit(u64::MAX, 10), unit(u64::MAX, 1)), (0, 9, 0));
    }

    #[test]
    fn every_byte_is_drawn() {
        let mut seen = [0_u8; 13];
        for number in 0..64 {
            let mut bytes = [0; 13];
            fill(7, number, &mut bytes);
            seen.iter_mut().zip(bytes).for_each(|(seen, byte)| *seen |= byte);
        }
        assert_eq!(seen, [0xff; 13]);
    }
}
