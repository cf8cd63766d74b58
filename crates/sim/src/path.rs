//! From a request target to the resource it names.
//!
//! **Invariant:** a target names a page only if it is the page's exact path: the number is parsed from the target, and the
//! path built from the number is compared with it.

use crate::page::Page;
use crate::server::{FAN, IMAGES, STYLES, Server};

/// The resource that a target of an honest server names.
pub(crate) enum Place<'w> {
    Page {
        page: Page<'w>,
        /// Whether the target is the one under the new name of the page's directory.
        moved: bool,
    },
    Robots,
    Sitemap(Part),
    Feed,
    Style(u64),
    Image(u64),
}

/// The files a sitemap consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// `/sitemap.xml`: everything, or the index.
    Whole,
    /// `/sitemap-3.xml` or `/sitemap-3.xml.gz`.
    Numbered { number: u64, compressed: bool },
    /// `/sitemap-news.xml`.
    News,
}

/// The resource that `target` names, whether or not it exists at the moment.
pub(crate) fn read<'w>(server: &Server<'w>, target: &str) -> Option<Place<'w>> {
    match target {
        "/" => Some(Place::Page { page: Page::new(*server, 0), moved: false }),
        "/robots.txt" => Some(Place::Robots),
        "/sitemap.xml" => Some(Place::Sitemap(Part::Whole)),
        "/sitemap-news.xml" => Some(Place::Sitemap(Part::News)),
        _ if target == server.feed().path() => Some(Place::Feed),
        _ => page(server, target).or_else(|| file(target)),
    }
}

fn file<'w>(target: &str) -> Option<Place<'w>> {
    let number = number_of(target)?;
    let between = |before: &str, after: &str| {
        let digits = target.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        digits.is_some_and(|digits| digits == number.to_string())
    };
    if between("/style-", ".css") && number < STYLES {
        Some(Place::Style(number))
    } else if between("/images/", ".png") && number < IMAGES {
        Some(Place::Image(number))
    } else if between("/sitemap-", ".xml") || between("/sitemap-", ".xml.gz") {
        Some(Place::Sitemap(Part::Numbered { number, compressed: target.ends_with(".gz") }))
    } else {
        None
    }
}

fn page<'w>(server: &Server<'w>, target: &str) -> Option<Place<'w>> {
    let (_, rest) = target.strip_prefix('/')?.split_once('/')?;
    if rest.is_empty() {
        return (1..=FAN.min(server.pages - 1)).find_map(|slot| written(server, slot, target));
    }
    number_of(rest).and_then(|number| written(server, number, target))
}

fn written<'w>(server: &Server<'w>, number: u64, target: &str) -> Option<Place<'w>> {
    if number == 0 || number >= server.pages {
        return None;
    }
    let page = Page::new(*server, number);
    let mut made = String::with_capacity(target.len() + 8);
    for moved in [false, true] {
        made.clear();
        page.push_target(&mut made, moved);
        if made == target && (!moved || page.moved().is_some()) {
            return Some(Place::Page { page, moved });
        }
    }
    None
}

/// The last run of digits.
fn number_of(text: &str) -> Option<u64> {
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = text[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    text[start..end].parse().ok()
}
