//! Servers that fail, and are silent, and take their time (H27).

use super::name_server::{Act, NameServer};
use super::{OVER, SHORT, addresses, dns, failure, hasty, pass, settings};
use fetch::Dns;
use fetch::dns::Settings;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::Instant;

async fn good() -> NameServer {
    NameServer::replies(|asked| asked.address(300, "192.0.2.1")).await
}

#[tokio::test]
async fn the_next_server_is_asked_when_one_fails() {
    let good = good().await;
    for code in [2, 4, 5, 9] {
        let bad = NameServer::replies(move |asked| asked.error(code)).await;
        let dns = Dns::new(settings(&[&bad, &good]));
        assert_eq!(addresses(&dns, "www.example.jp").await, ["192.0.2.1"], "{code}");
        assert_eq!(bad.count(), 2, "it was asked once of each kind");
    }
}

#[tokio::test]
async fn survives_h27_a_first_server_that_is_silent() {
    let (silent, good) = (NameServer::silent().await, good().await);
    let dns = Dns::new(Settings { try_time: Duration::from_secs(1), ..settings(&[&silent, &good]) });
    assert_eq!(addresses(&dns, "a.example.jp").await, ["192.0.2.1"]);
    let before = silent.count();
    assert!(before >= 1);
    assert_eq!(addresses(&dns, "b.example.jp").await, ["192.0.2.1"]);
    assert_eq!(silent.count(), before, "the one that answered is asked first from then on");
}

#[tokio::test]
async fn a_server_that_is_not_there_costs_no_time() {
    // The port of a socket that is gone.
    let nobody = UdpSocket::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let good = good().await;
    let mut both = settings(&[&good]);
    both.servers.insert(0, nobody);
    let begun = Instant::now();
    assert_eq!(addresses(&Dns::new(both.clone()), "www.example.jp").await, ["192.0.2.1"]);
    assert!(begun.elapsed() < both.try_time, "{:?}", begun.elapsed());
    let what = failure(&Dns::new(Settings { servers: vec![nobody], ..both }), "www.example.jp").await;
    assert!(what.starts_with(&format!("name server `{nobody}` cannot be reached")), "{what}");
}

/// Where the machine has IPv6 at all.
#[tokio::test]
async fn a_server_may_have_an_ipv6_address() {
    let Ok(socket) = UdpSocket::bind("[::1]:0").await else { return };
    let dns = Dns::new(Settings { servers: vec![socket.local_addr().unwrap()], ..settings(&[]) });
    let asker = tokio::spawn(async move { failure(&dns, "www.example.jp").await });
    let mut question = [0; 512];
    for _ in 0..2 {
        let (length, from) = socket.recv_from(&mut question).await.unwrap();
        // A refusal is the question with another head.
        question[2..4].copy_from_slice(&[0x81, 0x85]);
        socket.send_to(&question[..length], from).await.unwrap();
    }
    assert!(asker.await.unwrap().ends_with("says REFUSED"));
}

#[tokio::test]
async fn without_a_server_nothing_is_found() {
    let dns = Dns::new(Settings { servers: Vec::new(), ..Settings::default() });
    assert_eq!(failure(&dns, "www.example.jp").await, "no name server is configured; name one");
}

#[tokio::test]
async fn every_server_is_named_that_failed() {
    let (silent, failing) = (NameServer::silent().await, NameServer::replies(|asked| asked.error(2)).await);
    let what = failure(&Dns::new(hasty(&[&silent, &failing])), "www.example.jp").await;
    let (first, second) = (silent.address, failing.address);
    assert_eq!(what, format!("name server `{first}` does not answer; name server `{second}` says SERVFAIL"));
}

/// Silence is asked again as often as the settings say; a refusal is not asked about again at once.
#[tokio::test]
async fn silence_is_asked_again_and_a_refusal_is_not() {
    let silent = NameServer::silent().await;
    failure(&Dns::new(Settings { attempts: 3, try_time: SHORT / 4, ..hasty(&[&silent]) }), "a.example.jp")
        .await;
    assert_eq!(silent.count(), 2 * 3);
    let refusing = NameServer::replies(|asked| asked.error(5)).await;
    failure(&Dns::new(Settings { attempts: 3, ..settings(&[&refusing]) }), "a.example.jp").await;
    assert_eq!(refusing.count(), 2);
}

#[tokio::test]
async fn a_lost_question_is_asked_again() {
    let lost = std::sync::Mutex::new(std::collections::HashSet::new());
    let server = NameServer::start(move |asked| {
        let is_first = lost.lock().unwrap().insert((asked.name.clone(), asked.kind));
        if is_first { Vec::new() } else { vec![Act::Send(asked.address(300, "192.0.2.1"))] }
    })
    .await;
    let dns = Dns::new(Settings { try_time: SHORT, ..settings(&[&server]) });
    assert_eq!(addresses(&dns, "www.example.jp").await, ["192.0.2.1"]);
}

#[tokio::test]
async fn a_failure_is_remembered_briefly() {
    let failing = NameServer::replies(|asked| asked.error(2)).await;
    let dns = dns(&failing);
    for _ in 0..100 {
        failure(&dns, "www.example.jp").await;
    }
    assert_eq!(failing.count(), 2);
    pass(Duration::from_secs(31)).await;
    failure(&dns, "www.example.jp").await;
    assert_eq!((failing.count(), dns.stats().failed), (4, 2));
}

/// However many servers and attempts: the time of the look-up ends it.
#[tokio::test]
async fn survives_h27_silence_within_the_time_of_a_look_up() {
    let silent = NameServer::silent().await;
    let dns = Dns::new(Settings {
        attempts: 5,
        try_time: Duration::from_secs(20),
        look_up_time_max: Duration::from_secs(1),
        ..settings(&[&silent, &silent, &silent])
    });
    let begun = Instant::now();
    failure(&dns, "www.example.jp").await;
    assert!((Duration::from_secs(1)..Duration::from_secs(10)).contains(&begun.elapsed()));
}

#[tokio::test]
async fn survives_h27_an_answer_that_drips_over_tcp() {
    let server = NameServer::start(|asked| {
        let answer = asked.address(300, "203.0.113.66");
        match asked.over_tcp {
            true => vec![Act::Drip(answer, Duration::from_millis(100))],
            false => vec![Act::Send(asked.message(0x8380, [0; 3], &[]))],
        }
    })
    .await;
    let begun = Instant::now();
    let what = failure(&Dns::new(hasty(&[&server])), "www.example.jp").await;
    assert!(what.ends_with("does not answer"), "{what}");
    // The whole answer would take five seconds.
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert!(server.asked().iter().any(|asked| asked.over_tcp));
    // The control: with time enough the same drops are an answer.
    assert_eq!(
        addresses(&Dns::new(Settings { try_time: OVER, ..settings(&[&server]) }), "a.example").await.len(),
        1
    );
}

#[tokio::test]
async fn survives_h27_connections_that_promise_and_do_not_keep() {
    // The longest answer there is, of which three bytes come; nothing at all; an answer to nothing.
    let promise = || Act::SendBare(vec![0xff; 5]);
    let check = async |acts: Vec<Act>, expected: &str| {
        let server = NameServer::start(move |asked| match asked.over_tcp {
            true => acts.clone(),
            false => vec![Act::Send(asked.message(0x8380, [0; 3], &[]))],
        })
        .await;
        let what = failure(&Dns::new(hasty(&[&server])), "www.example.jp").await;
        assert!(what.contains(expected), "{what}");
    };
    check(vec![promise(), Act::Wait(OVER)], "does not answer").await;
    check(vec![promise(), Act::Close], "cannot be reached").await;
    check(vec![Act::Close], "cannot be reached").await;
    check(vec![Act::Send(Vec::new())], "cannot be used").await;
    check(vec![Act::Send(vec![0xff; 3])], "cannot be used").await;
}

/// Zero and absurdly large lifetimes are limited.
#[tokio::test]
async fn settings_without_reason_do_no_harm() {
    let server = good().await;
    let extreme = |time, number: usize, attempts| Settings {
        try_time: time,
        look_up_time_max: time,
        attempts,
        zone_queries_max: number,
        zone_waiting_max: number,
        queries_max: number,
        look_ups_max: number,
        cache_entries_max: number,
        ..settings(&[&server])
    };
    let most = Dns::new(extreme(Duration::MAX, usize::MAX, u32::MAX));
    assert_eq!(addresses(&most, "www.example.jp").await, ["192.0.2.1"]);
    let least = Dns::new(Settings { look_up_time_max: OVER, ..extreme(Duration::ZERO, 0, 0) });
    let _ = super::look_up(&least, "www.example.jp").await;
    let least = Dns::new(Settings { try_time: OVER, look_up_time_max: OVER, ..extreme(OVER, 0, 0) });
    assert_eq!(addresses(&least, "www.example.jp").await, ["192.0.2.1"]);
}
