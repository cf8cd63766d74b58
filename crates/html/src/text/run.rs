//! Tests on runs of bytes, eight or more bytes at a time.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The highest bit of every byte that is zero. A byte above a zero may be marked too, which the callers allow for.
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

/// The number of bytes of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) ascii: usize,
    pub(super) latin: usize,
    pub(super) digits: usize,
    /// First bytes of characters that are not ASCII.
    pub(super) others: usize,
    /// First bytes of characters in dense scripts: those of U+3000 and above.
    pub(super) wide: usize,
}

/// Counts bytes, eight in one step.
pub(super) fn count(bytes: &[u8]) -> Count {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut sum = Count::default();
    // As many words as a count of one byte can hold.
    words.chunks(255).for_each(|words| add(&mut sum, words));
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    add(&mut sum, &[last]);
    // The padding of the last word was ASCII.
    sum.ascii -= last.len() - rest.len();
    sum
}

fn add(sum: &mut Count, words: &[[u8; 8]]) {
    let (mut beyond, mut latin, mut digits, mut others, mut wide) = (0, 0, 0, 0, 0);
    for word in words {
        let word = u64::from_le_bytes(*word);
        let (high, low) = (word & HIGHS, word & !HIGHS);
        beyond += high >> 7;
        latin += (between(low | (ONES * 0x20), b'a', b'z') & !high) >> 7;
        digits += (between(low, b'0', b'9') & !high) >> 7;
        others += (high & (word << 1)) >> 7;
        wide += (high & at_least(low, 0xE3 & 0x7F)) >> 7;
    }
    sum.ascii += words.len() * 8 - lanes(beyond);
    sum.latin += lanes(latin);
    sum.digits += lanes(digits);
    sum.others += lanes(others);
    sum.wide += lanes(wide);
}

/// The highest bit of every byte that is at least `least`; all bytes and `least` are below 128.
const fn at_least(word: u64, least: u8) -> u64 {
    (word + ONES * (0x80 - least as u64)) & HIGHS
}
const fn between(word: u64, first: u8, last: u8) -> u64 {
    at_least(word, first) & !at_least(word, last + 1)
}

/// The sum of the eight bytes of a word.
fn lanes(word: u64) -> usize {
    word.to_le_bytes().into_iter().map(usize::from).sum()
}

/// Whether text is certainly shown as written: no control character, no two spaces in a row, no `&`.
pub(crate) fn is_plain(text: &[u8]) -> bool {
    let (words, rest) = text.as_chunks::<8>();
    let mut last = [b'x'; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let (mut wrong, mut blank_before) = (0, 0);
    for word in words.iter().chain([&last]) {
        let word = u64::from_le_bytes(*word);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        let blanks = zeros(word ^ (ONES * 0x20));
        wrong |= control | (blanks & (blanks << 8 | blank_before)) | zeros(word ^ (ONES * u64::from(b'&')));
        blank_before = blanks >> 56;
    }
    wrong == 0
}

/// The position of the first ASCII digit, or of the first byte of a possible full-width digit.
pub(super) fn digit_in(bytes: &[u8]) -> Option<usize> {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == 0xEF;
    let (words, rest) = bytes.as_chunks::<8>();
    for (place, word) in words.iter().enumerate() {
        let number = u64::from_le_bytes(*word);
        // Six signs share a row of ASCII with the digits.
        let row = zeros((number & (ONES * 0xF0)) ^ (ONES * 0x30));
        if (row | zeros(number ^ (ONES * 0xEF))) != 0
            && let Some(at) = word.iter().position(is_digit)
        {
            return Some(place * 8 + at);
        }
    }
    rest.iter().position(is_digit).map(|at| words.len() * 8 + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Chance;

    /// Texts of all lengths over few letters, so that all combinations occur.
    fn texts() -> impl Iterator<Item = Vec<u8>> {
        let mut chance = Chance::new(3);
        (0..20_000).map(move |n| {
            let letters: &[u8] = if n % 2 == 0 { b"ab  c" } else { b"a&\x1f\t 5:/\xEF\xFF!Z" };
            (0..n % 80).map(|_| *chance.pick(letters)).collect()
        })
    }

    #[test]
    fn words_answer_as_bytes_do() {
        for text in texts() {
            let is_shown = |byte: &u8| *byte >= b' ' && *byte != b'&';
            let plain = text.iter().all(is_shown) && !text.windows(2).any(|pair| pair == b"  ");
            assert!(plain || !is_plain(&text), "{text:?}");
            // A false positive is allowed and only costs time: `!` looks like a space after a space.
            if !text.contains(&b'!') && plain {
                assert!(is_plain(&text), "{text:?}");
            }
            let digit = text.iter().position(|byte| byte.is_ascii_digit() || *byte == 0xEF);
            assert_eq!(digit_in(&text), digit, "{text:?}");
            let many = |is: fn(&u8) -> bool| text.iter().filter(|byte| is(byte)).count();
            let expected = Count {
                ascii: many(u8::is_ascii),
                latin: many(u8::is_ascii_alphabetic),
                digits: many(u8::is_ascii_digit),
                others: many(|byte| *byte >= 0xC0),
                wide: many(|byte| *byte >= 0xE3),
            };
            assert_eq!(count(&text), expected, "{text:?}");
        }
    }
}
