//! How the syntax model is made. The settings were chosen on the development parts.

use std::path::Path;

use anyhow::Result;
use base::chance::Chance;
use japanese::training::{self, Example};
use japanese::{Analyser, DependencyLabel, Style};

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
const LABELS: Settings = Settings { passes: 4, rate: 0.03, count_min: 2 };

/// A sentence to learn from.
struct Lesson {
    example: Example,
    labels: Vec<Option<DependencyLabel>>,
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
        let (example, labels) = sentence.example(&analyser.analyse(&sentence.text))?;
        Some(Lesson { example, labels, style })
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
    let labels = learn(lessons, LABELS, labels);
    training::write([&boundaries, &heads, &labels])
}

/// A decision to learn.
enum Seen<'f> {
    /// Features and whether they mean yes.
    Decision(&'f [u32], bool),
    /// Features of every candidate, and the right one. Without a style only shared weights are learned.
    Choice(&'f [Vec<u32>], usize, Option<Style>),
}

fn labels(lesson: &Lesson, seen: &mut dyn FnMut(Seen<'_>)) {
    let all = [
        DependencyLabel::Dependency,
        DependencyLabel::Parallel,
        DependencyLabel::Incomplete,
        DependencyLabel::Apposition,
    ];
    for (dependent, &label) in lesson.labels.iter().enumerate() {
        let right = all.iter().position(|&other| Some(other) == label);
        let candidates: Option<Vec<_>> =
            all.iter().map(|&label| lesson.example.label(dependent, label)).collect();
        if let (Some(right), Some(candidates)) = (right, candidates) {
            seen(Seen::Choice(&candidates, right, None));
        }
    }
}

fn learn(
    lessons: &[Lesson],
    settings: Settings,
    decisions: impl Fn(&Lesson, &mut dyn FnMut(Seen<'_>)),
) -> Vec<training::ModelEntry> {
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

#[cfg(test)]
mod tests {
    use japanese::Parser;

    use super::*;
    use crate::score::{Task, score};

    const LINES: [&str; 3] = [
        r#"{"id":"1","text":"赤い花が咲く。","b":[[0,1,"D"],[2,2,"D"],[4,-1,"D"]]}"#,
        r#"{"id":"2","text":"犬と猫が走る。","b":[[0,1,"P"],[2,2,"D"],[4,-1,"D"]]}"#,
        r#"{"id":"3","text":"私は赤い本を読む。","b":[[0,3,"D"],[2,2,"D"],[4,3,"D"],[6,-1,"D"]]}"#,
    ];

    fn lessons() -> (Vec<gold::Sentence>, Vec<Lesson>) {
        let mut analyser = Analyser::new();
        let sentences: Vec<_> = LINES.iter().map(|line| gold::parse(line).unwrap()).collect();
        let lesson = |sentence: &gold::Sentence| {
            let (example, labels) = sentence.example(&analyser.analyse(&sentence.text)).unwrap();
            Lesson { example, labels, style: Style::Web }
        };
        // Often enough for every feature to count.
        let lessons = sentences.iter().cycle().take(8 * LINES.len()).map(lesson).collect();
        (sentences, lessons)
    }

    #[test]
    fn a_model_knows_what_it_was_taught_and_is_made_the_same_twice() {
        let (sentences, lessons) = lessons();
        let made = model(&lessons);
        assert_eq!(made, model(&lessons));
        let taught = Parser::from_model(&made, Style::Web).unwrap();
        assert_eq!(score(&taught, &sentences, Task::EndToEnd).dependencies.f().round(), 100.0);
        let nothing = Parser::from_model(&training::write([&[], &[], &[]]), Style::Web).unwrap();
        assert!(score(&nothing, &sentences, Task::EndToEnd).spans.f() < 50.0);
    }

    #[test]
    fn every_pass_has_an_order_of_its_own() {
        let mut first = order(100, 0);
        assert_ne!(first, order(100, 1));
        first.sort_unstable();
        assert_eq!(first, (0..100).collect::<Vec<_>>());
    }
}
