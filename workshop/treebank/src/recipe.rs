//! How the syntax model is made. The settings were chosen by cross-validation over the training parts.

use std::path::Path;

use anyhow::Result;
use base::chance::Chance;
use japanese::training::{self, Example};
use japanese::{Analyser, Relation, Style};

use crate::gold;
use crate::learner::Learner;

/// Seed of the order in which sentences are seen.
const SEED: u64 = 20;

/// How one of the models is trained.
#[derive(Clone, Copy, Debug)]
struct Settings {
    passes: u64,
    rate: f32,
    count_min: u8,
}

const BOUNDARIES: Settings = Settings { passes: 6, rate: 0.06, count_min: 5 };
const HEADS: Settings = Settings { passes: 3, rate: 0.01, count_min: 5 };
const RELATIONS: Settings = Settings { passes: 4, rate: 0.03, count_min: 2 };

/// A sentence to learn from.
struct Lesson {
    example: Example,
    relations: Vec<Option<Relation>>,
    style: Style,
}

/// Makes the model file from the training parts of both treebanks in a directory.
///
/// # Errors
///
/// If a treebank cannot be read.
pub fn train(directory: &Path) -> Result<Vec<u8>> {
    let mut lessons = Vec::new();
    for style in [Style::Web, Style::Encyclopedia] {
        lessons.extend(read(&directory.join(gold::file_name(style, "train")), style)?);
    }
    Ok(model(&lessons))
}

fn read(path: &Path, style: Style) -> Result<Vec<Lesson>> {
    let mut analyser = Analyser::new();
    let lesson = |sentence: gold::Sentence| {
        let (example, relations) = sentence.example(&analyser.analyse(&sentence.text))?;
        Some(Lesson { example, relations, style })
    };
    Ok(gold::read(path)?.into_iter().filter_map(lesson).collect())
}

fn model(lessons: &[Lesson]) -> Vec<u8> {
    let boundaries = learn(lessons, BOUNDARIES, |lesson, seen| {
        lesson.example.boundaries(|features, is_start| seen(Seen::Decision(features, is_start)));
    });
    let heads = learn(lessons, HEADS, |lesson, seen| {
        lesson.example.heads(|candidates, right| seen(Seen::Choice(candidates, right, Some(lesson.style))));
    });
    let relations = learn(lessons, RELATIONS, relations);
    training::write([&boundaries, &heads, &relations])
}

/// A decision to learn.
enum Seen<'f> {
    /// Features and whether they mean yes.
    Decision(&'f [u32], bool),
    /// Features of every candidate, and the right one. Without a style only shared weights are learned.
    Choice(&'f [Vec<u32>], usize, Option<Style>),
}

fn relations(lesson: &Lesson, seen: &mut dyn FnMut(Seen<'_>)) {
    let all = [Relation::Dependent, Relation::Parallel, Relation::Incomplete, Relation::Apposition];
    for (dependent, &relation) in lesson.relations.iter().enumerate() {
        let right = all.iter().position(|&other| Some(other) == relation);
        let candidates: Option<Vec<_>> =
            all.iter().map(|&relation| lesson.example.relation(dependent, relation)).collect();
        if let (Some(right), Some(candidates)) = (right, candidates) {
            seen(Seen::Choice(&candidates, right, None));
        }
    }
}

fn learn(
    lessons: &[Lesson],
    settings: Settings,
    decisions: impl Fn(&Lesson, &mut dyn FnMut(Seen<'_>)),
) -> Vec<training::Entry> {
    let mut learner = Learner::new(settings.rate);
    for lesson in lessons {
        decisions(lesson, &mut |seen| match seen {
            Seen::Decision(features, _) => learner.count(features),
            Seen::Choice(candidates, ..) => candidates.iter().for_each(|features| learner.count(features)),
        });
    }
    learner.select(settings.count_min);
    for pass in 0..settings.passes {
        for lesson in order(lessons.len(), pass).into_iter().map(|number| &lessons[number]) {
            learner.step();
            decisions(lesson, &mut |seen| match seen {
                Seen::Decision(features, yes) => learner.decide(features, yes, Some(lesson.style)),
                Seen::Choice(candidates, right, style) => learner.choose(candidates, right, style),
            });
        }
    }
    learner.entries()
}

/// The numbers below `count` in an order of their own for every pass.
fn order(count: usize, pass: u64) -> Vec<usize> {
    let mut chance = Chance::of(&[SEED, pass]);
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, chance.index(last + 1));
    }
    order
}
