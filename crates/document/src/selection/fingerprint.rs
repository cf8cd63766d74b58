//! Fingerprints of texts: texts that share most of their passages share some of their bands.
//!
//! The letters and digits of a text are cut into overlapping pieces. Each piece is hashed into one of [`BINS`] bins, and each
//! bin keeps its least hash. Two texts agree in a bin about as often as their pieces are the same; [`ROWS`] bins make a
//! band. White space, punctuation and case do not count.

use base::chance::{hash_bytes, mix};

/// The number of characters of a piece.
const PIECE_CHARACTERS: usize = 6;
const BINS: usize = 256;
/// The number of bins of a band.
const ROWS: usize = 4;
/// Shorter texts have no near copies, only exact ones.
const PIECES_MIN: usize = 64;

/// The fingerprint of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The same for texts with the same letters and digits.
    pub exact: u64,
    /// The bands; empty for a short text.
    pub bands: Vec<u64>,
}

impl Fingerprint {
    /// The fingerprint of a text; `None` when it has no letter or digit.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let letters: Vec<char> =
            text.chars().flat_map(char::to_lowercase).filter(|c| c.is_alphanumeric()).collect();
        if letters.is_empty() {
            return None;
        }
        let whole: String = letters.iter().collect();
        Some(Self { exact: hash_bytes(1, whole.as_bytes()), bands: bands(&letters) })
    }
}

fn bands(letters: &[char]) -> Vec<u64> {
    if letters.len() < PIECES_MIN + PIECE_CHARACTERS {
        return Vec::new();
    }
    let mut least = [u64::MAX; BINS];
    for piece in letters.windows(PIECE_CHARACTERS) {
        let hash = piece.iter().fold(0, |state, c| mix(state ^ u64::from(u32::from(*c))));
        let bin = usize::from(hash.to_be_bytes()[0]);
        let value = hash & (u64::MAX >> 8);
        least.iter_mut().skip(bin).take(1).for_each(|least| *least = value.min(*least));
    }
    fill_empty(&mut least);
    least.chunks(ROWS).map(|rows| rows.iter().fold(0, |state, row| mix(state ^ row))).collect()
}

/// An empty bin takes the value of the next one that is not, changed by the distance.
fn fill_empty(least: &mut [u64; BINS]) {
    let filled = *least;
    for (bin, value) in least.iter_mut().enumerate().filter(|(_, value)| **value == u64::MAX) {
        let after = filled.iter().cycle().skip(bin + 1).take(BINS).zip(1_u64..);
        let found = after.filter(|(value, _)| **value != u64::MAX).map(|(value, far)| mix(value ^ mix(far)));
        *value = found.take(1).next().unwrap_or(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_punctuation_and_case_do_not_count() {
        let one = Fingerprint::of("Hello, World! 写し。").unwrap();
        assert_eq!(one, Fingerprint::of("hello world\n写し").unwrap());
        assert_ne!(one.exact, Fingerprint::of("hello word 写し").unwrap().exact);
        assert!(one.bands.is_empty(), "it is short");
        assert_eq!(Fingerprint::of(" ... "), None);
        assert_eq!(Fingerprint::of(&"あいうえおかきくけこ".repeat(9)).unwrap().bands.len(), BINS / ROWS);
    }
}
