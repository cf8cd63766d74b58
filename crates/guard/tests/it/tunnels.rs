//! What happens inside tunnels.

use crate::client::{Hand, connector, request};
use crate::place::{PAUSE, Place, Server, limits};
use guard::TrafficLimits;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::Instant;

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

#[tokio::test]
async fn requests_in_one_tunnel_keep_the_pause() {
    let place = Place::start(TrafficLimits { pause: Duration::from_millis(60), ..limits() }).await;
    let server = Server::start(ANSWER).await;
    let begin = Instant::now();
    let mut hand = Hand::tunnel(place.guard.address(), server.address, "a.example").await;
    assert!(begin.elapsed() >= Duration::from_millis(55), "the first waits since the start");
    for request in 1..=4 {
        assert_eq!(hand.get("a.example").await, ANSWER);
        assert!(begin.elapsed() >= Duration::from_millis(60 * request - 5), "request {request}");
    }
    drop(hand);
    let closed = place.wait_for("closed", 1).await;
    assert_eq!((&closed[0]["requests"], &closed[0]["server"]), (&4.into(), &"a.example".into()));
    let passed = place.lines("passed");
    assert_eq!(passed.len(), 4);
    let bytes =
        |lines: &[serde_json::Value]| lines.iter().map(|line| line["bytes"].as_u64().unwrap()).sum::<u64>();
    let expected = 4 * (ANSWER.len() + request("a.example").len()) as u64;
    assert_eq!(bytes(&passed) + bytes(&closed), expected, "every byte stands in one line");
    assert!(passed[1]["delayed_ms"].as_u64().unwrap() >= 40, "{}", passed[1]);
}

#[tokio::test]
async fn pipelined_requests_leave_one_by_one() {
    let place = Place::start(TrafficLimits { pause: Duration::from_millis(80), ..limits() }).await;
    let server = Server::start(ANSWER).await;
    let mut hand = Hand::tunnel(place.guard.address(), server.address, "a.example").await;
    hand.say(&request("a.example").repeat(3)).await;
    for count in 1..=3 {
        assert_eq!(hand.head().await, ANSWER);
        assert_eq!(server.requests(), count, "the next one is held back");
    }
    let passed = place.lines("passed");
    assert_eq!(passed.len(), 3);
}

#[tokio::test]
async fn a_request_that_would_wait_too_long_ends_its_tunnel_and_the_next_is_told_when() {
    let place = Place::start(TrafficLimits {
        wait_max: Duration::from_millis(50),
        pause: Duration::from_millis(1_500),
        ..limits()
    });
    let (place, server) = (place.await, Server::start(ANSWER).await);
    let mut first = Hand::to(place.guard.address()).await;
    let reply = first.connect(server.address, "a.example").await;
    assert!(reply.starts_with("HTTP/1.1 429 ") && reply.contains("\r\nRetry-After: 2\r\n"), "{reply}");
    assert!(reply.contains("\r\nUtsushi-Reason: too soon"), "{reply}");
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let mut hand = Hand::tunnel(place.guard.address(), server.address, "a.example").await;
    assert_eq!(hand.get("a.example").await, ANSWER);
    assert_eq!(hand.get("a.example").await, "", "the tunnel is closed");
    let closed = place.wait_for("closed", 1).await;
    assert!(closed[0]["why"].as_str().unwrap().contains("too soon"), "{}", closed[0]);
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn a_client_that_leaves_while_it_waits_sends_nothing() {
    let place = Place::start(TrafficLimits { pause: Duration::from_millis(200), ..limits() }).await;
    let server = Server::start(ANSWER).await;
    let mut hand = Hand::to(place.guard.address()).await;
    hand.say(&format!("CONNECT {} HTTP/1.1\r\n\r\n", server.address)).await;
    drop(hand);
    let refused = place.wait_for("refused", 1).await;
    assert!(refused[0]["reason"].as_str().unwrap().contains("left"), "{}", refused[0]);
    assert_eq!((place.lines("passed").len(), server.requests()), (0, 0));
}

#[tokio::test]
async fn another_name_than_that_of_the_tunnel_cuts_it() {
    let place = Place::start(limits()).await;
    let server = Server::start(ANSWER).await;
    let mut hand = Hand::tunnel(place.guard.address(), server.address, "a.example").await;
    assert_eq!(hand.get("b.example").await, "");
    let closed = place.wait_for("closed", 1).await;
    assert!(closed[0]["why"].as_str().unwrap().contains("Host"), "{}", closed[0]);

    let hand = Hand::tunnel(place.guard.address(), server.address, "a.example").await;
    let mut params = rcgen::CertificateParams::default();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = rcgen::CertifiedIssuer::self_signed(params, rcgen::KeyPair::generate().unwrap()).unwrap();
    let name = rustls::pki_types::ServerName::try_from("b.example").unwrap();
    assert!(connector(&authority.pem()).connect(name, hand.0).await.is_err());
    let closed = place.wait_for("closed", 2).await;
    assert!(closed[1]["why"].as_str().unwrap().contains("TLS name"), "{}", closed[1]);
    assert_eq!(server.heard.lock().unwrap().as_str(), "", "not a byte arrived");
}

#[tokio::test]
async fn what_is_neither_http_nor_tls_cuts_the_tunnel() {
    let place = Place::start(limits()).await;
    let server = Server::start(ANSWER).await;
    for (number, said) in
        ["EHLO there\r\n\r\n", "POST / HTTP/1.1\r\nHost: a.example\r\n\r\n", "\0\0\0"].iter().enumerate()
    {
        let mut hand = Hand::tunnel(place.guard.address(), server.address, "a.example").await;
        hand.say(said).await;
        assert_eq!(hand.rest().await, "");
        place.wait_for("closed", number + 1).await;
    }
    assert_eq!(server.heard.lock().unwrap().as_str(), "");
}

#[tokio::test]
async fn a_single_request_is_passed_on_and_its_connection_ends() {
    let place = Place::start(limits()).await;
    let server = Server::start("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok").await;
    let port = server.address.port();
    let mut hand = Hand::to(place.guard.address()).await;
    hand.say(&format!(
        "GET http://localhost:{port}/x HTTP/1.1\r\nHost: y\r\nProxy-Connection: keep-alive\r\n\r\n"
    ))
    .await;
    assert!(hand.head().await.starts_with("HTTP/1.1 200 OK"));
    let heard = server.heard.lock().unwrap().clone();
    assert_eq!(heard, format!("GET /x HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"));
}

#[tokio::test]
async fn two_servers_at_one_address_take_turns() {
    let place = Place::start(TrafficLimits { pause: Duration::from_millis(100), ..limits() }).await;
    let server = Server::start(ANSWER).await;
    let mut first = Hand::tunnel(place.guard.address(), server.address, "a.example").await;
    let mut second = Hand::to(place.guard.address()).await;
    second.say(&format!("CONNECT {} HTTP/1.1\r\nUtsushi-Server: b.example\r\n\r\n", server.address)).await;
    // The first has its turn and has not asked yet: the second waits for it.
    let waits = tokio::time::timeout(Duration::from_millis(300), second.head()).await;
    assert!(waits.is_err(), "{waits:?}");
    assert_eq!(first.get("a.example").await, ANSWER);
    let answered = Instant::now();
    assert!(second.head().await.starts_with("HTTP/1.1 200 "));
    assert!(answered.elapsed() >= Duration::from_millis(95), "{:?}", answered.elapsed());
}

/// A server that sends `pieces`, with a wait after each.
async fn dripping(pieces: Vec<Vec<u8>>, pause: Duration) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let pieces = pieces.clone();
            tokio::spawn(async move {
                let mut input = vec![0; 4_096];
                let _ = stream.read(&mut input).await;
                for piece in pieces {
                    if stream.write_all(&piece).await.is_err() {
                        return;
                    }
                    tokio::time::sleep(pause).await;
                }
                std::future::pending::<()>().await;
            });
        }
    });
    address
}

#[track_caller]
fn why(line: &serde_json::Value, expected: &str) {
    assert!(line["why"].as_str().unwrap().contains(expected), "{line}");
}

#[tokio::test]
async fn a_tunnel_has_a_number_of_bytes() {
    let place = Place::start(TrafficLimits { tunnel_bytes_max: 100_000, ..limits() }).await;
    let server = dripping(vec![vec![b'x'; 60_000]; 5], Duration::ZERO).await;
    let mut hand = Hand::tunnel(place.guard.address(), server, "a.example").await;
    hand.say(&request("a.example")).await;
    assert!(hand.rest().await.len() <= 100_000);
    why(&place.wait_for("closed", 1).await[0], "too many bytes");
}

#[tokio::test]
async fn survives_h6_a_tunnel_has_a_time() {
    let place = Place::start(TrafficLimits { tunnel_time_max: Duration::from_millis(150), ..limits() }).await;
    let server = dripping(vec![b"x".to_vec(); 1_000], Duration::from_millis(5)).await;
    let mut hand = Hand::tunnel(place.guard.address(), server, "a.example").await;
    let begin = Instant::now();
    hand.say(&request("a.example")).await;
    hand.rest().await;
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    why(&place.wait_for("closed", 1).await[0], "for too long");
}

#[tokio::test]
async fn survives_h6_a_silent_tunnel_ends() {
    let place = Place::start(TrafficLimits { tunnel_idle_max: Duration::from_millis(50), ..limits() }).await;
    let server = dripping(Vec::new(), Duration::ZERO).await;
    for number in 1..=2 {
        let mut hand = Hand::tunnel(place.guard.address(), server, "a.example").await;
        if number == 2 {
            hand.say(&request("a.example")).await;
        }
        assert_eq!(hand.rest().await, "");
        why(place.wait_for("closed", number).await.last().unwrap(), "silent");
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_told_and_counted() {
    let place = Place::start(limits()).await;
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let mut hand = Hand::to(place.guard.address()).await;
    let reply = hand.connect(free, "a.example").await;
    assert!(reply.starts_with("HTTP/1.1 502 "), "{reply}");
    assert_eq!(place.lines("passed").len(), 1);
    why(&place.lines("closed")[0], "cannot be reached");
}

/// A server that continues after a break longer than the delay, when another request has been sent.
#[tokio::test]
async fn a_server_that_speaks_out_of_turn_is_cut_off() {
    let place = Place::start(limits()).await;
    let slow = dripping(vec![b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), b"late".to_vec()], PAUSE * 20).await;
    let mut first = Hand::tunnel(place.guard.address(), slow, "a.example").await;
    first.say(&request("a.example")).await;
    assert!(first.head().await.starts_with("HTTP/1.1 200"));
    let _second = Hand::tunnel(place.guard.address(), slow, "b.example").await;
    assert_eq!(first.rest().await, "");
    why(&place.wait_for("closed", 1).await[0], "still sending");
}
