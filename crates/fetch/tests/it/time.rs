//! Servers that take their time: every wait has an end (H6). The limits are scaled down; the servers would never end.

use crate::server::{Act, Server, door_to};
use base::door::{Cause, Door, Failure, Phase, Request, Truncation};
use fetch::{ExchangeLimits, WebDoor};
use std::time::Duration;
use tokio::time::timeout;

const SHORT: Duration = Duration::from_millis(500);
const LONG: Duration = Duration::from_secs(60);
/// By then it must be over, however busy the machine is: well before the next limit of the product ends it anyhow.
const OVER: Duration = Duration::from_secs(10);

fn drip(head: &str) -> Vec<Act> {
    let bytes = format!("{head}{}", "x".repeat(10_000)).into_bytes();
    vec![Act::Drip(bytes, Duration::from_millis(10))]
}

async fn server(acts: Vec<Act>, limits: ExchangeLimits) -> (Server, WebDoor) {
    let server = Server::start(move |_| acts.clone()).await;
    let door = door_to(server.address, "", limits);
    (server, door)
}

/// The answer is broken off after some bytes, for time; and the next request works.
async fn cut_short(acts: Vec<Act>, limits: ExchangeLimits) {
    let (server, door) = server(acts, limits).await;
    let exchange = timeout(OVER, server.get(&door, "/")).await.expect("it ends in time").unwrap();
    assert_eq!((exchange.status, exchange.truncated), (200, Some(Truncation::Time)));
    assert!(
        exchange.body.read().unwrap().starts_with(b"x") && exchange.body.len() < 10_000,
        "{}",
        exchange.body.len()
    );
    assert_eq!(server.get(&door, "/ok").await.unwrap().body.read().unwrap(), &b"ok"[..]);
    assert_eq!(server.accepts(), 2);
}

/// There is no answer in time, and the next request works.
async fn in_vain(acts: Vec<Act>, limits: ExchangeLimits) {
    let (server, door) = server(acts, limits).await;
    let Failure { phase, cause, took, .. } =
        timeout(OVER, server.get(&door, "/")).await.expect("it ends in time").unwrap_err();
    assert_eq!((phase, cause), (Phase::Head, Cause::TimeOut(SHORT)));
    assert!(took >= SHORT, "{took:?}");
    assert_eq!(server.get(&door, "/ok").await.unwrap().body.read().unwrap(), &b"ok"[..]);
}

#[tokio::test]
async fn survives_h6_a_server_that_never_answers() {
    in_vain(
        vec![Act::Wait(LONG)],
        ExchangeLimits { first_byte_time_max: SHORT, ..ExchangeLimits::default() },
    )
    .await;
}

#[tokio::test]
async fn survives_h6_a_head_that_drips() {
    in_vain(
        drip("HTTP/1.1 200 OK\r\nA: "),
        ExchangeLimits { visit_time_max: SHORT, ..ExchangeLimits::default() },
    )
    .await;
    let slow =
        ExchangeLimits { slow_grace: SHORT, bytes_per_second_min: 10_000, ..ExchangeLimits::default() };
    in_vain(drip("HTTP/1.1 200 OK\r\nA: "), slow).await;
}

#[tokio::test]
async fn survives_h6_a_body_that_falls_silent() {
    let start = b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\nxxx".to_vec();
    let acts = vec![Act::Send(start), Act::Wait(LONG)];
    cut_short(acts, ExchangeLimits { idle_time_max: SHORT, ..ExchangeLimits::default() }).await;
}

#[tokio::test]
async fn survives_h6_a_body_that_drips() {
    let head = "HTTP/1.1 200 OK\r\n\r\nx";
    cut_short(drip(head), ExchangeLimits { visit_time_max: SHORT * 3, ..ExchangeLimits::default() }).await;
    let slow =
        ExchangeLimits { slow_grace: SHORT * 3, bytes_per_second_min: 10_000, ..ExchangeLimits::default() };
    cut_short(drip(head), slow).await;
}

#[tokio::test]
async fn a_slow_answer_that_is_fast_enough_is_waited_for() {
    let body = "x".repeat(20);
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{body}").into_bytes();
    let limits =
        ExchangeLimits { slow_grace: Duration::ZERO, bytes_per_second_min: 1, ..ExchangeLimits::default() };
    let (server, door) = server(vec![Act::Drip(answer, Duration::from_millis(2))], limits).await;
    let exchange = server.get(&door, "/").await.unwrap();
    assert_eq!((exchange.body.read().unwrap().into_owned(), exchange.truncated), (body.into_bytes(), None));
}

/// A new connection to a listener with a full queue and no `accept` waits forever.
#[tokio::test]
async fn survives_h6_a_server_that_lets_nobody_in() {
    let listener = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    listener.bind(&std::net::SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    listener.listen(0).unwrap();
    let address = listener.local_addr().unwrap().as_socket().unwrap();
    let mut queue = Vec::new();
    while let Ok(Ok(stream)) = timeout(SHORT, tokio::net::TcpStream::connect(address)).await {
        queue.push(stream);
        assert!(queue.len() < 100, "the queue is bounded");
    }
    let door = door_to(address, "", ExchangeLimits { connect_time_max: SHORT, ..ExchangeLimits::default() });
    let request = Request::get(base::PageUrl::parse("http://name.example/").unwrap());
    let failure =
        timeout(OVER, door.exchange(address, &request)).await.expect("it ends in time").unwrap_err();
    assert_eq!((failure.phase, failure.cause), (Phase::Connect, Cause::TimeOut(SHORT)));
}
