//! What comes of documents that mean no harm.

use super::rig::{Corpus, DAY, Rig, none_left, pages, results, start, url};
use crate::made::{PAGE, imported, small_web};
use crate::program::{objects, on};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::Write as _;

/// Answers each document with its own head.
const HEADS: &str = r#"
while IFS= read -r head; do
    length=${head##*'"length":'}; length=${length%'}'}
    head -c "$length" >"$TMPDIR/body"
    printf '%s\n' "$head"
done"#;

/// Answers each document with its own bytes.
const BODIES: &str = r#"
while IFS= read -r head; do
    length=${head##*'"length":'}; length=${length%'}'}
    printf '=%s\n' "$length"
    head -c "$length"
done"#;

fn zipped(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// A page of each kind in which a body can come.
fn coded() -> Rig {
    let mut corpus = Corpus::new();
    let html = "Content-Type: text/html; charset=utf-8";
    let packed = zipped("packed 写し");
    let mut both = format!("{:x}\r\n", packed.len()).into_bytes();
    both.extend_from_slice(&packed);
    both.extend_from_slice(b"\r\n0\r\n\r\n");
    let chunked = "5\r\nchunk\r\n3;x=y\r\ned!\r\n0\r\n\r\n";
    corpus
        .page("http://a.test/plain", DAY, "plain\n{\"length\":3}\n")
        .page("http://a.test/empty", DAY, "")
        .answer("http://a.test/gzip", DAY, &["HTTP/1.1 200 OK", html, "Content-Encoding: gzip"], &packed)
        .answer(
            "http://a.test/both",
            DAY,
            &["HTTP/1.1 200 OK", html, "Content-Encoding: gzip", "Transfer-Encoding: chunked"],
            &both,
        )
        .answer(
            "http://a.test/chunked",
            DAY,
            &["HTTP/1.1 203 So So", html, "Transfer-Encoding: chunked", "X-Odd: \u{1b}[2J \"\\"],
            chunked,
        )
        .page("http://b.test/again", "2026-03-02T00:00:00Z", "plain\n{\"length\":3}\n");
    corpus.import()
}

#[test]
fn a_program_is_told_what_is_known_of_each_document() {
    let rig = coded();
    let heads = rig.results(&["--", "sh", &rig.script("heads.sh", HEADS)]);
    let paths: Vec<&str> = heads.keys().map(String::as_str).collect();
    let all = ["both", "chunked", "empty", "gzip", "plain"].map(|name| format!("http://a.test/{name}"));
    assert_eq!(paths, [&all[..], &["http://b.test/again".to_owned()]].concat());
    let head = &heads["http://a.test/chunked"];
    assert_eq!(
        (&head["url"], &head["at"], &head["status"], &head["type"], &head["length"]),
        (&json!("http://a.test/chunked"), &json!(DAY), &json!(203), &json!("text/html"), &json!(8)),
        "{head}"
    );
    let headers = json!([
        ["Content-Type", "text/html; charset=utf-8"],
        ["Transfer-Encoding", "chunked"],
        ["X-Odd", "\u{1b}[2J \"\\"]
    ]);
    assert_eq!(head["headers"], headers);
    let lengths = heads.values().map(|head| head["length"].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(lengths, [13, 8, 0, 13, 19, 19]);
    let numbers: std::collections::BTreeSet<_> =
        heads.values().map(|head| head["document"].as_u64().unwrap()).collect();
    assert_eq!(numbers.len(), heads.len(), "each has a number of its own");
}

#[test]
fn every_coding_is_removed_and_revisits_are_resolved() {
    let rig = coded();
    let bodies = rig.results(&["--", "sh", &rig.script("bodies.sh", BODIES)]);
    let body = |name: &str| bodies[&format!("http://{name}")].as_str().unwrap();
    assert_eq!(body("a.test/gzip"), "packed 写し");
    assert_eq!(body("a.test/both"), "packed 写し");
    assert_eq!(body("a.test/chunked"), "chunked!");
    assert_eq!((body("a.test/empty"), body("a.test/plain")), ("", "plain\n{\"length\":3}\n"));
    assert_eq!(body("b.test/again"), body("a.test/plain"), "another page's record stands for it");
    let sizes = rig.results(&["--builtin", "sizes"]);
    let content = |name: &str| &sizes[&format!("http://{name}")]["content"];
    assert_eq!((content("a.test/gzip"), content("a.test/chunked")), (&json!(13), &json!(8)));
    assert_eq!(content("b.test/again"), &json!(19));
}

#[test]
fn a_plain_filter_is_run_for_each_and_may_find_nothing() {
    let rig = coded();
    let found = rig.results(&["--each", "--", "grep", "-o", "pl..n"]);
    let is_plain = |url: &str| url.ends_with("/plain") || url.ends_with("/again");
    for (url, said) in &found {
        assert_eq!(said, if is_plain(url) { "plain\n" } else { "" }, "{url}");
    }
    assert_eq!(found.len(), 6);
    let script =
        r#"printf '%s %s' "$UTSUSHI_URL" "$(cat)"; case $UTSUSHI_HEAD in *'"status":203'*) echo ;; esac"#;
    let told = rig.results(&["--each", "--", "sh", "-c", script]);
    assert_eq!(told["http://a.test/chunked"], "http://a.test/chunked chunked!\n");
    assert_eq!(told["http://a.test/empty"], "http://a.test/empty ");
}

#[test]
fn each_of_many_documents_has_one_result_however_they_are_supplied() {
    let rig = pages(150).import();
    let script = rig.script("bodies.sh", BODIES);
    for how in ["pipelined", "synchronous", "static"] {
        let flags = ["--jobs", "3", "--supply", how, "--restart-every", "7", "--", "sh", &script];
        let found =
            results(&crate::program::run(&mut rig.scan_of(&[&["--at", "now"], &flags[..]].concat())).done());
        assert_eq!(found.len(), 150, "{how}");
        for number in 0..150 {
            assert_eq!(found[&url(number)], format!("page {number}"), "{how}");
        }
    }
    none_left(&rig.mark);
    assert_eq!(rig.kept(), Vec::<std::path::PathBuf>::new(), "nothing is left of what is finished");
}

#[test]
fn a_stable_order_is_that_of_the_documents() {
    let rig = pages(60).import();
    let flags = ["--order", "stable", "--restart-every", "3", "--each", "--", "cat"];
    let said = rig.ended(&flags).done();
    let numbers: Vec<_> = objects(&said).iter().map(|line| line["document"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..60).collect::<Vec<_>>());
    assert_eq!(rig.ended(&flags).done(), said, "whatever happens");
}

#[test]
fn results_appear_at_their_place_when_they_are_whole() {
    let rig = pages(20).import();
    let (output, go) = (rig.text("results.jsonl"), rig.path("go"));
    let script =
        format!("while [ ! -e {} ]; do sleep 0.02; done; exec sh {}", go.display(), rig.script("b", BODIES));
    let running = start(&mut rig.scan(&["-o", &output, "--", "sh", "-c", &script]));
    super::rig::wait_until("a program runs", || super::rig::marked(&rig.mark).len() >= 3);
    assert!(!rig.path("results.jsonl").exists());
    std::fs::write(go, "").unwrap();
    let ended = running.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert!(String::from_utf8_lossy(&ended.stdout).contains("20 results of 20 documents"), "{ended:?}");
    let found = results(&std::fs::read_to_string(output).unwrap());
    assert_eq!((found.len(), &found[&url(7)]), (20, &Value::from("page 7")));
}

#[test]
fn the_choices_of_a_snapshot_choose_documents() {
    let (_place, data) = imported(&small_web());
    let scanned = |flags: &[&str]| {
        let said = on(&data, &[&["scan", "--builtin", "sizes"], flags].concat()).done();
        objects(&said).iter().map(|line| line["url"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(scanned(&["--at", "now", "--site", "other.test"]), ["http://other.test/"]);
    assert_eq!(scanned(&["--during", "..", "--type", "text/css"]), ["https://www.example.org/style"]);
    assert_eq!(scanned(&["--during", "..", "--unit", "visit", "--prefix", PAGE]), [PAGE; 4]);
    let none = on(&data, &["scan", "--at", "2020-01-01", "--builtin", "sizes"]);
    assert_eq!(none.found(&["no version matches"]), "");
}

/// The programs that the protocol's description begins with, as they stand there.
#[test]
fn the_examples_stand_in_the_description_and_do_what_it_says() {
    let description = include_str!("../../../../../docs/reference/scan-protocol.md");
    let python = include_str!("../../../../scan/examples/titles.py");
    assert!(description.contains(python), "the example in Python is another");
    let rust = include_str!("../../../../scan/examples/titles.rs");
    let (_, rust) = rust.split_once("\n\n").unwrap();
    assert!(description.contains(rust), "the example in Rust is another");
    let Some(interpreter) = std::env::var_os("UTSUSHI_PYTHON") else {
        crate::program::not_tested(
            "the example in Python, for `UTSUSHI_PYTHON` does not say where Python is",
        );
        return;
    };
    let mut corpus = Corpus::new();
    corpus.page("http://a.test/1", DAY, "<html><title>写し</title>").page("http://a.test/2", DAY, "nothing");
    let rig = corpus.import();
    let program = rig.script("titles.py", python);
    let found = rig.results(&["--", interpreter.to_str().unwrap(), &program]);
    let expected = [("http://a.test/1", json!("写し")), ("http://a.test/2", Value::Null)];
    assert_eq!(found, expected.into_iter().map(|(url, title)| (url.to_owned(), title)).collect());
}
