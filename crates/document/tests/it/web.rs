//! A small web that changes, archived: pages with links to each other, visited in and out of order.

use archive::{Archive, Group, Imported, Reader, Settings};
use base::disk::SimulatedDisk;
use base::{Chance, Interval, Timestamp};
use stage::{BodyParser, Runner};
use std::path::Path;
use std::sync::Arc;

pub(crate) const ARCHIVE: &str = "/data/archive";
pub(crate) const START: Timestamp = Timestamp::from_micros(1_795_129_200_000_000).unwrap();
/// From the first visit to the last.
pub(crate) const SECONDS: u64 = 10_000;
const PAGES: u64 = 40;

pub(crate) fn moment(seconds: u64) -> Timestamp {
    START.plus(Interval::from_seconds(seconds))
}
pub(crate) fn url(number: u64) -> String {
    let scheme = if number.is_multiple_of(5) { "https" } else { "http" };
    format!("{scheme}://s{}.example/p{number}", number % 6)
}
/// A page that exists or does not.
pub(crate) fn any_url(chance: &mut Chance) -> String {
    url(chance.below(PAGES + 5))
}

pub(crate) fn open_archive(disk: &SimulatedDisk) -> Archive {
    let settings = Settings { file_captures_max: 37, merges_beside: false, ..Settings::default() };
    Archive::open(Arc::new(disk.clone()), Path::new(ARCHIVE), settings, START).unwrap().0
}
pub(crate) fn reader(disk: &SimulatedDisk) -> Reader {
    Reader::open(Arc::new(disk.clone()), Path::new(ARCHIVE)).unwrap()
}
pub(crate) fn runner(disk: &SimulatedDisk) -> Runner {
    Runner::new(reader(disk), BodyParser { agent: "utsushi".into(), requisites: false })
}

/// Visits of the web in the order in which they arrive: content, errors, pages that are gone, redirects, no pages.
pub(crate) fn visits(seed: u64, count: u64) -> Vec<Group> {
    let mut chance = Chance::new(seed);
    (0..count).map(|number| visit(&mut chance, number * SECONDS / count)).collect()
}

fn visit(chance: &mut Chance, seconds: u64) -> Group {
    let number = chance.below(PAGES);
    // One in six is imported late, and so is older than what is there.
    let seconds = if chance.below(6) == 0 { chance.below(seconds + 1) } else { seconds };
    let (status, more, body) = match chance.below(20) {
        0 => ("404 Not Found", "", "<a href=/p1>gone</a>".to_owned()),
        1 => ("503 Service Unavailable", "", "<a href=/p2>busy</a>".to_owned()),
        2 => ("301 Moved Permanently", "Location: /p3\r\n", "<a href=/p3>moved</a>".to_owned()),
        3 => ("304 Not Modified", "", String::new()),
        // The same few contents come again and again, on the same page and on others.
        _ => ("200 OK", "", page(number, chance.below(4))),
    };
    let kind = if number == 7 { "image/png" } else { "text/html; charset=utf-8" };
    let body = if number == 7 && status == "200 OK" { "\u{89}PNG not a page".to_owned() } else { body };
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}Content-Length: {}\r\n\r\n", body.len());
    Group::of_answer(&url(number), None, moment(seconds), (head + &body).into_bytes())
}

/// One of the contents of a page.
fn page(number: u64, content: u64) -> String {
    let mut chance = Chance::of(&[number % 20, content]);
    let mut body = format!("<!doctype html><title>page {}</title>", number % 20);
    for link in 0..chance.below(12) {
        let target = any_url(&mut chance);
        body += &match chance.below(6) {
            0 => format!("<link rel=canonical href='{target}'>"),
            1 => format!("<a rel=nofollow href='{target}'>text {link}</a>"),
            2 => format!("<img src='{target}'>"),
            3 => format!("<iframe src='{target}'></iframe>"),
            _ => format!("<a href='{target}#part'>リンク {link}</a>"),
        };
    }
    body + "<p>This is the end."
}

/// Adds visits to the archive and makes them durable.
pub(crate) fn import(disk: &SimulatedDisk, visits: &[Group]) {
    let mut archive = open_archive(disk);
    for visit in visits {
        assert!(!matches!(archive.import(visit).unwrap(), Imported::TakenDown));
    }
    archive.close().unwrap();
}
