//! Compares bunsetsu and heads with a treebank's, by spans of the text without white space at the edges.
//!
//! The same definitions as `score_dep.py` beside the treebanks.

use std::collections::HashSet;
use std::ops::Range;

use japanese::{Analyser, Bunsetsu, Parser, training};

use crate::gold::{Sentence, places, word_starts};

/// What was counted over sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Bunsetsu of the treebank, found ones, and those in both.
    pub spans: Counts,
    /// Dependencies likewise.
    pub dependencies: Counts,
    /// Bunsetsu that no analysis over these words can find.
    pub joined: usize,
    /// Labels of the right dependencies of a treebank that has them: compared, right.
    pub labels: (usize, usize),
}

/// Sizes of two sets and of what they share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// In the treebank.
    pub gold: usize,
    /// Found.
    pub found: usize,
    /// In both.
    pub both: usize,
}

impl Counts {
    /// The harmonic mean of precision and recall, in percent.
    #[must_use]
    pub fn f(&self) -> f64 {
        percent(2 * self.both, self.gold + self.found)
    }

    /// The share of the treebank that was found, in percent.
    #[must_use]
    pub fn recall(&self) -> f64 {
        percent(self.both, self.gold)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of words are far below 2^52")]
fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// What is compared: bunsetsu found by the parser, or heads between the treebank's bunsetsu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// From raw text.
    EndToEnd,
    /// Heads alone.
    GoldBunsetsu,
}

/// Parses the sentences and counts.
#[must_use]
pub fn score(parser: &Parser, sentences: &[Sentence], task: Task) -> Score {
    let mut analyser = Analyser::new();
    let mut score = Score::default();
    for sentence in sentences {
        let analysis = analyser.analyse(&sentence.text);
        let starts = word_starts(&analysis);
        let found = match task {
            Task::EndToEnd => parser.bunsetsu(&analysis),
            Task::GoldBunsetsu if analysis.is_empty() => Vec::new(),
            Task::GoldBunsetsu => {
                training::attach(parser, &analysis, &places(&sentence.on(&starts).0, &starts))
            }
        };
        score.add(sentence, &starts, &found);
    }
    score
}

impl Score {
    /// Counts one sentence: its words' starts and what was found.
    pub fn add(&mut self, sentence: &Sentence, word_starts: &[usize], found: &[Bunsetsu]) {
        let (gold, joined) = sentence.on(word_starts);
        let gold_spans = spans(&sentence.text, gold.iter().map(|bunsetsu| bunsetsu.start));
        let found_spans =
            spans(&sentence.text, found.iter().map(|bunsetsu| word_starts[bunsetsu.morphemes.start]));
        self.joined += joined;
        self.spans.add(gold_spans.len(), found_spans.len(), both(&gold_spans, &found_spans));

        let last = gold.len().saturating_sub(1);
        let arc = |(number, head): (usize, Option<usize>)| Some((&gold_spans[number], &gold_spans[head?]));
        let gold_arcs: Vec<_> = gold[..last].iter().map(|b| b.head).enumerate().filter_map(arc).collect();
        let arc = |(number, head): (usize, Option<usize>)| Some((&found_spans[number], &found_spans[head?]));
        let found_arcs: Vec<_> = found.iter().map(|b| b.head).enumerate().filter_map(arc).collect();
        self.dependencies.add(last, found.len().saturating_sub(1), both(&gold_arcs, &found_arcs));

        for (number, bunsetsu) in gold.iter().enumerate() {
            let (Some(label), Some(head)) = (bunsetsu.label, bunsetsu.head) else { continue };
            let same =
                |other: &&Bunsetsu| other.head.is_some_and(|other| found_spans[other] == gold_spans[head]);
            let place = found_spans.iter().position(|span| *span == gold_spans[number]);
            if let Some(other) = place.map(|place| &found[place]).filter(same) {
                self.labels.0 += 1;
                self.labels.1 += usize::from(other.label == label);
            }
        }
    }
}

impl Counts {
    fn add(&mut self, gold: usize, found: usize, both: usize) {
        self.gold += gold;
        self.found += found;
        self.both += both;
    }
}

fn both<T: Eq + std::hash::Hash>(a: &[T], b: &[T]) -> usize {
    let a: HashSet<&T> = a.iter().collect();
    b.iter().collect::<HashSet<&T>>().intersection(&a).count()
}

/// The spans from each start to the next, without white space at the edges.
fn spans(text: &str, starts: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let starts: Vec<usize> = starts.collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let trimmed = |(&start, end): (&usize, usize)| {
        let part = &text[start..end];
        let start = start + part.len() - part.trim_start().len();
        start..start + part.trim().len()
    };
    starts.iter().zip(ends).map(trimmed).collect()
}

#[cfg(test)]
mod tests {
    use japanese::DependencyLabel;

    use super::*;
    use crate::gold::GoldBunsetsu;

    fn sentence() -> Sentence {
        let gold = |start, head| GoldBunsetsu { start, head, label: Some(DependencyLabel::Dependency) };
        Sentence {
            id: String::new(),
            text: "赤い 花が咲く".to_owned(),
            bunsetsu: vec![gold(0, Some(1)), gold(7, Some(2)), gold(13, None)],
        }
    }

    fn check(found: &[(Range<usize>, Option<usize>)], spans: (usize, usize), dependencies: (usize, usize)) {
        let found: Vec<Bunsetsu> = found
            .iter()
            .map(|(morphemes, head)| Bunsetsu {
                morphemes: morphemes.clone(),
                head: *head,
                label: DependencyLabel::Dependency,
            })
            .collect();
        let mut score = Score::default();
        score.add(&sentence(), &[0, 7, 10, 13], &found);
        assert_eq!((score.spans.found, score.spans.both), spans, "{found:?}");
        assert_eq!((score.dependencies.found, score.dependencies.both), dependencies, "{found:?}");
        assert_eq!((score.spans.gold, score.dependencies.gold), (3, 2));
    }

    #[test]
    fn right_analyses_score_fully_and_wrong_ones_do_not() {
        check(&[(0..1, Some(1)), (1..3, Some(2)), (3..4, None)], (3, 3), (2, 2));
        check(&[(0..1, Some(2)), (1..3, Some(2)), (3..4, None)], (3, 3), (2, 1));
        check(&[(0..1, Some(1)), (1..4, None)], (2, 1), (1, 0));
        check(&[], (0, 0), (0, 0));
    }
}
