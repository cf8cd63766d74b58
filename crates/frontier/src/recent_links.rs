//! Which URLs were offered recently, so that repeated links are not offered again.
//!
//! **Invariant:** a hash that it contains was added, except with a chance of 2⁻⁶⁰; a dropped one is offered once more,
//! and the store knows the page. Memory does not grow.

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
    fn a_link_is_remembered_until_many_more_were_added() {
        let mut seen = RecentLinks::new(1_024);
        (0..512).for_each(|number| seen.add(mix(number)));
        let held = (0..512).filter(|number| seen.holds(mix(*number))).count();
        assert!(held > 500, "{held}");
        assert!(!(512..5_000).any(|number| seen.holds(mix(number))));
        (512..100_000).for_each(|number| seen.add(mix(number)));
        assert!((0..512).filter(|number| seen.holds(mix(*number))).count() < 10);
    }
}
