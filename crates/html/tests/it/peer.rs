//! Our reader and the oracle read the same on every page.

use crate::{hostile, oracle};
use base::{Chance, PageUrl};
use sim::{ORIGIN, Plan, Web, WebRequest};

/// Compares the two and tells how many links there are.
#[track_caller]
fn check(url: &PageUrl, text: &str) -> usize {
    let expected = oracle::read(url, text, "utsushi");
    let page = html::read(url, Some("text/html; charset=utf-8"), text.as_bytes(), "utsushi");
    let links: Vec<_> = page.links.into_iter().map(|link| (link.url, link.kind, link.nofollow)).collect();
    let found = oracle::Found { title: page.title, links, asks: page.asks };
    assert!(found == expected, "{text:?}\nours: {found:?}\noracle: {expected:?}");
    expected.links.len()
}

/// What pages are made of, whole and broken.
const PIECES: &[&str] = &[
    "<",
    ">",
    "/",
    "=",
    "\"",
    "'",
    "!",
    "-",
    "--",
    "?",
    "&",
    ";",
    "#",
    " ",
    "\n",
    "\t",
    "\r\n",
    "\x0c",
    "\0",
    "x",
    "é",
    "漢",
    "<a ",
    "<A\n",
    "</a>",
    "<area ",
    "<img ",
    "<p>",
    "</p ",
    "<div/>",
    "<base ",
    "<meta ",
    "<link ",
    "<input ",
    "<track ",
    "<video ",
    "<object ",
    "<iframe ",
    "</iframe>",
    "<frame ",
    "<embed ",
    "<title>",
    "</title>",
    "</TITLE x=y>",
    "<title",
    "</titlex>",
    "<textarea>",
    "</textarea>",
    "<script>",
    "</script>",
    "<script",
    "<!--",
    "-->",
    "--!>",
    "->",
    "<!",
    "<!-",
    "<style>",
    "</style>",
    "<xmp>",
    "</xmp/>",
    "<noembed>",
    "</noembed >",
    "<plaintext>",
    "<!DOCTYPE html>",
    "<![CDATA[",
    "]]>",
    "<?xml ?>",
    "</",
    "<//",
    "href=",
    "HREF = ",
    "src=",
    "data=",
    "poster=",
    "rel=",
    "rel='nofollow'",
    "rel=alternate",
    "rel=canonical ",
    "rel=\"next stylesheet\"",
    "hreflang=en ",
    "type=application/rss+xml ",
    "name=robots ",
    "name=utsushi ",
    "content=noindex ",
    "content='nofollow'",
    "http-equiv=refresh ",
    "content='0; url=on'",
    "href=a ",
    "href='b'",
    "href=\"c?d=1&amp;e=2\"",
    "href=f&copy=1 ",
    "href='g&copy'",
    "href=#",
    "href=http://b.example/&lt;",
    "src=i.png ",
    "href href=late ",
    "&amp",
    "&#65;",
    "&#x3042",
    "&notit;",
    "&lt;a href=no&gt;",
    "href='mailto:x'",
    "href=//",
    "=href=x ",
    "a=b",
    "\"'>",
];

/// A tag that is in order, so that what is broken has something to break.
fn whole(chance: &mut Chance) -> String {
    const TAGS: &[&str] = &[
        "<a href=N>",
        "<a rel=nofollow href='N'>x</a>",
        "<A HREF=\"/N?a&amp;b\">",
        "<img src=N srcset='N 1x, nN 2x'>",
        "<link rel=alternate hreflang=ja href=N>",
        "<iframe src=N></iframe>",
        "<video poster=N>",
        "<!-- N -->",
        "<title>N &amp; N</title>",
        "<script src=N>'<a href=N>'</script>",
        "<meta http-equiv=refresh content='N;url=N'>",
        "<meta name=robots content=nofollow>",
        "<p class=ad>N</p>",
        "<style>N</style>",
        "<area href=N/>",
    ];
    let number = chance.below(50).to_string();
    chance.pick(TAGS).replace('N', &number)
}

#[test]
fn broken_pages_are_read_as_the_oracle_reads_them() {
    let url = PageUrl::parse("http://a.example/dir/page").unwrap();
    let mut links = 0;
    for seed in 0..30_000 {
        let mut chance = Chance::of(&[seed, 1]);
        let count = 1 + chance.index(40);
        let piece = |chance: &mut Chance| {
            if chance.happens(0.4) { whole(chance) } else { (*chance.pick(PIECES)).to_owned() }
        };
        let text: String = (0..count).map(|_| piece(&mut chance)).collect();
        // The last `>` gives what is open a chance to be seen.
        links += check(&url, &format!("{text}>"));
    }
    assert!(links > 10_000, "there is something to compare: {links}");
}

#[test]
fn random_letters_are_read_as_the_oracle_reads_them() {
    let url = PageUrl::parse("http://a.example/dir/page").unwrap();
    let mut links = 0;
    for seed in 0..20_000 {
        let mut chance = Chance::of(&[seed, 2]);
        let letters: Vec<char> = "<>/=\"'!-&; aAhref\t\n\0é".chars().collect();
        let text: String = (0..chance.index(120)).map(|_| *chance.pick(&letters)).collect();
        links += check(&url, &format!("<a {text}<a href=x>"));
    }
    assert!(links > 10_000, "there is something to compare: {links}");
}

#[test]
fn any_bytes_are_read() {
    let url = PageUrl::parse("http://a.example/").unwrap();
    let mut chance = Chance::new(4);
    for _ in 0..3_000 {
        let bytes: Vec<u8> = (0..chance.index(600)).map(|_| (chance.bits() >> 56) as u8).collect();
        let page = html::read(&url, None, &bytes, "utsushi");
        assert!(page.links.len() <= html::LINKS_MAX);
        let _ = html::feed::read(&url, None, &bytes);
        let _ = html::sitemap::read(&url, &bytes);
        let _ = html::kind::sniff(None, &bytes);
    }
}

#[test]
fn hostile_pages_are_read_as_the_oracle_reads_them() {
    let url = PageUrl::parse("http://a.example/dir/page").unwrap();
    for (name, text) in hostile::shapes() {
        // Where there are bounds, the oracle has none.
        if !["links that differ", "sizes of a picture", "titles unclosed"].contains(&name) {
            let start = text.get(..text.floor_char_boundary(100_000)).unwrap();
            check(&url, start);
        }
    }
}

#[test]
fn the_simulated_web_is_read_as_the_oracle_reads_it() {
    let web = Web::new(Plan { pages: 600, servers: 60, ..Plan::default() });
    let mut read = 0;
    for number in 0..60 {
        for page in 0..web.server_pages(number).min(10) {
            let url = PageUrl::parse(&web.page_url(number, page, ORIGIN)).unwrap();
            let body = web.answer(&asked(&url), ORIGIN).body;
            if let Ok(text) = std::str::from_utf8(&body) {
                check(&url, text);
                read += 1;
            }
        }
    }
    assert!(read > 200, "{read}");
}

/// A plain request for a page.
pub(crate) fn asked(url: &PageUrl) -> WebRequest<'_> {
    WebRequest {
        scheme: url.scheme(),
        host: url.host(),
        target: url.target(),
        head_only: false,
        if_none_match: None,
        if_modified_since: None,
        accepts_gzip: false,
    }
}
