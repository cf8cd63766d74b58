//! The purpose of the guard: a client that sends without delay, and an observer on the servers' side that shares no
//! code with it and counts violations. Without the guard the same client makes many.

use crate::client::{Failed, Goal, Impatient, connector};
use crate::place::{self, Inside, limits, not_tested, settings};
use base::clock::RealClock;
use guard::{AddressRules, Guard, TrafficLimits};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const SERVERS: usize = 50;
const ADDRESSES: usize = 10;
/// Clients of one server, each without any manners.
const CLIENTS_PER_SERVER: usize = 2;
const REQUESTS_PER_CONNECTION: u32 = 6;
/// Public addresses, which exist only inside.
const PREPARE: &str = "for n in 1 2 3 4 5 6 7 8 9 10; do ip addr add 11.0.1.$n/32 dev lo || exit 77; done";

fn requests() -> u32 {
    std::env::var("UTSUSHI_TORTURE_COUNT").map_or(400, |count| count.parse().unwrap())
}

/// The observer at work.
struct Observer {
    process: Child,
    lines: BufReader<ChildStdout>,
    goals: Vec<Goal>,
    authority_pem: String,
}

impl Observer {
    fn start(place: &Path, pause: Duration, network: &str) -> Self {
        let names: Vec<String> = (0..SERVERS).map(|server| format!("server-{server}.example")).collect();
        let authority_pem = write_certificate(place, names.clone());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/observer.py");
        let mut command = Command::new("python3");
        command.arg(script).arg(pause.as_secs_f64().to_string()).args(["certificate.pem", "key.pem"]);
        command.args((1..=ADDRESSES).map(|number| format!("{network}.{number}")));
        command.current_dir(place).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        let places = object(&mut lines);
        let goals = names.into_iter().enumerate().map(|(number, server)| {
            let (at, tls) = (&places[number % ADDRESSES], number >= SERVERS / 2);
            let port = at[if tls { "https" } else { "http" }].as_u64().unwrap();
            let address: SocketAddr = format!("{}:{port}", at["address"].as_str().unwrap()).parse().unwrap();
            Goal { server, address, tls }
        });
        Self { goals: goals.collect(), process, lines, authority_pem }
    }

    fn report(mut self) -> Value {
        drop(self.process.stdin.take());
        let report = object(&mut self.lines);
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        assert!(self.process.wait().unwrap().success(), "{rest}");
        report
    }
}

/// A failed test leaves no process running.
impl Drop for Observer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn object(lines: &mut impl BufRead) -> Value {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// One certificate for all servers; gives the authority's.
fn write_certificate(place: &Path, names: Vec<String>) -> String {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
    std::fs::write(place.join("certificate.pem"), certificate.pem()).unwrap();
    std::fs::write(place.join("key.pem"), key.serialize_pem()).unwrap();
    authority.pem()
}

/// All clients at once, until every server has given its share of the answers. Gives how often one was sent away.
async fn storm(observer: &Observer, guard: Option<SocketAddr>, requests: u32) -> u64 {
    let tls = connector(&observer.authority_pem);
    let client = Impatient { guard, tls, requests_per_connection: REQUESTS_PER_CONNECTION };
    let share = requests.div_ceil(u32::try_from(SERVERS).unwrap());
    let mut clients = tokio::task::JoinSet::new();
    for goal in &observer.goals {
        let answered = Arc::new(AtomicU32::new(0));
        for _ in 0..CLIENTS_PER_SERVER {
            clients.spawn(ask_on(client.clone(), goal.clone(), answered.clone(), share));
        }
    }
    clients.join_all().await.into_iter().sum()
}

/// Asks one server again and again until it has given enough answers.
async fn ask_on(client: Impatient, goal: Goal, answered: Arc<AtomicU32>, share: u32) -> u64 {
    let mut sent_away = 0;
    loop {
        let left = share.saturating_sub(answered.load(Ordering::SeqCst));
        if left == 0 {
            return sent_away;
        }
        match client.ask(&goal, left).await {
            Ok(count) => _ = answered.fetch_add(count, Ordering::SeqCst),
            Err(Failed::Ended) => {}
            Err(Failed::Later(wait)) => {
                sent_away += 1;
                tokio::time::sleep(wait).await;
            }
        }
    }
}

fn violations(report: &Value) -> u64 {
    let of = |party: &str| {
        report[party]["overlaps"].as_u64().unwrap() + report[party]["too_soon"].as_u64().unwrap()
    };
    of("by_server") + of("by_address")
}

/// A storm through the guard. Clients are sent away when they would wait longer than a quarter of a second.
async fn through_the_guard(network: &str, addresses: AddressRules) {
    let place = tempfile::tempdir().unwrap();
    let limits = TrafficLimits {
        wait_max: Duration::from_millis(250),
        address_requests_per_day: 1_000_000,
        ..limits()
    };
    let settings = guard::Settings { addresses, ..settings(place.path(), limits) };
    let guard = Guard::start(settings, RealClock::start()).await.unwrap();
    let observer = Observer::start(place.path(), limits.pause, network);
    let requests = requests();
    let sent_away = storm(&observer, Some(guard.address()), requests).await;
    let (report, status) = (observer.report(), guard.status());
    guard.stop().await;
    tell(&format!("with the guard, {requests} requests, clients sent away {sent_away} times: {report}"));
    assert_eq!(violations(&report), 0, "{report}");
    assert!(report["requests"].as_u64().unwrap() >= u64::from(requests), "{report}");
    assert!(report["https"].as_u64().unwrap() >= u64::from(requests) / 2, "{report}");
    assert_eq!((&report["by_server"]["parties"], &report["by_address"]["parties"]), (&50.into(), &10.into()));
    for scheme in ["http", "https"] {
        assert!(
            report["most_on_one_connection"][scheme].as_u64().unwrap() > 1,
            "connections are kept: {report}"
        );
    }
    let logged = place::lines(&place.path().join("guard"), "passed").len() as u64;
    assert!(logged >= report["requests"].as_u64().unwrap(), "every request stands in the log");
    assert_eq!(status["passed"].as_u64().unwrap(), logged);
}

/// Shows what was seen inside.
fn show(said: &str) {
    let lines = said.lines().filter(|line| line.contains(" requests"));
    lines.filter_map(|line| line.find("with").and_then(|start| line.get(start..))).for_each(tell);
}

#[expect(clippy::print_stdout, reason = "people read it")]
fn tell(line: &str) {
    println!("{line}");
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Whether there is a Python to observe with; if not, prints a note.
fn can_observe() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok();
    if !found {
        not_tested("politeness as servers see it, for there is no python3");
    }
    found
}

#[test]
fn survives_h13_a_client_without_any_pause_behind_the_guard() {
    if !can_observe() {
        return;
    }
    match place::inside("observed::survives_h13_a_client_without_any_pause_behind_the_guard", PREPARE) {
        Inside::Passed(said) => show(&said),
        // Public addresses need no permission.
        Inside::Here => runtime().block_on(through_the_guard("11.0.1", AddressRules::default())),
        Inside::NotAllowed => {
            let opened = vec!["127.0.0.0/8".parse().unwrap()];
            runtime().block_on(through_the_guard("127.0.1", AddressRules { opened }));
        }
    }
}

/// The same client without the guard: the observer sees what it does.
#[test]
fn survives_h13_needs_the_guard() {
    if !can_observe() {
        return;
    }
    match place::inside("observed::survives_h13_needs_the_guard", PREPARE) {
        Inside::Passed(said) => show(&said),
        Inside::NotAllowed => not_tested("a client without the guard, for there is no network to keep it in"),
        Inside::Here => runtime().block_on(async {
            let place = tempfile::tempdir().unwrap();
            let observer = Observer::start(place.path(), place::PAUSE, "11.0.1");
            let requests = requests();
            storm(&observer, None, requests).await;
            let report = observer.report();
            tell(&format!("without the guard, {requests} requests: {report}"));
            assert!(violations(&report) > u64::from(requests) / 2, "{report}");
        }),
    }
}

/// The observer is not blind: it counts what comes a little too soon.
#[test]
fn a_guard_that_is_too_quick_is_seen() {
    if !can_observe() {
        return;
    }
    runtime().block_on(async {
        let place = tempfile::tempdir().unwrap();
        let guard = Guard::start(settings(place.path(), limits()), RealClock::start()).await.unwrap();
        let observer = Observer::start(place.path(), place::PAUSE + Duration::from_millis(3), "127.0.1");
        storm(&observer, Some(guard.address()), 150).await;
        let report = observer.report();
        guard.stop().await;
        assert!(violations(&report) > 20, "{report}");
    });
}
