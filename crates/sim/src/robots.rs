//! The robots file of a server, and what it allows.
//!
//! | file | share of servers |
//! |---|---|
//! | none (404) | 20 % |
//! | everything allowed | 25 % |
//! | `/private/` disallowed; pages are there and are linked | 40 % |
//! | a group for another robot alone | 10 % |
//! | `/private/` disallowed and a `Crawl-delay` of 1 to 5 seconds | 4 % |
//! | the same with one of 20 to 120 seconds | 1 % |
//!
//! **Invariant:** [`allows`] does not read the file: the observer judges a crawler by it, however the crawler read
//! the file.

use crate::document;
use crate::draw::{push_all, push_number};
use crate::response::WebResponse;
use crate::server::{Robots, Server};

/// Whether a robot other than `otherrobot` may fetch `target`.
pub(crate) fn allows(server: &Server<'_>, target: &str) -> bool {
    match server.robots() {
        Robots::Private | Robots::Delay(_) => !target.starts_with("/private/"),
        Robots::Missing | Robots::Open | Robots::OtherRobot => true,
    }
}

/// The response to a request for the file.
pub(crate) fn answer(server: &Server<'_>) -> WebResponse {
    let mut file = String::with_capacity(256);
    match server.robots() {
        Robots::Missing => return document::missing(server, 404),
        Robots::Open => file.push_str("User-agent: *\nDisallow:\n"),
        Robots::Private => file.push_str("User-agent: *\nDisallow: /private/\n"),
        Robots::OtherRobot => file.push_str("# Too many visits.\nUser-agent: otherrobot\nDisallow: /\n"),
        Robots::Delay(seconds) => {
            file.push_str("User-agent: *\nCrawl-delay: ");
            push_number(&mut file, seconds);
            file.push_str("\nDisallow: /private/\n");
        }
    }
    push_sitemaps(&mut file, server);
    document::file(server, "text/plain; charset=utf-8", file.into_bytes())
}

fn push_sitemaps(file: &mut String, server: &Server<'_>) {
    file.push('\n');
    let all: &[&str] =
        if server.is_news() { &["/sitemap.xml", "/sitemap-news.xml"] } else { &["/sitemap.xml"] };
    for path in all {
        file.push_str("Sitemap: ");
        server.push_origin(file, server.scheme());
        push_all(file, &[path, "\n"]);
    }
}
