//! Few pages under an unlimited number of URLs: repeating paths, combined filters, endless paging,
//! listings of words (H10).
//!
//! **Invariant:** every URL that a page of a maze links to exists and has links; the number of different pages is
//! [`super::HostileKind::pages`].

use super::Place;
use crate::WebResponse;
use base::chance;

/// The directories of a path echo.
pub(super) const ECHOES: [&str; 4] = ["docs", "guide", "news", "images"];
/// Number of products of a shop.
pub(super) const PRODUCTS: u64 = 30;
/// The last page of a list that has anything on it.
pub(super) const FULL_PAGES: u64 = 40;
/// Number of entries on such a page.
pub(super) const ENTRIES: u64 = 5;
/// Number of products on one page of a shop.
const SHOWN: u64 = 10;
/// Number of URLs that a word listing links to.
const NAMES: u64 = 12;

/// Links without their leading slash: `/docs/guide/` has `docs/`, which is `/docs/guide/docs/`. Whatever the path,
/// the page is that of its last directory.
pub(super) fn echo(place: &Place<'_>) -> WebResponse {
    if place.path() == "/" {
        return place.home(&["/docs/", "/guide/", "/news/"]);
    }
    let inner = place.path().strip_prefix('/').and_then(|path| path.strip_suffix('/'));
    let Some(last) = inner.and_then(|inner| last_known(inner)) else { return place.missing() };
    let links: String =
        ECHOES.iter().map(|name| format!("<li><a href=\"{name}/\">{name}</a></li>")).collect();
    place.page(last, &format!("{}<ul>{links}</ul>", place.filler(600)))
}

/// The last of some directories, if all of them exist.
fn last_known(inner: &str) -> Option<&str> {
    inner.split('/').all(|name| ECHOES.contains(&name)).then(|| inner.rsplit('/').next())?
}

/// What products can be filtered and sorted by.
const FACETS: [(&str, &[&str]); 5] = [
    ("colour", &["red", "green", "blue", "black", "white", "grey"]),
    ("size", &["xs", "s", "m", "l", "xl", "xxl"]),
    ("brand", &["aoki", "brook", "chiba", "dale", "endo", "ford"]),
    ("sort", &["price", "name", "new", "rating"]),
    ("view", &["grid", "list", "table"]),
];

/// A shop: filters in every combination and in every order, over the same products.
pub(super) fn facets(place: &Place<'_>) -> WebResponse {
    if let Some(product) = place.numbered("/product/").filter(|product| *product < PRODUCTS) {
        let body = format!("{}<p>Product {product}. <a href=\"/shop\">Back</a></p>", place.filler(300));
        return place.page(&format!("Product {product}"), &body);
    }
    match (place.path(), place.request.target.split_once('?').map(|(_, query)| query)) {
        ("/", None) => place.home(&["/shop", "/product/0", "/product/1"]),
        ("/shop", query) => match chosen(query.unwrap_or_default()) {
            Some(chosen) => shop(place, &chosen),
            None => place.missing(),
        },
        _ => place.missing(),
    }
}

/// The filters of a query in their order, if all of them exist and none comes twice.
fn chosen(query: &str) -> Option<Vec<(&'static str, &'static str)>> {
    let mut chosen: Vec<(&str, &str)> = Vec::new();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=')?;
        let (name, values) = FACETS.iter().find(|(facet, _)| *facet == name)?;
        let value = values.iter().find(|known| **known == value)?;
        if chosen.iter().any(|(known, _)| known == name) {
            return None;
        }
        chosen.push((*name, *value));
    }
    Some(chosen)
}

fn shop(place: &Place<'_>, chosen: &[(&'static str, &'static str)]) -> WebResponse {
    let first = place.hash(chance::hash_bytes(0, place.request.target.as_bytes())) % PRODUCTS;
    let mut body = String::from("<ul>");
    for product in (first..first + SHOWN).map(|product| product % PRODUCTS) {
        body.push_str(&format!("<li><a href=\"/product/{product}\">Product {product}</a></li>"));
    }
    body.push_str("</ul><p>");
    for (name, values) in FACETS {
        for value in values {
            let link = with_filter(chosen, name, value);
            body.push_str(&format!("<a href=\"/shop?{}\">{name} {value}</a> ", link.join("&amp;")));
        }
    }
    place.page("Shop", &format!("{body}</p>"))
}

/// The filters with one more, which replaces one of the same kind; after the others or, for half of them, before.
fn with_filter(chosen: &[(&'static str, &'static str)], name: &str, value: &str) -> Vec<String> {
    let mut link: Vec<String> = chosen.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let filter = format!("{name}={value}");
    match chosen.iter().position(|(known, _)| *known == name) {
        Some(at) => link[at] = filter,
        None if value.len().is_multiple_of(2) => link.insert(0, filter),
        None => link.push(filter),
    }
    link
}

/// A list with endless paging; pages after [`FULL_PAGES`] are empty.
pub(super) fn paging(place: &Place<'_>) -> WebResponse {
    if place.path() == "/" {
        return place.home(&["/list?page=1", "/list?page=2", "/entry/0"]);
    }
    if let Some(entry) = place.numbered("/entry/").filter(|entry| *entry < FULL_PAGES * ENTRIES) {
        return place.page(&format!("LogEntry {entry}"), &place.filler(300));
    }
    let page = place.request.target.strip_prefix("/list?page=").and_then(|page| page.parse::<u64>().ok());
    let Some(page) = page.filter(|page| *page > 0) else { return place.missing() };
    let mut body = String::from("<ul>");
    let entries = if page <= FULL_PAGES { (page - 1) * ENTRIES..page * ENTRIES } else { 0..0 };
    for entry in entries {
        body.push_str(&format!("<li><a href=\"/entry/{entry}\">LogEntry {entry}</a></li>"));
    }
    let next = page.saturating_add(1);
    body.push_str(&format!("</ul><p><a href=\"/list?page={next}\">Next</a>"));
    if page > 1 {
        body.push_str(&format!(" <a href=\"/list?page={}\">Previous</a>", page - 1));
    }
    place.page("List", &format!("{body}</p>"))
}

/// New URLs on every page, all in one directory; their pages differ only in the links to further ones.
pub(super) fn listing(place: &Place<'_>) -> WebResponse {
    let here = chance::hash_bytes(place.seed, place.request.target.as_bytes());
    let names: Vec<String> =
        (0..NAMES).map(|nth| format!("/topic/{}/", words(place.hash(here ^ nth)))).collect();
    if place.request.target == "/" {
        return place.home(&names.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let name = place.request.target.strip_prefix("/topic/").and_then(|rest| rest.strip_suffix('/'));
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    if !name.is_some_and(is_name) {
        return place.missing();
    }
    let links: String = names.iter().map(|name| format!("<li><a href=\"{name}\">{name}</a></li>")).collect();
    place.page("Topic", &format!("{}<ul>{links}</ul>", place.filler(1_200)))
}

/// Two words of three syllables each.
fn words(draw: u64) -> String {
    const HEADS: [&str; 16] =
        ["b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z"];
    const TAILS: [&str; 8] = ["a", "e", "i", "o", "u", "an", "er", "is"];
    let mut text = String::with_capacity(20);
    for syllable in 0..6 {
        if syllable == 3 {
            text.push('-');
        }
        text.push_str(HEADS[(draw >> (syllable * 7) & 15) as usize]);
        text.push_str(TAILS[(draw >> (syllable * 7 + 4) & 7) as usize]);
    }
    text
}
