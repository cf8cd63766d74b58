//! Look-ups against a real name server on loopback, with scripted answers.

mod answers;
mod lies;
mod name_server;
mod share;
mod trouble;
mod zones;

use base::Interval;
use base::door::Cause;
use fetch::Dns;
use fetch::dns::{ResolvedAddresses, Settings};
use name_server::NameServer;
use std::time::Duration;

/// By then it must be over, however busy the machine is.
const OVER: Duration = Duration::from_secs(30);
/// The time of a try where silence is what is tested.
const SHORT: Duration = Duration::from_millis(200);

/// Queries these servers in turn, with long time-outs.
fn settings(servers: &[&NameServer]) -> Settings {
    let servers = servers.iter().map(|server| server.address).collect();
    Settings { servers, try_time: Duration::from_secs(5), look_up_time_max: OVER, ..Settings::default() }
}

/// The same, giving up soon.
fn hasty(servers: &[&NameServer]) -> Settings {
    Settings { try_time: SHORT, attempts: 1, ..settings(servers) }
}

fn dns(server: &NameServer) -> Dns {
    Dns::new(settings(&[server]))
}

async fn look_up(dns: &Dns, host: &str) -> Result<ResolvedAddresses, Cause> {
    tokio::time::timeout(OVER, dns.look_up(host)).await.expect("every look-up ends in time")
}

/// The addresses of a host that has some.
async fn addresses(dns: &Dns, host: &str) -> Vec<String> {
    let answer = look_up(dns, host).await.unwrap();
    answer.addresses.iter().map(ToString::to_string).collect()
}

/// How a look-up failed at the name servers.
async fn failure(dns: &Dns, host: &str) -> String {
    match look_up(dns, host).await {
        Err(Cause::NameServer(what)) => what,
        other => panic!("{other:?}"),
    }
}

/// Advances the time without waiting.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// At most `seconds`, and less only by what may pass while the test runs.
#[track_caller]
fn check_lifetime(lifetime: Interval, seconds: u64) {
    let (least, most) = (Interval::from_seconds(seconds.saturating_sub(20)), Interval::from_seconds(seconds));
    assert!(least < lifetime && lifetime <= most, "{lifetime} for {seconds} s");
}
