//! The simulated door: what the HTTP form would send, and what misbehaviour is left as.

use crate::asking::{ask, day, web};
use base::clock::SimulatedClock;
use base::door::{Cause, Door, Exchange, Failure, Phase, Request, Truncation};
use base::http::Framing;
use base::{Interval, PageUrl};
use sim::hostile::{self, HostileKind};
use sim::{DeliveryMode, Plan, SimulatedDoor, Web};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// The result of a future that never waits.
fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the simulated door waits for nothing"),
    }
}

fn door(web: Web) -> SimulatedDoor {
    SimulatedDoor::new(Arc::new(web), SimulatedClock::new(day(3)))
}

fn visit(door: &SimulatedDoor, request: &Request) -> Result<Exchange, Failure> {
    let found = now(door.look_up(&request.url.origin()))?;
    now(door.exchange(found.addresses[0], request))
}

fn request(url: &str) -> Request {
    Request::get(PageUrl::parse(url).unwrap())
}

#[test]
fn an_exchange_is_what_the_web_answers_byte_for_byte() {
    let door = door(web(1_000, 60));
    let mut chunked = 0;
    for server in 0..60 {
        let url = door.web.page_url(server, 0, day(3));
        let exchange = visit(&door, &request(&url).with("Accept-Encoding", "gzip")).unwrap();
        let answer = ask(&door.web, &url, day(3), |asked| asked.accepts_gzip = true);
        assert_eq!(exchange.response_head, answer.head(day(3)));
        assert_eq!(exchange.body.read().unwrap(), answer.wire_body());
        assert_eq!((exchange.payload().unwrap().as_ref(), exchange.status), (answer.body.as_slice(), 200));
        assert_eq!(
            (exchange.truncated, exchange.framing == Framing::Chunked),
            (None, matches!(answer.delivery, DeliveryMode::Chunked(_)))
        );
        assert!(exchange.times.total >= exchange.times.first_byte + exchange.times.connect);
        chunked += usize::from(exchange.framing == Framing::Chunked);
        let head = String::from_utf8(exchange.request_head).unwrap();
        assert!(head.starts_with("GET / HTTP/1.1\r\nHost: ") && head.ends_with("\r\n\r\n"), "{head}");
    }
    assert!(chunked > 0);
}

#[test]
fn an_exchange_can_be_begun_here_and_completed_elsewhere() {
    let door = door(web(1_000, 60));
    for server in 0..60 {
        let request = request(&door.web.page_url(server, 0, day(3)));
        let whole = visit(&door, &request).unwrap();
        let begun = door.begin(whole.address, &request, day(3)).unwrap();
        assert!(begun.needs_body());
        let empty = begun.without_body(&request);
        assert_eq!((empty.status, empty.field("etag")), (whole.status, whole.field("etag")));
        assert_eq!(empty.body.read().unwrap().len(), 0);
        let completed =
            std::thread::scope(|threads| threads.spawn(|| door.complete(begun, &request)).join().unwrap());
        assert_eq!(completed.response_head, whole.response_head);
        assert_eq!(completed.body.read().unwrap(), whole.body.read().unwrap());
        assert_eq!(completed.times, whole.times);
    }
}

#[test]
fn conditional_requests_and_heads_have_no_body() {
    let door = door(web(1_000, 60));
    let url = (0..60).map(|server| door.web.page_url(server, 0, day(3))).find_map(|url| {
        let tag = visit(&door, &request(&url)).unwrap().field("etag")?.to_owned();
        Some((url, tag))
    });
    let (url, tag) = url.unwrap();
    let exchange = visit(&door, &request(&url).with("If-None-Match", tag)).unwrap();
    assert_eq!((exchange.status, exchange.framing, exchange.body.len()), (304, Framing::None, 0));
    let head = visit(&door, &Request { head_only: true, ..request(&url) }).unwrap();
    assert_eq!((head.status, head.framing, head.body.len()), (200, Framing::None, 0));
}

#[test]
fn names_and_addresses_that_do_not_exist_are_failures() {
    let door = door(web(100, 5));
    let failure = visit(&door, &request("http://nobody.example/")).unwrap_err();
    assert_eq!((failure.phase, failure.cause), (Phase::LookUp, Cause::NoSuchName));
    let url = door.web.page_url(0, 0, day(3));
    let failure = now(door.exchange("127.0.0.1:80".parse().unwrap(), &request(&url))).unwrap_err();
    assert_eq!(failure.phase, Phase::Connect);
}

#[test]
fn time_is_the_clock_s() {
    let clock = SimulatedClock::new(day(3));
    let door = SimulatedDoor::new(Arc::new(web(1_000, 30)), clock.clone());
    let truth = door.web.truth_of(0, 0, day(4), day(2_000));
    let before = visit(&door, &request(&truth.urls[0])).unwrap();
    clock.advance_to(truth.byte_changes[0]);
    let after = visit(&door, &request(&truth.urls[0])).unwrap();
    assert_ne!(before.payload().unwrap(), after.payload().unwrap());
    clock.advance(Interval::from_days(1));
}

/// All that the servers of one kind answer to whatever their home pages link.
fn left_of(kind: HostileKind) -> Vec<Result<Exchange, Failure>> {
    let hostile = u32::try_from(HostileKind::ALL.len() * 2).unwrap();
    let door = door(Web::new(Plan { pages: 10, servers: 2, hostile, ..Plan::default() }));
    let numbers = (0..hostile).filter(|number| hostile::kind(*number) == kind);
    let mut all = Vec::new();
    for host in numbers.map(hostile::host) {
        let home = format!("http://{host}/");
        let first = visit(&door, &request(&home));
        let body =
            first.as_ref().map(|exchange| String::from_utf8_lossy(&exchange.payload().unwrap()).into_owned());
        let links = body.map(|body| crate::asking::hrefs(&body, &home)).unwrap_or_default();
        all.push(first);
        all.extend(links.iter().map(|link| visit(&door, &request(link))));
    }
    all
}

#[test]
fn misbehaviour_is_what_a_client_with_limits_is_left_with() {
    let some = |kind, expected: &dyn Fn(&Result<Exchange, Failure>) -> bool| {
        let all = left_of(kind);
        assert!(all.iter().any(expected), "{kind:?}: {all:?}");
        let within = |exchange: &Exchange| exchange.body.len() <= 1024 * 1024;
        assert!(all.iter().flatten().all(within), "{kind:?}");
    };
    let cut = |truncation| {
        move |result: &Result<Exchange, Failure>| {
            result.as_ref().is_ok_and(|one| one.truncated == Some(truncation))
        }
    };
    let failed = |cause: fn(&Cause) -> bool| {
        move |result: &Result<Exchange, Failure>| {
            result.as_ref().is_err_and(|one| one.phase == Phase::Head && cause(&one.cause))
        }
    };
    some(HostileKind::Hang, &failed(|cause| matches!(cause, Cause::TimeOut(_))));
    some(HostileKind::Endless, &cut(Truncation::Length));
    some(HostileKind::Slow, &|result| {
        cut(Truncation::Time)(result) || failed(|cause| matches!(cause, Cause::TimeOut(_)))(result)
    });
    some(HostileKind::WrongLength, &cut(Truncation::Disconnect));
    some(HostileKind::HugeHead, &failed(|cause| matches!(cause, Cause::Malformed(_))));
    some(HostileKind::Malformed, &failed(|cause| matches!(cause, Cause::Malformed(_) | Cause::Broken(_))));
    some(HostileKind::Crowd, &|result| result.as_ref().is_ok_and(|exchange| exchange.status == 200));
}
