//! Does a bunsetsu start at a morpheme? Decided from left to right.

use super::features::{Features, joined};
use super::word::{Kind, Symbol, Word};

/// How far runs of nouns and symbols are followed.
const RUN_MAX: usize = 8;
/// How far ahead a particle is looked for.
const AHEAD_MAX: usize = 4;

/// A place between two morphemes, and what was decided before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The morpheme that may start a bunsetsu.
    pub(super) at: usize,
    /// Where the bunsetsu before it started.
    pub(super) start: usize,
    /// The number of morphemes of the bunsetsu before that one; 0 if there is none.
    pub(super) length_before: usize,
}

/// What is read of a morpheme near the place.
#[derive(Clone, Copy)]
struct Near {
    surface: u32,
    base: u32,
    part: u32,
    group: u32,
}

/// Calls `sink` with every feature of the place.
pub(super) fn features(words: &[Word], place: Place, sink: impl FnMut(u32)) {
    let mut features = Features::new(sink);
    let window = [-3, -2, -1, 0, 1, 2].map(|offset| near(words, place.at, offset));
    single(&mut features, &window);
    several(&mut features, &window);
    current(&mut features, words, place, &window);
    around(&mut features, words, place, &window);
    characters(&mut features, words, place, &window);
    runs(&mut features, words, place, &window);
}

fn near(words: &[Word], at: usize, offset: isize) -> Near {
    match at.checked_add_signed(offset).and_then(|index| words.get(index)) {
        Some(word) => {
            Near { surface: word.surface, base: word.base, part: word.part.id, group: word.part.group }
        }
        None => {
            let outside = if offset < 0 { 1 } else { 2 };
            Near { surface: outside, base: outside, part: outside, group: outside }
        }
    }
}

fn single<F: FnMut(u32)>(features: &mut Features<F>, window: &[Near; 6]) {
    for word in &window[1..] {
        features.one(word.part);
        features.one(word.surface);
        features.one(word.group);
    }
    features.one(window[2].base);
    features.one(window[3].base);
}

fn several<F: FnMut(u32)>(features: &mut Features<F>, window: &[Near; 6]) {
    let [w3, w2, w1, n0, n1, n2] = *window;
    features.two(w1.part, n0.part);
    features.two(w1.surface, n0.part);
    features.two(w1.part, n0.surface);
    features.two(w1.surface, n0.surface);
    features.two(w1.base, n0.base);
    features.two(w1.base, n0.part);
    features.two(w1.part, n0.base);
    features.two(w1.group, n0.group);
    features.two(n0.part, n1.part);
    features.two(n0.surface, n1.surface);
    features.two(n0.surface, n1.part);
    features.three(w2.part, w1.part, n0.part);
    features.three(w2.surface, w1.part, n0.part);
    features.three(w2.surface, w1.surface, n0.part);
    features.three(w2.surface, w1.surface, n0.surface);
    features.three(w2.part, w1.surface, n0.surface);
    features.three(w2.part, w1.surface, n0.part);
    features.three(w1.part, n0.part, n1.part);
    features.three(w1.part, n0.surface, n1.part);
    features.three(w1.surface, n0.surface, n1.part);
    features.three(w1.surface, n0.surface, n1.surface);
    features.three(w1.part, n0.part, n1.surface);
    features.three(w1.surface, n0.part, n1.surface);
    features.three(w1.surface, n0.part, n1.part);
    features.three(n0.part, n1.part, n2.part);
    features.three(n0.surface, n1.surface, n2.surface);
    let two_before = joined(w2.group, w1.group);
    features.three(two_before, n0.group, n1.group);
    features.three(joined(w3.group, two_before), n0.group, joined(n1.group, n2.group));
    features.three(w3.part, w2.part, joined(w1.part, n0.part));
}

/// The bunsetsu so far.
fn current<F: FnMut(u32)>(features: &mut Features<F>, words: &[Word], place: Place, window: &[Near; 6]) {
    let [_, _, w1, n0, n1, _] = *window;
    let length = small(place.at - place.start, 4);
    let first = &words[place.start];
    features.three(length, w1.part, n0.part);
    features.three(length, w1.surface, n0.surface);
    features.three(first.part.id, w1.part, n0.part);
    features.three(first.base, w1.part, n0.part);
    features.three(length, first.part.group, n0.part);
    features.three(first.part.group, w1.surface, n0.surface);
    features.three(small(place.length_before, 3), w1.part, n0.part);
    let seen = words[place.start..place.at].iter().fold(0, |seen, word| seen | contribution(word));
    features.two(seen, n0.part);
    features.three(seen, w1.group, n0.group);
    features.two(seen, n0.surface);
    features.three(seen, n0.group, n1.group);
    features.three(seen, n0.part, n1.part);
}

fn contribution(word: &Word) -> u32 {
    let kind = match word.part.kind {
        Kind::Noun => 1,
        Kind::Verb => 2,
        Kind::Adjective => 4,
        Kind::Particle => 8,
        Kind::Auxiliary => 16,
        Kind::Symbol => 32,
        Kind::Prefix => 64,
        _ => 128,
    };
    let symbol = match word.symbol {
        Symbol::Open => 256,
        Symbol::Close => 512,
        Symbol::Comma | Symbol::Stop => 1024,
        _ => 0,
    };
    kind | symbol
}

/// The nearest words that are no symbols.
fn around<F: FnMut(u32)>(features: &mut Features<F>, words: &[Word], place: Place, window: &[Near; 6]) {
    let [_, _, w1, n0, ..] = *window;
    let after =
        words[place.at..].iter().take(RUN_MAX).find(|word| !word.is_symbol()).map_or(9, |word| word.part.id);
    let mut before = words[place.start..place.at].iter().rev().take(RUN_MAX);
    let before = before.find(|word| !word.is_symbol()).map_or(9, |word| word.part.id);
    features.three(after, w1.part, n0.part);
    features.three(after, w1.surface, n0.surface);
    features.three(before, w1.part, n0.part);
    features.three(before, after, n0.group);
    features.three(before, w1.surface, n0.surface);
    features.three(before, after, joined(w1.surface, n0.surface));
}

fn characters<F: FnMut(u32)>(features: &mut Features<F>, words: &[Word], place: Place, window: &[Near; 6]) {
    let [_, _, w1, n0, ..] = *window;
    let (before, after) = (&words[place.at - 1], &words[place.at]);
    let groups = joined(w1.group, n0.group);
    features.three(before.scripts, after.scripts, groups);
    features.three(before.last_character, w1.group, n0.part);
    features.three(after.first_character, w1.group, n0.part);
    features.three(before.last_character, after.first_character, groups);
}

/// The run of nouns that the place is in, what ends it, and the next particle.
fn runs<F: FnMut(u32)>(features: &mut Features<F>, words: &[Word], place: Place, window: &[Near; 6]) {
    let [_, _, w1, n0, ..] = *window;
    let is_noun = |word: &&Word| word.part.kind == Kind::Noun;
    let before = words[place.start..place.at].iter().rev().take(RUN_MAX).take_while(is_noun).count();
    let after = words[place.at..].iter().take(RUN_MAX).take_while(is_noun).count();
    let end = words.get(place.at + after).map_or(7, |word| word.part.id);
    features.three(small(before, 4) * 8 + small(after, 4), w1.group, n0.group);
    features.three(end, w1.part, n0.part);
    features.two(end, n0.group);
    features.three(end, w1.surface, n0.surface);
    let particle = particle_ahead(&words[place.at..]);
    features.three(particle, w1.part, n0.part);
    features.two(particle, n0.surface);
}

fn particle_ahead(words: &[Word]) -> u32 {
    let mut verb = 0;
    for word in words.iter().take(AHEAD_MAX) {
        match word.part.kind {
            Kind::Particle | Kind::Auxiliary => return word.part.id ^ verb,
            Kind::Verb => verb = 1,
            _ => (),
        }
    }
    verb
}

fn small(number: usize, max: u32) -> u32 {
    u32::try_from(number).map_or(max, |number| number.min(max))
}
