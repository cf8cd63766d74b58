//! A dead zone stalls only itself (C9, H27).

use super::name_server::{Act, Asked, NameServer};
use super::{OVER, SHORT, addresses, look_up, settings};
use base::door::Cause;
use fetch::Dns;
use fetch::dns::Settings;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

/// The living answer at once; the dead never do.
async fn server() -> NameServer {
    let is_dead = |asked: &Asked| asked.name.contains("dead");
    NameServer::start(move |asked| match is_dead(asked) {
        true => Vec::new(),
        false => vec![Act::Send(asked.address(300, "192.0.2.1"))],
    })
    .await
}

/// Begins look-ups that will not be answered.
fn begin(
    dns: &Dns,
    hosts: impl Iterator<Item = String>,
) -> JoinSet<Result<fetch::dns::ResolvedAddresses, Cause>> {
    let mut askers = JoinSet::new();
    for host in hosts {
        let dns = dns.clone();
        askers.spawn(async move { look_up(&dns, &host).await });
    }
    askers
}

fn dead(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|at| format!("host{at}.dead.example"))
}

/// The time of two hundred sequential look-ups in working zones.
async fn living(dns: &Dns) -> Duration {
    let begun = Instant::now();
    for at in 0..200 {
        assert_eq!(addresses(dns, &format!("www.living{at}.example")).await, ["192.0.2.1"]);
    }
    begun.elapsed()
}

/// Ten thousand look-ups in a dead zone: four run, 64 wait, the others are refused at once, and other zones are not
/// affected.
#[tokio::test]
async fn survives_h27_a_dead_zone_with_ten_thousand_hosts() {
    let server = server().await;
    let alone = living(&Dns::new(settings(&[&server]))).await;
    let dns = Dns::new(settings(&[&server]));
    let mut askers = begin(&dns, dead(10_000));
    let begun = Instant::now();
    for _ in 0..10_000 - 4 - 64 {
        let refused = askers.join_next().await.unwrap().unwrap();
        let Err(Cause::NameServer(why)) = refused else { panic!("{refused:?}") };
        assert_eq!(why, "not looked up: 68 names of `dead.example` are being looked up already");
    }
    let refusing = begun.elapsed();
    let beside = living(&dns).await;
    println!("200 look-ups: {alone:?} alone, {beside:?} beside a dead zone; 9,932 refused in {refusing:?}");
    assert_eq!(server.count_below("dead.example"), 8, "four look-ups, two questions each");
    assert!(beside < Duration::from_secs(5), "they did not wait for a try of the dead: {beside:?}");
    let stats = dns.stats();
    assert_eq!((stats.refused, stats.waiting, stats.answered), (10_000 - 68, 68, 200));
}

/// The control: the same without the bound of a zone. The dead take every turn, and the living wait with them.
#[tokio::test]
async fn without_its_own_bound_a_dead_zone_stalls_all() {
    let server = server().await;
    let boundless = Settings {
        zone_queries_max: 256,
        zone_waiting_max: 10_000,
        look_ups_max: 20_000,
        ..settings(&[&server])
    };
    let dns = Dns::new(boundless);
    let _askers = begin(&dns, dead(10_000));
    while server.count_below("dead.example") < 256 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(timeout(Duration::from_secs(2), dns.look_up("www.living.example")).await.is_err());
    assert_eq!(server.count_below("living.example"), 0);
}

/// Look-ups that wait in the queue of a dead zone fail in time, and their own names do not count as dead.
#[tokio::test]
async fn who_waits_in_vain_is_refused_and_not_remembered() {
    let server = server().await;
    let dns = Dns::new(Settings { look_up_time_max: SHORT * 10, ..settings(&[&server]) });
    let results = timeout(OVER, begin(&dns, dead(50)).join_all()).await.unwrap();
    let refused = |result: &&Result<_, Cause>| matches!(result, Err(Cause::NameServer(why)) if why.contains("slow with other names, of `dead.example`"));
    assert_eq!(results.iter().filter(refused).count(), 46);
    let stats = dns.stats();
    assert_eq!((stats.refused, stats.failed, stats.cached, stats.waiting), (46, 4, 4, 0));
}

/// Many dead zones at once fill every turn once. From then on they are known, and share a quarter of the turns.
#[tokio::test]
async fn survives_h27_many_dead_zones() {
    let server = server().await;
    let hosts = |round: usize| (0..100).map(move |at| format!("host{round}.dead{at}.example"));
    let scaled = |time| Settings { queries_max: 16, try_time: time, attempts: 1, ..settings(&[&server]) };
    let dns = Dns::new(scaled(SHORT));
    // The first round: every zone is found to be dead, eight at a time.
    timeout(OVER, begin(&dns, hosts(1)).join_all()).await.unwrap();
    assert_eq!(dns.stats().failed, 100);
    // The second: all are asked again, for other names, and the living are not stalled.
    let askers = begin(&dns, hosts(2));
    let took = living(&dns).await;
    println!("200 look-ups beside 100 dead zones: {took:?}");
    assert!(took < Duration::from_secs(5), "{took:?}");
    // In one line with them, a hundred dead ones would have come first.
    let dead = server.asked().iter().filter(|asked| asked.name.starts_with("host2.dead")).count();
    assert!((4..100).contains(&dead), "{dead} questions for the dead");
    drop(askers);
    // The control: without knowledge of dead zones, working ones wait for them.
    let dns = Dns::new(scaled(OVER));
    let _askers = begin(&dns, hosts(3));
    while server.count_below("example") < 16 || dns.stats().queries < 16 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(timeout(Duration::from_secs(2), dns.look_up("www.living.example")).await.is_err());
}

/// A zone in trouble has one look-up at a time, until one succeeds.
#[tokio::test]
async fn a_zone_that_lives_again_is_trusted_again() {
    let server = NameServer::start(|asked| match asked.name.split_once('.') {
        Some(("bad", _)) => vec![Act::Send(asked.error(2))],
        Some(("good" | "www", _)) => vec![Act::Send(asked.address(300, "192.0.2.1"))],
        _ => Vec::new(),
    })
    .await;
    let dns = Dns::new(settings(&[&server]));
    // How many questions of eight look-ups are on their way by the time two hundred others are answered.
    let at_once = async |round: usize| {
        let _askers = begin(&dns, (0..8).map(|at| format!("late{round}-{at}.zone.example")));
        let fresh = Dns::new(settings(&[&server]));
        living(&fresh).await;
        server.asked().iter().filter(|asked| asked.name.starts_with(&format!("late{round}"))).count()
    };
    assert_eq!(at_once(1).await, 8);
    assert!(look_up(&dns, "bad.zone.example").await.is_err());
    assert_eq!(at_once(2).await, 2);
    assert_eq!(addresses(&dns, "good.zone.example").await, ["192.0.2.1"]);
    assert_eq!(at_once(3).await, 8);
}
