//! A guard that cannot write its log lets nothing through.

use crate::client::Hand;
use crate::place::{self, Inside, Place, Server, limits, not_tested, settings};
use base::clock::RealClock;
use guard::Guard;
use std::fs;
use std::time::Duration;

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// Nothing passes: requests are refused with a reason, and open tunnels are closed.
async fn is_closed(guard: &Guard, server: &Server, hand: &mut Hand) {
    let before = server.requests();
    assert_eq!(hand.get("a.example").await, "", "the tunnel is cut");
    for _ in 0..3 {
        let reply = Hand::to(guard.address()).await.connect(server.address, "a.example").await;
        assert!(reply.starts_with("HTTP/1.1 503 ") && reply.contains("cannot write its log"), "{reply}");
    }
    assert_eq!((server.requests(), &guard.status()["writable"]), (before, &false.into()));
}

async fn is_open(guard: &Guard, server: &Server) -> Hand {
    let mut hand = Hand::tunnel(guard.address(), server.address, "a.example").await;
    assert_eq!(hand.get("a.example").await, ANSWER);
    assert_eq!(guard.status()["writable"], true);
    hand
}

#[tokio::test]
async fn survives_m4_a_log_whose_directory_is_gone() {
    let (place, server) = (Place::start(limits()).await, Server::start(ANSWER).await);
    let mut hand = is_open(&place.guard, &server).await;
    let (log, away) = (place.log_directory(), place.directory.path().join("away"));
    fs::rename(&log, &away).unwrap();
    is_closed(&place.guard, &server, &mut hand).await;
    fs::rename(&away, &log).unwrap();
    let mut hand = is_open(&place.guard, &server).await;
    assert_eq!(place.lines("resumed").len(), 1);

    fs::remove_dir_all(&log).unwrap();
    is_closed(&place.guard, &server, &mut hand).await;
    fs::create_dir(&log).unwrap();
    is_open(&place.guard, &server).await;
}

/// A tunnel ends with the log even if there are no requests.
#[tokio::test]
async fn an_idle_tunnel_is_cut_when_the_log_fails() {
    let (place, server) = (Place::start(limits()).await, Server::start(ANSWER).await);
    let mut hand = is_open(&place.guard, &server).await;
    fs::rename(place.log_directory(), place.directory.path().join("away")).unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(20), hand.rest()).await;
    assert_eq!(ended.unwrap(), "");
}

/// A log that cannot be opened again: something else has its name.
#[tokio::test]
async fn a_log_that_is_no_file_counts_as_gone() {
    let (place, server) = (Place::start(limits()).await, Server::start(ANSWER).await);
    let mut hand = is_open(&place.guard, &server).await;
    for file in fs::read_dir(place.log_directory()).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some() {
            fs::remove_file(&path).unwrap();
            fs::create_dir(&path).unwrap();
        }
    }
    is_closed(&place.guard, &server, &mut hand).await;
}

#[test]
fn survives_m4_a_log_on_a_full_disk() {
    let test = "fails_closed::survives_m4_a_log_on_a_full_disk";
    match place::inside(test, "mount -t tmpfs -o size=1m none /mnt || exit 77") {
        Inside::Passed(_) => {}
        Inside::NotAllowed => not_tested("a full disk, for mounting one takes more rights than there are"),
        Inside::Here => tokio::runtime::Runtime::new().unwrap().block_on(on_a_small_disk()),
    }
}

async fn on_a_small_disk() {
    let (disk, server) = (std::path::Path::new("/mnt"), Server::start(ANSWER).await);
    let guard = Guard::start(settings(disk, limits()), RealClock::start()).await.unwrap();
    let mut hand = is_open(&guard, &server).await;
    // As full as can be: not even a part of a line fits.
    let filled = fs::write(disk.join("filler"), vec![0; 2 << 20]).unwrap_err();
    assert_eq!(filled.kind(), std::io::ErrorKind::StorageFull);
    let log = fs::read_dir(disk.join("guard")).unwrap().find_map(|file| {
        let path = file.unwrap().path();
        path.extension().is_some_and(|end| end == "jsonl").then_some(path)
    });
    let log = log.unwrap();
    // The page that the log ends in is filled up too, with lines.
    let mut tail = fs::OpenOptions::new().append(true).open(&log).unwrap();
    while std::io::Write::write(&mut tail, b"\n").is_ok_and(|bytes| bytes > 0) {}
    is_closed(&guard, &server, &mut hand).await;
    fs::remove_file(disk.join("filler")).unwrap();
    is_open(&guard, &server).await;
    guard.stop().await;
    assert!(place::lines(&disk.join("guard"), "resumed").len() == 1);
}

/// A start without a log is none.
#[tokio::test]
async fn a_guard_that_cannot_write_its_log_does_not_start() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("guard"), "a file").unwrap();
    let error = Guard::start(settings(place.path(), limits()), RealClock::start()).await.unwrap_err();
    assert!(matches!(error, guard::Error::Io { .. }), "{error}");
    assert!(error.advice().contains("--data"));
}
