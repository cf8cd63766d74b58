//! Bodies in flight: in memory within a budget, on disk beyond it, cut off when that is spent too (D15).

use crate::server::{Act, Server};
use base::door::Truncation;
use fetch::{AddressPolicy, AddressRange, ExchangeLimits, Settings, WebDoor};
use std::path::Path;

const KIB: usize = 1024;

fn body(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| u8::try_from(at % 251).unwrap()).collect()
}

/// Serves as many bytes as the target says, in one of three framings.
async fn server() -> Server {
    Server::start(|target| {
        let (framing, bytes) = target[1..].split_once('/').unwrap();
        let body = body(bytes.parse().unwrap());
        let answer = match framing {
            "length" => {
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
                [head.into_bytes(), body].concat()
            }
            "chunked" => {
                let mut answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
                for chunk in body.chunks(7_777) {
                    answer.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
                    answer.extend(chunk);
                    answer.extend(b"\r\n");
                }
                [answer, b"0\r\n\r\n".to_vec()].concat()
            }
            _ => [b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), body].concat(),
        };
        let close = (framing == "close").then_some(Act::Close);
        [Act::Send(answer)].into_iter().chain(close).collect()
    })
    .await
}

fn door(memory: usize, disk: usize, spool: &Path) -> WebDoor {
    WebDoor::new(Settings {
        addresses: AddressPolicy::only(vec![AddressRange::LOOPBACK]),
        limits: ExchangeLimits {
            body_memory_each_max: 256 * KIB,
            body_memory_bytes_max: memory,
            body_disk_bytes_max: disk,
            body_bytes_max: 4 * 1024 * KIB,
            ..ExchangeLimits::default()
        },
        spool: Some(spool.to_owned()),
        ..Settings::default()
    })
    .unwrap()
}

#[tokio::test]
async fn a_body_is_the_same_in_memory_and_on_disk() {
    let (server, spool) = (server().await, tempfile::tempdir().unwrap());
    let door = door(1024 * KIB, 64 * 1024 * KIB, spool.path());
    for framing in ["length", "chunked", "close"] {
        for (bytes, is_on_disk) in [(0, false), (10, false), (100 * KIB, false), (3_000 * KIB, true)] {
            let exchange = server.get(&door, &format!("/{framing}/{bytes}")).await.unwrap();
            assert_eq!(exchange.payload().unwrap(), body(bytes), "{framing} {bytes}");
            assert_eq!(
                (exchange.body.is_on_disk(), exchange.truncated),
                (is_on_disk, None),
                "{framing} {bytes}"
            );
        }
    }
    assert_eq!(std::fs::read_dir(spool.path()).unwrap().count(), 0, "a body on disk has no name");
}

#[tokio::test]
async fn a_body_too_long_to_be_stored_is_cut_where_the_limit_says() {
    let (server, spool) = (server().await, tempfile::tempdir().unwrap());
    let door = door(1024 * KIB, 64 * 1024 * KIB, spool.path());
    for framing in ["length", "close"] {
        let exchange = server.get(&door, &format!("/{framing}/{}", 5_000 * KIB)).await.unwrap();
        assert_eq!(exchange.truncated, Some(Truncation::Length));
        assert_eq!(*exchange.body.read().unwrap(), body(5_000 * KIB)[..4 * 1024 * KIB]);
    }
}

#[tokio::test]
async fn without_memory_small_bodies_go_to_disk_and_memory_comes_back() {
    let (server, spool) = (server().await, tempfile::tempdir().unwrap());
    let door = door(300 * KIB, 64 * 1024 * KIB, spool.path());
    let held = server.get(&door, &format!("/length/{}", 200 * KIB)).await.unwrap();
    assert!(!held.body.is_on_disk());
    let crowded = server.get(&door, &format!("/length/{}", 150 * KIB)).await.unwrap();
    assert!(crowded.body.is_on_disk());
    assert_eq!(crowded.body.read().unwrap(), body(150 * KIB));
    drop(held);
    let alone = server.get(&door, &format!("/length/{}", 150 * KIB)).await.unwrap();
    assert!(!alone.body.is_on_disk());
}

#[tokio::test]
async fn without_disk_a_body_is_cut_off_and_room_comes_back() {
    let (server, spool) = (server().await, tempfile::tempdir().unwrap());
    let door = door(1024 * KIB, 2_000 * KIB, spool.path());
    let held = server.get(&door, &format!("/length/{}", 1_500 * KIB)).await.unwrap();
    assert_eq!(held.truncated, None);
    let cut = server.get(&door, &format!("/length/{}", 1_500 * KIB)).await.unwrap();
    assert_eq!(cut.truncated, Some(Truncation::Room));
    assert!(body(1_500 * KIB).starts_with(&cut.body.read().unwrap()) && cut.body.len() < 1_000 * KIB);
    drop((held, cut));
    let again = server.get(&door, &format!("/length/{}", 1_500 * KIB)).await.unwrap();
    assert_eq!((again.truncated, again.body.len()), (None, 1_500 * KIB));
}

#[tokio::test]
async fn a_body_that_cannot_be_written_is_cut_off_and_said_to_be() {
    let server = server().await;
    let door = door(1024 * KIB, 64 * 1024 * KIB, Path::new("/nowhere/at/all"));
    for framing in ["length", "chunked", "close"] {
        let exchange = server.get(&door, &format!("/{framing}/{}", 1_500 * KIB)).await.unwrap();
        assert_eq!((exchange.status, exchange.truncated), (200, Some(Truncation::Room)), "{framing}");
        assert!(!exchange.body.is_on_disk() && exchange.body.len() <= 256 * KIB, "{:?}", exchange.body);
        assert!(body(1_500 * KIB).starts_with(&exchange.payload().unwrap()), "{framing}");
    }
    assert!(server.get(&door, "/ok").await.is_ok());
}
