//! The web as it was, in every form.

use crate::made::{PAGE, imported, small_web};
use crate::program::{contents, objects, on, run, utsushi};
use archive::derived::Facts;
use base::disk::{Disk, RealDisk};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// The pages of a snapshot, without their schemes, with the day on which the version begins.
fn chosen(data: &Path, arguments: &[&str]) -> Vec<String> {
    let arguments = [&["--json", "snapshot"], arguments].concat();
    let of = |line: serde_json::Value| {
        let text = |name: &str| line[name].as_str().unwrap().to_owned();
        format!("{} {}", text("url").split_once("://").unwrap().1, &text("from")[8..10])
    };
    objects(&on(data, &arguments).done()).into_iter().map(of).collect()
}

#[test]
fn the_web_as_of_a_moment_has_one_version_a_page_in_the_order_of_keys() {
    let (_place, data) = imported(&small_web());
    let at = |at: &str| chosen(&data, &["--at", at]);
    assert_eq!(
        at("2026-03-02T06:00:00Z"),
        ["example.org/news 01", "example.org/old 01", "www.example.org/style 02"]
    );
    assert_eq!(at("2026-03-04T12:00:00Z"), ["www.example.org/style 02", "other.test/ 03"]);
}

#[test]
fn every_flag_narrows_the_choice() {
    let (_place, data) = imported(&small_web());
    let all = ["--during", ".."];
    let check = |flags: &[&str], expected: &[&str]| {
        assert_eq!(chosen(&data, &[&all, flags].concat()), expected, "{flags:?}");
    };
    let page = "example.org/news";
    let news = |days: &[u32]| days.iter().map(|day| format!("{page} 0{day}")).collect::<Vec<_>>();
    check(&["--site", "other.test"], &["other.test/ 03"]);
    check(&["--site", "www.example.org"], &["www.example.org/style 02"]);
    check(&["--type", "text/css"], &["www.example.org/style 02"]);
    check(&["--status", "410"], &["example.org/old 02"]);
    check(&["--flag", "error"], &["example.org/news 04", "example.org/old 02"]);
    check(&["--changed-since", "2026-03-05"], &["example.org/news 05"]);
    let prefix = ["--prefix", "https://example.org/ne"];
    assert_eq!(chosen(&data, &[&all[..], &prefix].concat()), news(&[1, 3, 5]));
    assert_eq!(chosen(&data, &[&all[..], &prefix, &["--unit", "visit"]].concat()), news(&[1, 2, 3, 5]));
}

#[test]
fn relations_and_recipes_choose_by_validity() {
    let (_place, data) = imported(&small_web());
    let check = |flags: &[&str], expected: &[&str]| {
        let flags = [&["--during", "2026-03-02..2026-03-04"], flags].concat();
        assert_eq!(chosen(&data, &flags), expected, "{flags:?}");
    };
    check(&["--relation", "finishes"], &["example.org/news 03"]);
    check(&["--relation", "overlaps"], &["example.org/news 01", "example.org/old 01"]);
    check(&["--relation", "met-by,after"], &["example.org/news 05"]);
    check(&["--recipe", "changed-within"], &["example.org/news 03"]);
    check(&["--recipe", "first-seen"], &["www.example.org/style 02", "other.test/ 03"]);
    check(&["--recipe", "vanished"], &["example.org/old 01"]);
    check(
        &["--recipe", "accessed-in-and-valid-at-end"],
        &["example.org/news 03", "www.example.org/style 02", "other.test/ 03"],
    );
}

#[test]
fn an_empty_snapshot_is_told_and_nothing_is_written() {
    let (place, data) = imported(&small_web());
    let file = place.path().join("empty.wacz");
    let arguments = ["snapshot", "--at", "2020-01-01", "--format", "wacz", "-o", file.to_str().unwrap()];
    assert_eq!(on(&data, &arguments).found(&["no version matches"]), "");
    assert!(!file.exists());
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_ask_instead() {
    let (_place, data) = imported(&small_web());
    let refused = |flags: &[&str], part: &str| {
        on(&data, &[&["snapshot"], flags].concat()).could_not(&["cannot make this snapshot", part]);
    };
    refused(&[], "give `--at T` or `--during FROM..TO`");
    refused(&["--at", "now", "--during", ".."], "not both");
    refused(&["--at", "now", "--relation", "meets"], "compares with a period");
    refused(&["--during", "..", "--recipe", "as-of"], "give `--at T`");
    refused(&["--during", "..", "--recipe", "vanished", "--unit", "visit"], "implies `--unit content`");
    refused(&["--at", "now", "--site", "example.org", "--prefix", "example.org/"], "not both");
    on(&data, &["snapshot", "--at", "now", "--language", "ja"])
        .could_not(&["cannot choose by `--language`", "omit `--language`"]);
    for (flag, value, part) in [
        ("--at", "soon", "is not a time"),
        ("--during", "2026-03-01", "is not a period"),
        ("--during", "2026-03-02..2026-03-01", "is empty"),
        ("--changed-since", "soon", "is not a time"),
        ("--relation", "near", "near"),
        ("--recipe", "soup", "soup"),
        ("--unit", "page", "is not a unit"),
        ("--flag", "new", "is not a flag"),
        ("--type", "html", "is not a media type"),
        ("--status", "many", "many"),
        ("--site", "http://example.org/", "is not a site"),
        ("--prefix", "#top", "leave out everything from `#`"),
        ("--format", "pdf", "pdf"),
        ("--language", "ja,日本", "is not a language"),
    ] {
        on(&data, &["snapshot", flag, value]).wrong(&[flag, part]);
    }
}

/// Fills the derived table as a crawl does, with what `facts` says of a URL, up to and without the first `unread`.
fn read(data: &Path, facts: impl Fn(&str) -> Option<Facts>, unread: &str) {
    let (disk, directory): (Arc<dyn Disk>, _) = (Arc::new(RealDisk), data.join("archive"));
    let reader = archive::Reader::open(Arc::clone(&disk), &directory).unwrap();
    let mut writer = archive::derived::DerivedWriter::open(disk, &directory).unwrap();
    let arrivals = reader.since(None).unwrap().map(|arrival| arrival.unwrap().0);
    let arrivals: Vec<archive::Entry> =
        arrivals.take_while(|entry| unread.is_empty() || !entry.url.ends_with(unread)).collect();
    writer.append(arrivals.iter().map(|entry| (entry, facts(&entry.url)))).unwrap();
    writer.sync().unwrap();
}

/// The news is Japanese, the style sheet English; nothing else has a language.
fn languages(url: &str) -> Option<Facts> {
    let (language, title) = match url {
        _ if url.ends_with("/news") => ("ja", "知らせ\u{1b}[2J"),
        _ if url.ends_with("/style") => ("en", "Style"),
        _ => return None,
    };
    let media_type = Some("application/xhtml+xml".into());
    Some(Facts {
        language: Some(language.into()),
        title: Some(title.to_owned()),
        media_type,
        ..Facts::default()
    })
}

#[test]
fn versions_are_chosen_by_language_once_they_were_read() {
    let (place, data) = imported(&small_web());
    read(&data, languages, "");
    let during = ["--during", ".."];
    let of = |flags: &[&str]| chosen(&data, &[&during, flags].concat());
    // The other site has the same words: facts about a content apply to every page that has it.
    let news = ["example.org/news 01", "example.org/news 03", "example.org/news 05", "other.test/ 03"];
    assert_eq!(of(&["--language", "ja"]), news);
    let style = "www.example.org/style 02";
    assert_eq!(of(&["--language", "EN"]), [style]);
    let both = [&news[..3], &[style], &news[3..]].concat();
    assert_eq!(of(&["--language", "ja,en"]), both);
    assert_eq!(of(&["--language", "ja", "--language", "en"]), both);
    on(&data, &["snapshot", "--at", "now", "--language", "fr"]).found(&["no version matches"]);
    assert_eq!(of(&["--language", "ja", "--unit", "visit"]).len(), 5);
    let file = place.path().join("news.cdxj");
    let flags = ["snapshot", "--during", "..", "--language", "ja", "--format", "cdxj"];
    on(&data, &[&flags[..], &["-o", file.to_str().unwrap()]].concat()).done();
    assert_eq!(fs::read_to_string(file).unwrap().lines().count(), 4);
    on(&data, &["export", "--language", "fr"]).found(&["no version matches"]);
}

#[test]
fn a_list_shows_what_is_known_of_the_content() {
    let (_place, data) = imported(&small_web());
    let at = ["--json", "snapshot", "--at", "2026-03-02T06:00:00Z"];
    let known = |data: &Path| -> Vec<(Value, Value)> {
        let lines = objects(&on(data, &at).done());
        lines.into_iter().map(|line| (line["language"].clone(), line["title"].clone())).collect()
    };
    assert_eq!(known(&data), vec![(Value::Null, Value::Null); 3]);
    read(&data, languages, "");
    assert_eq!(known(&data)[0], ("ja".into(), "知らせ\u{1b}[2J".into()));
    assert_eq!(known(&data)[1], (Value::Null, Value::Null));
    let list = on(&data, &at[1..]).done();
    let first = list.lines().next().unwrap();
    assert!(first.contains("/news  ja  知らせ") && !list.contains('\u{1b}'), "{list:?}");
}

#[test]
fn what_was_not_read_yet_is_left_out_and_told() {
    let (_place, data) = imported(&small_web());
    let whole = chosen(&data, &["--during", "..", "--unit", "visit"]).len();
    read(&data, languages, "/style");
    let flags = ["snapshot", "--during", "..", "--unit", "visit", "--language", "ja,en"];
    let ended = on(&data, &flags);
    assert!(ended.stderr.contains("1 version left out because the language is not known yet"), "{ended:?}");
    let list = ended.found(&["`utsushi rebuild derived` to detect it"]);
    assert!((1..whole).contains(&list.lines().count()), "{list}");
    assert!(list.contains("other.test") && !list.contains("/style"), "{list}");
}

#[test]
fn survives_a_list_of_what_is_damaged_or_absent() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    on(&data, &["snapshot", "--at", "now"]).could_not(&["it does not exist"]);
    assert!(contents(place.path()).is_empty(), "a reader makes nothing");
}

#[test]
fn a_reader_leaves_the_data_directory_as_it_was() {
    let (place, data) = imported(&small_web());
    let before = contents(&data);
    let file = place.path().join("list");
    on(&data, &["snapshot", "--at", "2026-03-02"]).done();
    on(&data, &["snapshot", "--at", "2026-03-02", "-o", file.to_str().unwrap()]).done();
    on(&data, &["history", PAGE]).done();
    on(&data, &["verify"]).done();
    assert_eq!(contents(&data), before);
    assert_eq!(fs::read_to_string(file).unwrap().lines().count(), 3);
}

/// Writes a snapshot of all answers in a form; gives the bytes.
fn form(data: &Path, place: &Path, format: &str, name: &str) -> Vec<u8> {
    let file = place.join(name);
    let all = ["--during", "..", "--unit", "visit", "--flag", "changed,unchanged,error"];
    let arguments = [&["snapshot"], &all[..], &["--format", format]].concat();
    on(data, &[&arguments[..], &["-o", file.to_str().unwrap()]].concat()).done();
    let bytes = fs::read(&file).unwrap();
    // A pipe gets the same kind of thing; it has no name that asks for zstandard.
    let mut command = utsushi();
    let piped = command.arg("--data").arg(data).args(&arguments).output().unwrap();
    assert_eq!(piped.status.code(), Some(0), "{piped:?}");
    assert!(piped.stdout.get(..4) == bytes.get(..4) || name.ends_with(".zst"), "{format}");
    bytes
}

#[test]
fn every_form_is_written_and_read_back() {
    let (place, data) = imported(&small_web());
    let place = place.path();
    let cdxj = String::from_utf8(form(&data, place, "cdxj", "web.cdxj")).unwrap();
    assert!(cdxj.starts_with("org,example)/news 20260301000000 {\"url\""), "{cdxj}");
    assert!(cdxj.lines().is_sorted() && cdxj.lines().count() == 9, "{cdxj}");
    let parquet = form(&data, place, "parquet", "web.parquet");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    for (format, name) in [("warc", "web.warc.gz"), ("warc", "web.warc.zst"), ("wacz", "web.wacz")] {
        form(&data, place, format, name);
        let file = place.join(name);
        if format == "warc" {
            on(&data, &["verify", file.to_str().unwrap()]).done();
        }
        let copy = place.join(format!("{name}-data"));
        on(&copy, &["import", file.to_str().unwrap()]).done();
        for at in ["2026-03-02", "2026-03-03T12:00:00Z", "now"] {
            assert_eq!(
                on(&copy, &["get", PAGE, "--at", at]).done(),
                on(&data, &["get", PAGE, "--at", at]).done()
            );
            assert_eq!(chosen(&copy, &["--at", at]), chosen(&data, &["--at", at]), "{name} at {at}");
        }
    }
}

#[test]
fn an_export_holds_everything_and_imported_elsewhere_gives_the_same_histories() {
    let (place, data) = imported(&small_web());
    for name in ["all.warc.gz", "all.wacz"] {
        let file = place.path().join(name);
        let format = if name.ends_with("wacz") { "wacz" } else { "warc" };
        on(&data, &["export", "--format", format, "-o", file.to_str().unwrap()]).done();
        let copy = place.path().join(format!("{name}-data"));
        on(&copy, &["import", file.to_str().unwrap()]).done();
        for page in [PAGE, "http://example.org/old", "https://www.example.org/style", "http://other.test/"] {
            let life = |data: &Path| {
                let lines = objects(&on(data, &["--json", "history", page]).done()).into_iter();
                lines
                    .map(|line| {
                        [&line["at"], &line["flag"], &line["from"], &line["to"]].map(ToString::to_string)
                    })
                    .collect::<Vec<_>>()
            };
            assert_eq!(life(&copy), life(&data), "{name}: {page}");
        }
        on(&copy, &["verify"]).done();
    }
    let one = place.path().join("one.warc.gz");
    on(&data, &["export", "--site", "other.test", "-o", one.to_str().unwrap()]).done();
    let copy = place.path().join("one-data");
    on(&copy, &["import", one.to_str().unwrap()]).done();
    assert_eq!(on(&copy, &["get", "http://other.test/"]).done(), "second", "the bytes come with the revisit");
}

#[test]
fn a_snapshot_that_cannot_be_written_leaves_nothing() {
    let (place, data) = imported(&small_web());
    let before = contents(place.path());
    on(&data, &["snapshot", "--at", "now", "--format", "warc", "-o", "/nowhere/x"])
        .could_not(&["/nowhere/x"]);
    let directory = place.path().to_str().unwrap();
    on(&data, &["snapshot", "--at", "now", "-o", directory]).could_not(&["cannot write"]);
    let full = run(utsushi().arg("--data").arg(&data).args(["export", "-o", "/dev/full"]));
    assert_eq!(full.code, Some(2), "{full:?}");
    assert_eq!(contents(place.path()), before);
}

#[test]
fn an_export_with_resolved_revisits_holds_whole_answers_with_their_own_dates() {
    let (place, data) = imported(&small_web());
    let file = place.path().join("resolved.warc.gz");
    on(&data, &["export", "--resolve-revisits", "-o", file.to_str().unwrap()]).done();
    let records = warc::WarcReader::new(std::fs::File::open(&file).unwrap(), 1_000).map(Result::unwrap);
    let answers: Vec<_> = records.filter(|record| record.kind() != warc::Kind::Warcinfo).collect();
    assert_eq!(answers.len(), 9);
    assert!(answers.iter().all(|record| record.kind() == warc::Kind::Response), "no revisit is left");
    let again = answers.iter().find(|record| record.fields.get("WARC-Date") == Some("2026-03-05T00:00:00Z"));
    assert!(again.unwrap().block.ends_with(b"second"));
    for format in ["cdxj", "list", "parquet"] {
        on(&data, &["export", "--resolve-revisits", "--format", format])
            .could_not(&["cannot resolve revisits", "--format warc"]);
    }
}
