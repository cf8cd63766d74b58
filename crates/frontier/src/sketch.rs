//! Counts distinct values in 64 bytes (`HyperLogLog`, Flajolet et al. 2007).
//!
//! It counts the text blocks of a set of pages: a server that shows the same few blocks under many names has nothing
//! new, however its pages arrange them (H10).

/// A count of distinct hashes, of constant size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sketch([u8; REGISTERS]);

const REGISTERS: usize = 64;

impl Default for Sketch {
    fn default() -> Self {
        Self([0; REGISTERS])
    }
}

impl Sketch {
    /// Adds a hash; returns whether it was certainly new.
    pub(crate) fn add(&mut self, hash: u32) -> bool {
        let hash = base::chance::mix(u64::from(hash));
        let rank = u8::try_from((hash >> 6).trailing_zeros().min(57) + 1).unwrap_or(58);
        let register = &mut self.0[(hash & 63) as usize];
        let is_new = rank > *register;
        *register = rank.max(*register);
        is_new
    }
    /// About how many different hashes were added, within some 13 percent.
    pub(crate) fn count(&self) -> f64 {
        let registers = f64::from(u32::try_from(REGISTERS).unwrap_or(0));
        let sum: f64 = self.0.iter().map(|rank| 0.5_f64.powi((*rank).into())).sum();
        let estimate = 0.709 * registers * registers / sum;
        let empty = self.0.iter().filter(|rank| **rank == 0).count();
        if estimate <= 2.5 * registers && empty > 0 {
            registers * (registers / f64::from(u32::try_from(empty).unwrap_or(1))).ln()
        } else {
            estimate
        }
    }
    pub(crate) fn as_bytes(&self) -> &[u8; REGISTERS] {
        &self.0
    }
    pub(crate) fn from_bytes(bytes: [u8; REGISTERS]) -> Self {
        Self(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sketch_counts_within_a_third() {
        let mut sketch = Sketch::default();
        let mut added = 0_u32;
        for target in [0, 1, 10, 40, 100, 1_000, 100_000] {
            while added < target {
                sketch.add(added.wrapping_mul(0x9E37_79B1));
                added += 1;
            }
            let (count, target) = (sketch.count(), f64::from(target));
            assert!((count - target).abs() <= 0.34 * target, "{count} for {target}");
        }
        let before = sketch.clone();
        (0..1_000_u32).for_each(|again| assert!(!sketch.add(again.wrapping_mul(0x9E37_79B1))));
        assert_eq!(sketch, before);
    }
}
