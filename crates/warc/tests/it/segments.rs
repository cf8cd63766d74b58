//! Records that were split are put together when their parts come in order.

use warc::{Error, Joined, Logical, Segments, WarcReader};

struct Part<'a> {
    kind: &'a str,
    id: &'a str,
    origin: &'a str,
    number: u32,
    total: Option<u64>,
    block: &'a str,
}

fn write(parts: &[Part<'_>]) -> Vec<u8> {
    let mut file = String::new();
    for part in parts {
        file += &format!("WARC/1.0\r\nWARC-Type: {}\r\nWARC-Record-ID: <{}>\r\n", part.kind, part.id);
        if part.number > 0 {
            file += &format!("WARC-Segment-Number: {}\r\n", part.number);
        }
        if !part.origin.is_empty() {
            file += &format!("WARC-Segment-Origin-ID: <{}>\r\n", part.origin);
        }
        if let Some(total) = part.total {
            file += &format!("WARC-Segment-Total-Length: {total}\r\n");
        }
        file += &format!("Content-Length: {}\r\n\r\n{}\r\n\r\n", part.block.len(), part.block);
    }
    file.into_bytes()
}

fn first<'a>(id: &'a str, block: &'a str) -> Part<'a> {
    Part { kind: "response", id, origin: "", number: 1, total: None, block }
}
fn next<'a>(origin: &'a str, number: u32, block: &'a str, total: Option<u64>) -> Part<'a> {
    Part { kind: "continuation", id: "c", origin, number, total, block }
}
fn other(block: &str) -> Part<'_> {
    Part { kind: "warcinfo", id: "o", origin: "", number: 0, total: None, block }
}

/// What comes out of `parts`, each as `block:parts`, with `?` after what is incomplete.
#[track_caller]
fn check(parts: &[Part<'_>], expected: &[&str]) {
    let file = write(parts);
    let joined: Result<Vec<Logical>, Error> = Joined::new(WarcReader::new(&*file, 100), 8).collect();
    let found: Vec<String> = joined.unwrap().iter().map(said).collect();
    assert_eq!(found, expected);
}

fn said(logical: &Logical) -> String {
    let block = String::from_utf8_lossy(&logical.record.block);
    let bytes = logical.record.block_bytes;
    match logical.segments {
        Segments::Whole => format!("{block}/{bytes}"),
        Segments::Joined(parts) => format!("{block}/{bytes}:{parts}"),
        Segments::Incomplete { parts, .. } => format!("{block}/{bytes}:{parts}?"),
    }
}

#[test]
fn parts_in_order_are_one_record() {
    check(&[first("a", "ab"), next("a", 2, "cd", Some(4))], &["abcd/4:2"]);
    check(
        &[first("a", "ab"), other("i"), next("a", 2, "cd", None), next("a", 3, "e", Some(5)), other("x")],
        &["i/1", "abcde/5:3", "x/1"],
    );
    check(&[other("x")], &["x/1"]);
}

#[test]
fn a_long_one_is_kept_as_far_as_it_is_wanted() {
    check(
        &[first("a", "abcdef"), next("a", 2, "ghijkl", None), next("a", 3, "m", Some(13))],
        &["abcdefgh/13:3"],
    );
}

#[test]
fn parts_that_do_not_fit_are_returned_as_incomplete() {
    check(&[first("a", "ab"), next("a", 3, "cd", Some(4))], &["cd/2:1?", "ab/2:1?"]);
    check(&[next("a", 2, "cd", Some(4)), first("a", "ab")], &["cd/2:1?", "ab/2:1?"]);
    check(&[first("a", "ab"), next("b", 2, "cd", Some(4))], &["cd/2:1?", "ab/2:1?"]);
    check(&[first("a", "ab"), first("b", "cd"), next("b", 2, "e", Some(3))], &["ab/2:1?", "cde/3:2"]);
    check(&[first("a", "ab"), next("a", 2, "cd", None)], &["abcd/4:2?"]);
    check(&[first("a", "ab"), next("a", 2, "cd", Some(99))], &["abcd/4:2?"]);
    let nameless = Part { number: 0, ..next("a", 2, "cd", None) };
    check(&[nameless], &["cd/2:1?"]);
}
