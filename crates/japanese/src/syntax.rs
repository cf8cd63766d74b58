//! Bunsetsu of a sentence and what each depends on.
//!
//! ```
//! let mut analyser = japanese::Analyser::new();
//! let parser = japanese::Parser::load();
//! let analysis = analyser.analyse("太郎は花子が読んでいる本を渡した。");
//! let heads: Vec<Option<usize>> = parser.bunsetsu(&analysis).iter().map(|bunsetsu| bunsetsu.head).collect();
//! assert_eq!(heads, [Some(4), Some(2), Some(3), Some(4), None]);
//! ```
//!
//! Three linear models decide: whether a bunsetsu starts at a morpheme, from left to right; which candidate is the head,
//! from right to left; and what kind of dependency it is. The candidates for a head are the next bunsetsu and the chain of its
//! heads, so that no two dependencies cross.
//!
//! **Invariant:** every head is to the right of its dependent, dependencies do not cross, and the last bunsetsu alone
//! has none. Every function is total; time is linear in the number of pieces of [`PIECE_BUNSETSU_MAX`].

mod boundary;
mod chain;
mod features;
mod label;
mod model;
mod pair;
mod phrase;
#[doc(hidden)]
pub mod training;
mod word;

use chain::{Candidate, Chain};
use model::Weights;
use phrase::Phrase;
use word::Word;

pub use model::ModelError;

use crate::{AnalysedText, Bunsetsu, DependencyLabel};

/// The most bunsetsu that are parsed together. The last one of a longer sentence's piece depends on the next bunsetsu.
pub const PIECE_BUNSETSU_MAX: usize = 128;
/// The most morphemes of a bunsetsu; after so many the next one starts.
pub const BUNSETSU_MORPHEMES_MAX: usize = 64;

/// Whose conventions an analysis follows: the two treebanks cut and attach differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// UD Japanese GSD: web pages, blogs, news.
    #[default]
    Web,
    /// The Wikipedia Annotated Corpus, in the tradition of the Kyoto corpora.
    Encyclopedia,
}

/// Finds bunsetsu and their heads. One serves any number of threads.
#[derive(Clone, Debug)]
pub struct Parser {
    boundaries: Weights,
    heads: Weights,
    labels: Weights,
}

impl Parser {
    /// A parser with the built-in model, in [`Style::Web`].
    #[must_use]
    pub fn load() -> Self {
        Self::with_style(Style::default())
    }

    /// A parser with the built-in model.
    #[must_use]
    pub fn with_style(style: Style) -> Self {
        Self::from_model(model::BUILT_IN, style).expect("the built-in model is whole, as a test shows")
    }

    /// A parser with another model.
    ///
    /// # Errors
    ///
    /// If the bytes are no whole model of the version that this program reads.
    pub fn from_model(bytes: &[u8], style: Style) -> Result<Self, ModelError> {
        let [boundaries, heads, labels] = model::read(bytes, style)?;
        Ok(Self { boundaries, heads, labels })
    }

    /// The bunsetsu of a sentence, in order; together they hold every morpheme once.
    #[must_use]
    pub fn bunsetsu(&self, analysis: &AnalysedText<'_>) -> Vec<Bunsetsu> {
        let words = word::words(analysis);
        self.attach(&words, &self.starts(&words))
    }

    /// Where bunsetsu start.
    fn starts(&self, words: &[Word]) -> Vec<usize> {
        let mut starts = Vec::with_capacity(words.len() / 2 + 1);
        if words.is_empty() {
            return starts;
        }
        starts.push(0);
        let (mut start, mut length_before) = (0, 0);
        for at in 1..words.len() {
            let place = boundary::Place { at, start, length_before };
            if at - start >= BUNSETSU_MORPHEMES_MAX || self.is_start(words, place) {
                (start, length_before) = (at, at - start);
                starts.push(at);
            }
        }
        starts
    }

    fn is_start(&self, words: &[Word], place: boundary::Place) -> bool {
        if words[place.at].never_starts() {
            return false;
        }
        let mut score = 0;
        boundary::features(words, place, |feature| score += self.boundaries.of(feature));
        score > 0
    }

    /// The bunsetsu that start at these morphemes, with their heads.
    fn attach(&self, words: &[Word], starts: &[usize]) -> Vec<Bunsetsu> {
        let phrases = phrase::phrases(words, starts);
        let mut all = Vec::with_capacity(phrases.len());
        for piece in phrases.chunks(PIECE_BUNSETSU_MAX) {
            let first = all.len();
            self.attach_piece(piece, |local, head, label| {
                let number = first + local;
                let head = head.map_or(number + 1, |head| first + head);
                let end = starts.get(number + 1).copied().unwrap_or(words.len());
                all.push(Bunsetsu {
                    morphemes: starts[number]..end,
                    head: (head < phrases.len()).then_some(head),
                    label,
                });
            });
        }
        all
    }

    /// Calls `found` with every phrase in order: its number, its head if it is not the last, and the label.
    fn attach_piece(&self, phrases: &[Phrase], mut found: impl FnMut(usize, Option<usize>, DependencyLabel)) {
        let mut chain = Chain::new(phrases);
        let mut candidates = Vec::new();
        for dependent in (0..phrases.len().saturating_sub(1)).rev() {
            chain.candidates(dependent, &mut candidates);
            chain.attach(dependent, self.head(&chain, dependent, &candidates));
        }
        for dependent in 0..phrases.len() {
            let head = chain.head(dependent);
            found(
                dependent,
                head,
                head.map_or(DependencyLabel::Dependency, |head| self.label(phrases, dependent, head)),
            );
        }
    }

    fn head(&self, chain: &Chain<'_>, dependent: usize, candidates: &[Candidate]) -> usize {
        let mut best = (i32::MIN, dependent + 1);
        if candidates.len() > 1 {
            for rank in 0..candidates.len() {
                let mut score = 0;
                pair::features(chain, dependent, candidates, rank, |feature| score += self.heads.of(feature));
                if score > best.0 {
                    best = (score, candidates[rank].at);
                }
            }
        }
        best.1
    }

    fn label(&self, phrases: &[Phrase], dependent: usize, head: usize) -> DependencyLabel {
        let score = |label: DependencyLabel| {
            let mut score = 0;
            label::features(phrases, dependent, head, label, |feature| score += self.labels.of(feature));
            score
        };
        let mut best = (score(DependencyLabel::Dependency), DependencyLabel::Dependency);
        for label in [DependencyLabel::Parallel, DependencyLabel::Incomplete, DependencyLabel::Apposition] {
            let score = score(label);
            if score > best.0 {
                best = (score, label);
            }
        }
        best.1
    }
}
