//! A forward proxy: both schemes go by CONNECT to the address that was judged, and its word counts.

use crate::server::Server;
use base::Interval;
use base::PageUrl;
use base::door::{Cause, Door, Phase, Request};
use fetch::{AddressPolicy, AddressRange, ExchangeLimits, Settings, WebDoor};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// What a proxy says to CONNECT; a tunnel if that is a 2xx.
type Say = fn(usize) -> &'static [u8];

struct Relay {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

/// A proxy that opens tunnels to the requested address, or answers something else.
async fn relay(say: Say) -> Relay {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&heads);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") && client.read_buf(&mut head).await.unwrap_or(0) > 0 {}
            let head = String::from_utf8(head).unwrap();
            let to = head.split(' ').nth(1).unwrap().to_owned();
            let number = {
                let mut heads = noted.lock().unwrap();
                heads.push(head);
                heads.len()
            };
            let answer = say(number);
            tokio::spawn(async move {
                let _ = client.write_all(answer).await;
                if answer.starts_with(b"HTTP/1.1 200") && answer.ends_with(b"\r\n\r\n") {
                    let mut server = TcpStream::connect(to).await.unwrap();
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                }
            });
        }
    });
    Relay { address, heads }
}

fn door_through(proxy: SocketAddr, limits: ExchangeLimits) -> WebDoor {
    WebDoor::new(Settings {
        addresses: AddressPolicy::only(vec![AddressRange::LOOPBACK]),
        user_agent: "utsushi/9".to_owned(),
        proxy: Some(format!("http://{proxy}").parse().unwrap()),
        limits,
        ..Settings::default()
    })
    .unwrap()
}

const OPEN: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

#[tokio::test]
async fn a_tunnel_is_asked_for_by_address_and_server_and_kept() {
    let (server, relay) = (Server::start(|_| vec![]).await, relay(|_| OPEN).await);
    let door = door_through(relay.address, ExchangeLimits::default());
    let request = Request::get(PageUrl::parse("http://name.example/ok").unwrap());
    for _ in 0..3 {
        let exchange = door.exchange(server.address, &request).await.unwrap();
        assert_eq!((exchange.status, exchange.address), (200, server.address));
        assert!(exchange.request_head.starts_with(b"GET /ok HTTP/1.1\r\nHost: name.example\r\n"));
    }
    let to = server.address;
    let expected = format!(
        "CONNECT {to} HTTP/1.1\r\nHost: {to}\r\nUtsushi-Server: name.example\r\nUser-Agent: utsushi/9\r\n\r\n"
    );
    assert_eq!(*relay.heads.lock().unwrap(), [expected]);
    assert_eq!(server.accepts(), 1);
}

#[tokio::test]
async fn what_the_proxy_refuses_is_told_with_its_reason() {
    let server = Server::start(|_| vec![]).await;
    let request = Request::get(server.page("/ok"));
    for (say, reason, wait) in [
        (
            (|_| &b"HTTP/1.1 429 Too Many\r\nRetry-After: 9\r\nUtsushi-Reason: too soon\r\n\r\n"[..]) as Say,
            "too soon",
            Some(9),
        ),
        (|_| b"HTTP/1.1 403 Forbidden\r\n\r\n", "it answers 403", None),
        (|_| b"HTTP/1.1 200 OK\r\n\r\nsomething", "it answers 200", None),
        (|_| b"220 mail.example ESMTP\r\n\r\n", "it answers no HTTP", None),
    ] {
        let relay = relay(say).await;
        let door = door_through(relay.address, ExchangeLimits::default());
        let failure = door.exchange(server.address, &request).await.unwrap_err();
        let retry_after = wait.map(Interval::from_seconds);
        assert_eq!(failure.cause, Cause::Proxy { reason: reason.to_owned(), retry_after });
        assert_eq!(failure.phase, Phase::Proxy);
    }
    assert_eq!(server.accepts(), 0);
}

#[tokio::test]
async fn a_proxy_that_is_not_there_or_never_answers_lets_nothing_pass() {
    let server = Server::start(|_| vec![]).await;
    let request = Request::get(server.page("/ok"));
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let limit = Duration::from_millis(200);
    let limits = ExchangeLimits { proxy_time_max: limit, ..ExchangeLimits::default() };
    let door = door_through(silent.local_addr().unwrap(), limits.clone());
    let failure = door.exchange(server.address, &request).await.unwrap_err();
    assert_eq!((failure.phase, failure.cause), (Phase::Proxy, Cause::TimeOut(limit)));
    let gone = silent.local_addr().unwrap();
    drop(silent);
    let failure = door_through(gone, limits).exchange(server.address, &request).await.unwrap_err();
    assert_eq!(
        (failure.phase, failure.cause),
        (Phase::Proxy, Cause::Broken("connection refused".to_owned()))
    );
    assert_eq!(server.accepts(), 0);
}

#[tokio::test]
async fn survives_h1_the_address_is_judged_before_the_proxy_is_asked() {
    let relay = relay(|_| OPEN).await;
    let door = door_through(relay.address, ExchangeLimits::default());
    let request = Request::get(PageUrl::parse("http://name.example/").unwrap());
    let failure = door.exchange(([10, 0, 0, 1], 80).into(), &request).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::ForbiddenAddress { .. }), "{failure}");
    assert!(relay.heads.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_public_address_is_not_visited_without_a_contact() {
    let relay = relay(|_| b"HTTP/1.1 403 Forbidden\r\n\r\n").await;
    let door = |contact: Option<&str>| {
        WebDoor::new(Settings {
            addresses: AddressPolicy::public_web(),
            contact: contact.map(ToOwned::to_owned),
            proxy: Some(format!("http://{}", relay.address).parse().unwrap()),
            ..Settings::default()
        })
        .unwrap()
    };
    let request = Request::get(PageUrl::parse("http://name.example/").unwrap());
    let public = ([93, 184, 216, 34], 80).into();
    assert_eq!(door(None).exchange(public, &request).await.unwrap_err().cause, Cause::NoContact);
    assert!(relay.heads.lock().unwrap().is_empty(), "nothing left this machine");
    let failure = door(Some("https://a.example/bot")).exchange(public, &request).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::Proxy { .. }), "{failure}");
    let told = relay.heads.lock().unwrap().concat();
    assert!(told.contains("User-Agent: utsushi/") && told.contains("(+https://a.example/bot)\r\n"), "{told}");
}
