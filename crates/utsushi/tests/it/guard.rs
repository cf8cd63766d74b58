//! The egress guard as a process of its own.

use crate::program::{on, utsushi};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// `guard` at work.
struct Guarding {
    process: Child,
    lines: BufReader<ChildStdout>,
    told: Value,
    since: Instant,
}

impl Guarding {
    fn start(data: &Path, arguments: &[&str]) -> Self {
        let mut command = utsushi();
        command.arg("--data").arg(data).args(["--json", "guard", "--listen", "127.0.0.1:0", "--pause", "1s"]);
        command.args(["--allow-address", "127.0.0.0/8"]).args(arguments);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        let told = object(&mut lines);
        assert_eq!(told["event"], "guarding", "{told}");
        Self { process, lines, told, since: now() }
    }
    /// A connection to it.
    fn connect(&self) -> TcpStream {
        let proxy: SocketAddr =
            self.told["proxy"].as_str().unwrap().strip_prefix("http://").unwrap().parse().unwrap();
        TcpStream::connect(proxy).unwrap()
    }
    /// What it answers to a request for a tunnel; the tunnel stays open with it.
    fn tunnel(&self, to: SocketAddr) -> (TcpStream, String) {
        let mut stream = self.connect();
        write!(stream, "CONNECT {to} HTTP/1.1\r\nUtsushi-Server: a.example\r\n\r\n").unwrap();
        let answer = head(&mut stream);
        (stream, answer)
    }
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }
    fn kill(mut self) {
        self.signal(Signal::KILL);
        self.process.wait().unwrap();
    }
}

/// A failed test leaves no process.
impl Drop for Guarding {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "what is measured is real time")]
fn now() -> Instant {
    Instant::now()
}

fn object(lines: &mut impl BufRead) -> Value {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|bytes| bytes == 1) {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

/// A server that counts requests.
fn server() -> (SocketAddr, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::new(AtomicU32::new(0)));
    let counted = count.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map(Result::unwrap) {
            let counted = counted.clone();
            std::thread::spawn(move || {
                while !head(&mut stream).is_empty() {
                    counted.fetch_add(1, Ordering::SeqCst);
                    stream.write_all(ANSWER.as_bytes()).unwrap();
                }
            });
        }
    });
    (address, count)
}

fn ask(stream: &mut TcpStream) -> String {
    let _ = write!(stream, "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
    let answer = head(stream);
    let mut body = [0; 2];
    let _ = stream.read_exact(&mut body);
    answer
}

fn log_file(data: &Path) -> PathBuf {
    let files = std::fs::read_dir(data.join("guard")).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some()).max().unwrap()
}

#[test]
fn it_guards_until_a_signal_and_tells_what_it_did() {
    for signal in [Signal::TERM, Signal::INT] {
        let place = tempfile::tempdir().unwrap();
        let (address, count) = server();
        let mut guarding = Guarding::start(place.path(), &[]);
        let (mut tunnel, answer) = guarding.tunnel(address);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(guarding.since.elapsed() >= Duration::from_millis(990), "the first waits one full pause");
        assert!(ask(&mut tunnel).starts_with("HTTP/1.1 200 OK"));
        let passed = object(&mut guarding.lines);
        assert_eq!(
            (&passed["event"], &passed["server"]),
            (&"passed".into(), &"a.example".into()),
            "{passed}"
        );

        let mut status = guarding.connect();
        write!(status, "GET /status HTTP/1.1\r\n\r\n").unwrap();
        assert!(head(&mut status).starts_with("HTTP/1.1 200 OK"));
        guarding.signal(signal);
        let (mut rest, mut last) = (String::new(), Value::Null);
        guarding.lines.read_to_string(&mut rest).unwrap();
        for line in rest.lines() {
            last = serde_json::from_str(line).unwrap();
        }
        assert_eq!((&last["event"], &last["passed"]), (&"summary".into(), &1.into()), "{rest}");
        assert_eq!(guarding.process.wait().unwrap().code(), Some(0));
        assert_eq!(count.load(Ordering::SeqCst), 1);
        let log = std::fs::read_to_string(log_file(place.path())).unwrap();
        assert!(log.lines().last().unwrap().contains("\"stopped\""), "{log}");
    }
}

/// Killed in the middle of a request, again and again.
#[test]
fn survives_h13_killed_in_the_middle_no_cap_is_reset_and_a_full_pause_is_kept() {
    let place = tempfile::tempdir().unwrap();
    let (address, count) = server();
    for round in 1..=3 {
        let guarding = Guarding::start(place.path(), &["--server-requests-per-day", "3"]);
        let (mut tunnel, answer) = guarding.tunnel(address);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(guarding.since.elapsed() >= Duration::from_millis(990), "round {round}");
        assert!(ask(&mut tunnel).starts_with("HTTP/1.1 200 OK"));
        guarding.kill();
        // As a power cut would leave it: the last line is cut off.
        let log = log_file(place.path());
        let mut torn = std::fs::OpenOptions::new().append(true).open(log).unwrap();
        torn.write_all(b"{\"event\":\"passed\",\"addr").unwrap();
    }
    let guarding = Guarding::start(place.path(), &["--server-requests-per-day", "3"]);
    let (_, answer) = guarding.tunnel(address);
    assert!(answer.starts_with("HTTP/1.1 429 ") && answer.contains("Retry-After: "), "{answer}");
    assert_eq!(count.load(Ordering::SeqCst), 3);
    guarding.kill();
}

#[test]
fn survives_m8_a_second_guard_is_told_who_the_first_is() {
    let place = tempfile::tempdir().unwrap();
    let guarding = Guarding::start(place.path(), &[]);
    let ended = on(place.path(), &["guard", "--listen", "127.0.0.1:0"]);
    ended.could_not(&["in use by process", &guarding.process.id().to_string()]);
}

#[test]
fn what_cannot_be_guarded_is_told() {
    let place = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let _held = TcpListener::bind(&taken).unwrap();
    on(place.path(), &["guard", "--listen", &taken]).could_not(&["cannot listen on", "--listen"]);
    on(place.path(), &["guard", "--listen", "0.0.0.0:0"]).could_not(&["other machines", "--public-listen"]);
    on(place.path(), &["guard", "--pause", "0s"]).wrong(&["a length of time from 1s to 1d"]);
    on(place.path(), &["guard", "--allow-address", "home"]).wrong(&["no block of addresses"]);
    on(place.path(), &["guard", "--bytes-per-day", "much"]).wrong(&["a number of bytes"]);
    let file = place.path().join("file");
    std::fs::write(&file, "").unwrap();
    on(&file, &["guard", "--listen", "127.0.0.1:0"]).could_not(&["cannot make the directory", "--data"]);
}

/// The log may be there before anything else is.
#[test]
fn a_guarded_directory_can_become_a_data_directory() {
    let place = tempfile::tempdir().unwrap();
    Guarding::start(place.path(), &[]).kill();
    on(place.path(), &["demo", "--for", "1s", "--pages", "5"]).done();
}
