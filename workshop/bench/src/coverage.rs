//! How much of real sites a crawl covers: `bench coverage`.
//!
//! Six documentation packages of Debian are served by nginx, each on an address of its own. A plain walker in Python,
//! which shares no code with the crawler, lists the pages that can be reached on each. Then the program crawls the site
//! once, and both lists are compared by URL. A reachable page that is not in the archive is a failure.

mod crawled;
mod sites;
mod walked;

use crate::compare::work_directory;
use crate::fetch_server::Server;
use anyhow::{Context, Result};
use crawled::Crawled;
use serde_json::{Value, json};
use sites::{SITES, Site};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Compare what a crawl archives of six real sites with an independent list of their reachable pages
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask bench coverage
  cargo xtask bench coverage --sites python3-doc,libboost-doc
  cargo xtask bench coverage --json")]
pub(crate) struct Args {
    /// Only these sites, by the names of their packages
    #[arg(long, value_delimiter = ',')]
    sites: Vec<String>,
    /// List the reachable pages again, although they are known from an earlier run
    #[arg(long)]
    walk_again: bool,
    /// Print one object a line
    #[arg(long)]
    json: bool,
    /// Where files are made
    #[arg(long)]
    directory: Option<PathBuf>,
}

/// The variable with the path of the unpacked packages.
const TREE: &str = "UTSUSHI_SITES";
/// How many missing pages are named for each site.
const MISSING_SHOWN_MAX: usize = 10;

/// What came out for one site.
struct Coverage {
    site: &'static str,
    reachable: usize,
    /// Reachable pages that the archive holds.
    archived: usize,
    missing: Vec<String>,
    crawled: Crawled,
}

/// Runs the comparison; returns whether every reachable page of every site is archived.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let tree =
        PathBuf::from(std::env::var_os(TREE).context("run this through `cargo xtask bench coverage`")?);
    let sites = chosen(&args.sites)?;
    let directory = work_directory(args.directory.as_deref(), "bench-coverage")?;
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let configuration = sites::configure(&directory.join("nginx"), &tree, &sites, port)?;
    let server =
        Server::start_with(&directory.join("nginx"), &configuration, (sites[0].address(), port).into())?;
    let mut is_whole = true;
    for site in sites {
        eprintln!("{}: listing the reachable pages, then crawling", site.package);
        let reachable = walked::pages(&directory, &tree, site, port, args.walk_again)?;
        let coverage = compare(site, &reachable, crawled::run(&directory, site, port, &server)?);
        print(&coverage, args.json);
        is_whole &= coverage.missing.is_empty();
    }
    Ok(is_whole)
}

/// The sites of these names; all when none is named.
fn chosen(names: &[String]) -> Result<Vec<&'static Site>> {
    let find = |name: &String| {
        let known = || SITES.map(|site| site.package).join(", ");
        SITES
            .iter()
            .find(|site| site.package == name)
            .with_context(|| format!("no site `{name}`: there are {}", known()))
    };
    if names.is_empty() {
        return Ok(SITES.iter().collect());
    }
    names.iter().map(find).collect()
}

fn compare(site: &Site, reachable: &BTreeSet<String>, crawled: Crawled) -> Coverage {
    let archived: BTreeSet<Vec<u8>> = crawled.targets.iter().map(|target| unescaped(target)).collect();
    let is_missing = |target: &&String| !archived.contains(&unescaped(target));
    let missing: Vec<String> = reachable.iter().filter(is_missing).cloned().collect();
    let (reachable, archived) = (reachable.len(), reachable.len() - missing.len());
    Coverage { site: site.package, reachable, archived, missing, crawled }
}

/// Two targets are the same for the server when they are equal without escapes.
fn unescaped(target: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(target.len());
    let mut rest = target.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let escape =
            behind.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    bytes
}

impl Coverage {
    fn to_json(&self) -> Value {
        let Crawled { held_back, requests, seconds, .. } = &self.crawled;
        json!({
            "site": self.site, "reachable": self.reachable, "archived": self.archived,
            "missing": self.missing.len(), "held_back": held_back, "requests": requests, "seconds": seconds,
        })
    }
}

fn print(coverage: &Coverage, json: bool) {
    if json {
        println!("{}", coverage.to_json());
        return;
    }
    let Coverage { site, reachable, archived, missing, crawled } = coverage;
    let held_back = crawled.held_back.map_or_else(|| "unknown".to_owned(), |count| count.to_string());
    println!(
        "{site}: {archived} of {reachable} reachable pages archived, {held_back} held back, {} requests, {:.0} s",
        crawled.requests, crawled.seconds
    );
    for target in missing.iter().take(MISSING_SHOWN_MAX) {
        println!("  missing: {target}");
    }
    if missing.len() > MISSING_SHOWN_MAX {
        println!("  and {} more", missing.len() - MISSING_SHOWN_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_do_not_make_two_targets() {
        assert_eq!(unescaped("/a%2fb%E3%81%82"), "/a/bあ".as_bytes());
        assert_eq!(unescaped("/100%"), b"/100%");
        assert_eq!(unescaped("/%zz%4"), b"/%zz%4");
    }

    #[test]
    fn missing_pages_are_those_that_only_the_walker_has() {
        let crawled = Crawled {
            targets: vec!["/a".to_owned(), "/%62".to_owned(), "/x.css".to_owned()],
            held_back: Some(1),
            requests: 5,
            seconds: 1.0,
        };
        let reachable = ["/a", "/b", "/c"].map(str::to_owned).into();
        let coverage = compare(&SITES[0], &reachable, crawled);
        assert_eq!((coverage.archived, coverage.missing), (2, vec!["/c".to_owned()]));
    }

    #[test]
    fn an_unknown_site_is_refused_by_name() {
        assert_eq!(chosen(&[]).unwrap().len(), SITES.len());
        assert_eq!(chosen(&["rust-doc".to_owned()]).unwrap()[0].package, "rust-doc");
        assert!(chosen(&["nonsense".to_owned()]).unwrap_err().to_string().contains("`nonsense`"));
    }
}
