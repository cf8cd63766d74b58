//! Requisites of a page are fetched, wherever they are, and lead to no pages elsewhere: over real HTTP.

use crate::rig;
use crate::server::{Act, Net, Script};
use archive::{Archive, Reader, Settings};
use base::clock::RealClock;
use base::disk::RealDisk;
use base::{Clock, Interval, PageUrl};
use crawl::{Added, CrawlReport, Event, Parts, ReadOptions};
use frontier::{CrawlScope, Mode, RevisitPolicy};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// A page with every form of requisite.
const HOME: &str = r#"<!doctype html><title>Home</title>
<link rel=stylesheet href=/main.css><link rel=icon href=/icon.png>
<link rel=preload as=font href=/preloaded.woff2><link rel=modulepreload href=/module.js>
<link rel=preload as=image imagesrcset="/wide.png 2x">
<style>@import "/imported.css"; h1 { background: url(/heading.png) }</style>
<body background=/body.gif>
<img src=/image.png srcset="/small.png 1x, /large.png 2x" data-src=/lazy.png data-srcset="/lazy2.png 2x">
<picture><source srcset=/picture.webp></picture>
<p style="background-image: url('/inline.png')">
<svg><image href=/drawn.png /><use xlink:href="/sprite.svg#a"/></svg>
<video src=/film.mp4 poster=/poster.png><track src=/captions.vtt></video>
<object data=http://b.example/object.html></object><embed src=/embedded.swf>
<input type=image src=/button.png><script src=http://b.example/script.js></script>
<link rel=stylesheet href=http://b.example/far.css><img src=http://b.example/moved.png>
<img src=http://b.example/private/secret.png>
<a href=/second.html>second</a><a href=http://c.example/page.html>elsewhere</a>"#;

/// What the hosts answer: media type and body.
fn body(host: &str, target: &str) -> Option<(&'static str, String)> {
    let css = |text: &str| Some(("text/css", text.to_owned()));
    match (host, target) {
        ("a.example", "/") => Some(("text/html", HOME.to_owned())),
        ("a.example", "/second.html") => Some(("text/html", "<img src=/second.png>".to_owned())),
        ("a.example", "/main.css") => css("body { background: url(main.png) } /* url(comment.png) */"),
        ("a.example", "/imported.css") => css("@font-face { src: url('font.woff') }"),
        ("a.example", "/sprite.svg") => {
            Some(("image/svg+xml", "<svg><image href='inside.png'/><a href='/never.html'/></svg>".to_owned()))
        }
        ("b.example", "/robots.txt") => {
            Some(("text/plain", "User-agent: *\nDisallow: /private/\n".to_owned()))
        }
        ("b.example", "/far.css") => css("@import 'chain/1.css'; @font-face { src: url(far.woff2) }"),
        ("b.example", "/object.html") => {
            Some(("text/html", "<a href=/other.html>no</a><img src=/shown.png>".to_owned()))
        }
        ("b.example", target) if target.starts_with("/chain/") => {
            let number: u32 = target.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
            css(&format!("@import '{}.css';", number + 1))
        }
        (_, "/robots.txt") => None,
        _ => Some(("application/octet-stream", format!("{host}{target}"))),
    }
}

async fn web() -> Net {
    let script: Script = Arc::new(|host, target, _| {
        if (host, target) == ("b.example", "/moved.png") {
            let head = "HTTP/1.1 301 X\r\nLocation: http://c.example/moved.png\r\nContent-Length: 0\r\n";
            return Act::Send(format!("{head}Connection: close\r\n\r\n").into_bytes());
        }
        let (status, (kind, body)) = match body(host, target) {
            Some(body) => (200, body),
            None => (404, ("text/plain", String::new())),
        };
        let head =
            format!("HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
        Act::Send(format!("{head}Connection: close\r\n\r\n{body}").into_bytes())
    });
    Net::start(script).await
}

/// The result of a crawl: its report, and what was archived with a body.
struct Crawled {
    report: CrawlReport,
    archived: BTreeSet<String>,
    asked: BTreeSet<String>,
}

/// Crawls `http://a.example/` until nothing new is left, or `pages_max` pages are archived. A second takes 1.7 ms.
async fn crawl(place: &Path, requisites: bool, pages_max: Option<u64>) -> Crawled {
    let net = web().await;
    let (clock, path) = (RealClock::accelerated(600), place.join("archive"));
    let (archive, _) = Archive::open(Arc::new(RealDisk), &path, Settings::default(), clock.now()).unwrap();
    let rules = vec!["never visit ending .mp4".parse().unwrap()];
    let scope = CrawlScope::new(Mode::Server, rules);
    let settings = frontier::Settings { scope, requisites, ..rig::settings(Interval::from_seconds(10)) };
    let (_, orders) = tokio::sync::mpsc::channel(1);
    let parts = Parts {
        door: Arc::new(net.door()),
        archive,
        reader: Reader::open(Arc::new(RealDisk), &path).unwrap(),
        derived: None,
        frontier: rig::frontier(settings, RevisitPolicy::default(), clock.now()),
        clock,
        orders,
    };
    let settings = crawl::Settings {
        reads: ReadOptions { requisites, ..rig::reads() },
        seeds: vec![Added::page(PageUrl::parse("http://a.example/").unwrap())],
        connections_max: 4,
        captures_max: 64,
        bytes_max: 1 << 20,
        pages_max,
        once: true,
    };
    let mut archived = BTreeSet::new();
    let note = |event: Event<'_>, _: &CrawlReport| {
        let Event::Kept(kept) = event else { return };
        let fetched = kept.iter().filter(|kept| kept.outcome.as_str() == "fetched" && !kept.robots);
        archived.extend(fetched.map(|kept| kept.url.as_str().trim_start_matches("http://").to_owned()));
    };
    let report = crawl::crawl(parts, settings, std::future::pending(), note).await.unwrap();
    let asked = net.asked().into_iter().filter(|line| !line.ends_with("/robots.txt")).collect();
    Crawled { report, archived, asked }
}

fn all(targets: &str) -> BTreeSet<String> {
    targets.split_whitespace().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_comes_with_its_requisites() {
    let place = tempfile::tempdir().unwrap();
    let crawled = crawl(place.path(), true, None).await;
    let pages = "a.example/ a.example/second.html";
    let near = "main.css main.png icon.png preloaded.woff2 module.js wide.png imported.css font.woff heading.png \
        body.gif image.png small.png large.png lazy.png lazy2.png picture.webp inline.png drawn.png sprite.svg \
        inside.png poster.png captions.vtt embedded.swf button.png second.png";
    let near = near.split_whitespace().map(|name| format!("a.example/{name} ")).collect::<String>();
    // The page needs `far.css`, which needs `1.css`, and so on: six steps.
    let far = "b.example/object.html b.example/shown.png b.example/script.js b.example/far.css b.example/far.woff2 \
        c.example/moved.png b.example/chain/1.css b.example/chain/2.css b.example/chain/3.css \
        b.example/chain/4.css b.example/chain/5.css b.example/chain/6.css";
    assert_eq!(crawled.archived, all(&format!("{pages} {near} {far}")));
    let moved = all("b.example/moved.png");
    assert_eq!(crawled.asked, &crawled.archived | &moved, "nothing else was asked for");
    let requisites = crawled.archived.len() as u64 - 2;
    let report = crawled.report;
    assert_eq!((report.pages, report.new), (2, 2), "{report:?}");
    // The redirect is an answer, too; what the robots file forbids is missing.
    assert_eq!((report.requisites, report.requisites_missing), (requisites + 1, 1), "{report:?}");
    assert_eq!(report.requests, report.pages + report.requisites + report.robots, "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_requisites_pages_come_alone() {
    let place = tempfile::tempdir().unwrap();
    let crawled = crawl(place.path(), false, None).await;
    assert_eq!(crawled.asked, all("a.example/ a.example/second.html"));
    assert_eq!((crawled.report.pages, crawled.report.requisites), (2, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_limit_does_not_count_requisites() {
    let place = tempfile::tempdir().unwrap();
    let crawled = crawl(place.path(), true, Some(2)).await;
    assert_eq!(crawled.report.pages, 2);
    assert!(crawled.archived.contains("a.example/second.html"), "requisites came first and did not count");
}
