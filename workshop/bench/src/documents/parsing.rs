//! Bunsetsu and dependencies: against the treebanks, and against the time of morphology alone.

use std::path::Path;

use anyhow::Result;
use japanese::{Analyser, Parser, Style};
use treebank::gold::{self, Sentence};
use treebank::score::{Task, score};
use workload::usage::Usage;

use super::{Bound, Row};

/// How often the development sentences are parsed for the speed.
const ROUNDS: usize = 20;

pub(super) fn rows(shared: &Path) -> Result<Vec<Row>> {
    let directory = shared.join("data/nlp");
    let mut rows = Vec::new();
    for (style, span_min, dependency_min) in [(Style::Web, 96.0, 88.5), (Style::Encyclopedia, 97.5, 90.5)] {
        let name = gold::file_name(style, "dev");
        let sentences = gold::read(&directory.join(&name))?;
        let name = name.trim_end_matches(".jsonl.gz");
        rows.extend(accuracy(&Parser::with_style(style), &sentences, name, span_min, dependency_min));
        if style == Style::Web {
            rows.extend(speed(&sentences)?);
        }
    }
    let (row, bytes) = ("parsing: model", japanese::training::built_in_bytes());
    rows.push(Row { name: row.to_owned(), value: count(bytes) / 1e6, unit: "MB", bound: Bound::AtMost(8.0) });
    Ok(rows)
}

fn accuracy(parser: &Parser, sentences: &[Sentence], name: &str, span: f64, dependency: f64) -> [Row; 4] {
    let found = score(parser, sentences, Task::EndToEnd);
    let heads = score(parser, sentences, Task::GoldBunsetsu);
    let (labels, right) = heads.labels;
    let row =
        |what: &str, value, bound| Row { name: format!("parsing: {what}, {name}"), value, unit: "%", bound };
    [
        row("bunsetsu span F", found.spans.f(), Bound::AtLeast(span)),
        row("dependencies on gold bunsetsu", heads.dependencies.recall(), Bound::AtLeast(dependency)),
        row("bunsetsu and dependencies, F", found.dependencies.f(), Bound::None),
        row("labels of right dependencies", 100.0 * count(right) / count(labels.max(1)), Bound::None),
    ]
}

/// CPU time of this program, of which the benchmark uses one thread.
fn speed(sentences: &[Sentence]) -> Result<[Row; 2]> {
    let (mut analyser, parser) = (Analyser::new(), Parser::load());
    let mut words = 0;
    let begin = Usage::now()?;
    for sentence in std::iter::repeat_n(sentences, ROUNDS).flatten() {
        words += analyser.analyse(&sentence.text).len();
    }
    let morphology = Usage::now()?.since(begin).cpu_seconds;
    let analyses: Vec<_> = sentences.iter().map(|sentence| analyser.analyse(&sentence.text)).collect();
    let begin = Usage::now()?;
    let mut bunsetsu = 0;
    for analysis in std::iter::repeat_n(&analyses, ROUNDS).flatten() {
        bunsetsu += parser.bunsetsu(analysis).len();
    }
    let parsing = Usage::now()?.since(begin).cpu_seconds;
    anyhow::ensure!(bunsetsu > 0 && words > bunsetsu, "nothing was parsed");
    let per_second = count(ROUNDS * sentences.len()) / parsing;
    Ok([
        Row {
            name: "parsing: bunsetsu and dependencies, one core".to_owned(),
            value: per_second,
            unit: "sentences/s",
            bound: Bound::AtLeast(20_000.0),
        },
        Row {
            name: "parsing: time beside morphology".to_owned(),
            value: parsing / morphology,
            unit: "×",
            bound: Bound::None,
        },
    ])
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn count(number: usize) -> f64 {
    number as f64
}
