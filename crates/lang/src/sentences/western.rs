//! Where sentences of English and most other languages end: Unicode's rules, mended where they take an abbreviation for
//! the end of a sentence.

use unicode_segmentation::UnicodeSegmentation as _;

/// Words whose point never ends a sentence.
const TITLES: [&str; 44] = [
    "mr", "mrs", "ms", "dr", "prof", "st", "mt", "rev", "hon", "gen", "col", "capt", "lt", "sgt", "sen",
    "rep", "gov", "pres", "vs", "cf", "e.g", "i.e", "viz", "al", "approx", "dept", "est", "bzw", "z.b", "ca",
    "bspw", "hr", "fr", "mme", "mlle", "sr.", "dra", "sra", "ing", "messrs", "univ", "adm", "maj", "cmdr",
];
/// Words whose point does not end a sentence if a number follows.
const NUMBERED: [&str; 16] =
    ["no", "nos", "fig", "figs", "vol", "p", "pp", "ch", "sec", "eq", "art", "nr", "abs", "ver", "v", "ed"];
/// Words whose point ends a sentence only if a capital letter follows, which Unicode's rules see to, or months.
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"];
/// Words that begin a sentence after letters such as `U.S.`; before other words the letters belong to a name.
const STARTERS: [&str; 20] = [
    "The", "A", "An", "It", "He", "She", "We", "They", "I", "You", "This", "That", "These", "In", "On", "At",
    "But", "And", "However", "There",
];
/// What may follow the point of a sentence.
const CLOSERS: [char; 8] = ['"', '\'', ')', ']', '”', '’', '»', ' '];

/// The byte positions at which sentences end, except the end of the text.
pub(super) fn cuts(text: &str) -> Vec<usize> {
    // A line break that was kept is a space: the byte positions stay.
    let joined: String = text.split_inclusive(char::is_whitespace).flat_map(plain).collect();
    let mut cuts = Vec::new();
    let mut start = 0;
    for (at, _) in joined.split_sentence_bound_indices().skip(1) {
        if ends(&joined[start..at], &joined[at..]) {
            cuts.push(at);
            start = at;
        }
    }
    cuts
}

/// A word and the space after it, as long as before, without line breaks and without marks inside an address.
fn plain(word: &str) -> impl Iterator<Item = char> {
    let is_address = word.contains("://") || word.starts_with("www.");
    let inside = word.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
    word.char_indices().map(move |(at, c)| match c {
        '\n' | '\r' | '\t' => ' ',
        '.' | '?' | '!' if is_address && at < inside => 'x',
        _ => c,
    })
}

/// Whether a sentence really ends between these.
fn ends(sentence: &str, next: &str) -> bool {
    let body = sentence.trim_end();
    if !body.ends_with(CLOSERS) && !body.ends_with('.') {
        return true;
    }
    let body = body.trim_end_matches(CLOSERS);
    let Some(words) = body.strip_suffix('.') else { return true };
    let word =
        words.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '"' | '“' | '[')).next().unwrap_or("");
    let follower = next.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    let next = next.chars().next().unwrap_or(' ');
    if is_acronym(word) && !STARTERS.contains(&follower) {
        return false;
    }
    let is_number_alone = words.trim().len() <= 3 && words.trim().chars().all(|c| c.is_ascii_digit());
    let lower = word.to_lowercase();
    let numbered = NUMBERED.contains(&lower.as_str()) || MONTHS.contains(&lower.as_str());
    !(is_number_alone || is_abbreviation(word) || next.is_lowercase() || (numbered && next.is_ascii_digit()))
}

/// Whether the point after this word belongs to it: a title, a Latin abbreviation or an initial.
pub(super) fn is_abbreviation(word: &str) -> bool {
    let mut letters = word.chars();
    let is_initial = letters.next().is_some_and(|c| c.is_uppercase() && c != 'I') && letters.next().is_none();
    is_initial || TITLES.contains(&word.to_lowercase().as_str())
}

/// Whether a word is letters with points between them: `U.S`, `D.C`.
pub(super) fn is_acronym(word: &str) -> bool {
    word.contains('.')
        && word.split('.').all(|part| part.chars().count() == 1 && part.chars().all(char::is_uppercase))
}
