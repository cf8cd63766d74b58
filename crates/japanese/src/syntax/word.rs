//! What the models see of a morpheme.

use std::sync::LazyLock;

use super::features::{hash_number, hash_text};
use crate::{AnalysedText, Morpheme, PartOfSpeech};

/// A morpheme as hashes and small numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub(super) surface: u32,
    pub(super) base: u32,
    pub(super) first_character: u32,
    pub(super) last_character: u32,
    /// A bit for each [`script`] that occurs.
    pub(super) scripts: u32,
    pub(super) symbol: Symbol,
    pub(super) part: Part,
}

/// What the models see of a part of speech.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The connection id, which tells particles and auxiliaries apart.
    pub(super) id: u32,
    /// The first field, and the first two.
    pub(super) name: u32,
    pub(super) group: u32,
    pub(super) kind: Kind,
    /// A verb or adjective that only follows another.
    pub(super) attached: bool,
    /// A noun's second field, where it matters: 9 adverbial, 10 adjectival stem, 11 verbal.
    pub(super) noun: u32,
    pub(super) suffix: bool,
    /// 記号,句点.
    pub(super) stop: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Noun,
    Verb,
    Adjective,
    Adverb,
    Adnominal,
    Conjunction,
    Interjection,
    Particle,
    Auxiliary,
    Prefix,
    Symbol,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    None = 0,
    Comma = 1,
    Open = 2,
    Close = 3,
    Stop = 4,
    Dot = 5,
    Other = 6,
}

/// By connection id.
static PARTS: LazyLock<Vec<Part>> = LazyLock::new(|| {
    (0..PartOfSpeech::COUNT).filter_map(PartOfSpeech::of_connection_id).map(Part::new).collect()
});

/// The words of an analysis.
pub(super) fn words(analysis: &AnalysedText<'_>) -> Vec<Word> {
    let parts: &[Part] = &PARTS;
    analysis.morphemes().map(|morpheme| Word::new(&morpheme, parts)).collect()
}

impl Word {
    fn new(morpheme: &Morpheme<'_>, parts: &[Part]) -> Self {
        let (surface, base) = (morpheme.normal(), morpheme.base());
        let part = parts[usize::from(morpheme.connection_id())];
        let hash = hash_text(surface);
        let mut characters = surface.chars();
        let first = characters.next().unwrap_or(' ');
        let last = characters.next_back().unwrap_or(first);
        Self {
            surface: hash,
            base: if std::ptr::eq(base, surface) { hash } else { hash_text(base) },
            first_character: hash_number(u32::from(first)),
            last_character: hash_number(u32::from(last)),
            scripts: surface.chars().fold(0, |bits, character| bits | 1 << script(character)),
            symbol: if part.kind == Kind::Symbol { symbol(surface, first, &part) } else { Symbol::None },
            part,
        }
    }

    pub(super) fn is_symbol(&self) -> bool {
        self.symbol != Symbol::None
    }

    /// Whether it follows content words and is none itself.
    pub(super) fn is_function(&self) -> bool {
        matches!(self.part.kind, Kind::Particle | Kind::Auxiliary | Kind::Symbol) || self.part.attached
    }

    /// Whether no bunsetsu starts here but by mistake: in the treebanks fewer than 1 of 1,000 such words starts one.
    pub(super) fn never_starts(&self) -> bool {
        self.part.kind == Kind::Particle
            || matches!(self.symbol, Symbol::Comma | Symbol::Stop | Symbol::Close)
    }

    /// 1 if this ends with a comma.
    pub(super) fn comma(&self) -> u32 {
        u32::from(self.symbol == Symbol::Comma)
    }
}

impl Part {
    fn new(part: PartOfSpeech) -> Self {
        let (name, subdivision) = (part.name(), part.subdivision());
        let kind = Kind::of(name);
        Self {
            id: hash_number(u32::from(part.connection_id()) + 0x1_0000),
            name: hash_text(name),
            group: hash_text(name) ^ hash_text(subdivision).rotate_left(5),
            kind,
            attached: match kind {
                Kind::Verb => matches!(subdivision, "非自立" | "接尾"),
                Kind::Adjective => subdivision != "自立",
                _ => false,
            },
            noun: match subdivision {
                "副詞可能" => 9,
                "形容動詞語幹" => 10,
                "サ変接続" => 11,
                _ => 0,
            },
            suffix: kind == Kind::Noun && subdivision == "接尾",
            stop: kind == Kind::Symbol && subdivision == "句点",
        }
    }
}

impl Kind {
    fn of(name: &str) -> Self {
        match name {
            "名詞" => Self::Noun,
            "動詞" => Self::Verb,
            "形容詞" => Self::Adjective,
            "副詞" => Self::Adverb,
            "連体詞" => Self::Adnominal,
            "接続詞" => Self::Conjunction,
            "感動詞" => Self::Interjection,
            "助詞" => Self::Particle,
            "助動詞" => Self::Auxiliary,
            "接頭詞" => Self::Prefix,
            "記号" => Self::Symbol,
            _ => Self::Other,
        }
    }
}

fn script(character: char) -> u32 {
    match character {
        'ぁ'..='ん' => 1,
        'ァ'..='ヶ' | 'ー' => 2,
        '0'..='9' => 3,
        'a'..='z' | 'A'..='Z' => 4,
        '一'..='龥' | '々' => 5,
        _ => 6,
    }
}

fn symbol(surface: &str, first: char, part: &Part) -> Symbol {
    match first {
        _ if matches!(surface, "、" | "," | "，") => Symbol::Comma,
        '「' | '『' | '(' | '（' | '[' | '【' | '〈' | '《' | '“' | '‘' => Symbol::Open,
        '」' | '』' | ')' | '）' | ']' | '】' | '〉' | '》' | '”' | '’' => Symbol::Close,
        _ if part.stop => Symbol::Stop,
        _ if surface == "・" => Symbol::Dot,
        _ => Symbol::Other,
    }
}
