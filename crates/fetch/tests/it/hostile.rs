//! A thousand servers that misbehave, all at once, beside an honest load that must not feel it (H5–H7, D15).
//!
//! The simulated web runs in a process of its own, so that the memory that is measured is the door's. The limits on time
//! and length are scaled down for a test run; the full run (`cargo xtask torture fetch-hostile`) keeps those of the
//! product.

use base::clock::{Clock, RealClock};
use base::door::{Cause, Door, Exchange, Failure, Request};
use base::url::Scheme;
use base::{Outcome, PageUrl};
use fetch::{AddressPolicy, AddressRange, Decoded, ExchangeLimits, Settings, WebDoor};
use sim::hostile::{self, HostileKind};
use sim::{Plan, Web};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

/// Tells a process that it is the web.
const ROLE: &str = "UTSUSHI_TEST_WEB";
/// Tells a process that it has the test for itself.
const ALONE: &str = "UTSUSHI_TEST_ALONE";
/// How many servers there are; a short run asks a part of them.
const HOSTILE: u32 = 1_000;
const HONEST: u32 = 200;
/// What of the honest load must arrive.
const SHARE_MIN: f64 = 0.95;
/// How much later than its limit a visit may end.
const LATE_MAX: Duration = Duration::from_secs(1);
/// What the bodies of all visits together may take of the memory.
const BODY_MEMORY: usize = 64 << 20;
fn web() -> Web {
    Web::new(Plan { seed: 6, pages: 20_000, servers: HONEST, hostile: HOSTILE, ..Plan::default() })
}

/// Not a test: the simulated web, which runs until its input is closed.
#[tokio::test(flavor = "multi_thread")]
async fn web_of_the_hostile_test() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let settings = sim::serve::Settings { connections_max: 8_000, ..sim::serve::Settings::default() };
    let serving = sim::serve::start(Arc::new(web()), RealClock::start(), settings).await.unwrap();
    println!("\n{}", serving.authority_pem);
    println!("ports {} {}", serving.http, serving.https.unwrap());
    std::io::stdout().flush().unwrap();
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await.unwrap().unwrap();
    serving.stop().await;
}

struct Served {
    child: Child,
    http: u16,
    https: u16,
    authority_pem: String,
}

impl Served {
    fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["hostile::web_of_the_hostile_test", "--exact", "--nocapture"])
            .env(ROLE, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut lines = output.lines().map_while(Result::ok);
        let mut authority_pem = String::new();
        let ports = loop {
            let line = lines.next().unwrap();
            match line.strip_prefix("ports ") {
                Some(ports) => {
                    break ports.split(' ').map(|port| port.parse().unwrap()).collect::<Vec<u16>>();
                }
                None => authority_pem.extend([line.as_str(), "\n"]),
            }
        };
        // The rest of its output is not used, but must be read.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, http: ports[0], https: ports[1], authority_pem }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// How the run goes: in short with scaled limits, or at full length with the product's own.
struct Run {
    limits: ExchangeLimits,
    /// How many servers misbehave.
    hostile: u32,
    /// How many honest pages are due a second, and for how long.
    pages_per_second: u32,
    load: Duration,
    /// The delay between two visits to a hostile server.
    rest: Duration,
}

impl Run {
    /// What the process may grow by: the bodies, one long content that is being read (the body, and twice as much for
    /// what it is decoded to), and 128 KiB for everything else of each connection.
    fn resident_bytes_max(&self) -> u64 {
        let connections = u64::from(self.hostile + HONEST);
        (BODY_MEMORY + 3 * self.limits.body_bytes_max) as u64 + connections * (128 << 10)
    }
}

fn run() -> Run {
    let rounds: Option<u64> = std::env::var("UTSUSHI_TORTURE_COUNT").ok().and_then(|text| text.parse().ok());
    let bodies = ExchangeLimits { body_memory_bytes_max: BODY_MEMORY, ..ExchangeLimits::default() };
    match rounds {
        Some(seconds) => Run {
            limits: bodies,
            hostile: HOSTILE,
            pages_per_second: 200,
            load: Duration::from_secs(seconds),
            rest: Duration::from_secs(10),
        },
        None => Run {
            limits: ExchangeLimits {
                first_byte_time_max: Duration::from_secs(3),
                idle_time_max: Duration::from_secs(2),
                visit_time_max: Duration::from_secs(5),
                slow_grace: Duration::from_secs(3),
                body_bytes_max: 4 << 20,
                ..bodies
            },
            hostile: HOSTILE / 4,
            pages_per_second: 50,
            load: Duration::from_secs(8),
            rest: Duration::from_secs(2),
        },
    }
}

/// What was seen.
#[derive(Default)]
struct Seen {
    /// Hostile visits, by how they ended.
    ends: BTreeMap<String, u64>,
    /// The longest visit of each kind of server.
    longest: BTreeMap<&'static str, Duration>,
    /// How much later than a limit a visit ended, at most.
    late: Duration,
    /// How long honest pages took from the moment they were due.
    honest: Vec<Duration>,
    /// What became of honest pages that did not come.
    lost: BTreeMap<String, u64>,
}

struct Scene {
    door: WebDoor,
    web: Web,
    http: u16,
    https: u16,
    limits: ExchangeLimits,
    seen: Mutex<Seen>,
}

impl Scene {
    async fn get(&self, url: &PageUrl) -> Result<Exchange, Failure> {
        let port = if url.scheme() == Scheme::Http { self.http } else { self.https };
        let to = SocketAddr::new(self.web.address(url.host()).unwrap().into(), port);
        self.door.exchange(to, &Request::get(url.clone())).await
    }

    /// Visits all of one hostile server's pages, again and again, until the time is over.
    async fn annoy(&self, number: u32, rest: Duration, until: Instant) {
        let home = PageUrl::parse(&format!("http://{}/", hostile::host(number))).unwrap();
        let mut pages = vec![home.clone()];
        let mut turn = 0;
        while Instant::now() < until {
            let url = &pages[turn % pages.len()];
            let begun = Instant::now();
            let result = self.get(url).await;
            let (took, failure) = (begun.elapsed(), result.as_ref().err().cloned());
            // What a crawler does with every answer: decode it within the caps, digest it, find its links.
            let from = home.clone();
            let read = fetch::read(url, result, move |_, content| links(&from, content)).await;
            self.note(hostile::kind(number), took, &read.outcome, failure.as_ref());
            if turn == 0 {
                pages.extend(read.learned.into_iter().flatten());
            }
            turn += 1;
            sleep(rest).await;
        }
    }

    fn note(&self, kind: HostileKind, took: Duration, outcome: &Outcome, failure: Option<&Failure>) {
        let (end, limit) = match (outcome, failure) {
            (Outcome::Fetched { truncated: Some(reason), .. }, _) => {
                (format!("cut: {}", reason.as_str()), self.limits.visit_time_max)
            }
            (_, Some(Failure { cause: Cause::TimeOut(limit), phase, .. })) => {
                (format!("no {} in time", phase.as_str()), *limit)
            }
            (_, Some(failure)) => (failure.to_string(), self.limits.visit_time_max),
            _ => (outcome.as_str().to_owned(), self.limits.visit_time_max),
        };
        let mut seen = self.seen.lock().unwrap();
        *seen.ends.entry(end).or_default() += 1;
        let longest = seen.longest.entry(kind.word()).or_default();
        *longest = (*longest).max(took);
        seen.late = seen.late.max(took.saturating_sub(limit));
    }

    /// One honest page, due at `due`.
    async fn honest(&self, number: u32, turn: u64, due: Instant, until: Instant) {
        let now = RealClock::start().now();
        let server = number % HONEST;
        let page = turn % self.web.server_pages(server).max(1);
        let url = PageUrl::parse(&self.web.page_url(server, page, now)).unwrap();
        let result = timeout_at(until, self.get(&url)).await;
        let mut seen = self.seen.lock().unwrap();
        match result {
            Ok(Ok(_)) => seen.honest.push(due.elapsed()),
            Ok(Err(failure)) => *seen.lost.entry(failure.to_string()).or_default() += 1,
            Err(_) => *seen.lost.entry("not in time".to_owned()).or_default() += 1,
        }
    }
}

fn links(home: &PageUrl, content: &Decoded<'_>) -> Vec<PageUrl> {
    let Decoded::Whole(content) = content else { return Vec::new() };
    let text = String::from_utf8_lossy(content);
    let targets = text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let targets = targets.filter(|target| target.starts_with('/') && !target.starts_with("/private"));
    targets.filter_map(|target| home.join(target).ok()).filter(|url| url != home).collect()
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// The scene is played in a process of its own: memory and open files are counted per process, and the tests beside this
/// one have theirs.
#[test]
fn survives_h6_a_thousand_hostile_servers_beside_an_honest_load() {
    if std::env::var_os(ALONE).is_some() {
        return play();
    }
    let status = Command::new(std::env::current_exe().unwrap())
        .args([
            "hostile::survives_h6_a_thousand_hostile_servers_beside_an_honest_load",
            "--exact",
            "--nocapture",
        ])
        .env(ALONE, "1")
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}

fn play() {
    let served = Served::start();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let files_before = open_files();
    runtime.block_on(scene(&served));
    // A task's end is reported a moment before the task is off the list.
    let patience = Instant::now() + LATE_MAX;
    while runtime.metrics().num_alive_tasks() > 0 && Instant::now() < patience {
        std::thread::yield_now();
    }
    assert_eq!(runtime.metrics().num_alive_tasks(), 0, "a task is left");
    drop(runtime);
    assert!(open_files() <= files_before, "{} files are left open", open_files() - files_before);
}

async fn scene(served: &Served) {
    let run = run();
    let settings = Settings {
        addresses: AddressPolicy::only(vec![AddressRange::LOOPBACK]),
        extra_roots_pem: served.authority_pem.clone().into_bytes(),
        limits: run.limits.clone(),
        ..Settings::default()
    };
    let door = WebDoor::new(settings).unwrap();
    let scene = Arc::new(Scene {
        door,
        web: web(),
        http: served.http,
        https: served.https,
        limits: run.limits.clone(),
        seen: Mutex::default(),
    });
    let before = resident_bytes();
    let begun = Instant::now();
    let until = begun + run.load;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..run.hostile {
        let (scene, rest) = (Arc::clone(&scene), run.rest);
        // As fast as connections can be made, and not all in one millisecond.
        let delay = Duration::from_secs(1) * number / HOSTILE;
        tasks.spawn(async move {
            sleep(delay).await;
            scene.annoy(number, rest, until).await;
        });
    }
    let mut resident = 0;
    let count = run.pages_per_second * u32::try_from(run.load.as_secs()).unwrap();
    for turn in 0..count {
        let due = begun + run.load * turn / count;
        sleep_until(due).await;
        let (scene, ends) = (Arc::clone(&scene), until + Duration::from_secs(2));
        tasks.spawn(async move { scene.honest(turn, u64::from(turn / HONEST), due, ends).await });
        if turn % run.pages_per_second == 0 {
            resident = resident.max(resident_bytes().saturating_sub(before));
        }
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    resident = resident.max(resident_bytes().saturating_sub(before));
    report(&scene.seen.lock().unwrap(), &run, count, resident);
}

#[expect(clippy::print_stdout, reason = "the figures are what a full run is for")]
fn report(seen: &Seen, run: &Run, count: u32, resident: u64) {
    let (hostile, visit_time_max) = (run.hostile, run.limits.visit_time_max);
    let mut honest = seen.honest.clone();
    honest.sort_unstable();
    let at = |share: usize| honest.get(honest.len().saturating_sub(1) * share / 100).copied();
    let visits: u64 = seen.ends.values().sum();
    println!("hostile visits: {visits}");
    seen.ends.iter().for_each(|(end, count)| println!("  {count:>7}  {end}"));
    println!("longest by kind: {:?}", seen.longest);
    println!("latest after its limit: {:?}", seen.late);
    println!(
        "honest pages: {} of {count}, lost {:?}; median {:?}, 99th of 100 {:?}",
        honest.len(),
        seen.lost,
        at(50),
        at(99)
    );
    println!("grown by {} MiB, may grow by {} MiB", resident >> 20, run.resident_bytes_max() >> 20);
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    let share = honest.len() as f64 / f64::from(count);
    assert!(visits >= u64::from(hostile), "only {visits} hostile visits ended");
    assert!(share >= SHARE_MIN, "only {share} of the honest load arrived");
    // A limit runs from the beginning of its phase. What came before that an honest visit needed as well.
    let before = honest.last().copied().unwrap_or_default();
    assert!(seen.late <= LATE_MAX + before, "a visit ended {:?} after its limit", seen.late);
    let longest = seen.longest.values().max().copied().unwrap_or_default();
    assert!(longest <= visit_time_max + LATE_MAX, "a visit took {longest:?}");
    assert!(resident <= run.resident_bytes_max(), "the process grew by {resident} bytes");
}
