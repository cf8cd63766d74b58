//! A table of names with a bounded size.
//!
//! Entries live in two generations. Inserted or found entries are young; when half of the bound is young, the old
//! generation is discarded and the young one becomes old. So an entry used within the last half bound of new names is
//! still there, unused ones disappear without a search, and every step takes constant time.
//!
//! **Invariant:** there are never more entries than the bound.

use std::collections::HashMap;
use std::hash::Hash;

#[derive(Debug)]
pub(super) struct Bounded<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
    generation_entries_max: usize,
}

impl<K: Eq + Hash + Clone, V> Bounded<K, V> {
    pub(super) fn new(entries_max: usize) -> Self {
        let generation_entries_max = (entries_max / 2).max(1);
        Self { young: HashMap::new(), old: HashMap::new(), generation_entries_max }
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        self.old.remove(&key);
        self.young.insert(key, value);
        if self.young.len() >= self.generation_entries_max {
            self.old = std::mem::take(&mut self.young);
        }
    }

    /// The entry of `key`, which becomes young.
    pub(super) fn get(&mut self, key: &K) -> Option<&V> {
        if let Some((key, value)) = self.old.remove_entry(key) {
            self.insert(key, value);
        }
        self.young.get(key).or_else(|| self.old.get(key))
    }

    pub(super) fn remove(&mut self, key: &K) {
        self.young.remove(key);
        self.old.remove(key);
    }

    pub(super) fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_holds_and_what_is_used_stays() {
        for bound in [1, 2, 3, 10, 1_000] {
            let mut table = Bounded::new(bound);
            for key in 0..10_000_u32 {
                table.insert(key, key);
                assert!(table.len() <= bound, "{} of {bound}", table.len());
                assert_eq!(table.get(&key), Some(&key));
            }
        }
        let mut table = Bounded::new(1_000);
        table.insert(u32::MAX, 7);
        for key in 0..100_000_u32 {
            table.insert(key, key);
            if key % 400 == 0 {
                assert_eq!(table.get(&u32::MAX), Some(&7), "after {key}");
            }
        }
        assert_eq!(table.get(&0), None, "what nobody used is gone");
        table.remove(&u32::MAX);
        assert_eq!(table.get(&u32::MAX), None);
    }
}
