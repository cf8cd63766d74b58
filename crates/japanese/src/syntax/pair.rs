//! Is a candidate the head of a phrase?

use super::chain::{Candidate, Chain};
use super::features::{Features, joined};
use super::phrase::Phrase;

/// A dependent, a candidate, and where they stand; what several groups of features use.
struct Pair<'c> {
    chain: &'c Chain<'c>,
    candidates: &'c [Candidate],
    dependent: usize,
    rank: usize,
    /// The dependent and the candidate.
    d: &'c Phrase,
    c: &'c Phrase,
    /// Distance in steps.
    distance: u32,
    /// Rank among the candidates, and whether it is the last.
    position: u32,
    /// The dependent's ending, or only its last word, each with the comma.
    ending: u32,
    last: u32,
}

/// Calls `sink` with every feature of one candidate.
pub(super) fn features(
    chain: &Chain<'_>,
    dependent: usize,
    candidates: &[Candidate],
    rank: usize,
    sink: impl FnMut(u32),
) {
    let pair = Pair::new(chain, dependent, candidates, rank);
    let mut features = Features::new(sink);
    pair.place(&mut features);
    pair.candidate(&mut features);
    pair.endings(&mut features);
    pair.words(&mut features);
    pair.likeness(&mut features);
    pair.between(&mut features);
    pair.siblings(&mut features);
    features.skip_to(80);
    pair.other_candidates(&mut features);
    features.skip_to(110);
    pair.neighbours(&mut features);
}

impl<'c> Pair<'c> {
    fn new(chain: &'c Chain<'c>, dependent: usize, candidates: &'c [Candidate], rank: usize) -> Self {
        let at = candidates[rank].at;
        let d = &chain.phrases[dependent];
        let is_last = u32::from(rank + 1 == candidates.len());
        Self {
            chain,
            candidates,
            dependent,
            rank,
            d,
            c: &chain.phrases[at],
            distance: distance(at - dependent),
            position: small(rank, 6) * 2 + is_last,
            ending: d.ending.wrapping_mul(2) + d.comma,
            last: d.last_part.wrapping_mul(2) + d.comma,
        }
    }

    fn at(&self) -> usize {
        self.candidates[self.rank].at
    }

    /// How far away.
    fn place<F: FnMut(u32)>(&self, features: &mut Features<F>) {
        let Self { d, c, distance, position, ending, last, .. } = *self;
        features.two(position, distance);
        features.two(position, last);
        features.two(distance, last);
        features.three(position, ending, d.core_part);
        features.two(distance, ending);
        features.three(distance, c.class, last);
        features.three(position, c.class, last);
        features.three(position, c.ending, last);
        features.two(distance, c.ending);
        features.three(position, c.core_part, last);
        features.three(position & 1, c.class, d.ending);
        features.three(position, d.class, ending);
        let first = u32::from(self.dependent == 0);
        features.three(first, last, position);
        features.two(small(self.chain.phrases.len() - self.at(), 4), last);
    }

    fn candidate<F: FnMut(u32)>(&self, features: &mut Features<F>) {
        let c = self.c;
        features.one(c.core);
        features.two(c.core_part, c.last_part);
        features.two(c.ending, c.symbol);
        features.two(c.ending_parts, c.symbol);
        features.two(c.core, c.ending);
    }

    fn endings<F: FnMut(u32)>(&self, features: &mut Features<F>) {
        let Self { d, c, ending, last, .. } = *self;
        features.two(ending, c.core);
        features.two(d.ending, c.core);
        features.two(ending, c.core_part);
        features.two(ending, c.ending);
        features.three(ending, c.class, c.symbol);
        features.three(last, c.core_part, c.last_part);
        features.two(last, c.core);
        features.two(ending, c.core_character);
        features.three(d.ending, c.ending, c.symbol);
        features.three(d.ending_parts, c.ending_parts, d.comma);
        features.three(d.particle, c.core, c.class);
        features.three(d.particle, c.particle, d.comma);
        features.two(d.particle, c.core_part);
        features.two(c.stem, last);
    }

    fn words<F: FnMut(u32)>(&self, features: &mut Features<F>) {
        let Self { d, c, ending, last, .. } = *self;
        features.two(d.core, c.core);
        features.three(d.core, c.core, d.ending);
        features.three(d.core, d.ending, c.class);
        features.two(d.core, c.core_part);
        features.two(d.core, c.ending);
        features.two(d.core_part, c.core);
        features.two(d.core_part, c.core_part);
        features.three(d.core_part, last, c.core);
        features.three(d.core_part, ending, c.core_part);
        features.three(d.core_part, last, c.last_part);
        features.two(d.core_character, c.core_character);
        features.three(d.core_character, d.ending, c.core_character);
        features.three(d.core_character, last, c.core_part);
        features.two(d.first, c.first);
        features.three(d.first_part, c.first_part, last);
        let key = if (4..=6).contains(&d.class) { d.core } else { last ^ (d.class << 4) };
        features.two(key, c.first);
        features.two(key, c.first_part);
        features.two(c.stem, d.core);
        features.two(d.stem, c.core);
    }

    /// Parallel phrases are alike.
    fn likeness<F: FnMut(u32)>(&self, features: &mut Features<F>) {
        let Self { d, c, last, position, .. } = *self;
        let same_kind = u32::from(d.core_part == c.core_part) | u32::from(d.class == c.class) << 5;
        let same = same_kind
            | u32::from(d.core == c.core) << 1
            | u32::from(d.core_character == c.core_character) << 2
            | u32::from(d.ending == c.ending) << 3
            | u32::from(d.core_scripts == c.core_scripts) << 4;
        features.one(same);
        features.two(same, d.ending);
        features.three(same, last, position);
        features.three(same_kind, last, c.last_part);
    }

    /// Commas, predicates and brackets between the two.
    fn between<F: FnMut(u32)>(&self, features: &mut Features<F>) {
        let Self { d, c, ending, last, position, .. } = *self;
        let candidate = self.candidates[self.rank];
        let all_commas = self.chain.commas_between(self.dependent, self.at()).min(3);
        let (commas, predicates) = (candidate.commas.min(3), candidate.predicates.min(3));
        features.two(all_commas, last);
        features.three(all_commas, commas, last);
        features.two(predicates, last);
        features.three(predicates, ending, c.class);
        features.three(predicates, d.comma, c.class);
        features.three(predicates * 4 + all_commas, last, c.class);
        let brackets = self.brackets();
        features.one(brackets);
        features.two(brackets, last);
        features.two(brackets, position);
    }

    fn brackets(&self) -> u32 {
        let phrases = self.chain.phrases;
        let (d, c) = (self.d, self.c);
        let before = self.dependent.checked_sub(1).map_or(0, |before| phrases[before].depth);
        let crossed = (phrases[self.at() - 1].depth - before).clamp(-2, 2) + 2;
        let depth = d.depth.clamp(-1, 2) + 1;
        u32::from(d.opens)
            | u32::from(d.closes) << 1
            | u32::from(c.opens) << 2
            | u32::from(c.closes) << 3
            | crossed.unsigned_abs() << 4
            | depth.unsigned_abs() << 8
    }

    /// What depends on the candidate already.
    fn siblings<F: FnMut(u32)>(&self, features: &mut Features<F>) {
        let Self { d, c, ending, last, position, .. } = *self;
        let (mut same_particle, mut comma) = (0, 0);
        for sibling in self.chain.dependents(self.at()) {
            same_particle |= u32::from(sibling.particle == d.particle);
            comma |= sibling.comma;
        }
        let count = self.chain.count(self.at()).min(4);
        features.three(same_particle, d.particle, c.class);
        features.two(same_particle, ending);
        features.two(count, last);
        features.three(count, c.class, last);
        features.three(comma, last, c.class);
        let nearest = self.chain.dependents(self.at()).next();
        let nearest_ending = nearest.map_or(1, |sibling| sibling.ending);
        features.two(nearest_ending, ending);
        features.three(nearest_ending, d.ending, c.class);
        features.three(nearest.map_or(0, |sibling| sibling.comma + 1), last, c.class);
        features.three(nearest_ending, d.comma, c.core);
        let Some(sibling) = nearest else { return };
        features.three(sibling.particle, d.particle, c.core);
        features.three(sibling.particle, d.particle, c.ending);
        features.three(sibling.class, d.class, last);
        let same = u32::from(d.core_part == sibling.core_part)
            | u32::from(d.ending == sibling.ending) << 1
            | u32::from(d.class == sibling.class) << 2
            | u32::from(d.comma == sibling.comma) << 3;
        features.two(same, last);
        features.three(same, position, d.class);
    }

    /// The candidates before and after this one in the chain.
    fn other_candidates<F: FnMut(u32)>(&self, features: &mut Features<F>) {
        let Self { d, c, ending, last, .. } = *self;
        if let Some(next) = self.candidates.get(self.rank + 1) {
            let next = &self.chain.phrases[next.at];
            features.three(next.class, c.class, last);
            features.three(next.ending, c.ending, last);
            features.three(next.last_part, c.last_part, ending);
            features.two(last, next.core_part);
            features.two(d.ending, next.core);
            features.three(c.particle, next.class, d.particle);
            features.three(c.core, next.core, d.particle);
        }
        features.skip_to(95);
        if let Some(before) = self.rank.checked_sub(1) {
            let before = &self.chain.phrases[self.candidates[before].at];
            features.three(before.class, c.class, last);
            features.three(before.ending, c.ending, last);
            features.three(before.last_part, c.last_part, ending);
            features.three(last, before.core_part, c.class);
            features.two(before.ending, d.ending);
            features.three(before.particle, c.class, d.particle);
            features.two(d.core, before.core);
            features.three(before.comma, last, c.class);
        }
    }

    /// The phrases beside the two.
    fn neighbours<F: FnMut(u32)>(&self, features: &mut Features<F>) {
        let Self { d, c, ending, last, position, .. } = *self;
        let phrases = self.chain.phrases;
        if let Some(after) = phrases.get(self.at() + 1) {
            features.three(c.ending, after.core_part, last);
            features.three(c.last_part, after.class, last);
        }
        features.skip_to(115);
        if let Some(before) = self.dependent.checked_sub(1).map(|before| &phrases[before]) {
            features.three(before.ending, last, c.class);
            features.three(before.last_part, before.comma, position);
            features.three(before.ending, ending, position);
            features.two(before.particle, c.core);
            features.three(before.class, last, position);
        }
        features.skip_to(122);
        if self.at() > self.dependent + 1 {
            let (left, right) = (&phrases[self.dependent + 1], &phrases[self.at() - 1]);
            features.three(right.ending, last, c.class);
            features.three(right.comma, last, position);
            features.three(left.ending, last, position);
            features.three(left.class, last, position);
            features.three(left.core_part, joined(d.core_part, 0), last);
            features.three(left.ending, last, c.class);
        }
    }
}

fn distance(steps: usize) -> u32 {
    match steps {
        0..=5 => small(steps, 5),
        6..=7 => 6,
        8..=10 => 7,
        _ => 8,
    }
}

fn small(number: usize, max: u32) -> u32 {
    u32::try_from(number).map_or(max, |number| number.min(max))
}
