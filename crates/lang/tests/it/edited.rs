//! Sentences of edited text, against those that annotators marked.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use lang::Language;

/// Edited text is easy: of the ends of sentences so many in 10,000 must be found, and be right.
const F_MIN: f64 = 0.999;

#[test]
fn ends_of_edited_sentences_are_found() {
    let Some(shared) = std::env::var_os("UTSUSHI_SHARED") else {
        eprintln!("NOT TESTED: set UTSUSHI_SHARED to the directory with `data/nlp/sentences.jsonl.gz`");
        return;
    };
    let mut lines = String::new();
    let file = File::open(PathBuf::from(shared).join("data/nlp/sentences.jsonl.gz")).unwrap();
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut lines).unwrap();
    let (mut same, mut known, mut found) = (0, 0, 0);
    for line in lines.lines() {
        let document: serde_json::Value = serde_json::from_str(line).unwrap();
        let sentences: Vec<&str> = document["sentences"]
            .as_array()
            .unwrap()
            .iter()
            .map(|sentence| sentence.as_str().unwrap())
            .collect();
        let ends: HashSet<usize> = sentences
            .iter()
            .scan(0, |end, sentence| {
                *end += sentence.len();
                Some(*end)
            })
            .collect();
        let text = sentences.concat();
        let ours: HashSet<usize> =
            lang::sentences(&text, Some(Language::JAPANESE)).into_iter().map(|range| range.end).collect();
        for end in ours.symmetric_difference(&ends) {
            let near = text.floor_char_boundary(end.saturating_sub(40))..text.ceil_char_boundary(end + 30);
            eprintln!("{} {:?}", if ends.contains(end) { "missed" } else { "false " }, &text[near]);
        }
        same += ours.intersection(&ends).count();
        (known, found) = (known + ends.len(), found + ours.len());
    }
    let f = 2.0 * as_f64(same) / as_f64(known + found);
    eprintln!("{same} of {known} ends, {found} found, F {f:.5}");
    assert!(f >= F_MIN);
}

fn as_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).expect("counts are small"))
}
