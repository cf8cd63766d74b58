//! Many look-ups of one name, and one client with many names.

use super::name_server::{Act, NameServer};
use super::{OVER, SHORT, addresses, hasty, look_up, settings};
use fetch::Dns;
use fetch::dns::Settings;
use std::time::Duration;
use tokio::task::JoinSet;

/// Answers after a while, so that look-ups meet.
async fn slow(time: Duration) -> NameServer {
    NameServer::start(move |asked| vec![Act::Wait(time), Act::Send(asked.address(300, "192.0.2.1"))]).await
}

/// Waits until something is so, without a guess how long that takes.
async fn until(is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(OVER, wait).await.expect("it becomes so in time");
}

async fn ask_all(dns: &Dns, hosts: impl Iterator<Item = String>) -> usize {
    let mut askers = JoinSet::new();
    for host in hosts {
        let dns = dns.clone();
        askers.spawn(async move { look_up(&dns, &host).await.is_ok() });
    }
    askers.join_all().await.into_iter().filter(|found| *found).count()
}

#[tokio::test]
async fn a_thousand_who_ask_for_one_name_share_one_question() {
    let server = slow(SHORT).await;
    let dns = Dns::new(settings(&[&server]));
    let same = || std::iter::repeat_n("www.example.jp".to_owned(), 1_000);
    assert_eq!(ask_all(&dns, same()).await, 1_000);
    assert_eq!((server.count(), dns.stats().joined), (2, 999), "one of each kind");
    assert_eq!(ask_all(&dns, same()).await, 1_000);
    assert_eq!((server.count(), dns.stats().cache_hits), (2, 1_000));
    // The control: a thousand names are a thousand questions of each kind.
    let server = slow(Duration::ZERO).await;
    let dns = Dns::new(settings(&[&server]));
    assert_eq!(ask_all(&dns, (0..1_000).map(|at| format!("www.example{at}.jp"))).await, 1_000);
    assert_eq!(server.count(), 2_000);
}

#[tokio::test]
async fn survives_an_asker_who_is_gone() {
    let server = slow(Duration::from_secs(1)).await;
    let dns = Dns::new(settings(&[&server]));
    let ask = || {
        let dns = dns.clone();
        tokio::spawn(async move { addresses(&dns, "www.example.jp").await })
    };
    let first = ask();
    until(|| server.count() == 2).await;
    let second = ask();
    until(|| dns.stats().joined == 1).await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    assert_eq!(second.await.unwrap(), ["192.0.2.1"]);
    assert_eq!((server.count(), dns.stats().waiting), (2, 0), "nothing was asked again");
}

#[tokio::test]
async fn a_look_up_that_nobody_waits_for_ends_and_leaves_nothing_behind() {
    let server = NameServer::silent().await;
    let dns = Dns::new(settings(&[&server]));
    for round in 1..=3 {
        let asker = tokio::spawn({
            let dns = dns.clone();
            async move { look_up(&dns, "www.example.jp").await }
        });
        until(|| server.count() == 2 * round).await;
        assert_eq!(dns.stats().waiting, 1);
        asker.abort();
        until(|| dns.stats().waiting == 0).await;
    }
    let stats = dns.stats();
    assert_eq!((stats.abandoned, stats.failed, stats.cached), (3, 0, 0));
}

#[tokio::test]
async fn memory_has_a_bound() {
    let server = slow(Duration::ZERO).await;
    let names = || (0..3_000).map(|at| format!("www.example{at}.jp"));
    let small = Dns::new(Settings { cache_entries_max: 100, ..settings(&[&server]) });
    for host in names() {
        addresses(&small, &host).await;
        assert!(small.stats().cached <= 100, "{:?}", small.stats());
    }
    // What was asked for last is still known.
    let before = server.count();
    addresses(&small, "www.example2999.jp").await;
    assert_eq!(server.count(), before);
    // The control: with room for all nothing is asked twice.
    let large = Dns::new(Settings { cache_entries_max: 10_000, ..settings(&[&server]) });
    for _ in 0..2 {
        assert_eq!(ask_all(&large, names()).await, 3_000);
    }
    assert_eq!((large.stats().cached, large.stats().cache_hits), (3_000, 3_000));
}

#[tokio::test]
async fn look_ups_have_a_bound_in_all() {
    let server = NameServer::silent().await;
    let dns = Dns::new(Settings { look_ups_max: 10, look_up_time_max: SHORT * 4, ..hasty(&[&server]) });
    assert_eq!(ask_all(&dns, (0..100).map(|at| format!("www.example{at}.jp"))).await, 0);
    assert_eq!(dns.stats().refused, 90, "{:?}", dns.stats());
}

#[test]
fn look_ups_may_be_shared_among_threads() {
    fn check<T: Clone + Send + Sync + std::fmt::Debug + 'static>() {}
    check::<Dns>();
    let text = format!("{:?}", Dns::new(Settings::default()));
    assert!(text.starts_with("Dns { stats: DnsStats { queries: 0"), "{text}");
}
