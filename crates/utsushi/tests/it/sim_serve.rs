//! The simulated web as a process of its own.

use crate::program::{run, utsushi};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Stdio};

/// `sim serve` at work.
struct Serving {
    process: Child,
    lines: BufReader<ChildStdout>,
    told: Value,
}

impl Serving {
    fn start(arguments: &[&str]) -> Self {
        let mut command = utsushi();
        command.args(["--json", "sim", "serve", "--pages", "200", "--servers", "10"]).args(arguments);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        let told = object(&mut lines);
        Self { process, lines, told }
    }

    /// The answer to a request made through the proxy.
    fn ask(&self, url: &str) -> String {
        let port = u16::try_from(self.told["http_port"].as_u64().unwrap()).unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let host = url.split('/').nth(2).unwrap();
        write!(stream, "GET {url} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// What it says at the end, and its exit code.
    fn end(mut self) -> (Value, Option<i32>) {
        let told = object(&mut self.lines);
        (told, self.process.wait().unwrap().code())
    }
}

/// A failed test leaves no process.
impl Drop for Serving {
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

#[test]
fn it_answers_and_a_signal_ends_it_in_good_order() {
    for signal in [Signal::TERM, Signal::INT] {
        let place = tempfile::tempdir().unwrap();
        let log = place.path().join("log");
        let serving = Serving::start(&["--seed", "7", "--hostile=3", "--log", log.to_str().unwrap()]);
        assert_eq!((&serving.told["seed"], &serving.told["hostile"]), (&7.into(), &3.into()));

        let page = serving.ask(serving.told["home"].as_str().unwrap());
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("<html"), "{page}");
        let certificate = serving.ask(serving.told["ca"].as_str().unwrap());
        assert!(certificate.contains("BEGIN CERTIFICATE"), "{certificate}");

        serving.signal(signal);
        let (told, code) = serving.end();
        assert_eq!((&told["event"], code), (&"stopped".into(), Some(0)), "{told}");
        assert!(told["requests"].as_u64().unwrap() >= 1, "{told}");
        assert!(std::fs::read_to_string(log).unwrap().lines().count() >= 1);
    }
}

#[test]
fn it_ends_by_itself_when_told_for_how_long() {
    let (told, code) = Serving::start(&["--for", "10ms", "--hostile"]).end();
    assert_eq!((&told["event"], code), (&"stopped".into(), Some(0)));
}

#[test]
fn it_says_in_words_how_to_reach_it() {
    let ended = run(utsushi().args(["sim", "serve", "--pages", "20", "--servers", "2", "--for", "1ms"]));
    let told = ended.done();
    for part in ["A web of 20 pages on 2 servers", "curl --proxy http://localhost:", "/ca.pem", "politeness"]
    {
        assert!(told.contains(part), "{told}");
    }
}

#[test]
fn survives_a_reader_that_left() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = utsushi();
    let status =
        command.args(["sim", "serve", "--for", "10ms"]).stdout(writer).stderr(Stdio::null()).status();
    assert_eq!(status.unwrap().code(), Some(0));
}

#[test]
fn a_port_that_is_taken_is_refused_with_what_to_do() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ended = run(utsushi().args(["sim", "serve", "--for", "10ms", "--port", &port]));
    ended.could_not(&["cannot serve the simulated web", "choose other ports"]);
}
