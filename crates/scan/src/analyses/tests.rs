//! Every analysis on documents of every sort.

use super::*;
use base::Chance;
use serde_json::{Value, json};

const URL: &str = "http://a.example/dir/page";

fn document<'a>(url: &'a str, head: &'a str, body: &'a [u8]) -> ScanDocument<'a> {
    ScanDocument {
        number: 7,
        url,
        fields: "",
        http_head: head.as_bytes(),
        body,
        stored_bytes: 412,
        payload_bytes: 700,
    }
}

/// The answer, which is one line of JSON.
#[track_caller]
fn answer(analysis: Analysis, document: &ScanDocument<'_>) -> Value {
    let mut line = b"before".to_vec();
    analysis.answer(document, &mut line);
    let line = line.strip_prefix(b"before").expect("an answer is appended");
    assert!(!line.contains(&b'\n'), "{analysis}");
    serde_json::from_slice(line)
        .unwrap_or_else(|error| panic!("{analysis}: {error} in {}", String::from_utf8_lossy(line)))
}

/// A body that came with this media type.
#[track_caller]
fn check(analysis: Analysis, media_type: &str, body: impl AsRef<[u8]>, expected: impl Into<Value>) {
    let head = format!("HTTP/1.1 200 OK\r\nServer: x\r\nContent-Type: {media_type}\r\n\r\n");
    assert_eq!(answer(analysis, &document(URL, &head, body.as_ref())), expected.into());
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n<title>no</title><a href=x>";

#[test]
fn analyses_are_known_by_their_names() {
    for analysis in Analysis::ALL {
        assert_eq!(analysis.as_str().parse(), Ok(analysis));
        assert_eq!(Analysis::named(analysis.as_str()), Some(analysis));
    }
    assert_eq!(
        "wrods".parse::<Analysis>().unwrap_err().to_string(),
        "no built-in analysis is called `wrods`; choose one of: links, text, words, language, titles, sizes, digests"
    );
    assert_eq!(Analysis::named("Links"), None);
}

#[test]
fn links_are_those_of_pages_feeds_and_sitemaps() {
    let check = |media_type: &str, body: &str, expected| check(Analysis::Links, media_type, body, expected);
    check(
        "text/html",
        "<a href=x rel=nofollow>1</a><img src=/i><a href='/\u{e9}'>",
        json!([
            {"url": "http://a.example/dir/x", "kind": "anchor", "nofollow": true},
            {"url": "http://a.example/i", "kind": "embed"},
            {"url": "http://a.example/%C3%A9", "kind": "anchor"},
        ]),
    );
    check(
        "text/xml",
        "<feed><link rel=next href=/2 /><entry><link href=/1 /></entry></feed>",
        json!([{"url": "http://a.example/1", "kind": "entry"}, {"url": "http://a.example/2", "kind": "next"}]),
    );
    check(
        "text/xml",
        "<urlset><url><loc>http://a.example/1</loc></url></urlset>",
        json!([{"url": "http://a.example/1", "kind": "page"}]),
    );
    check(
        "text/xml",
        "<sitemapindex><sitemap><loc>/1</loc></sitemap></sitemapindex>",
        json!([{"url": "http://a.example/1", "kind": "sitemap"}]),
    );
    check("text/plain", "http://a.example/", json!([]));
    self::check(Analysis::Links, "text/html", PNG, json!([]));
}

#[test]
fn text_is_that_of_pages_and_of_plain_files() {
    let check = |media_type: &str, body: &[u8], expected| check(Analysis::Text, media_type, body, expected);
    check("text/html", b"<title>no</title><p>One\n <b>two</b><p>\"three\"", json!("One two\n\"three\""));
    check("text/html; charset=shift_jis", b"<p>\x96\x7b", json!("本"));
    check("text/plain; charset=euc-jp", b"a  b\n\xcb\xdc\t", json!("a  b\n本\t"));
    check("text/html", b"", json!(""));
    check("text/html", PNG, Value::Null);
    check("application/json", b"{}", Value::Null);
    check("text/xml", b"<rss></rss>", Value::Null);
}

#[test]
fn a_plain_text_is_as_long_as_that_of_a_page_may_be() {
    for body in ["漢".repeat(html::TEXT_BYTES_MAX / 3 + 9).into_bytes(), vec![0xe9; html::TEXT_BYTES_MAX]] {
        let head = "HTTP/1.1 200 OK\nContent-Type: text/plain; charset=windows-1252\n\n";
        let text = answer(Analysis::Text, &document(URL, head, &body));
        let bytes = text.as_str().unwrap().len();
        assert!((html::TEXT_BYTES_MAX - 3..=html::TEXT_BYTES_MAX).contains(&bytes), "{bytes}");
    }
}

#[test]
fn words_are_counted_and_the_most_frequent_named() {
    let check = |body: &str, expected| check(Analysis::Words, "text/plain", body, expected);
    check(
        "The cat saw the dog. Can't the DOG see? Ärger, ärger!",
        json!({"count": 11, "distinct": 7, "top":
            [["the", 3], ["dog", 2], ["ärger", 2], ["can't", 1], ["cat", 1], ["saw", 1], ["see", 1]]}),
    );
    check(
        "図書館 カタカナ",
        json!({"count": 4, "distinct": 4, "top": [["カタカナ", 1], ["図", 1], ["書", 1], ["館", 1]]}),
    );
    check("... !", json!({"count": 0, "distinct": 0, "top": []}));
    let many: String = (100..300).rev().map(|n| format!("w{n} ")).collect();
    let head = "HTTP/1.1 200 OK\nContent-Type: text/plain\n\n";
    let found = answer(Analysis::Words, &document(URL, head, format!("{many}w299 w250").as_bytes()));
    let top = found["top"].as_array().unwrap();
    assert_eq!((top.len(), &found["distinct"]), (50, &json!(200)));
    assert_eq!(
        (&top[0], &top[1], &top[2], &top[49]),
        (&json!(["w250", 2]), &json!(["w299", 2]), &json!(["w100", 1]), &json!(["w147", 1]))
    );
    self::check(Analysis::Words, "image/png", PNG, Value::Null);
}

#[test]
fn the_language_is_told_as_the_crawler_tells_it() {
    let check =
        |media_type: &str, body: &[u8], expected| check(Analysis::Language, media_type, body, expected);
    check(
        "text/html; charset=utf-8",
        "<p>図書館は朝の九時に開きます。本を五冊まで借りられます。".as_bytes(),
        json!("ja"),
    );
    check("text/html", b"<p>The public library opens at nine in the morning and closes at six.", json!("en"));
    let address = "<p>東京都千代田区永田町一丁目七番一号";
    check("text/html; charset=utf-8", address.as_bytes(), json!("zh"));
    check("text/html; charset=utf-8", format!("<html lang=ja>{address}").as_bytes(), json!("ja"));
    // Shift_JIS of the same.
    check(
        "text/html; charset=shift_jis",
        b"<p>\x93\x8c\x8b\x9e\x93s\x90\xe7\x91\xe3\x93c\x8b\xe6\x89i\x93c\x92\xac\x88\xea\x92\x9a\x96\xda\x8e\xb5\x94\xd4\x88\xea\x8d\x86",
        json!("ja"),
    );
    check("text/html", b"<p>404", Value::Null);
    check("text/plain", b"The public library opens at nine in the morning.", Value::Null);
}

#[test]
fn titles_are_those_of_pages() {
    let check = |media_type: &str, body: &[u8], expected| check(Analysis::Titles, media_type, body, expected);
    check("text/html", b"<title>\n A \"b\" &amp; c</title>", json!("A \"b\" & c"));
    check("text/html; charset=shift_jis", b"<title>\x96\x7b</title>", json!("本"));
    check("text/plain", b"<!DOCTYPE html><title>a</title>", json!("a"));
    check("text/html", b"<p>no title", Value::Null);
    check("text/html", b"<title> </title>", Value::Null);
    check("text/html", PNG, Value::Null);
    check("text/xml", b"<rss><channel><title>a</title></channel></rss>", Value::Null);
    check("text/plain", b"see <title>a</title>", Value::Null);
}

#[test]
fn sizes_and_digests_are_those_of_any_bytes() {
    check(Analysis::Sizes, "x/y", PNG, json!({"stored": 412, "payload": 700, "content": 35}));
    check(
        Analysis::Digests,
        "x/y",
        "abc",
        json!({
            "sha1": "a9993e364706816aba3e25717850c26c9cd0d89d",
            "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "blake3": "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85",
        }),
    );
}

#[test]
fn a_url_that_is_none_costs_the_links_only() {
    let body = b"<title>Hi</title><a href=http://b.example/>The library opens at nine in the morning</a>";
    for url in ["", "urn:uuid:1", "dns:a.example", "http://", "\0\n"] {
        let document = document(url, "", body);
        assert_eq!(answer(Analysis::Links, &document), json!([]));
        assert_eq!(answer(Analysis::Titles, &document), json!("Hi"));
        assert_eq!(answer(Analysis::Text, &document), json!("The library opens at nine in the morning"));
        assert_eq!(answer(Analysis::Words, &document)["count"], 8);
        assert_eq!(answer(Analysis::Language, &document), json!("en"));
    }
}

#[test]
fn any_bytes_get_one_line_of_json_from_every_analysis() {
    const HEADS: &[&str] = &[
        "",
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-16le\r\n\r\n",
        "Content-Type",
        "x\ncontent-type:text/html;charset=iso-2022-jp",
        "x\ncontent-type: application/xml",
    ];
    const STARTS: &[&[u8]] =
        &[b"", b"<html><title>", b"<rss><item>", b"<urlset>", b"\xff\xfe", b"\x1f\x8b\x08", b"{\"version\":"];
    let mut chance = Chance::new(11);
    for n in 0..3_000 {
        // Half of them ASCII, so that tags are made.
        let mask = if n % 2 == 0 { 0xff } else { 0x7f };
        let mut body = chance.pick(STARTS).to_vec();
        body.extend((0..chance.index(400)).map(|_| (chance.bits() >> 56) as u8 & mask));
        let url = if n % 3 == 0 { String::from_utf8_lossy(&body).into_owned() } else { URL.to_owned() };
        let head: &&str = chance.pick(HEADS);
        let document = document(&url, head, &body);
        for analysis in Analysis::ALL {
            answer(analysis, &document);
        }
    }
}
