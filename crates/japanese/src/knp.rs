//! KNP's line format, which Python packages such as `rhoknp` read.
//!
//! ```text
//! # S-ID:1
//! * 1D
//! + 1D <SYNID:000123>
//! 天気 てんき 天気 名詞 6 普通名詞 1 * 0 * 0 NIL
//! EOS
//! ```
//!
//! Words are written as JUMAN writes them: letters, digits and signs of ASCII in full width, readings in hiragana, spaces
//! between words as words of their own. The text is the normalised one.

use std::fmt::Write as _;

use crate::analysis::{AnalysedText, Morpheme};
use crate::bunsetsu::{Bunsetsu, base_phrases};
use crate::juman;
use crate::synonyms::Synonym;

/// From an ASCII sign to its full-width form.
const WIDEN: u32 = 0xFEE0;
/// From katakana to hiragana.
const TO_HIRAGANA: u32 = 0x60;

/// Writes a sentence in KNP's line format, up to and including `EOS`.
///
/// `id` names the sentence; letters, digits, `-` and `_` are certain to be understood.
///
/// ```
/// use japanese::{Bunsetsu, DependencyLabel};
///
/// let analysis = japanese::Analyser::new().analyse("犬が走る");
/// let bunsetsu = [
///     Bunsetsu { morphemes: 0..2, head: Some(1), label: DependencyLabel::Dependency },
///     Bunsetsu { morphemes: 2..3, head: None, label: DependencyLabel::Dependency },
/// ];
/// assert_eq!(japanese::knp("7", &analysis, &bunsetsu, &[]), "\
/// ## S-ID:7
/// * 1D
/// + 1D
/// 犬 いぬ 犬 名詞 6 普通名詞 1 * 0 * 0 NIL
/// が が が 助詞 9 格助詞 1 * 0 * 0 NIL
/// * -1D
/// + -1D
/// 走る はしる 走る 動詞 2 * 0 子音動詞ラ行 10 基本形 2 NIL
/// EOS
/// ");
/// ```
#[must_use]
pub fn knp(id: &str, analysis: &AnalysedText<'_>, bunsetsu: &[Bunsetsu], synonyms: &[Synonym]) -> String {
    let phrases: Vec<_> =
        bunsetsu.iter().map(|each| base_phrases(analysis, each.morphemes.clone())).collect();
    let lasts: Vec<usize> = phrases
        .iter()
        .scan(0, |count, phrases| {
            *count += phrases.len();
            Some(*count - 1)
        })
        .collect();
    let mut text = format!("# S-ID:{id}\n");
    let mut number = 0;
    for (each, phrases) in bunsetsu.iter().zip(&phrases) {
        let letter = each.label.letter();
        line(&mut text, '*', each.head, letter);
        text.push('\n');
        for (at, phrase) in phrases.iter().enumerate() {
            let is_last = at + 1 == phrases.len();
            let (head, letter) =
                if is_last { (each.head.map(|head| lasts[head]), letter) } else { (Some(number + 1), 'D') };
            line(&mut text, '+', head, letter);
            features(&mut text, synonyms.iter().filter(|word| phrase.contains(&(word.morphemes.end - 1))));
            for morpheme in phrase.clone() {
                word(&mut text, analysis, morpheme);
            }
            number += 1;
        }
    }
    text + "EOS\n"
}

fn line(text: &mut String, mark: char, head: Option<usize>, letter: char) {
    match head {
        Some(head) => write!(text, "{mark} {head}{letter}"),
        None => write!(text, "{mark} -1{letter}"),
    }
    .expect("a string takes everything");
}

fn features<'s>(text: &mut String, words: impl Iterator<Item = &'s Synonym>) {
    let mut numbers: Vec<u32> = words.flat_map(|word| &word.groups).map(|group| group.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if !numbers.is_empty() {
        let numbers: Vec<String> = numbers.iter().map(|number| format!("{number:06}")).collect();
        write!(text, " <SYNID:{}>", numbers.join(",")).expect("a string takes everything");
    }
    text.push('\n');
}

/// Writes a morpheme, and a space before it if there is one.
fn word(text: &mut String, analysis: &AnalysedText<'_>, at: usize) {
    let morpheme = analysis.morpheme(at);
    let before = at.checked_sub(1).map_or(0, |before| analysis.morpheme(before).normal_span().end);
    if at > 0 && before < morpheme.normal_span().start {
        text.push_str("\u{3000} \u{3000} \u{3000} 特殊 1 空白 6 * 0 * 0 NIL\n");
    }
    let (part, conjugation) = (juman::part(morpheme.part()), juman::conjugation(morpheme.part()));
    writeln!(
        text,
        "{} {} {} {part} {conjugation} NIL",
        written(morpheme.normal()),
        reading(&morpheme),
        written(morpheme.base()),
    )
    .expect("a string takes everything");
}

fn reading(morpheme: &Morpheme<'_>) -> String {
    let reading = morpheme.reading().unwrap_or(morpheme.normal().into());
    let hiragana = |c| match c {
        '\u{30A1}'..='\u{30F6}' => char::from_u32(u32::from(c) - TO_HIRAGANA).unwrap_or(c),
        _ => c,
    };
    written(&reading).chars().map(hiragana).collect()
}

/// A word without the characters that mean something in the format.
fn written(word: &str) -> String {
    let wide = |c: char| match c {
        '\u{21}'..='\u{7E}' => char::from_u32(u32::from(c) + WIDEN).unwrap_or(c),
        _ if c.is_whitespace() || c.is_control() => '\u{3000}',
        _ => c,
    };
    word.chars().map(wide).collect()
}
