//! `utsushi fetch` against servers of its own on loopback.

use crate::program::{Ended, objects, on, run, utsushi};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

const ROBOTS: &str = "User-agent: *\nDisallow: /private\nCrawl-delay: 1\nSitemap: http://a.example/map.xml\n";

/// A server that answers each target with these bytes, one request a connection, until the process ends.
fn serve(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                if stream.read(&mut byte).unwrap_or(0) == 0 {
                    break;
                }
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).unwrap();
            let _ = stream.write_all(&answer(head.split(' ').nth(1).unwrap_or_default()));
        }
    });
    address
}

fn message(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
        .into_bytes()
}

/// An honest server with a robots file.
fn honest() -> SocketAddr {
    serve(|target| match target {
        "/robots.txt" => message("200 OK", ROBOTS),
        "/page" => message("200 OK", "a \u{1b}[2Jpage"),
        "/moved" => {
            b"HTTP/1.1 301 Moved\r\nLocation: /page\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                .to_vec()
        }
        _ => message("404 Not Found", ""),
    })
}

fn fetch(address: SocketAddr, target: &str, more: &[&str]) -> Ended {
    let url = format!("http://{address}{target}");
    run(utsushi().args(["fetch", &url, "--allow-address", "127.0.0.0/8"]).args(more))
}

#[test]
fn a_visit_is_shown_phase_by_phase() {
    let said = fetch(honest(), "/page", &[]).done();
    for part in [
        "robots http://127.0.0.1:",
        "/robots.txt",
        "robots allowed: no rule matches",
        "look-up",
        "connect",
        "first byte",
        "200 fetched",
        "text/plain, 10 B of content",
        "digest ",
        "HTTP/1.1 200 OK",
        "Content-Length: 10",
    ] {
        assert!(said.contains(part), "`{part}` is not in `{said}`");
    }
    assert!(!said.contains('\u{1b}'));
}

#[test]
fn programs_read_it_as_one_object() {
    let said = fetch(honest(), "/moved", &["--json"]).done();
    let [object] = &objects(&said)[..] else { panic!("{said}") };
    assert_eq!((object["outcome"].as_str(), object["status"].as_u64()), (Some("moved"), Some(301)));
    assert_eq!(object["robots"]["crawl_delay_seconds"], 1.0);
    let requests = object["requests"].as_array().unwrap();
    assert_eq!(requests.len(), 2, "a redirect is shown, not followed");
    assert!(requests[1]["moved_to"].as_str().unwrap().ends_with("/page"));
    assert!(requests[1]["total_seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn raw_is_what_was_received_to_the_byte() {
    let said = fetch(honest(), "/page", &["--raw"]).done();
    assert_eq!(said.as_bytes(), message("200 OK", "a \u{1b}[2Jpage"));
    let head = fetch(honest(), "/page", &["--head", "--json"]).done();
    let [object] = &objects(&head)[..] else { panic!("{head}") };
    assert!(object["requests"][1]["request_head"].as_str().unwrap().starts_with("HEAD /page HTTP/1.1\r\n"));
}

#[test]
fn what_the_robots_file_forbids_is_not_visited() {
    let said = fetch(honest(), "/private/x", &[]).found(&[]);
    assert!(said.contains("robots refused: line 2: `Disallow: /private`"), "{said}");
    assert!(!said.contains("404"), "the page was asked for: {said}");
    let said = fetch(honest(), "/page", &["--robots"]).done();
    for part in ["allowed", "crawl-delay 1s", "sitemap http://a.example/map.xml", "Disallow: /private"] {
        assert!(said.contains(part), "`{part}` is not in `{said}`");
    }
    let broken = serve(|_| message("503 Unavailable", ""));
    let said = fetch(broken, "/page", &[]).found(&[]);
    assert!(said.contains("the robots file cannot be fetched, so no page may be visited"), "{said}");
}

#[test]
fn survives_h1_an_address_that_is_not_public_needs_leave() {
    let address = honest();
    for url in [format!("http://{address}/page"), format!("http://localhost:{}/page", address.port())] {
        let said = run(utsushi().args(["fetch", &url])).found(&[]);
        assert!(said.contains("`127.0.0.1` may not be visited: loopback"), "{said}");
    }
}

#[test]
fn a_public_address_needs_a_contact() {
    run(utsushi().args(["fetch", "http://93.184.216.34/"]))
        .found(&["what to do: give a contact for the owners of servers", "--contact"]);
    run(utsushi().args(["fetch", "http://93.184.216.34/", "--contact", "me"])).wrong(&["the URL of a page"]);
}

#[test]
fn the_opt_out_list_of_the_data_directory_is_obeyed() {
    let (address, data) = (honest(), tempfile::tempdir().unwrap());
    let list = data.path().join("opt-out.txt");
    let url = format!("http://{address}/page");
    let visit = || on(data.path(), &["fetch", &url, "--allow-address", "127.0.0.0/8"]);
    for entry in
        [format!("{address} # asked by mail"), "127.0.0.0/24".to_owned(), format!("http://{address}/")]
    {
        std::fs::write(&list, &entry).unwrap();
        let said = visit().found(&[]);
        assert!(said.contains("refused: the opt-out list forbids it: line 1"), "{entry}: {said}");
        assert!(!said.contains("fetched"), "{entry}: {said}");
    }
    std::fs::write(&list, "other.example\n").unwrap();
    visit().done();
    std::fs::write(&list, "a.example\nwhat is this\n").unwrap();
    visit().could_not(&["opt-out.txt", "line 2"]);
}

#[test]
fn what_is_no_url_proxy_or_range_is_refused_with_what_to_write() {
    run(utsushi().args(["fetch", "example.org"])).could_not(&["`example.org` is not a URL", "https://"]);
    run(utsushi().args(["fetch", "ftp://example.org/"])).could_not(&["ftp"]);
    let url = "http://127.0.0.1:1/";
    run(utsushi().args(["fetch", url, "--proxy", "http://user:secret@a:1"])).wrong(&["http://host:port"]);
    run(utsushi().args(["fetch", url, "--allow-address", "10.0.0.0/99"])).wrong(&["10.0.0.0/99"]);
    run(utsushi().args(["fetch", url, "--pause", "1ms"])).wrong(&["--pause"]);
}

#[test]
fn nobody_at_home_is_told_as_such() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let deserted = listener.local_addr().unwrap();
    drop(listener);
    let said = fetch(deserted, "/", &[]).found(&[]);
    assert!(said.contains("unreachable: connect: connection refused"), "{said}");
    let silent = format!("http://{deserted}");
    let said = fetch(honest(), "/page", &["--proxy", &silent]).found(&[]);
    assert!(said.contains("unreachable: proxy: connection refused"), "{said}");
}
