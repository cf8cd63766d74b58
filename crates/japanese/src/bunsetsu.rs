//! Phrases and what they depend on.

use std::ops::Range;

use crate::analysis::AnalysedText;
use crate::part::PartOfSpeech;

/// A bunsetsu: a content word with the particles and endings that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bunsetsu {
    /// Its morphemes; never empty. The next bunsetsu begins where this one ends.
    pub morphemes: Range<usize>,
    /// The bunsetsu that it depends on, which is a later one; none for the last.
    pub head: Option<usize>,
    /// How it depends.
    pub label: DependencyLabel,
}

/// How a bunsetsu depends on its head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DependencyLabel {
    /// An ordinary dependency.
    #[default]
    Dependency,
    /// Coordination.
    Parallel,
    /// Incomplete coordination.
    Incomplete,
    /// Apposition.
    Apposition,
}

impl DependencyLabel {
    /// The letter of KNP's format: D, P, I or A.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Dependency => 'D',
            Self::Parallel => 'P',
            Self::Incomplete => 'I',
            Self::Apposition => 'A',
        }
    }
}

/// The parts of a bunsetsu with one content word each.
pub(crate) fn base_phrases(analysis: &AnalysedText<'_>, morphemes: Range<usize>) -> Vec<Range<usize>> {
    let mut phrases: Vec<Range<usize>> = Vec::new();
    let mut has_content = false;
    for at in morphemes {
        let part = analysis.morpheme(at).part();
        let before = at.checked_sub(1).map(|before| analysis.morpheme(before).part());
        let joins = !has_content || before.is_some_and(|before| is_joined(before, part));
        match phrases.last_mut() {
            Some(last) if !begins(part) || joins => last.end = at + 1,
            None => phrases.push(at..at + 1),
            Some(_) => {
                phrases.push(at..at + 1);
                has_content = false;
            }
        }
        has_content |= is_content(part);
    }
    phrases
}

fn begins(part: PartOfSpeech) -> bool {
    is_content(part) || part.name() == "接頭詞" || part.subdivision() == "括弧開"
}

fn is_content(part: PartOfSpeech) -> bool {
    match part.name() {
        "名詞" => !matches!(part.subdivision(), "非自立" | "接尾" | "特殊"),
        "動詞" | "形容詞" => part.subdivision() == "自立",
        "副詞" | "連体詞" | "接続詞" | "感動詞" => true,
        _ => false,
    }
}

/// Digits make one number, and する one verb with the noun before it.
fn is_joined(before: PartOfSpeech, part: PartOfSpeech) -> bool {
    let [name, subdivision, ..] = before.fields();
    match part.fields() {
        ["名詞", "数", ..] => subdivision == "数",
        ["動詞", "自立", _, _, conjugation, _] => name == "名詞" && conjugation.starts_with("サ変・スル"),
        _ => false,
    }
}
