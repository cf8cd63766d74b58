//! What the simulated web costs: pages whole, pages that did not change, heads alone, other files, the observer.
//!
//! Microseconds of processor time, so that what else the machine does matters little.
//!
//! `cargo run --release -p sim --example speed`
#![expect(clippy::print_stdout, reason = "what it measures is its result")]

use base::url::Scheme;
use base::{Interval, Timestamp};
use sim::observe::{ArrivedRequest, Observer, PolitenessRules, RequestEnd};
use sim::{ORIGIN, Plan, Web, WebRequest, WebResponse};
use std::sync::Arc;

/// Number of pages requested.
const PAGES: u64 = 20_000;
/// Number of requests observed.
const REQUESTS: usize = 12_000_000;

fn main() {
    let plan = Plan { pages: 1_000_000, servers: 10_000, ..Plan::default() };
    let web = Web::new(plan);
    let now = ORIGIN.plus(Interval::from_days(100));
    let urls: Vec<String> = (0..PAGES).map(|nth| nth_url(&web, nth, now)).collect();

    let whole = |url: &String, tag: Option<&str>| web.answer(&asked(url, tag), now);
    let (answers, micros) = timed(&urls, |url| whole(url, None));
    let bytes: usize = answers.iter().map(|answer| answer.body.len()).sum();
    println!("whole          {micros:>8.2} µs  {} bytes a page", bytes / answers.len());

    let known: Vec<(&String, &str)> =
        urls.iter().zip(&answers).filter_map(|(url, answer)| Some((url, tag(answer)?))).collect();
    let (answers, micros) = timed(&known, |(url, tag)| whole(url, Some(tag)));
    let unchanged = answers.iter().filter(|answer| answer.status == 304).count();
    println!("not modified   {micros:>8.2} µs  {unchanged} of {}", answers.len());

    let began = cpu_micros();
    let to_make = urls.iter().filter(|url| web.head(&asked(url, None), now).needs_body()).count();
    println!("head alone     {:>8.2} µs  {to_make} of {}", micros_each(began, urls.len()), urls.len());

    let servers: Vec<u32> = (0..2_000).map(|nth| nth * 5).collect();
    for path in ["/robots.txt", "/feed.xml", "/sitemap.xml"] {
        let of = |number: &u32| format!("{}{path}", web.page_url(*number, 0, now).trim_end_matches('/'));
        let urls: Vec<String> = servers.iter().map(of).collect();
        let (_, micros) = timed(&urls, |url| whole(url, None));
        println!("{path:<14} {micros:>8.2} µs");
    }
    observe(web.clone(), &urls);
}

/// Pages of all servers, the large ones as often as they have pages.
fn nth_url(web: &Web, nth: u64, now: Timestamp) -> String {
    let number = u32::try_from(nth % 10 * 1_000 / (1 + nth % 7) + nth % 13).expect("small");
    web.page_url(number, nth * 7 % web.server_pages(number), now)
}

fn asked<'a>(url: &'a str, tag: Option<&'a str>) -> WebRequest<'a> {
    let (scheme, rest) = url.split_once("://").expect("a URL");
    let (host, _) = rest.split_once('/').expect("a path");
    let scheme = if scheme == "http" { Scheme::Http } else { Scheme::Https };
    let target = &rest[host.len()..];
    WebRequest {
        scheme,
        host,
        target,
        head_only: false,
        if_none_match: tag,
        if_modified_since: None,
        accepts_gzip: false,
    }
}

fn tag(answer: &WebResponse) -> Option<&str> {
    answer.fields.iter().find(|(name, _)| *name == "ETag").map(|(_, value)| value.as_str())
}

/// The responses to all requests, and the mean microseconds of one.
fn timed<Q>(questions: &[Q], answer: impl Fn(&Q) -> WebResponse) -> (Vec<WebResponse>, f64) {
    let began = cpu_micros();
    let answers: Vec<WebResponse> = questions.iter().map(answer).collect();
    (answers, micros_each(began, questions.len()))
}

fn micros_each(began: f64, count: usize) -> f64 {
    (cpu_micros() - began) / count as f64
}

/// An observer that sees twelve million requests to ten thousand servers, which is a year of a small crawl.
fn observe(web: Web, urls: &[String]) {
    let web = Arc::new(web);
    let rules = PolitenessRules { double_window: Interval::from_minutes(30), ..PolitenessRules::default() };
    let mut observer = Observer::new(web.clone(), rules);
    let asked: Vec<WebRequest<'_>> = urls.iter().map(|url| asked(url, None)).collect();
    let addresses: Vec<_> = asked.iter().map(|asked| web.address(asked.host).expect("it exists")).collect();
    let began = cpu_micros();
    for nth in 0..REQUESTS {
        let (WebRequest { scheme, host, target, .. }, address) =
            (asked[nth % asked.len()], addresses[nth % asked.len()]);
        let at = ORIGIN.plus(Interval::from_millis(nth as u64 * 2_600));
        let coming = ArrivedRequest { scheme, host, target, address, at };
        observer.request_arrived(&coming);
        let at = at.plus(Interval::from_millis(100));
        observer.request_ended(&coming, &RequestEnd { status: 200, retry_after: None, retry_at: None, at });
    }
    let micros = micros_each(began, REQUESTS);
    let report = observer.report();
    println!(
        "observed       {micros:>8.2} µs  {} requests, {} servers",
        report.at_servers.requests, report.servers
    );
}

/// The processor time of this process so far.
fn cpu_micros() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("Linux has this file");
    text.split(' ').next().and_then(|nanos| nanos.parse::<f64>().ok()).expect("a number") / 1e3
}
