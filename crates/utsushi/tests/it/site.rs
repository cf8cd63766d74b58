//! A small web site on loopback, with links, a robots file and a log of what was asked for.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Number of pages below the front page, each linked from the one before it and from the front page.
pub(crate) const PAGES: usize = 30;

/// A site that runs until the process ends.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// Starts a site at an address of this machine.
    pub(crate) fn start(host: &str) -> Self {
        let listener = TcpListener::bind((host, 0)).unwrap();
        let site = Self { address: listener.local_addr().unwrap(), asked: Arc::default() };
        let serving = site.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let site = serving.clone();
                std::thread::spawn(move || site.answer(stream.unwrap()));
            }
        });
        site
    }

    /// A URL of the site.
    pub(crate) fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }
    /// What was asked for so far, robots files aside.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().filter(|target| *target != "/robots.txt").cloned().collect()
    }
    /// Settings that let it be crawled quickly: its owner agrees.
    pub(crate) fn settings(&self) -> String {
        format!(
            "[crawl]\npause = \"1s\"\nagreed = [\"{} pause=20ms\"]\n[fetch]\nallow_addresses = [\"127.0.0.0/8\"]\n\
             [store]\npool_bytes = \"1MiB\"\nlog_bytes = \"1MiB\"\nsegment_bytes = \"1MiB\"\n",
            self.address
        )
    }

    fn answer(&self, mut stream: TcpStream) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            if stream.read(&mut byte).unwrap_or(0) == 0 {
                return;
            }
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let (status, kind, body) = page(&target);
        self.asked.lock().unwrap().push(target);
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        let _ = stream.write_all(answer.as_bytes());
    }
}

fn page(target: &str) -> (&'static str, &'static str, String) {
    let links = |numbers: &mut dyn Iterator<Item = usize>| {
        numbers.map(|n| format!("<p><a href=\"/page/{n}\">page number {n}</a></p>")).collect::<String>()
    };
    let html = |title: &str, links: &str| {
        (
            "200 OK",
            "text/html; charset=utf-8",
            format!("<!DOCTYPE html><title>{title}</title><h1>{title}</h1>{links}"),
        )
    };
    if let Some(day) = target.strip_prefix("/calendar/").and_then(|day| day.parse::<u64>().ok()) {
        let next = (1..4).map(|step| format!("<p><a href=\"/calendar/{}\">later</a></p>", day * 3 + step));
        return html(&format!("Day {day}"), &next.collect::<String>());
    }
    let number = target.strip_prefix("/page/").and_then(|n| n.parse::<usize>().ok()).filter(|n| *n < PAGES);
    match (target, number) {
        ("/robots.txt", _) => ("200 OK", "text/plain", "User-agent: *\nDisallow: /private\n".to_owned()),
        ("/", _) => {
            html("front", &(links(&mut (0..PAGES)) + "<a href=/private>secret</a><a href=/lost>lost</a>"))
        }
        (_, Some(n)) => html(&format!("page {n}"), &links(&mut (n + 1..PAGES).take(1))),
        _ => ("404 Not Found", "text/plain", "no such page".to_owned()),
    }
}
