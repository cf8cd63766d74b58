//! CDXJ: sorted, complete, unbreakable.

use crate::files::{COPY, Files, PAGE, day};
use formats::{Line, Place, Row, cdxj};

fn written(files: &Files, choose: impl Fn(&Row) -> bool) -> String {
    let mut out = Vec::new();
    let count = cdxj::write(files.pick(choose), &files.source(), files.path(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.lines().count() as u64, count);
    text
}

#[test]
fn a_line_says_what_readers_expect() {
    let files = Files::new();
    let text = written(&files, |row| row.url == PAGE && row.at == day(1));
    let place = &files.rows[0].place;
    let expected = format!(
        "com,example)/page?a=1&b=2 20260301090000 {{\"url\": \"{PAGE}\", \"mime\": \"text/html\", \"status\": \"200\", \
         \"digest\": \"{}\", \"length\": \"{}\", \"offset\": \"{}\", \"filename\": \"originals.warc.gz\"}}\n",
        files.rows[0].payload.unwrap(),
        place.record_bytes,
        place.offset
    );
    assert_eq!(text, expected);
}

#[test]
fn lines_ascend_and_every_answer_has_one() {
    let files = Files::new();
    let text = written(&files, |_| true);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.is_sorted());
    assert_eq!(lines.len(), files.rows.len() - 1, "all but the visit without an answer");
}

#[test]
fn revisits_bring_their_originals() {
    let files = Files::new();
    let text = written(&files, |row| row.url == COPY);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    let (original, revisit) = (lines[0], lines[1]);
    assert!(
        original.starts_with("com,example)/page?a=1&b=2 20260301090000 {")
            && original.contains("\"text/html\"")
    );
    assert!(
        revisit.starts_with("org,example,other)/copy 20260304090000 {")
            && revisit.contains("\"warc/revisit\"")
    );
    let digest = format!("\"digest\": \"{}\"", files.rows[0].payload.unwrap());
    assert!(original.contains(&digest) && revisit.contains(&digest));
}

#[test]
fn a_304_is_a_line_of_its_original_at_its_own_time() {
    let files = Files::new();
    let text = written(&files, |row| row.status == Some(304));
    let lines: Vec<(&str, &str)> = text.lines().map(|line| line.split_once(" {").unwrap()).collect();
    assert_eq!(lines[0].0, "com,example)/page?a=1&b=2 20260301090000");
    assert_eq!(lines[1].0, "com,example)/page?a=1&b=2 20260305090000");
    assert_eq!(lines[0].1, lines[1].1);
    assert_eq!(lines.len(), 2);
}

#[test]
fn survives_h16_no_value_breaks_a_line() {
    let nasty = "http://a.jp/\n com,forged)/ 20260101000000 {}\r\u{2028}\u{85}\0\"\\";
    let line = Line {
        url: nasty.to_owned(),
        at: day(1),
        status: None,
        media_type: "text/\"\nhtml".into(),
        payload: None,
        is_revisit: false,
        title: None,
    };
    let text = cdxj::line(&line, &Place::of_record("a\n.warc.gz".into(), 1, 2));
    assert!(text.bytes().all(|b| b == b' ' || b.is_ascii_graphic()), "{text}");
    let mut parts = text.splitn(3, ' ');
    let (_key, stamp) = (parts.next().unwrap(), parts.next().unwrap());
    let object: serde_json::Value = serde_json::from_str(parts.next().unwrap()).unwrap();
    assert_eq!((stamp, object["url"].as_str()), ("20260301090000", Some(nasty)));
}
