//! The configuration: what is in effect and why, and what is refused.

use crate::program::{Ended, run, utsushi};
use serde_json::Value;
use std::fs;

/// Runs `config` with a file that says `text`.
fn with(text: &str) -> Ended {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("mine.toml");
    fs::write(&file, text).unwrap();
    run(utsushi().current_dir(place.path()).args(["--config", "mine.toml", "config"]))
}

#[test]
fn a_misspelt_key_is_refused_and_the_nearest_one_is_named() {
    with("[crawl]\npuase = \"10s\"\n").could_not(&[
        "cannot use the configuration `mine.toml`: line 2, column 1",
        "there is no setting `crawl.puase`; did you mean `crawl.pause`?",
        "what to do: correct the file",
    ]);
}

#[test]
fn a_value_of_another_type_is_refused_with_key_value_and_what_is_allowed() {
    with("[sim]\npages = \"many\"\n").could_not(&[
        "`sim.pages`",
        "`\"many\"` is a text",
        "from 1 to 1000000000",
    ]);
}

#[test]
fn a_value_outside_its_range_is_refused_with_the_range() {
    with("[crawl]\npause = \"2d\"\n").could_not(&["`crawl.pause` cannot be `\"2d\"`", "from 1s to 1d"]);
}

#[test]
fn broken_toml_is_refused_with_line_and_column() {
    with("[crawl]\npause = \n").could_not(&["line 2, column 9", "this is not TOML"]);
}

#[test]
fn a_file_that_is_not_there_is_refused_when_it_was_named() {
    let ended = run(utsushi().args(["--config", "/nowhere/mine.toml", "config"]));
    ended.could_not(&["cannot read the configuration `/nowhere/mine.toml`", "--config"]);
}

#[test]
fn a_wrong_configuration_does_not_keep_help_away() {
    let wrong = ["--config", "/nowhere/mine.toml"];
    for command in [&["man"][..], &["completions", "bash"], &["config", "--default"]] {
        assert!(!run(utsushi().args(wrong).args(command)).done().is_empty());
    }
}

#[test]
fn the_defaults_can_be_taken_as_a_file_to_begin_with() {
    let default = run(utsushi().args(["config", "--default"])).done();
    let effective = with(&default).done();
    assert!(
        effective.contains("crawl.pause = \"10s\"") && effective.contains("# mine.toml, line "),
        "{effective}"
    );
    assert!(!effective.contains("# default"), "{effective}");
}

#[test]
fn every_value_says_where_it_comes_from() {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join("utsushi.toml"), "[sim]\n\nseed = 7\n").unwrap();
    let told =
        run(utsushi().arg("--data").arg(data.path()).args(["config", "--json"]).env("UTSUSHI_LOG", "info"));
    let told = told.done();
    let find = |key: &str| {
        let objects = told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        objects.into_iter().find(|object| object["key"] == key).unwrap()
    };
    assert_eq!((&find("sim.seed")["value"], &find("sim.seed")["line"]), (&7.into(), &3.into()));
    assert_eq!(find("sim.pages")["origin"], "default");
    assert_eq!(find("log.level")["origin"], "environment");

    let mut flag = utsushi();
    let flag = flag
        .arg("--data")
        .arg(data.path())
        .args(["config", "--log-level", "debug"])
        .env("UTSUSHI_LOG", "info");
    let told = run(flag).done();
    let level = told.lines().find(|line| line.starts_with("log.level")).unwrap();
    assert!(level.starts_with("log.level = \"debug\"") && level.ends_with("# flag --log-level"), "{level}");
}

#[test]
fn a_log_level_that_is_none_is_refused_and_an_empty_one_counts_as_none() {
    let ended = run(utsushi().args(["--log-level", "loud", "config"]));
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("`loud` is not a log level"), "{}", ended.stderr);
    let ended = run(utsushi().arg("config").env("UTSUSHI_LOG", "loud"));
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("variable `UTSUSHI_LOG`: `loud` is not a log level"), "{}", ended.stderr);
    assert!(
        run(utsushi().arg("config").env("UTSUSHI_LOG", "").env("UTSUSHI_DATA", ""))
            .done()
            .contains("# default")
    );
}

#[test]
fn the_data_directory_is_named_by_flag_then_environment() {
    let ended = run(utsushi().arg("status").env("UTSUSHI_DATA", "/nowhere/a"));
    ended.could_not(&["`/nowhere/a`"]);
    let ended = run(utsushi().args(["status", "--data", "/nowhere/b"]).env("UTSUSHI_DATA", "/nowhere/a"));
    ended.could_not(&["`/nowhere/b`"]);
    let place = tempfile::tempdir().unwrap();
    run(utsushi().arg("status").current_dir(place.path())).could_not(&["`./utsushi-data`"]);
}
