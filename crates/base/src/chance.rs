//! Randomness that is a pure function of its seed: the same seed, the same web, the same faults, the same jitter.
//!
//! Not for secrets: the seed determines every value.

/// Mixes 64 bits so that every input bit reaches every output bit (the finaliser of `SplitMix64`, Steele et al. 2014).
#[must_use]
pub const fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A hash of several numbers, in their order.
#[must_use]
pub fn hash(parts: &[u64]) -> u64 {
    parts.iter().fold(0x5554_5355_5348_4930, |state, part| mix(state ^ mix(*part)))
}

/// A hash of bytes under a seed.
#[must_use]
pub fn hash_bytes(seed: u64, bytes: &[u8]) -> u64 {
    let mut state = mix(seed ^ bytes.len() as u64);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
        state = mix(state ^ mix(u64::from_le_bytes(word)));
    }
    state
}

/// A stream of random numbers from a seed.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// The stream of `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(mix(seed))
    }
    /// The stream that belongs to several numbers together, such as seed, page and visit.
    #[must_use]
    pub fn of(parts: &[u64]) -> Self {
        Self(hash(parts))
    }
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }
    /// A number in `0..bound`; 0 when the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }
    /// An index into a list of `length`; 0 when it is empty.
    #[expect(clippy::cast_possible_truncation, reason = "the result is below `length`, a usize")]
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }
    /// A number in `[0, 1)`.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
    /// True with the given probability.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
    /// One of the choices.
    ///
    /// # Panics
    /// When there is none.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.index(choices.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_stream() {
        let take = |seed| {
            let mut chance = Chance::new(seed);
            [chance.bits(), chance.bits(), chance.below(10)]
        };
        assert_eq!(take(7), take(7));
        assert_ne!(take(7), take(8));
    }

    #[test]
    fn the_stream_is_spread_evenly() {
        let mut chance = Chance::new(1);
        let mut counts = [0_u32; 10];
        (0..100_000).for_each(|_| counts[chance.index(10)] += 1);
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
        let mean = (0..100_000).map(|_| chance.unit()).sum::<f64>() / 1e5;
        assert!((0.49..0.51).contains(&mean), "{mean}");
    }

    #[test]
    fn hashes_differ_by_order_and_length() {
        assert_ne!(hash(&[1, 2]), hash(&[2, 1]));
        assert_ne!(hash(&[0]), hash(&[0, 0]));
        assert_ne!(hash_bytes(1, b"a"), hash_bytes(1, b"a\0"));
        assert_ne!(hash_bytes(1, b"a"), hash_bytes(2, b"a"));
    }
}
