//! A crawl that is killed at random moments and restarted, over a simulated web in its own process.
//!
//! After every kill: whatever was acknowledged is in the archive where it was said to be; no page was archived twice for one
//! due time; and the servers, who know nothing of any crash, saw no pause shortened, no `Crawl-delay` forgotten, nothing
//! forbidden. `cargo xtask torture crawl-kill` does it 500 times.

use crate::program::{objects, on, utsushi};
use archive::Entry;
use base::disk::RealDisk;
use base::{Chance, Timestamp};
use serde_json::Value;
use sim::{Plan, Web};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn plan(rounds: u64) -> Plan {
    Plan { seed: 11, pages: 2_000 + 40 * rounds, servers: 60, ..Plan::default() }
}

/// The web, its names, and what is needed to crawl it.
struct Rig {
    place: TempDir,
    web: Web,
    serving: Child,
    port: u16,
}

impl Rig {
    fn start(rounds: u64) -> Self {
        let (place, plan) = (TempDir::new().unwrap(), plan(rounds));
        let mut command = utsushi();
        command.args(["--json", "sim", "serve", "--seed", "11"]);
        command.args(["--pages", &plan.pages.to_string(), "--servers", &plan.servers.to_string()]);
        let mut serving = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(serving.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let port = u16::try_from(told["http_port"].as_u64().unwrap()).unwrap();
        let rig = Self { place, web: Web::new(plan), serving, port };
        rig.write_settings(answer_names(rig.web.clone()));
        rig
    }
    fn data(&self) -> PathBuf {
        self.place.path().join("data")
    }
    fn settings(&self) -> PathBuf {
        self.place.path().join("crawl.toml")
    }
    fn write_settings(&self, name_server: u16) {
        let text = format!(
            "[crawl]\npause = \"1s\"\nscope = \"any\"\n[fetch]\nproxy = \"http://127.0.0.1:{}\"\n\
             dns_servers = [\"127.0.0.1:{name_server}\"]\nallow_addresses = [\"127.0.0.0/8\"]\n\
             certificates = \"marked\"\n",
            self.port
        );
        std::fs::write(self.settings(), text).unwrap();
    }

    /// Starts or continues the crawl.
    fn crawl(&self, is_first: bool) -> Child {
        let mut command = utsushi();
        command
            .arg("--json")
            .arg("--config")
            .arg(self.settings())
            .arg("--data")
            .arg(self.data())
            .arg("crawl");
        if is_first {
            command
                .args((0..self.web.plan().servers).map(|server| self.web.page_url(server, 0, sim::ORIGIN)));
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// What the servers felt so far.
    fn politeness(&self) -> Value {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        write!(stream, "GET /politeness HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = self.serving.kill();
        let _ = self.serving.wait();
    }
}

/// A name server for the simulated web, for as long as the tests run; its port.
fn answer_names(web: Web) -> u16 {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = socket.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut query = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut query) {
            if let Some(answer) = answer_name(&web, &query[..length]) {
                let _ = socket.send_to(&answer, from);
            }
        }
    });
    port
}

/// One question, one answer (RFC 1035); addresses of version 4 alone.
fn answer_name(web: &Web, query: &[u8]) -> Option<Vec<u8>> {
    let (mut at, mut name) = (12, String::new());
    while let Some(length @ 1..) = query.get(at).copied().map(usize::from) {
        let label = query.get(at + 1..=at + length)?;
        write!(name, "{}{}", if name.is_empty() { "" } else { "." }, String::from_utf8_lossy(label)).ok()?;
        at += length + 1;
    }
    let question = query.get(12..at + 5)?;
    let is_address = question.get(question.len() - 4..question.len() - 2)? == [0, 1];
    let address = web.address(&name.to_ascii_lowercase());
    let found = address.filter(|_| is_address);
    let mut answer = query.get(..2)?.to_vec();
    answer.extend([0x81, if address.is_some() { 0x80 } else { 0x83 }]);
    answer.extend([0, 1, 0, u8::from(found.is_some()), 0, 0, 0, 0]);
    answer.extend_from_slice(question);
    if let Some(address) = found {
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0x0e, 0x10, 0, 4]);
        answer.extend(address.octets());
    }
    Some(answer)
}

/// The lines of a process as they come.
fn lines(child: &mut Child) -> Receiver<String> {
    let (tell, told) = channel();
    let output = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            let _ = tell.send(line);
        }
    });
    told
}

/// Lets a crawl run until some moment, kills it, and returns the lines it printed: they were acknowledged.
#[expect(clippy::disallowed_methods, reason = "a process is killed at a moment of real time")]
fn run_and_kill(mut child: Child, chance: &mut Chance) -> Vec<String> {
    let told = lines(&mut child);
    let end = Instant::now() + Duration::from_millis(200 + chance.below(3_800));
    let lines_max = if chance.below(2) == 0 { chance.index(80) } else { usize::MAX };
    let mut said = Vec::new();
    while said.len() < lines_max {
        match told.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) => said.push(line),
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => {
                let mut why = String::new();
                child.stderr.take().unwrap().read_to_string(&mut why).unwrap();
                panic!("the crawl ended by itself: {why}");
            }
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    said.extend(told.iter());
    said
}

type Place = (String, u64, u64, String);

/// What a capture's line says of its place; by this the record is found again.
fn place(line: &str) -> Option<Place> {
    let value: Value = serde_json::from_str(line).ok()?;
    let file = value["file"].as_str()?.to_owned();
    Some((file, value["offset"].as_u64()?, value["length"].as_u64()?, value["url"].as_str()?.to_owned()))
}

fn captures(data: &Path) -> Vec<Entry> {
    let directory = data.join("archive");
    if !directory.exists() {
        return Vec::new();
    }
    let entries = archive::list(&RealDisk, &directory).unwrap().map(|entry| entry.unwrap());
    entries.filter(Entry::is_visit).collect()
}

fn kept_at(entry: &Entry) -> Place {
    let location = &entry.location;
    (location.file.to_string(), location.offset, location.length, entry.url.clone())
}

/// Pages that were archived twice in one minute: due times are whole minutes, so both visits were for one.
fn doubles(captures: &[Entry]) -> Vec<(String, Timestamp)> {
    let mut last: HashMap<&str, Timestamp> = HashMap::new();
    let mut doubles = Vec::new();
    for entry in captures {
        let minute = |at: Timestamp| at.as_seconds().div_euclid(60);
        let before = last.insert(&entry.url, entry.at);
        if before.is_some_and(|before| minute(before) == minute(entry.at)) {
            doubles.push((entry.url.clone(), entry.at));
        }
    }
    doubles
}

#[test]
fn killed_crawl_loses_nothing_asks_nobody_too_soon_and_nothing_twice() {
    let (rounds, seed) = (number("UTSUSHI_TORTURE_COUNT", 5), number("UTSUSHI_TORTURE_SEED", 1));
    let (rig, mut chance) = (Rig::start(rounds), Chance::new(seed));
    let mut acknowledged: HashSet<Place> = HashSet::new();
    for round in 0..rounds {
        let said = run_and_kill(rig.crawl(round == 0 || acknowledged.is_empty()), &mut chance);
        acknowledged.extend(said.iter().filter_map(|line| place(line)));
        let captures = captures(&rig.data());
        let kept: HashSet<Place> = captures.iter().map(kept_at).collect();
        let lost: Vec<_> = acknowledged.difference(&kept).collect();
        assert!(lost.is_empty(), "round {round}: {lost:?}");
        assert_eq!(kept.len(), captures.len(), "round {round}: no record is there twice");
        let doubles = doubles(&captures);
        assert!(doubles.is_empty(), "round {round}: {doubles:?}");
        let politeness = rig.politeness();
        assert_eq!(politeness["violations"], 0, "round {round}: {politeness:#}");
    }
    assert!(acknowledged.len() as u64 > rounds, "only {} were acknowledged", acknowledged.len());
    let requests = rig.politeness()["at_servers"]["requests"].clone();
    println!("{rounds} kills, {} acknowledged, {requests} requests seen by the servers", acknowledged.len());
    // The next writer finishes what was left, and nothing is wrong with it.
    let verified = on(&rig.data(), &["--json", "verify"]).done();
    assert!(!objects(&verified).is_empty());
    let history = |place: &Place| on(&rig.data(), &["--json", "history", &place.3]).done();
    for place in acknowledged.iter().take(20) {
        assert!(objects(&history(place)).iter().any(|line| line["url"] == place.3.as_str()), "{place:?}");
    }
}
