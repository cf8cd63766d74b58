//! Treebanks as JSON lines: `text`, and `b` = bunsetsu `[start in characters, head or -1, label]`.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use flate2::read::MultiGzDecoder;
use japanese::training::Example;
use japanese::{AnalysedText, DependencyLabel, Style};
use serde_json::Value;

/// A sentence of a treebank.
#[derive(Clone, Debug)]
pub struct Sentence {
    /// Its name in the treebank.
    pub id: String,
    /// What is written.
    pub text: String,
    /// Its bunsetsu, in order.
    pub bunsetsu: Vec<GoldBunsetsu>,
}

/// A bunsetsu of a treebank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldBunsetsu {
    /// Where it starts, in bytes.
    pub start: usize,
    /// The bunsetsu it depends on.
    pub head: Option<usize>,
    /// Its label, where it is one of ours.
    pub label: Option<DependencyLabel>,
}

/// Which treebank, by its short name.
#[must_use]
pub fn file_name(style: Style, part: &str) -> String {
    let name = match style {
        Style::Web => "gsd",
        Style::Encyclopedia => "wac",
    };
    format!("{name}-{part}.jsonl.gz")
}

/// Reads a compressed treebank.
///
/// # Errors
///
/// If the file cannot be read or a line is not a sentence.
pub fn read(path: &Path) -> Result<Vec<Sentence>> {
    let file = File::open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
    let mut lines = String::new();
    MultiGzDecoder::new(file)
        .read_to_string(&mut lines)
        .with_context(|| format!("cannot decompress `{}`", path.display()))?;
    let sentence = |(number, line): (usize, &str)| {
        parse(line).with_context(|| format!("`{}`, line {}", path.display(), number + 1))
    };
    lines.lines().enumerate().map(sentence).collect()
}

pub(crate) fn parse(line: &str) -> Result<Sentence> {
    let value: Value = serde_json::from_str(line)?;
    let text = value["text"].as_str().context("`text` is missing")?.to_owned();
    let mut positions: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    positions.push(text.len());
    let list = value["b"].as_array().context("`b` is missing")?;
    let mut bunsetsu = Vec::with_capacity(list.len());
    for item in list {
        let start = item[0].as_u64().and_then(|start| usize::try_from(start).ok());
        let Some(&start) = start.and_then(|start| positions.get(start)) else {
            bail!("a start is outside the text")
        };
        let head = item[1].as_i64().context("a head is no number")?;
        let head = usize::try_from(head).ok().filter(|&head| head < list.len());
        let label = item[2].as_str().and_then(label);
        bunsetsu.push(GoldBunsetsu { start, head, label });
    }
    Ok(Sentence { id: value["id"].as_str().unwrap_or_default().to_owned(), text, bunsetsu })
}

fn label(name: &str) -> Option<DependencyLabel> {
    match name {
        "D" => Some(DependencyLabel::Dependency),
        "P" => Some(DependencyLabel::Parallel),
        "I" => Some(DependencyLabel::Incomplete),
        "A" => Some(DependencyLabel::Apposition),
        _ => None,
    }
}

impl Sentence {
    /// The bunsetsu that words of the analysis can form: one that starts inside a word is joined to the one before.
    /// With the number of those joined.
    #[must_use]
    pub fn on(&self, word_starts: &[usize]) -> (Vec<GoldBunsetsu>, usize) {
        let mut joined: Vec<GoldBunsetsu> = Vec::new();
        let mut places = Vec::with_capacity(self.bunsetsu.len());
        for bunsetsu in &self.bunsetsu {
            let start = self.skip_space(bunsetsu.start, word_starts);
            if joined.is_empty() || word_starts.binary_search(&start).is_ok() {
                let start = if joined.is_empty() { bunsetsu.start } else { start };
                joined.push(GoldBunsetsu { start, head: None, label: None });
            }
            places.push(joined.len() - 1);
        }
        for (bunsetsu, &place) in self.bunsetsu.iter().zip(&places) {
            let head = bunsetsu.head.map(|head| places[head]);
            if head != Some(place) {
                joined[place].head = head;
                joined[place].label = bunsetsu.label;
            }
        }
        let count = self.bunsetsu.len() - joined.len();
        (joined, count)
    }

    fn skip_space(&self, start: usize, word_starts: &[usize]) -> usize {
        let rest = &self.text[start..];
        let space = |(at, character): &(usize, char)| {
            character.is_whitespace() && word_starts.binary_search(&(start + at)).is_err()
        };
        start
            + rest.char_indices().take_while(space).map(|(_, character)| character.len_utf8()).sum::<usize>()
    }

    /// What to learn from the sentence, with the labels; none if the analysis has no words.
    #[must_use]
    pub fn example(&self, analysis: &AnalysedText<'_>) -> Option<(Example, Vec<Option<DependencyLabel>>)> {
        if analysis.is_empty() {
            return None;
        }
        let starts = word_starts(analysis);
        let (bunsetsu, _) = self.on(&starts);
        let labels = bunsetsu.iter().map(|bunsetsu| bunsetsu.label).collect();
        let heads = bunsetsu.iter().map(|bunsetsu| bunsetsu.head).collect();
        Some((Example::new(analysis, places(&bunsetsu, &starts), heads), labels))
    }
}

/// Where the morphemes start, in bytes.
#[must_use]
pub fn word_starts(analysis: &AnalysedText<'_>) -> Vec<usize> {
    analysis.morphemes().map(|morpheme| morpheme.span().start).collect()
}

/// The numbers of the words with which these bunsetsu start.
#[must_use]
pub fn places(bunsetsu: &[GoldBunsetsu], word_starts: &[usize]) -> Vec<usize> {
    let place = |bunsetsu: &GoldBunsetsu| word_starts.partition_point(|&start| start < bunsetsu.start);
    bunsetsu
        .iter()
        .enumerate()
        .map(|(number, bunsetsu)| if number == 0 { 0 } else { place(bunsetsu) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"id":"a","text":"これ により 進む","b":[[0,1,"D"],[2,2,"P"],[6,-1,"D"]]}"#;

    #[test]
    fn a_line_is_read_with_starts_in_bytes() {
        let sentence = parse(LINE).unwrap();
        assert_eq!(sentence.bunsetsu.iter().map(|b| b.start).collect::<Vec<_>>(), [0, 6, 16]);
        assert_eq!(sentence.bunsetsu.iter().map(|b| b.head).collect::<Vec<_>>(), [Some(1), Some(2), None]);
        assert_eq!(sentence.bunsetsu[1].label, Some(DependencyLabel::Parallel));
    }

    #[test]
    fn a_bunsetsu_inside_a_word_joins_the_one_before() {
        let sentence = parse(LINE).unwrap();
        let (whole, none) = sentence.on(&[0, 7, 17]);
        assert_eq!((whole.len(), none, whole[1].start), (3, 0, 7));
        let (joined, one) = sentence.on(&[0, 17]);
        assert_eq!((joined.len(), one), (2, 1));
        assert_eq!((joined[0].head, joined[0].label), (Some(1), Some(DependencyLabel::Parallel)));
    }

    #[test]
    fn a_line_that_is_no_sentence_is_an_error() {
        for line in ["", "{}", r#"{"text":"あ"}"#, r#"{"text":"あ","b":[[9,-1,"D"]]}"#] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
