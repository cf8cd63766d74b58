//! Clients that do not know how to ask, or mean no good.

use crate::client::Hand;
use crate::place::{Place, Server, limits};
use guard::TrafficLimits;
use std::time::Duration;

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// What the guard answers to these bytes.
async fn answer(place: &Place, said: &str) -> String {
    let mut hand = Hand::to(place.guard.address()).await;
    hand.say(said).await;
    hand.rest().await
}

#[tokio::test]
async fn what_is_not_understood_is_refused_and_written_down() {
    let place = Place::start(limits()).await;
    let long = format!("CONNECT a:80 HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(40_000));
    let many = format!("GET http://a/ HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(200));
    let cases = [
        ("CONNECT HTTP/1.1\r\n\r\n", 400),
        ("CONNECT 127.0.0.1 HTTP/1.1\r\n\r\n", 400),
        ("CONNECT 127.0.0.1:0 HTTP/1.1\r\n\r\n", 400),
        ("CONNECT user@127.0.0.1:80 HTTP/1.1\r\n\r\n", 400),
        ("CONNECT 127.0.0.1:99999 HTTP/1.1\r\n\r\n", 400),
        ("CONNECT [::1 HTTP/1.1\r\n\r\n", 400),
        ("GET https://a.example/ HTTP/1.1\r\n\r\n", 400),
        ("GET http://u:p@a.example/ HTTP/1.1\r\n\r\n", 400),
        ("POST http://127.0.0.1/ HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", 405),
        ("GET /secret HTTP/1.1\r\n\r\n", 404),
        ("\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\r\n\r\n", 400),
        ("SSH-2.0-x\r\n\r\n", 400),
        (&long, 431),
        (&many, 431),
    ];
    for (number, (said, status)) in cases.iter().enumerate() {
        let reply = answer(&place, said).await;
        assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{said:.60}: {reply}");
        assert!(reply.contains("\r\nUtsushi-Reason: "), "{reply}");
        assert_eq!(place.lines("refused").len(), number + 1);
    }
    assert_eq!(place.lines("passed").len(), 0);
}

#[tokio::test]
async fn survives_h1_no_spelling_of_a_forbidden_address_is_connected_to() {
    let place = Place::start(limits()).await;
    let canary = Server::start(ANSWER).await;
    let port = canary.address.port();
    let directory = tempfile::tempdir().unwrap();
    let settings = guard::Settings {
        addresses: guard::AddressRules::default(),
        ..crate::place::settings(directory.path(), limits())
    };
    let strict = guard::Guard::start(settings, base::clock::RealClock::start()).await.unwrap();
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "2130706433",
        "017700000001",
        "127.0.0.1.",
        "localhost",
        "LOCALHOST.",
        "0",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "10.0.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "[fe80::1]",
        "[fd00::1]",
        "224.0.0.1",
        "255.255.255.255",
    ] {
        for said in [
            format!("CONNECT {host}:{port} HTTP/1.1\r\n\r\n"),
            format!("GET http://{host}:{port}/ HTTP/1.1\r\n\r\n"),
        ] {
            let mut hand = Hand::to(strict.address()).await;
            hand.say(&said).await;
            let reply = hand.rest().await;
            assert!(reply.starts_with("HTTP/1.1 403 "), "{said}: {reply}");
            assert!(reply.contains("is not open: "), "{reply}");
        }
    }
    assert_eq!(canary.requests(), 0);
    // The canary would have sung.
    let reply = answer(&place, &format!("GET http://localhost:{port}/ HTTP/1.1\r\n\r\n")).await;
    assert!(reply.ends_with("ok") && canary.requests() == 1, "{reply}");
    strict.stop().await;
}

#[tokio::test]
async fn the_guard_does_not_ask_itself() {
    let place = Place::start(limits()).await;
    let reply = answer(&place, &format!("CONNECT {} HTTP/1.1\r\n\r\n", place.guard.address())).await;
    assert!(reply.starts_with("HTTP/1.1 403 ") && reply.contains("the guard itself"), "{reply}");
}

#[tokio::test]
async fn survives_h6_a_client_that_does_not_finish_its_sentence_is_not_waited_for() {
    let place = Place::start(TrafficLimits { head_time_max: Duration::from_millis(50), ..limits() }).await;
    let reply = answer(&place, "CONNECT 127.0.0.1:80 HTTP/1.1\r\nX: ").await;
    assert!(reply.starts_with("HTTP/1.1 408 "), "{reply}");
    let reply = answer(&place, "GET http://127.0.0.1/ HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc").await;
    assert!(reply.starts_with("HTTP/1.1 408 "), "{reply}");
}

#[tokio::test]
async fn more_clients_than_there_is_room_for_are_sent_away() {
    let place = Place::start(TrafficLimits { clients_max: 2, ..limits() }).await;
    let mut silent = [Hand::to(place.guard.address()).await, Hand::to(place.guard.address()).await];
    // Both are in once they have been heard.
    let reply = loop {
        let reply = answer(&place, "GET /status HTTP/1.1\r\n\r\n").await;
        if reply.starts_with("HTTP/1.1 503 ") {
            break reply;
        }
    };
    assert!(reply.contains("too many clients"), "{reply}");
    silent[0].say("GET /status HTTP/1.1\r\n\r\n").await;
    assert!(silent[0].rest().await.starts_with("HTTP/1.1 200 OK"));
}

#[tokio::test]
async fn a_name_that_is_not_known_is_told() {
    let place = Place::start(limits()).await;
    // `.invalid` is never registered (RFC 6761).
    let reply = answer(&place, "CONNECT nobody.invalid:443 HTTP/1.1\r\n\r\n").await;
    assert!(reply.starts_with("HTTP/1.1 502 ") || reply.starts_with("HTTP/1.1 504 "), "{reply}");
}

#[tokio::test]
async fn the_status_shows_counts_and_limits() {
    let place = Place::start(TrafficLimits { server_requests_per_day: 1, ..limits() }).await;
    let server = Server::start(ANSWER).await;
    let port = server.address.port();
    let url = format!("GET http://localhost:{port}/ HTTP/1.1\r\n\r\n");
    assert!(answer(&place, &url).await.ends_with("ok"));
    let reply = answer(&place, &url).await;
    assert!(reply.starts_with("HTTP/1.1 429 ") && reply.contains("Retry-After: "), "{reply}");
    let reply = answer(&place, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    let (_, body) = reply.split_once("\r\n\r\n").unwrap();
    let status: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!((&status["passed"], &status["refused"]), (&1.into(), &1.into()), "{status}");
    assert_eq!(status["limits"]["pause_ms"], 20);
    assert_eq!(status["blocked"][0], format!("localhost:{port}"));
}

#[tokio::test]
async fn refusals_in_a_loop_do_not_fill_the_disk() {
    let place = Place::start(limits()).await;
    for _ in 0..250 {
        answer(&place, "NONSENSE\r\n\r\n").await;
    }
    let listed = place.lines("refused").len();
    assert!(listed < 250, "{listed} lines");
    assert_eq!(place.guard.status()["refused"], 250);
}

#[tokio::test]
async fn other_machines_do_not_reach_it_unless_told() {
    let directory = tempfile::tempdir().unwrap();
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let settings = guard::Settings {
            listen: listen.parse().unwrap(),
            ..crate::place::settings(directory.path(), limits())
        };
        let error = guard::Guard::start(settings.clone(), base::clock::RealClock::start()).await.unwrap_err();
        assert!(matches!(error, guard::Error::Public { .. }), "{error}");
        assert!(error.advice().contains("--public-listen"));
    }
    let settings = guard::Settings {
        listen: "0.0.0.0:0".parse().unwrap(),
        public_listen: true,
        ..crate::place::settings(directory.path(), limits())
    };
    guard::Guard::start(settings, base::clock::RealClock::start()).await.unwrap().stop().await;
}
