//! Which URLs were offered lately, so that the links of every page are not written down again and again.
//!
//! **Invariant:** what it says it has seen was seen, but for a chance of one in 2⁶⁰; what it has forgotten is offered once
//! more, and the store knows it. Memory does not grow.

/// A cache of hashes in sets of eight; the oldest of a set goes first.
#[derive(Debug)]
pub(crate) struct RecentLinks {
    sets: Vec<[u64; WAYS]>,
    next: Vec<u8>,
}

const WAYS: usize = 8;

impl RecentLinks {
    /// Room for about so many.
    pub(crate) fn new(entries: usize) -> Self {
        let sets = (entries / WAYS).next_power_of_two().max(1);
        Self { sets: vec![[0; WAYS]; sets], next: vec![0; sets] }
    }
    /// Whether a hash was added before and is still known.
    pub(crate) fn holds(&self, hash: u64) -> bool {
        self.sets[self.set(hash)].contains(&hash.max(1))
    }
    /// Adds a hash.
    pub(crate) fn add(&mut self, hash: u64) {
        let set = self.set(hash);
        let way = self.next[set];
        self.next[set] = (way + 1) % 8;
        self.sets[set][usize::from(way)] = hash.max(1);
    }

    fn set(&self, hash: u64) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "the low bits choose the set")]
        let low = hash as usize;
        low & (self.sets.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::chance::mix;

    #[test]
    fn what_was_added_is_held_until_much_more_was() {
        let mut seen = RecentLinks::new(1_024);
        (0..512).for_each(|number| seen.add(mix(number)));
        let held = (0..512).filter(|number| seen.holds(mix(*number))).count();
        assert!(held > 500, "{held}");
        assert!(!(512..5_000).any(|number| seen.holds(mix(number))));
        (512..100_000).for_each(|number| seen.add(mix(number)));
        assert!((0..512).filter(|number| seen.holds(mix(*number))).count() < 10);
    }
}
