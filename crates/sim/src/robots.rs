//! The robots file of a server, and what it means.
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
//! **Invariant:** [`allows`] does not read the file: an observer judges a visitor by it, whatever the visitor made of
//! the file.

use crate::answer::Answer;
use crate::document;
use crate::draw::{below, draw, push_all, push_number};
use crate::page::FAN;
use crate::server::Server;

/// The directory that is disallowed where one is.
pub(crate) const PRIVATE: &str = "private";

/// What the robots file of a server says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Robots {
    Missing,
    Open,
    Private,
    OtherRobot,
    Delay(u64),
}

// The questions that are put to a server's seed.
const KIND: u64 = 0x726f_626f_0001;
const SLOT: u64 = 0x726f_626f_0002;
const DELAY: u64 = 0x726f_626f_0003;

/// Which file a server has.
pub(crate) fn kind(server: &Server<'_>) -> Robots {
    kind_of(server.seed)
}

fn kind_of(seed: u64) -> Robots {
    match below(draw(seed, KIND), 100) {
        0..20 => Robots::Missing,
        20..45 => Robots::Open,
        45..85 => Robots::Private,
        85..95 => Robots::OtherRobot,
        95..99 => Robots::Delay(1 + below(draw(seed, DELAY), 5)),
        _ => Robots::Delay(20 + below(draw(seed, DELAY), 101)),
    }
}

/// The section whose directory is `/private/` on a server with this seed and so many pages, if there is one.
pub(crate) fn private_slot(seed: u64, pages: u64) -> Option<u64> {
    let sections = FAN.min(pages - 1);
    let private = matches!(kind_of(seed), Robots::Private | Robots::Delay(_)) && sections > 0;
    private.then(|| 1 + below(draw(seed, SLOT), sections))
}

/// Whether a visitor that is not the other robot may see `target`.
pub(crate) fn allows(server: &Server<'_>, target: &str) -> bool {
    match kind(server) {
        Robots::Private | Robots::Delay(_) => !target.starts_with("/private/"),
        Robots::Missing | Robots::Open | Robots::OtherRobot => true,
    }
}

/// What is answered to a request for the file.
pub(crate) fn answer(server: &Server<'_>) -> Answer {
    let mut file = String::with_capacity(256);
    match kind(server) {
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
