//! The title that is found without reading the page is the one that reading finds.

use crate::peer::asked;
use base::{Chance, PageUrl};
use sim::{ORIGIN, Plan, Web};

#[track_caller]
fn check(url: &PageUrl, content_type: Option<&str>, body: &[u8]) -> bool {
    let expected = html::read(url, content_type, body, "utsushi").title;
    let found = html::title(url.host().rsplit('.').next(), content_type, body);
    assert!(found == expected, "{}\nfast: {found}\nread: {expected}", String::from_utf8_lossy(body));
    !found.is_empty()
}

#[test]
fn odd_pages_have_the_title_that_reading_finds() {
    const PIECES: &[&str] = &[
        "<title>",
        "</title>",
        "<TITLE ",
        "</Title\n",
        "<title",
        "</titl",
        "e>",
        ">",
        "<",
        "/",
        "'",
        "\"",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "<style>",
        "</style>",
        "<textarea>",
        "</textarea>",
        "<xmp>",
        "<p x='",
        "<!",
        "&amp;",
        "\0",
        "漢",
        "é",
        " ",
        "word",
        "<svg>",
        "<plaintext>",
        "\u{1b}$B",
        "\u{1b}(B",
    ];
    let url = PageUrl::parse("http://a.jp/").unwrap();
    let mut found = 0;
    for seed in 0..20_000 {
        let mut chance = Chance::of(&[seed, 3]);
        let mut page = String::new();
        for _ in 0..chance.index(30) {
            let piece: &&str = chance.pick(PIECES);
            page.push_str(piece);
            if chance.happens(0.05) {
                page.push_str(&"filling ".repeat(chance.index(1_500)));
            }
        }
        let label = *chance.pick(&[None, Some("text/html; charset=utf-8"), Some("x/y; charset=iso-2022-jp")]);
        found += usize::from(check(&url, label, page.as_bytes()));
    }
    assert!(found > 3_000, "there is something to compare: {found}");
}

#[test]
fn random_bytes_have_the_title_that_reading_finds() {
    let url = PageUrl::parse("http://a.jp/").unwrap();
    let labels =
        ["", "utf-8", "shift_jis", "euc-jp", "iso-2022-jp", "gb18030", "big5", "utf-16be", "windows-1252"];
    let mut chance = Chance::new(5);
    for n in 0..4_000 {
        let mut bytes: Vec<u8> = (0..chance.index(300)).map(|_| (chance.bits() >> 56) as u8).collect();
        bytes.extend_from_slice(b"<title>");
        bytes.extend((0..chance.index(60)).map(|_| (chance.bits() >> 56) as u8));
        bytes.extend_from_slice(b"</title>");
        let label = format!("text/html; charset={}", labels[n % labels.len()]);
        check(&url, Some(&label), &bytes);
    }
}

#[test]
fn pages_of_the_simulated_web_have_the_title_that_reading_finds() {
    let web = Web::new(Plan { pages: 600, servers: 60, ..Plan::default() });
    let (mut read, mut found) = (0, 0);
    for number in 0..60 {
        for page in 0..web.server_pages(number).min(10) {
            let url = PageUrl::parse(&web.page_url(number, page, ORIGIN)).unwrap();
            let answer = web.answer(&asked(&url), ORIGIN);
            read += 1;
            found += usize::from(check(&url, None, &answer.body));
        }
    }
    assert!(read > 200 && found > 100, "{found} of {read}");
}
