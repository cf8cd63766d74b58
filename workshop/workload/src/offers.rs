//! What is offered to a register of known keys.

use crate::chance::{mix, printable, unit};

/// One offer in this many is a repeat: 20 % of them.
const REPEAT_EVERY: u32 = 5;

/// A sequence of random 60-byte keys, of which 20 % were offered before.
///
/// The last of every five offers repeats the key of an earlier one, drawn uniformly; all others are new. So what a
/// register has to answer is known: [`Offers::known`].
#[derive(Debug, Clone, Copy)]
pub struct Offers {
    seed: u64,
}

impl Offers {
    /// Bytes of a key.
    pub const KEY_BYTES: usize = 60;

    /// The sequence that `seed` draws.
    pub fn new(seed: u64) -> Self {
        Self { seed: mix(seed) }
    }

    /// The key offered as the `offer`th, from 0.
    pub fn key(self, offer: u32) -> [u8; Self::KEY_BYTES] {
        printable(self.seed, self.first(offer))
    }

    /// Whether the key of `offer` was offered before.
    pub fn known(self, offer: u32) -> bool {
        offer % REPEAT_EVERY == REPEAT_EVERY - 1
    }

    /// How many of the first `offers` were offered before.
    pub fn known_of(self, offers: u32) -> u32 {
        offers / REPEAT_EVERY
    }

    /// The offer with which the key of `offer` came first.
    fn first(self, mut offer: u32) -> u32 {
        while self.known(offer) {
            offer = unit(mix(self.seed ^ mix(u64::from(offer))), offer);
        }
        offer
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::Offers;

    #[test]
    fn model_a_key_is_known_when_a_set_knows_it() {
        let offers = Offers::new(6);
        let mut keys = HashSet::new();
        for offer in 0..50_000 {
            assert_eq!(!keys.insert(offers.key(offer)), offers.known(offer), "{offer}");
        }
        assert_eq!(keys.len(), 40_000);
        assert_eq!(offers.known_of(50_000), 10_000);
    }
}
