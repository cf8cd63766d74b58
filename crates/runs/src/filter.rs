//! A filter over the keys of a run: shows without reading a run that it lacks most absent keys.
//!
//! **Invariant:** an added key is never denied. About one in a hundred other keys is not denied.

/// Bits for each key: with seven probes the false-positive rate is 1 in 120.
const BITS_A_KEY: u64 = 10;
const PROBES: u64 = 7;

/// A Bloom filter whose probes are in one line of 512 bits, so that a query reads memory once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Filter(Vec<u8>);

const LINE_BYTES: usize = 64;

impl Filter {
    /// A filter with room for `keys` keys.
    pub(crate) fn for_keys(keys: u64) -> Self {
        let lines = (keys * BITS_A_KEY).div_ceil(LINE_BYTES as u64 * 8).max(1);
        Self(vec![0; usize::try_from(lines).expect("it fits the memory") * LINE_BYTES])
    }
    /// A filter from [`Filter::as_bytes`]; one without a whole line denies nothing.
    pub(crate) fn from_stored(mut bytes: Vec<u8>) -> Self {
        bytes.truncate(bytes.len() / LINE_BYTES * LINE_BYTES);
        Self(bytes)
    }
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
    /// Adds a key.
    pub(crate) fn add(&mut self, key: &[u8]) {
        let (line, bits) = self.place(key);
        for bit in bits {
            self.0[line * LINE_BYTES + bit / 8] |= 1 << (bit % 8);
        }
    }
    /// Whether the key may have been added.
    pub(crate) fn may_hold(&self, key: &[u8]) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let (line, mut bits) = self.place(key);
        bits.all(|bit| self.0[line * LINE_BYTES + bit / 8] & 1 << (bit % 8) != 0)
    }

    fn place(&self, key: &[u8]) -> (usize, impl Iterator<Item = usize> + use<>) {
        let digest = blake3::hash(key);
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| digest.as_bytes()[at + i]));
        let lines = (self.0.len() / LINE_BYTES) as u64;
        let line = usize::try_from(word(0) % lines).unwrap_or(0);
        let bits = word(8);
        let line_bits = LINE_BYTES as u64 * 8;
        (
            line,
            (0..PROBES).map(move |probe| usize::try_from(bits >> (probe * 9) & (line_bits - 1)).unwrap_or(0)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_keys_are_never_denied_and_most_others_are() {
        let mut filter = Filter::for_keys(10_000);
        let key = |number: u64| format!("com,example)/{number}").into_bytes();
        (0..10_000).for_each(|number| filter.add(&key(number)));
        let filter = Filter::from_stored(filter.as_bytes().to_vec());
        assert!((0..10_000).all(|number| filter.may_hold(&key(number))));
        let wrong = (10_000..110_000).filter(|number| filter.may_hold(&key(*number))).count();
        assert!(wrong < 3_000, "{wrong} of 100000");
        assert!(Filter::from_stored(Vec::new()).may_hold(b"x"));
    }
}
