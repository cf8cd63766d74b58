//! Finds copies in a set of documents, exact and near.
//!
//! Documents are sorted by each of their bands. In each group of equal bands the first document, by [`CopyRank`], leads. A
//! document that has [`BANDS_SHARED_MIN`] bands with the same leader is a near copy of it. So no pair is compared, and each
//! document counts at most once a band.
//!
//! **Invariant:** memory does not grow with the set: both sorts are external.

use super::fingerprint::Fingerprint;
use runs::ExternalSorter;
use std::io;
use std::path::{Path, PathBuf};

/// Two texts with half of their pieces in common share at least this many bands of 64, nearly always; with a fifth, nearly
/// never.
const BANDS_SHARED_MIN: usize = 2;
/// The band of the exact digest.
const EXACT: u8 = u8::MAX;

/// Which of two copies is kept: the one that was seen first; of those of one moment, the one that was added first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CopyRank {
    /// When it was first seen, in microseconds.
    pub seen: i64,
    /// Its number in the set.
    pub number: u64,
}

impl CopyRank {
    const BYTES: usize = 16;

    fn to_bytes(self) -> [u8; Self::BYTES] {
        // The sign bit is turned over, so that bytes are in the order of time.
        let seen = (self.seen.cast_unsigned() ^ (1 << 63)).to_be_bytes();
        let mut bytes = [0; Self::BYTES];
        let both = seen.into_iter().chain(self.number.to_be_bytes());
        bytes.iter_mut().zip(both).for_each(|(to, from)| *to = from);
        bytes
    }
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (seen, rest) = bytes.split_first_chunk::<8>()?;
        let seen = (u64::from_be_bytes(*seen) ^ (1 << 63)).cast_signed();
        Some(Self { seen, number: u64::from_be_bytes(*rest.first_chunk()?) })
    }
}

/// A document that is a copy of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundCopy {
    /// The document.
    pub copy: CopyRank,
    /// The earlier one.
    pub original: CopyRank,
    /// Whether both have the same letters and digits.
    pub is_exact: bool,
}

/// Takes fingerprints and finds copies.
#[derive(Debug)]
pub struct CopyFinder {
    directory: PathBuf,
    memory_bytes_max: usize,
    bands: ExternalSorter,
}

impl CopyFinder {
    /// A finder that writes to `directory` what does not fit into `memory_bytes_max`.
    #[must_use]
    pub fn new(directory: &Path, memory_bytes_max: usize) -> Self {
        let bands = ExternalSorter::new(directory, memory_bytes_max);
        Self { directory: directory.to_owned(), memory_bytes_max, bands }
    }

    /// Adds a document.
    ///
    /// # Errors
    /// When the directory cannot be written to.
    pub fn push(&mut self, rank: CopyRank, fingerprint: &Fingerprint) -> io::Result<()> {
        let numbered = (0_u8..).zip(&fingerprint.bands);
        for (number, band) in numbered.chain([(EXACT, &fingerprint.exact)]) {
            let mut key = [0; 9];
            let bytes = std::iter::once(number).chain(band.to_be_bytes());
            key.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
            self.bands.push(&key, &rank.to_bytes())?;
        }
        Ok(())
    }

    /// Hands every copy to `take`, in the order of rank, with the first document that it is a copy of.
    ///
    /// # Errors
    /// When what was written cannot be read back.
    pub fn finish(self, mut take: impl FnMut(FoundCopy)) -> io::Result<()> {
        let mut pairs = ExternalSorter::new(&self.directory, self.memory_bytes_max);
        let mut bands = self.bands.finish()?;
        let (mut band, mut leader) = (Vec::new(), [0; CopyRank::BYTES]);
        while let Some((key, rank)) = bands.next()? {
            if key == band.as_slice() {
                let is_exact = key.first() == Some(&EXACT);
                pairs.push(&[rank, &leader[..]].concat(), &[u8::from(!is_exact)])?;
                continue;
            }
            band.clear();
            band.extend_from_slice(key);
            leader.iter_mut().zip(rank).for_each(|(to, from)| *to = *from);
        }
        let mut pairs = pairs.finish()?;
        let (mut pair, mut shared, mut last) = (Vec::new(), 0, None);
        while let Some((key, is_near)) = pairs.next()? {
            if key != pair.as_slice() {
                pair.clear();
                pair.extend_from_slice(key);
                shared = 0;
            }
            shared += 1;
            let is_exact = is_near == [0];
            let Some((copy, original)) = read_pair(key) else { continue };
            if (is_exact || shared == BANDS_SHARED_MIN) && last != Some(copy) {
                take(FoundCopy { copy, original, is_exact });
                last = Some(copy);
            }
        }
        Ok(())
    }
}

fn read_pair(key: &[u8]) -> Option<(CopyRank, CopyRank)> {
    let (copy, original) = key.split_at_checked(CopyRank::BYTES)?;
    Some((CopyRank::from_bytes(copy)?, CopyRank::from_bytes(original)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Chance;
    use std::collections::HashMap;

    /// A text of words with the frequencies of language: few are frequent, many are rare.
    fn words(chance: &mut Chance, count: usize, is_japanese: bool) -> Vec<String> {
        let word = |chance: &mut Chance| {
            let steps = chance.below(14);
            let rank = chance.below(1 << steps);
            let mut letters = Chance::new(rank);
            let letter = |letters: &mut Chance| match is_japanese {
                true => char::from_u32(0x3042 + u32::try_from(letters.below(80)).unwrap()).unwrap(),
                false => char::from(b'a' + u8::try_from(letters.below(26)).unwrap()),
            };
            (0..2 + letters.below(if is_japanese { 3 } else { 8 })).map(|_| letter(&mut letters)).collect()
        };
        (0..count).map(|_| word(chance)).collect()
    }

    /// The text with one in `100 / percent` words changed, left out or doubled.
    fn edited(chance: &mut Chance, text: &[String], percent: u64, is_japanese: bool) -> Vec<String> {
        let mut edited = Vec::new();
        for word in text {
            match chance.below(100) < percent {
                false => edited.push(word.clone()),
                true => match chance.below(3) {
                    0 => edited.extend(words(chance, 1, is_japanese)),
                    1 => {}
                    _ => edited.extend([word.clone(), words(chance, 1, is_japanese).remove(0)]),
                },
            }
        }
        edited
    }

    /// Precision and recall of near copies with so many edits.
    fn measure(percent: u64) -> (f64, f64) {
        let mut chance = Chance::new(percent);
        let directory = tempfile::tempdir().unwrap();
        let mut finder = CopyFinder::new(directory.path(), 1 << 20);
        let mut originals: HashMap<u64, u64> = HashMap::new();
        let mut number = 0;
        for original in 0..600_u64 {
            let is_japanese = original % 2 == 0;
            let count = 60 + chance.index(600);
            let text = words(&mut chance, count, is_japanese);
            let mut add = |text: &[String]| {
                let separator = if is_japanese { "" } else { " " };
                let print = Fingerprint::of(&text.join(separator)).unwrap();
                finder.push(CopyRank { seen: 0, number }, &print).unwrap();
                number += 1;
                number - 1
            };
            let first = add(&text);
            if original % 3 == 0 {
                let copy = edited(&mut chance, &text, percent, is_japanese);
                originals.insert(add(&copy), first);
            }
        }
        let (mut right, mut wrong) = (0, 0);
        let judge = |found: FoundCopy| match originals.get(&found.copy.number) {
            Some(original) if *original == found.original.number => right += 1,
            _ => wrong += 1,
        };
        finder.finish(judge).unwrap();
        (
            f64::from(right) / f64::from(right + wrong),
            f64::from(right) / f64::from(u32::try_from(originals.len()).unwrap()),
        )
    }

    #[test]
    fn near_copies_are_found_and_nothing_else_is() {
        for percent in [0, 1, 5, 20] {
            let (precision, recall) = measure(percent);
            eprintln!("{percent} % of words edited: precision {precision:.4}, recall {recall:.4}");
            assert!(precision >= 0.99, "{percent} %: precision {precision}");
            assert!(recall >= 0.95 || percent > 5, "{percent} %: recall {recall}");
        }
    }

    #[test]
    fn the_first_that_was_seen_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let mut finder = CopyFinder::new(directory.path(), 1 << 20);
        let print = Fingerprint::of("short").unwrap();
        for (seen, number) in [(5, 0), (-3, 1), (5, 2)] {
            finder.push(CopyRank { seen, number }, &print).unwrap();
        }
        let mut found = Vec::new();
        finder.finish(|copy| found.push((copy.copy.number, copy.original.number, copy.is_exact))).unwrap();
        assert_eq!(found, [(0, 1, true), (2, 1, true)]);
    }
}
