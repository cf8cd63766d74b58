//! Data that the repository does not hold; `UTSUSHI_SHARED` names its directory.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

/// The lines of a compressed file, or none, said loudly, where the data is absent.
pub(crate) fn lines(path: &str) -> Option<Vec<String>> {
    let Some(shared) = std::env::var_os("UTSUSHI_SHARED") else {
        eprintln!("NOT TESTED: set UTSUSHI_SHARED to the directory with `{path}`");
        return None;
    };
    let mut text = String::new();
    let file = File::open(PathBuf::from(shared).join(path)).unwrap();
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    Some(text.lines().map(str::to_owned).collect())
}

/// All sentences of the documents in `sentences.jsonl.gz`.
pub(crate) fn sentences() -> Option<Vec<String>> {
    let lines = lines("data/nlp/sentences.jsonl.gz")?;
    let each = lines.iter().flat_map(|line| {
        let document: serde_json::Value = serde_json::from_str(line).unwrap();
        let sentences = document["sentences"].as_array().unwrap().clone();
        sentences.into_iter().map(|sentence| sentence.as_str().unwrap().to_owned())
    });
    Some(each.collect())
}
