//! Validators, redirects to https, aliases, codings and charsets.

use crate::asking::{ask, between, day, field, get, text, web};
use base::{Interval, Timestamp};
use sim::{DeliveryMode, Web};
use std::io::Read;

/// The first page of each server that exists.
fn homes(web: &Web) -> Vec<String> {
    (0..web.plan().servers).map(|server| web.page_url(server, 0, day(3))).collect()
}

#[test]
fn who_has_the_bytes_gets_304() {
    let web = web(2_000, 200);
    let (mut tags, mut dates, mut neither) = (0, 0, 0);
    for url in homes(&web) {
        let first = get(&web, &url, day(3));
        let (tag, date) = (field(&first, "ETag"), field(&first, "Last-Modified"));
        let by_tag = ask(&web, &url, day(3), |asked| asked.if_none_match = Some(tag.unwrap_or("\"x\"")));
        assert_eq!(by_tag.status, if tag.is_some() { 304 } else { 200 });
        assert_eq!(by_tag.body.is_empty(), by_tag.status == 304);
        let by_date = ask(&web, &url, day(3), |asked| {
            asked.if_modified_since = date.or(Some("Fri, 02 Jan 2026 00:00:00 GMT"));
        });
        assert_eq!(by_date.status, if date.is_some() { 304 } else { 200 });
        tags += usize::from(tag.is_some());
        dates += usize::from(date.is_some());
        neither += usize::from(tag.is_none());
    }
    assert!((8..40).contains(&neither), "{neither}");
    assert!((1..25).contains(&(tags - dates)), "{tags} {dates}");
}

#[test]
fn a_head_tells_what_the_answer_says_and_leaves_the_body_to_be_made() {
    let web = web(2_000, 100);
    for url in homes(&web) {
        let answer = get(&web, &url, day(3));
        let tag = field(&answer, "ETag");
        let page = base::PageUrl::parse(&url).unwrap();
        let mut asked = sim::WebRequest {
            scheme: page.scheme(),
            host: page.host(),
            target: page.target(),
            head_only: false,
            if_none_match: None,
            if_modified_since: None,
            accepts_gzip: false,
        };
        let head = web.head(&asked, day(3));
        assert!(head.needs_body());
        assert_eq!((head.status, head.field("ETag")), (200, tag));
        assert_eq!(web.complete(head), answer);
        asked.if_none_match = tag;
        let unchanged = web.head(&asked, day(3));
        assert_eq!((unchanged.status == 304, unchanged.needs_body()), (tag.is_some(), tag.is_none()));
    }
}

#[test]
fn the_tag_wins_over_the_date_and_every_change_makes_a_new_one() {
    let web = web(2_000, 50);
    let url = homes(&web)
        .into_iter()
        .find(|url| field(&get(&web, url, day(3)), "Last-Modified").is_some())
        .unwrap();
    let (tag, date) = ("\"no such tag\"", "Fri, 01 Jan 2027 00:00:00 GMT");
    let answer = ask(&web, &url, day(3), |asked| {
        asked.if_none_match = Some(tag);
        asked.if_modified_since = Some(date);
    });
    assert_eq!(answer.status, 200);
    let own = field(&answer, "ETag").unwrap().to_owned();
    let list = format!("\"a\", W/{own}, \"b\"");
    assert_eq!(ask(&web, &url, day(3), |asked| asked.if_none_match = Some(&list)).status, 304);
    let truth = web.truth_of(0, 0, day(0), day(900));
    let url = &truth.urls[0];
    let tags: Vec<_> =
        truth.byte_changes.iter().map(|at| field(&get(&web, url, *at), "ETag").map(str::to_owned)).collect();
    assert!(tags.len() > 1 && tags.windows(2).all(|pair| pair[0].is_none() || pair[0] != pair[1]));
}

#[test]
fn last_modified_is_the_last_change_of_the_bytes() {
    let web = web(2_000, 50);
    for (server, page) in
        (0..50).flat_map(|server| (0..web.server_pages(server)).step_by(11).map(move |p| (server, p)))
    {
        let now = day(77);
        let answer = get(&web, &web.page_url(server, page, now), now);
        if let Some(date) = field(&answer, "Last-Modified") {
            let truth = web.truth_of(server, page, day(0), now.plus(Interval::from_seconds(1)));
            assert_eq!(Timestamp::parse_http_date(date), truth.bytes_changed_at);
        }
    }
}

#[test]
fn secure_servers_send_http_to_https_and_the_others_answer_both_alike() {
    let web = web(500, 100);
    let mut secure = 0;
    for url in homes(&web) {
        let (http, https) = (url.replace("https:", "http:"), url.replace("http:", "https:"));
        let answer = get(&web, &http, day(3));
        if url == https {
            assert_eq!((answer.status, field(&answer, "Location")), (301, Some(https.as_str())));
            secure += 1;
        } else {
            assert_eq!(answer, get(&web, &https, day(3)));
        }
    }
    assert!((8..35).contains(&secure), "{secure}");
}

#[test]
fn an_alias_serves_the_same_bytes_from_the_same_address() {
    let web = web(2_000, 400);
    let mut aliases = 0;
    for number in 0..400 {
        let Some(alias) = web.alias(number) else { continue };
        let host = web.host(number);
        assert_eq!(web.address(&alias), web.address(&host));
        let url = web.page_url(number, 0, day(3));
        assert_eq!(get(&web, &url, day(3)), get(&web, &url.replace(&host, &alias), day(3)));
        assert_eq!(web.server_truth(&alias).unwrap().host, host);
        aliases += 1;
    }
    assert!((8..40).contains(&aliases), "{aliases}");
}

#[test]
fn codings_and_charsets_are_those_that_are_named() {
    let web = web(2_000, 400);
    let (mut gzip, mut chunked, mut legacy) = (0, 0, 0);
    for url in homes(&web) {
        let plain = get(&web, &url, day(3));
        assert_eq!(field(&plain, "Content-Encoding"), None);
        let page = text(&plain);
        assert!(!page.contains('\u{fffd}') && !page.contains("&#"), "{url}");
        between(&page, "<title>", "</title>");
        legacy += usize::from(String::from_utf8(plain.body.clone()).is_err());
        chunked += usize::from(matches!(plain.delivery, DeliveryMode::Chunked(_)));
        let packed = ask(&web, &url, day(3), |asked| asked.accepts_gzip = true);
        if field(&packed, "Content-Encoding") == Some("gzip") {
            let mut unpacked = Vec::new();
            flate2::read::GzDecoder::new(&packed.body[..]).read_to_end(&mut unpacked).unwrap();
            assert_eq!(unpacked, plain.body);
            assert_ne!(field(&packed, "ETag").unwrap_or("none"), field(&plain, "ETag").unwrap_or(""));
            gzip += 1;
        }
    }
    assert!((90..150).contains(&gzip), "{gzip} compress");
    assert!((40..85).contains(&chunked), "{chunked} send chunks");
    assert!((25..75).contains(&legacy), "{legacy} are not UTF-8");
}
