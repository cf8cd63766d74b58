//! Daily caps.

use crate::client::Hand;
use crate::place::{Place, Server, limits};
use guard::TrafficLimits;

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

async fn refused(place: &Place, to: std::net::SocketAddr, server: &str, reason: &str) {
    let mut hand = Hand::to(place.guard.address()).await;
    let reply = hand.connect(to, server).await;
    assert!(reply.starts_with("HTTP/1.1 429 ") && reply.contains(reason), "{reply}");
    let wait = crate::client::retry_after(&reply).unwrap().as_secs();
    assert!((1..=86_400).contains(&wait), "{wait}");
}

#[tokio::test]
async fn a_server_gets_no_more_requests_a_day_than_its_cap() {
    let place = Place::start(TrafficLimits { server_requests_per_day: 3, ..limits() }).await;
    let server = Server::start(ANSWER).await;
    let mut hand = Hand::tunnel(place.guard.address(), server.address, "a.example").await;
    for _ in 0..3 {
        assert_eq!(hand.get("a.example").await, ANSWER);
    }
    assert_eq!(hand.get("a.example").await, "", "the fourth ends the tunnel");
    refused(&place, server.address, "a.example", "requests to one server a day").await;
    Hand::tunnel(place.guard.address(), server.address, "b.example").await;
    assert_eq!(server.requests(), 3);
}

#[tokio::test]
async fn an_address_gets_no_more_requests_a_day_than_its_cap() {
    let place = Place::start(TrafficLimits { address_requests_per_day: 2, ..limits() }).await;
    let server = Server::start(ANSWER).await;
    for name in ["a.example", "b.example"] {
        let mut hand = Hand::tunnel(place.guard.address(), server.address, name).await;
        assert_eq!(hand.get(name).await, ANSWER);
    }
    refused(&place, server.address, "c.example", "requests to one address a day").await;
    assert_eq!(server.requests(), 2);
}

#[tokio::test]
async fn bytes_a_day_have_caps() {
    for (few, reason) in [
        (TrafficLimits { address_bytes_per_day: 60, ..limits() }, "bytes of one address a day"),
        (TrafficLimits { bytes_per_day: 60, ..limits() }, "bytes in all a day"),
    ] {
        let place = Place::start(few).await;
        let server = Server::start(ANSWER).await;
        let mut hand = Hand::tunnel(place.guard.address(), server.address, "a.example").await;
        assert_eq!(hand.get("a.example").await, "", "the answer was one byte too many");
        place.wait_for("closed", 1).await;
        refused(&place, server.address, "a.example", reason).await;
    }
}

#[tokio::test]
async fn a_full_table_refuses_whom_it_does_not_know() {
    let place = Place::start(TrafficLimits { parties_max: 2, ..limits() }).await;
    let server = Server::start(ANSWER).await;
    let mut hand = Hand::tunnel(place.guard.address(), server.address, "a.example").await;
    assert_eq!(hand.get("a.example").await, ANSWER);
    let mut other = Hand::to(place.guard.address()).await;
    let reply = other.connect(server.address, "b.example").await;
    assert!(reply.starts_with("HTTP/1.1 503 ") && reply.contains("no room"), "{reply}");
    assert_eq!(hand.get("a.example").await, ANSWER, "those it knows go on");
}
