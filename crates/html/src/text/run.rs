//! Questions about runs of bytes, answered eight or more bytes at a time.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The highest bit of every byte that is zero. A byte above a zero may be marked too, which the callers allow for.
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

/// How many bytes are of a kind. In short runs, so that the counts fit bytes and many are looked at in one step.
pub(super) fn count(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    let run = |run: &[u8]| run.iter().fold(0_u8, |sum, byte| sum.wrapping_add(u8::from(is(*byte))));
    bytes.chunks(255).map(|bytes| usize::from(run(bytes))).sum()
}

/// Whether there is certainly nothing to fold: no control character, and no two blanks behind each other.
pub(super) fn is_folded(text: &[u8]) -> bool {
    let (words, rest) = text.as_chunks::<8>();
    let mut last = [b'x'; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let (mut wrong, mut blank_before) = (0, 0);
    for word in words.iter().chain([&last]) {
        let word = u64::from_le_bytes(*word);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        let blanks = zeros(word ^ (ONES * 0x20));
        wrong |= control | (blanks & (blanks << 8 | blank_before));
        blank_before = blanks >> 56;
    }
    wrong == 0
}

/// Where the first ASCII digit stands, or the first byte of what may be a wide one.
pub(super) fn digit_in(bytes: &[u8]) -> Option<usize> {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == 0xEF;
    let (words, rest) = bytes.as_chunks::<8>();
    for (place, word) in words.iter().enumerate() {
        let number = u64::from_le_bytes(*word);
        // Six signs stand in one row of ASCII with the digits.
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

    /// Texts of all lengths over few letters, so that everything meets everything.
    fn texts() -> impl Iterator<Item = Vec<u8>> {
        let mut chance = Chance::new(3);
        (0..20_000).map(move |n| {
            let letters: &[u8] = if n % 2 == 0 { b"ab  c" } else { b"a\x1f\t 5:/\xEF\xFF!" };
            (0..n % 40).map(|_| *chance.pick(letters)).collect()
        })
    }

    #[test]
    fn words_answer_as_bytes_do() {
        for text in texts() {
            let folded = text.iter().all(|byte| *byte >= b' ') && !text.windows(2).any(|pair| pair == b"  ");
            assert!(folded || !is_folded(&text), "{text:?}");
            // A false alarm is allowed, and only costs time: `!` looks like a blank behind a blank.
            if !text.contains(&b'!') && folded {
                assert!(is_folded(&text), "{text:?}");
            }
            let digit = text.iter().position(|byte| byte.is_ascii_digit() || *byte == 0xEF);
            assert_eq!(digit_in(&text), digit, "{text:?}");
            assert_eq!(count(&text, |byte| byte == b'a'), text.iter().filter(|byte| **byte == b'a').count());
        }
    }
}
