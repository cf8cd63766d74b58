//! What servers and clients send: HTTP, DNS, robots files, and what passes the guard.

use crate::{choice, texts};
use base::http::{self, Framing};
use base::limits::DECODED_BYTES_MAX;
use std::borrow::Cow;

/// Reads the head of an answer.
pub(crate) fn http_head(data: &[u8]) {
    for head_only in [false, true] {
        let Some((head, status, framing)) = fetch::client::fuzzing::response_head(data, head_only) else {
            continue;
        };
        assert!(!head_only || framing == Framing::None);
        assert_eq!(http::status(&head), Some(status), "both readers find the same status");
        if framing != Framing::None {
            let is_chunked = framing == Framing::Chunked;
            assert_eq!(
                http::is_chunked(&head),
                is_chunked,
                "the archive reads the framing as the client does"
            );
        }
        let _ = (http::retry_after(&head), robots::exclusion(&head, "utsushi"));
        let (split_head, _) = archive::split_answer(&head);
        assert_eq!(split_head, head, "the archive ends the head where the client does");
    }
    for name in ["location", "content-type", "x"] {
        let _ = (http::field(data, name), http::field_text(data, name));
        http::field_texts(data, name).for_each(drop);
    }
}

/// Finds the end of a chunked body and removes its framing.
pub(crate) fn http_chunks(data: &[u8]) {
    let (piece_bytes, body) = choice(data);
    let (taken, is_done) = fetch::client::fuzzing::chunked_body(body, usize::MAX);
    assert_eq!(fetch::client::fuzzing::chunked_body(body, piece_bytes), (taken, is_done), "in any pieces");
    let payload = http::payload(body, Framing::Chunked);
    assert!(payload.len() <= body.len());
    if is_done {
        assert_eq!(
            http::payload(&body[..taken], Framing::Chunked),
            payload,
            "what follows the end is no part of it"
        );
    }
}

const CODINGS: [&str; 8] = ["gzip", "deflate", "br", "zstd", "gzip, br", "zstd, deflate", "x", ""];

/// Removes the codings of a body.
pub(crate) fn coding(data: &[u8]) {
    let (which, payload) = choice(data);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {}\r\n\r\n", CODINGS[which % CODINGS.len()]);
    let decoded = coding::content_of(head.as_bytes(), Cow::Borrowed(payload));
    assert!(decoded.readable().len() <= DECODED_BYTES_MAX);
}

/// Reads an answer of a name server.
pub(crate) fn dns(data: &[u8]) {
    fetch::dns::fuzzing::read_message(data, "www.a.example");
    let host = String::from_utf8_lossy(data);
    fetch::dns::fuzzing::read_message(&[], &host);
    let _ = fetch::dns::Settings::parse(&host);
}

/// Reads a robots file and judges some targets.
pub(crate) fn robots(data: &[u8]) {
    let rules = robots::RobotsRules::for_agent(data, "utsushi");
    let file = String::from_utf8_lossy(data);
    let own = file.split_whitespace().filter(|word| word.starts_with('/')).take(4);
    for target in own.chain(["/", "/a/b.html?c=%41", "/%7Ea/*$"]) {
        let allowed = rules.judge(target).allowed;
        let both = rules.judge_literal(target).allowed && rules.judge_normalised(target).allowed;
        assert!(target == "/robots.txt" || allowed == both, "{target}");
    }
    let _ = (rules.crawl_delay(), rules.sitemaps());
    let _ = robots::OptOutList::parse(&file);
}

/// Reads what a client of the guard wants.
pub(crate) fn guard_request(data: &[u8]) {
    guard::fuzzing::read_request(data);
}

/// Reads what a client says in a tunnel of the guard.
pub(crate) fn guard_tunnel(data: &[u8]) {
    let (piece_bytes, input) = choice(data);
    guard::fuzzing::read_tunnel(input, if piece_bytes == 0 { usize::MAX } else { piece_bytes });
}

pub(crate) fn http_head_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x\r\nContent-Length: 12\r\n\r\n",
        "\r\nHTTP/1.0 302 Found\nLocation: /x\nTransfer-Encoding: gzip, chunked\nRetry-After: 30\n\n",
        "HTTP/1.1 503\r\nDate: Tue, 31 Mar 2026 09:00:00 GMT\r\nRetry-After: Tue, 31 Mar 2026 10:00:00 GMT\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX-Robots-Tag: utsushi: noindex\r\n folded\r\nConnection: close\r\nContent-Length: 1, 2\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\nTransfer-Encoding:\r\n chunked\r\n\r\n",
    ])
}

pub(crate) fn http_chunks_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "\u{1}5\r\nhello\r\n0\r\n\r\nrest",
        "\u{2}a;x=y\r\n0123456789\r\n1\nx\n0\r\nTrailer: x\r\n\r\n",
        "\u{9}not chunked at all",
        "\u{3} ffffffffffffffff \r\nx",
    ])
}

pub(crate) fn coding_seeds() -> Vec<Vec<u8>> {
    use flate2::Compression;
    use flate2::read::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use std::io::Read as _;
    let page = "<p>写し copy</p>".repeat(9);
    let read = |mut read: Box<dyn std::io::Read + '_>, which: u8| {
        let mut bytes = vec![which];
        read.read_to_end(&mut bytes).expect("memory can be read");
        bytes
    };
    let (page, level) = (page.as_bytes(), Compression::best());
    let zstd = zstd::bulk::compress(page, 3).expect("it is short");
    vec![
        read(Box::new(GzEncoder::new(page, level)), 0),
        read(Box::new(ZlibEncoder::new(page, level)), 1),
        read(Box::new(DeflateEncoder::new(page, level)), 1),
        read(Box::new(page.chain(page)), 2),
        // A brotli stream of one uncompressed block.
        b"\x02\x0b\x01\x80hello\x03".to_vec(),
        read(Box::new(&*zstd), 3),
        read(Box::new(ZlibEncoder::new(&*zstd, level)), 5),
    ]
}

pub(crate) fn dns_seeds() -> Vec<Vec<u8>> {
    let question = b"\x03www\x01a\x07example\0\0\x01\0\x01";
    let answer = |flags: [u8; 2], counts: [u8; 8], rest: &[u8]| {
        [b"\x12\x34", &flags[..], &counts, question, rest].concat()
    };
    let address = b"\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\xc0\0\x02\x01";
    let alias = b"\xc0\x0c\0\x05\0\x01\0\0\0\x3c\0\x04\x01b\xc0\x10";
    let aliased = b"\x01b\xc0\x10\0\x01\0\x01\0\0\0\x3c\0\x04\xc0\0\x02\x01";
    let start = b"\xc0\x10\0\x06\0\x01\0\0\0\x3c\0\x18\xc0\x10\xc0\x10\0\0\0\x01\0\0\0\x02\0\0\0\x03\0\0\0\x04\0\0\0\x05";
    vec![
        answer([0x81, 0x80], [0, 1, 0, 1, 0, 0, 0, 0], address),
        answer([0x81, 0x80], [0, 1, 0, 2, 0, 0, 0, 0], &[&alias[..], aliased].concat()),
        answer([0x81, 0x80], [0, 1, 0, 1, 0, 0, 0, 0], alias),
        answer([0x81, 0x83], [0, 1, 0, 0, 0, 1, 0, 0], start),
        answer([0x83, 0x80], [0, 1, 0, 0, 0, 0, 0, 0], b""),
        b"nameserver 192.0.2.1\noptions timeout:3\n".to_vec(),
    ]
}

pub(crate) fn robots_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "User-agent: *\nDisallow: /private\nAllow: /private/*.html$\nCrawl-delay: 2.5\nSitemap: http://a.example/s.xml\n",
        "\u{feff}USER-AGENT : utsushi/1.0 # comment\r\ndisallow:/%7e写\rAllow: /\n\nUser-agent: x\nUser-agent: utsushi\nDisallow:",
        "Disallow: /*a*b*c*d*e$\nUser-agent: *\nDisallow: /*a*b*c*d*e$ /a/b/c/d/e\n",
        "example.org\n*.example.org\nhttp://a.example/dir/\n192.0.2.0/24 # why\n",
    ])
}

pub(crate) fn guard_seeds() -> Vec<Vec<u8>> {
    let hello = b"\x16\x03\x01\0\x43\x01\0\0\x3f\x03\x03";
    let random = [7; 32];
    let rest = b"\0\0\x02\x13\x01\x01\0\0\x14\0\0\0\x0e\0\x0c\0\0\x09a.example\0\x2b\0\0";
    let mut seeds = texts(&[
        "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\nUtsushi-Server: a.example\r\n\r\n",
        "GET http://a.example/x?y HTTP/1.1\r\nHost: b.example\r\nConnection: x-y\r\nX-Y: 1\r\nAccept: */*\r\n\r\n",
        "GET /status HTTP/1.1\r\n\r\n",
        "\0GET / HTTP/1.1\r\nHost: a.example\r\n\r\nHEAD /b HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n",
    ]);
    let data = b"\x14\x03\x03\0\x01\x01\x17\x03\x03\0\x02hi";
    seeds.push([&b"\0"[..], hello, &random, rest, data].concat());
    seeds.push([&b"\x05"[..], hello, &random, rest, data, data].concat());
    seeds
}
