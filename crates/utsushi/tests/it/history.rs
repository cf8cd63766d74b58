//! The versions of a page.

use crate::made::{Made, PAGE, imported, small_web};
use crate::program::{objects, on};
use serde_json::Value;

/// When the versions are valid, with what each visit saw.
fn lives(said: &str) -> Vec<(String, String, Option<String>, Option<String>)> {
    let text = |value: &Value| value.as_str().map(|text| text.replace("T00:00:00Z", ""));
    let of = |line: Value| {
        let known = |name: &str| text(&line[name]).unwrap();
        (known("at"), known("flag"), text(&line["from"]), text(&line["to"]))
    };
    objects(said).into_iter().map(of).collect()
}

fn life(
    at: &str,
    flag: &str,
    from: Option<&str>,
    to: Option<&str>,
) -> (String, String, Option<String>, Option<String>) {
    (at.to_owned(), flag.to_owned(), from.map(str::to_owned), to.map(str::to_owned))
}

#[test]
fn contents_are_prolonged_by_unchanged_visits_and_ended_by_a_404() {
    let (_place, data) = imported(&small_web());
    let said = on(&data, &["--json", "history", PAGE]).done();
    let expected = [
        life("2026-03-01", "changed", Some("2026-03-01"), Some("2026-03-03")),
        life("2026-03-02", "unchanged", None, None),
        life("2026-03-03", "changed", Some("2026-03-03"), Some("2026-03-04")),
        life("2026-03-04", "error", None, None),
        life("2026-03-05", "changed", Some("2026-03-05"), None),
    ];
    assert_eq!(lives(&said), expected);
    let kinds: Vec<Value> = objects(&said).into_iter().map(|line| line["kind"].clone()).collect();
    assert_eq!(kinds, ["response", "revisit", "response", "response", "revisit"]);
}

#[test]
fn in_visits_every_answer_is_a_version() {
    let (_place, data) = imported(&small_web());
    let said = on(&data, &["--json", "history", PAGE, "--unit", "visit"]).done();
    let days: Vec<_> = lives(&said).into_iter().map(|(_, _, from, to)| (from.unwrap(), to)).collect();
    let day = |day: u32| format!("2026-03-0{day}");
    let expected: Vec<_> = (1..=5).map(|from| (day(from), (from < 5).then(|| day(from + 1)))).collect();
    assert_eq!(days, expected);
}

#[test]
fn people_see_a_table() {
    let (_place, data) = imported(&small_web());
    let said = on(&data, &["history", PAGE]).done();
    assert!(said.starts_with("http://example.org/news: 5 visits, 3 versions\n"), "{said}");
    for part in ["changed    200  response", "until 2026-03-03T00:00:00Z", "still valid", "error      404"] {
        assert!(said.contains(part), "`{part}` is not in {said}");
    }
    // Both schemes, and a name without one, mean the same page.
    for url in ["https://example.org/news", "example.org/news"] {
        assert_eq!(on(&data, &["history", url]).done(), said);
    }
}

const BODY: &str = "<p>The public library of the town opens at nine in the morning and closes at six in the evening. On
    Mondays it is closed, and in August it closes an hour earlier, for the staff go swimming in the river.</p>";

/// A page whose advert, then text, then counter changed; that was gone, and came back as it was; and a picture.
fn changing_web() -> Made {
    let page = |advert: &str, text: &str, views: u32| {
        format!("<div class=ad><p>{advert}</p></div><main>{BODY}<p>{text}</p><p>{views} views</p></main>")
    };
    let (umbrellas, closed) = ("Three umbrellas for the price of two", "It is closed today.");
    let mut made = Made::new();
    let bodies = [
        (200, page(umbrellas, closed, 1)),
        (200, page("Fly to the sea for less than a dinner", closed, 1)),
        (200, page("Fly to the sea for less than a dinner", "It is open again.", 1)),
        (200, page("Fly to the sea for less than a dinner", "It is open again.", 1)),
        (200, page("Fly to the sea for less than a dinner", "It is open again.", 20)),
        (404, "gone".to_owned()),
        (200, page("Fly to the sea for less than a dinner", "It is open again.", 20)),
    ];
    for (day, (status, body)) in (1..).zip(bodies) {
        made.answer(PAGE, &format!("2026-03-0{day}T00:00:00Z"), status, &body);
    }
    for (day, body) in [(1, "p{}"), (2, "p{color:red}")] {
        made.typed("http://example.org/style", &format!("2026-03-0{day}T00:00:00Z"), 200, "text/css", body);
    }
    made
}

/// What each visit found changed.
fn changes(data: &std::path::Path, url: &str) -> Vec<Value> {
    let said = on(data, &["--json", "history", url]).done();
    objects(&said).into_iter().map(|line| line["changed"].clone()).collect()
}

#[test]
fn a_change_of_the_text_is_told_from_one_of_what_surrounds_it() {
    let (_place, data) = imported(&changing_web());
    let unread = changes(&data, PAGE);
    assert_eq!(unread[..3], ["first", "unread", "unread"].map(Value::from));
    let ended = on(&data, &["history", PAGE]);
    assert!(ended.stderr.contains("the changes of 3 visits are unknown"), "{ended:?}");
    on(&data, &["rebuild", "derived"]).done();
    let (none, texts) = (Value::Null, |text: &str| Value::from(text));
    let expected = [
        texts("first"),
        texts("surroundings"),
        texts("text"),
        none.clone(),
        texts("surroundings"),
        none,
        texts("nothing"),
    ];
    assert_eq!(changes(&data, PAGE), expected);
    assert_eq!(changes(&data, "http://example.org/style"), ["first", "content"]);
    let said = on(&data, &["history", PAGE]);
    assert_eq!(said.stderr, "");
    let lines: Vec<&str> = said.stdout.lines().skip(1).collect();
    for (line, part) in lines.iter().zip(["  until", "  surroundings  until", "  text          until"]) {
        assert!(line.contains(part), "`{part}` is not in {line}");
    }
    assert!(lines[6].ends_with("as before     still valid"), "{}", lines[6]);
}

#[test]
fn an_unknown_page_is_told_with_what_is_archived_beside_it() {
    let (_place, data) = imported(&small_web());
    let parts = ["`http://example.org/nwes` is not archived", "http://example.org/news"];
    assert_eq!(on(&data, &["history", "http://example.org/nwes"]).found(&parts), "");
    on(&data, &["history", "http://example.org/a/b/c"])
        .found(&["similar archived pages: http://example.org/"]);
    on(&data, &["history", "http://nowhere.test/"]).found(&["no page of its server is archived"]);
    on(&data, &["history", "::"]).found(&["it is not the URL of a page"]);
}

#[test]
fn a_visit_without_an_answer_says_why() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    on(&data, &["--quiet", "demo", "--for", "4s", "--accelerate", "400"]).done();
    let captures = archive::list(&base::disk::RealDisk, &data.join("archive")).unwrap();
    let refused = captures.map(|entry| entry.unwrap()).find(|entry| entry.outcome() == "unanswered");
    let refused = refused.expect("a simulated web forbids some pages");
    let said = on(&data, &["--json", "history", &refused.url]).done();
    let line = objects(&said).remove(0);
    assert_eq!(line["why"], "refused", "{line}");
    assert!(line["cause"].as_str().unwrap().contains("isallow"), "{line}");
    assert!(on(&data, &["history", &refused.url]).done().contains("refused: "));
}

#[test]
fn survives_h24_a_url_cannot_steer_the_terminal() {
    let mut made = Made::new();
    made.answer("http://example.org/%1B[2J\u{202e}x", "2026-03-01T00:00:00Z", 200, "x");
    made.typed("http://example.org/type", "2026-03-01T00:00:00Z", 200, "text/\u{1b}[2J", "x");
    let (_place, data) = imported(&made);
    for command in [&["snapshot", "--at", "2026-03-02"][..], &["--json", "snapshot", "--at", "2026-03-02"]] {
        let said = on(&data, command).done();
        assert!(!said.contains('\u{1b}') && !said.contains('\u{202e}'), "{said:?}");
    }
}
