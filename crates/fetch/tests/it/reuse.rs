//! Connections are used again exactly when that is safe.

use crate::server::{Act, OK, Server, door, door_to};
use base::door::{Door, Request};
use fetch::ExchangeLimits;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[tokio::test]
async fn one_connection_serves_many_requests() {
    let server = Server::start(|_| vec![]).await;
    let door = door();
    for _ in 0..5 {
        assert_eq!(server.get(&door, "/ok").await.unwrap().body.read().unwrap(), &b"ok"[..]);
    }
    assert_eq!(server.accepts(), 1);
    let again = server.get(&door, "/ok").await.unwrap();
    assert_eq!((again.times.connect, again.times.tls), (Duration::ZERO, Duration::ZERO));
    assert!(again.times.total >= again.times.first_byte);
    assert!(again.request_head.starts_with(b"GET /ok HTTP/1.1\r\nHost: 127.0.0.1:"));
}

#[tokio::test]
async fn a_connection_belongs_to_one_origin() {
    let server = Server::start(|_| vec![]).await;
    let door = door_to(server.address, "", ExchangeLimits::default());
    let named = Request::get(base::PageUrl::parse("http://name.example/ok").unwrap());
    server.get(&door, "/ok").await.unwrap();
    door.exchange(server.address, &named).await.unwrap();
    assert_eq!(server.accepts(), 2);
    door.exchange(server.address, &named).await.unwrap();
    assert_eq!(server.accepts(), 2);
}

#[tokio::test]
async fn a_kept_connection_that_dies_unheard_is_replaced_once() {
    let asked = AtomicUsize::new(0);
    let server = Server::start(move |_| match asked.fetch_add(1, Ordering::SeqCst) {
        // The first request over a kept connection is read and not answered; the next, over a fresh one, is.
        0 => vec![Act::Close],
        1 => vec![Act::Send(OK.to_vec())],
        _ => vec![Act::Reset],
    })
    .await;
    let door = door();
    server.get(&door, "/ok").await.unwrap();
    assert_eq!(server.get(&door, "/moody").await.unwrap().body.read().unwrap(), &b"ok"[..]);
    assert_eq!(server.accepts(), 2);
    let failure = server.get(&door, "/moody").await.unwrap_err();
    assert_eq!(
        (failure.to_string().as_str(), server.accepts()),
        ("answer: connection reset", 3),
        "not a third time"
    );
}

#[tokio::test]
async fn a_connection_that_was_closed_or_spoke_unasked_is_not_used() {
    let pause = Duration::from_millis(50);
    let late = Act::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged".to_vec());
    let server = Server::start(move |target| {
        let last = if target == "/closes" { Act::Close } else { late.clone() };
        vec![Act::Send(OK.to_vec()), Act::Wait(pause), last]
    })
    .await;
    let door = door();
    for (target, accepts) in [("/closes", 2), ("/speaks", 3)] {
        server.get(&door, target).await.unwrap();
        tokio::time::sleep(pause * 4).await;
        assert_eq!(server.get(&door, "/ok").await.unwrap().body.read().unwrap(), &b"ok"[..]);
        assert_eq!(server.accepts(), accepts, "{target}");
    }
}

#[tokio::test]
async fn connections_are_kept_in_bounded_number_and_for_a_bounded_time() {
    let (a, b) = (Server::start(|_| vec![]).await, Server::start(|_| vec![]).await);
    let door =
        door_to(a.address, "", ExchangeLimits { pool_connections_max: 1, ..ExchangeLimits::default() });
    for server in [&a, &b, &b, &a] {
        server.get(&door, "/ok").await.unwrap();
    }
    assert_eq!((a.accepts(), b.accepts()), (2, 1), "the older connection made room");
    let forgetful = door_to(
        a.address,
        "",
        ExchangeLimits { pool_idle_time_max: Duration::ZERO, ..ExchangeLimits::default() },
    );
    a.get(&forgetful, "/ok").await.unwrap();
    a.get(&forgetful, "/ok").await.unwrap();
    assert_eq!(a.accepts(), 4);
}
