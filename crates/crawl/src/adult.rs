//! Pages for adults, detected by their words (C13).
//!
//! The filter is simple: a short list of Japanese and English words, each with a weight. A title counts three times, a
//! word at most three times. A page counts as one if the total weight of different words is high enough. It errs both
//! ways: it knows no images, no other languages and no irony.
//!
//! **Invariant:** a verdict is a function of its arguments, and says why.

/// Maximum bytes of a text that are read.
const TEXT_BYTES_MAX: usize = 20_000;
/// The minimum total weight of the words, and the minimum number of different ones.
const ADULT_WEIGHT_MIN: u32 = 12;
const ADULT_WORDS_MIN: usize = 3;
/// Maximum number of times that a word counts.
const COUNT_MAX: u32 = 3;

/// Words and their weights. Those that occur in other words, or on pages about health, have a low weight.
const ADULT_WORDS: [(&str, u32); 30] = [
    ("porn", 4),
    ("xxx", 3),
    ("hentai", 4),
    ("milf", 4),
    ("blowjob", 5),
    ("camgirl", 5),
    ("escort girls", 5),
    ("hardcore", 2),
    ("nude", 2),
    ("naked", 1),
    ("erotic", 2),
    ("sex", 1),
    ("adults only", 3),
    ("over 18", 1),
    ("アダルト動画", 5),
    ("アダルト", 2),
    ("無修正", 5),
    ("エロ", 3),
    ("素人", 1),
    ("人妻", 3),
    ("熟女", 4),
    ("巨乳", 4),
    ("風俗", 2),
    ("デリヘル", 5),
    ("ソープランド", 5),
    ("av女優", 5),
    ("フェラ", 4),
    ("オナニー", 4),
    ("出会い系", 2),
    ("18歳未満", 3),
];

/// Why a page counts as one for adults; `None` if it does not.
#[must_use]
pub(crate) fn adult(title: &str, text: &str) -> Option<String> {
    let (title, text) = (title.to_lowercase(), start(text).to_lowercase());
    let weigh = |(word, weight): &(&'static str, u32)| {
        let count = (count(&title, word) * 3).saturating_add(count(&text, word)).min(COUNT_MAX);
        (count > 0).then_some((*word, weight * count))
    };
    let mut found: Vec<(&str, u32)> = ADULT_WORDS.iter().filter_map(weigh).collect();
    let weight: u32 = found.iter().map(|(_, weight)| weight).sum();
    found.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
    let words: Vec<&str> = found.iter().take(ADULT_WORDS_MIN).map(|(word, _)| *word).collect();
    (weight >= ADULT_WEIGHT_MIN && words.len() >= ADULT_WORDS_MIN)
        .then(|| format!("it reads like a page for adults: `{}`", words.join("`, `")))
}

/// The beginning of a text, cut between letters.
fn start(text: &str) -> &str {
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// How often a word occurs in a text; one in Latin letters only without adjacent letters.
fn count(text: &str, word: &str) -> u32 {
    let is_latin = word.is_ascii();
    let letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let stands = |at: usize| {
        let (before, behind) = (text.get(..at), text.get(at + word.len()..));
        let beside = letter(before.and_then(|t| t.chars().next_back()))
            || letter(behind.and_then(|t| t.chars().next()));
        !is_latin || !beside
    };
    let found = text.match_indices(word).filter(|(at, _)| stands(*at)).take(COUNT_MAX as usize).count();
    u32::try_from(found).unwrap_or(COUNT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_for_adults_are_detected_by_several_words() {
        assert!(adult("無修正アダルト動画", "人妻 熟女 素人").is_some());
        assert!(adult("Free porn", "xxx hardcore milf videos, naked, adults only").is_some());
        let why = adult("XXX hentai", "nude").unwrap();
        assert_eq!(why, "it reads like a page for adults: `hentai`, `xxx`, `nude`");
        for (title, text) in [
            ("Sex education", "sex and health: naked facts, sex, sex, over 18"),
            ("Essex and Sussex", "the sexes in Middlesex"),
            ("風俗画の歴史", "江戸の風俗を描いた絵"),
            ("Hardcore punk", "hardcore, hardcore, hardcore"),
            ("", ""),
        ] {
            assert_eq!(adult(title, text), None, "{title}");
        }
        assert_eq!(adult("", &"日".repeat(100_000)), None);
    }
}
