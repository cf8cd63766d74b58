//! What good servers say, and how long it holds.

use super::name_server::{A, AAAA, Act, NameServer, address_of, alias_of};
use super::{addresses, check_lifetime, dns, failure, look_up, pass, settings};
use base::door::Cause;
use fetch::Dns;
use fetch::dns::{Families, Settings};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Knows one address of each kind for every name.
async fn both() -> NameServer {
    NameServer::replies(|asked| asked.address(300, if asked.kind == A { "192.0.2.1" } else { "2001:db8::1" }))
        .await
}

#[tokio::test]
async fn both_kinds_are_asked_for_and_come_in_the_order_of_the_settings() {
    let server = both().await;
    let check = async |families, expected: &[&str], kinds: &[u8]| {
        let asked_before = server.count();
        let dns = Dns::new(Settings { families, ..settings(&[&server]) });
        assert_eq!(addresses(&dns, "www.example.jp").await, expected);
        let mut asked: Vec<u8> = server.asked()[asked_before..].iter().map(|asked| asked.kind).collect();
        asked.sort_unstable();
        assert_eq!(asked, kinds);
    };
    check(Families::Ipv4ThenIpv6, &["192.0.2.1", "2001:db8::1"], &[A, AAAA]).await;
    check(Families::Ipv6ThenIpv4, &["2001:db8::1", "192.0.2.1"], &[A, AAAA]).await;
    check(Families::Ipv4, &["192.0.2.1"], &[A]).await;
    check(Families::Ipv6, &["2001:db8::1"], &[AAAA]).await;
}

#[tokio::test]
async fn a_name_is_sent_in_one_form_with_recursion_desired_and_options() {
    let server = both().await;
    let dns = dns(&server);
    assert_eq!(addresses(&dns, "WWW.Example.JP.").await.len(), 2);
    assert_eq!(addresses(&dns, "www.example.jp").await.len(), 2);
    assert_eq!((server.count(), dns.stats().cache_hits), (2, 1));
    for asked in server.asked() {
        assert_eq!((asked.name.as_str(), asked.bytes[2], asked.has_options()), ("www.example.jp", 1, true));
        assert!(asked.bytes.ends_with(&[0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]), "{:?}", asked.bytes);
    }
}

#[tokio::test]
async fn what_is_no_name_or_belongs_on_no_network_is_never_sent() {
    let server = both().await;
    let dns = dns(&server);
    let long = format!("{}aaa.jp", "a.".repeat(124));
    let label = format!("{}.jp", "a".repeat(64));
    let hosts = ["", ".", "a..b", "a b.jp", "ä.jp", "127.0.0.1", "[::1]", "::1", "0x7f.1", &long, &label];
    let local = ["localhost", "a.localhost.", "x.invalid", "x.onion", "printer.LOCAL"];
    for host in hosts.into_iter().chain(local) {
        assert_eq!(look_up(&dns, host).await, Err(Cause::NoSuchName), "{host}");
    }
    assert_eq!(server.count(), 0);
    assert_eq!(addresses(&dns, "a_b.test").await.len(), 2);
    assert_eq!(server.count(), 2, "the server is there and counts");
}

#[tokio::test]
async fn aliases_are_followed_inside_an_answer_and_beyond_it() {
    let server = NameServer::replies(|asked| match asked.name.as_str() {
        "www.example.jp" if asked.kind == A => asked.answer(&[
            alias_of("www.example.jp", 100, "one.example.net"),
            alias_of("one.example.net", 200, "two.example.net"),
            address_of("two.example.net", 300, "192.0.2.1"),
        ]),
        "far.example.jp" => asked.answer(&[alias_of("far.example.jp", 80, "end.example.net")]),
        "end.example.net" => asked.address(300, "192.0.2.2"),
        "home.example.jp" => asked.answer(&[alias_of("home.example.jp", 80, "localhost")]),
        _ => asked.nothing(60),
    })
    .await;
    let dns = dns(&server);
    let answer = look_up(&dns, "www.example.jp").await.unwrap();
    assert_eq!(answer.addresses, ["192.0.2.1".parse::<std::net::IpAddr>().unwrap()]);
    check_lifetime(answer.lifetime, 100);
    assert_eq!(server.count(), 2);
    let answer = look_up(&dns, "far.example.jp").await.unwrap();
    assert_eq!(answer.addresses, ["192.0.2.2".parse::<std::net::IpAddr>().unwrap()]);
    check_lifetime(answer.lifetime, 80);
    assert_eq!(server.count(), 6);
    assert_eq!(look_up(&dns, "home.example.jp").await, Err(Cause::NoSuchName));
    assert_eq!(server.count_below("localhost"), 0);
}

#[tokio::test]
async fn survives_h27_aliases_that_never_end() {
    let server = NameServer::replies(|asked| match asked.name.split_once('.') {
        Some(("ping", zone)) => asked.answer(&[alias_of(&asked.name, 80, &format!("pong.{zone}"))]),
        Some(("pong", zone)) => asked.answer(&[alias_of(&asked.name, 80, &format!("ping.{zone}"))]),
        // Always one further.
        _ => asked.answer(&[alias_of(&asked.name, 80, &format!("x{}", asked.name))]),
    })
    .await;
    for host in ["ping.example.jp", "x.example.jp"] {
        let before = server.count();
        let what = failure(&dns(&server), host).await;
        assert!(what.contains("too far or in circles"), "{what}");
        assert!(server.count() - before <= 2 * 9, "{} questions", server.count() - before);
    }
}

#[tokio::test]
async fn an_answer_that_does_not_fit_comes_over_tcp() {
    let server = NameServer::replies(|asked| {
        if asked.over_tcp { asked.address(300, "192.0.2.1") } else { asked.message(0x8380, [0; 3], &[]) }
    })
    .await;
    assert_eq!(addresses(&dns(&server), "www.example.jp").await, ["192.0.2.1"]);
    assert_eq!(server.asked().iter().filter(|asked| asked.over_tcp).count(), 2);
}

#[tokio::test]
async fn a_server_that_knows_no_options_is_asked_without() {
    let server = NameServer::replies(|asked| {
        // The oldest ones send nothing but the head back.
        let head = [&asked.bytes[..2], &[0x81, 0x81, 0, 0, 0, 0, 0, 0, 0, 0]].concat();
        if asked.has_options() { head } else { asked.address(300, "192.0.2.1") }
    })
    .await;
    let dns = dns(&server);
    assert_eq!(addresses(&dns, "a.example.jp").await, ["192.0.2.1"]);
    assert_eq!(server.count(), 4);
    assert_eq!(addresses(&dns, "b.example.jp").await, ["192.0.2.1"]);
    assert_eq!(server.count(), 6, "it is remembered");
}

#[tokio::test]
async fn what_is_not_there_is_no_such_name_and_remembered() {
    let server = NameServer::replies(|asked| match asked.name.as_str() {
        "none.example.jp" => asked.no_name(600),
        "empty.example.jp" => asked.nothing(0),
        "bare.example.jp" => asked.message(0x8180, [0; 3], &[]),
        _ => asked.nothing(86_400),
    })
    .await;
    let dns = dns(&server);
    for host in ["none.example.jp", "empty.example.jp", "bare.example.jp", "long.example.jp"] {
        for _ in 0..3 {
            assert_eq!(look_up(&dns, host).await, Err(Cause::NoSuchName), "{host}");
        }
    }
    assert_eq!(server.count(), 8);
    // What is not there is believed for a minute at least and an hour at most.
    let asked_again = async |host: &str| {
        let before = server.count();
        assert_eq!(look_up(&dns, host).await, Err(Cause::NoSuchName));
        server.count() > before
    };
    pass(Duration::from_secs(61)).await;
    assert!(asked_again("empty.example.jp").await && asked_again("bare.example.jp").await);
    assert!(!asked_again("none.example.jp").await && !asked_again("long.example.jp").await);
    pass(Duration::from_secs(600)).await;
    assert!(asked_again("none.example.jp").await && !asked_again("long.example.jp").await);
    pass(Duration::from_secs(3_000)).await;
    assert!(asked_again("long.example.jp").await);
}

#[tokio::test]
async fn survives_h3_a_name_that_leads_elsewhere_the_next_time() {
    let flipped = Arc::new(AtomicBool::new(false));
    let is_flipped = flipped.clone();
    let server = NameServer::replies(move |asked| {
        let address = if is_flipped.load(Ordering::SeqCst) { "127.0.0.1" } else { "192.0.2.1" };
        // No time at all: it is used for a minute all the same.
        asked.address(if asked.name.starts_with("hour") { 3_600 } else { 0 }, address)
    })
    .await;
    let dns = dns(&server);
    let check = async |host: &str, expected: &str, seconds: u64| {
        let answer = look_up(&dns, host).await.unwrap();
        assert_eq!(answer.addresses, [expected.parse::<std::net::IpAddr>().unwrap()]);
        check_lifetime(answer.lifetime, seconds);
    };
    check("flip.example.jp", "192.0.2.1", 60).await;
    check("hour.example.jp", "192.0.2.1", 3_600).await;
    flipped.store(true, Ordering::SeqCst);
    pass(Duration::from_secs(30)).await;
    check("flip.example.jp", "192.0.2.1", 30).await;
    pass(Duration::from_secs(31)).await;
    check("flip.example.jp", "127.0.0.1", 60).await;
    check("hour.example.jp", "192.0.2.1", 3_539).await;
    pass(Duration::from_secs(3_600)).await;
    check("hour.example.jp", "127.0.0.1", 3_600).await;
}

/// Some servers answer no question for IPv6. The addresses that are known are not held back for long, nor kept for long.
#[tokio::test]
async fn survives_h27_a_server_that_is_silent_about_one_kind() {
    let server = NameServer::start(|asked| match asked.kind {
        A => vec![Act::Send(asked.address(86_400, "192.0.2.1"))],
        _ => Vec::new(),
    })
    .await;
    let begun = tokio::time::Instant::now();
    let answer = look_up(&dns(&server), "www.example.jp").await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(answer.addresses.len(), 1);
    check_lifetime(answer.lifetime, 60);
}
