//! Whole crawls beside other crawlers: `bench crawl`.
//!
//! Every crawler walks the same site of real pages from its start page, served by nginx on this machine, in its own
//! process, one after another, in a different order each turn. Pages are counted by the server's log, not by what a
//! crawler reports. The measure is the processor time of the whole process per page found; a ratio is the median of the
//! ratios of single turns.
//!
//! * utsushi: the program, agreed with the owner of the server to make 32 requests at once without a pause. Pages are
//!   archived (gzip, or zstd, with SHA-1 and BLAKE3), indexed and synced, and their states are kept for the next visit.
//! * bare loop: the same fetching, reading and archiving without a frontier, a schedule or an index.
//! * spider: the crate with its WARC feature: no compression, no digests, no requests, no syncs.
//! * wget2: files instead of records, five connections. wget: WARC with gzip by zlib, one connection.
//! * Scrapy, whose answers a script hands to warcio.

mod contest;
mod tree;
mod verdict;

use crate::compare::work_directory;
use crate::fetch_compare::PAGES;
use crate::fetch_server::Server;
use anyhow::{Context, Result};
use base::Chance;
use contest::{Contest, MISSING_TOLD};
use serde_json::json;
use std::path::PathBuf;
use tree::Tree;
use verdict::Verdict;

/// A whole crawl of a site of real pages, against spider, wget, wget2, Scrapy with warcio, and a bare loop
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask bench crawl
  cargo xtask bench crawl --quick
  cargo xtask bench crawl --only utsushi,bare,spider --turns 7
  cargo xtask bench crawl --json")]
pub(crate) struct Args {
    /// Pages of the site, if there are as many
    #[arg(long, default_value_t = 10_000)]
    pages: usize,
    /// Turns of every crawler
    #[arg(long, default_value_t = 3)]
    turns: usize,
    /// 600 pages, one turn each: to see that all of it works
    #[arg(long)]
    quick: bool,
    /// Only crawlers whose names begin so
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Print one object a line
    #[arg(long)]
    json: bool,
    /// Where files are made
    #[arg(long)]
    directory: Option<PathBuf>,
}

/// Pages per day of paper 004's crawler, on one machine of its time.
const PAPER_PAGES_PER_DAY: f64 = 5e6;

/// Runs the comparison; returns whether all demands are met.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let (pages, turns) = if args.quick { (600, 1) } else { (args.pages, args.turns) };
    let directory = work_directory(args.directory.as_deref(), "bench-crawl")?;
    let from = PathBuf::from(std::env::var_os(PAGES).context("run this through `cargo xtask bench crawl`")?);
    let root = directory.join("site");
    let tree = Tree::make(&from, pages, &root)?;
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let server = Server::start(&directory.join("nginx"), &root, 1, port, None)?;
    let mut contests = contest::all(&directory, port)?;
    let is_wanted =
        |contest: &Contest| args.only.iter().any(|start| contest.name.starts_with(start.as_str()));
    contests.retain(|contest| args.only.is_empty() || is_wanted(contest));
    contests.iter().try_for_each(Contest::clean)?;
    take_turns(&mut contests, turns, &server, &tree)?;
    contests.iter().try_for_each(Contest::clean)?;
    let verdicts = verdict::all(&contests);
    if args.json {
        print_json(&tree, &contests, &verdicts);
    } else {
        print(&tree, &contests, &verdicts);
    }
    Ok(verdicts.iter().all(Verdict::is_met))
}

/// Each turn has a different order, because the order affects the state of the machine's memory.
fn take_turns(contests: &mut [Contest], turns: usize, server: &Server, tree: &Tree) -> Result<()> {
    let (mut chance, mut order) = (Chance::new(1), (0..contests.len()).collect::<Vec<_>>());
    for turn in 1..=turns {
        order.sort_by_cached_key(|_| chance.bits());
        for place in &order {
            let contest = &mut contests[*place];
            let name = contest.name;
            contest.take_turn(server, tree).with_context(|| format!("{name}, turn {turn}"))?;
            if let Some(turn) = contest.turns.last() {
                eprintln!("{name}: {} pages in {:.1} s", turn.pages, turn.used.seconds);
            }
        }
    }
    Ok(())
}

fn print_json(tree: &Tree, contests: &[Contest], verdicts: &[Verdict]) {
    let Tree { targets, bytes, entrances, links } = tree;
    println!(
        "{}",
        json!({ "pages": targets.len(), "bytes": bytes, "links": links, "links_of_start_page": entrances })
    );
    contests.iter().for_each(|contest| println!("{}", contest.to_json()));
    verdicts.iter().for_each(|verdict| println!("{}", verdict.to_json()));
}

fn print(tree: &Tree, contests: &[Contest], verdicts: &[Verdict]) {
    let pages = tree.targets.len();
    println!(
        "{pages} pages, {} bytes in the mean, {} links between them, {} from the start page\n",
        tree.bytes / pages as u64,
        tree.links,
        tree.entrances
    );
    println!(
        "{:<18} {:>7} {:>8} {:>7} {:>9} {:>13} {:>12} {:>9} {:>11}",
        "crawler",
        "pages",
        "missing",
        "others",
        "pages/s",
        "million/day",
        "CPU µs/page",
        "peak MB",
        "MB written"
    );
    for contest in contests {
        let Some(worst) = contest.worst() else { continue };
        println!(
            "{:<18} {:>7} {:>8} {:>7} {:>9.0} {:>13.1} {:>12.1} {:>9.1} {:>11.1}",
            contest.name,
            worst.pages,
            worst.missing().len(),
            worst.others(),
            contest.pages_per_second(),
            contest.pages_per_second() * 86_400.0 / 1e6,
            contest.cpu_seconds() * 1e6,
            contest.resident_bytes_max() as f64 / 1e6,
            contest.bytes_written() as f64 / 1e6,
        );
    }
    println!("\nmedians of all turns; paper 004: {:.0} million pages a day", PAPER_PAGES_PER_DAY / 1e6);
    for contest in contests {
        let missing = contest.worst().map_or(&[][..], |turn| turn.missing());
        if !missing.is_empty() {
            let told = &missing[..missing.len().min(MISSING_TOLD)];
            println!("{} did not find {}, such as {}", contest.name, missing.len(), told.join(" "));
        }
    }
    println!();
    verdicts.iter().for_each(|verdict| println!("{verdict}"));
}
