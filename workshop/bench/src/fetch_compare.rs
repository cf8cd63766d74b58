//! Fetching and archiving beside other clients: `bench fetch`.
//!
//! Every client fetches the same list of pages from the same nginx on this machine, one after another, each in its own
//! process, for several rounds. The measure is the processor time of the whole process; a ratio is the median of the
//! ratios of single rounds, because a disturbance affects all clients of a round.
//!
//! * utsushi: our door and our archive, one connection a server, all servers at once, no pauses.
//! * bare loop: the same bytes, the same records, and nothing else.
//! * wget, wget2, spider: as in their manuals. wget2 has no WARC output and saves files; spider does not compress,
//!   makes no digests, stores no requests, and always reads links.
//!
//! Compression is more than half of our work, and wget2 and spider do not compress. So ours and the bare loop also run
//! with plain records, and spider also without its crawl.

pub(crate) mod contest;
pub(crate) mod kept;
mod verdict;

use crate::compare::work_directory;
use crate::fetch_pages::List;
use crate::fetch_server::Server;
use crate::fetch_tls::Certificates;
use anyhow::{Context, Result};
use base::Chance;
use contest::Contest;
use std::path::PathBuf;
use verdict::Verdict;

/// Measure the cost of a fetched and archived page, against wget, wget2, spider and a bare loop
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask bench fetch
  cargo xtask bench fetch --quick
  cargo xtask bench fetch --tls
  cargo xtask bench fetch --only utsushi,bare --rounds 15
  cargo xtask bench fetch --json")]
pub(crate) struct Args {
    /// Pages to fetch, if there are as many
    #[arg(long, default_value_t = 10_000)]
    pages: usize,
    /// Servers, each at an address of its own
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=200))]
    servers: u8,
    /// Turns of every client
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Pages between two syncs of ours, as the crawler has it, and of the bare loop; the others never sync
    #[arg(long, default_value_t = 512)]
    batch: u64,
    /// 800 pages, one turn each: to see that all of it works
    #[arg(long)]
    quick: bool,
    /// Over TLS; without spider, which is built without it
    #[arg(long)]
    tls: bool,
    /// Only clients whose names begin so
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Print one object a line
    #[arg(long)]
    json: bool,
    /// Where files are made
    #[arg(long)]
    directory: Option<PathBuf>,
}

/// The variable with the path of the pages.
pub(crate) const PAGES: &str = "UTSUSHI_PAGES";

/// Runs the comparison; returns whether all demands are met.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let (pages, rounds) = if args.quick { (800, 1) } else { (args.pages, args.rounds) };
    let directory = work_directory(args.directory.as_deref(), "bench-fetch")?;
    let root = PathBuf::from(std::env::var_os(PAGES).context("run this through `cargo xtask bench fetch`")?);
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let tls = args.tls.then(|| Certificates::make(&directory.join("tls"), args.servers)).transpose()?;
    let scheme = if args.tls { "https" } else { "http" };
    let list = List::of(&root, pages, args.servers, port, scheme)?;
    let list_file = directory.join("list");
    list.write(&list_file)?;
    let server = Server::start(&directory.join("nginx"), &root, args.servers, port, tls.as_ref())?;
    let mut contests = contest::all(&directory, &list_file, args.batch, tls.as_ref())?;
    let is_wanted =
        |contest: &Contest| args.only.iter().any(|start| contest.name.starts_with(start.as_str()));
    contests.retain(|contest| args.only.is_empty() || is_wanted(contest));
    contests.iter().try_for_each(Contest::clean)?;
    take_turns(&mut contests, rounds, &server, &list)?;
    contests.iter().try_for_each(Contest::clean)?;
    let verdicts = verdict::all(&contests);
    print(args.json, &list, &contests, &verdicts);
    Ok(verdicts.iter().all(Verdict::is_met))
}

/// Each round has a different order, because the order affects the state of the machine's memory.
fn take_turns(contests: &mut [Contest], rounds: usize, server: &Server, list: &List) -> Result<()> {
    let (mut chance, mut order) = (Chance::new(1), (0..contests.len()).collect::<Vec<_>>());
    for round in 1..=rounds {
        order.sort_by_cached_key(|_| chance.bits());
        for place in &order {
            let contest = &mut contests[*place];
            let name = contest.name;
            contest.take_turn(server, list).with_context(|| format!("{name}, round {round}"))?;
        }
    }
    Ok(())
}

fn print(is_json: bool, list: &List, contests: &[Contest], verdicts: &[Verdict]) {
    let pages = list.urls.len();
    if is_json {
        let page_bytes = list.body_bytes / pages.max(1) as u64;
        contests.iter().for_each(|contest| println!("{}", contest.to_json(pages, page_bytes)));
        verdicts.iter().for_each(|verdict| println!("{}", verdict.to_json()));
        return;
    }
    println!("{pages} pages, {} bytes in the mean\n", list.body_bytes / pages.max(1) as u64);
    println!(
        "{:<18} {:>9} {:>12} {:>14} {:>9} {:>12} {:>12}",
        "client", "pages/s", "CPU µs/page", "(least, most)", "peak MB", "MB written", "connections"
    );
    for contest in contests.iter().filter(|contest| !contest.turns.is_empty()) {
        let each: Vec<f64> =
            contest.turns.iter().map(|turn| turn.used.cpu_seconds * 1e6 / pages as f64).collect();
        let (least, most) = each.iter().fold((f64::MAX, 0.0), |(a, b): (f64, f64), c| (a.min(*c), b.max(*c)));
        println!(
            "{:<18} {:>9.0} {:>12.1} {:>14} {:>9.1} {:>12.1} {:>12}",
            contest.name,
            pages as f64 / contest.seconds(),
            contest.cpu_seconds() * 1e6 / pages as f64,
            format!("({least:.0}, {most:.0})"),
            contest.resident_bytes_max() as f64 / 1e6,
            contest.bytes_written() as f64 / 1e6,
            contest.connections(),
        );
    }
    println!("\nmedians of all rounds; ratios of CPU time are medians of the ratios of the single rounds\n");
    verdicts.iter().for_each(|verdict| println!("{verdict}"));
}
