use super::*;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Reads the text form as Prometheus does; the value of every sample by its name and labels.
#[track_caller]
fn parse(text: &str) -> BTreeMap<String, f64> {
    assert!(text.ends_with('\n'));
    let (mut samples, mut kinds, mut helped) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, help) = help.split_once(' ').unwrap();
            assert!(!help.is_empty() && !helped.contains(&name), "{line}");
            helped.push(name);
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert_eq!(helped.last(), Some(&name), "help and type stand together");
            assert!(kinds.insert(name, kind).is_none());
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
        } else {
            let (name, value) = line.rsplit_once(' ').unwrap();
            let family = name.split('{').next().unwrap();
            assert_eq!(helped.last(), Some(&family), "samples of a family stand together");
            assert!(family.starts_with("utsushi_"));
            assert!(family.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{family}");
            assert!(samples.insert(name.to_owned(), value.parse().unwrap()).is_none(), "{line}");
        }
    }
    assert_eq!(helped.len(), kinds.len());
    samples
}

#[test]
fn the_text_is_what_prometheus_reads() {
    let report =
        CrawlReport { new: 3, changed: 1, requests: 9, bytes_received: 1_000, ..CrawlReport::default() };
    let whole = ScheduleView { pages: 70, new: 60, load: 0.25, paused: true, ..ScheduleView::default() };
    let samples = parse(&exposition(&report, Some(&whole), 1.5));
    assert_eq!(samples["utsushi_visits_total{outcome=\"new\"}"], 3.0);
    assert_eq!(samples["utsushi_visits_total{outcome=\"gone\"}"], 0.0);
    assert_eq!(samples["utsushi_requests_total"], 9.0);
    assert_eq!(samples["utsushi_load_requests_per_second"], 0.25);
    assert_eq!((samples["utsushi_pages"], samples["utsushi_paused"]), (70.0, 1.0));
    let without = parse(&exposition(&report, None, 0.0));
    assert!(!without.contains_key("utsushi_pages") && without.contains_key("utsushi_up_seconds"));
}

#[test]
fn the_reference_names_every_metric() {
    let reference = include_str!("../../../../docs/reference/metrics.md");
    for name in parse(&exposition(&CrawlReport::default(), Some(&ScheduleView::default()), 0.0)).keys() {
        let family = name.split('{').next().unwrap();
        assert!(reference.contains(&format!("`{family}`")), "{family} is missing");
    }
}

async fn say(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The other side may have heard enough before the end.
    let _ = stream.write_all(request.as_bytes()).await;
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await;
    answer
}

#[tokio::test]
async fn a_scraper_is_answered_and_nobody_else() {
    let tell = || async { exposition(&CrawlReport::default(), None, 1.0) };
    let serving = MetricsServer::start("127.0.0.1:0".parse().unwrap(), tell).await.unwrap();
    let at = serving.address;
    let answer = say(at, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("version=0.0.4"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
    assert!(!parse(body).is_empty());
    let head = say(at, "HEAD /metrics HTTP/1.0\n\n").await;
    assert!(head.starts_with("HTTP/1.1 200 OK") && head.ends_with("\r\n\r\n"), "{head}");
    for (request, status) in [
        ("GET / HTTP/1.1\r\n\r\n", "404"),
        ("POST /metrics HTTP/1.1\r\n\r\n", "405"),
        ("GET /metrics\r\n\r\n", "400"),
        ("\u{0}\r\n\r\n", "400"),
    ] {
        assert!(say(at, request).await.starts_with(&format!("HTTP/1.1 {status} ")), "{request}");
    }
    let long = say(at, &format!("GET /metrics HTTP/1.1\r\nX: {}", "y".repeat(20_000))).await;
    assert!(long.is_empty() || long.starts_with("HTTP/1.1 431 "), "{long}");
}

async fn serving() -> MetricsServer {
    let tell = || async { exposition(&CrawlReport::default(), None, 1.0) };
    MetricsServer::start("127.0.0.1:0".parse().unwrap(), tell).await.unwrap()
}

#[tokio::test]
async fn a_scraper_is_answered_at_once_while_slow_clients_hold_connections() {
    let serving = serving().await;
    let mut slow = Vec::new();
    for client in 0..200 {
        let mut stream = TcpStream::connect(serving.address).await.unwrap();
        // Half of them have begun a request.
        if client % 2 == 0 {
            stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: ").await.unwrap();
        }
        slow.push(stream);
    }
    let scrape = say(serving.address, "GET /metrics HTTP/1.1\r\n\r\n");
    let answer = tokio::time::timeout(std::time::Duration::from_secs(1), scrape).await;
    assert!(answer.expect("it is answered within a second").starts_with("HTTP/1.1 200 OK"));
    // The oldest were closed to make room; nobody waited until its time was over.
    let mut byte = [0];
    for stream in &mut slow[..200 - respond::CLIENTS_MAX] {
        assert!(matches!(stream.read(&mut byte).await, Ok(0) | Err(_)));
    }
}

#[tokio::test]
async fn slow_clients_of_one_address_do_not_push_out_another() {
    let serving = serving().await;
    let here: SocketAddr = "127.0.0.2:0".parse().unwrap();
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(here).unwrap();
    let mut early = socket.connect(serving.address).await.unwrap();
    early.write_all(b"GET /metrics HTTP/1.1\r\n").await.unwrap();
    let mut slow = Vec::new();
    for _ in 0..3 * respond::CLIENTS_MAX {
        slow.push(TcpStream::connect(serving.address).await.unwrap());
    }
    early.write_all(b"\r\n").await.unwrap();
    let mut answer = String::new();
    early.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
}

#[tokio::test]
async fn a_request_that_does_not_end_is_given_up() {
    let serving = serving().await;
    let mut stream = TcpStream::connect(serving.address).await.unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\n").await.unwrap();
    let mut bytes = Vec::new();
    assert!(matches!(stream.read_to_end(&mut bytes).await, Ok(0) | Err(_)), "{bytes:?}");
}
