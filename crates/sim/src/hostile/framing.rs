//! Messages with ambiguous or missing ends (H15, H16).

use super::Place;
use crate::{DeliveryMode, WebResponse};

const TYPE: &str = "Content-Type: text/html; charset=utf-8\r\n";
const BODY: &str =
    "<!doctype html><title>Malformed</title><p>Twenty-six letters: abcdefghijklmnopqrstuvwxyz</p>\n";

/// Framing errors that are known to have broken other clients.
const CASES: [&str; 18] = [
    "two-lengths",
    "same-length-twice",
    "length-list",
    "length-and-chunks",
    "negative-length",
    "length-in-words",
    "bad-chunk-size",
    "chunk-too-large",
    "no-last-chunk",
    "strange-coding",
    "bare-line-feeds",
    "nul-in-field",
    "folded-field",
    "space-before-colon",
    "garbage-before-status",
    "no-status",
    "early-close",
    "garbage-after-body",
];

/// One page for each case.
pub(super) fn answer(place: &Place<'_>) -> WebResponse {
    if place.path() == "/" {
        let links: Vec<String> = CASES.iter().map(|case| format!("/{case}")).collect();
        return place.home(&links.iter().map(String::as_str).collect::<Vec<_>>());
    }
    match message(place.path().trim_start_matches('/')) {
        Some(message) => WebResponse::plain(200, "text/html; charset=utf-8", message).sent(DeliveryMode::Raw),
        None => place.missing(),
    }
}

fn message(case: &str) -> Option<Vec<u8>> {
    let length = BODY.len();
    let message = match case {
        "two-lengths" => {
            with(&format!("Content-Length: {length}\r\nContent-Length: {}\r\n", length - 20), BODY)
        }
        "same-length-twice" => {
            with(&format!("Content-Length: {length}\r\nContent-Length: {length}\r\n"), BODY)
        }
        "length-list" => with(&format!("Content-Length: {length}, {length}\r\n"), BODY),
        "length-and-chunks" => with(&format!("Content-Length: 5\r\n{CHUNKED}"), &chunked(BODY)),
        "negative-length" => with("Content-Length: -5\r\n", BODY),
        "length-in-words" => with("Content-Length: ninety\r\n", BODY),
        "bad-chunk-size" => with(CHUNKED, &format!("zz\r\n{BODY}\r\n0\r\n\r\n")),
        "chunk-too-large" => with(CHUNKED, &format!("ffffffffffffffffff\r\n{BODY}")),
        "no-last-chunk" => with(CHUNKED, &format!("{length:x}\r\n{BODY}\r\n")),
        "strange-coding" => with("Transfer-Encoding: chunked, mystery\r\n", BODY),
        "bare-line-feeds" => with(&format!("Content-Length: {length}\r\n"), BODY).replace("\r\n", "\n"),
        "nul-in-field" => with(&format!("X-Nul: a\0b\u{1b}[31m\r\nContent-Length: {length}\r\n"), BODY),
        "folded-field" => with(&format!("X-Folded: one\r\n  two\r\nContent-Length: {length}\r\n"), BODY),
        "space-before-colon" => with(&format!("Content-Length : {length}\r\n"), BODY),
        "garbage-before-status" => format!("\u{1}\u{2}garbage\r\n{}", with("", BODY)),
        "no-status" => format!("<html>{BODY}"),
        "early-close" => with(&format!("Content-Length: {length}\r\n"), &BODY[..length / 2]),
        "garbage-after-body" => with(
            &format!("Content-Length: {length}\r\n"),
            &format!("{BODY}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake"),
        ),
        _ => return None,
    };
    Some(message.into_bytes())
}

const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";

fn with(fields: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{TYPE}{fields}\r\n{body}")
}

fn chunked(body: &str) -> String {
    format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
}
