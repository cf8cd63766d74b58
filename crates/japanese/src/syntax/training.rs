//! What makes a model needs: the features of every decision, and the file's writer. Not for other use.

use super::boundary::{self, Place};
use super::chain::Chain;
use super::phrase::{self, Phrase};
use super::word::{self, Word};
use super::{PIECE_BUNSETSU_MAX, Parser, label, model, pair};
use crate::{AnalysedText, Bunsetsu, DependencyLabel};

pub use super::model::ModelEntry;

/// A sentence of a treebank on the morphemes of an analysis.
pub struct Example {
    words: Vec<Word>,
    phrases: Vec<Phrase>,
    starts: Vec<usize>,
    /// By bunsetsu; none for the last one, and where the treebank's head cannot be reached.
    heads: Vec<Option<usize>>,
}

impl Example {
    /// A sentence with these bunsetsu: starts in ascending order, the first of them 0, all below the number of
    /// morphemes; heads by bunsetsu.
    ///
    /// # Panics
    ///
    /// If the lists differ in length.
    #[must_use]
    pub fn new(analysis: &AnalysedText<'_>, starts: Vec<usize>, heads: Vec<Option<usize>>) -> Self {
        assert_eq!(starts.len(), heads.len(), "a head for every bunsetsu");
        let words = word::words(analysis);
        Self { phrases: phrase::phrases(&words, &starts), words, starts, heads }
    }

    /// Calls `decide` with the features of every boundary and whether a bunsetsu starts there.
    pub fn boundaries(&self, mut decide: impl FnMut(&[u32], bool)) {
        let mut features = Vec::new();
        let (mut start, mut length_before) = (0, 0);
        for at in 1..self.words.len() {
            features.clear();
            boundary::features(&self.words, Place { at, start, length_before }, |feature| {
                features.push(feature);
            });
            let is_start = self.starts.binary_search(&at).is_ok();
            decide(&features, is_start);
            if is_start {
                (start, length_before) = (at, at - start);
            }
        }
    }

    /// Calls `decide` for every choice of a head: the features of each candidate, and the number of the right one.
    pub fn heads(&self, mut decide: impl FnMut(&[Vec<u32>], usize)) {
        let count = self.phrases.len().min(PIECE_BUNSETSU_MAX);
        let mut chain = Chain::new(&self.phrases[..count]);
        let (mut candidates, mut features) = (Vec::new(), Vec::new());
        for dependent in (0..count.saturating_sub(1)).rev() {
            chain.candidates(dependent, &mut candidates);
            let right = candidates.iter().position(|candidate| Some(candidate.at) == self.heads[dependent]);
            if let (Some(right), true) = (right, candidates.len() > 1) {
                features.resize(candidates.len(), Vec::new());
                for (rank, of_one) in features.iter_mut().enumerate() {
                    of_one.clear();
                    pair::features(&chain, dependent, &candidates, rank, |feature| of_one.push(feature));
                }
                decide(&features, right);
            }
            chain.attach(dependent, candidates[right.unwrap_or(0)].at);
        }
    }

    /// The features of a label between a bunsetsu and its head; none if it has no head to the right.
    #[must_use]
    pub fn label(&self, dependent: usize, label: DependencyLabel) -> Option<Vec<u32>> {
        let head = self.heads[dependent].filter(|&head| head > dependent && head < self.phrases.len())?;
        let mut features = Vec::new();
        label::features(&self.phrases, dependent, head, label, |feature| features.push(feature));
        Some(features)
    }
}

/// Heads of bunsetsu that are given: where each starts, as in [`Example::new`].
#[must_use]
pub fn attach(parser: &Parser, analysis: &AnalysedText<'_>, starts: &[usize]) -> Vec<Bunsetsu> {
    parser.attach(&word::words(analysis), starts)
}

/// Writes a model file: boundaries, heads, labels.
#[must_use]
pub fn write(models: [&[ModelEntry]; 3]) -> Vec<u8> {
    model::write(models)
}

/// The size of the built-in model file.
#[must_use]
pub fn built_in_bytes() -> usize {
    model::BUILT_IN.len()
}
