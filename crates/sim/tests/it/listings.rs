//! Robots files, sitemaps, feeds and requisites.

use crate::asking::{between, day, field, get, text, web};
use base::{PageUrl, Timestamp};
use sim::Web;
use std::collections::BTreeMap;
use std::io::Read;

fn origin(web: &Web, server: u32) -> String {
    let home = web.page_url(server, 0, day(3));
    home.trim_end_matches('/').to_owned()
}

#[test]
fn robots_files_say_what_the_truth_says() {
    let web = web(5_000, 300);
    let mut kinds = BTreeMap::new();
    for server in 0..300 {
        let truth = web.server_truth(&web.host(server)).unwrap();
        *kinds.entry(truth.robots).or_insert(0) += 1;
        let answer = get(&web, &format!("{}/robots.txt", origin(&web, server)), day(3));
        assert_eq!(answer.status, if truth.robots == "missing" { 404 } else { 200 });
        let file = text(&answer);
        let forbids = file.contains("User-agent: *") && file.contains("Disallow: /private/");
        assert_eq!(!web.robots_allows(&truth.host, "/private/page20.html"), forbids);
        assert!(web.robots_allows(&truth.host, "/"));
        assert_eq!(truth.crawl_delay.is_some(), file.contains("Crawl-delay: "));
    }
    assert!(kinds.len() == 5 && kinds.values().all(|count| *count > 3), "{kinds:?}");
}

#[test]
fn private_pages_exist_and_are_forbidden() {
    let web = web(5_000, 100);
    let mut private = 0;
    for (server, page) in
        (0..100).flat_map(|server| (1..web.server_pages(server)).step_by(5).map(move |p| (server, p)))
    {
        let truth = web.truth_of(server, page, day(3), day(4));
        let url = PageUrl::parse(&truth.urls[0]).unwrap();
        assert_eq!(web.robots_allows(url.host(), url.target()), truth.robots_allow);
        assert_eq!(url.path().starts_with("/private/"), !truth.robots_allow);
        private += usize::from(!truth.robots_allow);
    }
    assert!(private > 10, "{private}");
}

/// The locations and last changes in a sitemap, its parts included.
fn sitemap(web: &Web, url: &str, now: Timestamp) -> Vec<(String, Timestamp)> {
    let answer = get(web, url, now);
    assert_eq!(answer.status, 200, "{url}");
    let mut xml = Vec::new();
    match url.ends_with(".gz") {
        true => drop(flate2::read::GzDecoder::new(&answer.body[..]).read_to_end(&mut xml).unwrap()),
        false => xml = answer.body,
    }
    let xml = String::from_utf8(xml).unwrap();
    let location = |part: &str| between(part, "<loc>", "</loc>").replace("&amp;", "&");
    if xml.contains("<sitemapindex") {
        return xml.split("<sitemap>").skip(1).flat_map(|part| sitemap(web, &location(part), now)).collect();
    }
    let entry = |part: &str| (location(part), between(part, "<lastmod>", "</lastmod>").parse().unwrap());
    xml.split("<url>").skip(1).map(entry).collect()
}

#[test]
fn sitemaps_list_every_page_that_may_be_visited_with_its_exact_last_change() {
    let web = web(9_000, 12);
    let now = day(200);
    for server in 0..12 {
        let listed = sitemap(&web, &format!("{}/sitemap.xml", origin(&web, server)), now);
        let mut expected = Vec::new();
        for page in 0..web.server_pages(server) {
            let truth = web.truth_of(server, page, now, now.plus(base::Interval::from_seconds(1)));
            let exists = truth.born <= now && truth.deleted.is_none_or(|(at, _)| at > now);
            if exists && truth.robots_allow {
                expected.push((web.page_url(server, page, now), truth.text_changed_at.unwrap()));
            }
        }
        assert_eq!(listed, expected);
    }
}

#[test]
fn feeds_list_the_latest_changes_of_the_first_pages() {
    let web = web(9_000, 60);
    let now = day(200);
    let mut kinds = BTreeMap::new();
    for server in 0..60 {
        let truth = web.server_truth(&web.host(server)).unwrap();
        let answer = get(&web, &format!("{}{}", origin(&web, server), truth.feed), now);
        let feed = text(&answer);
        let mut latest: Vec<_> = sitemap(&web, &format!("{}/sitemap.xml", origin(&web, server)), now);
        let first = (1..web.server_pages(server).min(201))
            .map(|page| web.page_url(server, page, now))
            .collect::<Vec<_>>();
        latest.retain(|(url, _)| first.contains(url));
        latest.sort_by_key(|(_, changed)| std::cmp::Reverse(*changed));
        for (url, changed) in latest.iter().take(20) {
            assert!(feed.replace("&amp;", "&").contains(url.as_str()), "{url}");
            assert!(feed.contains(&changed.to_rfc3339()) || feed.contains(&changed.to_http_date()));
        }
        *kinds.entry(truth.feed).or_insert(0) += 1;
    }
    assert_eq!(kinds.len(), 3, "{kinds:?}");
}

#[test]
fn the_tag_of_a_list_stands_for_one_sequence_of_bytes() {
    let web = web(600, 40);
    let (mut lists, mut again) = (BTreeMap::new(), 0);
    for server in 0..40 {
        let feed = web.server_truth(&web.host(server)).unwrap().feed;
        for (path, hours) in
            ["/sitemap.xml", feed].iter().flat_map(|path| (0..60).map(move |n| (*path, 7 * n)))
        {
            let now = day(100).plus(base::Interval::from_hours(hours));
            let answer = get(&web, &format!("{}{path}", origin(&web, server)), now);
            let name = (server, path, field(&answer, "ETag").unwrap().to_owned());
            again += usize::from(lists.contains_key(&name));
            assert_eq!(
                *lists.entry(name.clone()).or_insert_with(|| answer.body.clone()),
                answer.body,
                "{name:?}"
            );
        }
    }
    assert!(again > 100 && lists.len() > 1_000, "{again} {}", lists.len());
}

#[test]
fn news_servers_have_a_news_sitemap() {
    let web = web(5_000, 200);
    let mut entries = 0;
    for server in 0..200 {
        let truth = web.server_truth(&web.host(server)).unwrap();
        let answer = get(&web, &format!("{}/sitemap-news.xml", origin(&web, server)), day(200));
        assert_eq!(answer.status, if truth.news { 200 } else { 404 });
        entries += text(&answer).matches("<news:publication_date>").count();
    }
    assert!(entries > 20, "{entries}");
}

#[test]
fn requisites_are_there_and_last() {
    let web = web(500, 10);
    for server in 0..10 {
        let page = text(&get(&web, &web.page_url(server, 0, day(3)), day(3)));
        let style = between(&page, "rel=\"stylesheet\" href=\"", "\"");
        let image = between(&page, "<img src=\"", "\"");
        for (path, media_type) in [(style, "text/css"), (image, "image/png")] {
            let answer = get(&web, &format!("{}{path}", origin(&web, server)), day(3));
            assert_eq!((answer.status, field(&answer, "Content-Type")), (200, Some(media_type)));
            assert!(field(&answer, "Cache-Control").unwrap().contains("immutable"));
        }
    }
}
