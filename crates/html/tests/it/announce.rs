//! Feeds and sitemaps: those of the simulated web against its truth, and odd ones by hand.

use crate::peer::asked;
use base::{Interval, PageUrl, Timestamp};
use flate2::{Compression, write::GzEncoder};
use html::{ENTRIES_MAX, feed, sitemap};
use sim::{ORIGIN, Plan, Web, WebResponse};
use std::io::Write;

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

fn get(web: &Web, url: &PageUrl, at: Timestamp) -> WebResponse {
    let answer = web.answer(&asked(url), at);
    assert_eq!(answer.status, 200, "{url}");
    answer
}

/// When the main text of a page last changed, by the truth.
fn changed(web: &Web, url: &PageUrl, at: Timestamp) -> Option<Timestamp> {
    web.truth(url, ORIGIN, at.plus(Interval::from_seconds(1)))?.text_changed_at
}

#[test]
fn every_entry_of_a_simulated_feed_is_found_with_its_moment() {
    let web = Web::new(Plan { pages: 2_000, servers: 40, ..Plan::default() });
    let at = ORIGIN.plus(Interval::from_days(90));
    let mut seen = 0;
    for number in 0..40 {
        let truth = web.server_truth(&web.host(number)).unwrap();
        let place = url(&format!("{}://{}{}", truth.scheme, truth.host, truth.feed));
        let found =
            feed::read(&place, None, &get(&web, &place, at).body).unwrap_or_else(|| panic!("{place}"));
        for entry in &found.entries {
            assert_eq!(entry.published, changed(&web, &entry.url, at), "{}", entry.url);
            seen += 1;
        }
    }
    assert!(seen > 300, "{seen}");
}

#[test]
fn every_page_of_a_simulated_sitemap_is_found_with_its_moment() {
    let web = Web::new(Plan { pages: 20_000, servers: 20, ..Plan::default() });
    let at = ORIGIN.plus(Interval::from_days(90));
    let (mut pages, mut parts, mut news) = (0, 0, 0);
    for number in 0..20 {
        let truth = web.server_truth(&web.host(number)).unwrap();
        let origin = format!("{}://{}", truth.scheme, truth.host);
        let place = url(&format!("{origin}/sitemap.xml"));
        let whole = sitemap::read(&place, &get(&web, &place, at).body).unwrap();
        parts += whole.sitemaps.len();
        let read = |part: &PageUrl| sitemap::read(part, &get(&web, part, at).body).unwrap().pages;
        for page in whole.pages.into_iter().chain(whole.sitemaps.iter().flat_map(read)).step_by(37) {
            assert_eq!(page.modified, changed(&web, &page.url, at), "{}", page.url);
            pages += 1;
        }
        if truth.news {
            let listed = read(&url(&format!("{origin}/sitemap-news.xml")));
            assert!(listed.iter().all(|page| page.is_news && page.modified.is_some()));
            news += listed.len();
        }
    }
    assert!(pages > 300 && parts > 5 && news > 5, "{pages} {parts} {news}");
}

/// What a feed announces, in a line each.
#[track_caller]
fn check_feed(text: &str, expected: &[&str]) {
    let found = feed::read(&url("http://a.example/feeds/x"), None, text.as_bytes()).expect("a feed");
    let lines: Vec<String> = found
        .entries
        .iter()
        .map(|entry| format!("{} {}", entry.url, entry.published.map_or("-".into(), Timestamp::to_rfc3339)))
        .collect();
    assert_eq!(lines, expected);
}

#[test]
fn feeds_of_every_make_are_read() {
    check_feed(
        "<?xml version='1.0'?><!DOCTYPE rss [<!ENTITY x 'y'>]><rss><channel><link>http://a.example/</link>
         <item><title>a & b <br> c</title><link> http://a.example/1?a=1&amp;b=2 </link>
         <pubDate>Tue, 31 Mar 2026 18:00:00 +0900</pubDate></item>
         <item><guid isPermaLink='true'>http://a.example/2</guid><dc:date>2026-03-31</dc:date></item>
         <item><link><![CDATA[/3?a=1&b=2]]></link><media:content url='x'/></item><item><title>none</title></item>",
        &[
            "http://a.example/1?a=1&b=2 2026-03-31T09:00:00Z",
            "http://a.example/2 2026-03-31T00:00:00Z",
            "http://a.example/3?a=1&b=2 -",
        ],
    );
    check_feed(
        "<rdf:RDF xmlns='http://purl.org/rss/1.0/'><channel rdf:about='x'/><item rdf:about='y'><link>../z</link></item>",
        &["http://a.example/z -"],
    );
    check_feed(
        "<feed xmlns='http://www.w3.org/2005/Atom'><link href='/' rel='self'/><entry><id>urn:x</id>
         <link rel='edit' href='no'/><link rel=alternate href='/e1'/><published>2026-01-01T00:00:00Z</published>
         <updated>2026-02-01T00:00:00Z</updated></entry><entry><id>http://a.example/e2</id></entry></feed>",
        &["http://a.example/e1 2026-02-01T00:00:00Z", "http://a.example/e2 -"],
    );
    check_feed(
        "{\"version\": \"https://jsonfeed.org/version/1\", \"items\": [{\"id\": 1, \"url\": \"j\",
          \"date_published\": \"2026-03-31T09:00:00Z\"}, {\"id\": \"http://a.example/k\"}, {}, 7]}",
        &["http://a.example/feeds/j 2026-03-31T09:00:00Z", "http://a.example/k -"],
    );
}

#[test]
fn a_feed_names_its_hub_and_its_next_part() {
    let text = "<feed><link rel=hub href='https://hub.example/'/><link rel='next' href='?page=2'/><entry></entry></feed>";
    let found = feed::read(&url("http://a.example/f"), None, text.as_bytes()).unwrap();
    assert_eq!(found.hub, Some(url("https://hub.example/")));
    assert_eq!(found.next, Some(url("http://a.example/f?page=2")));
}

#[test]
fn a_feed_in_a_legacy_encoding_is_read() {
    let text = "<?xml version='1.0' encoding='Shift_JIS'?><rss><item><link>/図書館</link></item></rss>";
    let (bytes, _, _) = encoding_rs::SHIFT_JIS.encode(text);
    let found = feed::read(&url("http://a.example/"), None, &bytes).unwrap();
    assert_eq!(found.entries[0].url, url("http://a.example/図書館"));
}

#[test]
fn what_is_no_feed_and_no_sitemap_is_none() {
    let place = url("http://a.example/");
    for text in [
        "",
        "x",
        "{}",
        "{\"version\": 1}",
        "[",
        "<html><item><link>x</link>",
        "<!-- <rss> -->",
        "{\"items\":[]}",
    ] {
        assert_eq!(feed::read(&place, None, text.as_bytes()), None, "{text}");
        assert_eq!(sitemap::read(&place, text.as_bytes()), None, "{text}");
    }
}

#[test]
fn sitemaps_of_every_make_are_read() {
    let place = url("http://a.example/sitemap.xml");
    let xml = "<sm:urlset xmlns:sm='x'><sm:url><sm:loc>/1&amp;2</sm:loc><image:image><image:loc>/i.png</image:loc>
        </image:image></sm:url><sm:url><sm:loc><![CDATA[http://b.example/?a&b]]></sm:loc><news:news>
        <news:publication_date>2026-03-31T09:00+00:00</news:publication_date></news:news></sm:url><sm:url></sm:url>";
    let found = sitemap::read(&place, xml.as_bytes()).unwrap();
    let lines: Vec<_> =
        found.pages.iter().map(|page| (page.url.as_str(), page.is_news, page.modified.is_some())).collect();
    assert_eq!(lines, [("http://a.example/1&2", false, false), ("http://b.example/?a&b", true, true)]);
    let index =
        sitemap::read(&place, b"<sitemapindex><sitemap><loc>/s.xml.gz</loc></sitemap></sitemapindex>")
            .unwrap();
    assert_eq!(index.sitemaps, [url("http://a.example/s.xml.gz")]);
    let plain =
        sitemap::read(&place, b"\xef\xbb\xbfhttp://a.example/x\r\n\r\nnot one\nhttps://a.example/y\n")
            .unwrap();
    assert_eq!(plain.pages.len(), 2);
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn survives_h5_h9_bombs_and_endless_lists() {
    let place = url("http://a.example/");
    let xml = "<urlset><url><loc>/x</loc></url></urlset>";
    let whole = packed(xml.as_bytes());
    assert_eq!(sitemap::read(&place, &whole).unwrap().pages.len(), 1);
    assert_eq!(
        sitemap::read(&place, &whole[..whole.len() - 8]).unwrap().pages.len(),
        1,
        "cut off at its end"
    );
    let bomb = packed(format!("{xml}{}", " ".repeat(64 << 20)).as_bytes());
    assert_eq!(sitemap::read(&place, &bomb), None);
    let endless = format!("<urlset>{}", "<url><loc>/x</loc></url>".repeat(ENTRIES_MAX + 10));
    assert_eq!(sitemap::read(&place, endless.as_bytes()).unwrap().pages.len(), ENTRIES_MAX);
    let endless = format!("<rss>{}", "<item><link>/x</link></item>".repeat(ENTRIES_MAX + 10));
    assert_eq!(feed::read(&place, None, endless.as_bytes()).unwrap().entries.len(), ENTRIES_MAX);
    let entities =
        "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><urlset><url><loc>/&b;</loc></url></urlset>";
    let found = sitemap::read(&place, entities.as_bytes()).unwrap();
    assert_eq!(found.pages[0].url.as_str(), "http://a.example/&b;", "entities are not expanded");
    let deep = format!("<rss>{}<item><link>/x</link></item>", "<a>".repeat(200_000));
    assert_eq!(feed::read(&place, None, deep.as_bytes()).unwrap().entries.len(), 1);
    let nested = format!("{{\"version\":\"jsonfeed.org\",\"items\":{}", "[".repeat(200_000));
    assert_eq!(feed::read(&place, None, nested.as_bytes()), None);
}

#[test]
fn broken_feeds_and_sitemaps_are_read_to_their_end() {
    const PIECES: &[&str] = &[
        "<rss>",
        "<feed>",
        "<urlset>",
        "<sitemapindex>",
        "<sm:urlset>",
        "<item>",
        "</item>",
        "<entry>",
        "</entry>",
        "<url>",
        "</url>",
        "<sm:url>",
        "<sitemap>",
        "</sitemap>",
        "<loc>",
        "</loc>",
        "<link>",
        "</link>",
        "<link/>",
        "<link href='/a'/>",
        "<link rel=next href=",
        "<guid>",
        "<id>",
        "<pubDate>",
        "<lastmod>",
        "</",
        ">",
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "<?xml?>",
        "&amp;",
        "&",
        "http://a.example/x",
        "/y",
        "2026-03-31",
        "Tue, 31 Mar 2026 09:00",
        "{\"version\":\"jsonfeed.org\",\"items\":[",
        "{\"url\":\"/j\"}",
        "]}",
        ",",
        "漢",
        " ",
        "\n",
        "\0",
    ];
    let place = url("http://a.example/");
    let mut found = [0; 3];
    for seed in 0..20_000 {
        let mut chance = base::Chance::of(&[seed, 5]);
        let text: String = (0..1 + chance.index(30)).map(|_| *chance.pick(PIECES)).collect();
        let text = format!("{}{text}", chance.pick(&["", "<rss>", "<urlset>"]));
        found[0] += feed::read(&place, None, text.as_bytes()).map_or(0, |feed| feed.entries.len());
        let sitemap = sitemap::read(&place, text.as_bytes()).unwrap_or_default();
        found[1] += sitemap.pages.len() + sitemap.sitemaps.len();
        found[2] += usize::from(html::kind::sniff(None, text.as_bytes()) == html::kind::BodyKind::Feed);
    }
    assert!(found.iter().all(|count| *count > 100), "there is something to break: {found:?}");
}
