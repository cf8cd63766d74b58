//! A bare crawl loop: `bench crawl-bare`.
//!
//! One thread, blocking sockets, kept connections with one request under way on each. Links are read by the same crate
//! as in the product, and answers are processed in the same way: SHA-1 of block and payload, BLAKE3 of the content, two
//! records compressed by libdeflate at the same level, a sync after a fixed number of pages. Seen URLs are a set in
//! memory and waiting ones a list: there is no frontier, no politeness and no index.

use crate::fetch_bare::{Connection, Records};
use crate::fetch_cell::Packing;
use anyhow::Result;
use base::{ContentDigest, PageUrl};
use html::LinkKind;
use std::collections::{HashSet, VecDeque};
use std::hint::black_box;
use std::path::PathBuf;

/// The arguments of the bare loop.
#[derive(Debug, clap::Args)]
pub(crate) struct BareArgs {
    /// Where it begins
    url: String,
    /// Where the records go
    #[arg(long)]
    directory: PathBuf,
    /// Connections at once
    #[arg(long, default_value_t = 32)]
    width: usize,
    /// Pages between two syncs
    #[arg(long, default_value_t = 512)]
    batch: u64,
}

pub(crate) fn run(args: &BareArgs) -> Result<()> {
    let start = PageUrl::parse(&args.url)?;
    let mut walk = Walk { seen: HashSet::from([start.clone()]), waiting: VecDeque::from([start]) };
    let mut records = Records::create(&args.directory, Packing::Gzip)?;
    let mut connections: Vec<Connection> = Vec::new();
    let mut pages = 0;
    while walk.ask(&mut connections, args.width)? {
        for connection in connections.iter_mut().filter(|connection| connection.is_busy()) {
            let head = connection.receive()?;
            let (url, request) = connection.asked();
            black_box(ContentDigest::of(&connection.answer[head..]));
            records.append(&url, &request, &connection.answer, head)?;
            walk.follow(&PageUrl::parse(&url)?, &connection.answer, head);
            pages += 1;
            if pages % args.batch == 0 {
                records.sync()?;
            }
            if let Some(next) = walk.waiting.pop_front() {
                connection.ask(&next)?;
            }
        }
    }
    records.sync()
}

/// What is known about the site.
struct Walk {
    seen: HashSet<PageUrl>,
    waiting: VecDeque<PageUrl>,
}

impl Walk {
    /// Keeps as many connections busy as there are pages; returns whether any is busy.
    fn ask(&mut self, connections: &mut Vec<Connection>, width: usize) -> Result<bool> {
        while connections.len() < width.min(self.waiting.len()) {
            connections.push(Connection::open(&self.waiting[0], &[])?);
        }
        for connection in connections.iter_mut().filter(|connection| !connection.is_busy()) {
            if let Some(next) = self.waiting.pop_front() {
                connection.ask(&next)?;
            }
        }
        Ok(connections.iter().any(Connection::is_busy))
    }

    /// Notes the links of a page to pages of its server.
    fn follow(&mut self, url: &PageUrl, answer: &[u8], head: usize) {
        if !answer.starts_with(b"HTTP/1.1 200 ") {
            return;
        }
        let content_type = base::http::field(&answer[..head], "content-type");
        let page = html::read(url, content_type, &answer[head..], "bare");
        if page.asks.nofollow {
            return;
        }
        for link in page.links {
            let is_page = link.url.target().ends_with(".html") || link.url.target().ends_with('/');
            let follows = link.kind == LinkKind::Anchor && !link.nofollow && is_page;
            if follows && link.url.server() == url.server() && !self.seen.contains(&link.url) {
                self.seen.insert(link.url.clone());
                self.waiting.push_back(link.url);
            }
        }
    }
}
