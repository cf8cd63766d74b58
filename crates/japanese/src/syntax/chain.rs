//! The heads found so far, from right to left, and the candidates for the next one.

use super::phrase::Phrase;

/// The most dependents of one bunsetsu that are looked at.
const DEPENDENTS_MAX: usize = 16;

/// Heads of the phrases from some place to the end.
pub(super) struct Chain<'p> {
    pub(super) phrases: &'p [Phrase],
    heads: Vec<Option<usize>>,
    /// By head: its leftmost dependent so far, and how many it has. By dependent: the next one to the right.
    leftmost: Vec<Option<usize>>,
    next: Vec<Option<usize>>,
    counts: Vec<u32>,
    /// By phrase: the number of commas before it.
    commas: Vec<u32>,
}

/// A phrase that may be the head.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) at: usize,
    /// Among the nearer candidates: how many are predicates, how many end with a comma.
    pub(super) predicates: u32,
    pub(super) commas: u32,
}

impl<'p> Chain<'p> {
    pub(super) fn new(phrases: &'p [Phrase]) -> Self {
        let none = vec![None; phrases.len()];
        let mut sum = 0;
        let commas = phrases.iter().map(|phrase| {
            sum += phrase.comma;
            sum - phrase.comma
        });
        Self {
            commas: commas.collect(),
            phrases,
            heads: none.clone(),
            leftmost: none.clone(),
            next: none,
            counts: vec![0; phrases.len()],
        }
    }

    /// Fills `candidates` with the possible heads of a phrase, nearest first.
    pub(super) fn candidates(&self, dependent: usize, candidates: &mut Vec<Candidate>) {
        candidates.clear();
        let (mut predicates, mut commas) = (0, 0);
        let mut next = (dependent + 1 < self.phrases.len()).then_some(dependent + 1);
        while let Some(at) = next {
            candidates.push(Candidate { at, predicates, commas });
            predicates += u32::from(self.phrases[at].is_predicate());
            commas += self.phrases[at].comma;
            next = self.heads[at];
        }
    }

    pub(super) fn attach(&mut self, dependent: usize, head: usize) {
        self.heads[dependent] = Some(head);
        self.next[dependent] = self.leftmost[head];
        self.leftmost[head] = Some(dependent);
        self.counts[head] += 1;
    }

    pub(super) fn head(&self, dependent: usize) -> Option<usize> {
        self.heads[dependent]
    }

    /// The dependents of a phrase, from left to right.
    pub(super) fn dependents(&self, head: usize) -> impl Iterator<Item = &'p Phrase> {
        let phrases = self.phrases;
        let all = std::iter::successors(self.leftmost[head], |&dependent| self.next[dependent]);
        all.take(DEPENDENTS_MAX).map(move |dependent| &phrases[dependent])
    }

    pub(super) fn count(&self, head: usize) -> u32 {
        self.counts[head]
    }

    /// Phrases that end with a comma, strictly between two.
    pub(super) fn commas_between(&self, left: usize, right: usize) -> u32 {
        self.commas[right] - self.commas[left + 1]
    }
}
