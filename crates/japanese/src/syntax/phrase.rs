//! What the models see of a bunsetsu.

use std::sync::LazyLock;

use super::features::{hash_text, joined};
use super::word::{Kind, Symbol, Word};

/// する, which makes a verb of a noun.
static SURU: LazyLock<u32> = LazyLock::new(|| hash_text("する"));
/// The particle of a bunsetsu that has none.
const NO_PARTICLE: u32 = 0x6E6F_6E65;

/// A bunsetsu as hashes and small numbers. Its core is its last content word, its ending what follows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phrase {
    /// Of the core: base form, part of speech, last character, scripts.
    pub(super) core: u32,
    pub(super) core_part: u32,
    pub(super) core_character: u32,
    pub(super) core_scripts: u32,
    /// The word before a core that is a suffix; else 0.
    pub(super) stem: u32,
    /// Part of speech of the last word that is no symbol.
    pub(super) last_part: u32,
    /// The words of the ending, and their parts of speech.
    pub(super) ending: u32,
    pub(super) ending_parts: u32,
    /// The last word of the ending.
    pub(super) particle: u32,
    /// The first word and its part of speech.
    pub(super) first: u32,
    pub(super) first_part: u32,
    /// What kind of word it is in the sentence; see [`class`].
    pub(super) class: u32,
    /// 1 if it ends with a comma.
    pub(super) comma: u32,
    /// The symbol at its end.
    pub(super) symbol: u32,
    pub(super) opens: bool,
    pub(super) closes: bool,
    /// How many brackets are open after it.
    pub(super) depth: i32,
}

/// The phrases that start at these words.
pub(super) fn phrases(words: &[Word], starts: &[usize]) -> Vec<Phrase> {
    let mut depth = 0;
    let mut all = Vec::with_capacity(starts.len());
    for (number, &start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(words.len());
        let phrase = Phrase::new(&words[start..end], depth);
        depth = phrase.depth;
        all.push(phrase);
    }
    all
}

impl Phrase {
    fn new(words: &[Word], depth: i32) -> Self {
        let no_symbol = |word: &Word| !word.is_symbol();
        let core_at = words.iter().rposition(|word| !word.is_function());
        let core_at = core_at.or_else(|| words.iter().rposition(no_symbol)).unwrap_or(0);
        let last_at = words.iter().rposition(no_symbol).unwrap_or(core_at).max(core_at);
        let (core, last, end) = (&words[core_at], &words[last_at], &words[words.len() - 1]);
        let after = &words[core_at + 1..];
        let count = |symbol| words.iter().map(|word| i32::from(word.symbol == symbol)).sum::<i32>();
        let (opened, closed) = (count(Symbol::Open), count(Symbol::Close));
        Self {
            core: core.base,
            core_part: core.part.id,
            core_character: core.last_character,
            core_scripts: core.scripts,
            stem: if core.part.suffix && core_at > 0 { words[core_at - 1].base } else { 0 },
            last_part: last.part.id,
            ending: sequence(after, |word| joined(word.base, word.part.id)),
            ending_parts: sequence(after, |word| word.part.id),
            particle: if last_at == core_at { NO_PARTICLE } else { last.base ^ last.part.name },
            first: words[0].base,
            first_part: words[0].part.id,
            class: class(core, after, end),
            comma: end.comma(),
            symbol: end.symbol as u32,
            opens: opened > 0,
            closes: closed > 0,
            depth: depth + opened - closed,
        }
    }

    /// Whether other phrases can depend on it as on a predicate.
    pub(super) fn is_predicate(&self) -> bool {
        matches!(self.class, 1 | 2 | 7 | 8)
    }
}

fn sequence(words: &[Word], value: impl Fn(&Word) -> u32) -> u32 {
    words.iter().filter(|word| !word.is_symbol()).fold(17, |hash, word| joined(hash, value(word)))
}

/// 1 verb, 2 adjective, 3 adverb, 4 adnominal, 5 conjunction, 6 interjection; nouns: 7 with する or a verb, 8 with an
/// auxiliary, 9 adverbial, 10 adjectival, 11 verbal, 12 at a full stop, 13 other.
fn class(core: &Word, after: &[Word], end: &Word) -> u32 {
    match core.part.kind {
        Kind::Verb => 1,
        Kind::Adjective => 2,
        Kind::Adverb => 3,
        Kind::Adnominal => 4,
        Kind::Conjunction => 5,
        Kind::Interjection => 6,
        _ if after.iter().any(|word| word.base == *SURU) => 7,
        _ if after.iter().any(|word| word.part.kind == Kind::Auxiliary) => 8,
        _ if core.part.noun > 0 => core.part.noun,
        _ if end.symbol == Symbol::Stop => 12,
        _ => 13,
    }
}
