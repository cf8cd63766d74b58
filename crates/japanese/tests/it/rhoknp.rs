//! The Python package `rhoknp` reads KNP's format as it was meant.

use std::io::Write as _;
use std::process::{Command, Stdio};

use japanese::{Analyser, Parser};

use crate::shared;

/// How many sentences are compared; the benchmark takes 10,000.
const SENTENCES: usize = 2_000;

#[test]
fn rhoknp_reads_every_annotation_with_the_same_heads() {
    let Some(python) = python() else {
        eprintln!(
            "NOT TESTED: install the Python package `rhoknp`, and name its `python3` in UTSUSHI_PYTHON"
        );
        return;
    };
    let odd = [
        "* 1D",
        "+ -1D",
        "EOS",
        "# S-ID:1",
        "a \"b\" <c> \\d",
        "@ @ @",
        "  x  y  ",
        "A/B:C;D",
        "😀 (笑)",
        "１ ２",
    ];
    let mut sentences: Vec<String> = odd.map(str::to_owned).to_vec();
    sentences.extend(shared::sentences().unwrap_or_default().into_iter().take(SENTENCES));
    let (mut analyser, parser) = (Analyser::new(), Parser::load());
    let (mut input, mut expected) = (String::new(), Vec::new());
    for (number, sentence) in sentences.iter().enumerate() {
        let analysis = analyser.analyse(sentence);
        let bunsetsu = parser.bunsetsu(&analysis);
        input += &japanese::knp(&number.to_string(), &analysis, &bunsetsu, &japanese::synonyms(&analysis));
        let heads = bunsetsu.iter().map(|part| match part.head {
            Some(head) => format!("{head}{}", part.label.letter()),
            None => format!("-1{}", part.label.letter()),
        });
        expected.push(heads.collect::<Vec<_>>().join(" "));
    }
    let read = read(&python, &input);
    assert_eq!(read.len(), expected.len());
    for ((found, expected), sentence) in read.iter().zip(&expected).zip(&sentences) {
        assert_eq!(found.split('\t').next(), Some(expected.as_str()), "{sentence}");
    }
    eprintln!("rhoknp read {} sentences", read.len());
}

/// A Python that has the package.
fn python() -> Option<String> {
    let python = std::env::var("UTSUSHI_PYTHON").unwrap_or("python3".to_owned());
    let output = Command::new(&python).args(["-c", "import rhoknp"]).output().ok()?;
    output.status.success().then_some(python)
}

fn read(python: &str, input: &str) -> Vec<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/read_knp.py");
    let mut child = Command::new(python)
        .args(["-X", "utf8", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "rhoknp refuses the annotation");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}
