//! What pages, style sheets, feeds and sitemaps hold.

use crate::{choice, page, texts};
use base::PageUrl;

const TYPES: [Option<&str>; 6] = [
    None,
    Some("text/html"),
    Some("text/html; charset=Shift_JIS"),
    Some("text/html; charset=UTF-16LE"),
    Some("application/xhtml+xml"),
    Some("text/plain; charset=iso-2022-jp"),
];

/// Reads a page.
pub(crate) fn html(data: &[u8]) {
    let (which, bytes) = choice(data);
    let (url, content_type) = (page(), TYPES[which % TYPES.len()]);
    let read = html::read(&url, content_type, bytes, "utsushi");
    assert!(read.links.len() <= html::LINKS_MAX && read.too_long.len() <= 1_000);
    read.links.iter().for_each(|link| check_url(&link.url));
    assert!(read.title.len() <= html::TITLE_BYTES_MAX);
    assert!(read.text.blocks.len() <= html::BLOCKS_MAX && read.text.words.len() <= html::WORDS_MAX);
    assert!(read.text.sample.len() <= 8 * 1024);
    assert_eq!(html::title(Some("jp"), content_type, bytes), read.title, "both readers find the same title");
    assert!(html::visible_text(Some("jp"), content_type, bytes).len() <= html::TEXT_BYTES_MAX);
    let _ = html::kind::sniff(content_type, bytes);
}

/// A URL from a page is read again as itself.
fn check_url(url: &PageUrl) {
    assert_eq!(PageUrl::parse(url.as_str()).as_ref(), Ok(url));
}

/// Finds the character set of a text.
pub(crate) fn charset(data: &[u8]) {
    let (which, bytes) = choice(data);
    for domain in [None, Some("jp"), Some("xn--p1ai"), Some("É")] {
        let found = html::charset::find_from(domain, TYPES[which % TYPES.len()], bytes);
        let text = html::charset::text(found, bytes);
        assert!(text.len() <= 3 * bytes.len() + 3);
    }
}

/// Reads a feed.
pub(crate) fn feed(data: &[u8]) {
    let (which, bytes) = choice(data);
    let Some(feed) = html::feed::read(&page(), TYPES[which % TYPES.len()], bytes) else { return };
    assert!(feed.entries.len() <= html::ENTRIES_MAX);
    feed.entries.iter().map(|entry| &entry.url).chain(&feed.hub).chain(&feed.next).for_each(check_url);
}

/// Reads a sitemap.
pub(crate) fn sitemap(data: &[u8]) {
    let Some(sitemap) = html::sitemap::read(&page(), data) else { return };
    assert!(sitemap.pages.len() + sitemap.sitemaps.len() <= html::ENTRIES_MAX);
    sitemap.pages.iter().map(|page| &page.url).chain(&sitemap.sitemaps).for_each(check_url);
}

/// Finds what a style sheet refers to.
pub(crate) fn css(data: &[u8]) {
    let links = html::style_sheet_links(&page(), None, data);
    assert!(links.len() <= html::LINKS_MAX);
    links.iter().for_each(|link| check_url(&link.url));
}

/// Finds the language of a text.
pub(crate) fn language(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (hint, text) = text.split_once('|').unwrap_or(("", &text));
    for language in [lang::detect(text, None), lang::detect(text, Some(hint)), lang::Language::parse(hint)] {
        let Some(language) = language else { continue };
        assert_eq!(lang::Language::parse(language.as_str()), Some(language));
    }
}

pub(crate) fn html_seeds() -> Vec<Vec<u8>> {
    let mut seeds = texts(&[
        "\0<!doctype html><html lang=ja><head><title>A &amp; b</title><base href=\"/x/\"><meta charset=utf-8>\
         <meta name=robots content=\"noindex, nofollow\"><link rel=canonical href=./c><link rel=alternate type=application/rss+xml href=f>\
         <meta http-equiv=refresh content=\"3; url='next'\"></head><body><nav><a href='#x'>menu</a></nav>\
         <main><h1>Words</h1><p>Some <b>words</b> of a text, 31 March 2026, with 12 numbers.</p></main>\
         <img srcset='a 1x, b 2x' src=c><a rel=nofollow href=//b.example/?q=1>l</a><style>a{background:url(\"x\")}</style>\
         <script>var a='<title>no</title>';</script><!-- <a href=no> --><textarea></textarea><svg><image href=y></svg></body>",
        "\u{1}<p>&lt;&#x26;&notin;&#0;<a href=javascript:x><iframe src=frame><table><tr><td>1<td>2</table><title>late</title",
        "\u{2}\u{feff}<div class=ad hidden><p>a</p></div><noscript><a href=n></noscript><plaintext><a href=m>",
    ]);
    let utf16: Vec<u8> = "<title>写し</title><a href=x>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    seeds.push([&b"\x03\xff\xfe"[..], &utf16].concat());
    seeds.push(b"\x02<title>\x8e\xca\x82\xb5</title><meta charset=shift_jis><a href=\x8e\xca>".to_vec());
    seeds.push(b"\x05<title>\x1b$B<L$7\x1b(B</title>".to_vec());
    seeds
}

pub(crate) fn charset_seeds() -> Vec<Vec<u8>> {
    let mut seeds = html_seeds();
    seeds.push(b"\0<?xml version='1.0' encoding='euc-jp'?>\xbc\xcc\xa4\xb7".to_vec());
    seeds.push(b"\0\x8e\xca\x82\xb5 caf\xe9".to_vec());
    seeds
}

pub(crate) fn feed_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "\0<?xml version='1.0'?><rss><channel><atom:link rel=hub href='http://h.example/'/><item><link>/news</link>\
         <guid isPermaLink=true>http://a.example/1</guid><pubDate>Tue, 31 Mar 2026 09:00:00 +0900</pubDate></item></channel></rss>",
        "\0<feed xmlns='http://www.w3.org/2005/Atom'><link rel=next href='?p=2'/><entry><link href='a'/><updated>2026-03-31T09:00:00Z</updated>\
         <title><![CDATA[x]]></title></entry></feed>",
        "\0<rdf:RDF><item rdf:about='b'><link>b</link><dc:date>2026-03-31T09:00+09:00</dc:date></item></rdf:RDF>",
        "\0{\"version\":\"https://jsonfeed.org/version/1.1\",\"next_url\":\"/2\",\"hubs\":[{\"type\":\"WebSub\",\"url\":\"http://h.example/\"}],\
         \"items\":[{\"url\":\"/a\",\"date_published\":\"2026-03-31\"},{\"id\":\"b\"}]}",
    ])
}

pub(crate) fn sitemap_seeds() -> Vec<Vec<u8>> {
    let mut seeds = texts(&[
        "<urlset><url><loc>http://a.example/x</loc><lastmod>2026-03-31</lastmod></url><url><loc> /y </loc>\
         <news:news><news:publication_date>2026-03-31T01:02:03.5Z</news:publication_date></news:news></url></urlset>",
        "<sitemapindex><sitemap><loc>http://a.example/s.xml.gz</loc></sitemap></sitemapindex>",
        "http://a.example/a\r\nhttp://a.example/b\n",
    ]);
    use std::io::Read as _;
    let mut packed = Vec::new();
    let read = flate2::read::GzEncoder::new(&*seeds[0], flate2::Compression::best()).read_to_end(&mut packed);
    read.expect("memory can be read");
    seeds.push(packed);
    seeds
}

pub(crate) fn css_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "@charset \"utf-8\"; @import 'a.css' screen; @import url(b.css); a { background: url( \"x\\\"y\" ) } /* url(no) */",
        "b{src:url(a\\66 .woff) format('woff'), url(\"\\写\")} @namespace url(n); c:image-set('d' 1x)",
    ])
}

pub(crate) fn language_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "ja|これは日本語の文章です。漢字とかなが混ざっています。",
        "zh-TW|這是一段用繁體中文寫成的文字，用來測試語言。",
        "Shift_JIS|図書館 電話 番号 案内 地図 交通 開館 時間",
        "en-GB|This is a text in the English language, long enough to be sure.",
        "|Это русский текст, а это украинский: їжак. هذا نص عربي فارسی پ",
    ])
}
