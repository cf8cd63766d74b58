//! The words of a page, used to tell whether it contains anything new (H10).
//!
//! A word is a run of letters, digits and `_`, so `_mm512_abs_epi16` is one. Numbers, dates, ordinals and random
//! identifiers are not counted: they differ on every page of a calendar and carry no information. In a script without
//! spaces between words, a word is the text between two punctuation marks.
//!
//! **Invariant:** at most [`WORDS_MAX`] words of a page are returned.

use super::digest;

/// The maximum number of words read of a page, repeated ones included.
pub const WORDS_MAX: usize = 2_048;
/// Longer ASCII words are encoded data.
const WORD_BYTES_MAX: usize = 64;
/// Hexadecimal words of this length that contain a digit are identifiers such as digests and session ids.
const HEX_BYTES_MIN: usize = 6;
/// A word in which letters and digits alternate more often is random.
const ALTERNATIONS_MAX: usize = 4;

/// The words of a page, as hashes.
#[derive(Debug, Default)]
pub(super) struct Words(Vec<u32>);

impl Words {
    /// Adds the words of a text.
    pub(super) fn add(&mut self, text: &str) {
        let room = WORDS_MAX - self.0.len();
        self.0.extend(counted(text).take(room).map(|word| half(digest::of(word.as_bytes()))));
    }
    /// The hashes, each once.
    pub(super) fn finish(mut self) -> Vec<u32> {
        self.0.sort_unstable();
        self.0.dedup();
        self.0
    }
}

/// A hash of the words of a text in order; 0 if there are none.
pub(super) fn in_order(text: &str) -> u32 {
    half(counted(text).fold(0, |all, word| digest::and(all, digest::of(word.as_bytes()))))
}

#[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
fn half(hash: u64) -> u32 {
    hash as u32
}
fn counted(text: &str) -> impl Iterator<Item = &str> {
    let is_apart = |letter: char| !(letter.is_alphanumeric() || letter == '_');
    text.split(is_apart).filter(|word| counts(word))
}
fn counts(word: &str) -> bool {
    let Some(first) = word.chars().next().filter(|first| !first.is_numeric()) else { return false };
    if !word.is_ascii() {
        return !word.chars().any(char::is_numeric);
    }
    let bytes = word.as_bytes();
    let has_digit = bytes.iter().any(u8::is_ascii_digit);
    let is_hex = has_digit && bytes.len() >= HEX_BYTES_MIN && bytes.iter().all(u8::is_ascii_hexdigit);
    let is_word = first != '_' || bytes.iter().any(u8::is_ascii_alphabetic);
    is_word && bytes.len() <= WORD_BYTES_MAX && !is_hex && alternations(bytes) <= ALTERNATIONS_MAX
}

/// How often the text switches between digits and other characters.
fn alternations(bytes: &[u8]) -> usize {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    bytes.windows(2).filter(|pair| is_digit(pair.first()) != is_digit(pair.last())).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: usize) {
        let mut words = Words::default();
        words.add(text);
        assert_eq!(words.finish().len(), expected, "{text}");
    }

    #[test]
    fn identifiers_are_words_and_numbers_dates_and_random_ids_are_not() {
        check("pub fn _mm512_abs_epi16(a: __m512i)", 5);
        check("the same, the same", 2);
        check("2026-11-18 12:30, 3rd of 4 (１２)", 1);
        check("2026年1月2日 令和8年", 0);
        check("a3f9bc12 9e107d9d372bb6826bd81d3542a419d6 k3j9x0q2b7", 0);
        check("___ _", 0);
        check("図書館は九時に開きます。土曜は休みです。", 2);
        check(&"x".repeat(65), 0);
    }

    #[test]
    fn titles_that_differ_in_numbers_only_are_one() {
        assert_eq!(in_order("Monday, 3 of 2026"), in_order("Monday, 17 of 2027"));
        assert_ne!(in_order("abs in core::arch"), in_order("abs in std::arch"));
        assert_ne!(in_order("a b"), in_order("b a"));
        assert_eq!(in_order("2026 / 11"), 0);
    }

    #[test]
    fn words_are_bounded() {
        let mut words = Words::default();
        for number in 0..10_000_u32 {
            let letters: String = number.to_string().bytes().map(|digit| char::from(digit + 49)).collect();
            words.add(&letters);
        }
        assert_eq!(words.finish().len(), WORDS_MAX);
    }
}
