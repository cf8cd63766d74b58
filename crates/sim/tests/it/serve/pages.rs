//! Honest pages: the same bytes over every way in.

use super::client::{Client, request};
use super::{Rig, Settings, hostile};
use base::url::Scheme;
use base::{Clock, Interval, PageUrl};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use sim::WebRequest;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::TlsConnector;

fn asked(page: &PageUrl) -> WebRequest<'_> {
    WebRequest {
        scheme: page.scheme(),
        host: page.host(),
        target: page.target(),
        head_only: false,
        if_none_match: None,
        if_modified_since: None,
        accepts_gzip: false,
    }
}

impl Rig {
    /// What the web says of a page, as bytes on a wire.
    fn expected(&self, page: &PageUrl) -> Vec<u8> {
        let now = self.clock.now();
        let answer = self.web.answer(&asked(page), now);
        [answer.head(now), answer.wire_body().into_owned()].concat()
    }
    async fn secured(&self, client: Client, host: &str) -> std::io::Result<Client> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.serving.authority_pem.as_bytes()).unwrap()).unwrap();
        secured_by(client, host, roots).await
    }
}

async fn secured_by(client: Client, host: &str, roots: rustls::RootCertStore) -> std::io::Result<Client> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = builder.unwrap().with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).unwrap();
    Ok(Client::over(TlsConnector::from(Arc::new(config)).connect(name, client.into_stream()).await?))
}

#[tokio::test]
async fn bytes_over_http_are_the_bytes_of_the_web() {
    let rig = Rig::plain().await;
    for days in [0, 100] {
        rig.clock.advance(Interval::from_days(days));
        for number in 0..60 {
            let url = rig.web.page_url(number, rig.web.server_pages(number) - 1, rig.clock.now());
            let page = PageUrl::parse(&url).unwrap().with_scheme(Scheme::Http);
            let expected = rig.expected(&page);
            let mut client = rig.client_for(page.as_str()).await;
            for target in [page.as_str(), &page.join("/robots.txt").unwrap().to_string()] {
                let found = client.get(target).await.bytes();
                assert_eq!(found, rig.expected(&PageUrl::parse(target).unwrap()), "{target}");
            }
            assert!(expected.len() > 100);
        }
    }
    rig.serving.stop().await;
}

#[tokio::test]
async fn a_connection_serves_many_requests_also_when_they_come_at_once() {
    let rig = Rig::plain().await;
    let home = rig.home("http");
    let mut client = rig.client_for(&home).await;
    let robots = PageUrl::parse(&home).unwrap().join("/robots.txt").unwrap().to_string();
    client
        .send(format!(
            "{}{}{}",
            request("GET", &home, ""),
            request("HEAD", &home, ""),
            request("GET", &robots, "")
        ))
        .await;
    let (first, second, third) =
        (client.message(false).await, client.message(true).await, client.message(false).await);
    assert_eq!(first.head, second.head, "HEAD has the head of GET");
    assert_eq!(third.bytes(), rig.expected(&PageUrl::parse(&robots).unwrap()));
    assert_eq!(client.get(&home).await.bytes(), first.bytes());
    let log = rig.serving.log().since(0, 10);
    assert_eq!(log.len(), 4);
    assert!(log.iter().all(|entry| entry.connection == log[0].connection && &*entry.agent == "tester"));
    let client_end = rig.serving.socket_for(&PageUrl::parse(&home).unwrap().origin()).unwrap();
    assert_eq!(log[0].local.to_string(), client_end.ip().to_string(), "each server has its own address");
    rig.serving.stop().await;
}

#[tokio::test]
async fn conditional_requests_are_answered_without_a_body() {
    let rig = Rig::plain().await;
    let tagged = (0..60).find_map(|number| {
        let url = rig.web.page_url(number, 0, rig.clock.now());
        let page = PageUrl::parse(&url).unwrap();
        let answer = rig.web.answer(&asked(&page), rig.clock.now());
        let tag = answer.fields.into_iter().find(|(name, _)| *name == "ETag")?.1;
        (page.scheme() == Scheme::Http).then_some((url, tag))
    });
    let (url, tag) = tagged.unwrap();
    let mut client = rig.client_for(&url).await;
    let answer = client.ask(&request("GET", &url, &format!("If-None-Match: {tag}\r\n"))).await;
    assert_eq!((answer.status(), answer.body.len()), (304, 0));
    assert_eq!(client.get(&url).await.status(), 200, "the connection is in step");
    rig.serving.stop().await;
}

#[tokio::test]
async fn the_host_may_name_the_port_and_a_client_may_ask_to_close() {
    let rig = Rig::plain().await;
    let page = PageUrl::parse(&rig.home("http")).unwrap();
    let mut client = Client::connect(rig.own()).await;
    let host = format!("{}:{}", page.host().to_uppercase(), rig.serving.http);
    let answer = client.ask(&format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")).await;
    assert_eq!(answer.bytes(), rig.expected(&page));
    assert!(client.until_close(1).await.is_empty());
    rig.serving.stop().await;
}

#[tokio::test]
async fn an_old_client_gets_no_chunks() {
    let rig = Rig::plain().await;
    let chunked = (0..60).find_map(|number| {
        let page = PageUrl::parse(&rig.web.page_url(number, 0, rig.clock.now())).unwrap();
        let delivery = rig.web.answer(&asked(&page), rig.clock.now()).delivery;
        (page.scheme() == Scheme::Http && matches!(delivery, sim::DeliveryMode::Chunked(_))).then_some(page)
    });
    let page = chunked.unwrap();
    let mut client = rig.client_for(page.as_str()).await;
    let new = client.get(page.as_str()).await;
    assert_eq!(new.field("transfer-encoding"), Some("chunked"));
    let old = client.ask(&format!("GET / HTTP/1.0\r\nHost: {}\r\n\r\n", page.host())).await;
    assert_eq!((old.field("transfer-encoding"), old.status()), (None, 200));
    assert_eq!(old.body, *base::http::payload(&new.body, base::http::Framing::Chunked));
    assert!(client.until_close(1).await.is_empty());
    rig.serving.stop().await;
}

#[tokio::test]
async fn it_is_a_proxy_for_its_own_names() {
    let rig = Rig::plain().await;
    let url = rig.home("http");
    let page = PageUrl::parse(&url).unwrap();
    let mut client = Client::connect(rig.own()).await;
    let proxied = |url: &str| format!("GET {url} HTTP/1.1\r\nHost: whatever\r\n\r\n");
    assert_eq!(client.ask(&proxied(&url)).await.bytes(), rig.expected(&page));
    for unknown in ["http://www.example.org/", "http://169.254.169.254/"] {
        let answer = client.ask(&proxied(unknown)).await;
        assert_eq!(answer.status(), 502);
        assert!(answer.text().contains("simulated web"));
    }
    assert_eq!(client.ask("CONNECT www.example.org:443 HTTP/1.1\r\n\r\n").await.status(), 502);
    assert_eq!(client.ask("CONNECT 192.0.2.7:80 HTTP/1.1\r\n\r\n").await.status(), 502);
    let mut tunnel = Client::connect(rig.own()).await;
    tunnel.send("CONNECT 127.9.9.9:80 HTTP/1.1\r\n\r\n".to_owned()).await;
    assert_eq!(
        tunnel.message(true).await.status(),
        200,
        "a way to an address, for who looks names up itself"
    );
    assert_eq!(tunnel.get(page.as_str()).await.bytes(), rig.expected(&page));
    let mut direct = Client::connect(rig.own()).await;
    assert_eq!(direct.get("http://www.example.org/").await.status(), 421);
    rig.serving.stop().await;
}

#[tokio::test]
async fn https_works_directly_and_through_the_proxy() {
    let rig = Rig::plain().await;
    let page = PageUrl::parse(&rig.home("https")).unwrap();
    let plain = page.with_scheme(Scheme::Http);
    let moved = rig.client_for(plain.as_str()).await.get(plain.as_str()).await;
    assert_eq!((moved.status(), moved.field("location")), (301, Some(page.as_str())));

    let direct = rig.client_for(page.as_str()).await;
    let mut direct = rig.secured(direct, page.host()).await.unwrap();
    assert_eq!(direct.get(page.as_str()).await.bytes(), rig.expected(&page));

    let mut tunnel = Client::connect(rig.own()).await;
    tunnel.send(format!("CONNECT {}:443 HTTP/1.1\r\n\r\n", page.host())).await;
    assert_eq!(tunnel.message(true).await.status(), 200);
    let mut tunnel = rig.secured(tunnel, page.host()).await.unwrap();
    assert_eq!(tunnel.get(page.as_str()).await.bytes(), rig.expected(&page));
    assert_eq!(tunnel.ask(&format!("CONNECT {}:443 HTTP/1.1\r\n\r\n", page.host())).await.status(), 502);
    rig.serving.stop().await;
}

#[tokio::test]
async fn nobody_trusts_its_certificates_who_is_not_told_to() {
    let rig = Rig::plain().await;
    let page = PageUrl::parse(&rig.home("https")).unwrap();
    let client = rig.client_for(page.as_str()).await;
    assert!(secured_by(client, page.host(), rustls::RootCertStore::empty()).await.is_err());
    let client = rig.client_for(page.as_str()).await;
    let mut secure = rig.secured(client, page.host()).await.unwrap();
    let other = hostile("crowd");
    assert_eq!(secure.get(&other).await.status(), 200, "the name in the request counts");
    rig.serving.stop().await;
}

#[tokio::test]
async fn bad_requests_are_refused_and_end_the_connection() {
    let rig = Rig::plain().await;
    let long = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(70_000));
    for (request, status) in [
        ("nonsense\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", 400),
        ("DELETE / HTTP/1.1\r\nHost: a\r\n\r\n", 405),
        (long.as_str(), 431),
    ] {
        let mut client = Client::connect(rig.own()).await;
        assert_eq!(client.ask(request).await.status(), status);
        assert!(client.until_close(1).await.is_empty(), "closed after {status}");
    }
    rig.serving.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_connections_at_once() {
    let rig = Arc::new(Rig::plain().await);
    let mut clients = tokio::task::JoinSet::new();
    for n in 0..200_u32 {
        let rig = rig.clone();
        clients.spawn(async move {
            let url = rig.web.page_url(n % 60, 0, rig.clock.now());
            let page = PageUrl::parse(&url).unwrap().with_scheme(Scheme::Http);
            let mut client = rig.client_for(page.as_str()).await;
            for _ in 0..5 {
                assert_eq!(client.get(page.as_str()).await.bytes(), rig.expected(&page));
            }
        });
    }
    while let Some(done) = clients.join_next().await {
        done.unwrap();
    }
    let stats = rig.serving.stats();
    assert_eq!((stats.connections, stats.requests, stats.connections_refused), (200, 1_000, 0));
    Arc::into_inner(rig).unwrap().serving.stop().await;
}

#[tokio::test]
async fn more_connections_than_allowed_wait_their_turn() {
    let rig = Rig::new(Settings { connections_max: 2, https_port: None, ..Settings::default() }).await;
    let url = rig.home("http");
    let mut standing = Vec::new();
    for _ in 0..3 {
        let mut client = rig.client_for(&url).await;
        client.send(request("GET", &url, "")).await;
        standing.push(client);
    }
    assert!(standing[0].hears_within(Duration::from_secs(30)).await);
    assert!(standing[1].hears_within(Duration::from_secs(30)).await);
    assert!(!standing[2].hears_within(Duration::from_millis(100)).await);
    standing.remove(0);
    assert!(standing[1].hears_within(Duration::from_secs(30)).await);
    rig.serving.stop().await;
}

/// The address that packets to the outside would come from; none on a machine without a network. Nothing is sent.
fn outer_address() -> Option<std::net::IpAddr> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|address| !address.is_loopback())
}

#[tokio::test]
async fn no_other_address_of_this_machine_answers() {
    let rig = Rig::plain().await;
    if let Some(address) = outer_address()
        && let Ok(stream) = tokio::net::TcpStream::connect((address, rig.serving.http)).await
    {
        // Whether the write still succeeds is a matter of timing; that nothing comes back is not.
        let mut client = Client::over(stream);
        let _ = client.try_send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        assert!(client.until_close(1).await.is_empty());
        assert_eq!(rig.serving.stats().connections_refused, 1);
    }
    assert_eq!(rig.serving.stats().connections, 0);
    rig.serving.stop().await;
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let rig = Rig::new(Settings { patience: Duration::from_millis(50), ..Settings::default() }).await;
    let url = rig.home("http");
    let mut client = rig.client_for(&url).await;
    assert_eq!(client.get(&url).await.status(), 200);
    assert!(client.until_close(1).await.is_empty());
    rig.serving.stop().await;
}

#[tokio::test]
async fn after_stopping_no_task_is_left() {
    let rig = Rig::plain().await;
    let silent = format!("{}hang/1", hostile("hang"));
    let mut client = rig.client_for(&silent).await;
    client.send(request("GET", &silent, "")).await;
    let mut idle = rig.client_for(&silent).await;
    assert_eq!(idle.get(&hostile("hang")).await.status(), 200);
    while rig.serving.stats().requests_open == 0 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let metrics = tokio::runtime::Handle::current().metrics();
    assert!(metrics.num_alive_tasks() >= 4);
    let own = rig.own();
    rig.serving.stop().await;
    assert_eq!(metrics.num_alive_tasks(), 0);
    assert!(client.until_close(1).await.is_empty());
    assert!(tokio::net::TcpStream::connect(own).await.is_err(), "the listener is closed");
}

#[tokio::test]
async fn origins_that_are_not_simulated_have_no_socket() {
    let rig = Rig::plain().await;
    let find = |url: &str| rig.serving.socket_for(&PageUrl::parse(url).unwrap().origin());
    let host = rig.web.host(0);
    let address = rig.web.address(&host).unwrap();
    assert_eq!(find(&format!("http://{host}/")), Some((address, rig.serving.http).into()));
    assert_eq!(find(&format!("https://{host}/")), Some((address, rig.serving.https.unwrap()).into()));
    assert_eq!(
        find(&format!("http://{host}:{}/", rig.serving.http)),
        Some((address, rig.serving.http).into())
    );
    for other in
        [&format!("http://{host}:81/"), "http://www.example.org/", "http://127.0.0.1/", "http://localhost/"]
    {
        assert_eq!(find(other), None, "{other}");
    }
    rig.serving.stop().await;
}
