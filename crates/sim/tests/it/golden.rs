//! A few pages, word for word: the web must not drift unnoticed, because benchmarks compare runs years apart.

use crate::asking::{day, get, web};
use base::ContentDigest;
use expect_test::{Expect, expect};
use std::fmt::Write;

#[track_caller]
fn check(server: u32, page: u64, days: u64, expected: &Expect) {
    let web = web(5_000, 150);
    let url = web.page_url(server, page, day(days));
    let answer = get(&web, &url, day(days));
    let mut text =
        format!("{url}\n{}", String::from_utf8(answer.head(day(days))).unwrap().replace("\r\n", "\n"));
    writeln!(text, "{} bytes, {}", answer.body.len(), ContentDigest::of(&answer.body)).unwrap();
    expected.assert_eq(&text);
}

#[test]
fn the_web_is_the_one_it_always_was() {
    check(
        0,
        0,
        0,
        &expect![[r#"
        http://www.umi-0.example/
        HTTP/1.1 200 OK
        Date: Thu, 01 Jan 2026 00:00:00 GMT
        Server: Apache
        Content-Type: text/html; charset=EUC-JP
        ETag: "0b1448596fbf79fd"
        Last-Modified: Wed, 31 Dec 2025 19:34:49 GMT
        Cache-Control: max-age=600
        Vary: Accept-Encoding
        Content-Length: 7153

        7153 bytes, blake3:cd4ed9cec5a591d494817f00c31bcc1f4d0e9297e0b13ba2cf89141037d0f3b5
    "#]],
    );
    check(
        0,
        200,
        500,
        &expect![[r#"
        http://www.umi-0.example/research/report-200.html
        HTTP/1.1 200 OK
        Date: Sun, 16 May 2027 00:00:00 GMT
        Server: Apache
        Content-Type: text/html; charset=EUC-JP
        ETag: "0bc818407a1300b7"
        Last-Modified: Sun, 03 Jan 2027 06:30:58 GMT
        Cache-Control: max-age=600
        Vary: Accept-Encoding
        Content-Length: 6239

        6239 bytes, blake3:3c2136ed93d00b56bf628ef74686d3e131d5bd7bcd4495544a0a6a5620ffdaa5
    "#]],
    );
    check(
        5,
        3,
        90,
        &expect![[r#"
        http://blog.take-4.example/news/
        HTTP/1.1 200 OK
        Date: Wed, 01 Apr 2026 00:00:00 GMT
        Server: Kumiki
        Content-Type: text/html; charset=utf-8
        ETag: "2b7314077755b020"
        Last-Modified: Tue, 31 Mar 2026 23:33:47 GMT
        Content-Length: 9999

        9999 bytes, blake3:a66c51cb50ea94cec96dd429b4967e3cccabfded66b4d82a858885473bc4df61
    "#]],
    );
    check(
        77,
        12,
        30,
        &expect![[r#"
        http://blog.ishi-76.example/research/
        HTTP/1.1 404 Not Found
        Date: Sat, 31 Jan 2026 00:00:00 GMT
        Server: Kumiki
        Content-Type: text/html; charset=utf-8
        Content-Length: 223

        223 bytes, blake3:b2775e289a5f0c6af8c562886532c80b251531380343c102d8d4bb03a61fcb25
    "#]],
    );
    check(
        149,
        0,
        1_000,
        &expect![[r#"
        http://blog.take-148.example/
        HTTP/1.1 200 OK
        Date: Wed, 27 Sep 2028 00:00:00 GMT
        Server: nginx/1.26.2
        Content-Type: text/html; charset=utf-8
        Cache-Control: max-age=600
        Content-Length: 6679

        6679 bytes, blake3:342654ef66e7459085236ed224f1c4ae54c0d5ec38d8c29580cb37d96aeba646
    "#]],
    );
}
