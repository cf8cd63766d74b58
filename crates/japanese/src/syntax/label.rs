//! What kind of dependency is it?

use super::features::{Features, joined};
use super::phrase::Phrase;
use crate::DependencyLabel;

/// Calls `sink` with every feature of this label between two phrases.
pub(super) fn features(
    phrases: &[Phrase],
    dependent: usize,
    head: usize,
    label: DependencyLabel,
    sink: impl FnMut(u32),
) {
    let mut features = Features::new(sink);
    let (d, h) = (&phrases[dependent], &phrases[head]);
    let letter = u32::from(label.letter());
    let ending = joined(letter, d.ending.wrapping_add(d.comma));
    let last = joined(letter, d.last_part.wrapping_add(d.comma));
    let same = u32::from(d.core_part == h.core_part)
        | u32::from(d.core_character == h.core_character) << 1
        | u32::from(d.ending == h.ending) << 2
        | u32::from(d.class == h.class) << 3
        | u32::from(d.core_scripts == h.core_scripts) << 4;
    let near = u32::from(head == dependent + 1);
    features.one(letter);
    features.one(ending);
    features.two(last, d.class);
    features.two(ending, d.core_part);
    features.two(ending, h.core);
    features.two(ending, h.core_part);
    features.two(ending, h.ending);
    features.two(ending, h.class);
    features.three(last, d.class, h.class);
    features.three(last, d.core_part, h.core_part);
    features.three(last, d.class, h.ending);
    features.two(ending, same);
    features.three(last, same, near);
    features.three(ending, same, h.class);
    features.three(last, d.core_character, h.core_character);
    features.three(last, d.core, h.core);
    features.three(letter, d.ending, d.core);
    features.three(ending, near, h.class);
    features.three(letter, d.symbol, d.class);
    features.three(last, d.first, h.class);
    features.three(letter, h.ending, h.symbol);
    if let Some(next) = phrases.get(dependent + 1) {
        features.three(ending, next.class, next.core_part);
        features.three(ending, next.ending, near);
    }
}
