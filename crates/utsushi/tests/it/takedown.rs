//! What is taken down is gone: from results, from the files, after a rebuild and after a new import.

use crate::made::{PAGE, imported, small_web};
use crate::program::{contents, objects, on};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn take_down(data: &Path, which: &[&str]) -> Value {
    let said = on(data, &[&["--json", "takedown", "--yes"], which].concat()).done();
    objects(&said).remove(0)["receipt"].clone()
}

#[test]
fn what_is_not_the_url_of_a_page_is_refused_as_such() {
    let wrong = on(Path::new("unused"), &["takedown", "--url", "not a url"]);
    wrong.wrong(&["it is not the URL of a page"]);
    assert!(!wrong.stderr.contains("prefix; write"), "{wrong:?}");
}

#[test]
fn a_page_is_gone_for_good_and_what_others_need_of_it_is_kept() {
    let made = small_web();
    let (place, data) = imported(&made);
    let receipt = take_down(&data, &["--url", PAGE, "--reason", "it was asked for"]);
    assert_eq!((&receipt["pages"], &receipt["captures"]), (&1.into(), &5.into()), "{receipt}");
    assert_eq!(receipt["reason"], "it was asked for");
    assert_eq!(receipt["moved"][0]["url"], "http://other.test/", "{receipt}");
    assert!(receipt["out_of_reach"].as_str().unwrap().contains("exported"));
    let stages = serde_json::json!({ "derived": 0, "documents": 2, "frontier": 0, "links": 2 });
    assert_eq!(receipt["stages"], stages, "{receipt}");

    let is_gone = || {
        on(&data, &["history", PAGE]).found(&["is not archived"]);
        on(&data, &["get", PAGE, "--at", "2026-03-02"]).found(&["is not archived"]);
        assert!(!on(&data, &["--json", "snapshot", "--during", ".."]).done().contains("news"));
        assert_eq!(on(&data, &["get", "http://other.test/"]).done(), "second");
        on(&data, &["verify"]).done();
    };
    is_gone();
    fs::remove_dir_all(data.join("archive").join("index")).unwrap();
    is_gone();
    on(&data, &["rebuild", "index", "--deep"]).done();
    is_gone();
    let file = place.path().join("made.warc.gz");
    let said = on(&data, &["--json", "import", file.to_str().unwrap()]).done();
    assert_eq!(objects(&said).pop().unwrap()["summary"]["taken_down"], 5);
    is_gone();
}

#[test]
fn a_server_or_a_prefix_goes_as_a_whole() {
    let (_place, data) = imported(&small_web());
    assert_eq!(take_down(&data, &["--prefix", "http://example.org/ol"])["captures"], 2);
    assert_eq!(take_down(&data, &["--server", "example.org"])["captures"], 5);
    let left = on(&data, &["--json", "snapshot", "--during", ".."]).done();
    let left: Vec<String> =
        objects(&left).iter().map(|line| line["url"].as_str().unwrap().to_owned()).collect();
    assert_eq!(left, ["https://www.example.org/style", "http://other.test/"]);
}

#[test]
fn nothing_is_removed_unless_someone_says_yes() {
    let (_place, data) = imported(&small_web());
    let before = contents(&data.join("archive"));
    let asked = [
        "5 captures of 1 page will be removed",
        "there is no terminal to ask for confirmation",
        "what to do: add `--yes`",
    ];
    on(&data, &["takedown", "--url", PAGE]).wrong(&asked);
    assert_eq!(contents(&data.join("archive")), before);
    on(&data, &["takedown", "--yes"]).wrong(&["--url"]);
    on(&data, &["takedown", "--url", PAGE, "--server", "example.org", "--yes"]).wrong(&["--server"]);
    on(&data, &["takedown", "--url", "news", "--yes"]).wrong(&["--url"]);
    let nowhere = data.join("nowhere");
    on(&nowhere, &["takedown", "--url", PAGE, "--yes"]).could_not(&["it does not exist"]);
}

#[test]
fn a_page_that_is_not_there_stays_away_all_the_same() {
    let (place, data) = imported(&small_web());
    let receipt = place.path().join("receipt.txt");
    let arguments = ["takedown", "--server", "later.test", "--yes", "-o", receipt.to_str().unwrap()];
    let said = on(&data, &arguments).found(&["0 captures of 0 pages"]);
    assert!(said.contains("taken down      server later.test"), "{said}");
    assert_eq!(fs::read_to_string(receipt).unwrap(), said);
    let mut later = crate::made::Made::new();
    later.answer("http://later.test/x", "2026-03-09T00:00:00Z", 200, "late");
    let file = later.write(&place.path().join("later.warc.gz"));
    on(&data, &["import", file.to_str().unwrap()]).done();
    on(&data, &["history", "http://later.test/x"]).found(&["is not archived"]);
}

#[test]
fn a_lost_index_is_made_anew() {
    let (_place, data) = imported(&small_web());
    let before = on(&data, &["--json", "snapshot", "--during", ".."]).done();
    fs::remove_dir_all(data.join("archive").join("index")).unwrap();
    let said = on(&data, &["--json", "rebuild"]).done();
    assert_eq!(objects(&said)[0]["index"]["captures"], 9, "{said}");
    assert_eq!(on(&data, &["--json", "snapshot", "--during", ".."]).done(), before);
    on(&data, &["verify"]).done();
    on(&data, &["rebuild", "everything"]).wrong(&["everything", "index"]);
}
