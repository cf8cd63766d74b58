//! Words that mean nothing, always the same for the same seed.

use base::Chance;

const SYLLABLES: [&str; 32] = [
    "ba", "be", "bo", "da", "de", "do", "fa", "fe", "ga", "go", "ka", "ke", "ko", "la", "le", "lo", "ma",
    "me", "mo", "na", "ne", "no", "pa", "pe", "ra", "re", "ro", "sa", "se", "ta", "te", "to",
];

/// So many words of two to four syllables.
pub(super) fn words(seed: u64, count: usize) -> String {
    let mut chance = Chance::of(&[seed]);
    let mut text = String::with_capacity(count * 7);
    for word in 0..count {
        if word > 0 {
            text.push(' ');
        }
        (0..2 + chance.below(3)).for_each(|_| text.push_str(SYLLABLES[chance.index(SYLLABLES.len())]));
    }
    text
}
