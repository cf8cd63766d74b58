//! How often each word stands in a text.
//!
//! Words are those of Unicode (UAX #29), in lower case. In scripts without blanks these are letters or small groups of
//! them, for telling more takes a dictionary.
//!
//! **Invariant:** memory is bounded by the text, which has at most [`html::TEXT_BYTES_MAX`] bytes.

use super::json;
use base::ContentDigest;
use base::chance::hash_bytes;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use unicode_segmentation::UnicodeSegmentation as _;

/// As many words as are named.
const TOP_MAX: usize = 50;

/// Appends how many words there are, how many different ones, and which are the most frequent.
pub(super) fn write(text: &str, out: &mut Vec<u8>) {
    let text = text.to_lowercase();
    let mut counts: HashMap<&str, u64, Key> = HashMap::with_hasher(Key::of(&text));
    let mut count = 0;
    for word in text.unicode_words() {
        *counts.entry(word).or_default() += 1;
        count += 1;
    }
    let distinct = counts.len() as u64;
    out.extend_from_slice(b"{\"count\":");
    json::number(out, count);
    out.extend_from_slice(b",\"distinct\":");
    json::number(out, distinct);
    out.extend_from_slice(b",\"top\":");
    json::list(out, top(counts), |out, (word, count)| {
        out.push(b'[');
        json::text(out, word);
        out.push(b',');
        json::number(out, count);
        out.push(b']');
    });
    out.push(b'}');
}

/// The most frequent words, equally frequent ones by their letters.
fn top(counts: HashMap<&str, u64, Key>) -> Vec<(&str, u64)> {
    let order = |a: &(&str, u64), b: &(&str, u64)| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0));
    let mut words: Vec<(&str, u64)> = counts.into_iter().collect();
    if words.len() > TOP_MAX {
        words.select_nth_unstable_by(TOP_MAX, order);
        words.truncate(TOP_MAX);
    }
    words.sort_unstable_by(order);
    words
}

/// Makes hashes that depend on all of the text, so that no author can choose words whose hashes are alike (H8): every
/// choice changes the hashes. It needs no randomness, of which an analysis has none.
#[derive(Clone, Copy)]
struct Key(u64);

impl Key {
    fn of(text: &str) -> Self {
        let digest = ContentDigest::of(text.as_bytes());
        Self(digest.as_bytes().first_chunk().copied().map(u64::from_le_bytes).unwrap_or_default())
    }
}

impl BuildHasher for Key {
    type Hasher = Hash;

    fn build_hasher(&self) -> Hash {
        Hash(self.0)
    }
}

struct Hash(u64);

impl Hasher for Hash {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash_bytes(self.0, bytes);
    }
    /// What separates several texts is not needed for one.
    fn write_u8(&mut self, _: u8) {}
}
