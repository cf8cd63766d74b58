//! What is taken down is gone from scans too (D13).

use super::rig::{Corpus, DAY, Rig, none_left, pages, results, start, url, wait_until};
use crate::program::{contents, objects, on, run};
use serde_json::Value;
use std::fs;

/// Answers with the body, in no hurry, and notes that it has begun.
const PROGRAM: &str = r#"
while IFS= read -r head; do
    length=${head##*'"length":'}; length=${length%'}'}
    body=$(head -c "$length")
    sleep "$PAUSE"
    printf '{"body":"%s"}\n' "$body"
    : >"$NOTES/begun"
done"#;

fn take_down(rig: &Rig, url: &str) -> Value {
    let said = on(&rig.data, &["--json", "takedown", "--yes", "--url", url]).done();
    objects(&said).remove(0)["receipt"].clone()
}

/// Whether any file below the scans of a rig holds a text.
fn holds(rig: &Rig, text: &str) -> bool {
    let held = contents(&rig.data.join("scans"));
    held.values().any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
}

#[test]
fn a_page_is_taken_down_from_an_unfinished_scan_which_goes_on_without_it() {
    let rig = pages(60).import();
    let (output, notes) = (rig.text("results.jsonl"), rig.directory("notes"));
    let program = rig.script("slow.sh", PROGRAM);
    let flags = ["-o", &output, "--allow-write", &notes, "--", "sh", &program];
    let mut running = start(rig.scan(&flags).env("PAUSE", "0.02").env("NOTES", &notes));
    wait_until("a page was answered", || fs::remove_file(rig.path("notes").join("begun")).is_ok());
    let journal = || rig.kept().first().and_then(|kept| fs::metadata(kept.join("journal")).ok());
    wait_until("it was noted", || journal().is_some_and(|journal| journal.len() > 0));
    running.kill().unwrap();
    running.wait().unwrap();
    none_left(&rig.mark);
    assert!(holds(&rig, "pages.test/17"), "it is in the list");
    let receipt = take_down(&rig, "http://pages.test/17");
    assert_eq!((&receipt["captures"], &receipt["scan_results"]), (&1.into(), &1.into()), "{receipt}");
    assert!(!holds(&rig, "pages.test/17") && !holds(&rig, "page 17"));
    let ended = run(rig.scan(&flags).env("PAUSE", "0").env("NOTES", &notes));
    assert!(ended.stderr.contains("continuing where it stopped"), "{ended:?}");
    ended.done();
    let found = results(&fs::read_to_string(output).unwrap());
    assert!(found.len() == 59 && !found.contains_key(&url(17)), "{found:?}");
}

#[test]
fn a_page_that_was_set_aside_is_taken_down_and_leaves_nothing() {
    let mut corpus = Corpus::new();
    for number in 0..8 {
        corpus.page(&url(number), DAY, if number == 3 { "exit 3" } else { "echo fine" });
    }
    let rig = corpus.import();
    rig.ended(&["-o", &rig.text("results.jsonl"), "--each", "--", "sh"]).found(&["1 document quarantined"]);
    assert_eq!(rig.set_aside().len(), 1);
    let receipt = take_down(&rig, &url(4));
    assert_eq!((&receipt["captures"], &receipt["set_aside"]), (&1.into(), &0.into()), "{receipt}");
    assert_eq!(rig.set_aside().len(), 1, "another page stays");
    let receipt = take_down(&rig, &url(3));
    assert_eq!((&receipt["captures"], &receipt["set_aside"]), (&1.into(), &1.into()), "{receipt}");
    assert_eq!(rig.kept(), Vec::<std::path::PathBuf>::new());
}
