//! A guard that is started again knows the day and waits one full pause.

use crate::client::Hand;
use crate::place::{Server, limits, lines, settings};
use base::clock::{RealClock, SimulatedClock};
use base::{Clock, Interval, Timestamp};
use guard::{Guard, TrafficLimits};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

async fn connect(guard: &Guard, server: &Server) -> String {
    Hand::to(guard.address()).await.connect(server.address, "a.example").await
}

#[tokio::test]
async fn survives_h13_a_restart_resets_no_cap_and_waits_one_full_pause() {
    let (place, server) = (tempfile::tempdir().unwrap(), Server::start(ANSWER).await);
    let few = TrafficLimits { server_requests_per_day: 3, pause: Duration::from_millis(150), ..limits() };
    for count in 1..=3 {
        let guard = Guard::start(settings(place.path(), few), RealClock::start()).await.unwrap();
        let begin = Instant::now();
        assert!(connect(&guard, &server).await.starts_with("HTTP/1.1 200 "), "{count}");
        assert!(begin.elapsed() >= Duration::from_millis(140), "{:?}", begin.elapsed());
        guard.stop().await;
    }
    let guard = Guard::start(settings(place.path(), few), RealClock::start()).await.unwrap();
    assert!(connect(&guard, &server).await.starts_with("HTTP/1.1 429 "));
    guard.stop().await;
    assert_eq!(lines(&place.path().join("guard"), "passed").len(), 3);
}

/// How many requests a guard lets through at a moment of the calendar.
async fn passes(
    place: &std::path::Path,
    server: &Server,
    clock: Arc<dyn Clock>,
    few: TrafficLimits,
) -> usize {
    let guard = Guard::start(settings(place, few), clock).await.unwrap();
    let mut passed = 0;
    while connect(&guard, server).await.starts_with("HTTP/1.1 200 ") {
        passed += 1;
    }
    guard.stop().await;
    passed
}

#[tokio::test]
async fn survives_m6_a_wall_clock_that_jumps_back_resets_no_cap() {
    let (place, server) = (tempfile::tempdir().unwrap(), Server::start(ANSWER).await);
    let few = TrafficLimits { server_requests_per_day: 2, pause: Duration::from_millis(1), ..limits() };
    let at = |date: &str| -> Arc<dyn Clock> { SimulatedClock::new(date.parse::<Timestamp>().unwrap()) };
    assert_eq!(passes(place.path(), &server, at("2026-11-16T12:00:00Z"), few).await, 2);
    for earlier in ["2026-11-16T01:00:00Z", "2026-11-15T12:00:00Z", "1970-01-01T00:00:00Z"] {
        assert_eq!(passes(place.path(), &server, at(earlier), few).await, 0, "{earlier}");
    }
    assert_eq!(passes(place.path(), &server, at("2026-11-17T00:00:00Z"), few).await, 2, "a new day");
}

#[tokio::test]
async fn a_day_that_begins_while_it_runs_begins_at_nothing() {
    let (place, server) = (tempfile::tempdir().unwrap(), Server::start(ANSWER).await);
    let few = TrafficLimits { server_requests_per_day: 1, pause: Duration::from_millis(1), ..limits() };
    let clock = SimulatedClock::new("2026-11-16T23:59:58Z".parse().unwrap());
    let guard = Guard::start(settings(place.path(), few), clock.clone()).await.unwrap();
    assert!(connect(&guard, &server).await.starts_with("HTTP/1.1 200 "));
    let reply = connect(&guard, &server).await;
    assert!(reply.starts_with("HTTP/1.1 429 ") && reply.contains("\r\nRetry-After: 2\r\n"), "{reply}");
    clock.advance(Interval::from_seconds(3));
    assert!(connect(&guard, &server).await.starts_with("HTTP/1.1 200 "));
    guard.stop().await;
    for day in ["2026-11-16", "2026-11-17"] {
        let log = std::fs::read_to_string(place.path().join(format!("guard/guard-{day}.jsonl"))).unwrap();
        assert_eq!(log.matches("\"passed\"").count(), 1, "{day}");
    }
}

#[tokio::test]
async fn survives_m8_two_guards_do_not_share_a_log() {
    let place = tempfile::tempdir().unwrap();
    let guard = Guard::start(settings(place.path(), limits()), RealClock::start()).await.unwrap();
    let error = Guard::start(settings(place.path(), limits()), RealClock::start()).await.unwrap_err();
    assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
    guard.stop().await;
}
