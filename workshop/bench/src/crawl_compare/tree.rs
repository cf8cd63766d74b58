//! The site that every crawler of the comparison walks: the HTML of documentation packages as one server, and a start page.
//!
//! The pages are served as they are in the packages, with the links they have. The start page leads to every page that
//! those links alone do not lead to from another page of the start page, so a crawl from it that follows links finds all.
//!
//! **Invariant:** no two pages have the same content. Ours stores a body once, and would otherwise have less work than
//! the others.

use crate::warc_pages::{cannot, find_html};
use anyhow::{Context, Result, ensure};
use base::{PageUrl, Sha1Digest};
use html::LinkKind;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The file of the start page, which is served as `/`.
const START: &str = "start.html";
/// Where the pages would be if they were on the web; only their targets matter.
const ORIGIN: &str = "http://127.0.0.1";

/// The site.
#[derive(Debug)]
pub(super) struct Tree {
    /// The targets of all pages, the start page's `/` among them.
    pub(super) targets: BTreeSet<String>,
    /// Total length of all pages.
    pub(super) bytes: u64,
    /// How many links the start page has.
    pub(super) entrances: usize,
    /// How many links lead from one page to another, each target once a page.
    pub(super) links: usize,
}

impl Tree {
    /// Builds the site in `to` from at most this many pages below `from`.
    pub(super) fn make(from: &Path, pages_max: usize, to: &Path) -> Result<Self> {
        if to.exists() {
            fs::remove_dir_all(to).with_context(|| cannot("remove", to))?;
        }
        let mut pages = BTreeMap::new();
        let mut bytes = 0;
        for (target, body) in distinct(from, pages_max)? {
            let file = to.join(target.trim_start_matches('/'));
            fs::create_dir_all(file.parent().context("a file has a directory")?)?;
            fs::write(&file, &body).with_context(|| cannot("write", &file))?;
            bytes += body.len() as u64;
            let url = PageUrl::parse(&format!("{ORIGIN}{target}"))?;
            pages.insert(url.target().to_owned(), links(&url, &body));
        }
        ensure!(!pages.is_empty(), "no HTML below `{}`", from.display());
        let entrances = entrances(&pages);
        let (start, entrances) = (start_page(&entrances), entrances.len());
        fs::write(to.join(START), &start).with_context(|| cannot("write", to))?;
        let links = pages.values().flatten().filter(|target| pages.contains_key(*target)).count();
        let targets = pages.into_keys().chain(["/".to_owned()]).collect();
        Ok(Self { targets, bytes: bytes + start.len() as u64, entrances, links })
    }
}

/// Pages that differ, with the targets they get; those of a package together.
fn distinct(from: &Path, pages_max: usize) -> Result<Vec<(String, Vec<u8>)>> {
    let mut paths = Vec::new();
    find_html(from, &mut paths)?;
    paths.sort();
    let (mut seen, mut pages) = (HashSet::new(), Vec::new());
    for path in paths {
        let body = fs::read(&path).with_context(|| cannot("read", &path))?;
        let name = path.strip_prefix(from)?.to_string_lossy().into_owned();
        let name = name.strip_prefix("doc/").unwrap_or(&name);
        if pages.len() < pages_max && seen.insert(Sha1Digest::of(&[&body])) {
            pages.push((format!("/{name}"), body));
        }
    }
    Ok(pages)
}

/// The targets on the same server that a crawler may follow.
fn links(url: &PageUrl, body: &[u8]) -> Vec<String> {
    let page = html::read(url, Some("text/html"), body, "bench");
    let mut targets: Vec<String> = if page.asks.nofollow { Vec::new() } else { followed(url, page.links) };
    targets.sort();
    targets.dedup();
    targets
}

fn followed(from: &PageUrl, links: Vec<html::Link>) -> Vec<String> {
    let fits = |link: &html::Link| {
        link.kind == LinkKind::Anchor && !link.nofollow && link.url.origin() == from.origin()
    };
    links.into_iter().filter(fits).map(|link| link.url.target().to_owned()).collect()
}

/// Pages from which all are reached: the index of every directory first, then the rest.
fn entrances(pages: &BTreeMap<String, Vec<String>>) -> Vec<&str> {
    let mut reached: HashSet<&str> = HashSet::new();
    let mut entrances = Vec::new();
    let is_index = |target: &&String| target.ends_with("/index.html");
    let depth = |target: &&String| target.matches('/').count();
    let mut order: Vec<&String> = pages.keys().filter(is_index).collect();
    order.sort_by_key(depth);
    for target in order.into_iter().chain(pages.keys()) {
        if reached.contains(target.as_str()) {
            continue;
        }
        entrances.push(target.as_str());
        let mut waiting = vec![target];
        while let Some(target) = waiting.pop() {
            if reached.insert(target) {
                waiting.extend(pages[target].iter().filter(|next| pages.contains_key(*next)));
            }
        }
    }
    entrances
}

fn start_page(entrances: &[&str]) -> String {
    let mut page =
        String::from("<!doctype html><html lang=en><meta charset=utf-8><title>Start</title><ul>\n");
    for target in entrances {
        let _ = writeln!(page, "<li><a href=\"{target}\">{target}</a>");
    }
    page + "</ul>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_page_leads_to_all() {
        let page = |links: &[&str]| links.iter().map(ToString::to_string).collect::<Vec<_>>();
        let pages = BTreeMap::from([
            ("/a/index.html".to_owned(), page(&["/a/b.html", "/gone.html"])),
            ("/a/b.html".to_owned(), page(&["/a/index.html"])),
            ("/c.html".to_owned(), page(&[])),
        ]);
        assert_eq!(entrances(&pages), ["/a/index.html", "/c.html"]);
    }
}
